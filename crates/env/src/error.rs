//! The error of every file operation.

use std::fmt;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The operation on a file or folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IoOp {
    /// Opening an existing file.
    Open,
    /// Creating a file or folder.
    Create,
    /// Removing a file.
    Remove,
    /// Renaming a file.
    Rename,
    /// Listing a folder, or asking whether a name exists.
    List,
    /// Making a folder's names durable.
    SyncDir,
    /// Locking a file against other processes.
    Lock,
    /// Reading.
    Read,
    /// Writing.
    Write,
    /// Making data durable.
    Sync,
    /// Changing the length, allocating or freeing space.
    Resize,
    /// Mapping memory.
    Map,
    /// Starting a thread.
    Spawn,
    /// Reading random bytes.
    Random,
}

impl IoOp {
    fn verb(self) -> &'static str {
        match self {
            IoOp::Open => "open",
            IoOp::Create => "create",
            IoOp::Remove => "remove",
            IoOp::Rename => "rename",
            IoOp::List => "look up",
            IoOp::SyncDir => "sync folder",
            IoOp::Lock => "lock",
            IoOp::Read => "read",
            IoOp::Write => "write",
            IoOp::Sync => "sync",
            IoOp::Resize => "resize",
            IoOp::Map => "map memory for",
            IoOp::Spawn => "start thread",
            IoOp::Random => "read random bytes for",
        }
    }
}

/// A failed operation of this crate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IoError {
    /// The operation attempted.
    pub op: IoOp,
    /// The file, folder or thread name it was attempted on.
    pub path: PathBuf,
    /// The reason's portable kind.
    pub kind: ErrorKind,
    /// The kernel's error number; 0 if the reason is not the kernel's.
    pub errno: i32,
}

/// Result of this crate's calls.
pub type Result<T> = std::result::Result<T, IoError>;

impl IoError {
    /// An error that is not the kernel's (end of file, an injected fault).
    #[cold]
    pub fn new(op: IoOp, path: &Path, kind: ErrorKind) -> Self {
        IoError { op, path: path.to_path_buf(), kind, errno: 0 }
    }

    /// Whether the disk, a quota or the limit of a file's size left no room: it may work again later. A sync
    /// never may.
    pub fn is_out_of_space(&self) -> bool {
        let is_full =
            matches!(self.kind, ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge);
        is_full && !matches!(self.op, IoOp::Sync | IoOp::SyncDir)
    }

    /// An error the kernel reported.
    #[cold]
    pub(crate) fn from_errno(op: IoOp, path: &Path, errno: rustix::io::Errno) -> Self {
        IoError { op, path: path.to_path_buf(), kind: errno.kind(), errno: errno.raw_os_error() }
    }
}

impl fmt::Display for IoError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot {} {}: ", self.op.verb(), self.path.display())?;
        match self.errno {
            0 => write!(f, "{}", self.kind),
            errno => write!(f, "{}", std::io::Error::from_raw_os_error(errno)),
        }
    }
}

impl std::error::Error for IoError {}
