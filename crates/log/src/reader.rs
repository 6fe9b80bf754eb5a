//! Reading the log: which files there are, the newest checkpoint, the frames from its redo LSN, where they
//! end.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::Lsn;
use env::{Disk, OpenOptions};

use crate::error::{Damage, Error, Result};
use crate::files::{Files, Folder, LogFile};
use crate::frame::{FRAME_HEADER_BYTES, is_whole};
use crate::header::{Checkpoint, FileHead, HEADER_BYTES, HeaderError, Identity};
use crate::log::{Log, LogConfig};
use crate::part::{Part, SYNCED_UP_TO_BYTES, TrxState, as_synced_up_to};
use crate::stretch::{Frame, FramePrefix, Stretch};

/// Bytes of a stretch, except for one that a longer frame needs all of.
const STRETCH_BYTES: usize = 4 << 20;

/// Bytes looked at at a time after the end.
const LOOK_BYTES: usize = 1 << 20;

/// The frames of a log from its newest checkpoint's redo LSN to its end. Changes nothing on disk.
#[derive(Debug)]
pub struct LogReader {
    folder: Folder,
    /// All files with a header, by number.
    files: Vec<LogFile>,
    /// Files of ours by name that have no place: made ahead, or on their way from one place to the next.
    spares: Vec<PathBuf>,
    /// Files that hold the log: from the one with the redo LSN on, without a gap.
    chain: std::ops::Range<usize>,
    checkpoint: Checkpoint,
    /// Bytes read after the last stretch: a frame's beginning, most often.
    ahead: Vec<u8>,
    /// What [`LogReader::next_frame`] goes through, from byte `within` on.
    current: Stretch,
    within: usize,
    at: Lsn,
    /// Everything below was durable, as far as is known.
    durable: Lsn,
    /// Where the log ends, once that was found.
    end: Option<Lsn>,
    at_end: bool,
}

impl LogReader {
    /// Opens the log of the data directory `identity` in the folder `path`.
    ///
    /// # Errors
    /// [`Error::NoLog`], [`Error::UnknownVersion`], [`Error::Damaged`] if the file with the redo LSN is
    /// missing.
    pub fn open(disk: &Arc<dyn Disk>, path: &Path, identity: Identity) -> Result<LogReader> {
        let folder = Folder { disk: Arc::clone(disk), path: path.to_path_buf(), identity };
        let (numbers, others) = folder.list()?;
        let mut found = Found { spares: others, ..Found::default() };
        for number in numbers {
            found.add(&folder, number)?;
        }
        let checkpoint = found.checkpoint.ok_or_else(|| Error::NoLog(path.to_path_buf()))?;
        let redo_lsn = checkpoint.redo_lsn;
        let first = found.files.iter().position(|file| file.holds(redo_lsn));
        let first = first.ok_or_else(|| missing(&folder, &found.files, &checkpoint))?;
        let follows = |pair: &[LogFile]| {
            pair[1].head.number == pair[0].head.number + 1 && pair[1].head.first_lsn == pair[0].end()
        };
        let linked = found.files[first..].windows(2).take_while(|pair| follows(pair)).count();
        Ok(LogReader {
            folder,
            files: found.files,
            spares: found.spares,
            chain: first..first + linked + 1,
            checkpoint,
            ahead: Vec::new(),
            current: Stretch::default(),
            within: 0,
            at: redo_lsn,
            // The checkpoint's frame was synced before its block was written.
            durable: Lsn(checkpoint.clean.0.max(checkpoint.frame.0 + 1)),
            end: None,
            at_end: false,
        })
    }

    /// A reader of what lies from `from` to `to`, where frames begin, in `files`, which follow each other.
    pub(crate) fn between(folder: Folder, files: Vec<LogFile>, from: Lsn, to: Lsn) -> LogReader {
        LogReader {
            folder,
            chain: 0..files.len(),
            files,
            spares: Vec::new(),
            checkpoint: Checkpoint { redo_lsn: from, ..Checkpoint::default() },
            ahead: Vec::new(),
            current: Stretch::default(),
            within: 0,
            at: from,
            durable: to,
            end: Some(to),
            at_end: false,
        }
    }

    /// The newest checkpoint.
    pub fn checkpoint(&self) -> Checkpoint {
        self.checkpoint
    }

    /// The transactions that the newest checkpoint lists. None if its frame cannot be read: the reader that
    /// reaches it reports the damage.
    pub fn listed(&self) -> Result<Vec<TrxState>> {
        let Checkpoint { redo_lsn, frame, .. } = self.checkpoint;
        if frame < redo_lsn {
            return Ok(Vec::new());
        }
        let files = self.files[self.chain.clone()].to_vec();
        let last = files.last().map_or(frame, LogFile::end);
        let mut reader =
            LogReader { end: None, ..LogReader::between(self.folder.clone(), files, frame, last) };
        let (bytes, len, _) = reader.whole_frames(Vec::new())?;
        let stretch = Stretch::new(frame, bytes, len);
        let Some(frame) = stretch.frame_at(0) else { return Ok(Vec::new()) };
        for part in frame.parts() {
            if let Part::Checkpoint { transactions, .. } = part? {
                return Ok(transactions);
            }
        }
        Ok(Vec::new())
    }

    /// The position of the next frame; at the end, the end of the log.
    pub fn position(&self) -> Lsn {
        self.at
    }

    /// Whether the end was reached and the log was closed there: nothing is to be recovered.
    pub fn is_clean(&self) -> bool {
        self.at_end && self.checkpoint.clean == self.at
    }

    /// The next frame; `None` at the end of the log.
    ///
    /// # Errors
    /// [`Error::Damaged`] if the log ends below what was durable.
    pub fn next_frame(&mut self) -> Result<Option<Frame<'_>>> {
        if self.current.frame_at(self.within).is_none() {
            let spare = std::mem::take(&mut self.current).into_bytes();
            self.within = 0;
            let Some(stretch) = self.next_stretch(spare)? else { return Ok(None) };
            self.current = stretch;
        }
        let frame = self.current.frame_at(self.within);
        if let Some(Frame { range, .. }) = frame {
            self.within += (range.end.0 - range.start.0) as usize;
            self.at = range.end;
        }
        Ok(frame)
    }

    /// The next frames, in the memory of `spare` if it suits; `None` at the end of the log. To be called when
    /// [`LogReader::next_frame`] has not been, or up to a stretch's end.
    ///
    /// # Errors
    /// As [`LogReader::next_frame`]; and the log must be as long as it was found to be before
    /// [`LogReader::rewind`].
    pub fn next_stretch(&mut self, spare: Vec<u8>) -> Result<Option<Stretch>> {
        if self.at_end {
            return Ok(None);
        }
        let start = self.at;
        let (bytes, len, filled) = self.whole_frames(spare)?;
        if len == 0 {
            self.ensure_not_cut()?;
            (self.at_end, self.end) = (true, Some(self.at));
            return Ok(None);
        }
        self.ahead.extend_from_slice(&bytes[len..filled]);
        self.at.0 += len as u64;
        Ok(Some(Stretch::new(start, bytes, len)))
    }

    /// Reads on to the end of the log and returns it.
    pub fn skip_to_end(&mut self) -> Result<Lsn> {
        let mut spare = Vec::new();
        while let Some(stretch) = self.next_stretch(spare)? {
            spare = stretch.into_bytes();
        }
        Ok(self.at)
    }

    /// Goes back to the redo LSN, to read everything again.
    pub fn rewind(&mut self) {
        (self.at, self.at_end) = (self.checkpoint.redo_lsn, false);
        (self.current, self.within) = (Stretch::default(), 0);
        self.ahead.clear();
    }

    /// Makes the files durable: pages may be written then that were changed by what was read.
    pub fn sync(&self) -> Result<()> {
        for file in &self.files[self.chain.clone()] {
            file.file.sync_data()?;
        }
        Ok(())
    }

    /// The file that holds a position that was read, and the byte in it: for messages.
    pub fn place_of(&self, lsn: Lsn) -> Option<(&Path, u64)> {
        let file = self.files[self.chain.clone()].iter().find(|file| file.holds(lsn))?;
        Some((&file.name, file.offset(lsn)))
    }

    /// Bytes that begin with whole frames, those that lie at the position: the bytes, and how many are of
    /// whole frames and how many were read. None are whole at the end.
    fn whole_frames(&mut self, mut bytes: Vec<u8>) -> Result<(Vec<u8>, usize, usize)> {
        let left = (self.limit().0 - self.at.0) as usize;
        if bytes.capacity() > 2 * STRETCH_BYTES {
            bytes = Vec::new();
        }
        let mut wanted = STRETCH_BYTES.min(left);
        let (mut whole, mut filled) = (0, 0);
        loop {
            // Memory that was used for a stretch is as long as it should be, so that nothing is filled with
            // zeros.
            bytes.resize(wanted, 0);
            filled += self.read_more(&mut bytes[filled..], filled)?;
            loop {
                let at = Lsn(self.at.0 + whole as u64);
                match FramePrefix::of(&bytes[whole..filled], at, &mut self.durable) {
                    FramePrefix::Whole(frame) => whole += frame,
                    FramePrefix::Cut(frame) if whole == 0 && filled == wanted && frame <= left => {
                        wanted = frame;
                        break;
                    }
                    FramePrefix::Cut(_) | FramePrefix::Nothing => return Ok((bytes, whole, filled)),
                }
            }
        }
    }

    /// Where the log ends at the latest.
    fn limit(&self) -> Lsn {
        let chain_end = self.files.get(self.chain.end - 1).map_or(self.at, LogFile::end);
        self.end.unwrap_or(chain_end).max(self.at)
    }

    /// Fills `bytes`, which lie `behind` bytes behind the position; returns how many there were. A file that
    /// is shorter than its header says ends the bytes.
    fn read_more(&mut self, bytes: &mut [u8], behind: usize) -> Result<usize> {
        let mut done = self.ahead.len().min(bytes.len());
        bytes[..done].copy_from_slice(&self.ahead[..done]);
        self.ahead.drain(..done);
        for file in &self.files[self.chain.clone()] {
            let from = Lsn(self.at.0 + (behind + done) as u64);
            if done == bytes.len() || !file.holds(from) {
                continue;
            }
            let n = (bytes.len() - done).min((file.end().0 - from.0) as usize);
            let there = file.file.read_at(&mut bytes[done..done + n], file.offset(from))?;
            done += there;
            if there < n {
                break;
            }
        }
        Ok(done)
    }

    /// The tail rule: no frame checks at the position. If log that was durable lies beyond, this is damage.
    fn ensure_not_cut(&mut self) -> Result<()> {
        if let Some(end) = self.end {
            // Looked for when it was found.
            return if self.at == end { Ok(()) } else { Err(self.damaged(end)) };
        }
        for at in self.chain.start..self.files.len() {
            let from = self.files[at].head.first_lsn.max(self.at);
            if self.files[at].end() > from {
                self.durable = self.durable.max(proven_beyond(&self.files[at], from)?);
            }
        }
        if self.durable <= self.at {
            return Ok(());
        }
        Err(self.damaged(self.durable))
    }

    /// No frame checks at the position, although the log was durable up to `durable`.
    #[cold]
    fn damaged(&self, durable: Lsn) -> Error {
        let last = &self.files[self.chain.end - 1];
        let (file, offset) = match self.files[self.chain.clone()].iter().find(|file| file.holds(self.at)) {
            Some(file) if durable <= last.end() => (file.name.clone(), file.offset(self.at)),
            // The chain breaks off: the next file is not there, or not what it should be.
            _ => (self.folder.name(last.head.number + 1), 0),
        };
        Error::Damaged(Box::new(Damage { file, offset, lsn: self.at, durable }))
    }

    /// The log, to continue at the end that the reader has reached. What was read is made durable, what lies
    /// after the end is made zeros, and the log is no longer marked as closed. Files that have no place in
    /// it are removed; those made ahead stay, because a full disk may have no room for others. The log does
    /// not wait for space until [`Log::set_waits_for_space`].
    ///
    /// # Panics
    /// If the end was not reached.
    pub fn into_log(self, config: LogConfig) -> Result<Log> {
        base::invariant!(self.at_end, "the log is read to its end before it is written");
        let clean = self.is_clean();
        let LogReader { folder, mut files, mut spares, chain, checkpoint, at, .. } = self;
        let behind = files.split_off(chain.end);
        let mut chain: VecDeque<LogFile> = files.split_off(chain.start).into();
        spares.extend(files.into_iter().chain(behind).map(|file| file.name));
        if !clean {
            for file in &chain {
                file.file.sync_data()?;
            }
            // Frames after the end may check: they must not come back.
            if let Some(whole) = erase_after(&chain, at)? {
                spares.extend(chain.split_off(whole).into_iter().map(|file| file.name));
            }
        }
        for name in &spares {
            folder.disk.remove(name)?;
        }
        folder.disk.sync_dir(&folder.path)?;
        let mut files = Files::of_chain(folder, chain, at, checkpoint);
        files.set_waits_for_space(false);
        files.write_checkpoint(Checkpoint { clean: Lsn(0), ..checkpoint })?;
        Ok(Log::with_files(files, at, config))
    }
}

/// Makes everything from `end` on zeros, up to the first file ahead of it that is not whole: its number is
/// returned.
fn erase_after(chain: &VecDeque<LogFile>, end: Lsn) -> Result<Option<usize>> {
    for (number, file) in chain.iter().enumerate().filter(|(_, file)| file.end() > end) {
        if file.head.first_lsn >= end && number > 0 && file.file.len()? < file.head.size_bytes {
            return Ok(Some(number));
        }
        file.erase_from(file.head.first_lsn.max(end))?;
    }
    Ok(None)
}

/// What the folder holds.
#[derive(Debug, Default)]
struct Found {
    files: Vec<LogFile>,
    spares: Vec<PathBuf>,
    checkpoint: Option<Checkpoint>,
}

impl Found {
    /// Looks at file `number`. One whose header was never finished, or is another file's, is a spare.
    fn add(&mut self, folder: &Folder, number: u64) -> Result<()> {
        let name = folder.name(number);
        let file = folder.disk.open(&name, OpenOptions::default())?;
        let mut header = [0; HEADER_BYTES as usize];
        file.read_at(&mut header, 0)?;
        match FileHead::decode(&header) {
            Ok(head) if head.identity != folder.identity => return Err(Error::NoLog(folder.path.clone())),
            Ok(head) if head.number == number && head.size_bytes > HEADER_BYTES => {
                let newest = Checkpoint::newest_in(&header);
                self.checkpoint = newest.into_iter().chain(self.checkpoint).max_by_key(|block| block.number);
                self.files.push(LogFile { head, name, file });
            }
            Ok(_) | Err(HeaderError::Damaged) => self.spares.push(name),
            Err(HeaderError::Version(version)) => return Err(Error::UnknownVersion(name, version)),
        }
        Ok(())
    }
}

/// The error for a log whose file with the redo LSN is gone.
fn missing(folder: &Folder, files: &[LogFile], checkpoint: &Checkpoint) -> Error {
    let lsn = checkpoint.redo_lsn;
    let next = files.iter().find(|file| file.head.first_lsn > lsn).map(|file| file.head.number);
    let file = next.map_or_else(|| folder.path.clone(), |next| folder.name(next - 1));
    Error::Damaged(Box::new(Damage { file, offset: 0, lsn, durable: Lsn(checkpoint.frame.0 + 1) }))
}

/// The highest *synced up to* in whole frames of `file` from the position `from` on.
fn proven_beyond(file: &LogFile, from: Lsn) -> Result<Lsn> {
    const FRAME_BYTES: usize = FRAME_HEADER_BYTES as usize + SYNCED_UP_TO_BYTES;
    let mut proven = Lsn(0);
    let mut bytes = vec![0; LOOK_BYTES];
    let mut at = from;
    loop {
        let read = file.file.read_at(&mut bytes, file.offset(at))?;
        // A frame of that length begins with this byte; most of what is read is zeros.
        for begin in memchr::memchr_iter(SYNCED_UP_TO_BYTES as u8, &bytes[..read]) {
            let frame = bytes[begin..read].get(..FRAME_BYTES);
            let Some((header, payload)) = frame.and_then(<[u8]>::split_first_chunk) else { continue };
            let position = Lsn(at.0 + begin as u64);
            if let Some(synced) = as_synced_up_to(payload)
                && is_whole(header, position, payload)
            {
                proven = proven.max(synced);
            }
        }
        if read < bytes.len() {
            return Ok(proven);
        }
        at.0 += (read - (FRAME_BYTES - 1)) as u64;
    }
}
