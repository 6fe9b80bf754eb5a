//! Numbers of extents: where a page is among them.

use base::PageNo;
use page::{EXTENT_PAGES, ExtentPlace};

/// Number of an extent: page number / 64.
pub(crate) type ExtentNo = u32;

/// The extent of a page.
pub(crate) fn extent_of(page: PageNo) -> ExtentNo {
    page.0 / EXTENT_PAGES
}

/// The bit of a page in [`page::ExtentEntry::used`].
pub(crate) fn bit_of(page: PageNo) -> u64 {
    1 << (page.0 % EXTENT_PAGES)
}

/// The page that describes an extent.
pub(crate) fn map_page_of(extent: ExtentNo) -> PageNo {
    ExtentPlace::of(PageNo(extent * EXTENT_PAGES)).map
}
