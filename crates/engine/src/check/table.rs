//! One table: its trees, their records, the off-page values.

use base::TrxId;
use page::check::check_records;
use page::{OverflowRef, PageRef, RowRef};
use space::Store;
use space::check::{PageSet, Problems};
use trx::{ExclusiveWait, ReadView};

use super::{Depth, Finding};
use crate::engine::Engine;
use crate::error::{Result, fail_if_interrupted};
use crate::index::Index;
use crate::table::Table;

/// Report of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableReport {
    /// Rows, uncommitted ones included.
    pub rows: u64,
    /// Delete-marked records and closed entries that purge has not removed.
    pub leftovers: u64,
    /// What is wrong; empty for a sound table.
    pub problems: Vec<Finding>,
    /// Some pages could not be read or trusted; their contents are unknown.
    pub is_partial: bool,
}

impl Engine {
    /// CHECK TABLE: [`Table::check`] while no thread uses the table and nothing is purged. Waits up to `wait`
    /// for that.
    pub fn check_table(
        &self,
        schema: &str,
        name: &str,
        wait: impl Into<ExclusiveWait>,
        depth: Depth,
    ) -> Result<TableReport> {
        self.ensure_open()?;
        // Before the table's lock: purge holds its turn while it waits for tables.
        let _turn = self.purge.pause();
        self.with_exclusive(schema, name, wait, |exclusive| {
            let table = &exclusive.0;
            let mut report = table.check_with(self, &mut PageSet::new(&self.store), depth)?;
            self.settle_quarantine(table, depth, &mut report);
            Ok(report)
        })
    }

    /// Takes indexes out of use whose pages are damaged, and others that were for that reason alone back into
    /// use.
    fn settle_quarantine(&self, table: &Table, depth: Depth, report: &mut TableReport) {
        let is_sound = report.problems.is_empty() && depth == Depth::Full;
        for finding in report.problems.iter().filter(|finding| finding.page.is_some()) {
            let named = finding.index.as_ref().and_then(|name| table.find_index(name));
            if let Some(position) = named {
                self.quarantine(table.indexes[position].tree.index, &finding.to_string());
            }
        }
        if is_sound {
            let left = self.lift_quarantine(table);
            report.problems.extend(left.iter().map(|damaged| Finding {
                index: Some(damaged.index.clone()),
                ..Finding::new(damaged.why.to_string())
            }));
        }
    }
}

impl Table {
    /// Checks every tree, every record and off-page value, and that each index has exactly the entries that
    /// the rows call for: of the newest versions, and of those that the oldest view may still ask for. No
    /// thread may write or purge meanwhile.
    pub fn check(&self, engine: &Engine) -> Result<TableReport> {
        self.check_with(engine, &mut PageSet::new(&engine.store), Depth::Full)
    }

    /// The same; `pages` learns of the table's pages.
    pub(crate) fn check_with(
        &self,
        engine: &Engine,
        pages: &mut PageSet<'_>,
        depth: Depth,
    ) -> Result<TableReport> {
        let mut report = TableReport::default();
        for index in &self.indexes {
            check_index(engine, index, pages, depth, &mut report);
            // The check of a tree ends early without an error.
            fail_if_interrupted()?;
        }
        if depth == Depth::Full && report.problems.is_empty() {
            self.check_agreement(engine, ReadView::newest(), &mut report)?;
            let oldest = engine.trx.purge_horizon();
            if oldest < engine.trx.newest() && report.problems.is_empty() {
                self.check_agreement(engine, ReadView::at(oldest), &mut report)?;
            }
        }
        Ok(report)
    }
}

/// One tree and its records.
fn check_index(
    engine: &Engine,
    index: &Index,
    pages: &mut PageSet<'_>,
    depth: Depth,
    report: &mut TableReport,
) {
    let mut check = LeafCheck {
        store: &engine.store,
        index,
        depth,
        next: engine.trx.next_id(),
        records: 0,
        leftovers: 0,
    };
    let tree = index.tree.check_with(&engine.store, pages, &mut |page, pages, problems| {
        check.check_leaf(page, pages, problems);
    });
    if index.format.is_clustered() {
        report.rows = check.records - check.leftovers;
    }
    report.leftovers += check.leftovers;
    report.is_partial |= tree.is_partial;
    report.problems.extend(tree.problems.into_iter().map(|bad| Finding::of_index(&index.def.name, bad)));
}

/// The records of an index's leaves.
struct LeafCheck<'c> {
    store: &'c Store,
    index: &'c Index,
    depth: Depth,
    /// No transaction has this id or a greater one.
    next: TrxId,
    records: u64,
    leftovers: u64,
}

impl LeafCheck<'_> {
    fn check_leaf(&mut self, page: PageRef<'_>, pages: &mut PageSet<'_>, problems: &mut Problems) {
        let page_no = page.page_no();
        // One that no page can have is refused with the record's words.
        let format = self.index.format_on(page).unwrap_or(&self.index.format);
        if let Err(corruption) = check_records(page, format) {
            return problems.add(page_no, corruption.what.words());
        }
        problems.expect(page.trx_max() < self.next, page_no, "names a transaction that never was");
        for slot in 0..page.count() {
            let row = RowRef::new(format, page.record(slot));
            self.records += 1;
            let is_leftover = row.record().flags().is_deleted();
            self.leftovers += u64::from(is_leftover);
            self.check_writers(page, &row, problems);
            let values_from = if format.is_clustered() { 0 } else { format.var_columns().len() as u16 };
            for ordinal in values_from..format.var_columns().len() as u16 {
                if let (bytes, true) = row.var(ordinal) {
                    self.check_value(&OverflowRef::decode(bytes), pages, problems);
                }
            }
        }
    }

    /// An entry was closed by a transaction.
    fn check_writers(&self, page: PageRef<'_>, row: &RowRef<'_>, problems: &mut Problems) {
        problems.expect(
            self.index.format.is_clustered() || row.end_trx() != Some(TrxId::NONE),
            page.page_no(),
            "has an entry that was closed by no transaction",
        );
    }

    fn check_value(&self, reference: &OverflowRef, pages: &mut PageSet<'_>, problems: &mut Problems) {
        if self.depth == Depth::Full {
            self.store.check_value(self.index.tree.index, reference, pages, problems);
        }
    }
}
