//! A disk that refuses changes: for tools that only look.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::disk::{Disk, DiskLock, File, OpenOptions};
use crate::error::{IoError, IoOp, Result};

/// Another disk, of which nothing changes but lock files: every other change is an error of kind
/// `ReadOnlyFilesystem`.
#[derive(Clone, Debug)]
pub struct ReadOnlyDisk(Arc<dyn Disk>);

impl ReadOnlyDisk {
    /// `disk`, to read.
    pub fn new(disk: Arc<dyn Disk>) -> Self {
        ReadOnlyDisk(disk)
    }
}

#[cold]
fn refused<T>(op: IoOp, path: &Path) -> Result<T> {
    Err(IoError::new(op, path, ErrorKind::ReadOnlyFilesystem))
}

impl Disk for ReadOnlyDisk {
    fn open(&self, path: &Path, options: OpenOptions) -> Result<Arc<dyn File>> {
        Ok(Arc::new(ReadOnlyFile(self.0.open(path, options)?)))
    }

    fn create(&self, path: &Path, _options: OpenOptions) -> Result<Arc<dyn File>> {
        refused(IoOp::Create, path)
    }

    fn remove(&self, path: &Path) -> Result<()> {
        refused(IoOp::Remove, path)
    }

    fn rename(&self, from: &Path, _to: &Path) -> Result<()> {
        refused(IoOp::Rename, from)
    }

    fn list(&self, dir: &Path) -> Result<Vec<PathBuf>> {
        self.0.list(dir)
    }

    fn exists(&self, path: &Path) -> Result<bool> {
        self.0.exists(path)
    }

    fn create_dir(&self, path: &Path) -> Result<()> {
        refused(IoOp::Create, path)
    }

    fn sync_dir(&self, dir: &Path) -> Result<()> {
        refused(IoOp::SyncDir, dir)
    }

    fn lock_exclusive(&self, path: &Path) -> Result<Box<dyn DiskLock>> {
        self.0.lock_exclusive(path)
    }
}

#[derive(Debug)]
struct ReadOnlyFile(Arc<dyn File>);

impl File for ReadOnlyFile {
    fn path(&self) -> &Path {
        self.0.path()
    }

    fn len(&self) -> Result<u64> {
        self.0.len()
    }

    fn read_at(&self, buf: &mut [u8], offset: u64) -> Result<usize> {
        self.0.read_at(buf, offset)
    }

    fn write_at(&self, _bytes: &[u8], _offset: u64) -> Result<()> {
        refused(IoOp::Write, self.path())
    }

    fn write_vectored_at(&self, _parts: &[&[u8]], _offset: u64) -> Result<()> {
        refused(IoOp::Write, self.path())
    }

    fn sync_data(&self) -> Result<()> {
        refused(IoOp::Sync, self.path())
    }

    fn set_len(&self, _len: u64) -> Result<()> {
        refused(IoOp::Resize, self.path())
    }

    fn allocate(&self, _offset: u64, _len: u64) -> Result<()> {
        refused(IoOp::Resize, self.path())
    }

    fn punch_hole(&self, _offset: u64, _len: u64) -> Result<()> {
        refused(IoOp::Resize, self.path())
    }

    fn prefetch(&self, offset: u64, len: u64) {
        self.0.prefetch(offset, len);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SimDisk;

    #[test]
    fn what_is_there_is_read_and_never_changed() {
        let disk: Arc<dyn Disk> = Arc::new(SimDisk::new());
        let path = Path::new("file");
        disk.create(path, OpenOptions::default()).unwrap().write_at(b"before", 0).unwrap();
        let looking = ReadOnlyDisk::new(Arc::clone(&disk));
        let file = looking.open(path, OpenOptions::default()).unwrap();
        let mut bytes = [0; 6];
        file.read_exact_at(&mut bytes, 0).unwrap();
        assert_eq!((&bytes, file.len().unwrap()), (b"before", 6));
        let changes = [
            file.write_at(b"after!", 0),
            file.set_len(0),
            file.sync_data(),
            looking.remove(path),
            looking.rename(path, Path::new("other")),
            looking.create_dir(Path::new("folder")),
        ];
        for change in changes {
            assert_eq!(change.unwrap_err().kind, ErrorKind::ReadOnlyFilesystem);
        }
        assert!(looking.lock_exclusive(Path::new("LOCK")).is_ok());
        file.read_exact_at(&mut bytes, 0).unwrap();
        assert_eq!(&bytes, b"before");
    }
}
