//! Strings of a column against a pattern that is known before rows are read, decided on page bytes.

use std::sync::Arc;

use engine::{RowRef, Table};
use expr::{EvalCtx, Expr, ExprKind};
use types::Value;
use types::collation::{Collation, LikePattern};

use crate::column_term::is_constant;
use crate::filter_texts::{has_charset_of, is_text_in_record};
use crate::reader::{RowEnv, TableReader};

/// Longest pattern that is kept while the statement runs, bytes: its compiled form, some 20 times as large,
/// is not charged.
const PATTERN_BYTES_MAX: usize = 4096;

/// `column [NOT] LIKE pattern`.
#[derive(Debug)]
pub(crate) struct LikeTest {
    col: u16,
    negated: bool,
    pattern: Expr,
    escape: Option<char>,
    collation: &'static Collation,
    /// Whether keys of the column are in the order of that collation.
    has_keys: bool,
    /// Of a pattern that is a constant.
    compiled: Option<Arc<LikePattern>>,
}

/// A test whose pattern is known.
#[derive(Debug)]
pub(crate) struct BoundLike {
    col: u16,
    negated: bool,
    pattern: Arc<LikePattern>,
    /// See [`LikeTest`].
    has_keys: bool,
}

impl LikeTest {
    /// The test that `term` is on relation `rel`, which is `table`, if it is one whose strings are in the
    /// records.
    pub(crate) fn of_term(rel: u16, table: &Table, term: &Expr) -> Option<Self> {
        let ExprKind::Like { negated, collation, escape, compiled, args } = &term.kind else { return None };
        let [text, pattern] = &**args;
        let ExprKind::Column(column) = text.kind else { return None };
        let collation = collation.collation()?;
        let serves = column.rel == rel
            && is_constant(pattern)
            && is_text_in_record(column.col, &text.ty, table, collation);
        serves.then(|| LikeTest {
            col: column.col,
            negated: *negated,
            pattern: pattern.clone(),
            escape: *escape,
            collation,
            has_keys: text.ty.collation == collation.id,
            compiled: compiled.clone(),
        })
    }

    /// The test with its pattern; `None`: it is too long, or no string of the column's character set.
    pub(crate) fn bind(&self, ctx: &EvalCtx<'_>) -> Option<BoundLike> {
        let pattern = match &self.compiled {
            Some(compiled) => Arc::clone(compiled),
            None => match self.pattern.eval(&(), ctx).ok()? {
                Value::Bytes { data, collation }
                    if data.len() <= PATTERN_BYTES_MAX && has_charset_of(collation, self.collation) =>
                {
                    Arc::new(LikePattern::new(data, self.escape.map(u32::from), self.collation))
                }
                _ => return None,
            },
        };
        #[cfg(test)]
        PATTERNS_BOUND.set(PATTERNS_BOUND.get() + 1);
        Some(BoundLike { col: self.col, negated: self.negated, pattern, has_keys: self.has_keys })
    }
}

#[cfg(test)]
thread_local! {
    /// How often a test was bound.
    pub(crate) static PATTERNS_BOUND: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
    /// How often the key of a text has decided.
    pub(crate) static STARTS_IN_KEYS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

impl BoundLike {
    /// Whether the test holds; NULL never passes.
    #[inline]
    pub(crate) fn passes(&self, row: &RowRef<'_>, reader: &TableReader, env: RowEnv<'_>) -> bool {
        if self.has_keys
            && let Some(codes) = self.pattern.start_codes()
            && reader.key_text_starts_with(row, usize::from(self.col), codes)
        {
            #[cfg(test)]
            STARTS_IN_KEYS.set(STARTS_IN_KEYS.get() + 1);
            return !self.negated;
        }
        let text = reader.bytes(row, usize::from(self.col), env);
        text.is_some_and(|text| self.pattern.matches(text) != self.negated)
    }
}
