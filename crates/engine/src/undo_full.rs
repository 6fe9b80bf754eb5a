//! Changes of rows that are refused because of too much undo: the error, and the reports of it.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use base::Lsn;
use base::sync::plain::Mutex;
use env::IoError;
use trx::UndoPin;

use crate::startup_log::StartupLog;

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

/// Where refused changes are reported.
#[derive(Debug)]
pub(crate) struct UndoWarnings {
    notes: Arc<dyn StartupLog>,
    /// The start of the transaction that was reported last.
    reported: Mutex<Option<Lsn>>,
    reported_not_swapped: AtomicBool,
}

impl UndoWarnings {
    pub(crate) fn new(notes: &Arc<dyn StartupLog>) -> Self {
        let (notes, reported) = (Arc::clone(notes), Mutex::new(None));
        UndoWarnings { notes, reported, reported_not_swapped: AtomicBool::new(false) }
    }

    /// Reports a transaction once.
    pub(crate) fn report(&self, full: &UndoFull) {
        let since = full.pin.as_ref().map(|pin| pin.since);
        let mut reported = self.reported.lock();
        if since.is_some() && *reported != since {
            *reported = since;
            self.notes.note(&format!("changes of rows are refused: {full}"));
        }
    }

    /// Reports once that undo cannot be swapped.
    pub(crate) fn report_not_swapped(&self, error: &IoError) {
        if !self.reported_not_swapped.swap(true, Ordering::Relaxed) {
            self.notes.note(&format!("changes of rows are refused: undo cannot be swapped: {error}"));
        }
    }
}
