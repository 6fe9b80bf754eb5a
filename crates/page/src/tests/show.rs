//! Pages as text, for golden scripts.

use std::fmt::Write as _;

use base::ROW_HEADER_BYTES;
use base::codec::{get_u16, get_u32, get_u48};

use crate::layout::*;
use crate::*;

/// Bytes as text, without quotation marks.
fn text(bytes: &[u8]) -> String {
    bytes.escape_ascii().to_string()
}

fn fences(page: PageRef<'_>) -> String {
    let upper = page.upper_fence().map_or("no bound".to_owned(), |upper| format!("\"{}\"", text(upper)));
    format!("[\"{}\", {upper})", text(page.lower_fence()))
}

/// Header, fences and slots; of many slots the first and the last `ends`. `rows`: payloads begin with a row
/// header.
pub(super) fn page(page: PageRef<'_>, ends: usize, rows: bool) -> String {
    let kind = if page.is_leaf() { "leaf".to_owned() } else { format!("inner page, level {}", page.level()) };
    let mut out = format!("{}: {kind} of {}", page.page_no(), page.index_id());
    let (version, format, trx_max) = (page.version(), page.format_version(), page.trx_max().0);
    let _ = writeln!(out, ", version {version}, row format {format}, max trx {trx_max}");
    let stored = if page.prefix().is_empty() {
        ""
    } else if page.lower_fence().starts_with(page.prefix()) {
        " in the lower fence"
    } else {
        " in the heap"
    };
    let fixed = page.fixed_key_len().map_or(String::new(), |len| format!(", keys of {len} bytes"));
    let _ = writeln!(
        out,
        "fences {}, prefix \"{}\"{stored}{fixed}, right sibling {}",
        fences(page),
        text(page.prefix()),
        page.right().0
    );
    let hole = page.heap_top() - page.arrays_end(page.cap());
    let _ = writeln!(
        out,
        "{} slots, cap {}; arrays end at {}, heap begins at {}: hole of {hole}; used {}, garbage {}",
        page.count(),
        page.cap(),
        page.arrays_end(page.cap()),
        page.heap_top(),
        page.used_bytes(),
        page.garbage()
    );
    for slot in 0..page.count() {
        if slot >= ends && slot + ends < page.count() {
            if slot == ends {
                let _ = writeln!(out, "  ...");
            }
            continue;
        }
        let _ = writeln!(out, "  {}", self::slot(page, slot, rows));
    }
    out
}

/// A slot: number, place and length of its cell, key as prefix|head|suffix, then what belongs to the key.
fn slot(page: PageRef<'_>, slot: usize, rows: bool) -> String {
    let key = page.key(slot);
    let (prefix, rest) = key.split_at(page.prefix_len().min(key.len()));
    let (head, suffix) = rest.split_at(rest.len().min(HEAD_BYTES));
    let parts = format!("{}|{}|{}", text(prefix), text(head), text(suffix));
    if !page.is_leaf() {
        let cell = if slot == 0 { "no cell".to_owned() } else { cell(page, slot) };
        let key = if slot == 0 { "(lower fence)".to_owned() } else { parts };
        return format!("{slot}: {cell}, {key} -> {}", page.child(slot));
    }
    let (mut payload, flags, mut marks) = (page.payload(slot), page.flags(slot), String::new());
    if rows {
        let _ = write!(marks, ", {}", RowHeader::decode(payload).trx);
        payload = &payload[ROW_HEADER_BYTES..];
    }
    if flags.has_begin() {
        let _ = write!(marks, ", begin {}", page.record(slot).begin_trx());
    }
    if flags.has_end() {
        let _ = write!(marks, ", end {}", get_u48(payload, 0));
        payload = &payload[TRX_ID_BYTES..];
    }
    if flags.is_deleted() {
        marks.push_str(", deleted");
    }
    format!("{slot}: {}, {parts} = \"{}\"{marks}", cell(page, slot), shortened(payload))
}

fn shortened(payload: &[u8]) -> String {
    match payload.len() {
        0..=24 => text(payload),
        len => format!("{}... {len} bytes", text(&payload[..8])),
    }
}

fn cell(page: PageRef<'_>, slot: usize) -> String {
    format!("{}+{}", page.slot_word(slot) & SLOT_OFFSET, page.cell_len_at(slot))
}

/// What the heap holds, lowest byte first.
pub(super) fn heap(page: PageRef<'_>) -> String {
    let mut pieces = Vec::new();
    let first_cell = usize::from(!page.is_leaf());
    for slot in first_cell..page.count() {
        let at = usize::from(page.slot_word(slot) & SLOT_OFFSET);
        pieces.push((at, page.cell_len_at(slot), format!("cell of slot {slot}")));
    }
    for (name, field) in [("lower fence", LOWER_FENCE), ("upper fence", UPPER_FENCE)] {
        let (at, len) = (get_u16(page.bytes(), field), get_u16(page.bytes(), field + 2));
        if len != 0 && len != NO_FENCE {
            let (at, len) = (usize::from(at), usize::from(len));
            pieces.push((at, len, format!("{name} \"{}\"", text(&page.bytes()[at..at + len]))));
        }
    }
    if page.own_prefix_len() > 0 {
        let at = get_u16(page.bytes(), PREFIX_AT).into();
        pieces.push((at, page.own_prefix_len(), format!("prefix \"{}\"", text(page.prefix()))));
    }
    pieces.sort();
    let (mut out, mut at) = (String::new(), page.heap_top());
    for (start, len, what) in pieces {
        if start > at {
            let _ = writeln!(out, "  {at}+{}: dead", start - at);
        }
        let _ = writeln!(out, "  {start}+{len}: {what}");
        at = start + len;
    }
    if at < PAGE_SIZE {
        let _ = writeln!(out, "  {at}+{}: dead", PAGE_SIZE - at);
    }
    format!("heap from {} to {PAGE_SIZE}\n{out}", page.heap_top())
}

/// The heads that the hints hold, and where they are.
pub(super) fn hints(page: PageRef<'_>) -> String {
    let count = page.count();
    let mut out = format!("{count} slots, hints from {HINT_COUNT_MIN} on\n");
    if count < HINT_COUNT_MIN {
        return out;
    }
    for hint in 0..HINTS {
        let head = get_u32(page.bytes(), HINT_ARRAY + HEAD_BYTES * hint);
        let slot = (hint + 1) * (count / (HINTS + 1));
        let _ = writeln!(out, "  hint {hint}: \"{}\", the head of slot {slot}", text(&head.to_be_bytes()));
    }
    out
}
