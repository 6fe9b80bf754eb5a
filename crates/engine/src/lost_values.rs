//! Lost values: finds and frees off-page values that no row references after a crash.
//!
//! Purge frees a value that has lost its row, and knows it from undo. While an old view keeps purge from it,
//! a checkpoint may let the log go that says so; a crash then leaves pages that nothing refers to. After a
//! start that follows a crash, the purge thread searches for them:
//!
//! 1. The start notes which pages are in use where values may be (`space::Store::begin_claims`).
//! 2. Once what the startup found open is rolled back and all extents are swept, the rows of all tables that
//!    may have off-page values are read, some leaves at a time. Each reference claims its pages.
//! 3. Pages of values that are not claimed are freed.
//!
//! A value that a statement takes from its row meanwhile is claimed before the row changes: purge will free
//! it. So is what is freed. Values written meanwhile are on pages that were not in use at startup, or were
//! freed since.
//!
//! A shutdown that comes before the end leaves a note in the dictionary, so that the next startup searches,
//! too.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;

use base::IndexId;
use btree::{Cursor, Seek};
use page::{OverflowRef, PageRef, Record, RowFormat, RowRef};
use types::{TableDef, TypeKind};

use crate::dictionary::Kind;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::limits;
use crate::purge::{HeldTable, Hold};
use crate::value_search::Search;

/// Leaves read in one step.
const LEAVES_PER_STEP: usize = 64;
/// Rows that cannot be longer have all their values on their page.
const SHORT_ROW_BYTES: usize = 2000;
/// The note has no name.
const NOTE: &[u8] = b"";

impl Engine {
    /// Begins the search of a startup that follows a crash, or a shutdown that has left a note. No thread
    /// works yet.
    pub(crate) fn begin_search(&self, is_unclean: bool) -> Result<()> {
        if !is_unclean && !self.has_search_note()? {
            return Ok(());
        }
        let may_have = |def: &TableDef| {
            let is_long = |kind| matches!(kind, TypeKind::Text(_) | TypeKind::Blob(_));
            def.columns.iter().any(|column| is_long(column.ty.kind))
                || limits::row_bytes_max(def) > SHORT_ROW_BYTES
        };
        let catalog = self.catalog();
        // A column that was dropped may have had values that are in rows still, or wait for purge.
        let tables =
            catalog.all_tables().filter(|table| table.def.format_version != 1 || may_have(&table.def));
        let trees: BTreeSet<IndexId> = tables.map(|table| table.clustered().tree.index).collect();
        self.store.begin_claims(&trees);
        let rest = trees.iter().copied().collect();
        *self.lost_values.search.lock() = Search { trees, rest, ..Search::default() };
        self.lost_values.is_sought.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Whether a shutdown has left a search to the next startup.
    pub(crate) fn has_search_note(&self) -> Result<bool> {
        Ok(self.dictionary.get(&self.store, Kind::SearchNote, NOTE)?.is_some())
    }

    /// Claims the values of a row that is about to lose them, if only some: purge will free them. The caller
    /// may hold the row's leaf, but not the state of the space.
    #[cold]
    pub(crate) fn spare_values(&self, format: &RowFormat, record: Record<'_>) {
        let row = RowRef::new(format, record);
        if !row.has_off_page() {
            return;
        }
        for ordinal in 0..format.var_columns().len() as u16 {
            if let (bytes, true) = row.var(ordinal) {
                let reference = OverflowRef::decode(bytes);
                self.store.claim(reference.first, reference.pages);
            }
        }
    }

    /// Takes a step of the search. False: there is nothing to search for, or not now.
    pub(crate) fn search_step(&self) -> Result<bool> {
        if !self.lost_values.are_sought() || self.unfinished_transactions() > 0 || !self.store.is_swept() {
            return Ok(false);
        }
        let _turn = self.purge.pause();
        let mut search = self.lost_values.search.lock();
        let went_on = match search.rest.last() {
            Some(&tree) => self.claim_values(&mut search, tree),
            None => self.free_lost_values(&mut search),
        };
        match went_on {
            Err(error) if error.is_full_disk() => Ok(false),
            // The references in its rows are unknown. A statement that reads the page reports it; the next
            // start searches again.
            Err(error) if error.is_corrupt_page() => {
                self.lost_values.is_left_over.store(true, Ordering::Relaxed);
                self.stop_search();
                Ok(false)
            }
            went_on => went_on,
        }
    }

    /// Claims the values in some leaves of `tree`.
    fn claim_values(&self, search: &mut Search, tree: IndexId) -> Result<bool> {
        let mut held = HeldTable::default();
        match held.hold(self, tree) {
            Hold::Held => {}
            Hold::Gone => {
                search.end_tree();
                return Ok(true);
            }
            Hold::Locked => {
                // Another tree first, and this one from its beginning.
                search.rest.rotate_right(1);
                search.at = None;
                return Ok(false);
            }
        }
        let Some((table, position)) = held.table() else { return Ok(false) };
        let index = &table.indexes[position];
        let mut cursor = match search.at.take() {
            Some(at) => at.resume(&index.tree, &self.store, Seek::AtOrAfter)?,
            None => index.tree.seek(&self.store, &[], Seek::First)?,
        };
        for _ in 0..LEAVES_PER_STEP {
            let Some(at) = &mut cursor else { break };
            let format = index.format_on(at.page());
            self.claim_values_of(at.page(), format.ok_or(Error::IndexDisagrees { index: tree })?);
            if !at.to_next_leaf()? {
                cursor = None;
            }
        }
        match cursor {
            Some(cursor) => search.at = Some(Cursor::suspend(cursor)),
            None => search.end_tree(),
        }
        Ok(true)
    }

    /// Claims a leaf, and the values of its rows.
    fn claim_values_of(&self, page: PageRef<'_>, format: &RowFormat) {
        self.store.claim(page.page_no(), 1);
        for slot in 0..page.count() {
            self.spare_values(format, page.record(slot));
        }
    }

    /// Frees the lost values of one extent, or ends the search.
    fn free_lost_values(&self, search: &mut Search) -> Result<bool> {
        let Some(unclaimed) = self.store.unclaimed_after(search.freed.as_ref()) else {
            return self.end_search().map(|()| false);
        };
        let mut lost = Vec::new();
        for &page in &unclaimed.pages {
            // Others are inner pages of trees, and pages of trees on their way out.
            let owner = self.store.value_page_owner(page)?;
            lost.extend(owner.filter(|tree| search.trees.contains(tree)).map(|tree| (tree, page)));
        }
        let trees: BTreeSet<IndexId> = lost.iter().map(|(tree, _)| *tree).collect();
        let mut held = HeldTable::default();
        for tree in trees {
            match held.hold(self, tree) {
                Hold::Held => {}
                Hold::Gone => continue,
                Hold::Locked => return Ok(false),
            }
            let pages = lost.iter().filter(|(owner, _)| *owner == tree).map(|(_, page)| *page);
            let pages: Vec<_> = pages.collect();
            self.store.log().admit()?;
            match self.store.free_unclaimed(&unclaimed, &pages).map_err(Error::from) {
                // The extent's map page is damaged: its pages stay allocated.
                Err(error) if error.is_corrupt_page() => {}
                freed => freed?,
            }
        }
        search.freed = Some(unclaimed);
        Ok(true)
    }

    fn end_search(&self) -> Result<()> {
        if self.has_search_note()? {
            let _definition = self.definition.lock();
            self.store.log().admit_reserved()?;
            self.dictionary.delete(&self.store, Kind::SearchNote, NOTE)?;
        }
        self.stop_search();
        Ok(())
    }

    fn stop_search(&self) {
        self.lost_values.is_sought.store(false, Ordering::Relaxed);
        self.store.end_claims();
    }

    /// Searches to the end, as far as the disk has room for it. No thread works any more.
    pub(crate) fn finish_search(&self) -> Result<()> {
        if self.lost_values.are_sought() {
            while self.sweep_step()?.is_some() {}
            while self.search_step()? {}
        }
        Ok(())
    }

    /// Leaves a search that has not ended to the next startup.
    pub(crate) fn note_search(&self) -> Result<()> {
        let is_left_over = self.lost_values.is_left_over.load(Ordering::Relaxed);
        if !(self.lost_values.are_sought() || is_left_over) || self.has_search_note()? {
            return Ok(());
        }
        self.dictionary.put(&self.store, Kind::SearchNote, NOTE, &[])
    }
}
