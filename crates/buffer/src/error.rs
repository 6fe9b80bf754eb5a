//! Why a page cannot be had.

use std::fmt;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::PageNo;
use env::IoError;
use page::CorruptionKind;

/// Error of the buffer pool. Two words, so that results of guards stay small.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// A page could not be written, or memory or a thread could not be had.
    Io(Box<IoError>),
    /// A page cannot be read, or its bytes on disk are not what was written there.
    Corruption(Box<CorruptPage>),
    /// The log could not be made durable before a page write.
    Log(Box<log::Error>),
    /// Every frame was latched for longer than a latch may be held.
    Exhausted {
        /// Frames in the pool.
        frames: u32,
    },
    /// A page write or sync has failed before (the cause is inside): nothing may be changed any more.
    ChangesRefused(Arc<Error>),
    /// The pool was closed.
    Closed,
}

/// Result of this crate's calls.
pub type Result<T> = std::result::Result<T, Error>;

/// A page whose stored bytes are wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CorruptPage {
    /// The file.
    pub file: PathBuf,
    /// The page within it.
    pub page: PageNo,
    /// What is wrong.
    pub defect: PageDefect,
}

/// The defect of a stored page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageDefect {
    /// The disk does not give it back.
    Unreadable {
        /// Why, in a portable way.
        kind: ErrorKind,
        /// The kernel's error number; 0 if the reason is not the kernel's.
        errno: i32,
    },
    /// The file ends before the page does.
    PastEnd,
    /// It was never written.
    Unwritten,
    /// The bytes fail the check at the disk boundary.
    Bytes(CorruptionKind),
    /// Recovery did not make the changes that the log has of it.
    Lost,
    /// Its last change lies after the end of the log: the log is older than the file, or part of it is gone.
    BeyondLog,
    /// The log has been given up to a later moment than the file has all changes of: the file is older than
    /// the log.
    BehindLog,
}

impl Error {
    #[cold]
    pub(crate) fn io(error: IoError) -> Self {
        Error::Io(Box::new(error))
    }

    #[cold]
    pub(crate) fn log(error: log::Error) -> Self {
        Error::Log(Box::new(error))
    }

    #[cold]
    pub(crate) fn corrupt(file: &Path, page: PageNo, defect: PageDefect) -> Self {
        Error::Corruption(Box::new(CorruptPage { file: file.to_path_buf(), page, defect }))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Io(error) => error.fmt(f),
            Error::Corruption(corrupt) => corrupt.fmt(f),
            Error::Log(error) => error.fmt(f),
            Error::Exhausted { frames } => write!(f, "all {frames} frames of the buffer pool are in use"),
            Error::ChangesRefused(cause) => write!(f, "no changes are possible after: {cause}"),
            Error::Closed => f.write_str("the buffer pool is closed"),
        }
    }
}

impl std::error::Error for Error {}

impl fmt::Display for CorruptPage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} is corrupt: ", self.page, self.file.display())?;
        match self.defect {
            PageDefect::Unreadable { kind, errno } => write!(f, "it cannot be read ({kind}, errno {errno})"),
            PageDefect::PastEnd => f.write_str("the file ends before it"),
            PageDefect::Lost => {
                f.write_str("recovery could not make the changes that the redo log has of it")
            }
            PageDefect::Unwritten => f.write_str("it was never written"),
            PageDefect::Bytes(kind) => write!(f, "{kind:?}"),
            PageDefect::BehindLog => f.write_str("the file is older than the redo log"),
            PageDefect::BeyondLog => f.write_str("it was changed after the end of the redo log"),
        }
    }
}
