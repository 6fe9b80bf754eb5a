//! Runs in a temporary file.
//!
//! A run is a sequence of blocks. All of them but the last are of one size, that of the statement's buffers;
//! what entries leave of a block is zero.
//!
//! | OFFSET | SIZE | FIELD |
//! |---|---|---|
//! | 0 | 4 | bytes `n` of entries |
//! | 4 | 4 | CRC-32 of the entries |
//! | 8 | `n` | entries, in the order of their keys |

use std::cell::Cell;

use base::checksum::crc32;
use base::codec::{get_u32, put_u32};

use crate::error::{Result, fail_if_interrupted};
use crate::temp_file::{TempFile, TempFileError};

const HEADER_BYTES: usize = 8;

/// Sorted entries of an index.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    offset: u64,
    bytes: u64,
}

/// The file of a statement.
#[derive(Debug)]
pub(super) struct RunFile {
    file: TempFile,
    block_bytes: usize,
    /// Where the next run goes.
    end: Cell<u64>,
}

impl RunFile {
    pub(super) fn new(file: TempFile, block_bytes: usize) -> Self {
        RunFile { file, block_bytes, end: Cell::new(0) }
    }

    /// Gives the space of a run back.
    pub(super) fn discard(&self, run: Run) {
        self.file.discard(run.offset, run.bytes);
    }
}

/// A run in the making, at the end of the file. There is one at a time.
#[derive(Debug)]
pub(super) struct RunWriter<'f> {
    file: &'f RunFile,
    start: u64,
    block: Vec<u8>,
}

impl<'f> RunWriter<'f> {
    pub(super) fn new(file: &'f RunFile) -> Self {
        let mut block = Vec::with_capacity(file.block_bytes);
        block.resize(HEADER_BYTES, 0);
        RunWriter { file, start: file.end.get(), block }
    }

    /// Adds an entry's bytes.
    ///
    /// # Errors
    /// [`crate::Error::TempFile`], [`trx::Error::Interrupted`].
    #[inline]
    pub(super) fn push(&mut self, entry: &[u8]) -> Result<()> {
        if self.block.len() + entry.len() > self.file.block_bytes {
            self.write_whole_block()?;
        }
        self.block.extend_from_slice(entry);
        Ok(())
    }

    /// Writes what is left.
    ///
    /// # Errors
    /// Those of [`RunWriter::push`].
    pub(super) fn finish(mut self) -> Result<Run> {
        if self.block.len() > HEADER_BYTES {
            self.write()?;
        }
        Ok(Run { offset: self.start, bytes: self.file.end.get() - self.start })
    }

    fn write_whole_block(&mut self) -> Result<()> {
        self.stamp();
        self.block.resize(self.file.block_bytes, 0);
        self.write_stamped()
    }

    fn write(&mut self) -> Result<()> {
        self.stamp();
        self.write_stamped()
    }

    fn stamp(&mut self) {
        let entries = (self.block.len() - HEADER_BYTES) as u32;
        let sum = crc32(&self.block[HEADER_BYTES..]);
        put_u32(&mut self.block, 0, entries);
        put_u32(&mut self.block, 4, sum);
    }

    fn write_stamped(&mut self) -> Result<()> {
        fail_if_interrupted()?;
        let at = self.file.end.get();
        self.file.file.write(&self.block, at)?;
        self.file.end.set(at + self.block.len() as u64);
        self.block.truncate(HEADER_BYTES);
        Ok(())
    }
}

/// A run that is read from its beginning.
#[derive(Debug)]
pub(super) struct RunReader<'f> {
    file: &'f RunFile,
    at: u64,
    end: u64,
}

impl<'f> RunReader<'f> {
    pub(super) fn new(file: &'f RunFile, run: Run) -> Self {
        RunReader { file, at: run.offset, end: run.offset + run.bytes }
    }

    /// Fills `block` with the next block; returns where its entries begin. At the end it is left empty.
    ///
    /// # Errors
    /// [`crate::Error::TempFile`], [`trx::Error::Interrupted`].
    pub(super) fn read(&mut self, block: &mut Vec<u8>) -> Result<usize> {
        block.clear();
        if self.at == self.end {
            return Ok(0);
        }
        fail_if_interrupted()?;
        let bytes = (self.end - self.at).min(self.file.block_bytes as u64);
        block.resize(bytes as usize, 0);
        self.file.file.read(block, self.at)?;
        let entries = HEADER_BYTES.saturating_add(get_u32(block, 0) as usize);
        let is_sound =
            block.get(HEADER_BYTES..entries).is_some_and(|bytes| crc32(bytes) == get_u32(block, 4));
        if !is_sound {
            let file = self.file.file.path().to_path_buf();
            return Err(TempFileError::Damaged { file, offset: self.at }.into());
        }
        self.at += bytes;
        block.truncate(entries);
        Ok(HEADER_BYTES)
    }
}
