//! Undo of open transactions as a startup meets it: a stack for each, which is popped from its newest end.
//!
//! ```text
//!  oldest | segments, in a scratch file | records, in memory | newest
//! ```
//! When all stacks together take more memory than they may, the older half of the one that grows goes to the
//! file, and comes back when the newer records have been popped. Nothing of the file outlives the start: a
//! start that is cut short reads the log again. A disk without room for it leaves everything in memory.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::Arc;

use base::checksum::crc32;
use base::sync::{PlantedBug, planted};
use base::{Lsn, TrxId, UndoPtr};
use env::{Disk, File, IoError, IoOp, OpenOptions};
use trx::UndoKind;

/// Stacks of fewer bytes stay in memory: a segment is worth a write.
const MOVED_MIN: usize = 64 << 10;

/// One undo record, without its before image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) undo: UndoPtr,
    pub(super) previous: UndoPtr,
    /// End of the frame it is in.
    pub(super) at: Lsn,
}

/// Bytes of a step and of its image's length in the file.
const STEP_BYTES: usize = 28;

/// Records of one transaction, oldest first.
#[derive(Debug, Default)]
struct Records {
    /// With the place where each image begins.
    steps: Vec<(Step, usize)>,
    /// One after another.
    images: Vec<u8>,
}

impl Records {
    fn push(&mut self, step: Step, image: &[u8]) {
        self.steps.push((step, self.images.len()));
        self.images.extend_from_slice(image);
    }

    fn newest(&self) -> Option<(Step, &[u8])> {
        self.steps.last().map(|&(step, begin)| (step, &self.images[begin..]))
    }

    fn pop(&mut self) {
        if let Some((_, begin)) = self.steps.pop() {
            self.images.truncate(begin);
        }
    }

    fn iter(&self) -> impl Iterator<Item = (Step, &[u8])> {
        let ends = self.steps.iter().skip(1).map(|&(_, begin)| begin).chain([self.images.len()]);
        self.steps.iter().zip(ends).map(|(&(step, begin), end)| (step, &self.images[begin..end]))
    }

    /// Memory, except for what its vectors have in reserve.
    fn bytes(&self) -> usize {
        self.steps.len() * size_of::<(Step, usize)>() + self.images.len()
    }

    /// The older and the newer half.
    fn halves(&self) -> (Records, Records) {
        let (mut older, mut newer) = (Records::default(), Records::default());
        for (at, (step, image)) in self.iter().enumerate() {
            let half = if at < self.steps.len().div_ceil(2) { &mut older } else { &mut newer };
            half.push(step, image);
        }
        (older, newer)
    }

    fn encode(&self, out: &mut Vec<u8>) {
        for (step, image) in self.iter() {
            for number in [step.undo.0, step.previous.0, step.at.0] {
                out.extend_from_slice(&number.to_le_bytes());
            }
            out.extend_from_slice(&(image.len() as u32).to_le_bytes());
            out.extend_from_slice(image);
        }
    }

    /// None: the bytes are no records.
    fn decode(mut bytes: &[u8]) -> Option<Records> {
        let mut records = Records::default();
        while !bytes.is_empty() {
            let (head, rest) = bytes.split_first_chunk::<STEP_BYTES>()?;
            let number = |at: usize| base::codec::get_u64(head, at);
            let step = Step { undo: UndoPtr(number(0)), previous: UndoPtr(number(8)), at: Lsn(number(16)) };
            let len = base::codec::get_u32(head, 24) as usize;
            records.push(step, rest.get(..len)?);
            bytes = &rest[len..];
        }
        Some(records)
    }
}

/// Records in the scratch file.
#[derive(Clone, Copy, Debug)]
struct Segment {
    offset: u64,
    len: usize,
    sum: u32,
}

/// The stack of one transaction.
#[derive(Debug, Default)]
struct UndoStack {
    older: Vec<Segment>,
    records: Records,
    /// Records in all.
    count: usize,
    /// Those among them that say that a value is dead.
    dead_values: usize,
}

/// The file of segments, made for the first of them.
#[derive(Debug)]
struct Scratch {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    file: Option<Arc<dyn File>>,
    /// Where the next segment goes.
    end: u64,
    /// Segments that are still wanted.
    wanted: usize,
}

impl Scratch {
    fn write(&mut self, records: &Records) -> Result<Segment, IoError> {
        let mut bytes = Vec::with_capacity(records.bytes());
        records.encode(&mut bytes);
        let segment = Segment { offset: self.end, len: bytes.len(), sum: crc32(&bytes) };
        self.file()?.write_at(&bytes, segment.offset)?;
        self.end += bytes.len() as u64;
        self.wanted += 1;
        Ok(segment)
    }

    fn file(&mut self) -> Result<Arc<dyn File>, IoError> {
        if let Some(file) = &self.file {
            return Ok(Arc::clone(file));
        }
        // A startup that was cut short may have left one.
        if self.disk.exists(&self.path)? {
            self.disk.remove(&self.path)?;
        }
        let file = self.disk.create(&self.path, OpenOptions::default())?;
        Ok(Arc::clone(self.file.insert(file)))
    }

    fn read(&self, segment: Segment) -> Result<Records, IoError> {
        let damaged = || IoError::new(IoOp::Read, &self.path, ErrorKind::InvalidData);
        let file = self.file.as_ref().ok_or_else(damaged)?;
        let mut bytes = vec![0; segment.len];
        file.read_exact_at(&mut bytes, segment.offset)?;
        if crc32(&bytes) != segment.sum {
            return Err(damaged());
        }
        Records::decode(&bytes).ok_or_else(damaged)
    }

    /// Segments that are no longer wanted.
    fn forget(&mut self, segments: usize) {
        self.wanted -= segments;
        if self.wanted == 0 {
            self.end = 0;
        }
    }
}

/// The stacks of all transactions that have not ended.
#[derive(Debug)]
pub(crate) struct UndoStacks {
    open: BTreeMap<TrxId, UndoStack>,
    scratch: Scratch,
    /// Of records in memory, and the limit.
    memory_bytes: usize,
    memory_bytes_max: usize,
    /// Why the scratch file is not written to any more.
    refused: Option<IoError>,
}

impl UndoStacks {
    /// None yet. The scratch file is `path`; `memory_bytes_max` in bytes.
    pub(crate) fn new(disk: &Arc<dyn Disk>, path: PathBuf, memory_bytes_max: usize) -> UndoStacks {
        let scratch = Scratch { disk: Arc::clone(disk), path, file: None, end: 0, wanted: 0 };
        UndoStacks { open: BTreeMap::new(), scratch, memory_bytes: 0, memory_bytes_max, refused: None }
    }

    /// The transactions, in the order of their ids.
    pub(super) fn oldest_first(&self) -> Vec<TrxId> {
        self.open.keys().copied().collect()
    }

    /// Records of a transaction.
    pub(super) fn count(&self, trx: TrxId) -> usize {
        self.open.get(&trx).map_or(0, |stack| stack.count)
    }

    /// Whether some records are in the scratch file.
    pub(super) fn has_moved(&self) -> bool {
        self.scratch.wanted > 0
    }

    /// Why the scratch file could not be written, if it could not.
    pub(super) fn refusal(&self) -> Option<&IoError> {
        self.refused.as_ref()
    }

    /// A transaction's newest record from now on.
    pub(super) fn push(&mut self, trx: TrxId, step: Step, image: &[u8]) {
        let stack = self.open.entry(trx).or_default();
        let before = stack.records.bytes();
        stack.records.push(step, image);
        stack.count += 1;
        stack.dead_values += usize::from(is_dead_value(image));
        let bytes = stack.records.bytes();
        self.memory_bytes += bytes - before;
        if self.memory_bytes > self.memory_bytes_max
            && bytes >= MOVED_MIN.min(self.memory_bytes_max)
            && self.refused.is_none()
        {
            self.move_older_half(trx);
        }
    }

    #[cold]
    fn move_older_half(&mut self, trx: TrxId) {
        let Some(stack) = self.open.get_mut(&trx) else { return };
        let (older, newer) = stack.records.halves();
        match self.scratch.write(&older) {
            Ok(segment) => {
                if !planted(PlantedBug::ForgottenAside) {
                    stack.older.push(segment);
                }
                stack.records = newer;
                self.memory_bytes -= older.bytes();
            }
            Err(error) => self.refused = Some(error),
        }
    }

    /// A transaction's newest record and its before image.
    ///
    /// # Errors
    /// Of the disk, where it had moved.
    pub(super) fn newest(&mut self, trx: TrxId) -> Result<Option<(Step, &[u8])>, IoError> {
        let Some(stack) = self.open.get_mut(&trx) else { return Ok(None) };
        if stack.records.steps.is_empty()
            && let Some(segment) = stack.older.last().copied()
        {
            stack.records = self.scratch.read(segment)?;
            stack.older.pop();
            self.scratch.forget(1);
            self.memory_bytes += stack.records.bytes();
        }
        Ok(stack.records.newest())
    }

    /// Forgets that record.
    pub(super) fn pop(&mut self, trx: TrxId) {
        let Some(stack) = self.open.get_mut(&trx) else { return };
        let before = stack.records.bytes();
        if let Some((_, image)) = stack.records.newest() {
            stack.dead_values -= usize::from(is_dead_value(image));
            stack.count -= 1;
        }
        stack.records.pop();
        self.memory_bytes -= before - stack.records.bytes();
    }

    /// Forgets what is newer than the record `reached`. Errors as [`UndoStacks::newest`].
    pub(super) fn return_to(&mut self, trx: TrxId, reached: UndoPtr) -> Result<(), IoError> {
        while self.newest(trx)?.is_some_and(|(step, _)| step.undo != reached) {
            self.pop(trx);
        }
        Ok(())
    }

    /// Whether a transaction says of a value that it is dead.
    pub(super) fn has_dead_values(&self, trx: TrxId) -> bool {
        self.open.get(&trx).is_some_and(|stack| stack.dead_values > 0)
    }

    /// All records of a transaction, oldest first. Errors as [`UndoStacks::newest`], and those of `look`.
    pub(super) fn each<E: From<IoError>>(
        &self,
        trx: TrxId,
        mut look: impl FnMut(Step, &[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(stack) = self.open.get(&trx) else { return Ok(()) };
        for segment in &stack.older {
            self.scratch.read(*segment)?.iter().try_for_each(|(step, image)| look(step, image))?;
        }
        stack.records.iter().try_for_each(|(step, image)| look(step, image))
    }

    /// Removes the scratch file.
    pub(super) fn close(self) {
        if self.scratch.file.is_some() {
            // A file that cannot be removed is removed by the next startup.
            let _ = self.scratch.disk.remove(&self.scratch.path);
        }
    }

    /// Forgets a transaction.
    pub(super) fn remove(&mut self, trx: TrxId) {
        if let Some(stack) = self.open.remove(&trx) {
            self.memory_bytes -= stack.records.bytes();
            self.scratch.forget(stack.older.len());
        }
    }
}

fn is_dead_value(image: &[u8]) -> bool {
    UndoKind::of_image(image) == Some(UndoKind::ValueDead)
}

#[cfg(test)]
mod tests {
    use base::prng::Prng;
    use env::{FaultKind, SimDisk};

    use super::*;

    fn undo_stacks(disk: &Arc<SimDisk>, memory_bytes_max: usize) -> UndoStacks {
        let disk: Arc<dyn Disk> = Arc::clone(disk) as _;
        UndoStacks::new(&disk, PathBuf::from("recovery.undo"), memory_bytes_max)
    }

    fn record(prng: &mut Prng, number: u64) -> (Step, Vec<u8>) {
        let step = Step { undo: UndoPtr(number), previous: UndoPtr(number / 2), at: Lsn(number * 3) };
        (step, (0..prng.below(40)).map(|_| prng.below(256) as u8).collect())
    }

    fn all(undo_stacks: &UndoStacks, trx: TrxId) -> Vec<(Step, Vec<u8>)> {
        let mut all = Vec::new();
        let look = |step, image: &[u8]| {
            all.push((step, image.to_vec()));
            Ok::<(), IoError>(())
        };
        undo_stacks.each(trx, look).unwrap();
        all
    }

    #[test]
    fn stacks_agree_with_vectors_whatever_the_memory() {
        for (seed, memory_bytes_max) in [(1, 0), (2, 300), (3, 5000), (4, usize::MAX)] {
            let disk = Arc::new(SimDisk::new());
            let (mut undo_stacks, mut prng) = (undo_stacks(&disk, memory_bytes_max), Prng::new(seed));
            let mut model: BTreeMap<TrxId, Vec<(Step, Vec<u8>)>> = BTreeMap::new();
            let mut moved = false;
            for number in 1..20_000 {
                let trx = TrxId(prng.below(3));
                let expected = model.entry(trx).or_default();
                match prng.below(200) {
                    0 => {
                        expected.clear();
                        undo_stacks.remove(trx);
                    }
                    1..=3 if !expected.is_empty() => {
                        let reached = prng.below(expected.len() as u64) as usize;
                        undo_stacks.return_to(trx, expected[reached].0.undo).unwrap();
                        expected.truncate(reached + 1);
                    }
                    4..=40 => {
                        let newest =
                            undo_stacks.newest(trx).unwrap().map(|(step, image)| (step, image.to_vec()));
                        assert_eq!(newest, expected.pop(), "seed {seed}");
                        undo_stacks.pop(trx);
                    }
                    _ => {
                        let (step, image) = record(&mut prng, number);
                        undo_stacks.push(trx, step, &image);
                        expected.push((step, image));
                    }
                }
                moved |= undo_stacks.has_moved();
                let dead = expected.iter().any(|(_, image)| is_dead_value(image));
                assert_eq!(
                    (undo_stacks.count(trx), undo_stacks.has_dead_values(trx)),
                    (expected.len(), dead)
                );
                assert_eq!(
                    undo_stacks.memory_bytes,
                    undo_stacks.open.values().map(|stack| stack.records.bytes()).sum()
                );
                if number % 500 == 0 {
                    assert_eq!(all(&undo_stacks, trx), *expected, "seed {seed}");
                }
            }
            assert_eq!(moved, memory_bytes_max < usize::MAX);
            for trx in model.keys() {
                undo_stacks.remove(*trx);
            }
            assert_eq!((undo_stacks.memory_bytes, undo_stacks.scratch.end), (0, 0));
            undo_stacks.close();
            assert!(!disk.exists("recovery.undo".as_ref()).unwrap());
        }
    }

    #[test]
    fn what_cannot_be_written_stays_and_what_cannot_be_read_is_an_error() {
        let disk = Arc::new(SimDisk::new());
        let fill = |undo_stacks: &mut UndoStacks| {
            let mut prng = Prng::new(7);
            for number in 1..100 {
                let (step, image) = record(&mut prng, number);
                undo_stacks.push(TrxId(1), step, &image);
            }
        };
        let mut stays = undo_stacks(&disk, 500);
        disk.schedule(Some(IoOp::Write), 1, FaultKind::Error(ErrorKind::StorageFull));
        fill(&mut stays);
        assert!(stays.refusal().is_some() && !stays.has_moved());
        assert_eq!(all(&stays, TrxId(1)).len(), 99);
        drop(stays);
        let mut damaged = undo_stacks(&disk, 500);
        fill(&mut damaged);
        assert!(damaged.has_moved());
        damaged.scratch.file.as_ref().unwrap().write_at(&[0xAA; 64], 10).unwrap();
        while damaged.newest(TrxId(1)).is_ok_and(|newest| newest.is_some()) {
            damaged.pop(TrxId(1));
        }
        let error = damaged.newest(TrxId(1)).unwrap_err();
        assert_eq!(error.kind, ErrorKind::InvalidData);
    }
}
