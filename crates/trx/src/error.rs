//! Why a transaction could not continue.

use std::fmt;

/// A refusal by the lock layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// A lock was not granted within the transaction's lock wait timeout (1205).
    LockWaitTimeout,
    /// NOWAIT was asked for and the lock is taken (3572).
    LockNowait,
    /// Chosen as the victim of a deadlock (1213).
    Deadlock,
    /// The session was asked to stop while it waited (1317).
    Interrupted,
    /// The engine is shutting down; the transaction has been rolled back (1053).
    ShuttingDown,
    /// A write in a READ ONLY transaction (1792).
    ReadOnlyTransaction,
    /// No savepoint of that name (1305).
    NoSuchSavepoint,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Error::LockWaitTimeout => "lock wait timeout exceeded",
            Error::LockNowait => "lock is taken and nowait is set",
            Error::Deadlock => "deadlock found",
            Error::Interrupted => "interrupted while waiting for a lock",
            Error::ShuttingDown => "the engine is shutting down",
            Error::ReadOnlyTransaction => "write in a read only transaction",
            Error::NoSuchSavepoint => "no such savepoint",
        })
    }
}

impl std::error::Error for Error {}
