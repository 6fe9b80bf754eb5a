//! Which pages were given back, and when, as far as the log shows.

use base::{Lsn, PageNo};
use log::FrameRange;
use page::op::{decode_change, skim_change};
use page::{EXTENT_PAGES, ExtentEntry};

use super::bad_frame;
use crate::error::Result;

/// Per page of an extent: the end of the last frame after which the page was free.
type Moments = [Lsn; EXTENT_PAGES as usize];

/// Moments at which pages were free. What the log says of a page below such a moment need not be redone: the
/// next use of the page creates it again.
#[derive(Debug, Default)]
pub(crate) struct Freed {
    /// By extent; `None` where the log says nothing of an extent's use.
    extents: Vec<Option<Box<Moments>>>,
}

impl Freed {
    /// Notes what the changes of a frame say of the use of pages.
    pub(crate) fn note(&mut self, changes: &[u8], range: FrameRange) -> Result<()> {
        let mut rest = changes;
        while !rest.is_empty() {
            let mut change = rest;
            let Ok((_, writes_bytes)) = skim_change(&mut rest) else {
                return Err(bad_frame(range, PageNo::NONE));
            };
            if writes_bytes
                && let Ok((page, op)) = decode_change(&mut change)
                && let Some((extent, entry)) = ExtentEntry::stored_by(&op, page)
            {
                self.note_use(extent as usize, entry.used, range.end);
            }
        }
        Ok(())
    }

    fn note_use(&mut self, extent: usize, used: u64, at: Lsn) {
        if extent >= self.extents.len() {
            self.extents.resize_with(extent + 1, || None);
        }
        let moments = self.extents[extent].get_or_insert_with(|| Box::new([Lsn(0); EXTENT_PAGES as usize]));
        for (page, moment) in moments.iter_mut().enumerate() {
            if used >> page & 1 == 0 {
                *moment = at;
            }
        }
    }

    /// Whether the page was free at some moment after the frame that ends at `end`.
    #[inline]
    pub(crate) fn is_freed_after(&self, page: PageNo, end: Lsn) -> bool {
        let moments = self.extents.get((page.0 / EXTENT_PAGES) as usize).and_then(Option::as_deref);
        moments.is_some_and(|moments| moments[(page.0 % EXTENT_PAGES) as usize] > end)
    }
}
