//! Files of the operating system.

use std::io::{IoSlice, IoSliceMut};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{self, Advice, AtFlags, FallocateFlags, FlockOperation, Mode, OFlags, StatxFlags};
use rustix::io::{Errno, ReadWriteFlags, pwritev2};
use smallvec::SmallVec;

use crate::disk::{Disk, DiskLock, File, OpenOptions};
use crate::error::{IoError, IoOp, Result};

/// Modes of new files and folders, whatever the umask says.
const FILE_MODE: Mode = Mode::RUSR.union(Mode::WUSR).union(Mode::RGRP);
const DIR_MODE: Mode = Mode::RWXU.union(Mode::RGRP).union(Mode::XGRP);

/// Most parts that one vectored write may carry (`IOV_MAX`).
const PARTS_MAX: usize = 1024;

/// Parts of a write that need no allocation: a write of the log has at most three.
const PARTS_INLINE: usize = 4;

/// The machine's file system.
#[derive(Clone, Copy, Debug, Default)]
pub struct RealDisk;

#[derive(Debug)]
struct RealFile {
    fd: OwnedFd,
    path: PathBuf,
    direct: bool,
    /// 0 where the device makes no promise.
    atomic_write_bytes: usize,
}

/// `STATX_WRITE_ATOMIC` and `RWF_ATOMIC` of the kernel's headers.
const STATX_WRITE_ATOMIC: u32 = 0x1_0000;
const RWF_ATOMIC: u32 = 0x40;

/// Zeros written at a time.
const ZEROS_BYTES: usize = 64 * 1024;

/// Zeros that direct I/O accepts.
#[repr(align(4096))]
struct Zeros([u8; ZEROS_BYTES]);

/// Holds the lock by holding the descriptor open.
#[derive(Debug)]
struct RealLock {
    _fd: OwnedFd,
}

impl DiskLock for RealLock {}

/// Adds operation and path to a kernel error.
fn at<T>(op: IoOp, path: &Path, result: rustix::io::Result<T>) -> Result<T> {
    result.map_err(|errno| IoError::from_errno(op, path, errno))
}

/// Repeats a call that a signal interrupted.
fn retry<T>(mut call: impl FnMut() -> rustix::io::Result<T>) -> rustix::io::Result<T> {
    loop {
        match call() {
            Err(Errno::INTR) => {}
            result => return result,
        }
    }
}

impl RealDisk {
    fn open_with(path: &Path, options: OpenOptions, extra: OFlags, op: IoOp) -> Result<Arc<dyn File>> {
        let flags = OFlags::RDWR | OFlags::CLOEXEC | extra;
        let open = |flags| retry(|| fs::open(path, flags, FILE_MODE));
        let (fd, direct) = match options.direct.then(|| open(flags | OFlags::DIRECT)) {
            Some(Ok(fd)) => (fd, true),
            // The file system cannot bypass the cache. It may have made the file before it found that out.
            Some(Err(Errno::INVAL)) => (at(op, path, open(flags - OFlags::EXCL))?, false),
            Some(Err(errno)) => return Err(IoError::from_errno(op, path, errno)),
            None => (at(op, path, open(flags))?, false),
        };
        if extra.contains(OFlags::CREATE) {
            at(op, path, fs::fchmod(&fd, FILE_MODE))?;
        }
        let atomic_write_bytes = if direct { atomic_write_bytes(&fd) } else { 0 };
        Ok(Arc::new(RealFile { fd, path: path.to_path_buf(), direct, atomic_write_bytes }))
    }
}

/// The longest write that the device promises to do whole or not at all.
fn atomic_write_bytes(fd: &OwnedFd) -> usize {
    let mask = StatxFlags::from_bits_retain(STATX_WRITE_ATOMIC);
    match fs::statx(fd, "", AtFlags::EMPTY_PATH, mask) {
        Ok(stat) if stat.stx_mask & STATX_WRITE_ATOMIC != 0 => stat.stx_atomic_write_unit_max as usize,
        // An older kernel makes no promises.
        _ => 0,
    }
}

impl Disk for RealDisk {
    fn open(&self, path: &Path, options: OpenOptions) -> Result<Arc<dyn File>> {
        RealDisk::open_with(path, options, OFlags::empty(), IoOp::Open)
    }

    fn create(&self, path: &Path, options: OpenOptions) -> Result<Arc<dyn File>> {
        RealDisk::open_with(path, options, OFlags::CREATE | OFlags::EXCL, IoOp::Create)
    }

    fn remove(&self, path: &Path) -> Result<()> {
        at(IoOp::Remove, path, fs::unlink(path))
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        at(IoOp::Rename, from, fs::rename(from, to))
    }

    fn list(&self, dir: &Path) -> Result<Vec<PathBuf>> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd = at(IoOp::List, dir, fs::open(dir, flags, Mode::empty()))?;
        let mut names = Vec::new();
        for entry in at(IoOp::List, dir, fs::Dir::read_from(&fd))? {
            let entry = at(IoOp::List, dir, entry)?;
            let name = entry.file_name().to_bytes();
            if name != b"." && name != b".." {
                names.push(PathBuf::from(std::ffi::OsStr::from_bytes(name)));
            }
        }
        names.sort();
        Ok(names)
    }

    fn exists(&self, path: &Path) -> Result<bool> {
        match fs::stat(path) {
            Ok(_) => Ok(true),
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(false),
            Err(errno) => Err(IoError::from_errno(IoOp::List, path, errno)),
        }
    }

    fn create_dir(&self, path: &Path) -> Result<()> {
        at(IoOp::Create, path, fs::mkdir(path, DIR_MODE))?;
        at(IoOp::Create, path, fs::chmod(path, DIR_MODE))
    }

    fn sync_dir(&self, dir: &Path) -> Result<()> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd = at(IoOp::SyncDir, dir, fs::open(dir, flags, Mode::empty()))?;
        at(IoOp::SyncDir, dir, fs::fsync(&fd))
    }

    fn lock_exclusive(&self, path: &Path) -> Result<Box<dyn DiskLock>> {
        let fd = at(IoOp::Lock, path, open_or_create(path))?;
        at(IoOp::Lock, path, fs::flock(&fd, FlockOperation::NonBlockingLockExclusive))?;
        Ok(Box::new(RealLock { _fd: fd }))
    }
}

/// Opens a file, or makes an empty one of [`FILE_MODE`].
fn open_or_create(path: &Path) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDWR | OFlags::CLOEXEC;
    match fs::open(path, flags, Mode::empty()) {
        Err(Errno::NOENT) => {}
        result => return result,
    }
    match fs::open(path, flags | OFlags::CREATE | OFlags::EXCL, FILE_MODE) {
        Ok(fd) => fs::fchmod(&fd, FILE_MODE).map(|()| fd),
        // Another server was faster.
        Err(Errno::EXIST) => fs::open(path, flags, Mode::empty()),
        Err(errno) => Err(errno),
    }
}

impl RealFile {
    /// Reserves space up to `end` on a file system that cannot do so by itself: bytes that were written have
    /// theirs.
    #[cold]
    fn extend_with_zeros(&self, end: u64) -> Result<()> {
        static ZEROS: Zeros = Zeros([0; ZEROS_BYTES]);
        let mut at = self.len()?;
        while at < end {
            let n = (end - at).min(ZEROS_BYTES as u64);
            self.write_at(&ZEROS.0[..n as usize], at)?;
            at += n;
        }
        Ok(())
    }

    fn at<T>(&self, op: IoOp, result: rustix::io::Result<T>) -> Result<T> {
        at(op, &self.path, result)
    }
}

/// Reads part by part what one request did not read.
fn read_parts(file: &RealFile, parts: &mut [&mut [u8]], offset: u64) -> Result<usize> {
    let mut done = 0;
    for part in parts {
        let n = file.read_at(part, offset + done as u64)?;
        done += n;
        if n < part.len() {
            break;
        }
    }
    Ok(done)
}

impl File for RealFile {
    fn path(&self) -> &Path {
        &self.path
    }

    fn len(&self) -> Result<u64> {
        Ok(self.at(IoOp::Read, fs::fstat(&self.fd))?.st_size as u64)
    }

    fn read_at(&self, buf: &mut [u8], offset: u64) -> Result<usize> {
        let mut done = 0;
        while done < buf.len() {
            let position = offset + done as u64;
            match self.at(IoOp::Read, retry(|| rustix::io::pread(&self.fd, &mut buf[done..], position)))? {
                0 => break,
                n => done += n,
            }
        }
        Ok(done)
    }

    fn read_vectored_at(&self, parts: &mut [&mut [u8]], offset: u64) -> Result<usize> {
        let mut done = 0;
        for some in parts.chunks_mut(PARTS_MAX) {
            let wanted: usize = some.iter().map(|part| part.len()).sum();
            let mut slices: Vec<IoSliceMut<'_>> = some.iter_mut().map(|part| IoSliceMut::new(part)).collect();
            let position = offset + done as u64;
            let n = self.at(IoOp::Read, retry(|| rustix::io::preadv(&self.fd, &mut slices, position)))?;
            if n < wanted {
                // The end of the file, or a request cut short, which is rare: part by part it becomes clear.
                return Ok(done + read_parts(self, some, position)?);
            }
            done += n;
        }
        Ok(done)
    }

    fn write_at(&self, mut bytes: &[u8], mut offset: u64) -> Result<()> {
        while !bytes.is_empty() {
            let n = self.at(IoOp::Write, retry(|| rustix::io::pwrite(&self.fd, bytes, offset)))?;
            if n == 0 {
                return Err(IoError::new(IoOp::Write, &self.path, std::io::ErrorKind::WriteZero));
            }
            bytes = &bytes[n..];
            offset += n as u64;
        }
        Ok(())
    }

    fn write_vectored_at(&self, parts: &[&[u8]], mut offset: u64) -> Result<()> {
        for some in parts.chunks(PARTS_MAX) {
            let slices: SmallVec<[IoSlice<'_>; PARTS_INLINE]> =
                some.iter().map(|part| IoSlice::new(part)).collect();
            let mut n = self.at(IoOp::Write, retry(|| rustix::io::pwritev(&self.fd, &slices, offset)))?;
            // A short vectored write is rare; its rest goes out part by part.
            for part in some {
                let written = n.min(part.len());
                n -= written;
                self.write_at(&part[written..], offset + written as u64)?;
                offset += part.len() as u64;
            }
        }
        Ok(())
    }

    fn is_direct(&self) -> bool {
        self.direct
    }

    fn atomic_write_bytes(&self) -> usize {
        self.atomic_write_bytes
    }

    fn write_atomic_at(&self, bytes: &[u8], offset: u64) -> Result<()> {
        let flags = ReadWriteFlags::from_bits_retain(RWF_ATOMIC);
        let written = retry(|| pwritev2(&self.fd, &[IoSlice::new(bytes)], offset, flags));
        if self.at(IoOp::Write, written)? < bytes.len() {
            return Err(IoError::new(IoOp::Write, &self.path, std::io::ErrorKind::WriteZero));
        }
        Ok(())
    }

    fn sync_data(&self) -> Result<()> {
        self.at(IoOp::Sync, fs::fdatasync(&self.fd))
    }

    fn set_len(&self, len: u64) -> Result<()> {
        self.at(IoOp::Resize, retry(|| fs::ftruncate(&self.fd, len)))
    }

    fn allocate(&self, offset: u64, len: u64) -> Result<()> {
        match retry(|| fs::fallocate(&self.fd, FallocateFlags::empty(), offset, len)) {
            Err(Errno::OPNOTSUPP) => self.extend_with_zeros(offset + len),
            result => self.at(IoOp::Resize, result),
        }
    }

    fn punch_hole(&self, offset: u64, len: u64) -> Result<()> {
        let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        self.at(IoOp::Resize, retry(|| fs::fallocate(&self.fd, flags, offset, len)))
    }

    fn prefetch(&self, offset: u64, len: u64) {
        // A hint: a file system that ignores or refuses it loses nothing.
        let _ = fs::fadvise(&self.fd, offset, std::num::NonZeroU64::new(len), Advice::WillNeed);
    }
}

#[cfg(test)]
pub(crate) mod contract;
#[cfg(test)]
mod tests;
