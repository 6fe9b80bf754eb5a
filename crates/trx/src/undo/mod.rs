//! Undo: what a transaction changed, newest first, and what was there before.
//!
//! Records live in chunks of 64-bit words. A row header holds the [`UndoPtr`] of the record with its before
//! image; the records of one transaction are also linked backwards, which is the order of rollback. Words are
//! atomics read and written relaxed: a reader comes by a pointer it found under a page latch, and the latch
//! orders the writes. Old chunks go to a swap file when there are too many in memory, and are read back from
//! there.

use base::UndoPtr;

mod chunk;
mod image;
mod record;
mod restore;
mod room;
mod swap;

pub use chunk::{UndoLog, UndoStore};
pub use record::{NewUndo, UndoKind, UndoRecord};
pub use restore::{MisplacedUndo, RestoredUndo, UndoRestorer};
pub use swap::SwapError;

/// Where an undo record begins: what the bits of an [`UndoPtr`] mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Address {
    /// Number of the chunk, from 1.
    chunk: u32,
    /// Word in the chunk.
    word: usize,
}

impl Address {
    const WORD_BITS: u32 = 24;

    #[inline]
    fn of(ptr: UndoPtr) -> Self {
        Address {
            chunk: (ptr.0 >> Self::WORD_BITS) as u32,
            word: (ptr.0 & ((1 << Self::WORD_BITS) - 1)) as usize,
        }
    }

    #[inline]
    fn ptr(self) -> UndoPtr {
        UndoPtr(u64::from(self.chunk) << Self::WORD_BITS | self.word as u64)
    }
}

#[cfg(test)]
mod tests;
