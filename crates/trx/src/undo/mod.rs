//! Undo: what a transaction changed, newest first, and what was there before.
//!
//! Records live in chunks of 64-bit words. A row header holds the [`UndoPtr`] of the record with its before image; the
//! records of one transaction are also linked backwards, which is the order of rollback. Words are atomics read and
//! written relaxed: a reader comes by a pointer it found under a page latch, and the latch orders the writes. Old chunks go
//! to a swap file when there are too many in memory, and are read back from there.

mod chunk;
mod image;
mod record;
mod restore;
mod room;
mod swap;

pub use chunk::{UndoLog, UndoStore};
pub use record::{NewUndo, ROW_HEADER_BYTES, UndoKind, UndoRecord};
pub use restore::{Misplaced, RestoredUndo, UndoRestorer};
pub use swap::SwapError;

/// Address of an undo record: chunk number and word offset, 56 bits, stored in 7 bytes. 0 is "none".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct UndoPtr(u64);

impl UndoPtr {
    /// No record: a row inserted where nothing was, the end of a transaction's chain.
    pub const NONE: UndoPtr = UndoPtr(0);
    /// Bytes on a page.
    pub const STORED_BYTES: usize = 7;
    const OFFSET_BITS: u32 = 24;

    pub(crate) fn new(chunk: u32, word: usize) -> Self {
        UndoPtr(u64::from(chunk) << Self::OFFSET_BITS | word as u64)
    }

    /// The pointer with these 56 bits.
    #[inline]
    pub fn from_raw(raw: u64) -> Self {
        debug_assert!(raw < 1 << 56, "undo pointer {raw:#x}");
        UndoPtr(raw)
    }

    /// The 56 bits.
    #[inline]
    pub fn raw(self) -> u64 {
        self.0
    }

    /// The pointer that the log carries so.
    #[inline]
    pub fn of_logged(logged: log::UndoRef) -> Self {
        Self::from_raw(logged.0)
    }

    /// Whether there is no record.
    #[inline]
    pub fn is_none(self) -> bool {
        self.0 == 0
    }

    /// The pointer as the log carries it.
    #[inline]
    pub fn logged(self) -> log::UndoRef {
        log::UndoRef(self.0)
    }

    fn chunk(self) -> u32 {
        (self.0 >> Self::OFFSET_BITS) as u32
    }

    fn word(self) -> usize {
        (self.0 & ((1 << Self::OFFSET_BITS) - 1)) as usize
    }
}

#[cfg(test)]
mod tests;
