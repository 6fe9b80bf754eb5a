//! `range_optimizer_max_mem_size`: how much memory the keys of one index may take that conditions leave.

use std::cell::Cell;

/// The limit for a statement, and whether it was too low for it.
#[derive(Debug)]
pub struct RangeMemory {
    bytes_max: u64,
    exceeded: Cell<bool>,
}

impl RangeMemory {
    /// A limit of `bytes`; 0: none.
    pub fn new(bytes: u64) -> Self {
        RangeMemory { bytes_max: if bytes == 0 { u64::MAX } else { bytes }, exceeded: Cell::new(false) }
    }

    /// Whether `bytes` are allowed. If not, that is remembered.
    pub(crate) fn allows(&self, bytes: usize) -> bool {
        let is_allowed = bytes as u64 <= self.bytes_max;
        self.exceeded.set(self.exceeded.get() || !is_allowed);
        is_allowed
    }

    /// Whether an index was left out because its keys would have taken more.
    pub(crate) fn was_exceeded(&self) -> bool {
        self.exceeded.get()
    }
}
