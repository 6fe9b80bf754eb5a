//! Aggregates that a subquery computes of an enclosing query's rows: `HAVING (SELECT SUM(t.a)) > 0`.

use expr::{ColumnRef, Expr, ExprKind};
use types::SqlModes;

use super::BindError;
use super::aggregate::aliases_in_aggregate;
use super::binder::{Aggregates, Binder};
use super::block::{Query, Source, outer_id};
use crate::ast;

impl<'a> Binder<'a, '_> {
    /// The enclosing query that `call` aggregates rows of, `None` for the current query. It is the innermost
    /// one whose columns its arguments name; where the call may not be there, or its arguments name no column
    /// and it may not be in the current query, the next one inside where it may.
    pub(super) fn aggregated_outside(
        &mut self,
        call: &'a ast::Aggregate<'a>,
    ) -> Result<Option<usize>, BindError> {
        if self.is_trial || self.levels.iter().all(|level| level.sub.is_none()) {
            return Ok(None);
        }
        let was_named = std::mem::take(&mut self.names_item);
        let columns = self.named_by(call);
        let names_item = std::mem::replace(&mut self.names_item, was_named);
        let Ok(columns) = columns else { return Ok(None) };
        let mut innermost = None;
        if !columns.iter().all(|column| self.note_owner(*column, &mut innermost)) {
            return Ok(None);
        }
        if innermost.is_some_and(|at| self.levels[at].aggregates == Aggregates::Nested) {
            return Err(BindError::InvalidGroupFunction);
        }
        let top = self.levels.len() - 1;
        let may_stand =
            |at: &usize| self.levels[*at].aggregates == Aggregates::Allowed && !self.levels[*at].hidden;
        // To MySQL, an item of a select list is of no other query's rows.
        if names_item || (innermost.is_none() && may_stand(&top)) {
            return Ok(None);
        }
        let between = || (innermost.map_or(0, |at| at + 1)..top).rev().find(may_stand);
        let owner = innermost.filter(may_stand).or_else(between);
        if owner.is_none() && self.ctx.modes.has(SqlModes::ANSI) {
            return Err(BindError::InvalidGroupFunction);
        }
        Ok(owner)
    }

    /// The columns that the arguments and the subqueries in them name, as the current query sees them. The
    /// arguments are bound for it and forgotten.
    fn named_by(&mut self, call: &'a ast::Aggregate<'a>) -> Result<Vec<ColumnRef>, BindError> {
        let (subqueries, deprecated) = (self.level().subqueries.len(), self.deprecated.len());
        let (outer_columns, conditions, noted, texts) =
            (self.outer_columns, self.conditions.len(), self.noted.len(), self.read_last.len());
        let deferred = std::mem::take(&mut self.deferred);
        let mut saved = Vec::with_capacity(self.levels.len());
        for level in &mut self.levels {
            let outer = level.sub.as_ref().map_or(0, |(_, outer)| outer.len());
            saved.push((level.aliases, level.aggregates, outer));
            (level.aliases, level.aggregates) = (aliases_in_aggregate(level.clause), Aggregates::Forbidden);
        }
        self.is_trial = true;
        let bound = self.values(call.args);
        self.is_trial = false;
        (self.outer_columns, self.deferred) = (outer_columns, deferred);
        self.conditions.truncate(conditions);
        for (level, (aliases, aggregates, outer)) in self.levels.iter_mut().zip(saved) {
            (level.aliases, level.aggregates) = (aliases, aggregates);
            if let Some((_, columns)) = &mut level.sub {
                columns.truncate(outer);
            }
        }
        self.deprecated.truncate(deprecated);
        self.noted.truncate(noted);
        self.read_last.truncate(texts);
        let mut named = Vec::new();
        for mut subquery in self.level().subqueries.split_off(subqueries) {
            named.append(&mut subquery.outer);
            note_outer_columns(&mut subquery.query, &mut named);
        }
        // Others are those that a subquery in the arguments has of a query around it there.
        named.retain(|column| outer_id(column.rel).is_none_or(|id| self.parent_of(id).is_some()));
        for arg in &bound? {
            arg.walk(&mut |e| {
                if let ExprKind::Column(column) = e.kind {
                    named.push(column);
                }
            });
        }
        Ok(named)
    }

    /// Raises `innermost` to the enclosing query that has `column`. False: the current query has it.
    fn note_owner(&self, column: ColumnRef, innermost: &mut Option<usize>) -> bool {
        let owner = outer_id(column.rel).and_then(|id| self.parent_of(id));
        *innermost = (*innermost).max(owner);
        owner.is_some()
    }

    /// The query that subquery `id`, which is being bound, is in.
    fn parent_of(&self, id: u16) -> Option<usize> {
        let at = self.levels.iter().position(|level| matches!(&level.sub, Some((own, _)) if *own == id))?;
        at.checked_sub(1)
    }
}

/// Adds the columns of enclosing queries that `query` and the queries in it name to `named`, those of
/// enclosing ones within it among them.
fn note_outer_columns(query: &mut Query, named: &mut Vec<ColumnRef>) {
    let mut note = |expr: &mut Expr| {
        expr.walk(&mut |e| match e.kind {
            ExprKind::Column(column) if outer_id(column.rel).is_some() => named.push(column),
            _ => {}
        });
    };
    match query {
        Query::Select(block) => {
            block.for_each_expr(&mut note);
            for subquery in &mut block.subqueries {
                note_outer_columns(&mut subquery.query, named);
            }
            for source in &mut block.rels {
                if let Source::Query { query: Some(query), .. } = source {
                    note_outer_columns(query, named);
                }
            }
        }
        Query::Union(union) => {
            for arm in &mut union.arms {
                note_outer_columns(arm, named);
            }
        }
    }
}
