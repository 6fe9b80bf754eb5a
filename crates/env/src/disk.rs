//! The traits that hide which disk is used.

use std::fmt::Debug;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::{IoError, IoOp, Result};

/// How a file is opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpenOptions {
    /// Bypass the kernel's page cache, if the file system can ([`File::is_direct`] tells). Buffers, offsets
    /// and lengths must then be multiples of 4 KiB.
    pub direct: bool,
}

/// A tree of files. Paths are used as given; parents must exist.
pub trait Disk: Send + Sync + Debug {
    /// Opens an existing file for reading and writing.
    fn open(&self, path: &Path, options: OpenOptions) -> Result<Arc<dyn File>>;

    /// Creates a file that must not exist, empty.
    fn create(&self, path: &Path, options: OpenOptions) -> Result<Arc<dyn File>>;

    /// Removes a file. Its space is free when the last handle is gone.
    fn remove(&self, path: &Path) -> Result<()>;

    /// Renames a file, atomically replacing `to` if it exists.
    fn rename(&self, from: &Path, to: &Path) -> Result<()>;

    /// The names in a folder, sorted, without `.` and `..`.
    fn list(&self, dir: &Path) -> Result<Vec<PathBuf>>;

    /// Whether a file or folder of this name exists.
    fn exists(&self, path: &Path) -> Result<bool>;

    /// Creates a folder; one that exists is an error of kind `AlreadyExists`.
    fn create_dir(&self, path: &Path) -> Result<()>;

    /// Makes creations, removals and renames in `dir` durable.
    fn sync_dir(&self, dir: &Path) -> Result<()>;

    /// Takes the lock file `path` (created if missing) against all other takers, in this process too, until
    /// the returned handle is dropped or the process ends. Taken already: an error of kind `WouldBlock`.
    fn lock_exclusive(&self, path: &Path) -> Result<Box<dyn DiskLock>>;
}

/// A taken lock file; dropping it gives the lock back.
pub trait DiskLock: Send + Sync + Debug {}

/// An open file. All calls may be made from many threads at once; concurrent writes to one range are not
/// ordered.
pub trait File: Send + Sync + Debug {
    /// The name it was opened by, for messages.
    fn path(&self) -> &Path;

    /// Length in bytes.
    fn len(&self) -> Result<u64>;

    /// Whether the file has no bytes.
    fn is_empty(&self) -> Result<bool> {
        Ok(self.len()? == 0)
    }

    /// Reads into `buf` from `offset`; returns how many bytes there were. Fewer than `buf.len()` only at the
    /// file's end.
    fn read_at(&self, buf: &mut [u8], offset: u64) -> Result<usize>;

    /// Fills `buf` from `offset`; a file that ends first is an error of kind `UnexpectedEof`.
    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> Result<()> {
        let wanted = buf.len();
        if self.read_at(buf, offset)? < wanted {
            return Err(IoError::new(IoOp::Read, self.path(), ErrorKind::UnexpectedEof));
        }
        Ok(())
    }

    /// Reads into `parts` one after another from `offset`, as one request where the kernel can; returns how
    /// many bytes there were, fewer than asked for only at the file's end.
    fn read_vectored_at(&self, parts: &mut [&mut [u8]], offset: u64) -> Result<usize> {
        let mut done = 0;
        for part in parts {
            let n = self.read_at(part, offset + done as u64)?;
            done += n;
            if n < part.len() {
                break;
            }
        }
        Ok(done)
    }

    /// Writes all of `bytes` at `offset`, extending the file if needed.
    fn write_at(&self, bytes: &[u8], offset: u64) -> Result<()>;

    /// Writes `parts` one after another at `offset`, as one request where the kernel can.
    fn write_vectored_at(&self, parts: &[&[u8]], offset: u64) -> Result<()>;

    /// Whether the kernel's page cache is bypassed.
    fn is_direct(&self) -> bool {
        false
    }

    /// The longest write that [`File::write_atomic_at`] takes; 0 if the device does not promise any.
    fn atomic_write_bytes(&self) -> usize {
        0
    }

    /// Writes all of `bytes`, whose length is a power of two of at most [`File::atomic_write_bytes`], at an
    /// `offset` that is a multiple of it. After a crash either all of it is there or nothing.
    fn write_atomic_at(&self, bytes: &[u8], offset: u64) -> Result<()> {
        self.write_at(bytes, offset)
    }

    /// Makes all finished writes and the length durable. After an error the file must not be trusted or
    /// synced again.
    fn sync_data(&self) -> Result<()>;

    /// Cuts or extends (with zeros) the file.
    fn set_len(&self, len: u64) -> Result<()>;

    /// Reserves space for `offset..offset + len`, extending the file with zeros if it is shorter.
    fn allocate(&self, offset: u64, len: u64) -> Result<()>;

    /// Gives the space of a range back; it reads as zeros afterwards. The length stays.
    fn punch_hole(&self, offset: u64, len: u64) -> Result<()>;

    /// Tells the kernel that a range will be read soon. A hint: it cannot fail.
    fn prefetch(&self, offset: u64, len: u64);
}
