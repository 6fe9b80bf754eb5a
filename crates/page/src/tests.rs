//! Pages against a sorted vector.

use base::prng::Prng;
use base::{IndexId, PageNo};

use crate::*;

type Model = Vec<(Vec<u8>, Vec<u8>, SlotFlags)>;

fn empty(fixed: Option<u16>, level: u8, lower: &[u8], upper: Option<&[u8]>) -> Box<PageBytes> {
    let mut bytes = Box::new([0; PAGE_SIZE]);
    PageMut::new(&mut bytes).format(&FormatPage {
        page_no: PageNo(9),
        level,
        index_id: IndexId(70),
        version: 1,
        format_version: 1,
        fixed_key_len: fixed,
        lower,
        upper,
        right: PageNo::NONE,
    });
    bytes
}

fn assert_same(page: PageRef<'_>, model: &Model) {
    assert_eq!(check::check_page(page), Ok(()));
    assert_eq!(page.count(), model.len());
    for (slot, (key, payload, flags)) in model.iter().enumerate() {
        assert_eq!(&page.key(slot), key);
        assert_eq!(page.payload(slot), &payload[..]);
        assert_eq!(page.flags(slot), *flags);
        let mut bytes = vec![7];
        let copy = page.record(slot).copy_to(&mut bytes);
        let mut copied = Vec::new();
        copy.record(&bytes).append_key(&mut copied);
        assert_eq!((&copied, copy.record(&bytes).payload()), (key, &payload[..]));
    }
}

fn random_key(prng: &mut Prng, fixed: Option<u16>, prefix: &[u8]) -> (Vec<u8>, SlotFlags) {
    let mut key = prefix.to_vec();
    let len = fixed.map_or(1 + prng.below(20) as usize, |len| usize::from(len) - prefix.len());
    let spread = 1 + prng.below(4);
    // 0xff would climb over the upper fence; few distinct bytes make equal heads frequent.
    key.extend((0..len).map(|_| (prng.below(spread * spread * spread) as u8).wrapping_mul(7) & 0x7f));
    if prng.below(4) == 0 {
        key.extend_from_slice(&prng.below(1000).to_be_bytes()[2..]);
        return (key, SlotFlags::HAS_BEGIN);
    }
    (key, SlotFlags::NONE)
}

fn churn(seed: u64, fixed: Option<u16>, prefix: &[u8]) {
    let mut prng = Prng::new(seed);
    let upper: Vec<u8> = prefix.iter().copied().chain([0xff]).collect();
    let lower = if prefix.is_empty() { vec![] } else { [prefix, &[0]].concat() };
    let mut bytes = empty(fixed, 0, &lower, Some(&upper));
    let mut model: Model = Vec::new();
    let mut full = 0;
    for step in 0..4000 {
        let (key, begin) = random_key(&mut prng, fixed, prefix);
        let at = model.binary_search_by(|entry| entry.0.cmp(&key));
        let found = PageRef::new(&bytes).search(&key);
        assert_eq!((found.slot, found.found), (at.unwrap_or_else(|i| i), at.is_ok()), "step {step}");
        let payload = vec![step as u8; prng.below(60) as usize];
        let mut page = PageMut::new(&mut bytes);
        match (prng.below(8), at) {
            (0..=3, Err(slot)) => {
                if page.insert(slot, &key, &payload, begin).is_ok() {
                    model.insert(slot, (key, payload, begin));
                } else {
                    full += 1;
                    page.truncate(model.len() / 2);
                    model.truncate(model.len() / 2);
                }
            }
            (0 | 1, Ok(slot)) => {
                page.remove(slot);
                model.remove(slot);
            }
            (2..=4, Ok(slot)) => {
                let replaced = page.replace_payload(slot, &payload);
                model[slot].1 = if replaced.is_ok() { payload } else { model[slot].1.clone() };
            }
            (5, Ok(slot)) => {
                let flags = SlotFlags::from_bits((prng.below(4) as u16) << 14);
                page.set_flags(slot, flags);
                model[slot].2 = flags.with(begin);
            }
            (6, Ok(slot)) if !model[slot].1.is_empty() => {
                page.patch(slot, 0, &[0xee]);
                model[slot].1[0] = 0xee;
            }
            (7, _) if prng.below(20) == 0 => page.reorganize(),
            _ => {}
        }
        if step % 50 == 0 {
            assert_same(PageRef::new(&bytes), &model);
        }
    }
    assert_same(PageRef::new(&bytes), &model);
    assert!(full > 0 || fixed == Some(5), "the page never filled");
}

#[test]
fn a_variable_key_page_equals_a_sorted_vector() {
    for seed in 0..8 {
        churn(seed, None, b"");
        churn(seed + 100, None, b"common/");
    }
}

#[test]
fn a_fixed_key_page_equals_a_sorted_vector() {
    for seed in 0..8 {
        churn(seed, Some(8), b"");
        churn(seed + 100, Some(11), b"abcdefgh");
        churn(seed + 200, Some(5), b"ab");
    }
}

#[test]
fn keys_outside_the_prefix_are_below_or_above_all() {
    let mut bytes = empty(None, 0, b"pp1", Some(b"pp9"));
    PageMut::new(&mut bytes).append(b"pp5", b"x", SlotFlags::NONE).unwrap();
    let page = PageRef::new(&bytes);
    assert_eq!(page.prefix(), b"pp");
    assert_eq!(page.search(b"p"), Search { slot: 0, found: false });
    assert_eq!(page.search(b"a"), Search { slot: 0, found: false });
    assert_eq!(page.search(b"pq"), Search { slot: 1, found: false });
    assert_eq!(page.search(b"pp5"), Search { slot: 0, found: true });
}

#[test]
fn children_are_found_by_the_last_key_not_above() {
    for fixed in [Some(8u16), None] {
        let mut bytes = empty(fixed, 1, b"", None);
        let mut page = PageMut::new(&mut bytes);
        page.insert_child(0, b"", PageNo(1000)).unwrap();
        let key = |i: u64| (i * 10).to_be_bytes();
        let mut count = 1;
        while page.insert_child(count, &key(count as u64), PageNo(1000 + count as u32)).is_ok() {
            count += 1;
        }
        assert!(count > 1000, "fan-out {count}");
        let page = PageRef::new(&bytes);
        assert_eq!(check::check_page(page), Ok(()));
        for i in 1..count as u64 {
            for (probe, want) in [(i * 10, i), (i * 10 + 9, i), (i * 10 - 1, i - 1)] {
                let slot = page.child_for(&probe.to_be_bytes());
                assert_eq!(page.child(slot), PageNo(1000 + want as u32));
            }
        }
        assert_eq!(page.child_for(&key(0)), 0);
    }
}

#[test]
fn new_fences_keep_the_records_and_change_the_prefix() {
    let mut bytes = empty(None, 0, b"", None);
    let mut page = PageMut::new(&mut bytes);
    for i in 0..50u32 {
        page.append(format!("key/{i:04}").as_bytes(), b"payload", SlotFlags::DELETED).unwrap();
    }
    page.set_fences(b"key/0000", Some(b"key/1")).unwrap();
    let page = PageRef::new(&bytes);
    assert_eq!(page.prefix(), b"key/");
    assert_eq!((page.count(), page.key(49)), (50, b"key/0049".to_vec()));
    assert!(page.flags(3).is_deleted() && page.search(b"key/0031").found);
}

#[test]
fn a_damaged_page_is_refused_and_a_zero_page_is_free() {
    let mut bytes = empty(None, 0, b"", None);
    stamp_checksum(&mut bytes);
    assert_eq!(verify_on_read(&bytes, PageNo(9)), Ok(()));
    let misdirected = verify_on_read(&bytes, PageNo(8)).unwrap_err();
    assert_eq!(misdirected.what, CorruptionKind::PageNo);
    bytes[5000] ^= 1;
    assert_eq!(verify_on_read(&bytes, PageNo(9)).unwrap_err().what, CorruptionKind::Checksum);
    assert_eq!(verify_on_read(&[0; PAGE_SIZE], PageNo(9)), Ok(()));
}

#[test]
fn integer_key_parts_are_read_across_prefix_head_and_suffix() {
    let key: Vec<u8> = (1..=20).collect();
    for prefix_len in 0..=16usize {
        let upper: Vec<u8> = key[..prefix_len].iter().copied().chain([0xff]).collect();
        let lower = &key[..=prefix_len];
        let mut bytes = empty(Some(20), 0, lower, Some(&upper));
        PageMut::new(&mut bytes).append(&key, b"", SlotFlags::NONE).unwrap();
        let page = PageRef::new(&bytes);
        assert_eq!(page.prefix().len(), prefix_len);
        let record = page.record(0);
        for offset in 0..20 {
            assert_eq!(record.key_byte(offset), key[offset]);
            for width in 1..=8.min(20 - offset) {
                let want = key[offset..offset + width].iter().fold(0, |v, &b| v << 8 | u64::from(b));
                assert_eq!(record.key_int(offset, width), want, "{prefix_len} {offset} {width}");
                let mut range = Vec::new();
                record.append_key_range(offset, offset + width, &mut range);
                assert_eq!(range, key[offset..offset + width]);
            }
        }
    }
}

#[test]
fn the_page_check_names_what_is_damaged_and_never_panics() {
    let mut bytes = empty(None, 0, b"", None);
    let mut page = PageMut::new(&mut bytes);
    for i in 0..200u32 {
        page.append(&[&i.to_be_bytes()[..], b"suffix"].concat(), b"payload", SlotFlags::NONE).unwrap();
    }
    assert_eq!(check::check_page(page.as_ref()), Ok(()));
    let damage = |at: usize, to: u8| {
        let mut damaged = bytes.clone();
        damaged[at] = to;
        check::check_page(PageRef::new(&damaged)).err().map(|e| e.what)
    };
    assert_eq!(damage(layout::GARBAGE, 9), Some(CorruptionKind::Garbage));
    assert_eq!(damage(layout::HEAP_TOP + 1, 0x3f), Some(CorruptionKind::SlotRange));
    assert_eq!(damage(layout::HINT_ARRAY, 0xee), Some(CorruptionKind::Hint));
    assert_eq!(damage(layout::HEADER_BYTES + 4 * 50, 0xee), Some(CorruptionKind::KeyOrder));
    let mut prng = Prng::new(3);
    for _ in 0..3000 {
        let mut damaged = bytes.clone();
        for _ in 0..=prng.below(3) {
            let at = if prng.below(2) == 0 { prng.below(200) } else { prng.below(PAGE_SIZE as u64) };
            damaged[at as usize] = prng.next_u64() as u8;
        }
        let _ = check::check_page(PageRef::new(&damaged));
    }
}
