//! Aggregates that a subquery computes of an enclosing query's rows: `HAVING (SELECT SUM(t.a)) > 0`.

use expr::{Expr, ExprKind};

use super::BindError;
use super::binder::{Aggregates, Aliases, Binder};
use super::block::outer_id;
use crate::ast;

impl<'a> Binder<'a, '_> {
    /// The enclosing query that `call` aggregates rows of: the innermost one whose columns its arguments name, if they name none
    /// of the query at hand. `None`: it belongs to the query at hand, or is wrong.
    pub(super) fn aggregated_outside(&mut self, call: &'a ast::Aggregate<'a>) -> Option<usize> {
        if self.is_trial || self.levels.iter().all(|level| level.sub.is_none()) {
            return None;
        }
        let args = self.tried_args(call).ok()?;
        let mut innermost = None;
        if !args.iter().all(|arg| self.note_owner(arg, &mut innermost)) {
            return None;
        }
        innermost.filter(|&at| self.levels[at].aggregates == Aggregates::Allowed && !self.levels[at].hidden)
    }

    /// Binds the arguments as the query at hand sees them, with nothing left of it but the result: all columns of all queries
    /// are visible inside an aggregate, and no alias is.
    fn tried_args(&mut self, call: &'a ast::Aggregate<'a>) -> Result<Vec<Expr>, BindError> {
        let (subqueries, deprecated) = (self.level().subqueries.len(), self.deprecated.len());
        let outer_columns = self.outer_columns;
        let mut saved = Vec::with_capacity(self.levels.len());
        for level in &mut self.levels {
            let outer = level.sub.as_ref().map_or(0, |(_, outer)| outer.len());
            saved.push((level.aliases, level.aggregates, level.having_columns.take(), outer));
            (level.aliases, level.aggregates) = (Aliases::Hidden, Aggregates::Forbidden);
        }
        self.is_trial = true;
        let bound = self.values(call.args);
        self.is_trial = false;
        self.outer_columns = outer_columns;
        for (level, (aliases, aggregates, columns, outer)) in self.levels.iter_mut().zip(saved) {
            (level.aliases, level.aggregates, level.having_columns) = (aliases, aggregates, columns);
            if let Some((_, columns)) = &mut level.sub {
                columns.truncate(outer);
            }
        }
        self.level().subqueries.truncate(subqueries);
        self.deprecated.truncate(deprecated);
        bound
    }

    /// Raises `innermost` to the innermost enclosing query whose columns `arg` names. False: the query at hand has some of them, or
    /// it holds a subquery.
    fn note_owner(&self, arg: &Expr, innermost: &mut Option<usize>) -> bool {
        let mut is_outside = true;
        arg.walk(&mut |e| match e.kind {
            ExprKind::Column(column) => match outer_id(column.rel).and_then(|id| self.parent_of(id)) {
                Some(at) => *innermost = (*innermost).max(Some(at)),
                None => is_outside = false,
            },
            ExprKind::Subquery { .. } => is_outside = false,
            _ => {}
        });
        is_outside
    }

    /// The query that subquery `id`, which is being bound, stands in.
    fn parent_of(&self, id: u16) -> Option<usize> {
        let at = self.levels.iter().position(|level| matches!(&level.sub, Some((own, _)) if *own == id))?;
        at.checked_sub(1)
    }
}
