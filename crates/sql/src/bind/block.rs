//! The bound form of a statement: names resolved, types known, nothing decided yet about how.
//!
//! A column of an enclosing query appears as a column of the pseudo-relation [`outer_rel`] of the subquery
//! through which it was reached; the planner replaces it by a parameter once it knows the parameters'
//! numbers.

use std::sync::Arc;

use expr::{AggFunc, ColumnRef, Expr, ExprKind};
use types::TableDef;

use super::row_keys::RowKeys;
use crate::plan::{AggSpec, Alias, Column, Origin, OutputColumn, RowLocks, SortKey};

/// First number of the pseudo-relations.
const OUTER_BASE: u16 = 0x8000;

/// Most subqueries of one statement.
pub(crate) const SUBQUERIES_MAX: u16 = OUTER_BASE - 1;

/// The relation that stands for the outer columns of subquery `id`.
pub(crate) fn outer_rel(id: u16) -> u16 {
    OUTER_BASE | id
}

/// The subquery whose outer columns relation `rel` stands for.
pub(crate) fn outer_id(rel: u16) -> Option<u16> {
    (rel & OUTER_BASE != 0).then_some(rel & !OUTER_BASE)
}

/// A bound query.
#[derive(Clone, Debug)]
pub(crate) enum Query {
    /// SELECT.
    Select(Box<Block>),
    /// UNION.
    Union(Box<UnionBlock>),
}

/// A bound SELECT.
#[derive(Clone, Debug, Default)]
pub(crate) struct Block {
    /// Relations by ordinal.
    pub(crate) rels: Vec<Source>,
    /// FROM.
    pub(crate) from: JoinTree,
    /// WHERE, as conjuncts.
    pub(crate) filter: Vec<Expr>,
    /// WHERE, if it is a list of keys of the only table; `filter` is empty then.
    pub(crate) row_keys: Option<RowKeys>,
    /// Grouping; the expressions after it see only its relation.
    pub(crate) aggregation: Option<Aggregation>,
    /// Volatile items of the select list that are computed once a row; the clauses after it see their
    /// relation.
    pub(crate) computed: Option<Computation>,
    /// HAVING.
    pub(crate) having: Option<Expr>,
    /// DISTINCT.
    pub(crate) distinct: bool,
    /// ORDER BY.
    pub(crate) order: Vec<SortKey>,
    /// LIMIT.
    pub(crate) limit: Window,
    /// Select list.
    pub(crate) output: Vec<OutputColumn>,
    /// Subqueries that the expressions name.
    pub(crate) subqueries: Vec<SubBlock>,
    /// Row locks asked for.
    pub(crate) locks: RowLocks,
    /// SQL_CALC_FOUND_ROWS.
    pub(crate) count_found_rows: bool,
    /// SELECT STRAIGHT_JOIN: tables in the order written.
    pub(crate) straight: bool,
}

/// LIMIT.
#[derive(Clone, Debug, Default)]
pub(crate) struct Window {
    /// Rows to skip.
    pub(crate) offset: Option<Expr>,
    /// Rows to give.
    pub(crate) count: Option<Expr>,
}

/// The indexes of a table that USE, FORCE and IGNORE INDEX leave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HintedIndexes {
    /// Their positions.
    pub(crate) left: Vec<usize>,
    /// FORCE INDEX: the table is read whole only where none of them finds the rows.
    pub(crate) forced: bool,
}

/// The kind of a relation.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    /// A base table.
    Table {
        /// Definition.
        def: Arc<TableDef>,
        /// Name in the query.
        alias: Alias,
        /// What hints say of its indexes; `None`: nothing.
        indexes: Option<HintedIndexes>,
    },
    /// A table whose rows the session makes.
    Virtual {
        /// Definition.
        def: Arc<TableDef>,
    },
    /// A derived table.
    Query {
        /// Its query; taken by the planner.
        query: Option<Query>,
        /// Columns.
        columns: Vec<Column>,
        /// For clients: where the columns come from.
        origins: Vec<Option<Origin>>,
    },
    /// Groups, or computed values.
    Made {
        /// Columns.
        columns: Vec<Column>,
    },
}

/// FROM.
#[derive(Clone, Debug, Default)]
pub(crate) enum JoinTree {
    /// No FROM.
    #[default]
    Dual,
    /// A relation.
    Rel(u16),
    /// A join.
    Join {
        /// Kind.
        kind: Kind,
        /// Left operand; RIGHT JOIN is turned round.
        left: Box<JoinTree>,
        /// Right operand.
        right: Box<JoinTree>,
        /// Condition as conjuncts.
        on: Vec<Expr>,
    },
}

/// Kinds of join.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Inner, order free.
    Inner,
    /// Inner, left operand first.
    Straight,
    /// Left outer.
    Left,
}

/// GROUP BY and the aggregates.
#[derive(Clone, Debug)]
pub(crate) struct Aggregation {
    /// The output relation.
    pub(crate) rel: u16,
    /// Group expressions.
    pub(crate) groups: Vec<Expr>,
    /// Aggregates.
    pub(crate) aggs: Vec<AggSpec>,
}

impl Aggregation {
    /// The aggregate that `column` is.
    pub(crate) fn spec(&self, column: ColumnRef) -> Option<&AggSpec> {
        let at = usize::from(column.col).checked_sub(self.groups.len()).filter(|_| column.rel == self.rel)?;
        self.aggs.get(at)
    }

    /// Whether `value` is the least or the greatest value of the rows of a group.
    pub(crate) fn is_extreme(&self, value: &Expr) -> bool {
        let spec = value.as_column().and_then(|column| self.spec(column));
        spec.is_some_and(|spec| matches!(spec.func, AggFunc::Min | AggFunc::Max))
    }
}

/// Values added to each row.
#[derive(Clone, Debug)]
pub(crate) struct Computation {
    /// The relation that they are the columns of.
    pub(crate) rel: u16,
    /// The values.
    pub(crate) exprs: Vec<Expr>,
}

/// A bound subquery.
#[derive(Clone, Debug)]
pub(crate) struct SubBlock {
    /// Its query.
    pub(crate) query: Query,
    /// Its number, unique in the statement.
    pub(crate) id: u16,
    /// Columns of the enclosing query that it names, in the order of the pseudo-relation's columns.
    pub(crate) outer: Vec<ColumnRef>,
}

/// A bound UNION.
#[derive(Clone, Debug)]
pub(crate) struct UnionBlock {
    /// Operands.
    pub(crate) arms: Vec<Query>,
    /// See [`crate::plan::Node::Union`].
    pub(crate) distinct_after: Option<usize>,
    /// Columns of the one relation.
    pub(crate) columns: Vec<Column>,
    /// ORDER BY.
    pub(crate) order: Vec<SortKey>,
    /// LIMIT.
    pub(crate) limit: Window,
    /// The relation's columns.
    pub(crate) output: Vec<OutputColumn>,
    /// SQL_CALC_FOUND_ROWS of the first operand.
    pub(crate) count_found_rows: bool,
}

impl Query {
    /// The select list.
    pub(crate) fn output(&self) -> &[OutputColumn] {
        match self {
            Query::Select(block) => &block.output,
            Query::Union(union) => &union.output,
        }
    }

    /// As [`Block::is_merged_by_mysql`]; a union is not.
    pub(crate) fn is_merged_by_mysql(&self) -> bool {
        matches!(self, Query::Select(block) if block.is_merged_by_mysql())
    }

    /// LIMIT of the whole.
    pub(super) fn limit_mut(&mut self) -> &mut Window {
        match self {
            Query::Select(block) => &mut block.limit,
            Query::Union(union) => &mut union.limit,
        }
    }
}

impl Block {
    /// Whether MySQL makes a derived table of this query part of the query around it, so that clients see its
    /// columns as that query's.
    pub(crate) fn is_merged_by_mysql(&self) -> bool {
        !matches!(self.from, JoinTree::Dual)
            && self.aggregation.is_none()
            && self.having.is_none()
            && !self.distinct
            && self.limit.count.is_none()
    }
}

impl Block {
    /// Whether it is a list of values, without a clause that could leave them out.
    pub(crate) fn has_one_row(&self) -> bool {
        matches!(self.from, JoinTree::Dual)
            && self.filter.is_empty()
            && self.row_keys.is_none()
            && self.aggregation.is_none()
            && self.having.is_none()
            && self.limit.count.is_none()
    }
}

impl Source {
    /// Whether it is a derived table that MySQL makes part of the query around it, and column `col` of it is
    /// calculated.
    pub(crate) fn merges_value(&self, col: u16) -> bool {
        let Source::Query { query: Some(Query::Select(block)), .. } = self else { return false };
        let shown = block.output.get(usize::from(col));
        block.is_merged_by_mysql() && shown.is_some_and(|o| !matches!(o.expr.kind, ExprKind::Column(_)))
    }

    /// Type and nullability of a column, as seen before any outer join.
    pub(crate) fn column(&self, col: usize) -> Column {
        match self {
            Source::Table { def, .. } | Source::Virtual { def } => {
                let column = &def.columns[col];
                Column { name: column.name.clone(), ty: column.ty.clone(), nullable: column.nullable }
            }
            Source::Query { columns, .. } | Source::Made { columns } => columns[col].clone(),
        }
    }
}

impl JoinTree {
    fn for_each_expr(&mut self, visit: &mut dyn FnMut(&mut Expr)) {
        if let JoinTree::Join { left, right, on, .. } = self {
            left.for_each_expr(visit);
            right.for_each_expr(visit);
            on.iter_mut().for_each(visit);
        }
    }

    /// The relations in it, in the order written.
    pub(crate) fn rels(&self) -> Vec<u16> {
        match self {
            JoinTree::Dual => Vec::new(),
            JoinTree::Rel(rel) => vec![*rel],
            JoinTree::Join { left, right, .. } => {
                let mut rels = left.rels();
                rels.extend(right.rels());
                rels
            }
        }
    }
}

impl Block {
    /// Calls `visit` on every expression of this query, those of its subqueries and derived tables not
    /// included.
    pub(crate) fn for_each_expr(&mut self, visit: &mut dyn FnMut(&mut Expr)) {
        self.from.for_each_expr(visit);
        self.filter.iter_mut().for_each(&mut *visit);
        if let Some(aggregation) = &mut self.aggregation {
            aggregation.groups.iter_mut().for_each(&mut *visit);
            for spec in &mut aggregation.aggs {
                spec.args.iter_mut().for_each(&mut *visit);
                spec.order.iter_mut().for_each(|key| visit(&mut key.expr));
            }
        }
        if let Some(computed) = &mut self.computed {
            computed.exprs.iter_mut().for_each(&mut *visit);
        }
        self.having.iter_mut().for_each(&mut *visit);
        self.order.iter_mut().for_each(|key| visit(&mut key.expr));
        self.limit.offset.iter_mut().for_each(&mut *visit);
        self.limit.count.iter_mut().for_each(&mut *visit);
        self.output.iter_mut().for_each(|item| visit(&mut item.expr));
    }
}
