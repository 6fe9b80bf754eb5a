//! Reading the log: which files there are, the newest checkpoint, the frames from its redo LSN, where they end.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::Lsn;
use env::{Disk, OpenOptions};

use crate::error::{Damage, Error, Result};
use crate::files::{Files, Folder, LogFile};
use crate::frame::{FRAME_HEADER_BYTES, FrameHeader, is_whole, stated_len};
use crate::header::{Checkpoint, FileHead, HEADER_BYTES, Identity, NotAHead};
use crate::log::{Log, LogConfig};
use crate::part::{Part, Parts, SYNCED_UP_TO_BYTES, as_synced_up_to};
use crate::position::FrameRange;

/// Bytes read at a time.
const READ_BYTES: usize = 1 << 20;

/// A frame that checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// Where it lies.
    pub range: FrameRange,
    /// Its parts, encoded.
    pub payload: &'a [u8],
}

impl<'a> Frame<'a> {
    /// The parts in order.
    ///
    /// # Errors
    /// [`Error::UnknownPart`], after which nothing follows.
    pub fn parts(&self) -> impl Iterator<Item = Result<Part<'a>>> + use<'a> {
        let start = self.range.start;
        Parts::of(self.payload)
            .map(move |part| part.map_err(|unknown| Error::UnknownPart(start, unknown.kind)))
    }
}

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
    /// Bytes read and not consumed, from position `at` on.
    buffer: Vec<u8>,
    consumed: usize,
    at: Lsn,
    /// Everything below was durable, as far as is known.
    durable: Lsn,
    at_end: bool,
}

impl LogReader {
    /// Opens the log of the data directory `identity` in the folder `path`.
    ///
    /// # Errors
    /// [`Error::NoLog`], [`Error::UnknownVersion`], [`Error::Damaged`] if the file with the redo LSN is missing.
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
            buffer: Vec::new(),
            consumed: 0,
            at: redo_lsn,
            // The checkpoint's frame was synced before its block was written.
            durable: Lsn(checkpoint.clean.0.max(checkpoint.frame.0 + 1)),
            at_end: false,
        })
    }

    /// The newest checkpoint.
    pub fn checkpoint(&self) -> Checkpoint {
        self.checkpoint
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
        let Some(len) = self.whole_frame()? else {
            self.at_end = true;
            self.ensure_not_cut()?;
            return Ok(None);
        };
        let start = self.at;
        let end = Lsn(start.0 + FRAME_HEADER_BYTES + len as u64);
        let payload = self.consumed + FRAME_HEADER_BYTES as usize;
        (self.consumed, self.at) = (payload + len, end);
        let payload = self.buffer.get(payload..payload + len).unwrap_or(&[]);
        if let Some(synced) = as_synced_up_to(payload) {
            self.durable = self.durable.max(synced);
        }
        Ok(Some(Frame { range: FrameRange { start, end }, payload }))
    }

    /// Reads on to the end of the log and returns it.
    pub fn skip_to_end(&mut self) -> Result<Lsn> {
        while self.next_frame()?.is_some() {}
        Ok(self.at)
    }

    /// Goes back to the redo LSN, to read everything again.
    pub fn rewind(&mut self) {
        (self.at, self.at_end) = (self.checkpoint.redo_lsn, false);
        (self.buffer, self.consumed) = (Vec::new(), 0);
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

    /// The payload length of the frame at the position, in the buffer as a whole; `None` if none checks there.
    fn whole_frame(&mut self) -> Result<Option<usize>> {
        if self.at_end || !self.fill(FRAME_HEADER_BYTES as usize)? {
            return Ok(None);
        }
        let Some(header) = self.unread().first_chunk::<{ FRAME_HEADER_BYTES as usize }>().copied() else {
            return Ok(None);
        };
        let Some(len) = stated_len(&header).map(|len| len as usize) else { return Ok(None) };
        if !self.fill(FRAME_HEADER_BYTES as usize + len)? {
            return Ok(None);
        }
        let payload = self.unread().get(FRAME_HEADER_BYTES as usize..).and_then(|rest| rest.get(..len));
        Ok(payload.filter(|payload| is_whole(&header, self.at, payload)).map(<[u8]>::len))
    }

    fn unread(&self) -> &[u8] {
        self.buffer.get(self.consumed..).unwrap_or(&[])
    }

    /// Sees to it that `bytes` are in the buffer; false if the files end first.
    fn fill(&mut self, bytes: usize) -> Result<bool> {
        if self.unread().len() >= bytes {
            return Ok(true);
        }
        let from = Lsn(self.at.0 + self.unread().len() as u64);
        let end = self.files.get(self.chain.end - 1).map_or(from, LogFile::end);
        let missing = (bytes - self.unread().len()) as u64;
        if end.0.saturating_sub(from.0) < missing {
            return Ok(false);
        }
        self.buffer.drain(..self.consumed);
        self.consumed = 0;
        let wanted = missing.max(READ_BYTES as u64).min(end.0 - from.0);
        self.read(from, wanted as usize)?;
        Ok(self.unread().len() >= bytes)
    }

    /// Appends bytes of the chain to the buffer. A file that is shorter than its header says ends the bytes.
    fn read(&mut self, mut from: Lsn, mut bytes: usize) -> Result<()> {
        for file in &self.files[self.chain.clone()] {
            if bytes == 0 || !file.holds(from) {
                continue;
            }
            let n = bytes.min((file.end().0 - from.0) as usize);
            let start = self.buffer.len();
            self.buffer.resize(start + n, 0);
            let there = file.file.read_at(&mut self.buffer[start..], file.offset(from))?;
            self.buffer.truncate(start + there);
            if there < n {
                break;
            }
            from.0 += n as u64;
            bytes -= n;
        }
        Ok(())
    }

    /// The tail rule: no frame checks at the position. If log that was durable lies beyond, this is damage.
    fn ensure_not_cut(&mut self) -> Result<()> {
        for at in self.chain.start..self.files.len() {
            let from = self.files[at].head.first_lsn.max(self.at);
            if self.files[at].end() > from {
                self.durable = self.durable.max(proven_beyond(&self.files[at], from)?);
            }
        }
        if self.durable <= self.at {
            return Ok(());
        }
        let last = &self.files[self.chain.end - 1];
        let (file, offset) = match self.files[self.chain.clone()].iter().find(|file| file.holds(self.at)) {
            Some(file) if self.durable <= last.end() => (file.name.clone(), file.offset(self.at)),
            // The chain breaks off: the next file is not there, or not what it should be.
            _ => (self.folder.name(last.head.number + 1), 0),
        };
        Err(Error::Damaged(Box::new(Damage { file, offset, lsn: self.at, durable: self.durable })))
    }

    /// The log, to go on at the end that the reader has reached. What was read is made durable, what lies behind the end
    /// is made zeros, and the log is no longer marked as closed. Files that hold nothing of it are removed.
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
            // Files wholly behind the end start again as new ones: frames of theirs may check.
            while chain.len() > 1 && chain.back().is_some_and(|last| last.head.first_lsn >= at) {
                spares.extend(chain.pop_back().map(|file| file.name));
            }
            for file in &chain {
                file.file.sync_data()?;
            }
            if let Some(last) = chain.back() {
                last.erase_from(at)?;
            }
        }
        for name in &spares {
            folder.disk.remove(name)?;
        }
        folder.disk.sync_dir(&folder.path)?;
        let mut files = Files::of_chain(folder, chain, at, checkpoint);
        files.write_checkpoint(Checkpoint { clean: Lsn(0), ..checkpoint })?;
        Ok(Log::with_files(files, at, config))
    }
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
            Ok(head) if head.number == number && head.size > HEADER_BYTES => {
                let newest = Checkpoint::newest_in(&header);
                self.checkpoint = newest.into_iter().chain(self.checkpoint).max_by_key(|block| block.number);
                self.files.push(LogFile { head, name, file });
            }
            Ok(_) | Err(NotAHead::Damaged) => self.spares.push(name),
            Err(NotAHead::Version(version)) => return Err(Error::UnknownVersion(name, version)),
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
    let mut bytes = vec![0; READ_BYTES];
    let mut at = from;
    loop {
        let read = file.file.read_at(&mut bytes, file.offset(at))?;
        for (position, frame) in (at.0..).zip(bytes[..read].windows(FRAME_BYTES)) {
            let (Some(header), Some(payload)) =
                (frame.first_chunk(), frame.get(FRAME_HEADER_BYTES as usize..))
            else {
                continue;
            };
            let header: &FrameHeader = header;
            if header[0] == SYNCED_UP_TO_BYTES as u8
                && let Some(synced) = as_synced_up_to(payload)
                && is_whole(header, Lsn(position), payload)
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
