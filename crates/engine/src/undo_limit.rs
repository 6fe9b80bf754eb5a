//! The limits of undo: the transaction that keeps too much of it from being freed is named, and changes of
//! rows are refused meanwhile; undo that memory has no room for is swapped to a file.

use std::time::Duration;

use base::sync::Event;
use env::IoError;

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::undo_full::UndoFull;

/// How often, and after how long, it is checked whether purge has freed some undo, before a change is
/// refused.
const PURGE_LOOKS: u32 = 20;
const PURGE_WAIT: Duration = Duration::from_millis(20);

impl Engine {
    /// Sets how many bytes of undo there may be; 0: any number.
    pub fn set_undo_limit(&self, bytes_max: u64) {
        self.trx.undo().set_bytes_max(if bytes_max == 0 { u64::MAX } else { bytes_max });
    }

    /// Sets from how many bytes of undo in memory on the oldest is swapped to a file.
    pub fn set_undo_memory(&self, bytes_max: u64) {
        self.trx.undo().set_memory_max(bytes_max);
    }

    /// Asked before a change of a row, without a latch, when there may be too much undo, or too much in
    /// memory.
    ///
    /// # Errors
    /// [`Error::UndoFull`], [`Error::UndoNotSwapped`].
    #[cold]
    #[inline(never)]
    pub(crate) fn ensure_undo_room(&self) -> Result<()> {
        let undo = self.trx.undo();
        if undo.is_crowded() {
            self.free_oldest_undo();
        }
        let mut looks = 0;
        // Undo that is not needed any more is freed first: the purge thread may only be late.
        let event = Event::new();
        loop {
            let swapped = undo.swap_out();
            if swapped.is_ok() && undo.has_room() {
                return Ok(());
            }
            if looks == PURGE_LOOKS {
                return Err(self.refuse_for_undo(swapped.err()));
            }
            looks += 1;
            self.purge.wake_thread();
            event.wait(event.ticket(), Some(env::deadline_in(PURGE_WAIT)));
        }
    }

    /// The error of a change that undo has no room for; `not_swapped`: because the disk does not take what
    /// memory has too much of.
    fn refuse_for_undo(&self, not_swapped: Option<IoError>) -> Error {
        if let Some(error) = not_swapped {
            self.undo_warnings.report_not_swapped(&error);
            return Error::UndoNotSwapped(Box::new(error));
        }
        let (bytes, bytes_max) = self.trx.undo().bytes();
        let full = UndoFull { bytes, bytes_max, pin: self.trx.oldest_pin() };
        self.undo_warnings.report(&full);
        Error::UndoFull(Box::new(full))
    }

    /// Frees undo that is not needed, if there is much of it: swapping it would be wasted work.
    fn free_oldest_undo(&self) {
        // Purge at work frees what it can when it is done.
        let Some(_turn) = self.purge.try_pause() else { return };
        let horizon = self.trx.purge_horizon();
        if self.trx.can_free_oldest_undo(horizon) {
            self.trx.free_undo(horizon);
        }
    }
}
