//! Query expressions: WITH, set operations, and the clauses of the whole.

use expr::Expr;
use types::{SqlType, TypeKind};

use super::binder::{Aggregates, Aliases, Binder, CteEntry, Level, Role};
use super::block::{Block, Query, UnionBlock, Window};
use super::{BindError, Clause, ParamRole, aggregate, temp_table_columns, text_errors};
use crate::ast::{self, QueryBody, SetOperator};
use crate::parser::QUERY_HEIGHT;
use crate::plan::{Column, OutputColumn, SortKey};

/// Clauses that follow a query's body.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tail<'a> {
    /// ORDER BY.
    pub(super) order_by: &'a [ast::OrderItem<'a>],
    /// LIMIT.
    pub(super) limit: Option<&'a ast::Limit<'a>>,
    /// Locking clauses.
    pub(super) locks: &'a [ast::LockClause<'a>],
}

impl<'a> Tail<'a> {
    fn of(query: &'a ast::Query<'a>) -> Tail<'a> {
        Tail { order_by: query.order_by, limit: query.limit, locks: query.locks }
    }

    fn is_empty(&self) -> bool {
        self.order_by.is_empty() && self.limit.is_none() && self.locks.is_empty()
    }
}

impl<'a> Binder<'a, '_> {
    /// Binds a query at the innermost level, which must be fresh.
    pub(super) fn query(&mut self, query: &'a ast::Query<'a>) -> Result<Query, BindError> {
        if query.into.is_some() {
            let is_inside = self.levels.len() > 1;
            return Err(if is_inside {
                BindError::MisplacedInto
            } else {
                BindError::NotSupported("SELECT ... INTO a file")
            });
        }
        self.rows_of(query)
    }

    /// As [`Binder::query`], whatever takes the rows.
    pub(super) fn rows_of(&mut self, query: &'a ast::Query<'a>) -> Result<Query, BindError> {
        let outer_ctes = self.ctes.len();
        if let Some(with) = query.with {
            self.with(with)?;
        }
        self.descend(QUERY_HEIGHT)?;
        let bound = self.body(query.body, Tail::of(query));
        self.ascend(QUERY_HEIGHT);
        self.ctes.truncate(outer_ctes);
        bound
    }

    /// Brings common table expressions into force; each sees those before it.
    pub(super) fn with(&mut self, with: &'a ast::With<'a>) -> Result<(), BindError> {
        if with.recursive {
            return Err(BindError::NotSupported("WITH RECURSIVE"));
        }
        for (at, cte) in with.ctes.iter().enumerate() {
            if with.ctes[..at].iter().any(|other| other.name == cte.name) {
                return Err(BindError::DuplicateAlias(cte.name.to_owned()));
            }
            let (visible, levels) = (self.ctes.len(), self.levels.len() - 1);
            self.ctes.push(CteEntry { cte, visible, levels });
        }
        Ok(())
    }

    fn body(&mut self, body: QueryBody<'a>, tail: Tail<'a>) -> Result<Query, BindError> {
        match body {
            QueryBody::Select(select) => Ok(Query::Select(Box::new(self.select(select, tail)?))),
            QueryBody::Nested(query) if tail.is_empty() => self.query(query),
            QueryBody::Nested(_) => {
                let arm = self.operand(body)?;
                self.union(vec![arm], None, tail, false)
            }
            QueryBody::SetOp(set) => self.set_operation(set, tail),
            QueryBody::Table(name) => Ok(Query::Select(Box::new(self.table_query(name, tail)?))),
            QueryBody::Values(rows) => self.values_query(rows, tail),
        }
    }

    /// An operand of a set operation, at a level of its own.
    fn operand(&mut self, body: QueryBody<'a>) -> Result<Query, BindError> {
        let role = self.level().role;
        self.levels.push(Level::new(role));
        let bound = self.beside(|binder| match body {
            QueryBody::Nested(query) => binder.query(query),
            body => binder.body(body, Tail::default()),
        });
        self.levels.pop();
        bound
    }

    fn set_operation(&mut self, set: &'a ast::SetOp<'a>, tail: Tail<'a>) -> Result<Query, BindError> {
        let mut arms = vec![self.operand(set.first)?];
        let mut distinct_after = None;
        for branch in set.rest {
            match branch.op {
                SetOperator::Union => {}
                SetOperator::Except => return Err(BindError::NotSupported("EXCEPT")),
                SetOperator::Intersect => return Err(BindError::NotSupported("INTERSECT")),
            }
            arms.push(self.operand(branch.body)?);
            if arms[arms.len() - 1].output().len() != arms[0].output().len() {
                return Err(BindError::UnionColumns);
            }
            if !branch.all {
                distinct_after = Some(arms.len() - 1);
            }
        }
        self.union(arms, distinct_after, tail, true)
    }

    fn union(
        &mut self,
        mut arms: Vec<Query>,
        distinct_after: Option<usize>,
        tail: Tail<'a>,
        makes_table: bool,
    ) -> Result<Query, BindError> {
        if !tail.locks.is_empty() {
            return Err(BindError::NotSupported("locking clause of a UNION"));
        }
        let mut columns = self.union_columns(&arms)?;
        let origins = if makes_table {
            temp_table_columns::keep_union(&mut columns)
        } else if let [only] = &arms[..] {
            only.output().iter().map(|column| column.origin.clone()).collect()
        } else {
            vec![None; columns.len()]
        };
        for arm in &mut arms {
            self.convert_arm(arm, &columns);
        }
        let output: Vec<OutputColumn> = columns
            .iter()
            .zip(origins)
            .enumerate()
            .map(|(at, (column, origin))| OutputColumn {
                name: column.name.clone().into(),
                expr: Expr::column(0, at as u16, column.ty.clone(), column.nullable),
                origin,
                text: None,
            })
            .collect();
        self.level().output.clone_from(&output);
        let order = self.union_order(tail.order_by, makes_table)?;
        let limit = self.limit(tail.limit)?;
        let count_found_rows = take_count_found_rows(&mut arms[0]);
        let union = UnionBlock { arms, distinct_after, columns, order, limit, output, count_found_rows };
        Ok(Query::Union(Box::new(union)))
    }

    /// ORDER BY of a set operation (`is_set`) or of a query in parentheses: names of its columns, not of its
    /// tables'.
    fn union_order(
        &mut self,
        items: &'a [ast::OrderItem<'a>],
        is_set: bool,
    ) -> Result<Vec<SortKey>, BindError> {
        self.enter(Clause::Order, Aggregates::Allowed, Aliases::Last);
        let mut order = Vec::with_capacity(items.len());
        for (at, item) in items.iter().enumerate() {
            if is_set && let Some(error) = text_errors::table_in_order(&item.expr) {
                return Err(error);
            }
            let expr = self.order_item(item)?;
            if aggregate::has_pending(&expr) {
                return Err(BindError::OrderAggregateOfUnion { ordinal: at + 1 });
            }
            order.push(SortKey { expr, desc: item.descending });
        }
        Ok(order)
    }

    /// Names of the first operand, types that hold the values of all.
    fn union_columns(&mut self, arms: &[Query]) -> Result<Vec<Column>, BindError> {
        let first = arms[0].output();
        let mut columns = Vec::with_capacity(first.len());
        for (at, column) in first.iter().enumerate() {
            let values: Vec<&Expr> = arms.iter().map(|arm| &arm.output()[at].expr).collect();
            let ty = match values[..] {
                [only] => only.ty.clone(),
                _ => set_operation_type(self.build.set_operation_type(&values)?, &values),
            };
            let nullable = values.iter().any(|e| e.nullable);
            if ty.is_string() && arms.len() > 1 {
                for value in values {
                    self.note_role(value, ParamRole::KeptText);
                }
            }
            columns.push(Column { name: (*column.name).into(), ty, nullable });
        }
        Ok(columns)
    }

    /// Casts an operand's select list to the union's types.
    fn convert_arm(&self, arm: &mut Query, columns: &[Column]) {
        let output = match arm {
            Query::Select(block) => &mut block.output,
            Query::Union(union) => &mut union.output,
        };
        for (item, column) in output.iter_mut().zip(columns) {
            if item.expr.ty != column.ty {
                let value = std::mem::replace(&mut item.expr, self.build.null());
                item.expr = self.build.in_set_operation(value, &column.ty);
            }
        }
    }

    /// `VALUES ROW(..), ..`: a union of queries without tables.
    fn values_query(&mut self, rows: &'a [&'a [ast::Expr<'a>]], tail: Tail<'a>) -> Result<Query, BindError> {
        if rows.first().is_some_and(|row| row.is_empty()) {
            return Err(BindError::EmptyRow);
        }
        let mut arms = Vec::with_capacity(rows.len());
        for (at, row) in rows.iter().enumerate() {
            if row.len() != rows[0].len() {
                return Err(BindError::ColumnCount { row: at as u64 + 1 });
            }
            self.levels.push(Level::new(Role::Rows));
            let bound = self.values_row(row);
            self.levels.pop();
            arms.push(Query::Select(Box::new(bound?)));
        }
        // MySQL reads the rows as they are written, without a table of its own.
        self.union(arms, None, tail, false)
    }

    /// A row of VALUES. Its literals decide the types of columns, as those of a select list do.
    fn values_row(&mut self, row: &'a [ast::Expr<'a>]) -> Result<Block, BindError> {
        let mut output = Vec::with_capacity(row.len());
        for (at, value) in row.iter().enumerate() {
            let expr = self.value_of_literals(value)?;
            output.push(OutputColumn { name: format!("column_{at}").into(), expr, origin: None, text: None });
        }
        let subqueries = std::mem::take(&mut self.level().subqueries);
        Ok(Block { output, subqueries, ..Block::default() })
    }

    /// LIMIT.
    pub(super) fn limit(&mut self, limit: Option<&'a ast::Limit<'a>>) -> Result<Window, BindError> {
        let Some(limit) = limit else { return Ok(Window::default()) };
        let offset = limit.offset.as_ref().map(|e| self.limit_value(e)).transpose()?;
        Ok(Window { offset, count: Some(self.limit_value(&limit.count)?) })
    }

    fn limit_value(&mut self, value: &'a ast::Expr<'a>) -> Result<Expr, BindError> {
        if let Some(error) = text_errors::undeclared(value) {
            return Err(error);
        }
        let mut bound = self.value(value)?;
        self.settle(&mut bound, &SqlType::bigint_unsigned());
        self.note_role(&bound, ParamRole::RowCount);
        if bound.ty.is_integer() {
            return Ok(bound);
        }
        match value.kind {
            ast::ExprKind::Param(_) => Ok(self.build.cast(bound, expr::build::CastTo::Unsigned)?),
            _ => Err(BindError::WrongArguments("LIMIT")),
        }
    }
}

/// The type of a column of a set operation whose values have the common type `ty`. It fills no numbers with
/// zeros, and counts a character for each bit.
fn set_operation_type(ty: SqlType, values: &[&Expr]) -> SqlType {
    let bits = values.iter().filter(|e| e.ty.kind == TypeKind::Bit).map(|e| e.ty.length).max();
    let length = if ty.is_string() { ty.length.max(bits.unwrap_or(0)) } else { ty.length };
    // A literal may have more fraction digits than a column.
    let excess = match ty.kind {
        TypeKind::Decimal => ty.decimals.saturating_sub(types::decimal::SCALE_MAX),
        _ => 0,
    };
    let (length, decimals) = (length - u32::from(excess), ty.decimals - excess);
    SqlType { zerofill: false, length, decimals, ..ty }
}

/// SQL_CALC_FOUND_ROWS is in the first operand and counts the union's rows.
fn take_count_found_rows(arm: &mut Query) -> bool {
    match arm {
        Query::Select(block) => std::mem::take(&mut block.count_found_rows),
        Query::Union(union) => std::mem::take(&mut union.count_found_rows),
    }
}
