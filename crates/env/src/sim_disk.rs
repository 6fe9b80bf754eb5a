//! A disk in memory: the same on every run, with faults, and with crashes that lose what was not synced.
//!
//! # Fault model
//! A crash leaves of every sector (512 bytes) written since the last successful sync any version since then,
//! each sector decided for itself; so with every file's length. Of the names changed since their folder was
//! synced each change is kept or lost as a whole, and what follows a lost change of the same name is lost. A
//! sync that returned holds. Beyond that, operations fail or lie as scheduled ([`SimDisk::schedule`]).

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use base::prng::Prng;
use base::sync::{Event, LatchLevel, Mutex, sim};

use crate::disk::{Disk, DiskLock, File, OpenOptions};
use crate::error::{IoError, IoOp, Result};

mod contents;
mod faults;
mod names;

use contents::{Contents, SECTOR};
use faults::FaultPlan;
pub use faults::{FaultKind, ScheduledFault};
use names::{Names, Node};

/// What direct I/O has to be aligned to.
const DIRECT_ALIGN: usize = 4096;

/// A disk whose files live as long as it does. Clones share the files. Relative paths are allowed and used as
/// given.
#[derive(Clone, Debug)]
pub struct SimDisk(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    /// Bytes of all files; the disk is full at `capacity`.
    used: AtomicU64,
    capacity: AtomicU64,
    /// Nothing that may need space succeeds.
    is_full: AtomicBool,
    /// Bytes that the device writes whole, a sector at least.
    block_bytes: AtomicU64,
    /// Whether a crash loses what was not synced.
    volatile: bool,
    /// Syncs that come do not end.
    holds_syncs: AtomicBool,
    /// Notified when they end again.
    syncs_end: Event,
}

#[derive(Debug)]
struct State {
    names: Names<FileBytes>,
    locked: BTreeSet<PathBuf>,
    faults: FaultPlan,
    prng: Prng,
    powered_off: bool,
}

type FileBytes = Arc<Mutex<Contents>>;

#[derive(Debug)]
struct SimFile {
    disk: SimDisk,
    path: PathBuf,
    contents: FileBytes,
    direct: bool,
}

#[derive(Debug)]
struct SimLock {
    disk: SimDisk,
    path: PathBuf,
}

impl DiskLock for SimLock {}

impl Drop for SimLock {
    fn drop(&mut self) {
        self.disk.0.state.lock().locked.remove(&self.path);
    }
}

impl Default for SimDisk {
    fn default() -> Self {
        SimDisk::with(Names::new([].into()), Prng::new(0), false)
    }
}

impl SimDisk {
    /// An empty disk that loses nothing in a crash: all is durable at once.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty disk on which a crash loses what was not synced, `seed` deciding what.
    pub fn seeded(seed: u64) -> Self {
        SimDisk::with(Names::new([].into()), Prng::new(seed), true)
    }

    fn with(names: Names<FileBytes>, prng: Prng, volatile: bool) -> Self {
        let used = names.files().map(|(_, file)| file.lock().len() as u64).sum();
        let state =
            State { names, locked: BTreeSet::new(), faults: FaultPlan::default(), prng, powered_off: false };
        SimDisk(Arc::new(Shared {
            state: Mutex::new(LatchLevel::Leaf, state),
            used: AtomicU64::new(used),
            capacity: AtomicU64::new(u64::MAX),
            is_full: AtomicBool::new(false),
            block_bytes: AtomicU64::new(SECTOR as u64),
            volatile,
            holds_syncs: AtomicBool::new(false),
            syncs_end: Event::new(),
        }))
    }

    /// Lets `fault` happen to the `nth` operation of kind `op`, or of any kind, from now on (1 = the next
    /// one), once. One that does not fit the operation it meets, such as a short read of a write, does
    /// nothing.
    pub fn schedule(&self, op: Option<IoOp>, nth: u64, fault: FaultKind) {
        self.schedule_all(&[ScheduledFault { op, file: None, nth, fault }]);
    }

    /// Schedules faults that happen one after another, each counted from when the one before has happened;
    /// see [`SimDisk::schedule`].
    pub fn schedule_all(&self, scheduled: &[ScheduledFault]) {
        self.0.state.lock().faults.schedule(scheduled);
    }

    /// Forgets what was scheduled and has not come.
    pub fn unschedule(&self) {
        self.0.state.lock().faults.unschedule();
    }

    /// What has gone wrong so far, in order; a full disk aside.
    pub fn happened(&self) -> Vec<FaultKind> {
        self.0.state.lock().faults.happened().to_vec()
    }

    /// Bytes of all files.
    pub fn used(&self) -> u64 {
        self.0.used.load(Ordering::Relaxed)
    }

    /// Bounds the bytes of all files together; what would exceed it fails with `StorageFull` and does
    /// nothing. Ends [`FaultKind::Full`].
    pub fn set_capacity(&self, bytes: u64) {
        self.0.is_full.store(false, Ordering::Relaxed);
        self.0.capacity.store(bytes, Ordering::Relaxed);
    }

    /// Makes a device of this that writes aligned blocks of `bytes`, a power of two, whole or not at all.
    pub fn set_atomic_write_bytes(&self, bytes: usize) {
        self.0.block_bytes.store(bytes as u64, Ordering::Relaxed);
    }

    fn block_bytes(&self) -> u64 {
        self.0.block_bytes.load(Ordering::Relaxed)
    }

    /// Lets no sync end from now on, or all of them.
    pub fn hold_syncs(&self, held: bool) {
        self.0.holds_syncs.store(held, Ordering::Release);
        self.0.syncs_end.notify_all();
    }

    fn wait_while_syncs_are_held(&self) {
        loop {
            let ticket = self.0.syncs_end.ticket();
            if !self.0.holds_syncs.load(Ordering::Acquire) {
                return;
            }
            self.0.syncs_end.wait(ticket, None);
        }
    }

    /// Flips the lowest bit of one stored byte, as bit rot would.
    ///
    /// # Panics
    /// If there is no such file or byte: the test is wrong.
    pub fn flip_bit(&self, path: &Path, offset: u64) {
        let file = self.0.state.lock().names.file(path).expect("the file exists");
        file.lock().flip_bit(offset as usize, 0);
    }

    /// How many operations of kind `op` have been asked for so far, failed ones included.
    pub fn count(&self, op: IoOp) -> u64 {
        self.0.state.lock().faults.count(op)
    }

    /// How many operations of any kind have been asked for so far.
    pub fn count_all(&self) -> u64 {
        self.0.state.lock().faults.count_all()
    }

    /// Whether the power is off: after [`FaultKind::PowerOff`] or a crash.
    pub fn is_powered_off(&self) -> bool {
        self.0.state.lock().powered_off
    }

    /// Cuts the power and starts again: every handle of this disk fails from now on, and the disk that is
    /// returned holds what survived, as the seed decides. May be called more than once, with another outcome
    /// each time.
    #[must_use]
    pub fn crash(&self) -> SimDisk {
        let mut prng = Prng::new(self.0.state.lock().prng.next_u64());
        let mut names_prng = Prng::new(prng.next_u64());
        // Few crashes are all or nothing when each sector is decided evenly, so the odds are drawn first.
        let odds = |prng: &mut Prng| [0, 10, 50, 90, 100][prng.below(5) as usize];
        let names_odds = odds(&mut prng);
        let mut file_odds = (PathBuf::new(), 0);
        self.crash_choosing(&mut || names_prng.below(100) < names_odds, &mut |path, _, versions| {
            if file_odds.0 != path {
                file_odds = (path.to_path_buf(), odds(&mut prng));
            }
            let newest = versions - 1;
            if prng.below(100) < file_odds.1 { newest } else { prng.below(newest as u64) as usize }
        })
    }

    /// Like [`SimDisk::crash`], but the caller decides: names and lengths survive, and of each unsynced
    /// sector, given by path and number, the newest version if `keep` says so, else the durable one.
    #[must_use]
    pub fn crash_keeping(&self, mut keep: impl FnMut(&Path, u64) -> bool) -> SimDisk {
        self.crash_choosing(&mut || true, &mut |path, sector, versions| {
            if sector.is_none_or(|sector| keep(path, sector)) { versions - 1 } else { 0 }
        })
    }

    fn crash_choosing(
        &self,
        keep_name: &mut dyn FnMut() -> bool,
        choose: &mut dyn FnMut(&Path, Option<u64>, usize) -> usize,
    ) -> SimDisk {
        let (names, prng) = {
            let mut state = self.0.state.lock();
            state.powered_off = true;
            (state.names.survive(keep_name), Prng::new(state.prng.next_u64()))
        };
        let survived = names.into_iter().map(|(path, node)| match node {
            Node::Dir => (path, Node::Dir),
            Node::File(file) => {
                let mut choose = |sector: Option<u64>, versions: usize| choose(&path, sector, versions);
                let bytes = file.lock().survive(self.block_bytes() / SECTOR as u64, &mut choose);
                let file = new_file(bytes, self.0.volatile);
                (path, Node::File(file))
            }
        });
        let names = Names::new(survived.collect());
        let disk = SimDisk::with(names, prng, self.0.volatile);
        disk.set_capacity(self.0.capacity.load(Ordering::Relaxed));
        disk.0.block_bytes.store(self.block_bytes(), Ordering::Relaxed);
        disk
    }

    /// The files and folders that a crash may take back or change, for tests of what was synced.
    pub fn unsynced(&self) -> Vec<PathBuf> {
        let files: Vec<(PathBuf, FileBytes)> = {
            let state = self.0.state.lock();
            state.names.files().map(|(path, file)| (path.clone(), Arc::clone(file))).collect()
        };
        files.into_iter().filter(|(_, file)| !file.lock().is_durable()).map(|(path, _)| path).collect()
    }

    /// Counts one operation. Returns the error of a scheduled failure, or the fault that the caller carries
    /// out.
    fn begin(&self, op: IoOp, path: &Path) -> Result<Option<FaultKind>> {
        sim::switch();
        let mut state = self.0.state.lock();
        let fault = state.faults.next(op, path);
        state.powered_off |= fault == Some(FaultKind::PowerOff);
        if state.powered_off {
            drop(state);
            sim::halt();
            return Err(IoError::new(op, path, ErrorKind::NotConnected));
        }
        self.0.is_full.fetch_or(fault == Some(FaultKind::Full), Ordering::Relaxed);
        if self.0.is_full.load(Ordering::Relaxed) && may_need_space(op) {
            return Err(IoError::new(op, path, ErrorKind::StorageFull));
        }
        match fault {
            // A failed sync has an effect.
            Some(FaultKind::Error(kind)) if op != IoOp::Sync => Err(IoError::new(op, path, kind)),
            fault => Ok(fault),
        }
    }

    /// A number in `0..bound` (above 0) of this disk's sequence.
    fn draw(&self, bound: usize) -> usize {
        self.0.state.lock().prng.below(bound as u64) as usize
    }

    /// Runs `change` on the names.
    fn on_names<T>(
        &self,
        op: IoOp,
        path: &Path,
        change: impl FnOnce(&mut Names<FileBytes>) -> std::result::Result<T, ErrorKind>,
    ) -> Result<T> {
        self.begin(op, path)?;
        let mut state = self.0.state.lock();
        let result = change(&mut state.names).map_err(|kind| IoError::new(op, path, kind));
        if !self.0.volatile {
            state.names.sync_all();
        }
        result
    }

    fn handle(&self, path: &Path, contents: FileBytes, options: OpenOptions) -> Arc<dyn File> {
        let (disk, path) = (self.clone(), path.to_path_buf());
        Arc::new(SimFile { disk, path, contents, direct: options.direct })
    }

    /// Takes room for a file that grows from `from` to `to` bytes, or gives it back.
    fn account(&self, from: usize, to: usize) -> std::result::Result<(), ErrorKind> {
        let change = |used: u64| {
            let after = (used + to as u64).saturating_sub(from as u64);
            (to <= from || after <= self.0.capacity.load(Ordering::Relaxed)).then_some(after)
        };
        let accounted = self.0.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, change);
        accounted.map(drop).map_err(|_| ErrorKind::StorageFull)
    }
}

/// Whether an operation may find the disk full: a file system that copies on write needs space for every
/// write.
fn may_need_space(op: IoOp) -> bool {
    matches!(op, IoOp::Create | IoOp::Write | IoOp::Resize | IoOp::Rename)
}

fn new_file(bytes: Vec<u8>, volatile: bool) -> FileBytes {
    Arc::new(Mutex::new(LatchLevel::Leaf, Contents::new(bytes, volatile)))
}

impl Disk for SimDisk {
    fn open(&self, path: &Path, options: OpenOptions) -> Result<Arc<dyn File>> {
        let found = self.on_names(IoOp::Open, path, |names| names.file(path).ok_or(ErrorKind::NotFound));
        found.map(|contents| self.handle(path, contents, options))
    }

    fn create(&self, path: &Path, options: OpenOptions) -> Result<Arc<dyn File>> {
        let contents = new_file(Vec::new(), self.0.volatile);
        let node = Node::File(Arc::clone(&contents));
        self.on_names(IoOp::Create, path, |names| names.create(path, node))?;
        Ok(self.handle(path, contents, options))
    }

    fn remove(&self, path: &Path) -> Result<()> {
        let file = self.0.state.lock().names.file(path);
        self.on_names(IoOp::Remove, path, |names| names.remove(path))?;
        // Its space is free at once, even if it is open: the bound is for tests of a full disk.
        let _ = self.account(file.map_or(0, |file| file.lock().len()), 0);
        Ok(())
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        self.on_names(IoOp::Rename, from, |names| names.rename(from, to))
    }

    fn list(&self, dir: &Path) -> Result<Vec<PathBuf>> {
        self.on_names(IoOp::List, dir, |names| Ok(names.list(dir)))
    }

    fn exists(&self, path: &Path) -> Result<bool> {
        self.on_names(IoOp::List, path, |names| Ok(names.has(path)))
    }

    fn create_dir(&self, path: &Path) -> Result<()> {
        self.on_names(IoOp::Create, path, |names| names.create(path, Node::Dir))
    }

    fn sync_dir(&self, dir: &Path) -> Result<()> {
        self.on_names(IoOp::SyncDir, dir, |names| {
            names.sync_dir(dir);
            Ok(())
        })
    }

    fn lock_exclusive(&self, path: &Path) -> Result<Box<dyn DiskLock>> {
        self.begin(IoOp::Lock, path)?;
        if !self.0.state.lock().locked.insert(path.to_path_buf()) {
            return Err(IoError::new(IoOp::Lock, path, ErrorKind::WouldBlock));
        }
        Ok(Box::new(SimLock { disk: self.clone(), path: path.to_path_buf() }))
    }
}

impl SimFile {
    fn error(&self, op: IoOp, kind: ErrorKind) -> IoError {
        IoError::new(op, &self.path, kind)
    }

    /// What direct I/O demands of a buffer and its place.
    fn is_aligned(&self, bytes: &[u8], offset: u64) -> bool {
        let aligned = |n: usize| n.is_multiple_of(DIRECT_ALIGN);
        !self.direct || (aligned(bytes.as_ptr().addr()) && aligned(bytes.len()) && aligned(offset as usize))
    }

    /// Resizes the file to `len(its length)`.
    fn resize(&self, op: IoOp, len: impl FnOnce(usize) -> usize) -> Result<()> {
        let mut contents = self.contents.lock();
        let (before, after) = (contents.len(), len(contents.len()));
        self.disk.account(before, after).map_err(|kind| self.error(op, kind))?;
        contents.resize(after);
        Ok(())
    }

    /// Stores `bytes`, which continue at `offset`.
    fn store(&self, bytes: &[u8], offset: usize) -> Result<()> {
        self.resize(IoOp::Write, |len| len.max(offset + bytes.len()))?;
        self.contents.lock().write(bytes, offset);
        Ok(())
    }

    /// Where a read or write of `len` bytes goes astray to: another place in the file of the same alignment.
    fn astray(&self, len: usize, offset: usize) -> usize {
        let step = len.next_power_of_two().clamp(SECTOR, 16 << 10);
        let places = (self.contents.lock().len() / step).max(2);
        let place = self.disk.draw(places) * step + offset % step;
        if place == offset { offset + step } else { place }
    }
}

impl File for SimFile {
    fn path(&self) -> &Path {
        &self.path
    }

    fn len(&self) -> Result<u64> {
        if self.disk.is_powered_off() {
            return Err(self.error(IoOp::Read, ErrorKind::NotConnected));
        }
        Ok(self.contents.lock().len() as u64)
    }

    fn read_at(&self, buf: &mut [u8], offset: u64) -> Result<usize> {
        let fault = self.disk.begin(IoOp::Read, &self.path)?;
        if !self.is_aligned(buf, offset) {
            return Err(self.error(IoOp::Read, ErrorKind::InvalidInput));
        }
        let offset = offset as usize;
        if fault == Some(FaultKind::BitRot) {
            let (byte, bit) = (offset + self.disk.draw(buf.len().max(1)), self.disk.draw(8) as u32);
            let mut contents = self.contents.lock();
            if byte < contents.len() {
                contents.flip_bit(byte, bit);
            }
        }
        let offset = match fault {
            Some(FaultKind::MisdirectedRead) => self.astray(buf.len(), offset),
            _ => offset,
        };
        let n = self.contents.lock().read(buf, offset);
        Ok(if fault == Some(FaultKind::ShortRead) { self.disk.draw(n.max(1)) } else { n })
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> Result<()> {
        self.write_vectored_at(&[bytes], offset)
    }

    fn write_vectored_at(&self, parts: &[&[u8]], offset: u64) -> Result<()> {
        let fault = self.disk.begin(IoOp::Write, &self.path)?;
        if !parts.iter().all(|part| self.is_aligned(part, offset)) {
            return Err(self.error(IoOp::Write, ErrorKind::InvalidInput));
        }
        // One part, the usual case, is not copied first.
        let joined;
        let bytes = match parts {
            [part] => part,
            parts => {
                joined = parts.concat();
                &joined[..]
            }
        };
        let offset = offset as usize;
        match fault {
            Some(FaultKind::LostWrite) => Ok(()),
            Some(FaultKind::MisdirectedWrite) => self.store(bytes, self.astray(bytes.len(), offset)),
            Some(FaultKind::PartialWrite(kind)) => {
                let sectors = self.disk.draw(bytes.len().div_ceil(SECTOR).max(1));
                self.store(&bytes[..sectors * SECTOR], offset)?;
                Err(self.error(IoOp::Write, kind))
            }
            _ => self.store(bytes, offset),
        }
    }

    fn is_direct(&self) -> bool {
        self.direct
    }

    fn atomic_write_bytes(&self) -> usize {
        let bytes = self.disk.block_bytes() as usize;
        if bytes > SECTOR && self.direct { bytes } else { 0 }
    }

    fn sync_data(&self) -> Result<()> {
        if let Some(FaultKind::Error(kind)) = self.disk.begin(IoOp::Sync, &self.path)? {
            let mut prng = Prng::new(self.disk.draw(usize::MAX) as u64);
            self.contents.lock().sync_in_part(&mut prng);
            return Err(self.error(IoOp::Sync, kind));
        }
        // Some syncs take long, and others come meanwhile.
        sim::linger();
        self.disk.wait_while_syncs_are_held();
        self.contents.lock().sync();
        Ok(())
    }

    fn set_len(&self, len: u64) -> Result<()> {
        self.disk.begin(IoOp::Resize, &self.path)?;
        self.resize(IoOp::Resize, |_| len as usize)
    }

    fn allocate(&self, offset: u64, len: u64) -> Result<()> {
        self.disk.begin(IoOp::Resize, &self.path)?;
        self.resize(IoOp::Resize, |present| present.max((offset + len) as usize))
    }

    fn punch_hole(&self, offset: u64, len: u64) -> Result<()> {
        self.disk.begin(IoOp::Resize, &self.path)?;
        self.contents.lock().zero(offset as usize, (offset + len) as usize);
        Ok(())
    }

    fn prefetch(&self, _offset: u64, _len: u64) {}
}

#[cfg(test)]
mod tests;
