//! The server's log: one line per event, with time and level, to stderr or to the file of `--log-error`.

use std::fs::{OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

use parking_lot::Mutex;

/// Mode of a new log file, whatever the umask says.
const LOG_MODE: u32 = 0o640;

/// How much an event matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Something is broken.
    Error,
    /// Something is odd.
    Warning,
    /// Something happened.
    Note,
}

/// Where lines go.
pub struct ServerLog {
    target: Mutex<Box<dyn Write + Send>>,
}

impl std::fmt::Debug for ServerLog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ServerLog")
    }
}

impl ServerLog {
    /// Lines go to stderr.
    pub fn to_stderr() -> Self {
        ServerLog { target: Mutex::new(Box::new(io::stderr())) }
    }

    /// Lines are appended to the file at `path`.
    pub fn to_file(path: &Path) -> io::Result<Self> {
        let mut append = OpenOptions::new();
        append.append(true);
        // The mode of a log that exists already is its owner's choice.
        let file = match append.clone().create_new(true).mode(LOG_MODE).open(path) {
            Ok(file) => {
                file.set_permissions(Permissions::from_mode(LOG_MODE))?;
                file
            }
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => append.create(true).open(path)?,
            Err(e) => return Err(e),
        };
        Ok(ServerLog { target: Mutex::new(Box::new(file)) })
    }

    /// Writes one line. A log that cannot be written must not stop the server, so failures are dropped.
    pub fn write(&self, level: Level, message: &str) {
        let name = match level {
            Level::Error => "ERROR",
            Level::Warning => "Warning",
            Level::Note => "Note",
        };
        let now = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S.%6fZ");
        let line = format!("{now} [{name}] {message}\n");
        let _ = self.target.lock().write_all(line.as_bytes());
    }

    /// Logs an error.
    pub fn error(&self, message: &str) {
        self.write(Level::Error, message);
    }

    /// Logs a warning.
    pub fn warning(&self, message: &str) {
        self.write(Level::Warning, message);
    }

    /// Logs a note.
    pub fn note(&self, message: &str) {
        self.write(Level::Note, message);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_carry_time_and_level() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        let log = ServerLog::to_file(&path).unwrap();
        log.warning("odd");
        log.error("broken");
        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 2);
        assert!(lines[0].ends_with("Z [Warning] odd") && lines[1].ends_with("Z [ERROR] broken"));
    }
}
