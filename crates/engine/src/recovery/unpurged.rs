//! Purge work that a crash has lost, of committed transactions that left values without a row: these values,
//! and the delete-marked records and closed entries that refer to them.

use base::{Lsn, PageNo, TrxId};
use page::OverflowRef;
use trx::{UndoKind, UndoRecord};

use crate::engine::Engine;
use crate::error::Result;

/// Something to purge, if it is still there.
#[derive(Debug)]
pub(super) struct UnpurgedRecord {
    trx: TrxId,
    record: UndoRecord,
    /// End of the frame that has it.
    at: Lsn,
}

impl UnpurgedRecord {
    pub(super) fn of(trx: TrxId, record: &UndoRecord, at: Lsn) -> Self {
        let mut record = record.clone();
        record.image.shrink_to_fit();
        UnpurgedRecord { trx, record, at }
    }

    /// Whether it is a value whose pages were freed already: they may be another's by now.
    pub(super) fn is_freed(&self, is_freed_after: &dyn Fn(PageNo, Lsn) -> bool) -> bool {
        self.record.kind == UndoKind::ValueDead
            && is_freed_after(OverflowRef::decode(&self.record.image).first, self.at)
    }
}

impl Engine {
    /// Purges what the log has recorded. No reader exists yet that needs it. The sweep and the search for
    /// lost values find what a full disk has no log for.
    pub(super) fn purge_unpurged(&self, unpurged: Vec<UnpurgedRecord>) -> Result<()> {
        for unpurged in unpurged {
            match self.store.log().admit() {
                Err(log::Error::Full(_)) => break,
                admitted => admitted?,
            }
            self.purge_now(unpurged.trx, &unpurged.record)?;
        }
        Ok(())
    }
}
