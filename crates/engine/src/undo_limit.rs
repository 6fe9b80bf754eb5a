//! The limits of undo: the transaction that keeps too much of it from being freed is named, and changes of
//! rows are refused meanwhile; undo that memory has no room for is swapped to a file.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use base::Lsn;
use base::sync::Event;
use base::sync::plain::Mutex;
use env::IoError;
use trx::UndoPin;

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::recovery::StartupLog;

/// How often, and after how long, it is checked whether purge has freed some undo, before a change is
/// refused.
const PURGE_LOOKS: u32 = 20;
const PURGE_WAIT: Duration = Duration::from_millis(20);

/// Why a change of a row was refused.
#[derive(Clone, Debug)]
pub struct UndoFull {
    /// Bytes of undo.
    pub bytes: u64,
    /// The most there may be.
    pub bytes_max: u64,
    /// The transaction that needs the oldest of it; `None`: purge is behind.
    pub pin: Option<UndoPin>,
}

impl fmt::Display for UndoFull {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let UndoFull { bytes, bytes_max, pin } = self;
        write!(f, "undo of {bytes} bytes has reached its limit of {bytes_max} bytes; ")?;
        let Some(UndoPin { trx, client, .. }) = pin else {
            return f.write_str("purge has not caught up with it");
        };
        match trx {
            Some(trx) => write!(f, "it is kept for {trx}")?,
            None => f.write_str("it is kept for a read view")?,
        }
        match client {
            Some(client) => {
                write!(f, " of connection {} ({}@{}), ", client.connection, client.user, client.host)?;
                write!(f, "whose transaction has been open for {} s", client.active_s)
            }
            None => Ok(()),
        }
    }
}

/// Where the limit is reported, and the transaction that was reported last.
#[derive(Debug)]
pub(crate) struct UndoWarnings {
    notes: Arc<dyn StartupLog>,
    told: Mutex<Option<Lsn>>,
    told_not_swapped: AtomicBool,
}

impl UndoWarnings {
    pub(crate) fn new(notes: &Arc<dyn StartupLog>) -> Self {
        let (notes, told) = (Arc::clone(notes), Mutex::new(None));
        UndoWarnings { notes, told, told_not_swapped: AtomicBool::new(false) }
    }

    /// Tells of a culprit once.
    fn report(&self, full: &UndoFull) {
        let since = full.pin.as_ref().map(|pin| pin.since);
        let mut told = self.told.lock();
        if since.is_some() && *told != since {
            *told = since;
            self.notes.note(&format!("changes of rows are refused: {full}"));
        }
    }

    /// Tells once that the disk does not take undo.
    fn report_not_swapped(&self, error: &IoError) {
        if !self.told_not_swapped.swap(true, Ordering::Relaxed) {
            self.notes.note(&format!("changes of rows are refused: undo cannot be swapped: {error}"));
        }
    }
}

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
