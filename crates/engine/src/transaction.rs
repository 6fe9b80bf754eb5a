//! The beginning of a transaction, and the undoing of a part of it.

use std::sync::{Arc, Weak};

use base::UndoPtr;
use trx::{BeginOptions, RollbackOnDrop, Trx, TrxOutcome, WriteParts};

use crate::engine::Engine;
use crate::error::Result;
use crate::row::rollback;

impl Engine {
    /// An open transaction. It takes an id only when it writes, a view only when it reads.
    pub fn begin(self: &Arc<Self>, options: BeginOptions) -> Trx {
        Trx::begin(&self.trx, Arc::new(Owner(Arc::downgrade(self))), options)
    }

    /// Undoes what came after `mark` ([`Trx::mark`] at the start of a statement). Locks stay.
    pub fn rollback_statement(&self, trx: &mut Trx, mark: UndoPtr) -> Result<()> {
        self.undo_back_to(trx, mark)
    }

    /// ROLLBACK TO SAVEPOINT.
    pub fn rollback_to_savepoint(&self, trx: &mut Trx, name: &str) -> Result<()> {
        let mark = trx.return_to_savepoint(name)?;
        self.undo_back_to(trx, mark)
    }

    fn undo_back_to(&self, trx: &mut Trx, mark: UndoPtr) -> Result<()> {
        let Some(id) = trx.id() else { return Ok(()) };
        self.past_damage(|| match trx.write_parts(id) {
            Ok(WriteParts { mut log, locker, .. }) => rollback::undo_partly(self, &mut log, mark, &locker),
            Err(trx::Error::ShuttingDown) => Ok(()),
            Err(error) => Err(error.into()),
        })
    }
}

/// Rolls back transactions that their sessions drop.
struct Owner(Weak<Engine>);

impl RollbackOnDrop for Owner {
    fn roll_back_dropped(&self, trx: &mut Trx) {
        // Without an engine nothing is left to roll back.
        match self.0.upgrade() {
            Some(engine) => {
                // No statement waits for the answer. The locks stay; shutdown, which tries again, fails too.
                engine.rollback(trx).unwrap_or_else(|error| {
                    engine
                        .notes
                        .note(&format!("a transaction whose session has gone is not rolled back: {error}"));
                });
            }
            None => trx.end(TrxOutcome::Nothing).unwrap_or_default(),
        }
    }
}
