//! The limit of undo: who keeps too much of it from being freed is named, and changes of rows are refused meanwhile.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use base::Lsn;
use base::sync::Event;
use base::sync::plain::Mutex;
use trx::UndoPin;

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::recovery::StartLog;

/// How often, and after how long, it is looked whether purge has freed some undo, before a change is refused.
const PURGE_LOOKS: u32 = 20;
const PURGE_WAIT: Duration = Duration::from_millis(20);

/// Why a change of a row was refused.
#[derive(Clone, Debug)]
pub struct UndoFull {
    /// Bytes of undo.
    pub bytes: u64,
    /// The most there may be.
    pub bytes_max: u64,
    /// Who needs the oldest of it; `None`: purge is behind.
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

/// Who tells of the limit, and of whom it was told last.
#[derive(Debug)]
pub(crate) struct UndoWarnings {
    notes: Arc<dyn StartLog>,
    told: Mutex<Option<Lsn>>,
}

impl UndoWarnings {
    pub(crate) fn new(notes: &Arc<dyn StartLog>) -> Self {
        UndoWarnings { notes: Arc::clone(notes), told: Mutex::new(None) }
    }

    /// Tells of a culprit once.
    fn tell(&self, full: &UndoFull) {
        let since = full.pin.as_ref().map(|pin| pin.since);
        let mut told = self.told.lock();
        if since.is_some() && *told != since {
            *told = since;
            self.notes.note(&format!("changes of rows are refused: {full}"));
        }
    }
}

impl Engine {
    /// Sets how many bytes of undo there may be; 0: any number.
    pub fn set_undo_limit(&self, bytes_max: u64) {
        self.trx.undo().set_bytes_max(if bytes_max == 0 { u64::MAX } else { bytes_max });
    }

    /// Asked before a change of a row, without a latch, when there may be too much undo.
    ///
    /// # Errors
    /// [`Error::UndoFull`].
    #[cold]
    pub(crate) fn ensure_undo_room(&self) -> Result<()> {
        // What nobody needs any more is freed first: the thread that does may only be behind.
        let event = Event::new();
        for _ in 0..PURGE_LOOKS {
            if self.trx.undo().has_room() {
                return Ok(());
            }
            self.purge.hurry();
            event.wait(event.ticket(), Some(env::deadline_in(PURGE_WAIT)));
        }
        let (bytes, bytes_max) = self.trx.undo().bytes();
        let full = UndoFull { bytes, bytes_max, pin: self.trx.oldest_pin() };
        self.undo_warnings.tell(&full);
        Err(Error::UndoFull(Box::new(full)))
    }
}
