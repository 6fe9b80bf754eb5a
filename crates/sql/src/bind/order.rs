//! The names of ORDER BY and GROUP BY: positions, aliases, columns.

use expr::{AggFunc, Expr, ExprKind};

use super::binder::{Binder, Level, find_alias};
use super::block::{Aggregation, Block};
use super::scope::written;
use super::{BindError, Clause, Deprecated, same, volatile};
use crate::LiteralKind;
use crate::ast;
use crate::literal::IntValue;

impl<'a> Binder<'a, '_> {
    /// An item of ORDER BY: a position, else an alias, else an expression over columns and, after them, aliases.
    pub(super) fn order_item(&mut self, item: &'a ast::OrderItem<'a>) -> Result<Expr, BindError> {
        if let Some(expr) = self.by_position(&item.expr, Clause::Order)? {
            return Ok(expr);
        }
        if let ast::ExprKind::Column(name) = item.expr.kind
            && let Some(expr) = find_alias(self.level(), name, Clause::Order)?
        {
            self.note_copy(&expr)?;
            return Ok(expr);
        }
        self.value(&item.expr)
    }

    /// An item of GROUP BY: a position, else a column, else an alias.
    pub(super) fn group_item(&mut self, item: &'a ast::OrderItem<'a>) -> Result<Expr, BindError> {
        let mut bound = match self.by_position(&item.expr, Clause::Group)? {
            Some(expr) => expr,
            None => self.value(&item.expr)?,
        };
        if let (ast::ExprKind::Column(name), ExprKind::Column(_)) = (item.expr.kind, &bound.kind)
            && let Ok(Some(alias)) = find_alias(self.level(), name, Clause::Group)
            && !same::same(&alias, &bound)
        {
            self.deprecated.push(Deprecated::AmbiguousGroup(written(name).into()));
        }
        volatile::expand(&mut bound, &self.level().output);
        if let Some(name) = self.aggregate_inside(&bound, &item.expr) {
            return Err(BindError::WrongGroupField(name));
        }
        Ok(bound)
    }

    /// The select item that an integer literal stands for.
    fn by_position(&mut self, expr: &ast::Expr<'a>, clause: Clause) -> Result<Option<Expr>, BindError> {
        let ast::ExprKind::Literal(literal) = expr.kind else { return Ok(None) };
        if literal.kind != LiteralKind::Int {
            return Ok(None);
        }
        let unknown = || BindError::UnknownColumn {
            name: String::from_utf8_lossy(literal.text(self.ctx.sql)).into_owned(),
            clause,
        };
        let place = match literal.int_value(self.ctx.sql) {
            IntValue::Signed(n) => usize::try_from(n).ok().and_then(|n| n.checked_sub(1)),
            IntValue::Unsigned(_) | IntValue::Big => None,
        };
        let output = &self.levels.last().expect("a query is being bound").output;
        let at = place.filter(|&at| at < output.len()).ok_or_else(unknown)?;
        let item = volatile::item(output, at);
        self.note_copy(&item)?;
        Ok(Some(item))
    }

    /// The name shown in error 1056 if `bound` holds an aggregate.
    fn aggregate_inside(&self, bound: &Expr, expr: &ast::Expr<'a>) -> Option<String> {
        let mut found = false;
        bound.walk(&mut |e| {
            found |= matches!(e.kind, ExprKind::Column(c) if c.rel == super::binder::AGG_PENDING);
        });
        found.then(|| match expr.kind {
            ast::ExprKind::Column(name) => written(name),
            _ => self.name_of(bound),
        })
    }

    fn name_of(&self, bound: &Expr) -> String {
        let output = &self.levels.last().expect("a query is being bound").output;
        let item = output.iter().find(|o| same::same(&o.expr, bound));
        item.map_or_else(String::new, |o| o.name.to_string())
    }

    /// With DISTINCT, ORDER BY may only use what is selected (errors 3065 and 3066), unless DISTINCT changes nothing.
    pub(super) fn ensure_distinct_order(&mut self, block: &Block) -> Result<(), BindError> {
        let strict = self.ctx.modes.has(types::SqlModes::ONLY_FULL_GROUP_BY);
        if !block.distinct || !strict || shows_all_groups(block) {
            return Ok(());
        }
        for (at, key) in block.order.iter().enumerate() {
            if let Some(column) = unselected(&key.expr, block) {
                if is_aggregate(block, column) {
                    return Err(BindError::AggregateNotInDistinct { ordinal: at + 1 });
                }
                let name = column_name(self.level(), block, column);
                return Err(BindError::OrderNotInDistinct { ordinal: at + 1, column: name });
            }
        }
        Ok(())
    }
}

/// Whether each group is a row of its own without DISTINCT: all of GROUP BY is selected.
fn shows_all_groups(block: &Block) -> bool {
    block.aggregation.as_ref().is_some_and(|aggregation| {
        let is_shown = |at: usize| {
            let group = expr::ColumnRef { rel: aggregation.rel, col: at as u16 };
            block.output.iter().any(|o| matches!(o.expr.kind, ExprKind::Column(column) if column == group))
        };
        (0..aggregation.groups.len()).all(is_shown)
    })
}

/// Whether `column` is an aggregate of the statement's, rather than a column that its groups determine.
fn is_aggregate(block: &Block, column: expr::ColumnRef) -> bool {
    let Some(aggregation) = block.aggregation.as_ref().filter(|a| a.rel == column.rel) else { return false };
    let at = usize::from(column.col).checked_sub(aggregation.groups.len());
    at.and_then(|at| aggregation.aggs.get(at)).is_some_and(|spec| spec.func != AggFunc::AnyValue)
}

/// A column in `expr` outside of every selected expression.
fn unselected(expr: &Expr, block: &Block) -> Option<expr::ColumnRef> {
    if block.output.iter().any(|o| same::same(&o.expr, expr)) {
        return None;
    }
    if let ExprKind::Column(column) = expr.kind {
        return super::block::outer_id(column.rel).is_none().then_some(column);
    }
    let mut found = None;
    expr.for_each_child(&mut |child| found = found.or_else(|| unselected(child, block)));
    found
}

/// `schema.table.column` of a base table's column; the bare name otherwise.
pub(super) fn column_name(level: &Level, block: &Block, column: expr::ColumnRef) -> String {
    let mut column = column;
    if let Some(aggregation) = &block.aggregation
        && aggregation.rel == column.rel
        && let Some(Expr { kind: ExprKind::Column(grouped), .. }) =
            made_of(aggregation, usize::from(column.col))
    {
        column = *grouped;
    }
    let Some(table) = level.scope.table_of(column.rel) else { return String::new() };
    let name = table.columns.name(column.col);
    match table.schema() {
        Some(schema) => format!("{schema}.{}.{name}", table.alias),
        None => format!("{}.{name}", table.alias),
    }
}

/// What column `at` of an aggregation's output is made of: a group expression, or the argument of an aggregate.
fn made_of(aggregation: &Aggregation, at: usize) -> Option<&Expr> {
    match at.checked_sub(aggregation.groups.len()) {
        None => aggregation.groups.get(at),
        Some(at) => aggregation.aggs.get(at)?.args.first(),
    }
}
