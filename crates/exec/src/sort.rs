//! ORDER BY without an index, and the first N of it.

use std::cmp::Ordering;
use std::ops::Range;
use std::rc::Rc;

use base::memory::{ByteStore, ChargedVec, Place, Purpose, StatementAccount};
use base::sort_runs::{Merge, sort_runs};
use bumpalo::Bump;
use types::key::append_sort;

use crate::error::Result;
use crate::frame::{CurrentRow, Frame};
use crate::keep::keep_frame;
use crate::limit;
use crate::op::SortOp;
use crate::query_run::QueryRun;
use crate::source::{Collect, Flow, Sink, Source};
use crate::temp_row::TempRow;

/// With a limit, rows beyond it are dropped each time this number of further rows has gathered.
const SLACK_ROWS: usize = 1024;
/// Rows that are copied between two checks of the kill flag.
const ROWS_BETWEEN_LOOKS: usize = 1024;

/// A running sort.
pub(crate) struct Sort<'r> {
    pub(crate) op: &'r SortOp,
    pub(crate) input: Box<dyn Source + 'r>,
    pub(crate) run: &'r QueryRun<'r>,
}

impl Source for Sort<'_> {
    fn run(&mut self, parent: Option<&Frame<'_>>, sink: &mut dyn Sink) -> Result<Flow> {
        let limit = limit::number(self.op.limit.as_ref(), self.run)?;
        let mut rows = SortedRows::new(limit.and_then(|n| usize::try_from(n).ok()), self.run.st.memory);
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
                    let value = part.expr.eval(frame, &ctx).map_err(|error| run.st.eval_error(error))?;
                    append_sort(&value, part.desc, &mut key);
                }
                run.st.fail_if_cut_short(&key)?;
                if rows.wants(&key) {
                    rows.add(&key, |out| keep_frame(&op.layout, frame, out))?;
                }
                run.st.check()?;
                if rows.is_overfull() {
                    rows.trim(&|| run.st.fail_if_killed())?;
                }
                Ok(Flow::More)
            }),
        );
        gathered?;
        emit(op, run, &mut rows, parent, sink)
    }
}

fn emit(
    op: &SortOp,
    run: &QueryRun<'_>,
    rows: &mut SortedRows,
    parent: Option<&Frame<'_>>,
    sink: &mut dyn Sink,
) -> Result<Flow> {
    let runs = rows.sort(&|| run.st.fail_if_killed())?;
    let wanted = rows.limit.unwrap_or(usize::MAX);
    for entry in rows.merge(runs).take(wanted) {
        run.st.step()?;
        let bytes = rows.bytes.get(entry.row());
        let row = CurrentRow::Temp(TempRow { layout: &op.layout, bytes, zone: run.st.zone });
        if sink.row(&Frame { parent, row })? == Flow::Enough {
            return Ok(Flow::Enough);
        }
        if sink.wants_pause() {
            sink.pause()?;
        }
    }
    Ok(Flow::More)
}

/// A row after its key.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// First bytes of the key, big-endian.
    head: u64,
    place: Place,
    /// Bytes of the key.
    key: u32,
}

impl Entry {
    fn key(&self) -> Place {
        self.place.first(self.key as usize)
    }

    fn row(&self) -> Place {
        self.place.after(self.key as usize)
    }

    /// Equal rows stay in the order in which they came, which is that of their places.
    #[inline]
    fn compare(&self, other: &Self, bytes: &ByteStore) -> Ordering {
        let keys = || bytes.get(self.key()).cmp(bytes.get(other.key()));
        self.head.cmp(&other.head).then_with(keys).then_with(|| self.place.cmp(&other.place))
    }
}

/// Rows after their keys.
#[derive(Debug)]
struct SortedRows {
    bytes: ByteStore,
    entries: ChargedVec<Entry>,
    limit: Option<usize>,
    /// Key of the last row within the limit: a later row must be below.
    cutoff: Option<Vec<u8>>,
}

impl SortedRows {
    fn new(limit: Option<usize>, account: &Rc<StatementAccount>) -> Self {
        SortedRows {
            bytes: ByteStore::new(account, Purpose::Sort),
            entries: ChargedVec::new(account, Purpose::Sort),
            limit,
            cutoff: None,
        }
    }

    /// Whether a row with this key may be among those wanted.
    #[inline]
    fn wants(&self, key: &[u8]) -> bool {
        self.cutoff.as_ref().is_none_or(|cutoff| key < &cutoff[..])
    }

    /// Adds the row that `write` appends.
    fn add(&mut self, key: &[u8], write: impl FnOnce(&mut ByteStore)) -> Result<()> {
        self.bytes.begin();
        self.bytes.extend_from_slice(key);
        write(&mut self.bytes);
        let place = self.bytes.end()?;
        Ok(self.entries.push(Entry { head: head(key), place, key: key.len() as u32 })?)
    }

    fn is_overfull(&self) -> bool {
        self.limit
            .is_some_and(|limit| self.entries.len() >= limit.saturating_mul(2).saturating_add(SLACK_ROWS))
    }

    /// Drops the rows beyond the limit. `look` may end that.
    fn trim(&mut self, look: &dyn Fn() -> Result<()>) -> Result<()> {
        let Some(limit) = self.limit else { return Ok(()) };
        let runs = self.sort(look)?;
        let (mut bytes, mut entries) = (self.bytes.empty(), self.entries.empty());
        for (i, entry) in self.merge(runs).take(limit).enumerate() {
            if i.is_multiple_of(ROWS_BETWEEN_LOOKS) {
                look()?;
            }
            bytes.begin();
            bytes.extend_from_slice(self.bytes.get(entry.place));
            entries.push(Entry { place: bytes.end()?, ..*entry })?;
        }
        (self.bytes, self.entries) = (bytes, entries);
        self.cutoff = self.entries.last().map(|last| self.bytes.get(last.key()).to_vec());
        Ok(())
    }

    /// Sorts the entries in runs, for [`SortedRows::merge`].
    fn sort(&mut self, look: &dyn Fn() -> Result<()>) -> Result<Vec<Range<usize>>> {
        let Self { bytes, entries, .. } = self;
        sort_runs(entries, |entry| entry.key as usize, |a, b| a.compare(b, bytes), look)
    }

    fn merge(&self, runs: Vec<Range<usize>>) -> impl Iterator<Item = &Entry> {
        Merge::new(&self.entries, runs, |a, b| a.compare(b, &self.bytes))
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
        let mut rows = SortedRows::new(Some(10), &StatementAccount::unlimited());
        for i in 0..20_000u32 {
            let key = (i.wrapping_mul(2_654_435_761) >> 16 & 0xff).to_be_bytes();
            if rows.wants(&key) {
                rows.add(&key, |out| out.extend_from_slice(&i.to_be_bytes())).unwrap();
            }
            if rows.is_overfull() {
                rows.trim(&|| Ok(())).unwrap();
            }
        }
        let runs = rows.sort(&|| Ok(())).unwrap();
        let mut expected: Vec<(u32, u32)> =
            (0..20_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 16 & 0xff, i)).collect();
        expected.sort_unstable();
        let got: Vec<u32> = rows
            .merge(runs)
            .take(10)
            .map(|entry| u32::from_be_bytes(rows.bytes.get(entry.row()).try_into().unwrap()))
            .collect();
        assert_eq!(got, expected[..10].iter().map(|&(_, i)| i).collect::<Vec<_>>());
    }
}
