//! Looking up many keys in one index: the inner side of a join, the row of a secondary entry.

use page::{PageRef, Record, RecordCopy, RowRef, SlotFlags};
use trx::ReadView;

use crate::engine::Engine;
use crate::error::Result;
use crate::page_copy::PageCopy;
use crate::range::{Direction, KeyRange};
use crate::row::version::{self, Seen};
use crate::scan::{Batch, Scan, Source};
use crate::table::Table;

/// Looks up keys under one view and holds no latch between calls.
///
/// A leaf that is hit twice in a row is copied, and keys that fall on the copy cost a search only; a key
/// asked for again costs a comparison. The copy stays right for the view, whatever others do. It does not see
/// what the own transaction changes after the first call: use a prober for one statement.
#[derive(Debug)]
pub struct Prober<'e> {
    source: Source<'e>,
    /// The leaf of the last descent.
    last_page: base::PageNo,
    copy: PageCopy,
    copied: bool,
    key: Vec<u8>,
    answer: Answer,
    /// A row that is not on the copy, or an older version.
    arena: Vec<u8>,
    scan: Scan<'e>,
}

/// Result of the last exact lookup.
#[derive(Clone, Copy, Debug)]
enum Answer {
    None,
    Nothing,
    /// On the copied leaf.
    Slot(usize),
    /// In the arena.
    Copied(RecordCopy),
    /// The key in the arena, an older payload after it.
    Older(RecordCopy, usize),
}

impl<'e> Prober<'e> {
    /// A prober of the index at position `index` of `table`.
    pub fn new(engine: &'e Engine, table: &'e Table, index: usize, view: ReadView) -> Result<Self> {
        let source = Source::new(engine, table, index, view)?;
        let scan = Scan::open(engine, table, index, view, KeyRange::default(), Direction::Forward)?;
        Ok(Prober {
            source,
            last_page: base::PageNo::NONE,
            copy: PageCopy::default(),
            copied: false,
            key: Vec::new(),
            answer: Answer::None,
            arena: Vec::new(),
            scan: scan.detached(),
        })
    }

    /// The row with exactly this clustered key; only for the clustered index.
    pub fn get(&mut self, key: &[u8]) -> Result<Option<RowRef<'_>>> {
        debug_assert!(self.source.index.format.is_clustered(), "exact lookups are for clustered keys");
        if !self.find_in_copy(key) {
            self.find_elsewhere(key)?;
        }
        Ok(self.row())
    }

    /// Answers from the copied leaf; false if the key does not belong there.
    #[inline]
    fn find_in_copy(&mut self, key: &[u8]) -> bool {
        let Some(copy) = self.copy.get().filter(|_| self.copied) else { return false };
        let page = PageRef::new(copy);
        let at = page.search_leaf(key);
        if !page.covers_searched(key, at) {
            return false;
        }
        self.answer = if !at.found {
            Answer::Nothing
        } else if self.source.view.sees_whole_page(page.trx_max()) && self.source.index.tree.is_current(page)
        {
            if page.is_deleted(at.slot) { Answer::Nothing } else { Answer::Slot(at.slot) }
        } else {
            self.arena.clear();
            let current = Answer::Slot(at.slot);
            let found = answer(self.source, page, &page.record(at.slot), &mut self.arena, current);
            // An error is returned when the lookup reads the tree.
            let Ok(found) = found else { return false };
            found
        };
        true
    }

    /// Answers from the tree, or as before if the last key that was not on the copied leaf comes again.
    #[inline(never)]
    fn find_elsewhere(&mut self, key: &[u8]) -> Result<()> {
        let repeated = !self.copied && self.key == key && !matches!(self.answer, Answer::None);
        if !repeated {
            self.key.clear();
            self.key.extend_from_slice(key);
            self.arena.clear();
            // In case of an error.
            self.answer = Answer::None;
            self.answer = self.descend(key)?;
        }
        Ok(())
    }

    fn row(&self) -> Option<RowRef<'_>> {
        let record = match self.answer {
            Answer::None | Answer::Nothing => return None,
            Answer::Slot(slot) => PageRef::new(self.copy.get()?).record(slot),
            Answer::Copied(copy) => copy.record(&self.arena),
            Answer::Older(copy, payload) => {
                copy.record(&self.arena).with_payload(&self.arena[payload..], SlotFlags::NONE)
            }
        };
        Some(RowRef::new(&self.source.index.format, record))
    }

    fn descend(&mut self, key: &[u8]) -> Result<Answer> {
        self.copied = false;
        let Source { store, index, .. } = self.source;
        let Some(at) = index.tree.point(store, key)? else {
            self.last_page = base::PageNo::NONE;
            return Ok(Answer::Nothing);
        };
        let page = at.page();
        if page.page_no() == self.last_page {
            let copy = self.copy.get_or_make();
            page.copy_to(copy);
            self.copied = true;
            let slot = at.slot();
            drop(at);
            let page = PageRef::new(copy);
            return answer(self.source, page, &page.record(slot), &mut self.arena, Answer::Slot(slot));
        }
        self.last_page = page.page_no();
        let record = at.record();
        let mut found = answer(self.source, page, &record, &mut self.arena, Answer::Slot(at.slot()))?;
        if let Answer::Slot(_) = found {
            found = Answer::Copied(record.copy_to(&mut self.arena));
        }
        Ok(found)
    }

    /// Starts searching for the rows whose keys start with `prefix`; [`Prober::next_batch`] hands them out.
    pub fn probe(&mut self, prefix: &[u8]) {
        let bound = std::ops::Bound::Included(prefix);
        self.scan.restart(|range| range.set(bound, bound));
    }

    /// More rows of the prefix, never an empty batch; `None` when there are no more.
    pub fn next_batch(&mut self) -> Result<Option<Batch<'_>>> {
        self.scan.next_batch()
    }
}

/// What the view sees of a record: `current` if it is the record itself.
fn answer(
    source: Source<'_>,
    page: PageRef<'_>,
    record: &Record<'_>,
    arena: &mut Vec<u8>,
    current: Answer,
) -> Result<Answer> {
    if source.view.sees_whole_page(page.trx_max()) && source.index.tree.is_current(page) {
        return Ok(if record.flags().is_deleted() { Answer::Nothing } else { current });
    }
    let mut older = Vec::new();
    Ok(match version::clustered(source.trx, source.view, source.index, page, record, &mut older)? {
        Seen::Nothing => Answer::Nothing,
        Seen::Current => current,
        Seen::Older => {
            let copy = record.copy_to(arena);
            let start = arena.len();
            arena.extend_from_slice(&older);
            Answer::Older(copy, start)
        }
    })
}
