//! A disk whose syncs take their time, so that how many commits share one does not depend on the machine's
//! disk.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use env::{Disk, DiskLock, File, OpenOptions, RealDisk, Result};

/// The least that a sync takes: about what a fast disk needs.
const SYNC_TIME_MIN: Duration = Duration::from_micros(200);

/// The real disk, with slow syncs.
#[derive(Debug)]
pub(crate) struct SlowSyncDisk;

fn slow(file: Arc<dyn File>) -> Arc<dyn File> {
    Arc::new(SlowSyncFile(file))
}

impl Disk for SlowSyncDisk {
    fn open(&self, path: &Path, options: OpenOptions) -> Result<Arc<dyn File>> {
        RealDisk.open(path, options).map(slow)
    }

    fn create(&self, path: &Path, options: OpenOptions) -> Result<Arc<dyn File>> {
        RealDisk.create(path, options).map(slow)
    }

    fn remove(&self, path: &Path) -> Result<()> {
        RealDisk.remove(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        RealDisk.rename(from, to)
    }

    fn list(&self, dir: &Path) -> Result<Vec<PathBuf>> {
        RealDisk.list(dir)
    }

    fn exists(&self, path: &Path) -> Result<bool> {
        RealDisk.exists(path)
    }

    fn create_dir(&self, path: &Path) -> Result<()> {
        RealDisk.create_dir(path)
    }

    fn sync_dir(&self, dir: &Path) -> Result<()> {
        RealDisk.sync_dir(dir)
    }

    fn lock_exclusive(&self, path: &Path) -> Result<Box<dyn DiskLock>> {
        RealDisk.lock_exclusive(path)
    }
}

#[derive(Debug)]
struct SlowSyncFile(Arc<dyn File>);

impl File for SlowSyncFile {
    fn path(&self) -> &Path {
        self.0.path()
    }

    fn len(&self) -> Result<u64> {
        self.0.len()
    }

    fn read_at(&self, buf: &mut [u8], offset: u64) -> Result<usize> {
        self.0.read_at(buf, offset)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> Result<()> {
        self.0.write_at(bytes, offset)
    }

    fn write_vectored_at(&self, parts: &[&[u8]], offset: u64) -> Result<()> {
        self.0.write_vectored_at(parts, offset)
    }

    fn sync_data(&self) -> Result<()> {
        let begun = Instant::now();
        self.0.sync_data()?;
        thread::sleep(SYNC_TIME_MIN.saturating_sub(begun.elapsed()));
        Ok(())
    }

    fn set_len(&self, len: u64) -> Result<()> {
        self.0.set_len(len)
    }

    fn allocate(&self, offset: u64, len: u64) -> Result<()> {
        self.0.allocate(offset, len)
    }

    fn punch_hole(&self, offset: u64, len: u64) -> Result<()> {
        self.0.punch_hole(offset, len)
    }

    fn prefetch(&self, offset: u64, len: u64) {
        self.0.prefetch(offset, len);
    }
}
