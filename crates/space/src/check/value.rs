//! Off-page values: their pages are theirs alone, and hold the bytes that the reference names.

use base::checksum::Crc32;
use base::{IndexId, PageNo};
use page::OverflowRef;

use super::{PageSet, Problems};
use crate::store::Store;

impl Store {
    /// Reads a value of tree `index`, a page at a time. `pages` learns of its pages.
    pub fn check_value(
        &self,
        index: IndexId,
        reference: &OverflowRef,
        pages: &mut PageSet<'_>,
        problems: &mut Problems,
    ) {
        let first = reference.first;
        if reference.pages != OverflowRef::pages_for(reference.len) {
            return problems
                .add(first, "is the first of other pages than an off-page value of this length has");
        }
        let last = first.0.checked_add(reference.pages - 1).map(PageNo);
        if first.is_none() || !last.is_some_and(|last| pages.has_room_for(last)) {
            return problems
                .add(first, "starts an off-page value but is not in the file, or its last page is not");
        }
        let (mut crc, mut bytes) = (Crc32::default(), 0);
        for position in 0..reference.pages {
            let page_no = PageNo(first.0 + position);
            if !pages.claim(page_no) {
                return problems.add(page_no, "belongs to two trees or off-page values");
            }
            problems.expect(
                self.is_owned_by(index, page_no),
                page_no,
                "is not allocated to the tree of its value",
            );
            let guard = match self.pool.shared_cold(page_no) {
                Ok(guard) => guard,
                Err(error) => return problems.add(page_no, format!("of an off-page value: {error}")),
            };
            problems.expect(guard.page().index_id() == index, page_no, "is of another tree than its value");
            let Ok(piece) = guard.page().overflow_bytes(reference, position) else {
                return problems.add(page_no, page::CorruptionKind::Overflow.words());
            };
            crc.update(piece);
            bytes += piece.len() as u64;
        }
        if bytes != reference.len || crc.finish() != reference.crc {
            problems.add(first, "starts an off-page value whose checksum does not match its bytes");
        }
    }
}
