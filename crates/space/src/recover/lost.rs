//! Pages whose changes in the log cannot be made, because what they build on cannot be read.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::PageNo;
use base::sync::plain::Mutex;
use buffer::{CorruptPage, Error, PageDefect};

use crate::extent_no::{extent_of, map_page_of};

/// Pages whose redo is skipped. Each page belongs to one thread.
#[derive(Clone, Debug)]
pub(crate) struct LostPages {
    found: Arc<Mutex<BTreeMap<PageNo, CorruptPage>>>,
    /// Whether the file header, a page of the extent map, one that the disk does not give back, and one
    /// beyond the file's end may be lost, too.
    forced: bool,
}

impl LostPages {
    pub(crate) fn new(forced: bool) -> Self {
        LostPages { found: Arc::default(), forced }
    }

    /// Takes a page that could not be read.
    ///
    /// # Errors
    /// `error`, if the startup must not continue without the page.
    #[cold]
    pub(super) fn lose(&self, page: PageNo, error: Error) -> Result<(), Error> {
        let Error::Corruption(corrupt) = error else { return Err(error) };
        // A page that cannot be read now may be read by the next startup, and the end of a file be found
        // again.
        let is_damaged = matches!(corrupt.defect, PageDefect::Bytes(_) | PageDefect::Unwritten);
        let may_be_read = matches!(corrupt.defect, PageDefect::Unreadable { .. } | PageDefect::PastEnd);
        let is_map = map_page_of(extent_of(page)) == page;
        let may_be_lost = if self.forced { is_damaged || may_be_read } else { is_damaged && !is_map };
        // Without the file header a startup continues only if that is asked for.
        if (page.is_none() && !self.forced) || !may_be_lost {
            return Err(Error::Corruption(corrupt));
        }
        self.found.lock().insert(page, *corrupt);
        Ok(())
    }

    /// The page is made again.
    #[cold]
    pub(super) fn find_again(&self, page: PageNo) {
        self.found.lock().remove(&page);
    }

    /// The pages that are lost. All threads have ended.
    pub(crate) fn into_pages(self) -> Vec<CorruptPage> {
        std::mem::take(&mut *self.found.lock()).into_values().collect()
    }
}
