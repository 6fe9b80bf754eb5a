//! The files of the log: which part of the stream lies where, and where the next bytes go.
//!
//! ```text
//!  recyclable | redo LSN ..                current | ahead
//!  [ file 4 ]   [ file 5 ]   [ file 6 ]   [ file 7 ]   [ file 8 ]     spares: files without a place
//! ```
//! A file gets its number and its header when it is linked, that is, given its place at the end of the chain.
//! It is made before that, filled with zeros, or taken over from the front of the chain: writing log never
//! changes a file's size. Changes are admitted only while enough of the chain lies ahead (`reserve.rs`), so
//! that what was admitted has its space.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use base::{Lsn, invariant};
use env::{Disk, File, IoError, OpenOptions, wait_for_space_if};

use crate::error::{Error, Result};
use crate::header::{Checkpoint, FileHead, HEADER_BYTES, Identity};
use crate::reserve::SpaceObserver;

/// Ending of the names of files that have their place.
const LINKED: &str = "redo";

/// Ending of the names of files that were made and have no place yet.
const MADE: &str = "made";

/// Zeros are written in pieces of this many bytes.
const ZEROS_BYTES: u64 = 256 * 1024;

/// Zeros of a new file that are synced at a time.
const FILL_BYTES: u64 = 4 << 20;

/// Least bytes of a file that a thread makes because it needs it at once, if files are not smaller.
const URGENT_BYTES_MIN: u64 = FILL_BYTES;

/// What the kernel keeps and fetches of a file as one piece.
const BLOCK_BYTES: u64 = 4096;

/// The folder of the log, and whose it is.
#[derive(Clone, Debug)]
pub(crate) struct Folder {
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) path: PathBuf,
    pub(crate) identity: Identity,
}

impl Folder {
    /// The name of file `number`.
    pub(crate) fn name(&self, number: u64) -> PathBuf {
        self.path.join(format!("{number:016x}.{LINKED}"))
    }

    /// The numbers of linked files, in order, and the names of files that were made and not linked.
    pub(crate) fn list(&self) -> Result<(Vec<u64>, Vec<PathBuf>)> {
        let (mut numbers, mut made) = (Vec::new(), Vec::new());
        for name in self.disk.list(&self.path)? {
            match number_of(&name) {
                Some(number) => numbers.push(number),
                None if name.extension().is_some_and(|ending| ending == MADE) => {
                    made.push(self.path.join(name));
                }
                None => {}
            }
        }
        numbers.sort_unstable();
        Ok((numbers, made))
    }

    /// Makes a file of `size_bytes` zeros, durable except for its name. It needs no mutex: its name is its
    /// own.
    pub(crate) fn make(&self, size_bytes: u64) -> Result<SpareFile> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let name = loop {
            let unique = NEXT.fetch_add(1, Ordering::Relaxed);
            let name = self.path.join(format!("{unique:016x}.{MADE}"));
            if !self.disk.exists(&name)? {
                break name;
            }
        };
        let file = self.disk.create(&name, OpenOptions::default())?;
        match fill(&*file, size_bytes) {
            Ok(()) => Ok(SpareFile { name, size_bytes, file }),
            Err(error) => {
                drop(file);
                // A file that cannot be removed is removed by the next startup.
                let _ = self.disk.remove(&name);
                Err(error)
            }
        }
    }
}

/// Makes `size` bytes of zeros of an empty file, durable. Its space is reserved first, so that a disk that is
/// nearly full is not filled for nothing. It is synced part by part: the commits of that time wait behind few
/// zeros, where those of a whole file take half a second.
fn fill(file: &dyn File, size: u64) -> Result<()> {
    file.allocate(0, size)?;
    for from in (0..size).step_by(FILL_BYTES as usize) {
        write_zeros(file, from, size.min(from + FILL_BYTES))?;
        file.sync_data()?;
    }
    Ok(())
}

/// The number in the name of a linked file.
fn number_of(name: &Path) -> Option<u64> {
    let stem = name.file_stem()?.to_str()?;
    let well_formed = name.extension()? == LINKED && stem.len() == 16;
    well_formed.then(|| u64::from_str_radix(stem, 16).ok())?
}

/// Overwrites a range with zeros.
fn write_zeros(file: &dyn File, from: u64, to: u64) -> Result<()> {
    let zeros = vec![0; ZEROS_BYTES.min(to.saturating_sub(from)) as usize];
    let mut at = from;
    while at < to {
        let n = (to - at).min(ZEROS_BYTES);
        file.write_at(&zeros[..n as usize], at)?;
        at += n;
    }
    Ok(())
}

/// A file without a place.
#[derive(Debug)]
pub(crate) struct SpareFile {
    pub(crate) name: PathBuf,
    pub(crate) size_bytes: u64,
    pub(crate) file: Arc<dyn File>,
}

/// A file that has its place in the stream.
#[derive(Clone, Debug)]
pub(crate) struct LogFile {
    pub(crate) head: FileHead,
    pub(crate) name: PathBuf,
    pub(crate) file: Arc<dyn File>,
}

impl LogFile {
    /// The position after its last byte.
    pub(crate) fn end(&self) -> Lsn {
        Lsn(self.head.first_lsn.0 + self.head.size_bytes - HEADER_BYTES)
    }

    /// Whether the byte at `lsn` lies in it.
    pub(crate) fn holds(&self, lsn: Lsn) -> bool {
        self.head.first_lsn <= lsn && lsn < self.end()
    }

    /// Where the byte at `lsn` lies in it.
    pub(crate) fn offset(&self, lsn: Lsn) -> u64 {
        HEADER_BYTES + lsn.0 - self.head.first_lsn.0
    }

    /// Makes everything from `lsn` to the end zeros that is not, and durable.
    pub(crate) fn erase_from(&self, lsn: Lsn) -> Result<()> {
        let mut piece = vec![0; ZEROS_BYTES as usize];
        let mut at = self.offset(lsn);
        while at < self.head.size_bytes {
            let n = (self.head.size_bytes - at).min(ZEROS_BYTES);
            let piece = &mut piece[..n as usize];
            self.file.read_exact_at(piece, at)?;
            if !is_zero(piece) {
                write_zeros(&*self.file, at, at + n)?;
            }
            at += n;
        }
        Ok(self.file.sync_data()?)
    }
}

/// Whether all bytes are zeros: in blocks long enough for the compiler to use wide registers.
fn is_zero(bytes: &[u8]) -> bool {
    bytes.chunks(256).all(|chunk| chunk.iter().fold(0, |all, byte| all | byte) == 0)
}

/// The chain of files and the spares. Belongs to the holder of the writer.
#[derive(Debug)]
pub(crate) struct Files {
    folder: Folder,
    /// In order, without gaps.
    chain: VecDeque<LogFile>,
    /// The file in `chain` that takes the next byte.
    current: usize,
    /// The first file in `chain` that was written and not synced since; none if there is no such file up to
    /// `current`.
    unsynced: Option<usize>,
    spares: Vec<SpareFile>,
    /// Size of files that are made from now on.
    file_bytes: u64,
    /// Files together are to be no larger than this, as far as the redo LSN allows.
    capacity_bytes: u64,
    checkpoint: Checkpoint,
    /// Whether what must be written waits for space on a full disk. If not, that ends the log.
    waits_for_space: bool,
    /// Gets a note of each such wait.
    observer: Option<Arc<dyn SpaceObserver>>,
}

impl Files {
    /// A new log with one file, in a folder that is emptied for it. Durable on return.
    pub(crate) fn create(folder: Folder, first_lsn: Lsn, first_file_bytes: u64) -> Result<Files> {
        let (numbers, made) = folder.list()?;
        for name in numbers.into_iter().map(|number| folder.name(number)).chain(made) {
            folder.disk.remove(&name)?;
        }
        let checkpoint = Checkpoint { number: 0, redo_lsn: first_lsn, ..Checkpoint::default() };
        let mut files = Files::of_chain(folder, VecDeque::new(), first_lsn, checkpoint);
        let spare = files.folder.make(first_file_bytes)?;
        files.link(spare, 1, first_lsn)?;
        files.write_checkpoint(checkpoint)?;
        Ok(files)
    }

    /// The files of a log that continues at `end`.
    pub(crate) fn of_chain(
        folder: Folder,
        chain: VecDeque<LogFile>,
        end: Lsn,
        checkpoint: Checkpoint,
    ) -> Files {
        let current = chain.iter().rposition(|file| file.head.first_lsn < end).unwrap_or(0);
        Files {
            folder,
            chain,
            current,
            unsynced: None,
            spares: Vec::new(),
            file_bytes: 0,
            capacity_bytes: 0,
            checkpoint,
            waits_for_space: true,
            observer: None,
        }
    }

    /// Sets whether what must be written waits for space.
    pub(crate) fn set_waits_for_space(&mut self, waits: bool) {
        self.waits_for_space = waits;
    }

    /// Sets what gets a note of each wait for space.
    pub(crate) fn set_observer(&mut self, observer: Arc<dyn SpaceObserver>) {
        self.observer = Some(observer);
    }

    /// Sets how large the files are to be, each and together.
    pub(crate) fn set_sizes(&mut self, file_bytes: u64, capacity_bytes: u64) {
        (self.file_bytes, self.capacity_bytes) = (file_bytes, capacity_bytes);
    }

    pub(crate) fn folder(&self) -> &Folder {
        &self.folder
    }

    pub(crate) fn file_bytes(&self) -> u64 {
        self.file_bytes
    }

    pub(crate) fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    /// The newest checkpoint.
    pub(crate) fn checkpoint(&self) -> Checkpoint {
        self.checkpoint
    }

    /// All files that have their place, in order.
    pub(crate) fn linked(&self) -> Vec<LogFile> {
        self.chain.iter().cloned().collect()
    }

    /// Writes the stream's bytes from `lsn` on, the position that the last call ended at.
    pub(crate) fn write(&mut self, mut lsn: Lsn, mut pieces: [&[u8]; 2]) -> Result<()> {
        while !pieces[0].is_empty() || !pieces[1].is_empty() {
            if lsn == self.chain[self.current].end() {
                self.advance()?;
            }
            let file = &self.chain[self.current];
            let room = (file.end().0 - lsn.0) as usize;
            let (now, later) = split_pieces(pieces, room);
            let (offset, len) = (file.offset(lsn), (now[0].len() + now[1].len()) as u64);
            let (file, waits) = (&*file.file, self.waits_for_space);
            if now[1].is_empty() && stays_in_begun_block(offset, offset + len) {
                wait_for_space_if(waits, || file.write_at(now[0], offset))?;
            } else {
                wait_for_space_if(waits, || write_to_end_of_block(file, now, offset, offset + len))?;
            }
            self.unsynced.get_or_insert(self.current);
            lsn.0 += len;
            pieces = later;
        }
        Ok(())
    }

    /// Makes all that was written durable, older files first. Returns how many files it synced.
    pub(crate) fn sync(&mut self) -> Result<u64> {
        let Some(first) = self.unsynced else { return Ok(0) };
        // By index: a range of the chain costs more than the one file that it is as a rule.
        for at in first..=self.current {
            self.chain[at].file.sync_data()?;
        }
        self.unsynced = None;
        Ok((self.current - first + 1) as u64)
    }

    /// Moves on to the next file, creating it if needed: what has been appended must be written.
    fn advance(&mut self) -> Result<()> {
        let mut is_noted = false;
        while self.current + 1 == self.chain.len() {
            let made = match self.spares.pop() {
                Some(spare) => Ok(spare),
                None => self.folder.make(self.awaited_file_bytes()),
            };
            match made.and_then(|spare| self.link_next(spare)) {
                Err(Error::Io(error)) if error.is_out_of_space() && self.waits_for_space => {
                    self.note_wait_once(&error, &mut is_noted);
                    env::pause_for_space();
                }
                linked => linked?,
            }
        }
        self.current += 1;
        Ok(())
    }

    /// Notes that the log waits for space, unless `is_noted`.
    #[cold]
    fn note_wait_once(&self, error: &IoError, is_noted: &mut bool) {
        if !std::mem::replace(is_noted, true)
            && let Some(observer) = &self.observer
        {
            observer.note_wait(error);
        }
    }

    /// Whether the next file should be linked now, so that no append waits for it later: once an eighth of
    /// the last one is written, or half of it where another file is beyond the capacity.
    pub(crate) fn wants_next(&self, written: Lsn) -> bool {
        let file = &self.chain[self.current];
        let bytes = file.end().0 - file.head.first_lsn.0;
        let is_within = !self.spares.is_empty() || self.bytes() + self.file_bytes <= self.capacity_bytes;
        let left = if is_within { bytes - bytes / 8 } else { bytes / 2 };
        self.current + 1 == self.chain.len() && file.end().0 - written.0 < left
    }

    /// Bytes of a file that a thread makes while it waits: few where the log is in its last file, because the
    /// background has not made the next one in time, and twice as many as the last one has where such a file
    /// has not sufficed. Its zeros are written meanwhile.
    #[cold]
    #[inline(never)]
    pub(crate) fn awaited_file_bytes(&self) -> u64 {
        let (last, is_last) = (self.last_file_bytes(), self.current + 1 == self.chain.len());
        let wanted = if last < self.file_bytes {
            2 * last
        } else if is_last {
            URGENT_BYTES_MIN
        } else {
            self.file_bytes
        };
        wanted.max(URGENT_BYTES_MIN).min(self.file_bytes)
    }

    /// The position after the last byte for which there is space.
    pub(crate) fn end(&self) -> Lsn {
        self.chain.back().map_or(Lsn(0), LogFile::end)
    }

    /// Bytes of the file that was linked last.
    pub(crate) fn last_file_bytes(&self) -> u64 {
        self.chain.back().map_or(0, |file| file.head.size_bytes)
    }

    /// Takes a spare out, if there is one.
    pub(crate) fn take_spare(&mut self) -> Option<SpareFile> {
        self.spares.pop()
    }

    /// Gives `spare` the place after the last file.
    pub(crate) fn link_next(&mut self, spare: SpareFile) -> Result<()> {
        let last = self.chain.back().map(|file| (file.head.number + 1, file.end()));
        invariant!(last.is_some(), "a log has at least one file");
        let (number, first_lsn) = last.unwrap_or_default();
        self.link(spare, number, first_lsn)
    }

    fn link(&mut self, spare: SpareFile, number: u64, first_lsn: Lsn) -> Result<()> {
        let head =
            FileHead { identity: self.folder.identity, number, first_lsn, size_bytes: spare.size_bytes };
        let name = self.folder.name(number);
        if let Err(error) = self.folder.disk.rename(&spare.name, &name) {
            self.spares.push(spare);
            return Err(error.into());
        }
        // The space of the header is the file's: what fails here is no lack of it, but where writes need new
        // space.
        wait_for_space_if(self.waits_for_space, || spare.file.write_at(&head.encode(), 0))?;
        spare.file.sync_data()?;
        self.folder.disk.sync_dir(&self.folder.path)?;
        self.chain.push_back(LogFile { head, name, file: spare.file });
        Ok(())
    }

    /// Writes the next checkpoint block, all fields but the number as in `checkpoint`; durable on return.
    pub(crate) fn write_checkpoint(&mut self, checkpoint: Checkpoint) -> Result<()> {
        let checkpoint = Checkpoint { number: self.checkpoint.number + 1, ..checkpoint };
        let file = &self.chain[self.current].file;
        let write = || file.write_at(&checkpoint.encode(), checkpoint.offset());
        wait_for_space_if(self.waits_for_space, write)?;
        file.sync_data()?;
        self.checkpoint = checkpoint;
        Ok(())
    }

    /// Takes the files in front that lie wholly below the redo LSN out of the chain, and keeps as spares
    /// those that fit, or all if the disk has no room for others (`is_short`). Returns how many.
    pub(crate) fn recycle(&mut self, is_short: bool) -> Result<u64> {
        let mut recycled = 0;
        while self.current > 0 && self.chain[0].end() <= self.checkpoint.redo_lsn {
            let Some(LogFile { head, name, file }) = self.chain.pop_front() else { break };
            self.current -= 1;
            recycled += 1;
            self.unsynced = self.unsynced.map(|first| first.saturating_sub(1));
            let total = self.bytes() + head.size_bytes;
            if is_short || (head.size_bytes == self.file_bytes && total <= self.capacity_bytes) {
                self.spares.push(SpareFile { name, size_bytes: head.size_bytes, file });
            } else {
                drop(file);
                self.folder.disk.remove(&name)?;
            }
        }
        Ok(recycled)
    }

    /// Removes spares that are no longer wanted: of another size, or too many.
    pub(crate) fn trim(&mut self) -> Result<()> {
        while let Some(at) = self
            .spares
            .iter()
            .position(|spare| spare.size_bytes != self.file_bytes || self.bytes() > self.capacity_bytes)
        {
            let spare = self.spares.swap_remove(at);
            drop(spare.file);
            self.folder.disk.remove(&spare.name)?;
        }
        Ok(())
    }

    /// Bytes of all files.
    pub(crate) fn bytes(&self) -> u64 {
        let linked = self.chain.iter().map(|file| file.head.size_bytes);
        linked.chain(self.spares.iter().map(|spare| spare.size_bytes)).sum()
    }

    /// Adds a file that was found without a place.
    pub(crate) fn add_spare(&mut self, spare: SpareFile) {
        self.spares.push(spare);
    }
}

/// Whether a write of `start..end` lies in the block of the byte before it. `start` is above 0.
#[inline]
fn stays_in_begun_block(start: u64, end: u64) -> bool {
    (start - 1) ^ (end - 1) < BLOCK_BYTES
}

/// Writes `start..end`, and zeros after it if it begins a block that it does not fill: they keep the kernel
/// from fetching the block first, for what an earlier use of the file left there.
#[inline(never)]
fn write_to_end_of_block(
    file: &dyn File,
    [first, second]: [&[u8]; 2],
    start: u64,
    end: u64,
) -> env::Result<()> {
    static ZEROS: [u8; BLOCK_BYTES as usize] = [0; BLOCK_BYTES as usize];
    let used = end % BLOCK_BYTES;
    let rest: &[u8] = if used == 0 || end - used < start { &[] } else { &ZEROS[used as usize..] };
    file.write_vectored_at(&[first, second, rest], start)
}

/// The first `n` bytes of two pieces, and what follows them.
fn split_pieces(pieces: [&[u8]; 2], n: usize) -> ([&[u8]; 2], [&[u8]; 2]) {
    let [first, second] = pieces;
    if n < first.len() {
        let (now, later) = first.split_at(n);
        return ([now, &[]], [later, second]);
    }
    let (now, later) = second.split_at((n - first.len()).min(second.len()));
    ([first, now], [later, &[]])
}
