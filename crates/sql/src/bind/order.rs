//! The names of ORDER BY and GROUP BY: positions, aliases, columns.

use expr::{Expr, ExprKind};

use super::binder::{Binder, Level, find_alias};
use super::block::Block;
use super::scope::written;
use super::{BindError, Clause, same, volatile};
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

    /// With DISTINCT, ORDER BY may only use what is selected (error 3065).
    pub(super) fn ensure_distinct_order(&mut self, block: &Block) -> Result<(), BindError> {
        let strict = self.ctx.modes.has(types::SqlModes::ONLY_FULL_GROUP_BY);
        if !block.distinct || !strict {
            return Ok(());
        }
        for (at, key) in block.order.iter().enumerate() {
            if let Some(column) = unselected(&key.expr, block) {
                let name = column_name(self.level(), block, column);
                return Err(BindError::OrderNotInDistinct { ordinal: at + 1, column: name });
            }
        }
        Ok(())
    }
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
            aggregation.groups.get(usize::from(column.col))
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
