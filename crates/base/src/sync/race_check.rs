//! Plain memory that a protocol hands from thread to thread.

#[cfg(loom)]
use super::model::cell::Cells;

/// Stands beside plain memory that a protocol makes safe to share, and records who touches which bytes of it.
/// A model fails when two accesses, one of them a write, are not ordered by the protocol. Empty, and costs
/// nothing, elsewhere.
#[derive(Debug)]
pub struct RaceCheck {
    #[cfg(loom)]
    cells: Cells,
}

impl RaceCheck {
    /// For memory of `bytes` bytes.
    #[inline(always)]
    pub fn new(bytes: usize) -> Self {
        let _ = bytes;
        RaceCheck {
            #[cfg(loom)]
            cells: Cells::new(bytes),
        }
    }

    /// The calling thread reads `bytes` bytes from `at` on.
    #[inline(always)]
    pub fn reads(&self, at: usize, bytes: usize) {
        let _ = (at, bytes);
        #[cfg(loom)]
        self.cells.read(at, bytes);
    }

    /// The calling thread writes `bytes` bytes from `at` on.
    #[inline(always)]
    pub fn writes(&self, at: usize, bytes: usize) {
        let _ = (at, bytes);
        #[cfg(loom)]
        self.cells.write(at, bytes);
    }
}
