//! SELECT: its clauses in the order in which they see one another.

use std::sync::Arc;

use expr::{Expr, ExprKind};

use super::binder::{Aggregates, Aliases, Binder, Level, Role};
use super::block::{Block, JoinTree, Query, Source};
use super::padded::stored;
use super::query::Tail;
use super::{BindError, Clause, Deprecated, aggregate, rewrite, temp_table, temp_table_columns, volatile};
use crate::ast::{self, SelectItem};
use crate::plan::{ItemName, ItemText, Origin, OutputColumn, SortKey, shown_name};

/// Conditions that most joins have.
const JOIN_CONDITIONS: usize = 8;

impl<'a> Binder<'a, '_> {
    /// Binds a SELECT at the innermost level, which must be fresh.
    pub(super) fn select(&mut self, select: &'a ast::Select<'a>, tail: Tail<'a>) -> Result<Block, BindError> {
        if select.rollup {
            return Err(BindError::NotSupported("WITH ROLLUP"));
        }
        let (outer_conditions, outer_texts) = (self.conditions.len(), self.read_last.len());
        let mut from = self.from(select.from)?;
        self.enter(Clause::FieldList, Aggregates::Allowed, Aliases::Hidden);
        self.select_list(select.items, select.having.is_some())?;
        let (mut filter, mut row_keys) = (Vec::new(), None);
        if let Some(condition) = &select.filter {
            if self.level().rels.len() > 1 {
                // The planner adds equalities that follow from others.
                filter.reserve(JOIN_CONDITIONS);
            }
            self.enter(Clause::Where, Aggregates::Forbidden, Aliases::Hidden);
            row_keys = self.row_keys(condition, select, &tail);
            if row_keys.is_none() {
                self.conjuncts(condition, &mut filter)?;
            }
        }
        self.join_conditions(outer_conditions, &mut from)?;
        let before_groups = self.outer_named();
        let groups = self.group_by(select.group_by)?;
        let having = select.having.as_ref().map(|h| self.having(h, &groups, tail.order_by)).transpose()?;
        let before_order = self.outer_named();
        let order = self.order_by(tail.order_by)?;
        let limit = self.limit(tail.limit)?;
        if tail.limit.is_some_and(|limit| self.is_zero(&limit.count)) {
            self.read_last.truncate(outer_texts);
        }
        let locks = self.row_locks(tail.locks)?;
        if select.modifiers.calc_found_rows {
            self.deprecated.push(Deprecated::CalcFoundRows);
        }
        let level = self.level();
        let mut block = Block {
            rels: std::mem::take(&mut level.rels),
            from,
            filter,
            row_keys,
            aggregation: None,
            computed: None,
            having,
            distinct: select.modifiers.distinct,
            order,
            limit,
            output: std::mem::take(&mut level.output),
            subqueries: std::mem::take(&mut level.subqueries),
            locks,
            count_found_rows: select.modifiers.calc_found_rows,
            straight: select.modifiers.straight_join,
        };
        let groups = self.drop_redundant(&mut block, groups, (before_groups, before_order));
        self.aggregate(&mut block, groups);
        temp_table_columns::mark_result(&mut block, self.levels.len() == 1);
        volatile::compute_once(&mut block, &self.build);
        self.ensure_distinct_order(&block);
        self.read_less(&mut block);
        Ok(block)
    }

    /// `TABLE name`.
    pub(super) fn table_query(
        &mut self,
        name: ast::TableName<'a>,
        tail: Tail<'a>,
    ) -> Result<Block, BindError> {
        let (from, scope) = if let Some(def) = self.lookup_virtual(&name) {
            self.virtual_table(def, name.name)
        } else {
            let def = self.lookup(&name)?;
            self.base_table(def, name.name, None)
        };
        self.level().scope = scope;
        let mut output = Vec::new();
        self.note_star(None);
        self.star(&mut output)?;
        self.level().output = output;
        let order = self.order_by(tail.order_by)?;
        let limit = self.limit(tail.limit)?;
        let locks = self.row_locks(tail.locks)?;
        let Level { rels, output, subqueries, .. } = std::mem::replace(self.level(), Level::new(Role::Rows));
        Ok(Block { rels, from, order, limit, output, subqueries, locks, ..Block::default() })
    }

    /// Drops what the rows of a query do not depend on where MySQL does so: ORDER BY of one group, in
    /// subqueries any ORDER BY, and, where only the presence of rows or values counts, DISTINCT and a GROUP
    /// BY that nothing reads. The errors of grouping are not searched for then. `before` says how many outer
    /// columns were named before GROUP BY and before ORDER BY: the query does not depend on those named there
    /// alone.
    fn drop_redundant(&mut self, block: &mut Block, groups: Vec<Expr>, before: (usize, usize)) -> Vec<Expr> {
        let level = self.level();
        let has_table = !matches!(block.from, JoinTree::Dual);
        let is_one_row = groups.is_empty() && (!level.aggs.is_empty() || !has_table);
        let is_whole = level.role == Role::Rows || block.limit.count.is_some();
        if is_whole && !is_one_row {
            return groups;
        }
        let counts = is_whole || level.role == Role::Value;
        let drops_groups = !counts && block.having.is_none() && level.aggs.is_empty();
        block.distinct &= counts;
        block.order.clear();
        if let Some((_, outer)) = &mut level.sub {
            outer.truncate(if drops_groups { before.0 } else { before.1 });
        }
        if drops_groups { Vec::new() } else { groups }
    }

    /// Leaves out what DISTINCT does not ask for: all rows but the first where the items are constants, and
    /// the search for equal rows where each row of the statement's result has a key of its own.
    fn read_less(&mut self, block: &mut Block) {
        if !block.distinct {
            return;
        }
        let is_whole = block.limit.count.is_none() && block.order.is_empty();
        if is_whole && block.output.iter().all(|item| temp_table::is_constant(&item.expr, block)) {
            block.limit.count = Some(self.build.int(1));
            (block.distinct, block.count_found_rows) = (false, false);
            return;
        }
        if temp_table::has_no_equal_rows(block) {
            // Of a query within another, DISTINCT decides whether MySQL makes a table.
            block.distinct &= self.levels.len() > 1;
        } else {
            volatile::compute_distinct(block, &self.build);
        }
    }

    /// How many columns of enclosing queries the current query has named, if it is a subquery.
    fn outer_named(&mut self) -> usize {
        self.level().sub.as_ref().map_or(0, |(_, outer)| outer.len())
    }

    /// Binds the select list, item by item, so that subqueries see the items before them.
    /// `has_having`: HAVING may name the columns of `*`, of which EXISTS needs none.
    fn select_list(&mut self, items: &'a [SelectItem<'a>], has_having: bool) -> Result<(), BindError> {
        let level = self.level();
        let shows_nothing = level.role == Role::Exists && !has_having;
        level.output = Vec::with_capacity(items.len());
        level.items = items;
        if !shows_nothing {
            self.ensure_star_tables(items)?;
        }
        for item in items {
            match item {
                SelectItem::Star | SelectItem::TableStar(_) if shows_nothing => {
                    let expr = self.build.int(1);
                    let shown = OutputColumn { name: "Not_used".into(), expr, origin: None, text: None };
                    self.level().output.push(shown);
                }
                SelectItem::Expr { expr, alias, text } => self.select_item(expr, *alias, text)?,
                SelectItem::Star | SelectItem::TableStar(_) => {
                    let mut shown = Vec::new();
                    match item {
                        SelectItem::TableStar(name) => self.table_star(name, &mut shown)?,
                        _ => self.star(&mut shown)?,
                    }
                    self.level().output.append(&mut shown);
                }
            }
            self.level().items_bound += 1;
        }
        Ok(())
    }

    fn select_item(
        &mut self,
        expr: &'a ast::Expr<'a>,
        alias: Option<&'a str>,
        text: &'a [u8],
    ) -> Result<(), BindError> {
        let is_renamed = alias.is_some() && matches!(expr.kind, ast::ExprKind::Column(_));
        if is_renamed {
            self.level().item_name = alias;
        }
        let mut bound = match &expr.kind {
            ast::ExprKind::Column(name) => self.column(name)?,
            _ => self.value(expr)?,
        };
        if is_renamed {
            self.level().item_name = None;
        }
        if let Some(column) = bound.as_column() {
            let origin = self.origin(&bound);
            let name = match (alias, &expr.kind) {
                (Some(alias), _) => alias.into(),
                (None, ast::ExprKind::Column(written)) => self.column_item_name(column, written.column),
                (None, _) => self.item_name(expr, text).into(),
            };
            self.level().output.push(OutputColumn { name, expr: bound, origin, text: None });
            return Ok(());
        }
        if self.levels.len() == 1 {
            self.note_late([&bound]);
        }
        let name = alias.map_or_else(|| self.item_name(expr, text), Into::into);
        bound.name_cast(&name);
        // A cast keeps the name that it is given here.
        self.shareable &= alias.is_some() || !is_cast_of_subquery(&bound);
        let (origin, text) = (self.origin(stored(&bound)), self.item_text(&bound, text, alias.is_none()));
        self.level().output.push(OutputColumn { name: name.into(), expr: bound, origin, text });
        Ok(())
    }

    /// `*` and `t.*` are read before the names of the list.
    fn ensure_star_tables(&mut self, items: &'a [SelectItem<'a>]) -> Result<(), BindError> {
        let mut has_star = false;
        for item in items {
            match item {
                SelectItem::Star if self.level().scope.tables.is_empty() => {
                    return Err(BindError::NoTablesUsed);
                }
                SelectItem::Star if has_star => {}
                SelectItem::Star => {
                    has_star = true;
                    self.note_star(None);
                }
                SelectItem::TableStar(name) => match self.level().scope.find_table(name) {
                    Some(table) => self.note_star(Some(table)),
                    None => return Err(unknown_star(name)),
                },
                SelectItem::Expr { .. } => {}
            }
        }
        Ok(())
    }

    /// `*`
    fn star(&mut self, output: &mut Vec<OutputColumn>) -> Result<(), BindError> {
        if self.level().scope.tables.is_empty() {
            return Err(BindError::NoTablesUsed);
        }
        let level = self.levels.last().expect("a query is being bound");
        for v in level.scope.shown() {
            output.push(self.shown_column(usize::from(v.table), v.col)?);
        }
        Ok(())
    }

    /// `t.*`
    fn table_star(
        &mut self,
        name: &ast::TableName<'a>,
        output: &mut Vec<OutputColumn>,
    ) -> Result<(), BindError> {
        let scope = &self.level().scope;
        let Some(table) = scope.find_table(name) else {
            return Err(unknown_star(name));
        };
        let columns = &self.levels.last().expect("a query is being bound").scope.tables[table].columns;
        for col in (0..columns.len() as u16).filter(|&col| columns.is_shown(col)) {
            output.push(self.shown_column(table, col)?);
        }
        Ok(())
    }

    fn shown_column(&self, table: usize, col: u16) -> Result<OutputColumn, BindError> {
        let level = self.levels.last().expect("a query is being bound");
        let table = &level.scope.tables[table];
        let found = table.found(col);
        let expr = Expr::column(found.column.rel, col, found.ty, found.nullable);
        let origin = self.origin(&expr);
        let name = self.column_item_name(found.column, table.columns.name(col));
        Ok(OutputColumn { name, expr: self.shown(expr)?, origin, text: None })
    }

    /// Where `text`, the expression of a select item, is in the statement, if it holds a subquery.
    fn item_text(&self, bound: &Expr, text: &[u8], is_name: bool) -> Option<ItemText> {
        if !rewrite::has_subquery(bound) {
            return None;
        }
        let start = text.as_ptr().addr().checked_sub(self.ctx.sql.as_ptr().addr())?;
        let place = start..start + text.len();
        (place.end <= self.ctx.sql.len()).then_some(ItemText { place, is_name })
    }

    /// The name of a select item without alias: a column's name, a literal without what surrounds it, else
    /// the text as written.
    pub(super) fn item_name(&self, expr: &ast::Expr<'a>, text: &[u8]) -> Box<str> {
        use crate::LiteralKind::{Decimal, Float, Int};
        match expr.kind {
            ast::ExprKind::Unary(ast::UnaryOp::Plus, operand) => self.item_name(operand, text),
            ast::ExprKind::Column(column) => column.column.into(),
            ast::ExprKind::Null => "NULL".into(),
            ast::ExprKind::Literal(literal) if matches!(literal.kind, Int | Decimal | Float) => {
                shown_name(&String::from_utf8_lossy(literal.text(self.ctx.sql))).into()
            }
            ast::ExprKind::Literal(literal) if literal.kind == crate::LiteralKind::String => {
                let piece = literal.first_piece(self.ctx.sql, self.lex_mode());
                shown_name(&String::from_utf8_lossy(&piece)).into()
            }
            _ => shown_name(&String::from_utf8_lossy(text)).into(),
        }
    }

    /// The name of an item that shows `column` and is called `name`.
    fn column_item_name(&self, column: expr::ColumnRef, name: &str) -> ItemName {
        let level = self.levels.last().expect("a query is being bound");
        match level.rels.get(usize::from(column.rel)) {
            Some(Source::Table { def, .. } | Source::Virtual { def })
                if *def.columns[usize::from(column.col)].name == *name =>
            {
                ItemName::OfColumn(Arc::clone(def), column.col)
            }
            _ => name.into(),
        }
    }

    /// The table column that an expression is, if it is one of this query's.
    fn origin(&self, expr: &Expr) -> Option<Origin> {
        let ExprKind::Column(column) = expr.kind else { return None };
        let level = self.levels.last().expect("a query is being bound");
        let table = level.scope.table_of(column.rel)?;
        let (alias, col) = (table.alias.clone(), column.col);
        match level.rels.get(usize::from(column.rel))? {
            Source::Table { def, .. } | Source::Virtual { def } => {
                Some(Origin::of_column(Arc::clone(def), col, alias))
            }
            Source::Query { query, columns, origins } => {
                let is_merged = query.as_ref().is_some_and(Query::is_merged_by_mysql);
                let (col, name) = (usize::from(col), columns[usize::from(col)].name.clone());
                Some(origins[col].clone().unwrap_or_else(Origin::value).through(alias, name, is_merged))
            }
            Source::Made { .. } => None,
        }
    }

    /// ORDER BY.
    pub(super) fn order_by(&mut self, items: &'a [ast::OrderItem<'a>]) -> Result<Vec<SortKey>, BindError> {
        self.enter(Clause::Order, Aggregates::Allowed, Aliases::Last);
        let is_plain = !self.level().is_grouped();
        let mut order = Vec::with_capacity(items.len());
        for (at, item) in items.iter().enumerate() {
            let expr = self.order_item(item)?;
            if is_plain && aggregate::has_pending(&expr) {
                return Err(BindError::OrderAggregate { ordinal: at + 1 });
            }
            order.push(SortKey { expr, desc: item.descending });
        }
        Ok(order)
    }

    fn group_by(&mut self, items: &'a [ast::OrderItem<'a>]) -> Result<Vec<Expr>, BindError> {
        if items.is_empty() {
            return Ok(Vec::new());
        }
        self.enter(Clause::Group, Aggregates::Forbidden, Aliases::Last);
        items.iter().map(|item| self.group_item(item)).collect()
    }

    /// HAVING sees aliases, selected and grouped columns; inside aggregates all columns.
    fn having(
        &mut self,
        condition: &'a ast::Expr<'a>,
        groups: &[Expr],
        order: &[ast::OrderItem<'a>],
    ) -> Result<Expr, BindError> {
        let level = self.level();
        level.groups = groups.to_vec();
        level.aggregates_on = condition.has_aggregate() || order.iter().any(|item| item.expr.has_aggregate());
        self.enter(Clause::Having, Aggregates::Allowed, Aliases::First);
        let bound = self.condition(condition);
        self.level().aggregates_on = false;
        bound
    }
}

/// Error 1051 for `name.*`.
#[cold]
fn unknown_star(name: &ast::TableName<'_>) -> BindError {
    let schema = name.schema.map_or_else(String::new, |schema| format!("{schema}."));
    BindError::UnknownTableStar(format!("{schema}{}", name.name))
}

fn is_cast_of_subquery(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Cast { .. }) && rewrite::has_subquery(expr)
}
