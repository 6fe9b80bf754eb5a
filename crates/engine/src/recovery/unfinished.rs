//! Transactions that had not ended: found by the startup, rolled back while clients work.
//!
//! ```text
//!  trails (log, spill files)  -->  chunks of undo, at the addresses that row headers hold   before clients are let in
//!                             -->  transactions in progress, with their tables' metadata locks
//!  background thread          -->  undone, newest first, each record in one frame with its compensation
//! ```
//! The next startup continues a rollback that was cut short from the last compensation in the log.

use std::collections::BTreeSet;
use std::sync::{Arc, Weak};

use base::sync::{PlantedBug, planted};
use base::{IndexId, TrxId, UndoPtr};
use env::IoError;
use log::Part;
use page::SlotFlags;
use page::check::{fits_format, is_overflow_reference, key_fits_format};
use space::SpaceReserve;
use trx::{FoundTrx, TrxOutcome, UndoKind, UndoLog, UndoRecord, UnfinishedTrx};

use super::history::Found;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::row::rollback::undo_newest;
use crate::row::version::{CLOSED, flags_from_undo};
use crate::startup_log::{Pace, StartupLog};

/// Records undone between two looks of the background thread.
const STEP_RECORDS: usize = 256;

/// Result of a rollback step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RollbackReport {
    /// Records undone.
    pub undone: usize,
    /// Transactions that are still unfinished.
    pub unfinished: usize,
}

impl Engine {
    /// Makes the transactions that had not ended transactions in progress. No thread reads or writes yet.
    /// Returns how many there are.
    pub(super) fn adopt_unfinished(&self, found: &mut Found, notes: &dyn StartupLog) -> Result<usize> {
        let (mut transactions, mut indexes) = (Vec::new(), Vec::new());
        for trx in found.undo_stacks.oldest_first() {
            if found.undo_stacks.count(trx) == 0 {
                // All of it was undone; only the last word is missing.
                self.log_rollback_done(trx);
            } else {
                let (transaction, changed) = self.restore_undo(trx, found, notes)?;
                transactions.push(transaction);
                indexes.push(changed);
            }
            found.undo_stacks.remove(trx);
        }
        self.trx.undo().end_restoring();
        let mut transactions = self.trx.adopt(transactions);
        for (transaction, changed) in transactions.iter_mut().zip(indexes) {
            for index in changed {
                self.hold_table(transaction, index)?;
            }
        }
        let count = transactions.len();
        *self.unfinished.lock() = transactions;
        Ok(count)
    }

    /// Puts the undo of `trx` in its place. Returns with it the trees that the transaction has changed.
    fn restore_undo(
        &self,
        trx: TrxId,
        found: &Found,
        notes: &dyn StartupLog,
    ) -> Result<(FoundTrx, BTreeSet<IndexId>)> {
        let undo = self.trx.undo();
        let (mut restorer, mut record) = (undo.restorer(trx), UndoRecord::default());
        let (mut changed, mut newest_index) = (BTreeSet::new(), None);
        let mut refused: Option<IoError> = None;
        let ids = TrxId(1)..self.restart_horizon;
        found.undo_stacks.each(trx, |step, image| {
            let corrupt = || Error::UndoCorrupt { trx, lsn: step.at };
            // No such id was given out, or the bytes are no undo.
            if !ids.contains(&trx) || !record.decode_image(image) || !record.is_complete() {
                return Err(corrupt());
            }
            if !self.is_undo_of_table(&record) {
                return Err(corrupt());
            }
            record.prev = step.previous;
            restorer.put(step.undo, &record).map_err(|_| corrupt())?;
            if newest_index.replace(record.index) != Some(record.index) {
                changed.insert(record.index);
            }
            if refused.is_none() && undo.is_crowded() {
                refused = undo.swap_out().err();
            }
            Ok::<(), Error>(())
        })?;
        let restored = restorer.finish();
        if let Some(why) = refused.or_else(|| undo.swap_out().err()) {
            notes.note(&format!("recovery: the undo of {trx} stays in memory: {why}"));
        }
        let first_undo = found.first_undo.get(&trx).copied().unwrap_or_default();
        Ok((FoundTrx { id: trx, undo: restored, first_undo }, changed))
    }

    /// Whether an undo record can be of its table: images are shown to clients before a rollback reads
    /// them. The result of a patch is checked when it is applied.
    fn is_undo_of_table(&self, record: &UndoRecord) -> bool {
        let catalog = self.catalog();
        let Some((table, position)) = catalog.index(record.index) else { return false };
        let (format, is_clustered) = (&table.indexes[*position].format, *position == 0);
        let (key, flags) = (&record.key[..], flags_from_undo(record.flags));
        match record.kind {
            UndoKind::RowImage => is_clustered && fits_format(key, &record.image, flags, format),
            UndoKind::EntryReopen => {
                let closed = flags.with(CLOSED).with(SlotFlags::HAS_BEGIN);
                !is_clustered && fits_format(key, &record.image, closed, format)
            }
            UndoKind::RowInsert | UndoKind::RowPatch | UndoKind::RowDelete => {
                is_clustered && key_fits_format(key, SlotFlags::NONE, format)
            }
            UndoKind::EntryInsert | UndoKind::EntryClose => {
                let begun = key_fits_format(key, SlotFlags::HAS_BEGIN, format);
                !is_clustered && (begun || key_fits_format(key, SlotFlags::NONE, format))
            }
            UndoKind::ValueWritten | UndoKind::ValueDead => is_overflow_reference(&record.image),
        }
    }

    /// Keeps DDL statements from the table of a tree that the transaction has changed.
    fn hold_table(&self, trx: &mut UnfinishedTrx, index: IndexId) -> Result<()> {
        let catalog = self.catalog();
        // The transaction held the table's metadata lock, so that the table cannot have gone.
        let (table, _) = catalog.index(index).ok_or(Error::IndexDisagrees { index })?;
        if trx.hold(&table.state.lock) { Ok(()) } else { Err(Error::Lock(trx::Error::LockWaitTimeout)) }
    }

    fn log_rollback_done(&self, trx: TrxId) {
        let mut parts = Vec::new();
        Part::RollbackDone { trx }.encode(&mut parts);
        drop(self.store.log().append(&[], &parts));
    }

    /// Transactions that the startup found unfinished and that are not rolled back yet.
    pub fn unfinished_transactions(&self) -> usize {
        self.unfinished.lock().len()
    }

    /// Undoes up to `records_max` records of the newest unfinished transaction. The background thread does so
    /// until none is left.
    ///
    /// Changes that a damaged page prevents from being undone stay in an index that is out of use from then
    /// on.
    ///
    /// # Errors
    /// The server must stop: the next startup continues with the rollback.
    pub(crate) fn rollback_step(&self, records_max: usize) -> Result<RollbackReport> {
        self.past_damage(|| self.undo_unfinished(records_max))
    }

    fn undo_unfinished(&self, records_max: usize) -> Result<RollbackReport> {
        let mut transactions = self.unfinished.lock();
        let mut report = RollbackReport { undone: 0, unfinished: transactions.len() };
        let Some(trx) = transactions.last() else { return Ok(report) };
        let _reserve = SpaceReserve::open();
        let ending = {
            let mut log = trx.undo();
            let is_undone = self.undo_some(&mut log, records_max, &mut report.undone)?;
            is_undone.then(|| self.log_end_of_rollback(&mut log))
        };
        if let Some(ending) = ending
            && let Some(trx) = transactions.pop()
        {
            self.trx.end_unfinished(trx, ending);
            report.unfinished -= 1;
        }
        Ok(report)
    }

    /// Undoes up to `records_max` records. True: nothing is left to undo.
    fn undo_some(&self, log: &mut UndoLog, records_max: usize, undone: &mut usize) -> Result<bool> {
        let mut record = UndoRecord::default();
        while *undone < records_max {
            let is_there = if planted(PlantedBug::LostUndo) {
                log.pop(UndoPtr::NONE, &mut record).map_err(Error::UndoUnreadable)?
            } else {
                undo_newest(self, log, UndoPtr::NONE, None, &mut record)?
            };
            if !is_there {
                return Ok(true);
            }
            *undone += 1;
        }
        Ok(log.mark().is_none())
    }

    /// Rolls all unfinished transactions back.
    pub(crate) fn roll_back_unfinished(&self) -> Result<()> {
        while self.rollback_step(STEP_RECORDS)?.unfinished > 0 {}
        Ok(())
    }

    fn unfinished_records(&self) -> u64 {
        self.unfinished.lock().iter().map(|trx| trx.undo().records()).sum()
    }

    /// Forgets the unfinished transactions, which a shutdown has rolled back.
    pub(crate) fn forget_unfinished(&self) {
        for trx in self.unfinished.lock().drain(..) {
            self.trx.end_unfinished(trx, TrxOutcome::Nothing);
        }
    }
}

/// The background thread of a startup that had to recover: ends when all is rolled back, when the engine is
/// closed, or with it.
pub(crate) fn run(engine: &Weak<Engine>) -> Result<()> {
    let Some((notes, total)) = engine.upgrade().map(|e| (Arc::clone(&e.notes), e.unfinished_records()))
    else {
        return Ok(());
    };
    if let Some(engine) = engine.upgrade() {
        engine.checkpoint()?;
    }
    let (mut pace, mut undone) = (Pace::new(&notes), 0);
    loop {
        let Some(engine) = engine.upgrade().filter(|engine| !engine.is_closed()) else { return Ok(()) };
        let report = match engine.rollback_step(STEP_RECORDS) {
            // The next startup has it from the log. Until then no view sees what the transactions have done.
            Err(Error::UndoUnreadable(error)) => {
                notes.note(&format!("recovery: open transactions are left to the next start: {error}"));
                return Ok(());
            }
            report => report?,
        };
        undone += report.undone as u64;
        pace.report("rolling back", undone, total);
        if report.unfinished == 0 {
            notes.note("recovery: done");
            return Ok(());
        }
    }
}
