//! Page changes in words, for golden scripts.

use std::fmt::Write as _;

use base::PageNo;
use page::op::decode_change;
use page::{Batch, EXTENT_PAGES, ExtentEntry, ExtentState, PAGE_SIZE, PageOp, PageRef, PageType, SlotFlags};

/// Bytes as text in quotation marks; long ones as their length.
pub(super) fn text(bytes: &[u8]) -> String {
    match bytes.len() {
        0..=40 => format!("\"{}\"", bytes.escape_ascii()),
        len => format!("{len} bytes"),
    }
}

pub(super) fn fences(lower: &[u8], upper: Option<&[u8]>) -> String {
    format!("fences [{}, {})", text(lower), upper.map_or("no bound".to_owned(), text))
}

/// One line for each change in `changes`, in order.
pub(super) fn changes(mut changes: &[u8]) -> Vec<String> {
    let mut lines = Vec::new();
    while !changes.is_empty() {
        let (page_no, op) = decode_change(&mut changes).expect("the redo that Mtr makes");
        lines.push(format!("{page_no}: {}", change(page_no, &op)));
    }
    lines
}

fn change(page_no: PageNo, op: &PageOp<'_>) -> String {
    if let Some((extent, entry)) = ExtentEntry::stored_by(op, page_no) {
        return format!("extent {extent} is {}", self::extent(&entry));
    }
    match *op {
        PageOp::Format(new) => {
            let fences = fences(new.lower, new.upper);
            format!("format level {} of {}, version {}, {fences}", new.level, new.index_id, new.version)
        }
        PageOp::FormatOther { page_type, index_id, version, .. } => {
            format!("format as {page_type:?} of {index_id}, version {version}")
        }
        PageOp::Insert { slot, flags, key, payload } => {
            let marks = if flags == SlotFlags::NONE { "" } else { ", with marks" };
            format!("insert {} = {} as slot {slot}{marks}", text(key), text(payload))
        }
        PageOp::InsertRow { slot, key, .. } => format!("insert row {} as slot {slot}", text(key)),
        PageOp::InsertChild { slot, child, key } => {
            format!("insert child {child} from {} on as slot {slot}", text(key))
        }
        PageOp::Append(batch) => format!("append {}", records(batch)),
        PageOp::Remove { slot } => format!("remove slot {slot}"),
        PageOp::Truncate { from } => format!("remove slots from {from} on"),
        PageOp::ReplacePayload { slot, payload } => format!("slot {slot} gets {}", text(payload)),
        PageOp::Patch { slot, offset, bytes } => format!("slot {slot} gets {} at byte {offset}", text(bytes)),
        PageOp::SetFlags { slot, flags } if flags.is_deleted() => format!("mark slot {slot} as deleted"),
        PageOp::SetRight(right) => format!("right sibling {right}"),
        PageOp::SetFences { lower, upper } => fences(lower, upper),
        PageOp::Image { low, high } => image(low, high),
        PageOp::WriteBytes { offset, bytes } => format!("{} bytes at {offset}", bytes.len()),
        ref other => format!("{other:?}"),
    }
}

fn records(batch: Batch<'_>) -> String {
    format!("a batch of {} bytes", batch.0.len())
}

fn image(low: &[u8], high: &[u8]) -> String {
    let mut bytes = Box::new([0; PAGE_SIZE]);
    bytes[..low.len()].copy_from_slice(low);
    bytes[PAGE_SIZE - high.len()..].copy_from_slice(high);
    format!("image of {} bytes: {}", low.len() + high.len(), page(PageRef::new(&bytes)))
}

/// What a page is and holds.
pub(super) fn page(page: PageRef<'_>) -> String {
    if page.page_type() != PageType::BTree {
        return format!("{:?} of {}, version {}", page.page_type(), page.index_id(), page.version());
    }
    let mut out = format!("level {} of {}, version {}", page.level(), page.index_id(), page.version());
    let _ =
        write!(out, ", {}, right sibling {}", fences(page.lower_fence(), page.upper_fence()), page.right().0);
    for slot in 0..page.count() {
        let _ = write!(out, ", {}", text(&page.key(slot)));
        if !page.is_leaf() {
            let _ = write!(out, " -> {}", page.child(slot).0);
        } else if page.flags(slot).is_deleted() {
            out.push_str(" (deleted)");
        }
    }
    out
}

/// State, owner and pages in use of an extent.
pub(super) fn extent(entry: &ExtentEntry) -> String {
    let mut out = match entry.state {
        ExtentState::Free => "free".to_owned(),
        ExtentState::Shared => "shared by small trees".to_owned(),
        ExtentState::Tree => format!("of {}", entry.index_id),
        ExtentState::Overflow => format!("of values of {}", entry.index_id),
        ExtentState::System => "of the file itself".to_owned(),
    };
    let pages = ranges(entry.used);
    let _ = write!(
        out,
        ", {}, version {}",
        if pages.is_empty() { "no page used" } else { &pages },
        entry.version
    );
    if entry.garbage {
        out.push_str(", garbage");
    }
    if entry.hole {
        out.push_str(", hole");
    }
    out
}

fn ranges(used: u64) -> String {
    let is_used = |at: u32| at < EXTENT_PAGES && used >> at & 1 != 0;
    let mut out = String::new();
    for first in (0..EXTENT_PAGES).filter(|&at| is_used(at) && (at == 0 || !is_used(at - 1))) {
        let last = (first..EXTENT_PAGES).take_while(|&at| is_used(at)).last().unwrap_or(first);
        let _ = write!(out, "{}{first}", if out.is_empty() { "pages " } else { ", " });
        if last > first {
            let _ = write!(out, "-{last}");
        }
    }
    out
}
