//! The end of a transaction: what goes into the log, and what is waited for.

use base::{Lsn, TrxId, UndoPtr};
use env::{Clock, RealClock};
use log::{LogPosition, Part};
use trx::{Trx, TrxOutcome, UndoLog};

use crate::commit_wait::CommitWait;
use crate::engine::Engine;
use crate::error::Result;
use crate::row::rollback;

impl Engine {
    /// Makes the transaction's changes visible, gives up its locks, and waits until they will last: see
    /// [`Engine::set_commit_wait`]. Others may see the changes before. The object can be restarted.
    ///
    /// # Errors
    /// [`trx::Error::ShuttingDown`]: it was rolled back instead. An error of the log: the changes are
    /// visible, and whether they last is not known; the server must stop.
    #[inline]
    pub fn commit(&self, trx: &mut Trx) -> Result<()> {
        if trx.id().is_none() && trx.committed().is_none() {
            return Ok(trx.end(TrxOutcome::Nothing)?);
        }
        self.commit_writer(trx)
    }

    fn commit_writer(&self, trx: &mut Trx) -> Result<()> {
        if let Some(end) = trx.committed() {
            trx.end(TrxOutcome::Nothing)?;
            return self.wait_for_commit(end);
        }
        let ending = trx.end_with(|log| {
            log.begin_commit();
            let end = self.log_end(log, |trx| Part::Commit { trx, micros: now_micros() });
            end.map_or(TrxOutcome::Nothing, TrxOutcome::Committed)
        })?;
        match ending {
            TrxOutcome::Committed(end) => self.wait_for_commit(end),
            TrxOutcome::RolledBack(_) | TrxOutcome::Nothing => Ok(()),
        }
    }

    fn wait_for_commit(&self, end: Lsn) -> Result<()> {
        let log = self.store.log();
        match self.commit_wait.get() {
            CommitWait::Durable => Ok(log.durable_up_to(end)?),
            CommitWait::Written => Ok(log.written_up_to(end)?),
            CommitWait::Nothing => Ok(()),
        }
    }

    /// What commits wait for from now on.
    pub fn set_commit_wait(&self, wait: CommitWait) {
        self.commit_wait.set(wait);
    }

    /// Undoes the transaction's changes and gives up its locks. The object can be restarted.
    pub fn rollback(&self, trx: &mut Trx) -> Result<()> {
        debug_assert!(trx.committed().is_none(), "nothing fails behind a commit");
        let mut ending = TrxOutcome::Nothing;
        if trx.id().is_some() {
            ending = self.past_damage(|| match trx.undo() {
                Ok(mut log) => self.undo_all(&mut log),
                // Rolled back already is what was asked for.
                Err(trx::Error::ShuttingDown) => Ok(TrxOutcome::Nothing),
                Err(error) => Err(error.into()),
            })?;
        }
        match trx.end(ending) {
            Ok(()) | Err(trx::Error::ShuttingDown) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Undoes all changes of a transaction, and says in the log that it is over.
    pub(crate) fn undo_all(&self, log: &mut UndoLog) -> Result<TrxOutcome> {
        rollback::undo_to(self, log, UndoPtr::NONE, None)?;
        Ok(self.log_end_of_rollback(log))
    }

    /// Says in the log that a transaction is over, all of whose changes are undone.
    pub(crate) fn log_end_of_rollback(&self, log: &mut UndoLog) -> TrxOutcome {
        let end = self.log_end(log, |trx| Part::RollbackDone { trx });
        end.map_or(TrxOutcome::Nothing, TrxOutcome::RolledBack)
    }

    /// Appends the last frame of a transaction, if it has logged anything, and returns its end.
    fn log_end(&self, log: &mut UndoLog, part: impl FnOnce(TrxId) -> Part<'static>) -> Option<Lsn> {
        let trx = log.id().filter(|_| log.records() > 0)?;
        log.push_part(&part(trx));
        let end = self.store.log().append(&[], log.parts()).range().end;
        log.clear_parts();
        Some(end)
    }
}

/// Microseconds since 1970. A call for each transaction that changes something.
#[inline(never)]
pub(crate) fn now_micros() -> u64 {
    let now = RealClock.wall();
    now.seconds as u64 * 1_000_000 + u64::from(now.micros)
}
