//! Applying changes of pages, one frame's changes to one page at a time.
//!
//! Changes travel in batches of bytes:
//!
//! | SIZE | FIELD |
//! |---|---|
//! | 8 + 8 | the frame: start, end |
//! | 4 | page |
//! | 4 | bytes that follow |
//! | n | page changes as in the log, all of this page |

use std::sync::Arc;

use base::codec::{get_u32, get_u64, take};
use base::{Lsn, PageNo};
use buffer::Pool;
use log::FrameRange;
use page::op::decode_change;

use super::bad_frame;
use super::freed::Freed;
use crate::error::Result;

/// Bytes before the changes.
const HEAD_BYTES: usize = 24;

/// Appends the changes of a frame to a page to a batch.
pub(super) fn push_changes(batch: &mut Vec<u8>, page: PageNo, range: FrameRange, pieces: &[&[u8]]) {
    let len: usize = pieces.iter().map(|piece| piece.len()).sum();
    batch.extend_from_slice(&range.start.0.to_le_bytes());
    batch.extend_from_slice(&range.end.0.to_le_bytes());
    batch.extend_from_slice(&page.0.to_le_bytes());
    batch.extend_from_slice(&(len as u32).to_le_bytes());
    for piece in pieces {
        batch.extend_from_slice(piece);
    }
}

/// One hand of the crew.
#[derive(Debug)]
pub(super) struct Applier {
    pool: Arc<Pool>,
    freed: Arc<Freed>,
    /// Pages that changes were applied to, one bit each. Others may be made without reading them.
    seen: Vec<u64>,
}

impl Applier {
    pub(super) fn new(pool: Arc<Pool>, freed: Arc<Freed>) -> Self {
        Applier { pool, freed, seen: Vec::new() }
    }

    /// Applies a batch, oldest first.
    pub(super) fn apply_batch(&mut self, mut batch: &[u8]) -> Result<()> {
        while let Some(head) = take(&mut batch, HEAD_BYTES) {
            let range = FrameRange { start: Lsn(get_u64(head, 0)), end: Lsn(get_u64(head, 8)) };
            let page = PageNo(get_u32(head, 16));
            let changes = take(&mut batch, get_u32(head, 20) as usize).unwrap_or_default();
            self.apply(page, range, changes)?;
        }
        Ok(())
    }

    fn apply(&mut self, page_no: PageNo, range: FrameRange, mut changes: &[u8]) -> Result<()> {
        if self.freed.is_freed_after(page_no, range.end) {
            return Ok(());
        }
        let bad = || bad_frame(range, page_no);
        let (_, mut op) = decode_change(&mut changes).map_err(|_| bad())?;
        let mut guard = if self.see(page_no) && op.is_self_contained() {
            self.pool.create(page_no)?
        } else {
            self.pool.exclusive(page_no)?
        };
        if guard.page().lsn() >= range.end {
            return Ok(());
        }
        loop {
            op.apply(&mut guard.page_mut()).map_err(|_| bad())?;
            if changes.is_empty() {
                break;
            }
            (_, op) = decode_change(&mut changes).map_err(|_| bad())?;
        }
        guard.page_mut().set_lsn(range.end);
        guard.mark_dirty(range.start);
        Ok(())
    }

    /// Notes a page; whether it was not seen before.
    fn see(&mut self, page: PageNo) -> bool {
        let (word, bit) = ((page.0 / 64) as usize, 1 << (page.0 % 64));
        if word >= self.seen.len() {
            self.seen.resize(word + 1, 0);
        }
        let new = self.seen[word] & bit == 0;
        self.seen[word] |= bit;
        new
    }
}
