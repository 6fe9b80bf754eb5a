//! A disk in memory: the same on every run, with faults on demand.

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::sync::{LatchLevel, Mutex};

use crate::disk::{Disk, DiskLock, File, OpenOptions};
use crate::error::{IoError, IoOp, Result};

/// The `nth` operation of kind `op` from now on (1 = the next one) fails with `kind` and has no effect.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    /// The kind of operation counted.
    pub op: IoOp,
    /// How many of them until one fails.
    pub nth: u64,
    /// The error it fails with.
    pub kind: ErrorKind,
}

/// A disk whose files live as long as it does. Clones share the files. Relative paths are allowed and used as given.
#[derive(Clone, Debug)]
pub struct MemDisk(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    files: BTreeMap<PathBuf, Arc<Contents>>,
    dirs: BTreeSet<PathBuf>,
    locked: BTreeSet<PathBuf>,
    faults: Vec<Fault>,
    counts: BTreeMap<IoOp, u64>,
}

#[derive(Debug)]
struct Contents(Mutex<Vec<u8>>);

#[derive(Debug)]
struct MemFile {
    disk: MemDisk,
    path: PathBuf,
    contents: Arc<Contents>,
}

#[derive(Debug)]
struct MemLock {
    disk: MemDisk,
    path: PathBuf,
}

impl DiskLock for MemLock {}

impl Drop for MemLock {
    fn drop(&mut self) {
        self.disk.0.lock().locked.remove(&self.path);
    }
}

impl Default for MemDisk {
    fn default() -> Self {
        MemDisk(Arc::new(Mutex::new(LatchLevel::Leaf, State::default())))
    }
}

impl MemDisk {
    /// An empty disk.
    pub fn new() -> Self {
        Self::default()
    }

    /// Arms a fault. Several may be armed; each fires once.
    pub fn inject(&self, fault: Fault) {
        self.0.lock().faults.push(fault);
    }

    /// Flips the lowest bit of one stored byte, as bit rot would.
    ///
    /// # Panics
    /// If there is no such file or byte: the test is wrong.
    pub fn flip_bit(&self, path: &Path, offset: u64) {
        let contents = Arc::clone(&self.0.lock().files[path]);
        contents.0.lock()[offset as usize] ^= 1;
    }

    /// How many operations of kind `op` have been asked for so far, failed ones included.
    pub fn count(&self, op: IoOp) -> u64 {
        self.0.lock().counts.get(&op).copied().unwrap_or(0)
    }

    /// Counts one operation and fires a fault that is due.
    fn begin(&self, op: IoOp, path: &Path) -> Result<()> {
        let mut state = self.0.lock();
        *state.counts.entry(op).or_default() += 1;
        let mut due = None;
        for (at, fault) in state.faults.iter_mut().enumerate().filter(|(_, fault)| fault.op == op) {
            fault.nth = fault.nth.saturating_sub(1);
            if fault.nth == 0 {
                due = due.or(Some(at));
            }
        }
        match due {
            Some(at) => Err(IoError::new(op, path, state.faults.remove(at).kind)),
            None => Ok(()),
        }
    }

    fn handle(&self, path: &Path, contents: Arc<Contents>) -> Arc<dyn File> {
        Arc::new(MemFile { disk: self.clone(), path: path.to_path_buf(), contents })
    }
}

impl State {
    fn has(&self, path: &Path) -> bool {
        self.files.contains_key(path) || self.dirs.contains(path)
    }

    /// A name may be created in a folder that was created, or at the top.
    fn has_parent(&self, path: &Path) -> bool {
        match path.parent() {
            None => true,
            Some(dir) => dir.as_os_str().is_empty() || dir.parent().is_none() || self.dirs.contains(dir),
        }
    }

    fn may_create(&self, path: &Path) -> std::result::Result<(), ErrorKind> {
        match (self.has(path), self.has_parent(path)) {
            (true, _) => Err(ErrorKind::AlreadyExists),
            (false, false) => Err(ErrorKind::NotFound),
            (false, true) => Ok(()),
        }
    }
}

impl Disk for MemDisk {
    fn open(&self, path: &Path, _options: OpenOptions) -> Result<Arc<dyn File>> {
        self.begin(IoOp::Open, path)?;
        let contents = self.0.lock().files.get(path).cloned();
        let contents = contents.ok_or_else(|| IoError::new(IoOp::Open, path, ErrorKind::NotFound))?;
        Ok(self.handle(path, contents))
    }

    fn create(&self, path: &Path, _options: OpenOptions) -> Result<Arc<dyn File>> {
        self.begin(IoOp::Create, path)?;
        let mut state = self.0.lock();
        state.may_create(path).map_err(|kind| IoError::new(IoOp::Create, path, kind))?;
        let contents = Arc::new(Contents(Mutex::new(LatchLevel::Leaf, Vec::new())));
        state.files.insert(path.to_path_buf(), Arc::clone(&contents));
        drop(state);
        Ok(self.handle(path, contents))
    }

    fn remove(&self, path: &Path) -> Result<()> {
        self.begin(IoOp::Remove, path)?;
        let removed = self.0.lock().files.remove(path);
        removed.map(drop).ok_or_else(|| IoError::new(IoOp::Remove, path, ErrorKind::NotFound))
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        self.begin(IoOp::Rename, from)?;
        let mut state = self.0.lock();
        let Some(contents) = state.files.remove(from) else {
            return Err(IoError::new(IoOp::Rename, from, ErrorKind::NotFound));
        };
        state.files.insert(to.to_path_buf(), contents);
        Ok(())
    }

    fn list(&self, dir: &Path) -> Result<Vec<PathBuf>> {
        self.begin(IoOp::List, dir)?;
        let state = self.0.lock();
        let inside = |path: &&PathBuf| path.parent() == Some(dir) && path.file_name().is_some();
        let mut names: Vec<PathBuf> = state
            .files
            .keys()
            .chain(&state.dirs)
            .filter(inside)
            .filter_map(|path| path.file_name().map(PathBuf::from))
            .collect();
        names.sort();
        Ok(names)
    }

    fn exists(&self, path: &Path) -> Result<bool> {
        self.begin(IoOp::List, path)?;
        Ok(self.0.lock().has(path))
    }

    fn create_dir(&self, path: &Path) -> Result<()> {
        self.begin(IoOp::Create, path)?;
        let mut state = self.0.lock();
        state.may_create(path).map_err(|kind| IoError::new(IoOp::Create, path, kind))?;
        state.dirs.insert(path.to_path_buf());
        Ok(())
    }

    fn sync_dir(&self, dir: &Path) -> Result<()> {
        self.begin(IoOp::SyncDir, dir)
    }

    fn lock_exclusive(&self, path: &Path) -> Result<Box<dyn DiskLock>> {
        self.begin(IoOp::Lock, path)?;
        if !self.0.lock().locked.insert(path.to_path_buf()) {
            return Err(IoError::new(IoOp::Lock, path, ErrorKind::WouldBlock));
        }
        Ok(Box::new(MemLock { disk: self.clone(), path: path.to_path_buf() }))
    }
}

impl File for MemFile {
    fn path(&self) -> &Path {
        &self.path
    }

    fn len(&self) -> Result<u64> {
        Ok(self.contents.0.lock().len() as u64)
    }

    fn read_at(&self, buf: &mut [u8], offset: u64) -> Result<usize> {
        self.disk.begin(IoOp::Read, &self.path)?;
        let bytes = self.contents.0.lock();
        let from = bytes.len().min(offset as usize);
        let n = buf.len().min(bytes.len() - from);
        buf[..n].copy_from_slice(&bytes[from..from + n]);
        Ok(n)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> Result<()> {
        self.write_vectored_at(&[bytes], offset)
    }

    fn write_vectored_at(&self, parts: &[&[u8]], offset: u64) -> Result<()> {
        self.disk.begin(IoOp::Write, &self.path)?;
        let mut stored = self.contents.0.lock();
        let mut at = offset as usize;
        for part in parts {
            let end = at + part.len();
            if stored.len() < end {
                stored.resize(end, 0);
            }
            stored[at..end].copy_from_slice(part);
            at = end;
        }
        Ok(())
    }

    fn sync_data(&self) -> Result<()> {
        self.disk.begin(IoOp::Sync, &self.path)
    }

    fn set_len(&self, len: u64) -> Result<()> {
        self.disk.begin(IoOp::Resize, &self.path)?;
        self.contents.0.lock().resize(len as usize, 0);
        Ok(())
    }

    fn allocate(&self, offset: u64, len: u64) -> Result<()> {
        self.disk.begin(IoOp::Resize, &self.path)?;
        let mut bytes = self.contents.0.lock();
        let end = (offset + len) as usize;
        if bytes.len() < end {
            bytes.resize(end, 0);
        }
        Ok(())
    }

    fn punch_hole(&self, offset: u64, len: u64) -> Result<()> {
        self.disk.begin(IoOp::Resize, &self.path)?;
        let mut bytes = self.contents.0.lock();
        let from = bytes.len().min(offset as usize);
        let to = bytes.len().min((offset + len) as usize);
        bytes[from..to].fill(0);
        Ok(())
    }

    fn prefetch(&self, _offset: u64, _len: u64) {}
}

#[cfg(test)]
mod tests;
