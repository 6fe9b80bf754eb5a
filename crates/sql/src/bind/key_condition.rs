//! WHERE of a query of one table that is one clustered key or a list of them, all values of which are integer
//! literals that the plan takes as parameters:
//!
//! ```text
//! WHERE w = 1 AND i = 5                      WHERE (w, i) IN ((1, 5), (1, 7))
//! ```
//! It is kept as the numbers of the parameters. A planner without a use for these makes the conditions of
//! them that any other WHERE is bound to ([`Block::expand_row_keys`]).

use expr::Builder;

use super::binder::{Binder, Level};
use super::block::{Block, Source};
use super::conjuncts;
use super::query::Tail;
use super::row_keys::{Parts, RowKeys};
use crate::LiteralKind;
use crate::ast::{self, BinaryOp, ExprKind};

/// Most keys that are kept so: the planner has a use for short lists only.
const KEYS_MAX: usize = 16;

impl Block {
    /// Makes conditions of the keys of WHERE, for rules that read conditions.
    pub(crate) fn expand_row_keys(&mut self, build: &Builder) {
        if let (Some(keys), Some(Source::Table { def, .. })) = (self.row_keys.take(), self.rels.first()) {
            conjuncts::split(keys.condition(def, build), &mut self.filter);
        }
    }
}

#[cfg(test)]
thread_local! {
    /// Whether every WHERE of this thread is bound to conditions.
    pub(crate) static NO_ROW_KEYS: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

impl<'a> Binder<'a, '_> {
    /// `condition`, the whole WHERE of `select`, as keys; `None`, with nothing noted: it is something else,
    /// or other clauses than LIMIT read the rows.
    pub(super) fn row_keys(
        &self,
        condition: &ast::Expr<'a>,
        select: &ast::Select<'a>,
        tail: &Tail<'a>,
    ) -> Option<RowKeys> {
        let is_plain = select.group_by.is_empty()
            && select.having.is_none()
            && !select.modifiers.distinct
            && tail.order_by.is_empty();
        let [level] = &self.levels[..] else { return None };
        #[cfg(test)]
        if NO_ROW_KEYS.get() {
            return None;
        }
        if !is_plain || !level.subqueries.is_empty() || !level.aggs.is_empty() {
            return None;
        }
        let keys = match condition.kind {
            ExprKind::InList(test) => self.keys_of_list(level, test),
            ExprKind::And(terms, _) => self.key_of_terms(level, terms),
            ExprKind::Binary(..) => self.key_of_terms(level, std::slice::from_ref(condition)),
            _ => None,
        }?;
        if self.ctx.column_uses.is_some() {
            self.note_key_columns(level, &keys);
        }
        Some(keys)
    }

    #[cold]
    fn note_key_columns(&self, level: &Level<'a>, keys: &RowKeys) {
        for col in &keys.columns {
            self.note_read(&level.scope, level.scope.tables[0].found(*col).column);
        }
    }

    /// `(a, b) IN ((1, 2), ..)`.
    fn keys_of_list(&self, level: &Level<'a>, test: &ast::InList<'a>) -> Option<RowKeys> {
        let ExprKind::Row(needle) = test.expr.kind else { return None };
        let is_short = (2..=KEYS_MAX).contains(&test.list.len());
        if test.negated || !is_short {
            return None;
        }
        let columns = level.key_columns(needle.iter())?;
        let mut numbers = Parts::with_capacity(columns.len() * test.list.len());
        for row in test.list {
            let ExprKind::Row(row) = row.kind else { return None };
            for value in row {
                numbers.push(self.integer_number(value)?);
            }
            if row.len() != columns.len() {
                return None;
            }
        }
        Some(RowKeys { columns, numbers })
    }

    /// `a = 1 AND b = 2`.
    fn key_of_terms(&self, level: &Level<'a>, terms: &[ast::Expr<'a>]) -> Option<RowKeys> {
        let mut numbers = Parts::with_capacity(terms.len());
        for term in terms {
            let ExprKind::Binary(BinaryOp::Eq, _, value) = term.kind else { return None };
            numbers.push(self.integer_number(value)?);
        }
        let columns = level.key_columns(terms.iter().map(|term| match term.kind {
            ExprKind::Binary(_, operand, _) => operand,
            _ => term,
        }))?;
        Some(RowKeys { columns, numbers })
    }

    /// The number of the parameter that stands for `value`, an integer literal.
    fn integer_number(&self, value: &ast::Expr<'a>) -> Option<u16> {
        match value.kind {
            ExprKind::Literal(literal) if literal.kind == LiteralKind::Int => self.lifted_number(&literal),
            _ => None,
        }
    }
}

impl Level<'_> {
    /// The columns that `row` names, if they are those of the clustered key of the only table, each once, and
    /// all of them integers.
    fn key_columns<'e>(&self, row: impl ExactSizeIterator<Item = &'e ast::Expr<'e>>) -> Option<Parts> {
        let ([Source::Table { def, .. }], [table]) = (&self.rels[..], &self.scope.tables[..]) else {
            return None;
        };
        let parts = &def.clustered().parts[..];
        if parts.len() != row.len() {
            return None;
        }
        let mut columns = Parts::with_capacity(parts.len());
        for operand in row {
            let ExprKind::Column(name) = operand.kind else { return None };
            if name.table.is_some_and(|wanted| !table.is_named(name.schema, wanted)) {
                return None;
            }
            let col = table.find(name.column)?;
            let is_part = parts.iter().any(|part| part.column == col && part.prefix_len.is_none());
            if !is_part || columns.contains(&col) || !def.columns[usize::from(col)].ty.is_integer() {
                return None;
            }
            columns.push(col);
        }
        Some(columns)
    }
}
