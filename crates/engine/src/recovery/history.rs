//! The history of transactions in the log: those that did not end, and what ended ones have left to purge.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::sync::{PlantedBug, planted};
use base::{Lsn, TrxId};
use buffer::CorruptPage;
use env::{Clock, IoError, RealClock};
use log::{FrameRange, Part, TrxState};
use trx::{UndoKind, UndoRecord};

use super::undo_stacks::{Step, UndoStacks};
use super::unpurged::UnpurgedRecord;
use crate::spill::{SpillFolder, SpilledUndo};
use crate::startup_log::{Pace, StartupLog};

/// What of the log is left to be done.
#[derive(Debug)]
pub(super) struct Found {
    /// Undo of the transactions that have not ended.
    pub(super) undo_stacks: UndoStacks,
    /// Where the log of their undo begins, or before.
    pub(super) first_undo: BTreeMap<TrxId, Lsn>,
    /// The undo that was spilled.
    pub(super) spilled: BTreeMap<TrxId, SpilledUndo>,
    /// Records that ended transactions have left to purge.
    pub(super) unpurged: Vec<UnpurgedRecord>,
    /// Damaged pages that lack changes of the log.
    pub(super) lost: Vec<CorruptPage>,
}

/// Listens while the log is read.
pub(crate) struct History {
    log: Arc<dyn StartupLog>,
    pace: Option<Pace>,
    /// Of transactions that have logged undo and have not ended.
    undo_stacks: UndoStacks,
    /// Where undo was spilled, until it has been read.
    spills: Option<SpillFolder>,
    /// The files of these transactions were read.
    spilled: BTreeMap<TrxId, SpilledUndo>,
    /// Where the first frame with undo of an open transaction begins.
    first_undo: BTreeMap<TrxId, Lsn>,
    unpurged: Vec<UnpurgedRecord>,
    lost: Vec<CorruptPage>,
    record: UndoRecord,
    unclean: bool,
    /// When the start began.
    began_ns: u64,
}

impl History {
    /// Of a directory whose undo was spilled to `spills`. Undo of open transactions takes `undo_memory_bytes`
    /// bytes.
    pub(crate) fn new(log: &Arc<dyn StartupLog>, spills: SpillFolder, undo_memory_bytes: usize) -> Self {
        History {
            log: Arc::clone(log),
            pace: None,
            undo_stacks: UndoStacks::new(spills.disk(), spills.recovery_file(), undo_memory_bytes),
            spills: Some(spills),
            spilled: BTreeMap::new(),
            first_undo: BTreeMap::new(),
            unpurged: Vec::new(),
            lost: Vec::new(),
            record: UndoRecord::default(),
            unclean: false,
            began_ns: RealClock.monotonic_ns(),
        }
    }

    /// Whether the directory was not closed.
    pub(crate) fn is_unclean(&self) -> bool {
        self.unclean
    }

    /// What is left to be done.
    pub(super) fn into_found(self) -> Found {
        let History { undo_stacks, first_undo, spilled, unpurged, lost, .. } = self;
        Found { undo_stacks, first_undo, spilled, unpurged, lost }
    }

    /// A transaction has committed. If it left values without a row, what purge would have to do for it is
    /// kept: the map does not record such values, and records that refer to them have to go first. Else the
    /// sweep finds what there is to do.
    fn commit(&mut self, trx: TrxId) -> Result<(), IoError> {
        let History { undo_stacks, record, unpurged, .. } = self;
        if undo_stacks.has_dead_values(trx) {
            undo_stacks.each(trx, |step, image| {
                // What cannot be decoded is found when it has to be undone; it is not needed here.
                let needs_purge = UndoKind::of_image(image).is_some_and(UndoKind::needs_purge);
                if needs_purge && record.decode_image(image) && record.is_complete() {
                    unpurged.push(UnpurgedRecord::of(trx, record, step.at));
                }
                Ok::<(), IoError>(())
            })?;
        }
        self.forget(trx);
        Ok(())
    }

    /// A transaction has ended.
    fn forget(&mut self, trx: TrxId) {
        self.undo_stacks.remove(trx);
        self.first_undo.remove(&trx);
    }

    /// What a part says, wherever it was read.
    fn note_part(&mut self, range: FrameRange, part: &Part<'_>) -> Result<(), IoError> {
        match *part {
            Part::Undo { trx, undo, previous, image } => {
                self.first_undo.entry(trx).or_insert(range.start);
                self.undo_stacks.push(trx, Step { undo, previous, at: range.end }, image);
            }
            Part::Compensation { trx, next: reached, .. } | Part::SavepointRollbackDone { trx, reached } => {
                self.undo_stacks.return_to(trx, reached)?;
            }
            Part::Commit { trx, .. } => self.commit(trx)?,
            Part::RollbackDone { trx } => self.forget(trx),
            _ => {}
        }
        Ok(())
    }

    /// Whether a part of the log was spilled, too, and heard.
    fn was_spilled(&self, range: FrameRange, part: &Part<'_>) -> bool {
        !self.spilled.is_empty()
            && part
                .undo_of()
                .and_then(|trx| self.spilled.get(&trx))
                .is_some_and(|spilled| range.start < spilled.up_to)
            && !planted(PlantedBug::SpilledTwice)
    }
}

impl space::StartObserver for History {
    fn checkpoint(&mut self, listed: &[TrxState]) -> space::Result<()> {
        let Some(spills) = self.spills.take() else { return Ok(()) };
        for state in listed.iter().filter(|state| state.spilled_bytes > 0) {
            let mut file = spills.open(state.trx, state.spilled_bytes)?;
            let mut note_part =
                |range: FrameRange, part: &Part<'_>| self.note_part(range, part).map_err(log::Error::from);
            while file.next_entry(&mut note_part)? {}
            let spilled = SpilledUndo { up_to: state.first_undo, bytes: state.spilled_bytes };
            self.spilled.insert(state.trx, spilled);
        }
        if !self.spilled.is_empty() {
            let count = self.spilled.len();
            self.log.note(&format!("recovery: spilled undo of {count} transactions was read"));
        }
        Ok(())
    }

    fn part(&mut self, range: FrameRange, part: &Part<'_>) -> space::Result<()> {
        if !self.was_spilled(range, part) {
            self.note_part(range, part)?;
        }
        Ok(())
    }

    fn unclean(&mut self) -> space::Result<()> {
        self.unclean = true;
        self.log.note("recovery: the data directory was not shut down cleanly");
        self.pace = Some(Pace::new(&self.log));
        Ok(())
    }

    fn torn_pages(&mut self, report: &buffer::RestoreReport) {
        if !report.restored.is_empty() {
            self.log.note(&format!("recovery: {} torn pages restored", report.restored.len()));
        }
        for page in &report.lost {
            self.log.note(&format!(
                "recovery: {page} of data.pages is damaged, and so is its copy in doublewrite; unless the log makes it \
                 anew, what is on it is lost"
            ));
        }
    }

    fn lost_pages(&mut self, pages: &[CorruptPage]) {
        self.lost = pages.to_vec();
    }

    fn freed_after(&mut self, is_freed_after: &dyn Fn(base::PageNo, Lsn) -> bool) {
        self.unpurged.retain(|unpurged| !unpurged.is_freed(is_freed_after));
    }

    fn progress(&mut self, progress: space::Progress) {
        let (done, total) = (progress.at.0 - progress.from.0, progress.end.0 - progress.from.0);
        if let Some(pace) = &mut self.pace {
            pace.report("applying the redo log", done, total);
        }
        if progress.at == progress.end {
            let seconds = (RealClock.monotonic_ns() - self.began_ns) as f64 / 1e9;
            let pace = total as f64 / 1e6 / seconds.max(1e-9);
            self.log.note(&format!(
                "recovery: {total} bytes of redo log read and applied in {seconds:.2} s, {pace:.0} MB a second"
            ));
        }
    }
}
