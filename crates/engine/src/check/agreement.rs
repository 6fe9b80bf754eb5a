//! Whether the indexes have the entries that the rows call for.
//!
//! Rows and entries are compared by count and by the sum of a hash of each, so that memory does not grow with
//! the table. Only where these differ are rows and entries looked up one by one, to name those that disagree.

use std::hash::{DefaultHasher, Hasher};

use base::PageNo;
use btree::Seek;
use page::{RowHeader, RowRef};
use space::check::Problems;
use trx::{ReadView, Span};

use super::{Finding, TableReport};
use crate::engine::Engine;
use crate::error::{Result, fail_if_interrupted};
use crate::index::Index;
use crate::prober::Prober;
use crate::range::{Direction, KeyRange};
use crate::row::key::row_id_of;
use crate::row::row_image::{RowImage, value_of, with_values};
use crate::row::version::sees_entry;
use crate::scan::Scan;
use crate::table::Table;

/// Bytes of a key that are shown.
const KEY_BYTES_TOLD: usize = 24;

/// A checksum of a set of entries, in any order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sum {
    entries: u64,
    hashes: u64,
}

impl Sum {
    fn add(&mut self, key: &[u8], body: &[u8]) {
        let mut hasher = DefaultHasher::new();
        hasher.write_usize(key.len());
        hasher.write(key);
        hasher.write(body);
        self.entries += 1;
        self.hashes = self.hashes.wrapping_add(hasher.finish());
    }
}

/// The entries that rows call for, made in buffers.
struct Expected<'c> {
    engine: &'c Engine,
    table: &'c Table,
    values: Vec<u8>,
    spans: Vec<Span>,
    scratch: Vec<u8>,
    clustered_key: Vec<u8>,
    key: Vec<u8>,
    body: Vec<u8>,
}

impl<'c> Expected<'c> {
    fn new(engine: &'c Engine, table: &'c Table) -> Self {
        Expected {
            engine,
            table,
            values: Vec::new(),
            spans: Vec::new(),
            scratch: Vec::new(),
            clustered_key: Vec::new(),
            key: Vec::new(),
            body: Vec::new(),
        }
    }

    /// Takes a row of the clustered index.
    fn take(&mut self, row: &RowRef<'_>) {
        let mut image = RowImage { values: &mut self.values, spans: &mut self.spans };
        image.fill(row, self.table.def.columns.len(), &mut self.scratch);
        self.clustered_key.clear();
        row.record().append_key(&mut self.clustered_key);
    }

    /// Makes the row's entry of `index` in `key` and `body`.
    fn make(&mut self, index: &Index) -> Result<()> {
        let image = RowImage { values: &mut self.values, spans: &mut self.spans };
        let (values, spans) = image.fetched(&self.engine.store, &index.columns)?;
        let row_id = if self.table.def.hidden_row_id { row_id_of(&self.clustered_key) } else { 0 };
        let (key, body) = (&mut self.key, &mut self.body);
        key.clear();
        body.clear();
        with_values(
            spans.len(),
            |i| value_of(&values, spans[i]),
            |row| {
                index.format.append_key(row, row_id, key);
                index.format.encode(RowHeader::default(), row, &[], body);
            },
        );
        Ok(())
    }
}

impl Table {
    /// Compares the entries that `view` sees with the rows that it sees.
    pub(super) fn check_agreement(
        &self,
        engine: &Engine,
        view: ReadView,
        report: &mut TableReport,
    ) -> Result<()> {
        if self.indexes.len() == 1 || view.number() < self.clustered().usable_from {
            return Ok(());
        }
        let wanted = self.wanted(engine, view)?;
        for (index, wanted) in self.indexes[1..].iter().zip(wanted) {
            if view.number() < index.usable_from || found(engine, index, view)? == wanted {
                continue;
            }
            let mut problems = Problems::default();
            self.find_missing(engine, index, view, &mut problems)?;
            self.find_superfluous(engine, index, view, &mut problems)?;
            if problems.is_empty() {
                problems.add(None, "has other entries than the rows call for");
            }
            let name = &index.def.name;
            report.problems.extend(problems.into_iter().map(|bad| Finding::of_index(name, bad)));
        }
        Ok(())
    }

    /// The entries that the rows require, by secondary index.
    fn wanted(&self, engine: &Engine, view: ReadView) -> Result<Vec<Sum>> {
        let mut sums = vec![Sum::default(); self.indexes.len() - 1];
        self.for_each_row(engine, view, |expected, _| {
            for (index, sum) in self.indexes[1..].iter().zip(&mut sums) {
                expected.make(index)?;
                sum.add(&expected.key, &expected.body);
            }
            Ok(true)
        })?;
        Ok(sums)
    }

    /// Hands each row to `visit`, with the page of its newest version, until it says false.
    fn for_each_row(
        &self,
        engine: &Engine,
        view: ReadView,
        mut visit: impl FnMut(&mut Expected<'_>, PageNo) -> Result<bool>,
    ) -> Result<()> {
        let mut expected = Expected::new(engine, self);
        let mut scan = Scan::open(engine, self, 0, view, KeyRange::all(), Direction::Forward)?.detached();
        while let Some(batch) = scan.next_batch()? {
            fail_if_interrupted()?;
            for row in batch.rows() {
                expected.take(&row);
                if !visit(&mut expected, batch.page_no())? {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Names rows that have no entry, or more than one.
    fn find_missing(
        &self,
        engine: &Engine,
        index: &Index,
        view: ReadView,
        problems: &mut Problems,
    ) -> Result<()> {
        self.for_each_row(engine, view, |expected, page_no| {
            expected.make(index)?;
            let count = count_entries(engine, index, view, expected)?;
            if count != 1 {
                let row = key_text(&expected.clustered_key);
                let what = format!("has {count} entries for the row with clustered key {row} on {page_no}");
                problems.add(None, what);
            }
            Ok(!is_full(problems))
        })
    }

    /// Names entries that no row calls for.
    fn find_superfluous(
        &self,
        engine: &Engine,
        index: &Index,
        view: ReadView,
        problems: &mut Problems,
    ) -> Result<()> {
        let position = self.indexes.iter().position(|known| std::ptr::eq(known, index)).unwrap_or_default();
        let (mut expected, mut key, mut scratch) = (Expected::new(engine, self), Vec::new(), Vec::new());
        let mut rows = Prober::new(engine, self, 0, view)?;
        let mut scan =
            Scan::open(engine, self, position, view, KeyRange::all(), Direction::Forward)?.detached();
        while let Some(batch) = scan.next_batch()? {
            fail_if_interrupted()?;
            for entry in batch.rows() {
                key.clear();
                index.append_clustered_key(&entry, &mut key);
                let is_called_for = match rows.get(&key)? {
                    Some(row) => {
                        expected.take(&row);
                        expected.make(index)?;
                        entry.entry_body(&mut scratch) == expected.body
                            && entry.record().with_key(|key| key == expected.key)
                    }
                    None => false,
                };
                if !is_called_for {
                    let what = format!(
                        "has an entry for clustered key {}, whose row does not call for it",
                        key_text(&key)
                    );
                    problems.add(batch.page_no(), what);
                }
                if is_full(problems) {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}

fn is_full(problems: &Problems) -> bool {
    problems.iter().count() > space::check::PROBLEMS_MAX
}

/// What the entries that `view` sees add up to.
fn found(engine: &Engine, index: &Index, view: ReadView) -> Result<Sum> {
    let (mut sum, mut scratch) = (Sum::default(), Vec::new());
    let mut cursor = index.tree.seek(&engine.store, &[], Seek::First)?;
    while let Some(at) = cursor {
        let entry = RowRef::new(&index.format, at.record());
        if sees_entry(&engine.trx, &view, &entry) {
            let body = entry.entry_body(&mut scratch);
            entry.record().with_key(|key| sum.add(key, body));
        }
        if at.slot() == 0 {
            fail_if_interrupted()?;
        }
        cursor = at.next()?;
    }
    Ok(sum)
}

/// How often `view` sees the entry that was made.
fn count_entries(engine: &Engine, index: &Index, view: ReadView, expected: &Expected<'_>) -> Result<usize> {
    let (mut count, mut scratch) = (0, Vec::new());
    let mut cursor = index.tree.seek(&engine.store, &expected.key, Seek::AtOrAfter)?;
    while let Some(at) = cursor {
        let entry = RowRef::new(&index.format, at.record());
        if !entry.record().with_key(|key| key == expected.key) {
            break;
        }
        let is_seen = sees_entry(&engine.trx, &view, &entry);
        count += usize::from(is_seen && entry.entry_body(&mut scratch) == expected.body);
        cursor = at.next()?;
    }
    Ok(count)
}

/// The first bytes of a key, in hexadecimal.
fn key_text(key: &[u8]) -> String {
    let shown: String = key.iter().take(KEY_BYTES_TOLD).map(|byte| format!("{byte:02x}")).collect();
    if key.len() > KEY_BYTES_TOLD { format!("0x{shown}..") } else { format!("0x{shown}") }
}
