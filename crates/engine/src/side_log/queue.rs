//! Changes that wait for the build: the newest in memory, older ones in a temporary file.
//!
//! The file is a sequence of blocks. What has been read is given back to the file system, and the file begins
//! again whenever all of it has been read.
//!
//! | OFFSET | SIZE | FIELD |
//! |---|---|---|
//! | 0 | 4 | bytes `n` of changes |
//! | 4 | 4 | CRC-32 of the changes |
//! | 8 | `n` | changes |

use std::sync::Arc;

use base::checksum::crc32;
use base::codec::{get_u32, put_u32};
use base::sync::plain::Mutex;

use super::change::CHANGE_HEADER_BYTES;
use crate::error::{Error, Result};
use crate::index_sort::ENTRY_BYTES_MAX;
use crate::limits::KEYS_MAX;
use crate::temp_file::{TempFile, TempFileError, TempFolder};

/// Bytes of changes that are kept in memory before they are written.
pub(super) const BLOCK_BYTES: usize = 64 << 10;
/// Most bytes of a block: changes of one row are not divided, and each index may lose an entry and get one.
const BLOCK_BYTES_MAX: usize = 2 * KEYS_MAX * (CHANGE_HEADER_BYTES + ENTRY_BYTES_MAX);
const HEADER_BYTES: usize = 8;

const _: () = assert!(BLOCK_BYTES <= BLOCK_BYTES_MAX && BLOCK_BYTES_MAX <= u32::MAX as usize);

/// The queue of one build. Many add to it, one takes from it.
#[derive(Debug)]
pub(super) struct ChangeQueue {
    folder: TempFolder,
    name: String,
    /// Most bytes of changes that may wait.
    bytes_max: u64,
    index_names: Vec<Box<str>>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Changes newer than those in the file.
    tail: Vec<u8>,
    file: Option<Arc<TempFile>>,
    /// Where the next block of the file is read and written.
    read_at: u64,
    write_at: u64,
    /// Bytes of changes that wait.
    waiting: u64,
    blocks: u64,
    /// Why there is not every change: the queue takes no more.
    failure: Option<Error>,
}

impl ChangeQueue {
    /// An empty queue. `name`: of the file, used by no other statement. `index_names`: of the indexes by
    /// their positions in changes.
    pub(super) fn new(folder: &TempFolder, name: String, bytes_max: u64, index_names: Vec<Box<str>>) -> Self {
        let state = Mutex::new(State::default());
        ChangeQueue { folder: folder.clone(), name, bytes_max, index_names, state }
    }

    /// Adds changes, all of them at once. `index`: the position of an index that they are for. If that
    /// cannot be done, the queue has failed.
    pub(super) fn push(&self, changes: &[u8], index: usize) {
        let mut state = self.state.lock();
        if state.failure.is_none()
            && let Err(error) = self.add(&mut state, changes, index)
        {
            state.fail(error);
        }
    }

    fn add(&self, state: &mut State, changes: &[u8], index: usize) -> Result<()> {
        if state.waiting + changes.len() as u64 > self.bytes_max {
            return Err(Error::SideLogFull { index: self.index_names[index].clone() });
        }
        if state.tail.len() + changes.len() > BLOCK_BYTES && !state.tail.is_empty() {
            self.write_tail(state)?;
        }
        state.tail.extend_from_slice(changes);
        state.waiting += changes.len() as u64;
        Ok(())
    }

    fn write_tail(&self, state: &mut State) -> Result<()> {
        let State { tail, file, write_at, .. } = &mut *state;
        let file = match file {
            Some(file) => file,
            none => none.insert(Arc::new(self.folder.create(&self.name)?)),
        };
        let mut header = [0; HEADER_BYTES];
        put_u32(&mut header, 0, tail.len() as u32);
        put_u32(&mut header, 4, crc32(tail));
        file.write(&header, *write_at)?;
        file.write(tail, *write_at + HEADER_BYTES as u64)?;
        *write_at += (HEADER_BYTES + tail.len()) as u64;
        tail.clear();
        state.blocks += 1;
        Ok(())
    }

    /// Replaces `changes` by the oldest ones that wait, and takes them out. False: there are none.
    ///
    /// # Errors
    /// What the queue has failed with; [`Error::TempFile`].
    pub(super) fn take(&self, changes: &mut Vec<u8>) -> Result<bool> {
        changes.clear();
        let mut state = self.state.lock();
        state.ensure_whole()?;
        if let Some(file) = state.file.clone().filter(|_| state.read_at < state.write_at) {
            let at = state.read_at;
            drop(state);
            read_block(&file, at, changes)?;
            state = self.state.lock();
            state.ensure_whole()?;
            state.read_at = at + (HEADER_BYTES + changes.len()) as u64;
        } else {
            (state.read_at, state.write_at) = (0, 0);
            std::mem::swap(changes, &mut state.tail);
        }
        state.waiting -= changes.len() as u64;
        Ok(!changes.is_empty())
    }

    /// Bytes of changes that wait.
    pub(super) fn waiting(&self) -> u64 {
        self.state.lock().waiting
    }

    /// Blocks written so far.
    pub(super) fn blocks(&self) -> u64 {
        self.state.lock().blocks
    }

    /// # Errors
    /// What the queue has failed with.
    pub(super) fn ensure_whole(&self) -> Result<()> {
        self.state.lock().ensure_whole()
    }

    /// A change is missing, because of `error`.
    pub(super) fn fail(&self, error: Error) {
        self.state.lock().fail(error);
    }
}

impl State {
    /// The first error counts. What waits is not needed any more.
    #[cold]
    fn fail(&mut self, error: Error) {
        if self.failure.is_none() {
            *self = State { failure: Some(error), blocks: self.blocks, ..State::default() };
        }
    }

    fn ensure_whole(&self) -> Result<()> {
        self.failure.clone().map_or(Ok(()), Err)
    }
}

/// Reads the block at `at` into `changes`, and gives its space back.
fn read_block(file: &TempFile, at: u64, changes: &mut Vec<u8>) -> Result<()> {
    let mut header = [0; HEADER_BYTES];
    file.read(&mut header, at)?;
    let (bytes, sum) = (get_u32(&header, 0) as usize, get_u32(&header, 4));
    let damaged = || TempFileError::Damaged { file: file.path().to_path_buf(), offset: at };
    if bytes > BLOCK_BYTES_MAX {
        return Err(damaged().into());
    }
    changes.resize(bytes, 0);
    file.read(changes, at + HEADER_BYTES as u64)?;
    if crc32(changes) != sum {
        return Err(damaged().into());
    }
    file.discard(at, (HEADER_BYTES + bytes) as u64);
    Ok(())
}
