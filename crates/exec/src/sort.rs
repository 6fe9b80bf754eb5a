//! ORDER BY without an index, and the first N of it.

use bumpalo::Bump;
use expr::eval;

use crate::error::Result;
use crate::frame::{CurrentRow, Frame};
use crate::keep::keep_frame;
use crate::limit;
use crate::op::SortOp;
use crate::sort_key::append_sort_key;
use crate::source::{Collect, Flow, Sink, Source};
use crate::statement::QueryRun;
use crate::temp_row::TempRow;

/// With a limit, rows beyond it are dropped each time so many more have gathered.
const SLACK_ROWS: usize = 1024;

/// A running sort.
pub(crate) struct Sort<'r> {
    pub(crate) op: &'r SortOp,
    pub(crate) input: Box<dyn Source + 'r>,
    pub(crate) run: &'r QueryRun<'r>,
}

impl Source for Sort<'_> {
    fn run(&mut self, parent: Option<&Frame<'_>>, sink: &mut dyn Sink) -> Result<Flow> {
        let limit = limit::number(self.op.limit.as_ref(), self.run)?;
        let mut rows = SortedRows::new(limit.and_then(|n| usize::try_from(n).ok()));
        if rows.limit == Some(0) {
            return Ok(Flow::More);
        }
        let (op, run) = (self.op, self.run);
        let (mut arena, mut key) = (Bump::new(), Vec::new());
        let gathered = self.input.run(
            parent,
            &mut Collect(|frame: &Frame<'_>| {
                arena.reset();
                key.clear();
                let ctx = run.ctx(&arena);
                for part in &op.keys {
                    let value = eval(&part.expr, frame, &ctx).map_err(|error| run.st.eval_error(error))?;
                    append_sort_key(&value, part.desc, &mut key);
                }
                if rows.wants(&key) {
                    let held = rows.add(&key, |out| keep_frame(&op.layout, frame, out));
                    run.st.hold_memory(held)?;
                }
                run.st.check()?;
                if rows.is_overfull() {
                    run.st.release_memory(rows.trim());
                }
                Ok(Flow::More)
            }),
        );
        let flow = gathered.and_then(|_| emit(op, run, &mut rows, parent, sink));
        run.st.release_memory(rows.bytes.len());
        flow
    }
}

fn emit(
    op: &SortOp,
    run: &QueryRun<'_>,
    rows: &mut SortedRows,
    parent: Option<&Frame<'_>>,
    sink: &mut dyn Sink,
) -> Result<Flow> {
    rows.sort();
    let wanted = rows.limit.unwrap_or(usize::MAX);
    for entry in rows.entries.iter().take(wanted) {
        let bytes = &rows.bytes[entry.row..entry.end];
        let row = CurrentRow::Temp(TempRow { layout: &op.layout, bytes, zone: run.st.zone });
        if sink.row(&Frame { parent, row })? == Flow::Enough {
            return Ok(Flow::Enough);
        }
        if sink.wants_pause() {
            sink.pause()?;
            run.st.fail_if_killed()?;
        }
    }
    Ok(Flow::More)
}

/// A row's key and bytes in the buffer: key from `key` to `row`, row from there to `end`.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// First bytes of the key, big-endian.
    head: u64,
    key: usize,
    row: usize,
    end: usize,
}

/// Rows behind their keys, in one buffer.
#[derive(Debug, Default)]
struct SortedRows {
    bytes: Vec<u8>,
    entries: Vec<Entry>,
    limit: Option<usize>,
    /// Key of the last row within the limit: a later row must be below.
    cutoff: Option<Vec<u8>>,
}

impl SortedRows {
    fn new(limit: Option<usize>) -> Self {
        SortedRows { limit, ..SortedRows::default() }
    }

    /// Whether a row with this key may be among those wanted.
    #[inline]
    fn wants(&self, key: &[u8]) -> bool {
        self.cutoff.as_ref().is_none_or(|cutoff| key < &cutoff[..])
    }

    /// Adds a row; the bytes that it takes.
    fn add(&mut self, key: &[u8], write: impl FnOnce(&mut Vec<u8>)) -> usize {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(key);
        let row = self.bytes.len();
        write(&mut self.bytes);
        let end = self.bytes.len();
        self.entries.push(Entry { head: head(key), key: start, row, end });
        end - start
    }

    fn is_overfull(&self) -> bool {
        self.limit
            .is_some_and(|limit| self.entries.len() >= limit.saturating_mul(2).saturating_add(SLACK_ROWS))
    }

    /// Drops the rows beyond the limit; the bytes that they took.
    fn trim(&mut self) -> usize {
        let Some(limit) = self.limit else { return 0 };
        self.sort();
        self.entries.truncate(limit);
        let before = self.bytes.len();
        let mut kept = Vec::with_capacity(before / 2);
        for entry in &mut self.entries {
            let start = kept.len();
            kept.extend_from_slice(&self.bytes[entry.key..entry.end]);
            let row = start + (entry.row - entry.key);
            *entry = Entry { head: entry.head, key: start, row, end: kept.len() };
        }
        self.bytes = kept;
        self.cutoff = self.entries.last().map(|last| self.bytes[last.key..last.row].to_vec());
        before - self.bytes.len()
    }

    /// Equal rows stay in the order in which they came, which is that of their bytes.
    fn sort(&mut self) {
        let bytes = &self.bytes;
        self.entries.sort_unstable_by(|a, b| {
            let keys = || bytes[a.key..a.row].cmp(&bytes[b.key..b.row]);
            a.head.cmp(&b.head).then_with(keys).then_with(|| a.key.cmp(&b.key))
        });
    }
}

#[inline]
fn head(key: &[u8]) -> u64 {
    let mut bytes = [0; 8];
    let len = key.len().min(8);
    bytes[..len].copy_from_slice(&key[..len]);
    u64::from_be_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_rows_survive_trimming_in_stable_order() {
        let mut rows = SortedRows::new(Some(10));
        for i in 0..20_000u32 {
            let key = (i.wrapping_mul(2_654_435_761) >> 16 & 0xff).to_be_bytes();
            if rows.wants(&key) {
                rows.add(&key, |out| out.extend_from_slice(&i.to_be_bytes()));
            }
            if rows.is_overfull() {
                rows.trim();
            }
        }
        rows.sort();
        let mut expected: Vec<(u32, u32)> =
            (0..20_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 16 & 0xff, i)).collect();
        expected.sort_unstable();
        let got: Vec<u32> = rows.entries[..10]
            .iter()
            .map(|entry| u32::from_be_bytes(rows.bytes[entry.row..entry.end].try_into().unwrap()))
            .collect();
        assert_eq!(got, expected[..10].iter().map(|&(_, i)| i).collect::<Vec<_>>());
    }
}
