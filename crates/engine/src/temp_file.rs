//! Files of running statements, below `tmp/` in the data directory.
//!
//! A file has no meaning after its statement: it is removed with it, whatever its end, and by the next
//! startup after a crash. Nothing here is ever synced. What is read back is compared with a checksum by its
//! reader.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use env::{Disk, File, IoError, OpenOptions};

/// Ending of the names of all files here.
const ENDING: &str = "sort";

/// Why a temporary file is of no use.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TempFileError {
    /// The disk's reason.
    Io(IoError),
    /// The bytes are not those that were written.
    Damaged {
        /// The file.
        file: PathBuf,
        /// Where they begin.
        offset: u64,
    },
}

impl fmt::Display for TempFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TempFileError::Io(error) => error.fmt(f),
            TempFileError::Damaged { file, offset } => {
                write!(f, "temporary file {}: the bytes at {offset} are not those written", file.display())
            }
        }
    }
}

impl From<IoError> for TempFileError {
    #[cold]
    fn from(error: IoError) -> Self {
        TempFileError::Io(error)
    }
}

type Result<T> = std::result::Result<T, TempFileError>;

/// The folder of temporary files.
#[derive(Clone, Debug)]
pub(crate) struct TempFolder {
    disk: Arc<dyn Disk>,
    path: PathBuf,
}

impl TempFolder {
    pub(crate) fn new(disk: &Arc<dyn Disk>, path: PathBuf) -> Self {
        TempFolder { disk: Arc::clone(disk), path }
    }

    /// Makes an empty file; `name` is in use by no other statement.
    ///
    /// # Errors
    /// Those of the disk.
    pub(crate) fn create(&self, name: &str) -> Result<TempFile> {
        let path = self.path.join(name).with_extension(ENDING);
        let file = self.disk.create(&path, OpenOptions::default())?;
        Ok(TempFile { disk: Arc::clone(&self.disk), file })
    }

    /// Removes what a crash has left. The folder is made where it is missing.
    ///
    /// # Errors
    /// Those of the disk.
    pub(crate) fn clear(&self) -> env::Result<()> {
        if !self.disk.exists(&self.path)? {
            return self.disk.create_dir(&self.path);
        }
        for name in self.disk.list(&self.path)? {
            if name.extension().is_some_and(|ending| ending == ENDING) {
                self.disk.remove(&self.path.join(name))?;
            }
        }
        Ok(())
    }
}

/// A temporary file, removed when this drops.
#[derive(Debug)]
pub(crate) struct TempFile {
    disk: Arc<dyn Disk>,
    file: Arc<dyn File>,
}

impl TempFile {
    pub(crate) fn path(&self) -> &Path {
        self.file.path()
    }

    /// # Errors  Those of the disk.
    pub(crate) fn write(&self, bytes: &[u8], offset: u64) -> Result<()> {
        Ok(self.file.write_at(bytes, offset)?)
    }

    /// Fills `bytes` from `offset`.
    /// # Errors  Those of the disk.
    pub(crate) fn read(&self, bytes: &mut [u8], offset: u64) -> Result<()> {
        Ok(self.file.read_exact_at(bytes, offset)?)
    }

    /// Gives the space of a range back that no thread reads any more, where the file system can do that.
    pub(crate) fn discard(&self, offset: u64, len: u64) {
        // The space is free when the file is removed, at the latest.
        let _ = self.file.punch_hole(offset, len);
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        // A file that cannot be removed is removed by the next startup.
        let _ = self.disk.remove(self.file.path());
    }
}
