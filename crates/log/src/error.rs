//! The error of log operations.

use std::fmt;
use std::path::PathBuf;

use base::{Lsn, TrxId};
use env::IoError;

/// Why the log could not do what was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// A log file could not be read, written or synced. After a failed write or sync nothing more is
    /// acknowledged.
    Io(Box<IoError>),
    /// Log that was durable cannot be read.
    Damaged(Box<Damage>),
    /// The folder holds no log of this data directory that can be begun at a checkpoint.
    NoLog(PathBuf),
    /// A log file of another format version.
    UnknownVersion(PathBuf, u32),
    /// A frame that checks has a part that this version does not know.
    UnknownPart(Lsn, u8),
    /// The disk has no room for the log of more changes. Nothing was changed; it may work again later.
    Full(Box<IoError>),
    /// The statement was killed while it waited for room in the log.
    Interrupted,
    /// The spilled undo of a transaction cannot be read.
    Spill(Box<SpillDamage>),
}

/// A spill file that is not what was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpillDamage {
    /// The file.
    pub file: PathBuf,
    /// Byte in the file; `None`: it is not there.
    pub offset: Option<u64>,
    /// Whose undo is in it.
    pub trx: TrxId,
}

/// Where durable log is missing or wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// The file; one that is missing is named too.
    pub file: PathBuf,
    /// Byte in the file.
    pub offset: u64,
    /// The position that cannot be read.
    pub lsn: Lsn,
    /// Everything below this is proven to have been durable.
    pub durable: Lsn,
}

/// Result of this crate's calls.
pub type Result<T> = std::result::Result<T, Error>;

impl From<IoError> for Error {
    #[cold]
    fn from(error: IoError) -> Self {
        Error::Io(Box::new(error))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Io(error) => write!(f, "redo log: {error}"),
            Error::Damaged(damage) => {
                let Damage { file, offset, lsn, durable } = &**damage;
                write!(
                    f,
                    "redo log: {} is damaged at offset {offset}: {lsn} cannot be read, ",
                    file.display()
                )?;
                write!(f, "but the log was durable up to {durable}")
            }
            Error::NoLog(folder) => write!(f, "redo log: no usable log files in {}", folder.display()),
            Error::UnknownVersion(file, version) => {
                write!(f, "redo log: {} has the unknown format version {version}", file.display())
            }
            Error::Full(error) => write!(f, "redo log: there is no space for more changes: {error}"),
            Error::Interrupted => f.write_str("redo log: interrupted while waiting for room"),
            Error::UnknownPart(lsn, kind) => {
                write!(f, "redo log: the frame at {lsn} has a part of the unknown kind {kind}")
            }
            Error::Spill(damage) => {
                let SpillDamage { file, offset, trx } = &**damage;
                write!(f, "spilled undo: {} is ", file.display())?;
                match offset {
                    Some(offset) => write!(f, "damaged at offset {offset}")?,
                    None => f.write_str("missing")?,
                }
                write!(f, "; without it {trx} cannot be rolled back")
            }
        }
    }
}

impl std::error::Error for Error {}
