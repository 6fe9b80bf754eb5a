//! A rebuild in progress, and the rows that change meanwhile.
//!
//! A change's bytes in the queue:
//!
//! | OFFSET | SIZE | FIELD |
//! |---|---|---|
//! | 0 | 2 | bytes `n` of the key |
//! | 2 | `n` | the row's clustered key |

use base::codec::get_u16;
use types::TableDef;

use super::queue::{BLOCK_BYTES, ChangeQueue};
use crate::error::Result;
use crate::temp_file::TempFolder;

/// Bytes before the key.
const HEADER_BYTES: usize = 2;

/// The clustered keys of rows that change while their table is rebuilt.
///
/// A key says that its row may differ from what the rebuild has copied. The rebuild reads the row again, so
/// neither the order of keys nor their number matters. A transaction appends a key after it has made or
/// undone the change, and before it gives its metadata lock back.
#[derive(Debug)]
pub(crate) struct ChangedRows {
    pub(super) queue: ChangeQueue,
}

impl ChangedRows {
    /// Upper bound on memory for keys, bytes: those that the queue keeps, and those that the rebuild has
    /// taken, with their places.
    pub(crate) const MEMORY_BYTES_MAX: usize =
        2 * BLOCK_BYTES + BLOCK_BYTES / (HEADER_BYTES + 1) * size_of::<&[u8]>();
    /// Catch-up stops when at most this many bytes wait: about a hundred rows, and few where the code is
    /// checked, so that small tables see rounds beside writers.
    pub(crate) const REST_BYTES: u64 = if cfg!(debug_assertions) { 64 } else { 1 << 10 };

    /// No rows yet, of the table that `new` takes the place of. Keys of up to `bytes_max` bytes may wait.
    pub(crate) fn new(folder: &TempFolder, new: &TableDef, bytes_max: u64) -> Self {
        let clustered = new.clustered();
        let name = format!("changes-{}", clustered.id.0);
        let names = vec![clustered.name.clone()];
        ChangedRows { queue: ChangeQueue::new(folder, name, bytes_max, names) }
    }

    /// Puts a key back that [`ChangedRows::take`] has taken out.
    pub(crate) fn put_back(&self, key: &[u8]) {
        let mut keys = Keys::default();
        keys.push(key);
        self.queue.push(&keys.bytes, 0);
    }

    /// # Errors
    /// What keeps the rebuild from knowing of all changes.
    pub(crate) fn ensure_whole(&self) -> Result<()> {
        self.queue.ensure_whole()
    }

    /// Replaces `bytes` by the oldest keys that wait, for [`take_key`]. False: there are none.
    ///
    /// # Errors
    /// Those of [`ChangedRows::ensure_whole`]; [`Error::TempFile`].
    pub(crate) fn take(&self, bytes: &mut Vec<u8>) -> Result<bool> {
        self.queue.take(bytes)
    }

    /// Bytes of keys that wait.
    pub(crate) fn waiting(&self) -> u64 {
        self.queue.waiting()
    }

    /// Blocks that were written to the temporary file.
    pub(crate) fn blocks(&self) -> u64 {
        self.queue.blocks()
    }
}

/// Takes the key off that `bytes` begin with; `None` at the end.
pub(crate) fn take_key<'b>(bytes: &mut &'b [u8]) -> Option<&'b [u8]> {
    if bytes.is_empty() {
        return None;
    }
    let end = HEADER_BYTES + usize::from(get_u16(bytes, 0));
    let (key, rest) = bytes.split_at(end);
    *bytes = rest;
    Some(&key[HEADER_BYTES..])
}

/// Bytes that a key takes in the queue.
pub(crate) fn bytes_of_key(key: &[u8]) -> u64 {
    (HEADER_BYTES + key.len()) as u64
}

/// Keys on their way into the queue.
#[derive(Debug, Default)]
pub(super) struct Keys {
    pub(super) bytes: Vec<u8>,
    pub(super) count: u64,
}

impl Keys {
    pub(super) fn push(&mut self, key: &[u8]) {
        let len = u16::try_from(key.len()).expect("keys have at most 3072 bytes and a few more");
        self.bytes.extend_from_slice(&len.to_le_bytes());
        self.bytes.extend_from_slice(key);
        self.count += 1;
    }
}
