//! Neighbours on a leaf whose keys begin alike.

use std::ops::Range;

use engine::Batch;
use expr::{Expr, ExprKind};
use page::KeyPartPlace;

use crate::source::RowBatch;

#[cfg(test)]
thread_local! {
    /// Runs that this thread has found.
    pub(crate) static RUNS_FOUND: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Divides the rows of a leaf where one of the first parts of the key changes.
pub(crate) struct KeyRuns {
    parts: usize,
    are_groups: bool,
}

impl KeyRuns {
    /// The shortest runs of `batch` in which none of `columns`, of a relation, changes; `None` if it has not
    /// several rows of that, in order of a key that has them all.
    pub(crate) fn of_columns(columns: Option<&(u16, Box<[u16]>)>, batch: &RowBatch<'_>) -> Option<Self> {
        let (rel, columns) = columns?;
        if *rel != batch.rel || batch.rows.len() == 1 {
            return None;
        }
        let format = batch.rows.format();
        let is_whole = |part: &KeyPartPlace, col| part.column == Some(col) && part.prefix_len.is_none();
        let mut parts = 0;
        for &col in &**columns {
            parts = parts.max(1 + format.key_parts().iter().position(|part| is_whole(part, col))?);
        }
        let is_column = |part: &KeyPartPlace| columns.iter().any(|&col| is_whole(part, col));
        Some(KeyRuns { parts, are_groups: format.key_parts()[..parts].iter().all(is_column) })
    }

    /// Whether the columns differ between a run and the next one: no other part is among those compared.
    pub(crate) fn are_groups(&self) -> bool {
        self.are_groups
    }

    /// The position after the last row of the run that begins at `from`. Cost: a copy of the key, and that of
    /// [`run_end`].
    pub(crate) fn end(&self, rows: &Batch<'_>, from: usize) -> usize {
        #[cfg(test)]
        RUNS_FOUND.set(RUNS_FOUND.get() + 1);
        run_end(rows, from, rows.row(from).key_bytes_of_parts(self.parts))
    }
}

/// The relation and its columns that `exprs` are; `None` if they are anything else.
pub(crate) fn columns_of_one(exprs: &[Expr]) -> Option<(u16, Box<[u16]>)> {
    let column = |expr: &Expr| match &expr.kind {
        ExprKind::Column(column) => Some((column.rel, column.col)),
        _ => None,
    };
    let (rel, _) = column(exprs.first()?)?;
    let of_rel = |expr| column(expr).filter(|(of, _)| *of == rel).map(|(_, col)| col);
    Some((rel, exprs.iter().map(of_rel).collect::<Option<_>>()?))
}

/// The position after the last row, from `from` on, whose key begins with the same `len` bytes. Cost: two
/// comparisons for each doubling of the run.
pub(crate) fn run_end(rows: &Batch<'_>, from: usize, len: usize) -> usize {
    let first = rows.row(from);
    let is_inside = |i: usize| rows.row(i).record().shares_key(first.record(), len);
    let (mut inside, mut step) = (from, 1);
    while inside + step < rows.len() && is_inside(inside + step) {
        inside += step;
        step *= 2;
    }
    first_not(inside + 1..rows.len().min(inside + step), is_inside)
}

/// Returns the first position of `range` for which `holds` is false, or its end; `holds` is true up to there
/// and false from there on.
pub(crate) fn first_not(range: Range<usize>, holds: impl Fn(usize) -> bool) -> usize {
    let Range { start: mut low, end: mut high } = range;
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}
