//! Row changes as mini-transactions over two pages, and reads through their visibility rules.

use std::collections::{BTreeMap, BTreeSet};

use base::codec::get_u48;
use base::prng::Prng;
use base::{IndexId, Lsn, PageNo, TrxId, UndoPtr};
use page::check::{check_page, check_records};
use page::op::encode_change;
use page::*;

use crate::log::{
    COMMIT, ROLLBACK_DONE, Undo, append_frame, push_changes, push_compensation, push_end, push_undo,
};
use crate::rows::{ID, Row, V, Versions};

pub(crate) const CLUSTERED: usize = 0;
pub(crate) const SECONDARY: usize = 1;

/// Which transactions a reader sees.
pub(crate) struct View {
    own: Option<u64>,
    horizon: u64,
    committed: BTreeSet<u64>,
}

impl View {
    fn sees(&self, trx: u64) -> bool {
        trx < self.horizon || self.own == Some(trx) || self.committed.contains(&trx)
    }
}

pub(crate) struct Database {
    pub(crate) versions: Versions,
    pub(crate) pages: [Box<PageBytes>; 2],
    pub(crate) disk: [Box<PageBytes>; 2],
    pub(crate) log: Vec<u8>,
    pub(crate) synced: usize,
    pub(crate) undo: BTreeMap<u64, Undo>,
    pub(crate) open: BTreeMap<u64, Vec<u64>>,
    pub(crate) committed: BTreeSet<u64>,
    pub(crate) horizon: u64,
    pub(crate) next_trx: u64,
    pub(crate) next_undo: u64,
}

fn empty_page(at: usize, fixed_key_len: Option<u16>) -> Box<PageBytes> {
    let mut bytes = Box::new([0; PAGE_SIZE]);
    PageMut::new(&mut bytes).format(&FormatPage {
        page_no: PageNo(2 + at as u32),
        level: 0,
        index_id: IndexId(64 + at as u32),
        version: 1,
        format_version: u16::from(at == SECONDARY),
        fixed_key_len,
        lower: b"",
        upper: None,
        right: PageNo::NONE,
    });
    bytes
}

impl Database {
    pub(crate) fn new() -> Database {
        let versions = Versions::new();
        let pages = [
            empty_page(CLUSTERED, versions.now().clustered.fixed_key_len()),
            empty_page(SECONDARY, versions.now().secondary.fixed_key_len()),
        ];
        Database {
            versions,
            disk: pages.clone(),
            pages,
            log: Vec::new(),
            synced: 0,
            undo: BTreeMap::new(),
            open: BTreeMap::new(),
            committed: BTreeSet::new(),
            horizon: 1,
            next_trx: 1,
            next_undo: 1,
        }
    }

    pub(crate) fn page(&self, at: usize) -> PageRef<'_> {
        PageRef::new(&self.pages[at])
    }

    fn format(&self, at: usize) -> &RowFormat {
        if at == SECONDARY {
            return &self.versions.now().secondary;
        }
        &self.versions.all[usize::from(self.page(at).format_version())].clustered
    }

    fn row_at(&self, at: usize, slot: usize) -> RowRef<'_> {
        RowRef::new(self.format(at), self.page(at).record(slot))
    }

    pub(crate) fn begin(&mut self) -> u64 {
        let trx = self.next_trx;
        self.next_trx += 1;
        self.open.insert(trx, Vec::new());
        trx
    }

    pub(crate) fn commit(&mut self, trx: u64) {
        let mut payload = Vec::new();
        push_end(&mut payload, COMMIT, trx);
        append_frame(&mut self.log, &payload);
        self.synced = self.log.len();
        self.open.remove(&trx);
        self.committed.insert(trx);
    }

    pub(crate) fn end_rollback(&mut self, trx: u64) {
        let mut payload = Vec::new();
        push_end(&mut payload, ROLLBACK_DONE, trx);
        append_frame(&mut self.log, &payload);
        self.open.remove(&trx);
    }

    pub(crate) fn undo_count(&self, trx: u64) -> usize {
        self.open[&trx].len()
    }

    pub(crate) fn view(&self, own: Option<u64>) -> View {
        View { own, horizon: self.horizon, committed: self.committed.clone() }
    }

    /// One mini-transaction: `payload` has the parts before the changes.
    fn apply(&mut self, at: usize, mut payload: Vec<u8>, ops: &[PageOp<'_>]) {
        let mut changes = Vec::new();
        for op in ops {
            op.apply(&mut PageMut::new(&mut self.pages[at])).unwrap();
            encode_change(&mut changes, PageNo(2 + at as u32), op);
        }
        push_changes(&mut payload, &changes);
        let end = append_frame(&mut self.log, &payload);
        PageMut::new(&mut self.pages[at]).set_lsn(Lsn(end));
    }

    /// One mini-transaction with its undo record.
    fn change(&mut self, at: usize, trx: u64, undo: Undo, ops: &[PageOp<'_>]) {
        let pointer = self.next_undo;
        self.next_undo += 1;
        let list = self.open.get_mut(&trx).unwrap();
        let previous = UndoPtr(list.last().copied().unwrap_or(0));
        list.push(pointer);
        let mut payload = Vec::new();
        let version = self.page(at).format_version();
        push_undo(&mut payload, trx, UndoPtr(pointer), previous, version, &undo);
        self.undo.insert(pointer, undo);
        let ops = [ops, &[PageOp::RaiseTrxMax(TrxId(trx))]].concat();
        self.apply(at, payload, &ops);
    }

    fn next_header(&self, trx: u64) -> RowHeader {
        RowHeader { trx: TrxId(trx), undo: UndoPtr(self.next_undo) }
    }

    /// Brings the rows' page to the newest row version, logged as an image.
    fn convert(&mut self, at: usize) {
        let now = self.versions.now();
        if at == SECONDARY || self.page(at).format_version() == now.table.format_version {
            return;
        }
        let (old, new) = (self.format(at), &now.clustered);
        let initial = |position: usize| self.versions.default_of(now.table.columns[position].id.0);
        let converter = RowConverter::new(old, new, initial, |_| false);
        let source = self.page(at);
        let mut bytes = empty_page(at, new.fixed_key_len());
        let mut page = PageMut::new(&mut bytes);
        let start = FormatPage {
            page_no: source.page_no(),
            level: 0,
            index_id: source.index_id(),
            version: source.version(),
            format_version: new.format_version(),
            fixed_key_len: new.fixed_key_len(),
            lower: b"",
            upper: None,
            right: source.right(),
        };
        page.format(&start);
        page.raise_trx_max(source.trx_max());
        for slot in 0..source.count() {
            let row = self.row_at(at, slot);
            let mut payload = Vec::new();
            converter.convert(&row, KeptValues::All, &mut payload);
            page.append(&source.key(slot), &payload, source.flags(slot)).unwrap();
        }
        self.apply(at, Vec::new(), &[PageOp::image_of(PageRef::new(&bytes))]);
    }

    pub(crate) fn new_row(&self, id: i32) -> Row {
        let columns = self.versions.now().table.columns.iter();
        let mut row: Row = columns.map(|column| (column.id.0, None)).collect();
        row.insert(ID, Some(id.to_le_bytes().to_vec()));
        row
    }

    fn keys(&self, row: &Row) -> [Vec<u8>; 2] {
        let values = self.versions.values(row);
        let now = self.versions.now();
        let mut keys = [Vec::new(), Vec::new()];
        now.clustered.append_key(&values, 0, &mut keys[CLUSTERED]);
        now.secondary.append_key(&values, 0, &mut keys[SECONDARY]);
        keys
    }

    fn payload(&self, at: usize, header: RowHeader, row: &Row) -> Vec<u8> {
        let mut payload = Vec::new();
        self.format(at).encode(header, &self.versions.values(row), &[], &mut payload);
        payload
    }

    pub(crate) fn insert(&mut self, trx: u64, row: &Row) {
        self.convert(CLUSTERED);
        let key = self.keys(row)[CLUSTERED].clone();
        let at = self.page(CLUSTERED).search(&key);
        let slot = at.slot as u16;
        let payload = self.payload(CLUSTERED, self.next_header(trx), row);
        if at.found {
            let read = self.row_at(CLUSTERED, at.slot);
            let columns = self.versions.row_of(&read, self.versions.now()).into_iter();
            let columns = columns.filter(|&(id, _)| id != ID).collect();
            let (before, flags) = (read.header(), read.record().flags());
            assert!(flags.is_deleted());
            let ops = [
                PageOp::ReplacePayload { slot, payload: &payload },
                PageOp::SetFlags { slot, flags: SlotFlags::NONE },
            ];
            self.change(CLUSTERED, trx, Undo::Update { key, before, flags, columns }, &ops);
        } else {
            let op = PageOp::Insert { slot, flags: SlotFlags::NONE, key: &key, payload: &payload };
            self.change(CLUSTERED, trx, Undo::Insert { key: key.clone() }, &[op]);
        }
        self.insert_entry(trx, row);
    }

    pub(crate) fn update(&mut self, trx: u64, old: &Row, new: &Row) {
        self.convert(CLUSTERED);
        let key = self.keys(new)[CLUSTERED].clone();
        let at = self.page(CLUSTERED).search(&key).slot;
        let payload = self.payload(CLUSTERED, self.next_header(trx), new);
        let before = self.row_at(CLUSTERED, at).header();
        let changed = old.iter().filter(|(id, value)| new[id] != **value);
        let columns = changed.map(|(&id, value)| (id, value.clone())).collect();
        let undo = Undo::Update { key, before, flags: SlotFlags::NONE, columns };
        self.change(CLUSTERED, trx, undo, &[PageOp::ReplacePayload { slot: at as u16, payload: &payload }]);
        if old[&V] != new[&V] {
            self.end_entry(trx, old);
            self.insert_entry(trx, new);
        }
    }

    pub(crate) fn delete(&mut self, trx: u64, old: &Row) {
        self.convert(CLUSTERED);
        let key = self.keys(old)[CLUSTERED].clone();
        let at = self.page(CLUSTERED).search(&key).slot;
        let before = self.row_at(CLUSTERED, at).header();
        let header = self.next_header(trx).encode();
        let slot = at as u16;
        let ops = [
            PageOp::Patch { slot, offset: 0, bytes: &header },
            PageOp::SetFlags { slot, flags: SlotFlags::DELETED },
        ];
        self.change(CLUSTERED, trx, Undo::DeleteMark { key, before }, &ops);
        self.end_entry(trx, old);
    }

    fn insert_entry(&mut self, trx: u64, row: &Row) {
        self.convert(SECONDARY);
        let key = self.keys(row)[SECONDARY].clone();
        let payload = self.payload(SECONDARY, RowHeader::default(), row);
        let full = with_begin(&key, trx);
        let at = self.page(SECONDARY).search(&full);
        assert!(!at.found);
        let flags = SlotFlags::HAS_BEGIN;
        let op = PageOp::Insert { slot: at.slot as u16, flags, key: &full, payload: &payload };
        self.change(SECONDARY, trx, Undo::SecondaryInsert { key }, &[op]);
    }

    /// Ends the open entry of `row`: removed if the transaction began it, else closed.
    fn end_entry(&mut self, trx: u64, row: &Row) {
        self.convert(SECONDARY);
        let key = self.keys(row)[SECONDARY].clone();
        let page = self.page(SECONDARY);
        let from = page.search(&key).slot;
        let at = (from..page.count()).find(|&slot| !page.flags(slot).is_deleted()).unwrap();
        assert!(page.key(at).starts_with(&key), "the row has no open entry");
        let (slot, begin) = (at as u16, page.record(at).begin_trx());
        if begin == trx {
            let body = page.payload(at).to_vec();
            self.change(SECONDARY, trx, Undo::SecondaryRemove { key, body }, &[PageOp::Remove { slot }]);
        } else {
            let op = PageOp::Close { slot, trx: TrxId(trx) };
            self.change(SECONDARY, trx, Undo::SecondaryClose { key, begin }, &[op]);
        }
    }

    pub(crate) fn roll_back_to(&mut self, trx: u64, undo_count: usize) {
        while self.undo_count(trx) > undo_count {
            self.undo_newest(trx);
        }
    }

    /// Undoes the newest change of `trx`: conditions, compensation and changes as docs/redo_log.md says.
    pub(crate) fn undo_newest(&mut self, trx: u64) {
        let list = self.open.get_mut(&trx).unwrap();
        let pointer = UndoPtr(list.pop().unwrap());
        let next = UndoPtr(list.last().copied().unwrap_or(0));
        let mut payload = Vec::new();
        push_compensation(&mut payload, trx, pointer, next);
        match self.undo[&pointer.0].clone() {
            Undo::Insert { key } => {
                let slot = self.find_version(&key, pointer);
                self.apply(
                    CLUSTERED,
                    payload,
                    &slot.map(|slot| PageOp::Remove { slot }).into_iter().collect::<Vec<_>>(),
                );
            }
            Undo::Update { key, before, flags, columns } => {
                let Some(slot) = self.find_version(&key, pointer) else {
                    return self.apply(CLUSTERED, payload, &[]);
                };
                let mut row = self.versions.row_of(&self.row_at(CLUSTERED, slot.into()), self.versions.now());
                row.extend(columns);
                let old = self.payload(CLUSTERED, before, &row);
                let ops = [PageOp::ReplacePayload { slot, payload: &old }, PageOp::SetFlags { slot, flags }];
                self.apply(CLUSTERED, payload, &ops);
            }
            Undo::DeleteMark { key, before } => {
                let Some(slot) = self.find_version(&key, pointer) else {
                    return self.apply(CLUSTERED, payload, &[]);
                };
                let header = before.encode();
                let flags = SlotFlags::NONE;
                let ops =
                    [PageOp::Patch { slot, offset: 0, bytes: &header }, PageOp::SetFlags { slot, flags }];
                self.apply(CLUSTERED, payload, &ops);
            }
            secondary => self.undo_entry(trx, payload, secondary),
        }
    }

    fn undo_entry(&mut self, trx: u64, payload: Vec<u8>, undo: Undo) {
        let page = self.page(SECONDARY);
        match undo {
            Undo::SecondaryClose { key, begin } => {
                let at = page.search(&if begin == 0 { key } else { with_begin(&key, begin) });
                let slot = at.slot as u16;
                let is_ours = at.found && self.row_at(SECONDARY, at.slot).end_trx() == Some(TrxId(trx));
                self.apply(SECONDARY, payload, &[PageOp::Reopen { slot }][usize::from(!is_ours)..]);
            }
            Undo::SecondaryRemove { key, body } => {
                let full = with_begin(&key, trx);
                let at = page.search(&full);
                let (slot, flags) = (at.slot as u16, SlotFlags::HAS_BEGIN);
                let op = PageOp::Insert { slot, flags, key: &full, payload: &body };
                self.apply(SECONDARY, payload, &[op][usize::from(at.found)..]);
            }
            Undo::SecondaryInsert { key } => {
                let at = page.search(&with_begin(&key, trx));
                let op = PageOp::Remove { slot: at.slot as u16 };
                self.apply(SECONDARY, payload, &[op][usize::from(!at.found)..]);
            }
            clustered => panic!("{clustered:?} is no change of a secondary entry"),
        }
    }

    /// The slot of the clustered record that `pointer` is the undo of.
    fn find_version(&self, key: &[u8], pointer: UndoPtr) -> Option<u16> {
        let at = self.page(CLUSTERED).search(key);
        (at.found && self.row_at(CLUSTERED, at.slot).header().undo == pointer).then_some(at.slot as u16)
    }

    pub(crate) fn read_clustered(&self, view: &View) -> BTreeMap<i32, Row> {
        let version = &self.versions.all[usize::from(self.page(CLUSTERED).format_version())];
        let rows = (0..self.page(CLUSTERED).count()).filter_map(|slot| {
            let read = self.row_at(CLUSTERED, slot);
            self.visible_version(view, &read, self.versions.row_of(&read, version))
        });
        rows.map(|row| (id_of(row[&ID].as_ref().unwrap()), row)).collect()
    }

    /// Walks from the newest version to the one that `view` sees.
    fn visible_version(&self, view: &View, read: &RowRef<'_>, mut row: Row) -> Option<Row> {
        let (mut header, mut deleted) = (read.header(), read.record().flags().is_deleted());
        while !view.sees(header.trx.0) {
            match &self.undo[&header.undo.0] {
                Undo::Update { before, flags, columns, .. } => {
                    for (id, value) in
                        columns.iter().filter(|(id, _)| row.contains_key(id)).cloned().collect::<Vec<_>>()
                    {
                        row.insert(id, value);
                    }
                    (header, deleted) = (*before, flags.is_deleted());
                }
                Undo::DeleteMark { before, .. } => (header, deleted) = (*before, false),
                _ => return None,
            }
        }
        (!deleted).then_some(row)
    }

    pub(crate) fn read_secondary(&self, view: &View) -> Vec<(i32, Option<Vec<u8>>)> {
        let (mut rows, mut scratch) = (Vec::new(), Vec::new());
        for slot in 0..self.page(SECONDARY).count() {
            let read = self.row_at(SECONDARY, slot);
            let ended = read.end_trx().is_some_and(|end| view.sees(end.0));
            if view.sees(read.begin_trx().0) && !ended {
                let id = id_of(read.column(0, &mut scratch).unwrap());
                rows.push((id, read.column(1, &mut scratch).map(<[u8]>::to_vec)));
            }
        }
        rows.sort();
        rows
    }

    pub(crate) fn is_crowded(&self) -> bool {
        self.pages.iter().any(|page| PageRef::new(page).used_bytes() > 9000)
    }

    /// Removes what no view needs, and begin ids that all see. No view is open.
    pub(crate) fn purge(&mut self) {
        let now = self.view(None);
        for slot in (0..self.page(CLUSTERED).count()).rev() {
            let read = self.row_at(CLUSTERED, slot);
            if read.record().flags().is_deleted() && now.sees(read.trx().0) {
                self.apply(CLUSTERED, Vec::new(), &[PageOp::Remove { slot: slot as u16 }]);
            }
        }
        for slot in (0..self.page(SECONDARY).count()).rev() {
            if self.row_at(SECONDARY, slot).end_trx().is_some_and(|end| now.sees(end.0)) {
                self.apply(SECONDARY, Vec::new(), &[PageOp::Remove { slot: slot as u16 }]);
            }
        }
        for slot in 0..self.page(SECONDARY).count() {
            self.drop_begin(&now, slot);
        }
    }

    fn drop_begin(&mut self, now: &View, slot: usize) {
        let record = self.page(SECONDARY).record(slot);
        if !record.flags().has_begin() || record.flags().is_deleted() || !now.sees(record.begin_trx()) {
            return;
        }
        let (mut key, payload) = (Vec::new(), record.payload().to_vec());
        record.append_key(&mut key);
        key.truncate(record.key_len_without_begin());
        let at = self.page(SECONDARY).search(&key);
        if at.found || at.slot != slot {
            return;
        }
        let slot = slot as u16;
        let ops = [
            PageOp::Remove { slot },
            PageOp::Insert { slot, flags: SlotFlags::NONE, key: &key, payload: &payload },
        ];
        self.apply(SECONDARY, Vec::new(), &ops);
    }

    /// Writes a page: the log first.
    pub(crate) fn write_page(&mut self, at: usize) {
        self.synced = self.synced.max(self.page(at).lsn().0 as usize);
        stamp_checksum(&mut self.pages[at]);
        self.disk[at].clone_from(&self.pages[at]);
    }

    /// A DDL statement is committed: what was logged before it is durable.
    fn sync_log(&mut self) {
        self.synced = self.log.len();
    }

    pub(crate) fn add_column(&mut self, prng: &mut Prng) -> (u16, Option<Vec<u8>>) {
        self.sync_log();
        self.versions.add_column(prng)
    }

    pub(crate) fn drop_column(&mut self) -> Option<u16> {
        self.sync_log();
        self.versions.drop_column()
    }

    pub(crate) fn check(&self) {
        for at in [CLUSTERED, SECONDARY] {
            assert_eq!(check_page(self.page(at)), Ok(()));
            assert_eq!(check_records(self.page(at), self.format(at)), Ok(()));
        }
    }
}

fn id_of(storage: &[u8]) -> i32 {
    i32::from_le_bytes(storage.try_into().unwrap())
}

fn with_begin(key: &[u8], trx: u64) -> Vec<u8> {
    debug_assert_eq!(get_u48(&trx.to_le_bytes(), 0), trx);
    [key, &trx.to_be_bytes()[2..]].concat()
}
