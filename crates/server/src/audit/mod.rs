//! The audit log: logins, failed logins, and changes of accounts, privileges and definitions.
//!
//! One JSON object a line, with the fields of MySQL's audit log in JSON format. Passwords are never written.
//! Without `audit_log_file` the server writes no audit log.
//!
//! | file | role |
//! |---|---|
//! | `event` | an event as a line |
//! | `rotating_file` | the file: its rotation, and how much of it is kept |
//!
//! The server writes an event before it answers the client. If the write fails, the server counts the event
//! as lost and continues.

mod event;
mod rotating_file;

use std::path::PathBuf;

use parking_lot::Mutex;

pub(crate) use event::{Attempt, Event, EventClient};
pub(crate) use rotating_file::Keep;

use crate::options::Options;
use crate::sysvars::Variables;
use rotating_file::RotatingFile;

/// Names of the variables.
const FILE: &str = "audit_log_file";
const ROTATE_ON_SIZE: &str = "audit_log_rotate_on_size";
const MAX_SIZE: &str = "audit_log_max_size";

/// Variables that may be set while the server runs.
pub(crate) const VARIABLES: [&str; 2] = [ROTATE_ON_SIZE, MAX_SIZE];

/// The open log.
#[derive(Debug)]
pub(crate) struct AuditLog {
    writer: Mutex<Writer>,
}

#[derive(Debug)]
struct Writer {
    file: RotatingFile,
    /// Second of the last event, and how many before it had the same.
    last: (i64, u64),
    /// The last event was lost.
    fails: bool,
}

/// An event that the log could not take.
#[derive(Debug)]
pub(crate) struct LostEvent {
    /// Why, if the event before it was not lost.
    pub(crate) news: Option<std::io::Error>,
}

impl AuditLog {
    /// Opens the log that the options name, if they do. A relative path begins in the data directory.
    ///
    /// # Errors
    /// One line that names the file.
    pub(crate) fn open(options: &Options) -> Result<Option<AuditLog>, String> {
        let name = options.variables.named(FILE).as_text();
        if name.is_empty() {
            return Ok(None);
        }
        let path: PathBuf = options.datadir().join(name);
        let file = RotatingFile::open(&path)
            .map_err(|error| format!("cannot open the audit log {}: {error}", path.display()))?;
        let writer = Writer { file, last: (0, 0), fails: false };
        Ok(Some(AuditLog { writer: Mutex::new(writer) }))
    }

    /// Writes an event and gives it its time.
    pub(crate) fn write(&self, mut event: Event<'_>, keep: Keep) -> Result<(), LostEvent> {
        let now = jiff::Timestamp::now();
        let mut writer = self.writer.lock();
        let Writer { file, last, fails } = &mut *writer;
        *last = if last.0 == now.as_second() { (last.0, last.1 + 1) } else { (now.as_second(), 0) };
        event.timestamp = now.strftime("%Y-%m-%d %H:%M:%S").to_string();
        event.id = last.1;
        let outcome = file.append(&event.line(), keep, now);
        let failed_before = std::mem::replace(fails, outcome.is_err());
        outcome.map_err(|error| LostEvent { news: Some(error).filter(|_| !failed_before) })
    }
}

impl Keep {
    /// The settings of the global variables.
    pub(crate) fn of(variables: &Variables) -> Self {
        Keep {
            rotate_bytes: variables.named(ROTATE_ON_SIZE).as_u64(),
            all_bytes: variables.named(MAX_SIZE).as_u64(),
        }
    }
}
