//! The error of log operations.

use std::fmt;

use env::IoError;

/// Why the log could not do what was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// A log file could not be read, written or synced. After a failed sync nothing more may be acknowledged.
    Io(Box<IoError>),
}

/// Result of this crate's calls.
pub type Result<T> = std::result::Result<T, Error>;

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Io(error) => write!(f, "redo log: {error}"),
        }
    }
}

impl std::error::Error for Error {}
