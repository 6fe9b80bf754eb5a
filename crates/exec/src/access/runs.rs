//! Rows of a leaf that pass a filter, handed on as batches of neighbours.

use bumpalo::Bump;
use engine::Batch;

use crate::error::Result;
use crate::frame::Frame;
use crate::reader::{RowEnv, TableReader};
use crate::source::{Flow, RowBatch, Sink};
use crate::statement::Statement;
use crate::table_filter::BoundTest;

/// Most rows of the first batch.
const FIRST_RUN_ROWS_MAX: usize = 8;

#[cfg(test)]
thread_local! {
    /// Rows that this thread has handed on so.
    pub(crate) static ROWS_IN_RUNS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Hands on the rows that pass `tests`, which are all of the filter: neighbours together. Few are tested at a
/// time first, as `sink` may soon have enough.
pub(super) fn push_runs(
    tests: &[BoundTest],
    (rel, st): (u16, &Statement<'_>),
    (reader, arena): (&TableReader, &mut Bump),
    batch: Batch<'_>,
    parent: Option<&Frame<'_>>,
    sink: &mut dyn Sink,
) -> Result<Flow> {
    let (mut at, mut longest) = (0, FIRST_RUN_ROWS_MAX);
    while at < batch.len() {
        arena.reset();
        let env = RowEnv { st, arena };
        let passes = |i: &usize| {
            let row = batch.row(*i);
            tests.iter().all(|test| test.passes(&row, reader, env))
        };
        let Some(from) = (at..batch.len()).find(passes) else { break };
        let most = batch.len().min(from + longest);
        let failing = (from + 1..most).find(|i| !passes(i));
        let to = failing.unwrap_or(most);
        #[cfg(test)]
        ROWS_IN_RUNS.set(ROWS_IN_RUNS.get() + to - from);
        let rows = RowBatch { rel, rows: batch.slice(from..to), reader, env, parent };
        let flow = if to - from == 1 { sink.row(&rows.frame(0))? } else { sink.batch(&rows)? };
        if flow == Flow::Enough {
            st.uncount_examined(batch.len() - to);
            return Ok(Flow::Enough);
        }
        at = to + usize::from(failing.is_some());
        longest = (2 * longest).min(batch.len());
    }
    Ok(Flow::More)
}
