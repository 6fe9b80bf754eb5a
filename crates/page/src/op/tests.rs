//! Operations applied forward equal the same operations encoded, decoded and applied to an older image.

use base::prng::Prng;
use base::{IndexId, PageNo, TrxId};

use super::*;
use crate::check::{check_page, check_structure};
use crate::corruption::CorruptionKind;
use crate::layout::PageBytes;

/// An empty page without bounds.
pub(crate) fn start(level: u8, fixed: Option<u16>) -> FormatPage<'static> {
    FormatPage {
        page_no: PageNo(12),
        level,
        index_id: IndexId(99),
        version: 3,
        format_version: 2,
        fixed_key_len: fixed,
        lower: b"",
        upper: None,
        right: PageNo(13),
    }
}

fn leaf_op<'a>(prng: &mut Prng, page: PageRef<'_>, key: &'a [u8], bytes: &'a [u8]) -> PageOp<'a> {
    let at = page.search(key);
    let slot = at.slot as u16;
    if !at.found {
        if bytes.len() >= ROW_HEADER_BYTES && prng.below(2) == 0 {
            return PageOp::InsertRow { slot, key, payload: bytes };
        }
        return PageOp::Insert { slot, flags: SlotFlags::NONE, key, payload: bytes };
    }
    let payload_len = page.payload(at.slot).len();
    match prng.below(10) {
        0 | 1 => PageOp::Remove { slot },
        2 | 3 if !page.flags(at.slot).has_end() => PageOp::ReplacePayload { slot, payload: bytes },
        4 if payload_len >= ROW_HEADER_BYTES + bytes.len() && prng.below(2) == 0 => {
            let offset = (payload_len - bytes.len()) as u16;
            let header = std::array::from_fn(|_| prng.next_u64() as u8);
            PageOp::PatchRow(RowPatch { slot, offset, header, bytes })
        }
        4 if payload_len >= bytes.len() => {
            PageOp::Patch { slot, offset: (payload_len - bytes.len()) as u16, bytes }
        }
        5 if page.flags(at.slot).has_end() => PageOp::Reopen { slot },
        5 | 6 => PageOp::Close { slot, trx: TrxId(prng.below(1 << 40)) },
        7 if payload_len >= ROW_HEADER_BYTES && bytes.len() >= ROW_HEADER_BYTES => {
            PageOp::DeleteRow { slot, header: bytes.first_chunk().unwrap() }
        }
        7 => PageOp::RaiseTrxMax(TrxId(prng.below(1000))),
        8 => PageOp::SetRight(PageNo(prng.below(1000) as u32)),
        _ if prng.below(10) == 0 => PageOp::Reorganize,
        _ => {
            PageOp::SetFences { lower: b"", upper: if prng.below(2) == 0 { None } else { Some(&[0xff; 3]) } }
        }
    }
}

fn inner_op<'a>(prng: &mut Prng, page: PageRef<'_>, key: &'a [u8]) -> PageOp<'a> {
    let at = page.search(key);
    let (slot, child) = (at.slot as u16, PageNo(prng.below(1 << 30) as u32));
    match prng.below(6) {
        _ if page.count() == 0 => PageOp::InsertChild { slot: 0, child, key: b"" },
        _ if !at.found => PageOp::InsertChild { slot, child, key },
        0 if page.count() > 1 => PageOp::Remove { slot: prng.below(page.count() as u64) as u16 },
        1 | 2 => PageOp::Remove { slot },
        _ => PageOp::SetChild { slot, child },
    }
}

/// Applies random operations forward; now and then takes an older copy through the encoded operations since.
fn forward_equals_redo(seed: u64, level: u8, fixed: Option<u16>) {
    let mut prng = Prng::new(seed);
    let mut forward: Box<PageBytes> = Box::new([0; PAGE_SIZE]);
    PageOp::Format(start(level, fixed)).apply(&mut PageMut::new(&mut forward)).unwrap();
    let mut old = forward.clone();
    let mut log = Vec::new();
    let mut full = 0;
    for _ in 0..3000 {
        let len = fixed.map_or(1 + prng.below(12) as usize, usize::from);
        let key: Vec<u8> = (0..len).map(|_| (prng.below(5) * 50) as u8).collect();
        let bytes = vec![prng.next_u64() as u8; prng.below(80) as usize];
        let page = PageRef::new(&forward);
        let op =
            if level == 0 { leaf_op(&mut prng, page, &key, &bytes) } else { inner_op(&mut prng, page, &key) };
        match op.apply(&mut PageMut::new(&mut forward)) {
            Ok(()) => encode_change(&mut log, PageNo(12), &op),
            Err(OpError::Malformed) => panic!("{op:?}"),
            Err(OpError::Full) => {
                full += 1;
                let op = PageOp::Truncate { from: (PageRef::new(&forward).count() / 2) as u16 };
                op.apply(&mut PageMut::new(&mut forward)).unwrap();
                encode_change(&mut log, PageNo(12), &op);
            }
        }
        if prng.below(100) == 0 {
            let mut rest = &log[..];
            while !rest.is_empty() {
                let mut skimmed = rest;
                let (page_no, op) = decode_change(&mut rest).unwrap();
                assert_eq!(skim_change(&mut skimmed), Ok((page_no, false)));
                assert_eq!(skimmed.len(), rest.len());
                assert_eq!(page_no, PageNo(12));
                op.apply(&mut PageMut::new(&mut old)).unwrap();
            }
            assert!(old == forward, "redo differs");
            let empty_inner = level > 0 && PageRef::new(&old).count() == 0;
            assert!(empty_inner || check_page(PageRef::new(&old)) == Ok(()));
            log.clear();
        }
    }
    assert!(full > 0 || level > 0, "the page never filled");
}

#[test]
fn redo_repeats_leaf_operations_byte_for_byte() {
    for seed in 0..6 {
        forward_equals_redo(seed, 0, None);
        forward_equals_redo(seed + 50, 0, Some(4));
        forward_equals_redo(seed + 100, 0, Some(9));
    }
}

#[test]
fn redo_repeats_inner_operations_byte_for_byte() {
    for seed in 0..4 {
        forward_equals_redo(seed, 1, None);
        forward_equals_redo(seed + 50, 1, Some(4));
        forward_equals_redo(seed + 100, 1, Some(8));
    }
}

#[test]
fn an_image_and_a_batch_carry_all_records() {
    let mut source: Box<PageBytes> = Box::new([0; PAGE_SIZE]);
    let mut page = PageMut::new(&mut source);
    page.format(&start(0, None));
    for i in 0..200u32 {
        page.append(&(i * 3).to_be_bytes(), &[i as u8; 20], SlotFlags::DELETED).unwrap();
    }
    page.remove(7);
    let mut image = Vec::new();
    PageOp::image_of(page.as_ref()).encode(&mut image);
    let mut batch = Vec::new();
    Batch::push_slots(&mut batch, page.as_ref(), 0..199);
    let mut encoded = Vec::new();
    PageOp::Append(Batch(&batch)).encode(&mut encoded);

    let mut restored = [0xaa; PAGE_SIZE];
    PageOp::decode(&mut &image[..]).unwrap().apply(&mut PageMut::new(&mut restored)).unwrap();
    let mut copied = [0; PAGE_SIZE];
    PageMut::new(&mut copied).format(&start(0, None));
    PageOp::decode(&mut &encoded[..]).unwrap().apply(&mut PageMut::new(&mut copied)).unwrap();
    for other in [PageRef::new(&restored), PageRef::new(&copied)] {
        assert_eq!(other.count(), 199);
        for slot in 0..199 {
            assert_eq!(other.key(slot), page.as_ref().key(slot));
            assert_eq!(other.payload(slot), page.as_ref().payload(slot));
            assert!(other.flags(slot).is_deleted());
        }
    }
}

#[test]
fn what_cannot_be_applied_is_refused_and_changes_nothing() {
    let mut bytes: Box<PageBytes> = Box::new([0; PAGE_SIZE]);
    PageMut::new(&mut bytes).format(&start(0, Some(4)));
    let before = bytes.clone();
    let bad = [
        PageOp::Remove { slot: 0 },
        PageOp::Insert { slot: 1, flags: SlotFlags::NONE, key: b"abcd", payload: b"" },
        PageOp::Insert { slot: 0, flags: SlotFlags::NONE, key: b"abc", payload: b"" },
        PageOp::InsertRow { slot: 0, key: b"abcd", payload: &[0; ROW_HEADER_BYTES - 1] },
        PageOp::InsertChild { slot: 0, child: PageNo(5), key: b"" },
        PageOp::Patch { slot: 0, offset: 0, bytes: b"x" },
        PageOp::Reopen { slot: 3 },
        PageOp::DeleteRow { slot: 0, header: &[0; ROW_HEADER_BYTES] },
        PageOp::WriteBytes { offset: 40, bytes: b"x" },
        PageOp::Append(Batch(&[4, 1])),
    ];
    for op in bad {
        assert_eq!(op.apply(&mut PageMut::new(&mut bytes)), Err(OpError::Malformed), "{op:?}");
        assert!(bytes == before, "{op:?}");
    }
}

#[test]
fn to_skim_a_change_takes_what_it_takes_to_decode_it() {
    let mut prng = Prng::new(9);
    let (mut decoded, mut refused) = ([0; 23], 0);
    for _ in 0..200_000 {
        let noise: Vec<u8> = (0..prng.below(40)).map(|_| prng.below(24) as u8).collect();
        let (mut rest, mut skimmed) = (&noise[..], &noise[..]);
        let skim = skim_change(&mut skimmed);
        match decode_change(&mut rest) {
            Ok((page, op)) => {
                assert_eq!(skim, Ok((page, matches!(op, PageOp::WriteBytes { .. }))), "{op:?}");
                assert_eq!(skimmed, rest, "{op:?}");
                decoded[usize::from(noise[1])] += 1;
            }
            // Numbers out of range are found when the change is applied.
            Err(_) => refused += u32::from(skim.is_err()),
        }
    }
    assert!(decoded[1..].iter().all(|&times| times > 0) && refused > 1000, "{decoded:?} {refused}");
}

#[test]
fn cut_and_random_bytes_are_refused_or_decode_without_a_panic() {
    let mut encoded = Vec::new();
    PageOp::Format(start(0, None)).encode(&mut encoded);
    for len in 0..encoded.len() {
        assert_eq!(PageOp::decode(&mut &encoded[..len]), Err(OpError::Malformed));
    }
    let mut prng = Prng::new(5);
    let mut page: Box<PageBytes> = Box::new([0; PAGE_SIZE]);
    for _ in 0..20_000 {
        PageMut::new(&mut page).format(&start(prng.below(2) as u8, None));
        let noise: Vec<u8> = (0..prng.below(40)).map(|_| prng.below(24) as u8).collect();
        let mut rest = &noise[..];
        while let Ok(op) = PageOp::decode(&mut rest) {
            // An image replaces the page by bytes that only a frame's checksum vouches for.
            if !matches!(op, PageOp::Image { .. }) {
                let _ = op.apply(&mut PageMut::new(&mut page));
            }
        }
    }
}

/// A leaf with one record.
fn leaf_of(key: &[u8], payload: &[u8], flags: SlotFlags) -> Box<PageBytes> {
    let mut bytes: Box<PageBytes> = Box::new([0; PAGE_SIZE]);
    let mut page = PageMut::new(&mut bytes);
    page.format(&start(0, None));
    PageOp::Insert { slot: 0, flags, key, payload }.apply(&mut page).unwrap();
    bytes
}

#[test]
fn the_insertion_of_a_row_is_its_parts_in_one() {
    let payload: [u8; ROW_HEADER_BYTES + 20] = std::array::from_fn(|i| i as u8);
    let mut one = leaf_of(b"key", &[7; ROW_HEADER_BYTES], SlotFlags::NONE);
    let mut many = one.clone();
    let insert = PageOp::InsertRow { slot: 1, key: b"kez", payload: &payload };
    insert.apply(&mut PageMut::new(&mut one)).unwrap();
    for op in [
        PageOp::Insert { slot: 1, flags: SlotFlags::NONE, key: b"kez", payload: &payload },
        PageOp::RaiseTrxMax(TrxId(0x0504_0302_0100)),
    ] {
        op.apply(&mut PageMut::new(&mut many)).unwrap();
    }
    assert!(one == many);
}

#[test]
fn a_deletion_is_its_parts_in_one() {
    let mut one = leaf_of(b"key", &[7; ROW_HEADER_BYTES + 20], SlotFlags::NONE);
    let mut many = one.clone();
    let header: [u8; ROW_HEADER_BYTES] = std::array::from_fn(|i| i as u8);
    PageOp::DeleteRow { slot: 0, header: &header }.apply(&mut PageMut::new(&mut one)).unwrap();
    for op in [
        PageOp::Patch { slot: 0, offset: 0, bytes: &header },
        PageOp::SetFlags { slot: 0, flags: SlotFlags::DELETED },
        PageOp::RaiseTrxMax(TrxId(0x0504_0302_0100)),
    ] {
        op.apply(&mut PageMut::new(&mut many)).unwrap();
    }
    assert!(one == many);
}

#[test]
fn a_close_is_its_parts_in_one() {
    for (key, flags) in [(&b"key"[..], SlotFlags::NONE), (b"key45678\0\0\0\0\x01\x02", SlotFlags::HAS_BEGIN)]
    {
        for payload in [&b""[..], b"covering"] {
            let mut one = leaf_of(key, payload, flags);
            let mut many = one.clone();
            let id = [9, 8, 7, 6, 5, 4];
            PageOp::Close { slot: 0, trx: TrxId(0x0405_0607_0809) }
                .apply(&mut PageMut::new(&mut one))
                .unwrap();
            for op in [
                PageOp::ReplacePayload { slot: 0, payload: &[&id[..], payload].concat() },
                PageOp::SetFlags { slot: 0, flags: SlotFlags::DELETED.with(SlotFlags::HAS_END) },
                PageOp::RaiseTrxMax(TrxId(0x0405_0607_0809)),
            ] {
                op.apply(&mut PageMut::new(&mut many)).unwrap();
            }
            assert!(one == many, "{key:?}");
        }
    }
}

#[test]
fn a_begin_id_and_an_end_id_raise_the_highest_transaction() {
    let mut bytes = leaf_of(b"key\0\0\0\0\x01\x02", b"", SlotFlags::HAS_BEGIN);
    assert_eq!(PageRef::new(&bytes).trx_max(), TrxId(0x102));
    PageOp::Close { slot: 0, trx: TrxId(0x101) }.apply(&mut PageMut::new(&mut bytes)).unwrap();
    assert_eq!(PageRef::new(&bytes).trx_max(), TrxId(0x102));
    PageOp::Close { slot: 0, trx: TrxId(0x103) }.apply(&mut PageMut::new(&mut bytes)).unwrap();
    assert_eq!(PageRef::new(&bytes).trx_max(), TrxId(0x103));
    assert_eq!(PageRef::new(&leaf_of(b"key456789", b"", SlotFlags::NONE)).trx_max(), TrxId(0));
}

#[test]
fn a_row_patch_is_its_parts_in_one() {
    let zeros: PageBytes = [0; PAGE_SIZE];
    let (mut one, mut many) = (Box::new(zeros), Box::new(zeros));
    for page in [&mut one, &mut many] {
        let mut page = PageMut::new(page);
        PageOp::Format(start(0, None)).apply(&mut page).unwrap();
        let insert = PageOp::Insert {
            slot: 0,
            flags: SlotFlags::NONE,
            key: b"key",
            payload: &[7; ROW_HEADER_BYTES + 20],
        };
        insert.apply(&mut page).unwrap();
    }
    let header: [u8; ROW_HEADER_BYTES] = std::array::from_fn(|i| i as u8);
    let bytes = b"new";
    let patch = PageOp::PatchRow(RowPatch { slot: 0, offset: 20, header, bytes });
    patch.apply(&mut PageMut::new(&mut one)).unwrap();
    for op in [
        PageOp::Patch { slot: 0, offset: 0, bytes: &header },
        PageOp::Patch { slot: 0, offset: 20, bytes },
        PageOp::RaiseTrxMax(TrxId(0x0504_0302_0100)),
    ] {
        op.apply(&mut PageMut::new(&mut many)).unwrap();
    }
    assert!(one[..] == many[..]);
    for (offset, len) in [(12, 1), (13, 21), (33, 1)] {
        let patch = PageOp::PatchRow(RowPatch { slot: 0, offset, header, bytes: &[1; 21][..len] });
        assert_eq!(patch.apply(&mut PageMut::new(&mut one)), Err(OpError::Malformed), "{len} at {offset}");
    }
}

/// Applies operations whose encodings were changed to pages at work, as recovery does; how many were refused,
/// and applied.
fn changed_operations(seed: u64, level: u8, fixed: Option<u16>) -> (usize, usize) {
    let mut prng = Prng::new(seed);
    let mut bytes: Box<PageBytes> = Box::new([0; PAGE_SIZE]);
    PageOp::Format(start(level, fixed)).apply(&mut PageMut::new(&mut bytes)).unwrap();
    let (mut refused, mut applied) = (0, 0);
    for round in 0..4000 {
        let len = fixed.map_or(1 + prng.below(12) as usize, usize::from);
        let key: Vec<u8> = (0..len).map(|_| (prng.below(5) * 50) as u8).collect();
        let payload = vec![prng.next_u64() as u8; prng.below(80) as usize];
        let page = PageRef::new(&bytes);
        let op = if level == 0 {
            leaf_op(&mut prng, page, &key, &payload)
        } else {
            inner_op(&mut prng, page, &key)
        };
        let mut batch = Vec::new();
        let op = match round % 60 {
            0 => PageOp::image_of(page),
            1 => PageOp::Truncate { from: (page.count() / 2) as u16 },
            2 => {
                Batch::push_slots(&mut batch, page, page.count() / 2..page.count());
                PageOp::Append(Batch(&batch))
            }
            _ => op,
        };
        let mut log = Vec::new();
        op.encode(&mut log);
        for _ in 0..prng.below(3) {
            let at = prng.below(log.len().min(40) as u64) as usize;
            log[at] ^= 1 << prng.below(8);
        }
        let Ok(op) = PageOp::decode(&mut &log[..]) else { continue };
        let before = bytes.clone();
        let checked = op.check_for(PageRef::new(&bytes), PageNo(12));
        let done = checked.and_then(|()| op.apply(&mut PageMut::new(&mut bytes)));
        let done = done.and_then(|()| op.check_applied(PageRef::new(&bytes), PageNo(12)));
        let page = PageRef::new(&bytes);
        let is_tree_page = page.page_type() == PageType::BTree;
        if done.is_ok() && is_tree_page {
            // Where links lead shows when they are followed.
            let found = check_structure(page).err().map(|bad| bad.what);
            let is_sound =
                found.is_none_or(|what| matches!(what, CorruptionKind::Child | CorruptionKind::Link));
            assert!(is_sound, "{op:?} leaves {found:?}");
            applied += 1;
        }
        refused += usize::from(done.is_err());
        if done.is_err() || !is_tree_page || page.level() != level || page.fixed_key_len() != fixed {
            bytes = before;
        }
    }
    (refused, applied)
}

#[test]
fn changed_operations_are_refused_or_leave_a_page_that_can_be_read() {
    let (mut refused, mut applied) = (0, 0);
    for seed in 0..4 {
        for (level, fixed) in [(0, None), (0, Some(9)), (1, None), (1, Some(8))] {
            let told = changed_operations(seed, level, fixed);
            refused += told.0;
            applied += told.1;
        }
    }
    assert!(refused > 3000 && applied > 3000, "{refused} refused, {applied} applied");
}
#[test]
fn the_separator_that_becomes_the_first_leaves_dead_bytes_behind() {
    let mut bytes: Box<PageBytes> = Box::new([0; PAGE_SIZE]);
    let mut page = PageMut::new(&mut bytes);
    PageOp::Format(start(1, None)).apply(&mut page).unwrap();
    for (slot, key) in (0u16..).zip([&b""[..], b"abcdefgh", b"bcdefghijk", b"cdefghijklmn"]) {
        let child = PageNo(u32::from(slot) + 20);
        PageOp::InsertChild { slot, child, key }.apply(&mut page).unwrap();
    }
    for _ in 0..3 {
        PageOp::Remove { slot: 0 }.apply(&mut page).unwrap();
        assert_eq!(check_page(page.as_ref()), Ok(()));
    }
}
