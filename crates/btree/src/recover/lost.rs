//! Pages whose changes in the log cannot be made, because what they build on cannot be read.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::PageNo;
use base::sync::plain::Mutex;
use buffer::{CorruptPage, Damage, Error};

use crate::extents::extent_of;
use crate::space::map_page_of;

/// What redo passes over. Each page is one hand's.
#[derive(Clone, Debug, Default)]
pub(crate) struct LostPages {
    found: Arc<Mutex<BTreeMap<PageNo, CorruptPage>>>,
}

impl LostPages {
    /// Takes a page that could not be read.
    ///
    /// # Errors
    /// `error`, if the start must not go on without the page.
    #[cold]
    pub(super) fn lose(&self, page: PageNo, error: Error) -> Result<(), Error> {
        let Error::Corruption(corrupt) = error else { return Err(error) };
        // A page that cannot be read now may be read by the next start, and the end of a file be found again.
        let is_damaged = matches!(corrupt.damage, Damage::Bytes(_) | Damage::Unwritten);
        let is_map = map_page_of(extent_of(page)) == page;
        if page.is_none() || is_map || !is_damaged {
            return Err(Error::Corruption(corrupt));
        }
        self.found.lock().insert(page, *corrupt);
        Ok(())
    }

    /// The page is made anew.
    #[cold]
    pub(super) fn find_again(&self, page: PageNo) {
        self.found.lock().remove(&page);
    }

    /// The pages that are lost. All hands have ended.
    pub(crate) fn into_pages(self) -> Vec<CorruptPage> {
        std::mem::take(&mut *self.found.lock()).into_values().collect()
    }
}
