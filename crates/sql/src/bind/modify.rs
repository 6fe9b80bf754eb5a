//! UPDATE and DELETE.

use expr::ColumnRef;

use super::assigned::kept;
use super::binder::{Aggregates, Aliases, Binder};
use super::block::{Block, Query, Source, SubBlock};
use super::delete_target::{DeleteTargets, TargetMatch};
use super::scope::{ScopeTable, written};
use super::{BindError, Clause};
use crate::ast;
use crate::literal::LiteralKind;
use crate::plan::{DeletePlan, InsertCell, RowLock, RowLocks, UpdatePlan};

/// The clauses that UPDATE and DELETE share.
struct Rows<'a> {
    tables: &'a [ast::TableRef<'a>],
    filter: Option<&'a ast::Expr<'a>>,
    order_by: &'a [ast::OrderItem<'a>],
    limit: Option<&'a ast::Limit<'a>>,
    is_single: bool,
    verb: &'static str,
}

impl<'a> Binder<'a, '_> {
    /// Binds and plans an UPDATE at the innermost level, which must be fresh.
    pub(super) fn update(&mut self, update: &'a ast::Update<'a>) -> Result<UpdatePlan, BindError> {
        self.note_change(update.ignore);
        if let Some(with) = update.with {
            self.with(with)?;
        }
        let rows = Rows {
            tables: update.tables,
            filter: update.filter.as_ref(),
            order_by: update.order_by,
            limit: update.limit,
            is_single: matches!(update.tables, [ast::TableRef::Table(_)]),
            verb: "UPDATE",
        };
        let mut block = self.changed_rows(&rows)?;
        let (mut sets, mut targets) = (Vec::with_capacity(update.set.len()), Vec::new());
        let mut assigned = Vec::with_capacity(update.set.len());
        for assignment in update.set {
            assigned.push(self.assigned(&assignment.column, &block, "UPDATE")?);
        }
        for (assignment, (rel, col)) in update.set.iter().zip(assigned) {
            let mut cell = self.cell_expr(&assignment.value)?;
            if let Some(Source::Table { def, .. }) = block.rels.get(usize::from(rel)) {
                cell = self.settle_cell(cell, def, Some(col))?;
                cell = self.assigned_default(cell, def, (rel, col))?;
                if rows.is_single {
                    cell = kept(cell, ColumnRef { rel, col });
                }
            }
            sets.push((rel, col, cell));
            if !targets.contains(&rel) {
                targets.push(rel);
            }
        }
        block.subqueries = std::mem::take(&mut self.level().subqueries);
        ensure_not_read(&block, &targets)?;
        ensure_key_is_changed_once(&block, &targets, &sets)?;
        let query = self.planner().change(block, &targets, &mut sets);
        Ok(UpdatePlan { query, targets, sets, ignore: update.ignore })
    }

    /// Binds and plans a DELETE at the innermost level, which must be fresh.
    pub(super) fn delete(&mut self, delete: &'a ast::Delete<'a>) -> Result<DeletePlan, BindError> {
        self.note_change(delete.ignore);
        if self.ctx.database.is_none() && delete.targets.iter().any(|target| target.schema.is_none()) {
            return Err(BindError::NoDatabase);
        }
        if let Some(with) = delete.with {
            self.with(with)?;
        }
        let rows = Rows {
            tables: delete.from,
            filter: delete.filter.as_ref(),
            order_by: delete.order_by,
            limit: delete.limit,
            is_single: delete.targets.is_empty(),
            verb: "DELETE",
        };
        let mut block = self.changed_rows(&rows)?;
        let mut targets = Vec::with_capacity(delete.targets.len().max(1));
        if delete.targets.is_empty() {
            targets.push(0);
        }
        let items = DeleteTargets::new(delete.from, self.ctx.database);
        for name in delete.targets {
            let rel = self.delete_target(name, items.find(name))?;
            if targets.contains(&rel) {
                return Err(BindError::DuplicateAlias(name.name.to_owned()));
            }
            self.ensure_base_table(&block, rel, "DELETE")?;
            targets.push(rel);
        }
        self.note_deleted(&targets);
        block.subqueries = std::mem::take(&mut self.level().subqueries);
        ensure_not_read(&block, &targets)?;
        let query = self.planner().change(block, &targets, &mut []);
        Ok(DeletePlan { query, targets, ignore: delete.ignore })
    }

    /// The relation that `name`, a table that loses rows, was found to mean.
    fn delete_target(&mut self, name: &ast::TableName<'_>, meant: TargetMatch<'_>) -> Result<u16, BindError> {
        let database = self.ctx.database;
        let unknown = || BindError::UnknownTable { table: name.name.to_owned(), clause: "MULTI DELETE" };
        let item = match meant {
            TargetMatch::One(item) => item,
            TargetMatch::Nothing => return Err(unknown()),
            TargetMatch::Several => return Err(BindError::DuplicateAlias(name.name.to_owned())),
        };
        let scope = &self.level().scope;
        let schema = item.table.and_then(|table| table.schema.or(database));
        let is_item = |table: &&ScopeTable| {
            *table.alias == *item.alias && table.schema().is_none_or(|own| Some(own) == schema)
        };
        scope.tables.iter().find(is_item).map(|table| table.rel).ok_or_else(unknown)
    }

    /// The query that finds the rows. Its subqueries stay with the level until all expressions are bound.
    fn changed_rows(&mut self, rows: &Rows<'a>) -> Result<Block, BindError> {
        let (outer_conditions, outer_texts) = (self.conditions.len(), self.read_last.len());
        let mut from = self.from(rows.tables)?;
        let mut filter = Vec::new();
        if let Some(condition) = rows.filter {
            self.enter(Clause::Where, Aggregates::Forbidden, Aliases::Hidden);
            match condition.kind {
                ast::ExprKind::Literal(literal) if literal.kind == LiteralKind::String => {
                    filter.push(self.text_condition(&literal)?);
                }
                _ => self.conjuncts(condition, &mut filter)?,
            }
        }
        self.join_conditions(outer_conditions, &mut from)?;
        if rows.limit.is_some_and(|limit| self.is_zero(&limit.count)) {
            self.read_last.truncate(outer_texts);
        }
        if !rows.is_single && !rows.order_by.is_empty() {
            return Err(BindError::WrongUsage { first: rows.verb, second: "ORDER BY" });
        }
        if !rows.is_single && rows.limit.is_some() {
            return Err(BindError::WrongUsage { first: rows.verb, second: "LIMIT" });
        }
        let order = self.order_by(rows.order_by)?;
        if order.iter().any(|key| super::aggregate::has_pending(&key.expr)) {
            return Err(BindError::InvalidGroupFunction);
        }
        let limit = self.limit(rows.limit)?;
        self.enter(Clause::FieldList, Aggregates::Forbidden, Aliases::Hidden);
        let rels = self.level().rels.clone();
        let exclusive = RowLock { exclusive: true, wait: ast::LockWait::Wait };
        Ok(Block {
            rels,
            from,
            filter,
            order,
            limit,
            locks: RowLocks { rest: Some(exclusive), of: Vec::new() },
            ..Block::default()
        })
    }

    /// The column that an assignment changes.
    fn assigned(
        &mut self,
        name: &ast::ColumnRef<'_>,
        block: &Block,
        verb: &'static str,
    ) -> Result<(u16, u16), BindError> {
        let found = self.level().scope.find(name, Clause::FieldList)?;
        let found = found
            .ok_or_else(|| BindError::UnknownColumn { name: written(name), clause: Clause::FieldList })?;
        self.ensure_base_table(block, found.column.rel, verb)?;
        self.note_changed(found.column);
        Ok((found.column.rel, found.column.col))
    }

    fn ensure_base_table(&mut self, block: &Block, rel: u16, verb: &'static str) -> Result<(), BindError> {
        if matches!(block.rels[usize::from(rel)], Source::Table { .. }) {
            return Ok(());
        }
        let table = self.level().scope.table_of(rel).map_or_else(String::new, |t| t.alias.to_string());
        Err(BindError::NotUpdatable { table, verb })
    }
}

/// The primary key of a table that changes under two names stays as it is (error 1706): each name would find
/// rows by it.
fn ensure_key_is_changed_once(
    block: &Block,
    targets: &[u16],
    sets: &[(u16, u16, InsertCell)],
) -> Result<(), BindError> {
    let table = |rel: u16| match &block.rels[usize::from(rel)] {
        Source::Table { def, alias, .. } => Some((def, alias)),
        _ => None,
    };
    let changes = |rel: u16, col: u16| sets.iter().any(|(target, set, _)| (*target, *set) == (rel, col));
    let mut targets = targets.to_vec();
    targets.sort_unstable();
    for (at, &first) in targets.iter().enumerate() {
        for &second in &targets[at + 1..] {
            let (Some((def, alias)), Some((other, other_alias))) = (table(first), table(second)) else {
                continue;
            };
            let is_changed = def
                .clustered()
                .parts
                .iter()
                .any(|part| changes(first, part.column) || changes(second, part.column));
            if def.id == other.id && is_changed {
                return Err(BindError::KeyChangedTwice {
                    first: alias.to_string(),
                    second: other_alias.to_string(),
                });
            }
        }
    }
    Ok(())
}

/// A subquery must not read a table that changes (error 1093); derived tables are read before the first
/// change.
fn ensure_not_read(block: &Block, targets: &[u16]) -> Result<(), BindError> {
    for &target in targets {
        let Source::Table { def, alias, .. } = &block.rels[usize::from(target)] else { continue };
        if block.subqueries.iter().any(|sub| reads(&sub.query, def.id)) {
            return Err(BindError::UpdateTableUsed(alias.to_string()));
        }
    }
    Ok(())
}

/// Whether `query` reads the table outside of derived tables.
fn reads(query: &Query, table: base::TableId) -> bool {
    match query {
        Query::Select(block) => {
            let is_read = |rel: &Source| matches!(rel, Source::Table { def, .. } if def.id == table);
            block.rels.iter().any(is_read)
                || block.subqueries.iter().any(|s: &SubBlock| reads(&s.query, table))
        }
        Query::Union(union) => union.arms.iter().any(|arm| reads(arm, table)),
    }
}
