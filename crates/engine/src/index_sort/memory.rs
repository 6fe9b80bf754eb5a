//! How much memory a sort may take, and what it is used for.

use std::rc::Rc;

use base::memory::{Charge, Purpose, StatementAccount};

use super::entry::ENTRY_BYTES_MAX;
use super::open_block::PLACE_BYTES;
use crate::error::{Error, Result};

/// The least memory of a sort, bytes: the least value of `innodb_ddl_buffer_size`.
const BUFFER_BYTES_MIN: usize = 64 << 10;

/// Memory for a statement's sort of the entries of its new indexes.
#[derive(Clone, Debug)]
pub struct SortMemory {
    /// Bytes for all indexes together (`innodb_ddl_buffer_size`).
    pub buffer_bytes: u64,
    /// What they are charged to; `None`: nothing.
    pub account: Option<Rc<StatementAccount>>,
}

impl Default for SortMemory {
    /// MySQL's default of 1 MiB, charged to nothing.
    fn default() -> Self {
        SortMemory { buffer_bytes: 1 << 20, account: None }
    }
}

impl SortMemory {
    /// Bytes that are used: where the account has less, half of what it has.
    fn bytes(&self) -> usize {
        let available = self.account.as_ref().map_or(u64::MAX, |account| account.available());
        let bytes = self.buffer_bytes.min(available / 2);
        usize::try_from(bytes).unwrap_or(usize::MAX).max(BUFFER_BYTES_MIN)
    }
}

/// How the memory is divided.
#[derive(Clone, Copy, Debug)]
pub(super) struct Division {
    /// Bytes of entries that are sorted at a time.
    pub(super) block: usize,
    /// Bytes of the file that are written and read at a time.
    pub(super) file_block: usize,
    /// Bytes that are in use from the beginning.
    pub(super) working: usize,
    /// Bytes of sorted blocks.
    pub(super) sorted: usize,
    /// Runs that are merged at a time, beside a buffer for the run that they become.
    pub(super) sources: usize,
}

impl Division {
    pub(super) fn of(memory: &SortMemory) -> Self {
        let bytes = memory.bytes();
        let block = (bytes / 16).clamp(4 << 10, 256 << 10);
        let file_block = (bytes / 64).clamp(16 << 10, 256 << 10);
        let places = block;
        // Sorting takes the places a second time.
        let working = block + ENTRY_BYTES_MAX + 2 * places + file_block;
        Division { block, file_block, working, sorted: bytes - working, sources: bytes / file_block - 1 }
    }

    /// Entries that are sorted at a time: their places take as much as their block.
    pub(super) fn block_entries(&self) -> usize {
        self.block / PLACE_BYTES
    }
}

/// A charge that follows what a build holds.
#[derive(Debug)]
pub(crate) struct Charged(Option<Charge>);

impl Charged {
    pub(crate) fn new(memory: &SortMemory) -> Self {
        Charged(memory.account.as_ref().map(|account| Charge::new(account, Purpose::Sort)))
    }

    /// The build is about to hold `bytes`, or holds no more than these any longer.
    ///
    /// # Errors
    /// [`Error::Memory`].
    pub(crate) fn set(&self, bytes: usize) -> Result<()> {
        let Some(charge) = &self.0 else { return Ok(()) };
        if let Some(more) = bytes.checked_sub(charge.bytes()) {
            return charge.add(more).map_err(Error::Memory);
        }
        charge.remove(charge.bytes() - bytes);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_buffer_has_room_for_all_parts() {
        for bytes in [0, 65_536, 100_000, 1 << 20, 5 << 20, 64 << 20, u64::from(u32::MAX)] {
            let memory = SortMemory { buffer_bytes: bytes, account: None };
            let division = Division::of(&memory);
            assert!(division.sorted >= division.block + ENTRY_BYTES_MAX, "{bytes}: {division:?}");
            assert!(division.sources >= 3 && division.file_block > ENTRY_BYTES_MAX + 8, "{bytes}");
            let reading = (division.sources + 1) * division.file_block;
            assert!(reading.max(division.working + division.sorted) <= memory.bytes(), "{bytes}");
        }
    }
}
