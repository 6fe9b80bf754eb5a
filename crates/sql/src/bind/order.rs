//! The names of ORDER BY and GROUP BY: positions, aliases, columns.

use expr::{ColumnRef, Expr, ExprKind};

use super::binder::{Aggregates, Aliases, Binder, Level};
use super::block::{Aggregation, Block};
use super::names::Item;
use super::padded::stored;
use super::scope::written;
use super::{BindError, Clause, Deprecated, aggregate, same, temp_table_columns, volatile};
use crate::LiteralKind;
use crate::ast;
use crate::literal::IntValue;

impl<'a> Binder<'a, '_> {
    /// An item of ORDER BY: a position, else a name of the select list, else an expression.
    pub(super) fn order_item(&mut self, item: &'a ast::OrderItem<'a>) -> Result<Expr, BindError> {
        if let Some(place) = self.by_position(&item.expr, Clause::Order)? {
            return self.selected(place);
        }
        match self.named_item(&item.expr, Clause::Order)? {
            Some((place, _)) => self.selected(place),
            None => self.value(&item.expr).or_else(|error| self.selected_aggregate(&item.expr, error)),
        }
    }

    /// The aggregate of the select list that `expr`, an item of ORDER BY, is by its text: its columns may be
    /// ambiguous then.
    #[cold]
    fn selected_aggregate(&mut self, expr: &ast::Expr<'a>, error: BindError) -> Result<Expr, BindError> {
        let (BindError::AmbiguousColumn { .. }, ast::ExprKind::Aggregate(wanted)) = (&error, expr.kind)
        else {
            return Err(error);
        };
        let is_wanted = |item: &ast::SelectItem<'_>| match item {
            ast::SelectItem::Expr {
                expr: ast::Expr { kind: ast::ExprKind::Aggregate(shown), .. }, ..
            } => is_same_text(wanted, shown),
            _ => false,
        };
        let items = self.level().items;
        let is_each_one = items.iter().all(|item| matches!(item, ast::SelectItem::Expr { .. }));
        match items.iter().position(is_wanted).filter(|_| is_each_one) {
            Some(place) => self.selected(place),
            None => Err(error),
        }
    }

    /// An item of GROUP BY: a position; else a name of the select list, unless the tables have another column
    /// of that name; else an expression.
    pub(super) fn group_item(&mut self, item: &'a ast::OrderItem<'a>) -> Result<Expr, BindError> {
        let mut place = self.by_position(&item.expr, Clause::Group)?;
        if place.is_none() {
            let named = self.named_item(&item.expr, Clause::Group)?;
            let named = named.filter(|&(place, found)| self.is_grouped_item(item, place, found));
            place = named.map(|(place, _)| place);
        }
        let mut bound = match place {
            Some(place) => self.selected(place)?,
            None => self.value(&item.expr).map_err(|error| self.grouped_aggregate(&item.expr, error))?,
        };
        volatile::expand(&mut bound, &self.level().output);
        let is_outer_aggregate = self.levels.len() > 1 && item.expr.has_aggregate();
        if is_outer_aggregate || aggregate::has_pending(&bound) {
            return Err(BindError::WrongGroupField(self.written_name(place, item)));
        }
        self.level().grouped_items.push(place);
        Ok(bound)
    }

    /// The position of the item of the select list that `expr` names, if it is a name alone, and the column
    /// of the tables that was looked up for it.
    fn named_item(
        &mut self,
        expr: &'a ast::Expr<'a>,
        clause: Clause,
    ) -> Result<Option<(usize, Option<ColumnRef>)>, BindError> {
        let ast::ExprKind::Column(name) = expr.kind else { return Ok(None) };
        Ok(match self.find_item(self.levels.len() - 1, name, clause)? {
            Some(Item::Named(place)) => Some((place, None)),
            Some(Item::Shows(place)) => {
                // The name is one of the tables', too, and must be clear there.
                let found = self.value(expr)?;
                Some((place, column_of(&found)))
            }
            Some(Item::Later) | None => None,
        })
    }

    /// Whether the name `item` of GROUP BY means the item of the select list at `place`: the tables have no
    /// other column of the name. `found`: the tables' column, if it was looked up.
    fn is_grouped_item(&mut self, item: &ast::OrderItem<'_>, place: usize, found: Option<ColumnRef>) -> bool {
        let ast::ExprKind::Column(name) = item.expr.kind else { return true };
        let level = self.level();
        let Some(column) = found.or_else(|| level.scope.find_unmerged(name)) else { return true };
        if column_of(&level.output[place].expr) == Some(column) {
            return true;
        }
        let name = name.column.into();
        self.deprecated.push(Deprecated::Ambiguous { name, clause: Clause::Group });
        false
    }

    /// The error for `expr`, an item of GROUP BY that has failed: an aggregate that is selected, too, is an
    /// item of the select list.
    #[cold]
    fn grouped_aggregate(&mut self, expr: &'a ast::Expr<'a>, error: BindError) -> BindError {
        if !matches!((&error, expr.kind), (BindError::InvalidGroupFunction, ast::ExprKind::Aggregate(_))) {
            return error;
        }
        self.enter(Clause::Group, Aggregates::Allowed, Aliases::Last);
        let aggregate = self.value(expr);
        let output = &self.level().output;
        match aggregate.ok().and_then(|found| output.iter().find(|item| same::same(&item.expr, &found))) {
            Some(item) => BindError::WrongGroupField(item.name.to_string()),
            None => error,
        }
    }

    /// The item of the select list at `place`.
    fn selected(&mut self, place: usize) -> Result<Expr, BindError> {
        let item = volatile::item(&self.level().output, place);
        self.note_copy(&item)?;
        Ok(item)
    }

    /// The position of the item of the select list that an integer literal stands for.
    fn by_position(&mut self, expr: &ast::Expr<'a>, clause: Clause) -> Result<Option<usize>, BindError> {
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
        place.filter(|&at| at < output.len()).map(Some).ok_or_else(unknown)
    }

    /// How error 1056 shows `item` of GROUP BY, which is the item of the select list at `place` or an
    /// expression.
    #[cold]
    fn written_name(&self, place: Option<usize>, item: &ast::OrderItem<'a>) -> String {
        let output = &self.levels.last().expect("a query is being bound").output;
        match (place, item.expr.kind) {
            (Some(place), _) => output[place].name.to_string(),
            (None, ast::ExprKind::Column(name)) => written(name),
            (None, _) => "???".to_owned(),
        }
    }

    /// With DISTINCT, ORDER BY may only use what is selected (errors 3065 and 3066), unless DISTINCT changes
    /// nothing.
    pub(super) fn ensure_distinct_order(&mut self, block: &Block) {
        let strict = self.ctx.modes.has(types::SqlModes::ONLY_FULL_GROUP_BY);
        let groups = &self.level().grouped_items;
        // Each group is a row of its own without DISTINCT.
        let shows_all_groups = !groups.is_empty() && groups.iter().all(Option::is_some);
        if !block.distinct || !strict || shows_all_groups {
            return;
        }
        for (at, key) in block.order.iter().enumerate() {
            if let Some(column) = unselected(&key.expr, block) {
                let (ordinal, name) = (at + 1, column_name(self.level(), block, column));
                return self.deferred.note(if is_aggregate(block, column) {
                    BindError::AggregateNotInDistinct { ordinal }
                } else {
                    BindError::OrderNotInDistinct { ordinal, column: name }
                });
            }
        }
    }
}

/// Whether two aggregates name the same columns, as far as their texts say.
fn is_same_text(a: &ast::Aggregate<'_>, b: &ast::Aggregate<'_>) -> bool {
    let is_same = |(a, b): (&ast::Expr<'_>, &ast::Expr<'_>)| match (a.kind, b.kind) {
        (ast::ExprKind::Column(a), ast::ExprKind::Column(b)) => {
            a.column.eq_ignore_ascii_case(b.column)
                && (a.table.is_none() || b.table.is_none() || a.table == b.table)
        }
        _ => false,
    };
    a.func == b.func
        && a.distinct == b.distinct
        && a.order_by.is_empty()
        && a.args.len() == b.args.len()
        && a.args.iter().zip(b.args).all(is_same)
}

/// The column that `expr` is.
fn column_of(expr: &Expr) -> Option<ColumnRef> {
    stored(expr).as_column()
}

/// Whether `column` is an aggregate of the statement's, rather than a column that its groups determine.
fn is_aggregate(block: &Block, column: expr::ColumnRef) -> bool {
    temp_table_columns::aggregate_at(column, block).is_some()
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
pub(super) fn column_name(level: &Level<'_>, block: &Block, column: expr::ColumnRef) -> String {
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

/// What column `at` of an aggregation's output is made of: a group expression, or the argument of an
/// aggregate.
fn made_of(aggregation: &Aggregation, at: usize) -> Option<&Expr> {
    match at.checked_sub(aggregation.groups.len()) {
        None => aggregation.groups.get(at),
        Some(at) => aggregation.aggs.get(at)?.args.first(),
    }
}
