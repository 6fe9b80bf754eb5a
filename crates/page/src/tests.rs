//! Pages against a sorted vector.

use base::prng::Prng;
use base::{IndexId, PageNo, TrxId};

use crate::*;

mod scripts;
mod show;

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
        let bare = &key[..key.len() - if flags.has_begin() { TRX_ID_BYTES } else { 0 }];
        let record = page.record(slot);
        assert!(record.has_key(bare));
        for other in [page.key(0), page.key(slot.saturating_sub(1)), key.clone(), [bare, b"\0"].concat()] {
            assert_eq!(record.has_key(&other), record.with_key(|own| own == other));
        }
        let mut bytes = vec![7];
        let copy = page.record(slot).copy_to(&mut bytes);
        let mut copied = Vec::new();
        copy.record(&bytes).append_key(&mut copied);
        assert_eq!((&copied, copy.record(&bytes).payload()), (key, &payload[..]));
    }
    for len in [0, 1, 7, 8, 9, 23, model.len()] {
        assert_bodies_same(page, model.len().saturating_sub(len)..model.len(), model);
    }
}

fn assert_bodies_same(page: PageRef<'_>, slots: std::ops::Range<usize>, model: &Model) {
    let records = page.records();
    let marks = records.marks(slots.clone());
    let gathered = model[slots.clone()].iter().fold(0, |marks, (_, _, flags)| marks | flags.bits());
    assert_eq!(marks, SlotFlags::from_bits(gathered & SlotFlags::IN_SLOT), "{slots:?}");
    let mut bodies = Vec::new();
    records.append_bodies(slots.clone(), marks, &mut bodies);
    assert_eq!(bodies.len(), slots.len());
    for (slot, body_at) in slots.zip(bodies) {
        let payload_at = page.payload(slot).as_ptr().addr() - records.page().as_ptr().addr();
        let ver = if page.flags(slot).contains(SlotFlags::HAS_END) { TRX_ID_BYTES } else { 0 };
        assert_eq!(body_at as usize, payload_at + ver);
        assert_eq!(records.cell(slot).0.body_at(), body_at);
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
fn a_key_is_read_without_its_begin_id_though_the_prefix_has_a_part_of_it() {
    let mut bytes = empty(None, 0, b"", None);
    let mut page = PageMut::new(&mut bytes);
    for begin in 1..=60u8 {
        page.append(&[b"one key".as_slice(), &[0, 0, 0, 0, 9, begin]].concat(), b"", SlotFlags::HAS_BEGIN)
            .unwrap();
    }
    page.reorganize();
    let page = PageRef::new(&bytes);
    assert!(page.prefix().len() > b"one key".len());
    for slot in 0..page.count() {
        let record = page.record(slot);
        record.with_key(|key| assert_eq!(key, b"one key"));
        assert_eq!(record.begin_trx(), 9 * 256 + slot as u64 + 1);
    }
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
    assert_eq!(page.prefix(), b"key/00");
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

/// A page whose checksum is right may still be no page: readers go where it says, so that has to be within
/// it.
#[test]
fn a_page_whose_slots_or_cells_leave_it_is_refused() {
    let mut bytes = empty(None, 0, b"", None);
    for n in 0..9u8 {
        PageMut::new(&mut bytes).append(&[n, 1, 2, 3, 4, 5], b"payload", SlotFlags::NONE).unwrap();
    }
    let refused = |place: usize, word: u16, from: &PageBytes| {
        let mut bytes = Box::new(*from);
        bytes[place..place + 2].copy_from_slice(&word.to_le_bytes());
        stamp_checksum(&mut bytes);
        verify_on_read(&bytes, PageNo(9)).err().map(|corruption| corruption.what)
    };
    let slot = HEADER_BYTES + 4 * PageRef::new(&bytes).cap() + 2 * 3;
    let cell = usize::from(PageRef::new(&bytes).slot_word(3));
    let as_it_is = u16::from_le_bytes([bytes[slot], bytes[slot + 1]]);
    assert_eq!(refused(slot, as_it_is, &bytes), None);
    assert_eq!(refused(slot, 200, &bytes), Some(CorruptionKind::SlotRange), "below the heap");
    assert_eq!(refused(slot, PAGE_SIZE as u16 - 1, &bytes), Some(CorruptionKind::SlotRange), "at the end");
    assert_eq!(refused(cell, 3, &bytes), Some(CorruptionKind::CellShape), "shorter than its key");
    assert_eq!(refused(cell, 0x3fff, &bytes), Some(CorruptionKind::CellShape), "longer than the page");
    assert_eq!(refused(cell + 2, 900, &bytes), Some(CorruptionKind::CellShape), "a key beyond its cell");
    let mut fixed = empty(Some(8), 0, b"12345", Some(b"12346"));
    stamp_checksum(&mut fixed);
    assert_eq!(refused(52, 3, &fixed), Some(CorruptionKind::Header), "keys shorter than their prefix");
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
        let (record, cell) = (page.record(0), page.records().cell(0).0);
        for offset in 0..20 {
            assert_eq!(record.key_byte(offset), key[offset]);
            for width in 1..=8.min(20 - offset) {
                let want = key[offset..offset + width].iter().fold(0, |v, &b| v << 8 | u64::from(b));
                assert_eq!(record.key_int(offset, width), want, "{prefix_len} {offset} {width}");
                let of_cell = page.records().key_int(offset, width).of_cell(&page.records(), cell);
                assert_eq!(of_cell, want, "{prefix_len} {offset} {width}");
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
    assert_eq!(damage(layout::HEADER_BYTES + 4 * 50 + 3, 0xee), Some(CorruptionKind::KeyOrder));
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

/// Keys whose common prefix changes as they come: runs under few long prefixes, integers, single bytes.
fn shifting_key(prng: &mut Prng, step: usize) -> Vec<u8> {
    let id = prng.below(400);
    match (step / 300 + prng.below(12) as usize / 11) % 4 {
        0 => format!("tenant/{:03}/user/{id:05}", step / 900).into_bytes(),
        1 => [&[0x80, 0, 0, 0, 0, 3][..], &(id as u16).to_be_bytes()].concat(),
        2 => format!("tenant/{:03}/user/{id:05}/and more", step / 900).into_bytes(),
        _ => vec![b's'; 1 + (id as usize * 7) % 90],
    }
}

fn shift_prefixes(seed: u64, lower: &[u8], upper: Option<&[u8]>) -> usize {
    let mut prng = Prng::new(seed);
    let mut bytes = empty(None, 0, lower, upper);
    let mut model = std::collections::BTreeMap::<Vec<u8>, Vec<u8>>::new();
    let mut longest = 0;
    for step in 0..3000 {
        let key = shifting_key(&mut prng, step);
        if key.as_slice() < lower || upper.is_some_and(|upper| key.as_slice() >= upper) {
            continue;
        }
        let mut page = PageMut::new(&mut bytes);
        let at = page.as_ref().search(&key);
        assert_eq!(at.found, model.contains_key(&key), "seed {seed} step {step}");
        assert_eq!(at.slot, model.range(..key.clone()).count());
        if at.found {
            page.remove(at.slot);
            model.remove(&key);
        } else {
            let payload = vec![step as u8; prng.below(90) as usize];
            let before = *page.as_ref().bytes();
            let (fit, free) = (page.as_ref().fits(&key, payload.len()), page.as_ref().free_for(&key));
            let inserted = page.insert(at.slot, &key, &payload, SlotFlags::NONE);
            assert_eq!(inserted.is_ok(), fit != Fit::No, "seed {seed} step {step}");
            if inserted.is_ok() {
                model.insert(key, payload);
            } else {
                assert!(free < key.len() + payload.len() + 4 && *page.as_ref().bytes() == before);
                let keep = model.len() / 3;
                page.truncate(keep);
                model = model.into_iter().take(keep).collect();
            }
        }
        if prng.below(40) == 0 {
            let before = PageRef::new(&bytes).used_bytes();
            PageMut::new(&mut bytes).reorganize();
            assert!(PageRef::new(&bytes).used_bytes() <= before, "squeezing out dead cells took room");
        }
        longest = longest.max(PageRef::new(&bytes).prefix().len());
        if step % 20 == 0 {
            let records: Model = model.iter().map(|(k, v)| (k.clone(), v.clone(), SlotFlags::NONE)).collect();
            assert_same(PageRef::new(&bytes), &records);
        }
    }
    longest
}

#[test]
fn the_prefix_follows_the_keys_at_the_edges_of_a_tree() {
    let mut longest = 0;
    for seed in 0..6 {
        longest = longest.max(shift_prefixes(seed, b"", None));
        longest = longest.max(shift_prefixes(seed + 10, b"ss", None));
        longest = longest.max(shift_prefixes(seed + 20, b"", Some(b"tenant/002/x")));
        longest = longest.max(shift_prefixes(seed + 30, b"tenant/001", Some(b"tenant/003")));
    }
    assert!(longest >= 18, "prefixes of up to {longest} bytes");
}

#[test]
fn big_integers_at_the_edge_are_told_apart_by_their_heads() {
    let mut bytes = empty(Some(8), 0, b"", None);
    let mut page = PageMut::new(&mut bytes);
    let key = |id: u64| (id ^ 1 << 63).to_be_bytes();
    for id in 1..=100u64 {
        page.append(&key(id), b"payload", SlotFlags::NONE).unwrap();
    }
    assert_eq!(page.as_ref().prefix(), &key(0)[..4]);
    page.append(&key(1 << 40), b"payload", SlotFlags::NONE).unwrap();
    assert_eq!(page.as_ref().prefix(), &key(0)[..2]);
    page.remove(100);
    page.reorganize();
    assert_eq!(page.as_ref().prefix(), &key(0)[..4]);
    assert_eq!((1..=100).filter(|&id| page.as_ref().search(&key(id)).found).count(), 100);
    assert_eq!(check::check_page(page.as_ref()), Ok(()));
}

#[test]
fn a_batch_has_its_records_in_no_more_space_than_appended_one_by_one() {
    let mut prng = Prng::new(11);
    for round in 0..200 {
        let fixed = [None, Some(9)][round % 2];
        let lower: &[u8] = [&b""[..], b"aaaa"][round / 2 % 2];
        let mut keys: Vec<_> =
            (0..=prng.below(400)).map(|_| random_key(&mut prng, fixed, b"aaaab")).collect();
        keys.sort_by(|a, b| a.0.cmp(&b.0));
        keys.dedup_by(|a, b| a.0 == b.0);
        let mut batch = Vec::new();
        let payloads: Vec<_> =
            keys.iter().map(|_| vec![7; prng.below(12 + 40 * (round as u64 % 3)) as usize]).collect();
        for ((key, flags), payload) in keys.iter().zip(&payloads) {
            Batch::push_record(&mut batch, key, payload, *flags);
        }
        let (mut at_once, mut singly) = (empty(fixed, 0, lower, None), empty(fixed, 0, lower, None));
        let fits = PageOp::Append(Batch(&batch)).apply(&mut PageMut::new(&mut at_once)).is_ok();
        let mut page = PageMut::new(&mut singly);
        let lens = keys.iter().map(|(key, _)| key.len());
        page.expect_keys(&keys[0].0, &keys[keys.len() - 1].0, lens).unwrap();
        page.expect_slots(keys.len());
        let mut records = keys.iter().zip(&payloads);
        let fit = records.all(|((key, flags), payload)| page.append(key, payload, *flags).is_ok());
        assert!(fits || !fit, "round {round}: it fits record by record");
        let mut moved = Vec::new();
        if fits {
            let (at_once, singly) = (PageRef::new(&at_once), PageRef::new(&singly));
            assert!(!fit || at_once.used_bytes() <= singly.used_bytes(), "round {round}");
            assert_eq!(check::check_page(at_once), Ok(()), "round {round}");
            Batch::push_slots(&mut moved, at_once, 0..keys.len());
            assert_eq!(moved, batch, "round {round}");
        }
    }
}

#[test]
fn an_appended_batch_gets_the_prefix_of_its_keys() {
    let mut batch = Vec::new();
    for i in 0..40u32 {
        Batch::push_record(&mut batch, format!("a long way/{i:04}").as_bytes(), b"x", SlotFlags::NONE);
    }
    let mut bytes = empty(None, 0, b"", None);
    let mut page = PageMut::new(&mut bytes);
    PageOp::Append(Batch(&batch)).apply(&mut page).unwrap();
    assert_eq!(page.as_ref().prefix(), b"a long way/");
    assert_eq!(page.as_ref().key(39), b"a long way/0039");
    assert_eq!(check::check_page(page.as_ref()), Ok(()));
}

/// What [`PageMut::format_with`] makes, made by appending; `None` if it does not fit.
fn part_by_appending(
    start: &FormatPage<'_>,
    old: PageRef<'_>,
    part: std::ops::Range<usize>,
) -> Option<Box<PageBytes>> {
    let mut bytes = Box::new([0; PAGE_SIZE]);
    let mut page = PageMut::new(&mut bytes);
    page.format(start);
    let mut batch = Vec::new();
    Batch::push_slots(&mut batch, old, part);
    if !batch.is_empty() {
        PageOp::Append(Batch(&batch)).apply(&mut page).ok()?;
    }
    page.raise_trx_max(old.trx_max());
    Some(bytes)
}

/// The page without the room in its arrays.
fn squeezed(page: &PageBytes) -> Box<PageBytes> {
    let mut bytes = Box::new(*page);
    PageMut::new(&mut bytes).reorganize();
    bytes
}

/// Compares both parts of a page that is divided before the slot `at` with what appending makes of them.
fn compare_parts(old: PageRef<'_>, at: usize) {
    let boundary = old.key(at);
    for part in [0..at, at..old.count()] {
        let start = FormatPage {
            page_no: PageNo(10),
            level: old.level(),
            index_id: IndexId(70),
            version: 3,
            format_version: 1,
            fixed_key_len: old.fixed_key_len(),
            lower: if part.start == 0 { old.lower_fence() } else { &boundary },
            upper: if part.start == 0 { Some(&boundary) } else { old.upper_fence() },
            right: PageNo(11),
        };
        let mut bytes = Box::new([0xa5; PAGE_SIZE]);
        let made = PageMut::new(&mut bytes).format_with(&start, old, part.clone());
        let appended = part_by_appending(&start, old, part.clone());
        assert_eq!(made.is_ok(), appended.is_some(), "{part:?}");
        if let Some(appended) = appended {
            assert_eq!(check::check_page(PageRef::new(&bytes)), Ok(()));
            assert!(squeezed(&bytes) == squeezed(&appended), "{part:?} of {}", old.count());
        }
    }
}

#[test]
fn a_part_of_a_leaf_is_the_page_of_its_records_appended() {
    let mut prng = Prng::new(29);
    for round in 0..300 {
        let fixed = [None, Some(9)][round % 2];
        let prefix: &[u8] = [&b""[..], b"aa"][round / 2 % 2];
        let upper: Vec<u8> = prefix.iter().copied().chain([0xff]).collect();
        let mut bytes = empty(fixed, 0, prefix, Some(&upper));
        let mut page = PageMut::new(&mut bytes);
        for _ in 0..prng.below(700) {
            let (key, flags) = random_key(&mut prng, fixed, prefix);
            let at = page.as_ref().search(&key);
            if at.found && prng.below(3) == 0 {
                page.remove(at.slot);
            } else if at.found {
                let _ = page.close(at.slot, TrxId(prng.below(5000)));
            } else {
                let _ = page.insert(at.slot, &key, &vec![7; prng.below(9) as usize], flags);
            }
        }
        let count = page.as_ref().count();
        if count > 1 {
            compare_parts(page.as_ref(), 1 + prng.below(count as u64 - 1) as usize);
        }
    }
}

#[test]
fn a_part_of_an_inner_page_is_the_page_of_its_separators_appended() {
    let mut prng = Prng::new(31);
    for round in 0..100 {
        let fixed = [None, Some(9)][round % 2];
        let mut keys: Vec<_> =
            (0..2 + prng.below(300)).map(|_| random_key(&mut prng, fixed, b"a").0).collect();
        keys.retain(|key| fixed.is_none_or(|len| key.len() == usize::from(len)));
        keys.sort();
        keys.dedup();
        let mut bytes = empty(fixed, 1, b"a", Some(b"b"));
        let mut page = PageMut::new(&mut bytes);
        page.insert_child(0, b"a", PageNo(7)).unwrap();
        for (key, slot) in keys.iter().zip(1..) {
            page.insert_child(slot, key, PageNo(slot as u32 + 1000)).unwrap();
        }
        let count = page.as_ref().count();
        if count > 2 {
            compare_parts(page.as_ref(), 1 + prng.below(count as u64 - 1) as usize);
        }
    }
}

/// The search, said plainly.
fn search_plainly(page: PageRef<'_>, key: &[u8]) -> Search {
    let first = usize::from(!page.is_leaf());
    let slot = (first..page.count()).find(|&slot| page.compare_key(slot, key).is_ge());
    let slot = slot.unwrap_or(page.count());
    Search { slot, found: slot < page.count() && page.compare_key(slot, key).is_eq() }
}

#[test]
fn a_search_finds_what_a_plain_one_finds_whatever_the_spread_of_the_heads() {
    let spreads: [fn(u64) -> u64; 5] =
        [|i| i, |i| i * 1000, |i| i * i * i, |i| i % 7 * 1_000_000 + i, |i| (i / 9 * 9) << 20 | i];
    for (spread, level) in spreads.into_iter().flat_map(|spread| [(spread, 0), (spread, 1)]) {
        for count in [0, 1, 2, 15, 16, 17, 40, 63, 64, 65, 300, 900] {
            let mut ids: Vec<u64> = (1..=count).map(spread).collect();
            ids.sort_unstable();
            ids.dedup();
            let mut bytes = empty(Some(8).filter(|_| level == 0), level, b"", None);
            let mut page = PageMut::new(&mut bytes);
            if level == 1 {
                page.insert_child(0, b"", PageNo(7)).unwrap();
            }
            for (slot, id) in ids.iter().enumerate() {
                let key = id.to_be_bytes();
                match level {
                    0 => page.append(&key, b"", SlotFlags::NONE).unwrap(),
                    _ => page.insert_child(slot + 1, &key, PageNo(8)).unwrap(),
                }
            }
            let page = PageRef::new(&bytes);
            for id in ids.iter().flat_map(|&id| [id - 1, id, id + 1]).chain([0, u64::MAX]) {
                for key in
                    [&id.to_be_bytes()[..], &[&id.to_be_bytes()[..], b"\0"].concat(), &id.to_be_bytes()[..6]]
                {
                    let plain = search_plainly(page, key);
                    assert_eq!(page.search(key), plain, "{count} {level} {key:?}");
                    for near in [0, plain.slot.saturating_sub(3), plain.slot + 9, page.count()] {
                        let near = near.min(page.count());
                        assert!(level == 1 || page.search_leaf_near(key, near) == plain, "{near} {key:?}");
                    }
                }
            }
        }
    }
}
