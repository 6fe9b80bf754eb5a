//! Whole-table checks: for tests, CHECK TABLE and tools. No statement comes here.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::time::Duration;

use btree::Seek;
use page::{RowHeader, RowRef};
use trx::ReadView;

use crate::engine::Engine;
use crate::error::Result;
use crate::range::{Direction, KeyRange};
use crate::row::insert::row_id_of;
use crate::row::row_image::{RowImage, value_of, with_values};
use crate::scan::Scan;
use crate::table::{Index, Table};

/// What a check has found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableReport {
    /// Rows, uncommitted ones included.
    pub rows: u64,
    /// Delete-marked records and closed entries that purge has not removed.
    pub leftovers: u64,
    /// What is wrong, in plain words; empty for a sound table.
    pub problems: Vec<String>,
}

impl Engine {
    /// CHECK TABLE: [`Table::check`] while nobody uses the table. Waits up to `wait` for that.
    pub fn check_table(&self, schema: &str, name: &str, wait: Duration) -> Result<TableReport> {
        self.ensure_open()?;
        self.with_exclusive(schema, name, wait, |exclusive| exclusive.0.check(self))
    }
}

/// An index entry: key without begin id, and the payload behind an end id.
type Entry = (Vec<u8>, Vec<u8>);

impl Table {
    /// Counts the rows again, for [`Table::row_count_estimate`]: those that a statement which begins now would see,
    /// give or take what is written meanwhile.
    pub fn count_rows(&self, engine: &Engine) -> Result<u64> {
        let rows = self.count_clustered(engine, &mut 0)?;
        self.state.rows.store(i64::try_from(rows).unwrap_or(i64::MAX), Ordering::Relaxed);
        Ok(rows)
    }

    /// Checks every tree, and that each index has exactly one open entry, the right one, for every row.
    ///
    /// The newest state is compared; nobody may write meanwhile. Memory: all entries of one index at a time.
    pub fn check(&self, engine: &Engine) -> Result<TableReport> {
        let mut report = TableReport::default();
        for index in &self.indexes {
            let tree = index.tree.check(&engine.store)?;
            report.problems.extend(tree.problems.into_iter().map(|p| format!("{}: {p}", index.def.name)));
        }
        report.rows = self.count_clustered(engine, &mut report.leftovers)?;
        for index in &self.indexes[1..] {
            self.check_entries(engine, index, &mut report)?;
        }
        Ok(report)
    }

    fn count_clustered(&self, engine: &Engine, leftovers: &mut u64) -> Result<u64> {
        let mut cursor = self.clustered().tree.seek(&engine.store, &[], Seek::First)?;
        let mut rows = 0;
        while let Some(at) = cursor {
            if at.record().flags().is_deleted() {
                *leftovers += 1;
            } else {
                rows += 1;
            }
            cursor = at.next()?;
        }
        Ok(rows)
    }

    fn check_entries(&self, engine: &Engine, index: &Index, report: &mut TableReport) -> Result<()> {
        let mut open = BTreeSet::new();
        let mut cursor = index.tree.seek(&engine.store, &[], Seek::First)?;
        while let Some(at) = cursor {
            let record = at.record();
            if record.flags().has_ver() {
                report.leftovers += 1;
            } else {
                let body = RowRef::new(&index.format, record).body().to_vec();
                let entry = (record.with_key(<[u8]>::to_vec), body);
                if !open.insert(entry) {
                    report.problems.push(format!("{}: a row has two open entries", index.def.name));
                }
            }
            cursor = at.next()?;
        }
        let wanted = self.expected_entries(engine, index)?;
        let missing = wanted.difference(&open).count();
        let superfluous = open.difference(&wanted).count();
        if missing + superfluous > 0 {
            let name = &index.def.name;
            report
                .problems
                .push(format!("{name}: {missing} entries are missing, {superfluous} are superfluous"));
        }
        Ok(())
    }

    fn expected_entries(&self, engine: &Engine, index: &Index) -> Result<BTreeSet<Entry>> {
        let mut wanted = BTreeSet::new();
        let view = ReadView::newest();
        let mut scan = Scan::open(engine, self, 0, view, KeyRange::all(), Direction::Forward)?.detached();
        let (mut values, mut spans, mut scratch) = (Vec::new(), Vec::new(), Vec::new());
        while let Some(batch) = scan.next_batch()? {
            for row in batch.rows() {
                let mut image = RowImage { values: &mut values, spans: &mut spans };
                image.fill(&row, self.def.columns.len(), &mut scratch);
                let (values, spans) = image.fetched(&engine.store, &index.columns)?;
                let clustered = row.record().with_key(<[u8]>::to_vec);
                let row_id = if self.def.hidden_row_id { row_id_of(&clustered) } else { 0 };
                wanted.insert(with_values(
                    spans.len(),
                    |i| value_of(&values, spans[i]),
                    |row| {
                        let (mut key, mut payload) = (Vec::new(), Vec::new());
                        index.format.append_key(row, row_id, &mut key);
                        index.format.encode(RowHeader::default(), row, &[], &mut payload);
                        (key, payload)
                    },
                ));
            }
        }
        Ok(wanted)
    }
}
