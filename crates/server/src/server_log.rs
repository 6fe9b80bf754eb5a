//! The server's log: one line per event, with time and level, to stderr or to the file of `--log-error`.

use std::io::{self, Write};
use std::path::Path;

use parking_lot::Mutex;

use crate::log_file;

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
    target: Mutex<Target>,
}

/// The file or stream, and what it did not take.
struct Target {
    out: Box<dyn Write + Send>,
    /// Lines lost since the last one that was written.
    lost: u64,
}

impl Target {
    /// Writes a line, or counts it as lost. The first line after lost ones follows a line that says how many
    /// they were, and begins a new one: a part of a lost line may be there.
    fn write(&mut self, stamp: &str, line: &str) {
        let lost = self.lost;
        let report = match lost {
            0 => String::new(),
            _ => format!("\n{stamp} [Warning] {lost} lines of this log are lost: it could not be written\n"),
        };
        match self.out.write_all(format!("{report}{line}").as_bytes()) {
            Ok(()) => self.lost = 0,
            Err(_) => self.lost += 1,
        }
    }
}

impl std::fmt::Debug for ServerLog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ServerLog")
    }
}

impl ServerLog {
    /// Lines go to stderr.
    pub fn to_stderr() -> Self {
        ServerLog::to(io::stderr())
    }

    /// Lines are appended to the file at `path`.
    pub fn to_file(path: &Path) -> io::Result<Self> {
        Ok(ServerLog::to(log_file::append_to(path)?))
    }

    fn to(out: impl Write + Send + 'static) -> Self {
        ServerLog { target: Mutex::new(Target { out: Box::new(out), lost: 0 }) }
    }

    /// Writes one line. A log that cannot be written, such as one on a full disk, does not stop the server:
    /// its lines are lost, and counted.
    pub fn write(&self, level: Level, message: &str) {
        let name = match level {
            Level::Error => "ERROR",
            Level::Warning => "Warning",
            Level::Note => "Note",
        };
        let now = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S.%6fZ");
        self.target.lock().write(&now.to_string(), &format!("{now} [{name}] {message}\n"));
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
    use std::sync::Arc;

    use super::*;

    /// A disk with room for this number of bytes.
    #[derive(Clone)]
    struct Small(Arc<Mutex<(usize, Vec<u8>)>>);

    impl Write for Small {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let (room, written) = &mut *self.0.lock();
            let taken = bytes.len().min(*room);
            *room -= taken;
            written.extend_from_slice(&bytes[..taken]);
            if taken == 0 { Err(io::ErrorKind::StorageFull.into()) } else { Ok(taken) }
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn lines_that_a_full_disk_does_not_take_are_counted_and_told_when_it_does() {
        let disk = Small(Arc::new(Mutex::new((60, Vec::new()))));
        let log = ServerLog::to(disk.clone());
        for message in ["kept", "cut off", "lost"] {
            log.note(message);
        }
        disk.0.lock().0 = usize::MAX;
        log.note("kept again");
        log.note("and again");
        let text = String::from_utf8(disk.0.lock().1.clone()).unwrap();
        let lines: Vec<_> = text.lines().collect();
        assert!(lines[0].ends_with("Z [Note] kept"), "{text}");
        assert!(
            lines[2].ends_with("[Warning] 2 lines of this log are lost: it could not be written"),
            "{text}"
        );
        assert!(lines[3].ends_with("Z [Note] kept again") && lines[4].ends_with("and again"), "{text}");
        assert_eq!(lines.len(), 5);
    }

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
