//! Where pages are in the data file.

use base::PageNo;
use page::PAGE_SIZE;

/// Byte position of a page in the file.
pub(crate) fn offset_of(page: PageNo) -> u64 {
    u64::from(page.0) * PAGE_SIZE as u64
}
