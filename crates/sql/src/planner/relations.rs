//! The planner's data about a query's relations.

use std::cell::OnceCell;
use std::ops::Range;
use std::sync::Arc;

use expr::{ColumnRef, Expr, ExprKind};
use types::{TableDef, TableStatistics};

use super::cost;
use super::subqueries::Subqueries;
use crate::bind::block::{HintedIndexes, Source};
use crate::bind::{BindContext, Catalog, RangeMemory, ReadsLock};
use crate::dive::Dives;
use crate::plan::{Alias, Column, QueryPlan, Relation, RelationColumns};

/// A set of relations of one query.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct RelSet(u64);

impl RelSet {
    pub(super) const EMPTY: RelSet = RelSet(0);

    pub(super) fn of(rel: u16) -> RelSet {
        RelSet(1 << rel)
    }

    pub(super) fn with(self, other: RelSet) -> RelSet {
        RelSet(self.0 | other.0)
    }

    pub(super) fn without(self, other: RelSet) -> RelSet {
        RelSet(self.0 & !other.0)
    }

    pub(super) fn has(self, rel: u16) -> bool {
        self.0 >> rel & 1 == 1
    }

    pub(super) fn meets(self, other: RelSet) -> bool {
        self.0 & other.0 != 0
    }

    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether all of it is in `other`.
    pub(super) fn within(self, other: RelSet) -> bool {
        self.0 & !other.0 == 0
    }

    /// The relations, ascending.
    pub(super) fn iter(self) -> impl Iterator<Item = u16> {
        let mut left = self.0;
        std::iter::from_fn(move || {
            let rel = left.trailing_zeros();
            // Without the lowest one.
            left &= left.wrapping_sub(1);
            (rel < u64::BITS).then_some(rel as u16)
        })
    }
}

/// A relation of FROM.
#[derive(Debug)]
pub(super) struct Rel {
    pub(super) kind: RelKind,
    /// Columns that the query reads.
    pub(super) used: RelationColumns,
    /// Those that it reads beside its WHERE clause.
    pub(super) shown: RelationColumns,
    /// Estimated rows.
    pub(super) rows: f64,
    /// Part of these that a table has at present: one of few rows is planned for more.
    pub(super) present: f64,
    /// The statistics of its indexes: only of a table that is large enough.
    pub(super) statistics: Option<Arc<TableStatistics>>,
}

/// The kind of a relation.
#[derive(Debug)]
pub(super) enum RelKind {
    Table {
        def: Arc<TableDef>,
        alias: Alias,
        /// What hints say of its indexes; `None`: nothing.
        indexes: Option<HintedIndexes>,
    },
    Virtual {
        def: Arc<TableDef>,
    },
    Derived {
        columns: Vec<Column>,
        /// Its plan, once conditions have been moved into it.
        plan: Option<Box<QueryPlan>>,
    },
    /// Groups, or computed values.
    Made {
        columns: Vec<Column>,
    },
}

/// The relations of one query, and which of them its subqueries name.
pub(super) struct Rels<'c> {
    pub(super) list: Vec<Rel>,
    pub(super) subqueries: Subqueries,
    /// Rows are locked, so secondary entries do not suffice.
    pub(super) locked: bool,
    /// Rows are locked that are read, those of `locked` among them: no scan should lock a whole table.
    pub(super) reads_lock: bool,
    /// A table is read whole only where no key finds its rows: `sql_safe_updates`, and rows are locked.
    pub(super) avoids_scans: bool,
    /// How an enclosing query is planned depends on the number of rows.
    pub(super) is_counted: bool,
    /// LIMIT may end the reading early.
    pub(super) has_limit: bool,
    /// Types the expressions that rules make.
    pub(super) build: expr::Builder,
    /// The dictionary.
    pub(super) catalog: &'c dyn Catalog,
    /// Limit on memory for keys.
    pub(super) range_memory: &'c RangeMemory,
    /// Dives into indexes, if values are known and each path is read to its end.
    pub(super) dives: Option<&'c Dives<'c>>,
    /// What is the same for the whole statement.
    pub(super) fixed: Fixed<'c>,
}

/// What is the same for a whole statement, though its text does not give the value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fixed<'c> {
    /// Number of its parameters; from there on, parameters are columns of enclosing queries.
    params: u16,
    sql: &'c [u8],
    assigns_variables: &'c OnceCell<bool>,
}

impl Fixed<'_> {
    /// Whether parameter `number` is one of the statement.
    pub(super) fn param(self, number: u16) -> bool {
        number < self.params
    }

    /// Parameters that are columns of enclosing queries.
    pub(super) fn outer_columns(self) -> Range<u16> {
        self.params..u16::MAX
    }

    /// Whether user variables keep their values: no expression assigns one. Cost: the first time, a pass over
    /// the text.
    pub(super) fn variables(self) -> bool {
        !self.assigns_variables.get_or_init(|| self.sql.windows(2).any(|pair| pair == b":="))
    }
}

impl<'c> Rels<'c> {
    /// None yet.
    pub(super) fn new(locked: bool, build: expr::Builder, ctx: &BindContext<'c>) -> Self {
        let BindContext { catalog, range_memory, .. } = *ctx;
        let reads_lock = locked || ctx.reads_lock == ReadsLock::Always;
        Rels {
            list: Vec::new(),
            subqueries: Subqueries::default(),
            locked,
            reads_lock,
            avoids_scans: locked && ctx.session.safe_updates(),
            is_counted: false,
            has_limit: false,
            build,
            catalog,
            range_memory,
            dives: None,
            fixed: Fixed { params: ctx.param_count, sql: ctx.sql, assigns_variables: ctx.assigns_variables },
        }
    }

    /// Adds the relation `source`; a derived table's plan comes later.
    pub(super) fn push(&mut self, source: Source) {
        let catalog = self.catalog;
        let (mut statistics, mut present) = (None, 1.0);
        let (kind, rows) = match source {
            Source::Table { def, alias, indexes } => {
                let mut rows = catalog.row_estimate(&def) as f64;
                if rows < cost::LEAST_ROWS {
                    present = cost::present(rows);
                    rows = cost::LEAST_ROWS;
                } else {
                    statistics = catalog.statistics(&def);
                }
                (RelKind::Table { def, alias, indexes }, rows)
            }
            Source::Virtual { def } => (RelKind::Virtual { def }, cost::DERIVED_ROWS),
            Source::Query { columns, .. } => (RelKind::Derived { columns, plan: None }, cost::DERIVED_ROWS),
            Source::Made { columns } => (RelKind::Made { columns }, 1.0),
        };
        let (used, shown) = (RelationColumns::default(), RelationColumns::default());
        self.list.push(Rel { kind, used, shown, rows, present, statistics });
    }

    /// The relation `rel`.
    pub(super) fn get(&self, rel: u16) -> &Rel {
        &self.list[usize::from(rel)]
    }

    /// Number of relations in FROM.
    pub(super) fn tables(&self) -> usize {
        self.list.iter().filter(|rel| !matches!(rel.kind, RelKind::Made { .. })).count()
    }

    /// Definition of a base table.
    pub(super) fn table(&self, rel: u16) -> Option<&Arc<TableDef>> {
        match &self.get(rel).kind {
            RelKind::Table { def, .. } => Some(def),
            _ => None,
        }
    }

    /// Sets the plan of a derived table.
    pub(super) fn set_plan(&mut self, rel: u16, derived: QueryPlan) {
        if let RelKind::Derived { plan, .. } = &mut self.list[usize::from(rel)].kind {
            *plan = Some(Box::new(derived));
        }
    }

    /// Notes the columns that `expr` reads.
    pub(super) fn note_used(&mut self, expr: &Expr) {
        // Long lists of rows are disjunctions of comparisons.
        match &expr.kind {
            ExprKind::Column(column) => self.note_column(*column),
            ExprKind::Const(_) | ExprKind::Param(_) => {}
            ExprKind::And(terms) | ExprKind::Or(terms) => terms.iter().for_each(|term| self.note_used(term)),
            ExprKind::Compare { args, .. } => {
                for arg in args.iter() {
                    match arg.kind {
                        ExprKind::Column(column) => self.note_column(column),
                        ExprKind::Const(_) | ExprKind::Param(_) => {}
                        _ => self.note_used(arg),
                    }
                }
            }
            _ => expr.walk(&mut |e| {
                if let ExprKind::Column(column) = e.kind {
                    self.note_column(column);
                }
            }),
        }
    }

    /// Notes that `column` is read.
    pub(super) fn note_column(&mut self, column: ColumnRef) {
        if let Some(rel) = self.list.get_mut(usize::from(column.rel)) {
            rel.used.insert(column.col);
        }
    }

    /// Notes that the columns used so far are all that is read beside the WHERE clause.
    pub(super) fn note_shown(&mut self) {
        self.list.iter_mut().for_each(|rel| rel.shown = rel.used.clone());
    }

    /// The relations that `expr` names, itself or through subqueries.
    pub(super) fn of(&self, expr: &Expr) -> RelSet {
        let all = |operands: &[Expr]| operands.iter().fold(RelSet::EMPTY, |set, e| set.with(self.of(e)));
        match &expr.kind {
            ExprKind::Column(column) => return RelSet::of(column.rel),
            ExprKind::Const(_) | ExprKind::Param(_) => return RelSet::EMPTY,
            ExprKind::And(terms) | ExprKind::Or(terms) => return all(terms),
            ExprKind::Compare { args, .. } => {
                let of_side = |side: &Expr| match side.kind {
                    ExprKind::Column(column) => RelSet::of(column.rel),
                    ExprKind::Const(_) | ExprKind::Param(_) => RelSet::EMPTY,
                    _ => self.of(side),
                };
                return of_side(&args[0]).with(of_side(&args[1]));
            }
            _ => {}
        }
        let mut set = RelSet::EMPTY;
        expr.walk(&mut |e| match &e.kind {
            ExprKind::Column(column) => set = set.with(RelSet::of(column.rel)),
            ExprKind::Subquery { plan, .. } => set = set.with(self.subqueries.named_by(*plan)),
            _ => {}
        });
        set
    }

    /// The relations as the plan lists them.
    pub(super) fn take_plan(&mut self) -> Arc<[Relation]> {
        let relation = |rel: Rel| match rel.kind {
            RelKind::Table { def, alias, .. } => Relation::Table { def, alias, used: rel.used },
            RelKind::Virtual { def } => Relation::Rows { columns: columns_of(&def) },
            RelKind::Derived { columns, .. } | RelKind::Made { columns } => Relation::Rows { columns },
        };
        std::mem::take(&mut self.list).into_iter().map(relation).collect()
    }
}

fn columns_of(def: &TableDef) -> Vec<Column> {
    let column =
        |c: &types::ColumnDef| Column { name: c.name.clone(), ty: c.ty.clone(), nullable: c.nullable };
    def.columns.iter().map(column).collect()
}
