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

/// The changes of a frame to a page, in a batch.
struct Changes<'b> {
    range: FrameRange,
    page: PageNo,
    bytes: &'b [u8],
}

impl<'b> Changes<'b> {
    /// Takes the next ones off the front of a batch.
    #[inline]
    fn take(batch: &mut &'b [u8]) -> Option<Self> {
        let head = take(batch, HEAD_BYTES)?;
        let range = FrameRange { start: Lsn(get_u64(head, 0)), end: Lsn(get_u64(head, 8)) };
        let bytes = take(batch, get_u32(head, 20) as usize)?;
        Some(Changes { range, page: PageNo(get_u32(head, 16)), bytes })
    }
}

/// One hand of the crew.
#[derive(Debug)]
pub(super) struct Applier {
    pool: Arc<Pool>,
    freed: Arc<Freed>,
    /// Pages of the batch at work and where their changes lie in it; kept for its room.
    places: Vec<(PageNo, usize)>,
    /// Pages that changes were applied to, one bit each. Others may be made without reading them.
    seen: Vec<u64>,
}

impl Applier {
    pub(super) fn new(pool: Arc<Pool>, freed: Arc<Freed>) -> Self {
        Applier { pool, freed, places: Vec::new(), seen: Vec::new() }
    }

    /// Applies a batch: page by page, so that a page is latched and fetched once, each page's changes oldest first.
    pub(super) fn apply_batch(&mut self, batch: &[u8]) -> Result<()> {
        let mut places = std::mem::take(&mut self.places);
        places.clear();
        let mut rest = batch;
        while let Some(changes) = Changes::take(&mut rest) {
            if !self.freed.is_freed_after(changes.page, changes.range.end) {
                let len = HEAD_BYTES + changes.bytes.len();
                places.push((changes.page, batch.len() - rest.len() - len));
            }
        }
        // By place, too: the order in the log.
        places.sort_unstable();
        let done = places.chunk_by(|a, b| a.0 == b.0).try_for_each(|places| {
            let changes = places.iter().filter_map(|(_, place)| Changes::take(&mut &batch[*place..]));
            self.apply(places[0].0, changes)
        });
        self.places = places;
        done
    }

    /// Applies changes of one page, oldest first.
    fn apply<'b>(&mut self, page_no: PageNo, all: impl Iterator<Item = Changes<'b>>) -> Result<()> {
        let is_new = self.see(page_no);
        let mut guard = None;
        for Changes { range, mut bytes, .. } in all {
            let bad = || bad_frame(range, page_no);
            let (_, mut op) = decode_change(&mut bytes).map_err(|_| bad())?;
            let guard = match &mut guard {
                Some(guard) => guard,
                None if is_new && op.is_self_contained() => guard.insert(self.pool.create(page_no)?),
                None => guard.insert(self.pool.exclusive(page_no)?),
            };
            if guard.page().lsn() >= range.end {
                continue;
            }
            loop {
                op.apply(&mut guard.page_mut()).map_err(|_| bad())?;
                if bytes.is_empty() {
                    break;
                }
                (_, op) = decode_change(&mut bytes).map_err(|_| bad())?;
            }
            guard.page_mut().set_lsn(range.end);
            guard.mark_dirty(range.start);
        }
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
