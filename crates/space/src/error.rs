//! Errors of trees and their file.

use std::fmt;
use std::path::PathBuf;

use base::{Lsn, PageNo};
use page::{Corruption, FileHeaderError};

/// An operation on a tree or on the data file that did not happen.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The pool could not read or write a page.
    Buffer(buffer::Error),
    /// The log could not be read, written or synced.
    Log(Box<log::Error>),
    /// The data file itself could not be used.
    Io(Box<env::IoError>),
    /// Bytes on disk are not what they must be.
    Corruption(Corruption),
    /// Key and payload together are longer than a page can hold beside two fences.
    RecordTooLarge {
        /// Bytes asked for.
        need: usize,
        /// Bytes a record may have.
        max: usize,
    },
    /// The thread's statement is to end.
    Interrupted,
    /// The file cannot grow: page numbers or disk space are used up.
    FileFull,
    /// The data file was not closed, and the caller does not want it to be recovered.
    NotClean,
    /// A change in the log is invalid, or does not suit its page.
    BadFrame(Box<BadFrame>),
    /// The file is no data file, or one of another format version.
    UnknownFormat(FileHeaderError),
}

/// A frame of the log whose changes cannot be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadFrame {
    /// The log file.
    pub file: PathBuf,
    /// Where the frame begins in it.
    pub offset: u64,
    /// Where it begins in the log.
    pub lsn: Lsn,
    /// The page, or `PageNo::NONE` if the bytes do not say.
    pub page: PageNo,
}

/// Result of this crate's functions.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// The page that cannot be read, or is not what was written there or not what refers to it, if the error
    /// says so.
    pub fn damaged_page(&self) -> Option<PageNo> {
        match self {
            Error::Buffer(buffer::Error::Corruption(corrupt)) => Some(corrupt.page),
            Error::Corruption(corruption) => Some(corruption.page),
            _ => None,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Buffer(error) => error.fmt(f),
            Error::Log(error) => error.fmt(f),
            Error::Io(error) => error.fmt(f),
            Error::Corruption(corruption) => corruption.fmt(f),
            Error::RecordTooLarge { need, max } => {
                write!(f, "a record of {need} bytes is longer than the {max} bytes a page can hold")
            }
            Error::Interrupted => f.write_str("the statement was interrupted"),
            Error::FileFull => f.write_str("the data file cannot grow"),
            Error::UnknownFormat(FileHeaderError::Magic) => f.write_str("the file is no data file"),
            Error::UnknownFormat(FileHeaderError::FormatVersion(version)) => {
                write!(f, "the data file has format version {version}, which is not known")
            }
            Error::UnknownFormat(FileHeaderError::PageSize(size)) => {
                write!(f, "the data file has pages of {size} bytes, which are not supported")
            }
            Error::NotClean => f.write_str("the data file was not closed cleanly"),
            Error::BadFrame(bad) => {
                let BadFrame { file, offset, lsn, page } = &**bad;
                write!(f, "redo log: the frame at offset {offset} of {} ({lsn}) ", file.display())?;
                write!(f, "has a change of {page} that cannot be made")
            }
        }
    }
}

impl std::error::Error for Error {}

impl From<log::Error> for Error {
    #[cold]
    fn from(error: log::Error) -> Self {
        Error::Log(Box::new(error))
    }
}

impl From<buffer::Error> for Error {
    #[cold]
    fn from(error: buffer::Error) -> Self {
        Error::Buffer(error)
    }
}

impl From<env::IoError> for Error {
    #[cold]
    fn from(error: env::IoError) -> Self {
        Error::Io(Box::new(error))
    }
}

impl From<Corruption> for Error {
    #[cold]
    fn from(corruption: Corruption) -> Self {
        Error::Corruption(corruption)
    }
}
