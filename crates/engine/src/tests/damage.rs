//! Planted damage, a kind at a time: what `ratchet check` says of a closed data file whose bytes were
//! changed. Where the damage is not of the bytes but of what they mean, the checksum is stamped again.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use base::{IndexId, PageNo, TrxId};
use env::{Disk, OpenOptions, SimDisk};
use page::{
    EXTENT_PAGES, ExtentEntry, ExtentPlace, ExtentState, FileHeader, OVERFLOW_REF_BYTES, OverflowRef,
    PAGE_SIZE, PageBytes, PageMut, PageOp, PageRef, PageType, RowHeader, SlotFlags, stamp_checksum,
};

use super::support::*;
use crate::*;

const DATA_FILE: &str = "/data/data.pages";
const HEADER: PageNo = PageNo(0);
const MAP: PageNo = PageNo(1);

/// Bytes of a B-tree page, as docs/file_format.md defines them.
const LEVEL: usize = 17;
const INDEX_ID: usize = 20;
const GARBAGE: usize = 34;
const HINTS: usize = 64;
const HEADS: usize = 128;

/// Where the slots of a page begin.
fn slots(page: &PageBytes) -> usize {
    HEADS + 4 * usize::from(u16::from_le_bytes([page[30], page[31]]))
}

/// A data directory, closed cleanly: table `s.t` of [`wide_def`] with about fifty leaves and six off-page
/// values, one of them so large that it has an extent of its own.
struct Sound {
    disk: Arc<SimDisk>,
    indexes: Vec<IndexId>,
}

fn sound() -> &'static Sound {
    static SOUND: OnceLock<Sound> = OnceLock::new();
    SOUND.get_or_init(|| {
        let (engine, disk) = engine();
        let table = engine.create_table(wide_def("t")).unwrap();
        let mut trx = engine.begin(BeginOptions::default());
        for id in 0..1500 {
            let body = (id % 250 == 7).then(|| format!("{id} ").repeat(if id == 7 { 60_000 } else { 6000 }));
            let c = format!("text of row {id:06} {}", "x".repeat(150));
            insert(&engine, &table, &mut trx, &Wide { body, ..Wide::new(id, id / 2, &c) }).unwrap();
        }
        engine.commit(&mut trx).unwrap();
        let indexes = table.index_ids().collect();
        engine.shutdown().unwrap();
        drop((trx, table, engine));
        Sound { disk, indexes }
    })
}

/// The pages of a copy of the sound file.
struct DataFile {
    bytes: Vec<u8>,
}

impl DataFile {
    fn page(&self, page: PageNo) -> PageRef<'_> {
        PageRef::new(self.bytes[page.0 as usize * PAGE_SIZE..].first_chunk().unwrap())
    }

    /// Changes a page without a word to its checksum.
    fn scratch(&mut self, page: PageNo) -> &mut PageBytes {
        self.bytes[page.0 as usize * PAGE_SIZE..].first_chunk_mut().unwrap()
    }

    /// Changes a page, so that its checksum agrees.
    fn edit(&mut self, page: PageNo, edit: impl FnOnce(&mut PageBytes)) {
        let bytes = self.scratch(page);
        edit(bytes);
        stamp_checksum(bytes);
    }

    fn apply(&mut self, page: PageNo, op: &PageOp<'_>) {
        self.edit(page, |bytes| op.apply(&mut PageMut::new(bytes)).unwrap());
    }

    fn pages(&self) -> impl Iterator<Item = PageRef<'_>> {
        (0..(self.bytes.len() / PAGE_SIZE) as u32).map(|page| self.page(PageNo(page)))
    }

    /// The pages of an index, or of the dictionary (`None`), on a level.
    fn level(&self, index: Option<usize>, level: u8) -> Vec<PageNo> {
        let id = index.map_or(IndexId(1), |index| sound().indexes[index]);
        let found = self.pages().filter(|page| {
            page.page_type() == PageType::BTree && page.index_id() == id && page.level() == level
        });
        found.map(PageRef::page_no).collect()
    }

    fn leaves(&self, index: usize) -> Vec<PageNo> {
        self.level(Some(index), 0)
    }

    /// The inner page right above the leaves of an index.
    fn inner(&self, index: usize) -> PageNo {
        self.level(Some(index), 1)[0]
    }

    /// The first pages of off-page values.
    fn values(&self) -> Vec<PageNo> {
        let is_first =
            |page: &PageRef<'_>| page.page_type() == PageType::Overflow && page.bytes()[28..32] == [0; 4];
        self.pages().filter(is_first).map(PageRef::page_no).collect()
    }

    /// The leaf and slot whose record holds the reference to the value that starts at `page`, and where in
    /// the payload.
    fn reference_to(&self, page: PageNo) -> (PageNo, u16, u16) {
        for leaf in self.leaves(0) {
            for slot in 0..self.page(leaf).count() {
                let payload = self.page(leaf).payload(slot);
                if let Some(at) = payload.len().checked_sub(OVERFLOW_REF_BYTES)
                    && OverflowRef::decode(&payload[at..]).first == page
                {
                    return (leaf, slot as u16, at as u16);
                }
            }
        }
        panic!("nothing refers to {page}")
    }

    fn entry(&self, page: PageNo) -> ExtentEntry {
        self.page(MAP).extent(ExtentPlace::of(page).slot)
    }

    /// Changes what the map says of a page's extent.
    fn map(&mut self, page: PageNo, change: impl FnOnce(&mut ExtentEntry)) {
        let mut entry = self.entry(page);
        change(&mut entry);
        self.apply(MAP, &ExtentEntry::store_op(ExtentPlace::of(page).slot, &entry.encode()));
    }

    fn header(&mut self, change: impl FnOnce(&mut FileHeader)) {
        let mut header = FileHeader::decode(self.page(HEADER)).unwrap();
        change(&mut header);
        for op in FileHeader::store_ops(&header.encode()) {
            self.apply(HEADER, &op);
        }
    }
}

fn bit(page: PageNo) -> u64 {
    1 << (page.0 % EXTENT_PAGES)
}

/// What the check of a damaged copy says, a line a finding.
fn findings(damage: impl FnOnce(&mut DataFile)) -> Vec<String> {
    let disk = Arc::new(sound().disk.crash());
    let file = disk.open(Path::new(DATA_FILE), OpenOptions::default()).unwrap();
    let mut data = DataFile { bytes: vec![0; file.len().unwrap() as usize] };
    file.read_exact_at(&mut data.bytes, 0).unwrap();
    damage(&mut data);
    file.set_len(data.bytes.len() as u64).unwrap();
    file.write_at(&data.bytes, 0).unwrap();
    let findings = look_at(&disk).findings;
    let mut now = vec![0; data.bytes.len()];
    file.read_exact_at(&mut now, 0).unwrap();
    assert!(now == data.bytes, "a check changes nothing");
    findings.iter().map(ToString::to_string).collect()
}

/// Asserts that a finding begins with `place` and contains `what`.
fn assert_told(findings: &[String], place: &str, what: &str) {
    let is_told = findings.iter().any(|finding| finding.starts_with(place) && finding.contains(what));
    assert!(is_told, "not told: {place} {what}\n{findings:#?}");
}

fn place(index: &str, page: PageNo) -> String {
    format!("table s.t, index {index}, data.pages {page} ")
}

#[test]
fn a_sound_file_has_no_findings() {
    let told = findings(|file| {
        assert!(file.leaves(0).len() > 15 && file.leaves(1).len() > 1 && file.values().len() == 6);
    });
    assert_eq!(told, [] as [String; 0]);
}

#[test]
fn a_flipped_bit_breaks_the_checksum_of_its_page() {
    let mut page = PageNo::NONE;
    let told = findings(|file| {
        page = file.leaves(0)[5];
        file.scratch(page)[9000] ^= 4;
    });
    assert_told(&told, &place("PRIMARY", page), "Checksum");
}

#[test]
fn a_page_in_another_ones_place_is_told() {
    let mut page = PageNo::NONE;
    let told = findings(|file| {
        page = file.leaves(0)[5];
        let other = *file.page(file.leaves(0)[6]).bytes();
        *file.scratch(page) = other;
    });
    assert_told(&told, &place("PRIMARY", page), "PageNo");
}

#[test]
fn a_header_that_counts_dead_bytes_wrong_is_told() {
    let mut page = PageNo::NONE;
    let told = findings(|file| {
        page = file.leaves(0)[5];
        file.edit(page, |bytes| bytes[GARBAGE] ^= 1);
    });
    assert_told(&told, &place("PRIMARY", page), "Garbage");
}

#[test]
fn a_slot_that_points_nowhere_is_told() {
    let mut page = PageNo::NONE;
    let told = findings(|file| {
        page = file.leaves(1)[1];
        file.edit(page, |bytes| {
            let at = slots(bytes);
            bytes[at..at + 2].copy_from_slice(&[1, 0]);
        });
    });
    assert_told(&told, &place("k", page), "SlotRange");
}

#[test]
fn keys_out_of_order_are_told() {
    let mut page = PageNo::NONE;
    let told = findings(|file| {
        page = file.leaves(0)[5];
        file.edit(page, |bytes| {
            let at = slots(bytes);
            for i in 0..4 {
                bytes.swap(HEADS + 8 + i, HEADS + 12 + i);
            }
            for i in 0..2 {
                bytes.swap(at + 4 + i, at + 6 + i);
            }
        });
    });
    assert_told(&told, &place("PRIMARY", page), "KeyOrder");
}

#[test]
fn a_hint_that_lies_is_told() {
    let mut page = PageNo::NONE;
    let told = findings(|file| {
        page = *file.leaves(1).iter().find(|&&page| file.page(page).count() >= 64).unwrap();
        file.edit(page, |bytes| bytes[HINTS] ^= 1);
    });
    assert_told(&told, &place("k", page), "has a hint");
}

#[test]
fn a_fence_that_its_parent_does_not_know_is_told() {
    let mut page = PageNo::NONE;
    let told = findings(|file| {
        page = file.leaves(0)[5];
        let (lower, mut upper) =
            (file.page(page).lower_fence().to_vec(), file.page(page).upper_fence().unwrap().to_vec());
        *upper.last_mut().unwrap() += 1;
        file.apply(page, &PageOp::SetFences { lower: &lower, upper: Some(&upper) });
    });
    assert_told(&told, &place("PRIMARY", page), "has another upper fence than its parent says");
}

#[test]
fn a_sibling_link_that_leads_astray_is_told() {
    let mut page = PageNo::NONE;
    let told = findings(|file| {
        page = file.leaves(0)[5];
        let other = file.leaves(0)[9];
        file.apply(page, &PageOp::SetRight(other));
    });
    assert_told(&told, &place("PRIMARY", page), "not to its right sibling");
    let told = findings(|file| {
        page = *file.leaves(0).iter().find(|&&page| file.page(page).right().is_none()).unwrap();
        let other = file.leaves(0)[0];
        file.apply(page, &PageOp::SetRight(other));
    });
    assert_told(&told, &place("PRIMARY", page), "is the last of its level, but links to");
}

#[test]
fn a_page_of_another_level_or_tree_is_told() {
    let mut page = PageNo::NONE;
    let told = findings(|file| {
        page = file.leaves(0)[5];
        file.edit(page, |bytes| bytes[LEVEL] = 1);
    });
    assert_told(&told, &place("PRIMARY", page), "CellShape");
    let told = findings(|file| {
        let parent = file.inner(0);
        file.edit(parent, |bytes| bytes[LEVEL] = 2);
    });
    assert!(told.iter().any(|finding| finding.contains("is not one level below its parent")), "{told:#?}");
    let told = findings(|file| file.edit(page, |bytes| bytes[INDEX_ID] ^= 1));
    assert_told(&told, &place("PRIMARY", page), "belongs to another tree");
}

#[test]
fn a_child_of_two_parents_is_told_and_the_lost_one_is_found() {
    let (mut page, mut lost) = (PageNo::NONE, PageNo::NONE);
    let told = findings(|file| {
        let inner = file.inner(0);
        (page, lost) = (file.page(inner).child(3), file.page(inner).child(4));
        file.apply(inner, &PageOp::SetChild { slot: 4, child: page });
    });
    assert_told(&told, &place("PRIMARY", page), "belongs to two trees");
    let told = findings(|file| {
        let inner = file.inner(0);
        file.apply(inner, &PageOp::SetChild { slot: 4, child: PageNo(4_000_000_000) });
    });
    assert_told(&told, &place("PRIMARY", PageNo(4_000_000_000)), "is not in the file");
}

#[test]
fn a_record_that_does_not_fit_its_format_is_told() {
    let mut page = PageNo::NONE;
    let told = findings(|file| {
        page = file.leaves(0)[5];
        // The end of the only two variable columns is after header, null bits and fixed columns.
        let at = file.page(page).payload(2).len() as u16;
        file.apply(page, &PageOp::ReplacePayload { slot: 2, payload: &vec![0x55; usize::from(at)] });
    });
    assert_told(&told, &place("PRIMARY", page), "has a record that does not fit its row format");
}

#[test]
fn transactions_that_never_were_are_told() {
    let mut page = PageNo::NONE;
    let told = findings(|file| {
        page = file.leaves(0)[5];
        file.apply(page, &PageOp::RaiseTrxMax(TrxId(1 << 40)));
    });
    assert_told(&told, &place("PRIMARY", page), "names a transaction that never was");
    let told = findings(|file| {
        let header = RowHeader { trx: TrxId(1 << 40), ..RowHeader::default() };
        file.apply(page, &PageOp::Patch { slot: 2, offset: 0, bytes: &header.encode() });
    });
    assert_told(
        &told,
        &place("PRIMARY", page),
        "has a record of a transaction that its header does not know",
    );
}

#[test]
fn an_entry_closed_by_no_transaction_is_told() {
    let mut page = PageNo::NONE;
    let told = findings(|file| {
        page = file.leaves(1)[1];
        file.apply(page, &PageOp::Close { slot: 3, trx: TrxId(0) });
    });
    assert_told(&told, &place("k", page), "has an entry that was closed by no transaction");
}

#[test]
fn a_row_without_an_entry_is_named() {
    let mut row = PageNo::NONE;
    let told = findings(|file| {
        let page = file.leaves(1)[1];
        let key = file.page(page).key(3);
        row = *file.leaves(0).iter().find(|&&leaf| file.page(leaf).covers(&key[5..9])).unwrap();
        file.apply(page, &PageOp::Remove { slot: 3 });
    });
    assert_told(&told, "table s.t, index k: ", "has 0 entries for the row with clustered key 0x");
    assert_told(&told, "table s.t, index k: ", &format!("on {row}"));
    assert_eq!(told.len(), 1, "{told:?}");
}

#[test]
fn an_entry_without_a_row_is_named() {
    let told = findings(|file| {
        let page = file.leaves(0)[5];
        file.apply(page, &PageOp::Remove { slot: 2 });
    });
    for index in ["k", "u", "b"] {
        assert_told(
            &told,
            &format!("table s.t, index {index}, data.pages page "),
            "whose row does not call for it",
        );
    }
}

#[test]
fn an_entry_with_other_bytes_than_its_row_is_named() {
    let told = findings(|file| {
        let page = file.leaves(2)[1];
        let mut payload = file.page(page).payload(2).to_vec();
        // The text in small letters gets a capital: its end offset is the last of the payload.
        *payload.iter_mut().nth_back(1).unwrap() += 1;
        payload.push(1);
        file.apply(page, &PageOp::ReplacePayload { slot: 2, payload: &payload });
    });
    assert_told(&told, "table s.t, index u: ", "has 0 entries for the row");
    assert_told(&told, "table s.t, index u, data.pages page ", "whose row does not call for it");
}

#[test]
fn a_hidden_entry_is_a_missing_one() {
    let told = findings(|file| {
        let page = file.leaves(1)[1];
        let begin = file.page(page).trx_max();
        file.apply(page, &PageOp::Close { slot: 3, trx: begin });
        assert!(file.page(page).flags(3).has_end() && SlotFlags::HAS_END.has_end());
    });
    assert_told(&told, "table s.t, index k: ", "has 0 entries for the row");
}

#[test]
fn an_off_page_value_with_other_bytes_is_told() {
    let mut page = PageNo::NONE;
    let told = findings(|file| {
        page = file.values()[2];
        file.edit(page, |bytes| bytes[5000] ^= 1);
    });
    assert_told(&told, &place("PRIMARY", page), "starts an off-page value whose checksum does not match");
}

#[test]
fn a_value_with_two_rows_is_told_and_the_lost_one_is_found() {
    let (mut shared, mut lost) = (PageNo::NONE, PageNo::NONE);
    let told = findings(|file| {
        (shared, lost) = (file.values()[0], file.values()[1]);
        let (leaf, slot, at) = file.reference_to(shared);
        let reference = file.page(leaf).payload(usize::from(slot))[usize::from(at)..].to_vec();
        let (leaf, slot, at) = file.reference_to(lost);
        file.apply(leaf, &PageOp::Patch { slot, offset: at, bytes: &reference });
    });
    assert_told(&told, &place("PRIMARY", shared), "belongs to two trees or off-page values");
    assert_told(&told, &format!("data.pages {lost} "), "allocated, but no tree and no value has them");
}

#[test]
fn a_reference_to_pages_that_are_no_value_is_told() {
    let mut leaf = PageNo::NONE;
    let told = findings(|file| {
        leaf = file.leaves(1)[0];
        let (page, slot, at) = file.reference_to(file.values()[0]);
        file.apply(page, &PageOp::Patch { slot, offset: at + 8, bytes: &leaf.0.to_le_bytes() });
    });
    assert_told(&told, &place("PRIMARY", leaf), "is not the page of the off-page value that it should be");
    let told = findings(|file| {
        let (page, slot, at) = file.reference_to(file.values()[0]);
        file.apply(page, &PageOp::Patch { slot, offset: at + 8, bytes: &[0xf0; 4] });
    });
    assert_told(&told, "table s.t, index PRIMARY, data.pages page ", "is not in the file");
}

#[test]
fn pages_in_use_that_the_map_calls_free_are_told() {
    let (mut leaf, mut value) = (PageNo::NONE, PageNo::NONE);
    let told = findings(|file| {
        (leaf, value) = (file.leaves(0)[5], file.values()[0]);
        file.map(leaf, |entry| entry.used &= !bit(leaf));
        file.map(value, |entry| entry.used &= !bit(value));
    });
    assert_told(&told, &place("PRIMARY", leaf), "is not allocated to the tree");
    assert_told(&told, &place("PRIMARY", value), "is not allocated to the tree of its value");
}

#[test]
fn allocated_pages_that_nobody_has_are_told() {
    let mut first = PageNo::NONE;
    let told = findings(|file| {
        let extents = file.bytes.len() as u32 / PAGE_SIZE as u32 / EXTENT_PAGES;
        let is_shared = |page: &PageNo| file.entry(*page).state == ExtentState::Shared;
        let shared =
            (1..extents).map(|extent| PageNo(extent * EXTENT_PAGES)).find(is_shared).unwrap_or(HEADER);
        let free = file.entry(shared).used.trailing_ones();
        first = PageNo(shared.0 + free);
        file.map(shared, |entry| entry.used |= 0b11 << free);
    });
    assert_told(&told, &format!("data.pages {first} "), "and 1 behind it are allocated, but no tree");
}

#[test]
fn an_extent_of_a_tree_that_is_not_there_is_told() {
    let (mut first, mut value) = (PageNo::NONE, PageNo::NONE);
    let told = findings(|file| {
        let is_own = |page: &PageNo| file.entry(*page).state == ExtentState::Tree;
        value = file.values().into_iter().find(is_own).unwrap();
        first = PageNo(value.0 / EXTENT_PAGES * EXTENT_PAGES);
        file.map(value, |entry| entry.index_id = IndexId(999));
    });
    assert_told(&told, &format!("data.pages {first} "), "which is in no table");
    assert_told(&told, &place("PRIMARY", value), "is not allocated to the tree of its value");
}

#[test]
fn a_map_entry_that_contradicts_itself_is_told() {
    let told = findings(|file| {
        let leaf = file.leaves(0)[9];
        file.map(leaf, |entry| (entry.state, entry.index_id) = (ExtentState::Free, IndexId(0)));
    });
    assert_told(&told, "data.pages page 1 (extent map) ", "state, owner and use disagree");
    let told = findings(|file| file.scratch(MAP)[9000] ^= 1);
    assert_told(&told, "data.pages page 1 (extent map) ", "Checksum");
    assert_eq!(told.len(), 1, "trees are sound all the same: {told:?}");
}

#[test]
fn a_damaged_dictionary_is_told() {
    let told = findings(|file| {
        let page = *file.level(None, 0).last().unwrap();
        let slot = (0..file.page(page).count()).find(|&slot| file.page(page).key(slot)[0] == 2).unwrap();
        let byte = [file.page(page).payload(slot)[30] ^ 1];
        file.apply(page, &PageOp::Patch { slot: slot as u16, offset: 30, bytes: &byte });
    });
    assert_told(&told, "index dictionary: table with id 0x00000001: ", "damaged");
    let told = findings(|file| {
        let page = *file.level(None, 0).last().unwrap();
        let slot = (0..file.page(page).count()).find(|&slot| file.page(page).key(slot)[0] == 1).unwrap();
        file.apply(page, &PageOp::Remove { slot: slot as u16 });
    });
    assert_told(&told, "table s.t: ", "is in a schema that is not defined");
    let told = findings(|file| {
        let page = *file.level(None, 0).last().unwrap();
        let slot = file.page(page).count() as u16;
        file.apply(
            page,
            &PageOp::Insert {
                slot,
                flags: SlotFlags::NONE,
                key: &[9, 0, 1, b'x', 0, 0, 0, 0],
                payload: b"?",
            },
        );
    });
    assert_told(&told, "index dictionary, data.pages page ", "has a key that names nothing");
}

#[test]
fn a_file_header_that_cannot_be_is_told() {
    let told = findings(|file| file.header(|header| header.next_index = IndexId(66)));
    assert_told(&told, "table s.t: ", "has an index id twice, or not given out yet");
    let told = findings(|file| file.header(|header| header.trx_limit = TrxId(0)));
    assert_told(&told, "data.pages page 0 (file header) ", "has no limit of transaction ids");
    let told = findings(|file| file.bytes.truncate(file.bytes.len() - PAGE_SIZE));
    assert_told(&told, "data.pages page 0 (file header) ", "pages, but the file has");
    let told = findings(|file| file.scratch(HEADER)[9000] ^= 1);
    assert_told(&told, "data.pages page 0 (file header) ", "has a checksum that does not match its bytes");
}

#[test]
fn a_directory_that_cannot_be_looked_at_is_refused() {
    let refusal = |disk: &Arc<SimDisk>| {
        let disk: Arc<dyn Disk> = Arc::clone(disk) as _;
        match check::check_datadir(disk, "/data".as_ref(), 8 << 20, &mut |_| {}) {
            Err(Error::DataDir(error)) => *error,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(refusal(&Arc::new(SimDisk::new())), DataDirError::Missing("/data".into()));
    let (engine, disk) = engine();
    assert_eq!(refusal(&disk), DataDirError::InUse("/data".into()));
    drop(engine);
    assert_eq!(refusal(&disk), DataDirError::NotClean("/data".into()));
}
