//! How far the conversion of pages to newer row format versions has got (`convert_tables.rs`).

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

use base::IndexId;
use base::sync::plain::Mutex;

/// How far the conversion has got.
#[derive(Debug, Default)]
pub(crate) struct Conversion {
    /// Some table may have a history.
    pub(crate) is_wanted: AtomicBool,
    pub(crate) walk: Mutex<Option<Walk>>,
    /// Trees that a damaged page ended the walk of.
    pub(crate) damaged: Mutex<BTreeSet<IndexId>>,
}

/// The walk over one tree.
#[derive(Debug)]
pub(crate) struct Walk {
    pub(crate) tree: IndexId,
    pub(crate) version: u16,
    /// The lower fence of the next leaf.
    pub(crate) next: Vec<u8>,
}

impl Conversion {
    /// Asks for another pass over the tables. The catalog shows the table with a history by now.
    pub(crate) fn want(&self) {
        // In one order with the clearing before that look, so that the look or the next one sees the table.
        self.is_wanted.store(true, Ordering::SeqCst);
    }
}
