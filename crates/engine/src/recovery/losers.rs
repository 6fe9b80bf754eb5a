//! Undoing transactions that had not ended.

use base::TrxId;
use base::sync::{Planted, planted};
use btree::SpaceReserve;
use log::Part;
use trx::UndoRecord;

use super::trails::Trails;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::row::rollback::undo_one;

impl Engine {
    /// Undoes all of a transaction, newest first, each record in one frame with the part that says so. `tell` gets the number of
    /// records undone.
    pub(super) fn undo_loser(
        &self,
        trx: TrxId,
        trails: &mut Trails,
        tell: &mut dyn FnMut(usize),
    ) -> Result<()> {
        let _reserve = SpaceReserve::open();
        let (mut record, mut parts, mut undone) = (UndoRecord::default(), Vec::new(), 0);
        while let Some((step, image)) = trails.newest(trx)? {
            if !record.decode_image(image) || !record.is_complete() {
                return Err(Error::UndoCorrupt { trx, lsn: step.at });
            }
            self.store.log().admit_reserved()?;
            Part::Compensation { trx, undone: step.undo, next: step.previous }.encode(&mut parts);
            if planted(Planted::LostUndo) || undo_one(self, trx, &record, &parts)? {
                parts.clear();
            }
            trails.pop(trx);
            undone += 1;
            tell(undone);
        }
        Part::RollbackDone { trx }.encode(&mut parts);
        drop(self.store.log().append(&[], &parts));
        Ok(())
    }
}
