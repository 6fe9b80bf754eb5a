//! What the log tells of transactions: which did not end, and what those that did have left behind.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::sync::{Planted, planted};
use base::{Lsn, TrxId};
use env::{Clock, RealClock};
use log::{FrameRange, Part, TrxState, UndoRef};
use trx::{UndoKind, UndoRecord};

use super::leftovers::Leftover;
use super::losers::Loser;
use super::{Pace, StartLog};
use crate::spill::SpillFolder;

/// Listens while the log is read.
pub(crate) struct History {
    log: Arc<dyn StartLog>,
    pace: Option<Pace>,
    /// Transactions that have logged undo and have not ended.
    open: BTreeMap<TrxId, Trail>,
    /// Where undo was spilled; none in a new directory.
    spills: Option<SpillFolder>,
    /// Up to where the undo of a transaction was spilled.
    spilled: BTreeMap<TrxId, Lsn>,
    leftovers: Vec<Leftover>,
    record: UndoRecord,
    unclean: bool,
    /// When the start began.
    began_ns: u64,
}

/// Undo of an open transaction, oldest first.
#[derive(Debug, Default)]
pub(super) struct Trail {
    pub(super) steps: Vec<Step>,
    /// Before images of the steps, one after another.
    pub(super) images: Vec<u8>,
}

/// One undo record.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) undo: UndoRef,
    pub(super) previous: UndoRef,
    /// Where its image begins.
    pub(super) image: usize,
    /// End of the frame it is in.
    pub(super) at: Lsn,
}

impl Trail {
    /// The image of the newest step.
    pub(super) fn newest_image(&self) -> &[u8] {
        self.steps.last().map_or(&[], |step| &self.images[step.image..])
    }

    /// Forgets the newest step.
    pub(super) fn pop(&mut self) {
        if let Some(step) = self.steps.pop() {
            self.images.truncate(step.image);
        }
    }

    /// Forgets what is newer than the record `reached`.
    fn return_to(&mut self, reached: UndoRef) {
        while self.steps.last().is_some_and(|step| step.undo != reached) {
            self.pop();
        }
    }
}

impl History {
    pub(crate) fn new(log: &Arc<dyn StartLog>, spills: Option<SpillFolder>) -> Self {
        History {
            log: Arc::clone(log),
            pace: None,
            open: BTreeMap::new(),
            spills,
            spilled: BTreeMap::new(),
            leftovers: Vec::new(),
            record: UndoRecord::default(),
            unclean: false,
            began_ns: RealClock.monotonic_ns(),
        }
    }

    /// Whether the directory was not closed.
    pub(crate) fn is_unclean(&self) -> bool {
        self.unclean
    }

    /// The transactions to undo, the newest first, and what the others have left to purge.
    pub(super) fn into_parts(self) -> (Vec<Loser>, Vec<Leftover>) {
        let losers = self.open.into_iter().rev().map(|(trx, trail)| Loser { trx, trail });
        (losers.collect(), self.leftovers)
    }

    /// A transaction has committed. If it left values without a row, what purge would have to do for it is kept: the map does
    /// not tell of such values, and what refers to them has to go first. Else the sweep finds what there is to do.
    fn commit(&mut self, trx: TrxId) {
        let Some(trail) = self.open.remove(&trx) else { return };
        let kind_of = |step: &Step| UndoKind::of_image(&trail.images[step.image..]);
        if !trail.steps.iter().any(|step| kind_of(step) == Some(UndoKind::ValueDead)) {
            return;
        }
        let ends = trail.steps.iter().skip(1).map(|step| step.image).chain([trail.images.len()]);
        for (step, end) in trail.steps.iter().zip(ends) {
            let image = &trail.images[step.image..end];
            // What cannot be decoded is found when it has to be undone; nobody needs it here.
            if kind_of(step).is_some_and(UndoKind::needs_purge) && self.record.decode_image(image) {
                self.leftovers.push(Leftover::of(trx, &self.record, step.at));
            }
        }
    }

    /// What a part says, wherever it was read.
    fn hear(&mut self, range: FrameRange, part: &Part<'_>) {
        match *part {
            Part::Undo { trx, undo, previous, image } => {
                let trail = self.open.entry(trx).or_default();
                trail.steps.push(Step { undo, previous, image: trail.images.len(), at: range.end });
                trail.images.extend_from_slice(image);
            }
            Part::Compensation { trx, next: reached, .. } | Part::SavepointRollbackDone { trx, reached } => {
                if let Some(trail) = self.open.get_mut(&trx) {
                    trail.return_to(reached);
                }
            }
            Part::Commit { trx, .. } => self.commit(trx),
            Part::RollbackDone { trx } => drop(self.open.remove(&trx)),
            _ => {}
        }
    }

    /// Whether a part of the log was spilled, too, and heard.
    fn was_spilled(&self, range: FrameRange, part: &Part<'_>) -> bool {
        !self.spilled.is_empty()
            && part.undo_of().and_then(|trx| self.spilled.get(&trx)).is_some_and(|up_to| range.start < *up_to)
            && !planted(Planted::SpilledTwice)
    }
}

impl btree::StartObserver for History {
    fn checkpoint(&mut self, listed: &[TrxState]) -> btree::Result<()> {
        let Some(spills) = self.spills.take() else { return Ok(()) };
        for state in listed.iter().filter(|state| state.spilled_bytes > 0) {
            let mut file = spills.open(state.trx, state.spilled_bytes)?;
            let mut hear = |range: FrameRange, part: &Part<'_>| {
                self.hear(range, part);
                Ok::<(), log::Error>(())
            };
            while file.next_entry(&mut hear)? {}
            self.spilled.insert(state.trx, state.first_undo);
        }
        if !self.spilled.is_empty() {
            let count = self.spilled.len();
            self.log.note(&format!("recovery: spilled undo of {count} transactions was read"));
        }
        Ok(())
    }

    fn part(&mut self, range: FrameRange, part: &Part<'_>) -> btree::Result<()> {
        if !self.was_spilled(range, part) {
            self.hear(range, part);
        }
        Ok(())
    }

    fn unclean(&mut self) -> btree::Result<()> {
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
                "recovery: {page} of data.rdb is damaged, and so is its copy in doublewrite; unless the log makes it \
                 anew, what is on it is lost"
            ));
        }
    }

    fn freed_after(&mut self, is_freed_after: &dyn Fn(base::PageNo, Lsn) -> bool) {
        self.leftovers.retain(|leftover| !leftover.is_freed(is_freed_after));
    }

    fn progress(&mut self, progress: btree::Progress) {
        let (done, total) = (progress.at.0 - progress.from.0, progress.end.0 - progress.from.0);
        if let Some(pace) = &mut self.pace {
            pace.tell("applying the redo log", done, total);
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
