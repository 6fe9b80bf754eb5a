//! Whether an operation that was read from a log suits its page. The forward path makes operations that do;
//! the bytes of a log may be anything.

use std::cmp::Ordering;

use base::PageNo;

use super::codec::{take_bytes, take_flags, take_page_no};
use super::{Batch, OpError, PageOp, require};
use crate::check::check_structure;
use crate::layout::{PAGE_TYPE, PageType, SlotFlags, TRX_ID_BYTES};
use crate::page_ref::{PageRef, head_of};

impl PageOp<'_> {
    /// Asks what [`PageOp::apply`] does not, because its callers see to it: keys in their place among the
    /// others and within the fences, marks that the bytes of a record bear out, the page's own number. Cost:
    /// about 40 instructions an insertion, few for others; a pass over a batch.
    ///
    /// # Errors
    /// [`OpError::Malformed`]. Without one `apply` may still answer an error.
    pub fn check_for(&self, page: PageRef<'_>, page_no: PageNo) -> Result<(), OpError> {
        match *self {
            PageOp::Format(start) => {
                require(start.page_no == page_no && start.upper.is_none_or(|upper| start.lower < upper))
            }
            PageOp::FormatOther { page_no: own, .. } => require(own == page_no),
            PageOp::Image { .. } | PageOp::WriteBytes { .. } => Ok(()),
            _ if page.page_type() != PageType::BTree => Err(OpError::Malformed),
            PageOp::Insert { slot, flags, key, payload } => {
                check_marks(flags, key, payload)?;
                require(page.is_leaf() && admits(page, slot.into(), key))
            }
            PageOp::InsertRow { slot, key, .. } => require(page.is_leaf() && admits(page, slot.into(), key)),
            PageOp::InsertChild { slot, key, .. } => {
                require(!page.is_leaf() && (slot == 0 || admits(page, slot.into(), key)))
            }
            PageOp::Append(batch) => check_batch(batch, page),
            PageOp::Truncate { from } => require(usize::from(from) <= page.count()),
            PageOp::SetFences { lower, upper } => check_fences(page, lower, upper),
            _ => Ok(()),
        }
    }

    /// Whether `page`, to which the operation was applied, is one: bytes that an image puts there may be
    /// anything.
    pub fn check_applied(&self, page: PageRef<'_>, page_no: PageNo) -> Result<(), OpError> {
        if !matches!(self, PageOp::Image { .. }) {
            return Ok(());
        }
        require(page.page_no() == page_no && PageType::from_byte(page.bytes()[PAGE_TYPE]).is_some())?;
        require(page.page_type() != PageType::BTree || check_structure(page).is_ok())
    }
}

/// Whether `key` lies between its neighbours if it becomes `slot`, and within the fences.
fn admits(page: PageRef<'_>, slot: usize, key: &[u8]) -> bool {
    // Slot 0 of an inner page has no key of its own.
    let (first, count) = (usize::from(!page.is_leaf()), page.count());
    if slot > count || slot < first {
        return false;
    }
    let (has_before, has_after) = (slot > first, slot < count);
    if has_before && has_after && page.is_under_prefix(key) {
        let head = head_of(&key[page.prefix().len()..]);
        if page.head(slot - 1) < head && head < page.head(slot) {
            return true;
        }
    }
    (!has_before || page.compare_key(slot - 1, key) == Ordering::Less)
        && (!has_after || page.compare_key(slot, key) == Ordering::Greater)
        && page.covers(key)
}

/// The begin and end ids that the marks announce are there.
fn check_marks(flags: SlotFlags, key: &[u8], payload: &[u8]) -> Result<(), OpError> {
    require(!flags.has_begin() || key.len() >= TRX_ID_BYTES)?;
    require(!flags.has_end() || payload.len() >= TRX_ID_BYTES)
}

/// The keys of a batch ascend, after those of the page and within its fences.
fn check_batch(batch: Batch<'_>, page: PageRef<'_>) -> Result<(), OpError> {
    let (mut rest, inner) = (batch.0, !page.is_leaf());
    let mut before: Option<&[u8]> = None;
    let mut slot = page.count();
    while !rest.is_empty() {
        let key = take_bytes(&mut rest)?;
        if inner {
            take_page_no(&mut rest)?;
        } else {
            let flags = take_flags(&mut rest)?;
            check_marks(flags, key, take_bytes(&mut rest)?)?;
        }
        slot += 1;
        if inner && slot == 1 {
            // The lower fence stands for it.
            continue;
        }
        match before {
            Some(before) => require(before < key)?,
            None => require(page.covers(key) && follows_last(page, key))?,
        }
        before = Some(key);
    }
    require(before.is_none_or(|last| page.covers(last)))
}

/// Whether `key` is above all keys of the page.
fn follows_last(page: PageRef<'_>, key: &[u8]) -> bool {
    let keys_from = usize::from(!page.is_leaf());
    page.count() <= keys_from || page.compare_key(page.count() - 1, key) == Ordering::Less
}

/// The new fences are in order and enclose all keys.
fn check_fences(page: PageRef<'_>, lower: &[u8], upper: Option<&[u8]>) -> Result<(), OpError> {
    require(upper.is_none_or(|upper| lower < upper))?;
    let keys_from = usize::from(!page.is_leaf());
    if page.count() <= keys_from {
        return Ok(());
    }
    require(page.compare_key(keys_from, lower) != Ordering::Less)?;
    require(upper.is_none_or(|upper| page.compare_key(page.count() - 1, upper) == Ordering::Less))
}
