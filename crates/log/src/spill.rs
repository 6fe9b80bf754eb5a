//! Spill files: the undo of one long transaction, copied out of the log so that the log need not be kept for
//! it.
//!
//! | OFFSET | SIZE | FIELD |
//! |---|---|---|
//! | 0 | 4 | magic `undo` |
//! | 4 | 4 | format version, 1 |
//! | 8 | 16 | identity of the data directory |
//! | 24 | 8 | transaction id |
//! | 32 | | entries, in the order of the log |
//!
//! An entry is the position of a frame of the log (8 bytes), and a frame as if it lay there: its payload is
//! where the log's frame ends (8 bytes) and the transaction's parts of it. How many bytes of the file count,
//! the checkpoint says.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::codec::{get_u32, get_u64, put_u32, put_u64};
use base::sync::{PlantedBug, planted};
use base::{Lsn, TrxId};
use env::{Disk, File, IoError, OpenOptions};

use crate::error::{Error, Result, SpillDamage};
use crate::frame::{FRAME_HEADER_BYTES, FrameHeader, FrameSum, is_whole, stated_len};
use crate::header::Identity;
use crate::part::{Part, Parts};
use crate::position::FrameRange;

const MAGIC: &[u8; 4] = b"undo";
const VERSION: u32 = 1;
const HEAD_BYTES: usize = 32;

/// Bytes of an entry before its payload: position, frame header.
const ENTRY_HEAD_BYTES: usize = LSN_BYTES + FRAME_HEADER_BYTES as usize;
const LSN_BYTES: usize = 8;

/// Bytes written, and read, at a time.
const PIECE_BYTES: usize = 1 << 20;

fn head(identity: Identity, trx: TrxId) -> [u8; HEAD_BYTES] {
    let mut head = [0; HEAD_BYTES];
    head[..4].copy_from_slice(MAGIC);
    put_u32(&mut head, 4, VERSION);
    head[8..24].copy_from_slice(&identity);
    put_u64(&mut head, 24, trx.0);
    head
}

/// A spill file that is being written: parts are added, written, synced and then kept. Until then they may be
/// taken back.
#[derive(Debug)]
pub struct SpillFile {
    file: Arc<dyn File>,
    head: [u8; HEAD_BYTES],
    /// Bytes that count; 0: not even the head.
    kept_bytes: u64,
    /// Bytes in the file.
    written_bytes: u64,
    /// What goes after them.
    pending: Vec<u8>,
}

impl SpillFile {
    /// Makes the file of `trx`, which must not exist.
    ///
    /// # Errors
    /// Of the disk.
    pub fn create(
        disk: &dyn Disk,
        path: &Path,
        identity: Identity,
        trx: TrxId,
    ) -> std::result::Result<Self, IoError> {
        let file = disk.create(path, OpenOptions::default())?;
        let head = head(identity, trx);
        Ok(SpillFile { file, head, kept_bytes: 0, written_bytes: 0, pending: head.to_vec() })
    }

    /// Opens the file of `trx` of which `len` bytes, at least one part, count, to add to it.
    ///
    /// # Errors
    /// Of the disk.
    pub fn reopen(
        disk: &dyn Disk,
        path: &Path,
        identity: Identity,
        trx: TrxId,
        len: u64,
    ) -> std::result::Result<Self, IoError> {
        let file = disk.open(path, OpenOptions::default())?;
        let head = head(identity, trx);
        Ok(SpillFile { file, head, kept_bytes: len, written_bytes: len, pending: Vec::new() })
    }

    /// Adds parts, encoded, of the frame of the log that lies at `range`.
    ///
    /// # Errors
    /// Of the disk: the caller takes back what it has added.
    pub fn push(&mut self, range: FrameRange, parts: &[u8]) -> std::result::Result<(), IoError> {
        let end = range.end.0.to_le_bytes();
        let sum = FrameSum::of(&end, parts);
        self.pending.extend_from_slice(&range.start.0.to_le_bytes());
        self.pending.extend_from_slice(&sum.header(range.start));
        self.pending.extend_from_slice(&end);
        self.pending.extend_from_slice(parts);
        if self.pending.len() < PIECE_BYTES { Ok(()) } else { self.write() }
    }

    /// Writes what was added. The file's name is the caller's to make durable.
    ///
    /// # Errors
    /// Of the disk.
    pub fn write(&mut self) -> std::result::Result<(), IoError> {
        self.file.write_at(&self.pending, self.written_bytes)?;
        self.written_bytes += self.pending.len() as u64;
        self.pending.clear();
        Ok(())
    }

    /// Makes durable what was written.
    ///
    /// # Errors
    /// Of the disk. The file may not be synced again then.
    pub fn sync(&self) -> std::result::Result<(), IoError> {
        if planted(PlantedBug::UnsyncedSpill) { Ok(()) } else { self.file.sync_data() }
    }

    /// What was made durable counts from now on.
    pub fn keep(&mut self) {
        self.kept_bytes = self.written_bytes;
    }

    /// Forgets what was added since [`SpillFile::keep`].
    pub fn take_back(&mut self) {
        self.written_bytes = self.kept_bytes;
        self.pending.clear();
        if self.kept_bytes == 0 {
            self.pending.extend_from_slice(&self.head);
        }
    }

    /// Bytes that count.
    pub fn kept_bytes(&self) -> u64 {
        self.kept_bytes
    }
}

/// A spill file as a startup reads it.
#[derive(Debug)]
pub struct SpillReader {
    path: PathBuf,
    trx: TrxId,
    file: Arc<dyn File>,
    /// Bytes that count, and how many of them were read into `bytes`.
    len: u64,
    read: u64,
    /// What was read and not used, from `within` on.
    bytes: Vec<u8>,
    within: usize,
}

impl SpillReader {
    /// Opens the file of `trx` of which `len` bytes count.
    ///
    /// # Errors
    /// [`Error::Spill`] if it is not there, or another file; of the disk.
    pub fn open(
        disk: &dyn Disk,
        path: &Path,
        identity: Identity,
        trx: TrxId,
        len: u64,
    ) -> Result<SpillReader> {
        let opened = disk.open(path, OpenOptions::default());
        let file = opened.map_err(|error| match error.kind {
            ErrorKind::NotFound => damaged(path, trx, None),
            _ => error.into(),
        })?;
        let path = path.to_path_buf();
        let mut reader = SpillReader { path, trx, file, len, read: 0, bytes: Vec::new(), within: 0 };
        if reader.take(HEAD_BYTES)? != Some(&head(identity, trx)[..]) {
            return Err(damaged(&reader.path, trx, Some(0)));
        }
        Ok(reader)
    }

    /// Hands the next entry's parts to `take`, with where their frame lies in the log. False: that was all.
    ///
    /// # Errors
    /// [`Error::Spill`] if the bytes that count are not what was written; of the disk; those of `take`.
    pub fn next_entry<E: From<Error>>(
        &mut self,
        mut take: impl FnMut(FrameRange, &Part<'_>) -> std::result::Result<(), E>,
    ) -> std::result::Result<bool, E> {
        let at = self.read - (self.bytes.len() - self.within) as u64;
        if at == self.len {
            return Ok(false);
        }
        let wrong = damaged(&self.path, self.trx, Some(at));
        let Some(head) = self.take(ENTRY_HEAD_BYTES)? else { return Err(wrong.into()) };
        let (start, mut header) = (Lsn(get_u64(head, 0)), FrameHeader::default());
        header.copy_from_slice(&head[LSN_BYTES..]);
        let stated = stated_len(&header).map_or(0, |_| get_u32(&header, 0) as usize);
        let payload = self.take(stated)?.filter(|payload| is_whole(&header, start, payload));
        let Some((end, parts)) = payload.and_then(|payload| payload.split_at_checked(LSN_BYTES)) else {
            return Err(wrong.into());
        };
        let range = FrameRange { start, end: Lsn(get_u64(end, 0)) };
        for part in Parts::of(parts) {
            let part = part.map_err(|unknown| Error::UnknownPart(start, unknown.kind))?;
            take(range, &part)?;
        }
        Ok(true)
    }

    /// The next `n` bytes; `None` if there are fewer.
    fn take(&mut self, n: usize) -> Result<Option<&[u8]>> {
        if self.bytes.len() - self.within < n {
            self.bytes.drain(..self.within);
            self.within = 0;
            let have = self.bytes.len();
            let wanted = n.max(PIECE_BYTES).saturating_sub(have) as u64;
            let wanted = wanted.min(self.len - self.read) as usize;
            if have + wanted < n {
                return Ok(None);
            }
            self.bytes.resize(have + wanted, 0);
            let there = self.file.read_at(&mut self.bytes[have..], self.read)?;
            self.bytes.truncate(have + there);
            self.read += there as u64;
        }
        let from = self.within;
        let taken = self.bytes.get(from..from + n);
        self.within += taken.map_or(0, <[u8]>::len);
        Ok(taken)
    }
}

#[cold]
fn damaged(path: &Path, trx: TrxId, offset: Option<u64>) -> Error {
    Error::Spill(Box::new(SpillDamage { file: path.to_path_buf(), offset, trx }))
}

#[cfg(test)]
mod tests {
    use base::UndoPtr;
    use env::SimDisk;

    use super::*;

    const WHO: Identity = [7; 16];
    const TRX: TrxId = TrxId(300);

    fn parts(n: u64, image: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        Part::Undo { trx: TRX, undo: UndoPtr(n), previous: UndoPtr(n - 1), image }.encode(&mut out);
        Part::Compensation { trx: TRX, undone: UndoPtr(n), next: UndoPtr(n - 1) }.encode(&mut out);
        out
    }

    fn range(n: u64) -> FrameRange {
        FrameRange { start: Lsn(8192 + 100 * n), end: Lsn(8192 + 100 * n + 60) }
    }

    fn keep(file: &mut SpillFile) -> u64 {
        file.write().unwrap();
        file.sync().unwrap();
        file.keep();
        file.kept_bytes()
    }

    fn read(disk: &SimDisk, len: u64) -> Result<Vec<(FrameRange, String)>> {
        let mut found = Vec::new();
        let mut reader = SpillReader::open(disk, Path::new("s"), WHO, TRX, len)?;
        while reader.next_entry(|range, part| {
            found.push((range, format!("{part:?}")));
            Ok::<(), Error>(())
        })? {}
        Ok(found)
    }

    #[test]
    fn what_is_finished_comes_back_and_what_is_taken_back_does_not() {
        let disk = SimDisk::new();
        let mut file = SpillFile::create(&disk, Path::new("s"), WHO, TRX).unwrap();
        file.push(range(9), &parts(9, b"taken back")).unwrap();
        file.take_back();
        let long = vec![1; PIECE_BYTES];
        file.push(range(1), &parts(1, &long)).unwrap();
        file.push(range(2), &parts(2, b"short")).unwrap();
        let first = keep(&mut file);
        file.push(range(3), &parts(3, &long)).unwrap();
        file.take_back();
        file.push(range(4), &parts(4, b"")).unwrap();
        let all = keep(&mut file);
        let lies_at = |found: Vec<(FrameRange, String)>| found.into_iter().map(|(range, _)| range).collect();
        let found: Vec<FrameRange> = lies_at(read(&disk, first).unwrap());
        assert_eq!(found, [range(1), range(1), range(2), range(2)]);
        let found: Vec<FrameRange> = lies_at(read(&disk, all).unwrap());
        assert_eq!(found[4..], [range(4), range(4)]);
    }

    #[test]
    fn a_file_that_is_opened_again_is_added_to_where_it_counts() {
        let disk = SimDisk::new();
        let mut file = SpillFile::create(&disk, Path::new("s"), WHO, TRX).unwrap();
        file.push(range(1), &parts(1, b"kept")).unwrap();
        let len = keep(&mut file);
        file.push(range(2), &parts(2, b"written and not kept")).unwrap();
        file.write().unwrap();
        drop(file);
        let mut file = SpillFile::reopen(&disk, Path::new("s"), WHO, TRX, len).unwrap();
        file.push(range(3), &parts(3, b"taken back")).unwrap();
        file.take_back();
        assert_eq!(file.kept_bytes(), len);
        file.push(range(4), &parts(4, b"kept, too")).unwrap();
        let all = keep(&mut file);
        let found: Vec<FrameRange> = read(&disk, all).unwrap().into_iter().map(|(range, _)| range).collect();
        assert_eq!(found, [range(1), range(1), range(4), range(4)]);
    }

    #[test]
    fn every_byte_that_counts_is_checked() {
        let disk = SimDisk::new();
        assert!(matches!(read(&disk, 40), Err(Error::Spill(damage)) if damage.offset.is_none()));
        let mut file = SpillFile::create(&disk, Path::new("s"), WHO, TRX).unwrap();
        file.push(range(1), &parts(1, b"image")).unwrap();
        file.push(range(2), &parts(2, b"image")).unwrap();
        let len = keep(&mut file);
        let before = read(&disk, len).unwrap();
        for at in 0..len {
            disk.flip_bit(Path::new("s"), at);
            assert!(matches!(read(&disk, len), Err(Error::Spill(_))), "byte {at}");
            disk.flip_bit(Path::new("s"), at);
        }
        for missing in 1..20 {
            assert!(matches!(read(&disk, len - missing), Err(Error::Spill(_))), "{missing} bytes less");
            assert!(matches!(read(&disk, len + missing), Err(Error::Spill(_))), "{missing} bytes more");
        }
        assert_eq!(read(&disk, len).unwrap(), before);
    }
}
