//! Page bytes: what passes the check at the disk boundary can be read.

use base::codec::get_u32;
use base::{IndexId, PageNo};
use page::check::{check_extent_map, check_page};
use page::{
    Batch, ExtentPlace, FileHeader, FormatPage, PAGE_SIZE, PageBytes, PageMut, PageOp, PageRef, PageType,
    SlotFlags, stamp_checksum, verify_on_read,
};

use crate::Bytes;

/// Number of the page under test.
const PAGE: PageNo = PageNo(7);
/// Extents that a map page describes, at least.
const EXTENTS: usize = 64;

/// Changes bytes of a sound page, which the first byte selects, and stamps its checksum; if the check on read
/// accepts it, it is read.
pub fn run(input: &[u8]) {
    let mut input = Bytes::new(input);
    let mut page = sound_page(input.u8());
    while !input.is_empty() {
        let (at, value) = (usize::from(input.u16()) % PAGE_SIZE, input.u8());
        page[at] = value;
    }
    page[4..8].copy_from_slice(&PAGE.0.to_le_bytes());
    stamp_checksum(&mut page);
    if verify_on_read(&page, PAGE).is_ok() {
        read_all(PageRef::new(&page));
    }
}

/// A leaf or an inner page, with keys of one length or of several, or a page of another type.
fn sound_page(shape: u8) -> Box<PageBytes> {
    let mut bytes = Box::new([0; PAGE_SIZE]);
    let mut page = PageMut::new(&mut bytes);
    let level = shape >> 1 & 1;
    let fixed_key_len = (shape & 1 != 0).then_some(12);
    match shape >> 2 & 7 {
        0 => page.format_common(PAGE, PageType::ExtentMap, IndexId(9), 1),
        1 => page.format_common(PAGE, PageType::Overflow, IndexId(9), 1),
        2 => page.format_common(PAGE, PageType::FileHeader, IndexId(9), 1),
        _ => {
            page.format(&FormatPage {
                page_no: PAGE,
                level,
                index_id: IndexId(9),
                version: 1,
                format_version: 1,
                fixed_key_len,
                lower: b"",
                upper: None,
                right: PageNo(8),
            });
            fill(&mut page, level, fixed_key_len);
        }
    }
    bytes
}

fn fill(page: &mut PageMut<'_>, level: u8, fixed_key_len: Option<u16>) {
    let mut batch = Vec::new();
    for n in 0..100u32 {
        let mut key = format!("key {n:06}xy").into_bytes();
        if fixed_key_len.is_none() {
            key.resize(8 + n as usize % 9, b'z');
            key[..4].copy_from_slice(&n.to_be_bytes());
        }
        if level == 0 {
            let payload = vec![n as u8; 20 + n as usize % 40];
            let flags = if n % 7 == 0 { SlotFlags::DELETED } else { SlotFlags::NONE };
            Batch::push_record(&mut batch, &key, &payload, flags);
        } else {
            Batch::push_child(&mut batch, &key, PageNo(n + 20));
        }
    }
    PageOp::Append(Batch(&batch)).apply(page).expect("a hundred records fit");
}

/// Everything that readers of a page do.
fn read_all(page: PageRef<'_>) {
    match page.page_type() {
        PageType::BTree => read_tree_page(page),
        PageType::ExtentMap => {
            for slot in 0..EXTENTS {
                page.extent(ExtentPlace { slot, ..ExtentPlace::of(page.page_no()) }.slot);
            }
            // Damage is an answer.
            let _ = check_extent_map(page);
        }
        PageType::FileHeader => {
            let _ = FileHeader::decode(page);
        }
        PageType::Overflow | PageType::Free => {
            get_u32(page.bytes(), 28);
        }
    }
}

fn read_tree_page(page: PageRef<'_>) {
    let is_sound = check_page(page).is_ok();
    page.covers(b"key 000050xy");
    page.used_bytes();
    for slot in 0..page.count() {
        let key = page.key(slot);
        page.compare_key(slot, b"key 000050xy");
        page.slot_used_bytes(slot);
        if page.is_leaf() {
            let record = page.record(slot);
            assert_eq!(record.key_len(), key.len());
            record.begin_trx();
            record.has_key(&key);
            assert!(record.payload().len() <= PAGE_SIZE);
            if is_sound {
                record.with_key(|own| assert!(key.starts_with(own)));
            }
        } else {
            page.child(slot);
        }
    }
    let mut copy = Box::new([0; PAGE_SIZE]);
    page.copy_to(&mut copy);
}
