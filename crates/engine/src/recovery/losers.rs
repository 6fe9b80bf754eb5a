//! Undoing transactions that had not ended.

use base::TrxId;
use base::sync::{Planted, planted};
use log::Part;
use trx::UndoRecord;

use super::history::Trail;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::row::rollback::undo_one;

/// A transaction to undo.
#[derive(Debug)]
pub(super) struct Loser {
    pub(super) trx: TrxId,
    pub(super) trail: Trail,
}

impl Loser {
    /// Undo records.
    pub(super) fn len(&self) -> usize {
        self.trail.steps.len()
    }

    /// Undoes everything, newest first, each record in one frame with the part that says so. `tell` gets the number of
    /// records undone.
    pub(super) fn undo(mut self, engine: &Engine, tell: &mut dyn FnMut(usize)) -> Result<()> {
        let trx = self.trx;
        let (mut record, mut parts, mut undone) = (UndoRecord::default(), Vec::new(), 0);
        while let Some(step) = self.trail.steps.last().copied() {
            if !record.decode_image(self.trail.newest_image()) {
                return Err(Error::UndoCorrupt { trx, lsn: step.at });
            }
            engine.store.log().admit()?;
            Part::Compensation { trx, undone: step.undo, next: step.previous }.encode(&mut parts);
            if planted(Planted::LostUndo) || undo_one(engine, trx, &record, &parts)? {
                parts.clear();
            }
            self.trail.pop();
            undone += 1;
            tell(undone);
        }
        Part::RollbackDone { trx }.encode(&mut parts);
        drop(engine.store.log().append(&[], &parts));
        Ok(())
    }
}
