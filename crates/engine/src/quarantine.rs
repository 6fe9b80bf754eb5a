//! Quarantine: a page that cannot be read, or fails its check, disables its index.
//!
//! It takes its index out of use: a secondary index alone, the clustered one with its table. Statements that
//! would read a damaged clustered index, or change rows of a table with any damaged index, are refused by
//! name; plans pass over a damaged secondary index. A table without damage pays nothing: statements check its
//! usability anyway ([`Table::is_plain`]).
//!
//! Damage found by a read is kept in memory only; after a restart the next read finds it again, unless it was
//! repaired. Where a rollback or redo could not make a change, or a row's entry is missing, that is in the
//! dictionary until the index is dropped: its pages lack something even if they can be read, and rows of a
//! rolled back transaction would look committed there.
//!
//! DROP TABLE, TRUNCATE TABLE and DROP INDEX read no page of the trees that go, and end it. So does a CHECK
//! TABLE that finds nothing wrong, for what was only read.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use base::{IndexId, PageNo};
use trx::TableUse;

use crate::damage::{Damage, DamagedIndex};
use crate::dictionary::{DICTIONARY_INDEX, Kind};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::table::Table;

/// Where the trees of damaged pages are searched for.
#[derive(Clone, Copy)]
pub(crate) enum DamageScope<'t> {
    /// The tables that a statement has used.
    Used(&'t [Arc<Table>]),
    /// All tables.
    All,
}

/// Version of an entry of the dictionary about a damaged index.
const ENTRY_VERSION: u8 = 1;

impl Table {
    /// Positions of the indexes that are out of use. Cost: a load where there are none.
    pub fn damaged_indexes(&self) -> Vec<usize> {
        if self.is_plain() {
            return Vec::new();
        }
        let is_damaged = |at: &usize| self.damage_of(*at).is_some();
        (0..self.indexes.len()).filter(is_damaged).collect()
    }

    /// Whether the index at `position` is out of use. Cost: a load where none is.
    pub(crate) fn is_out_of_use(&self, position: usize) -> bool {
        !self.is_plain() && self.damage_of(position).is_some()
    }

    /// Whether an index of this version is out of use.
    pub(crate) fn has_damage(&self) -> bool {
        (0..self.indexes.len()).any(|position| self.damage_of(position).is_some())
    }

    /// The damage of the index at `position`.
    pub(crate) fn damage_of(&self, position: usize) -> Option<Damage> {
        self.state.damages.of(self.indexes[position].tree.index)
    }

    /// The damaged index at `position`, by its names.
    fn damaged(&self, position: usize, damage: &Damage) -> DamagedIndex {
        DamagedIndex {
            schema: self.def.schema.clone(),
            table: self.def.name.clone(),
            index: self.indexes[position].def.name.clone(),
            is_clustered: position == 0,
            why: damage.why.clone(),
        }
    }

    /// # Errors
    /// [`Error::Damaged`] if the clustered index is damaged, or, for a statement that changes rows, any
    /// index.
    fn ensure_undamaged(&self, use_: TableUse) -> Result<()> {
        let needed = if use_ == TableUse::Write { self.indexes.len() } else { 1 };
        for position in 0..needed {
            if let Some(damage) = self.damage_of(position) {
                return Err(Error::Damaged(Box::new(self.damaged(position, &damage))));
            }
        }
        Ok(())
    }
}

impl Engine {
    /// Whether a statement may use a table whose usability is not plain, its metadata lock held. False: it
    /// was redefined.
    #[cold]
    pub(crate) fn may_use(&self, table: &Table, use_: TableUse) -> Result<bool> {
        if !table.is_current() {
            return Ok(false);
        }
        if self.force.is_forced() && use_ == TableUse::Write {
            return Err(Error::Forced);
        }
        table.ensure_undamaged(use_)?;
        Ok(true)
    }

    /// Names the index that a damaged page belongs to, if `error` is about one, and takes it out of use.
    /// `tables` are those that the statement has used. The caller holds no latch, and not the definition
    /// mutex.
    #[cold]
    pub fn name_damage(&self, error: Error, tables: &[Arc<Table>]) -> Error {
        let index = match &error {
            Error::IndexDisagrees { index } => {
                // No page that is read after a restart would show it. Without the dictionary it is known
                // until then.
                if let Err(unknown) = self.lose(*index, &error.to_string()) {
                    self.notes.note(&format!("data file: {error}; a restart forgets it: {unknown}"));
                }
                Some(*index)
            }
            Error::NotUndone { index, .. } => Some(*index),
            Error::Storage(storage) => storage
                .damaged_page()
                .and_then(|page| self.find_owners([page], DamageScope::Used(tables)).get(&page).copied()),
            _ => None,
        };
        index
            .and_then(|index| self.quarantine(index, &error.to_string()))
            .map_or(error, |damaged| Error::Damaged(Box::new(damaged)))
    }

    /// The trees that damaged pages are part of, or their links lead to: those of a table. Cost: may read the
    /// inner pages of the tables among which it looks, each once, however many pages there are.
    #[cold]
    pub(crate) fn find_owners(
        &self,
        pages: impl IntoIterator<Item = PageNo>,
        among: DamageScope<'_>,
    ) -> BTreeMap<PageNo, IndexId> {
        let (mut owners, catalog) = (BTreeMap::new(), self.catalog());
        let mut unknown: BTreeSet<PageNo> =
            pages.into_iter().filter(|page| !self.store.is_system_page(*page)).collect();
        if let DamageScope::Used(tables) = among {
            // The tree that the statement used has priority over what the page or the map says.
            self.follow_links(tables.iter().flat_map(|table| table.index_ids()), &mut unknown, &mut owners);
        }
        let is_known = |index: &IndexId| catalog.index(*index).is_some();
        unknown.retain(|&page| match self.store.owner_of(page) {
            Some(owner) => {
                owners.extend(Some(owner).filter(is_known).map(|owner| (page, owner)));
                false
            }
            None => true,
        });
        match among {
            DamageScope::Used(tables) => {
                let named = unknown.iter().map(|&page| (page, self.find_used(page, tables)));
                owners.extend(named.filter_map(|(page, owner)| Some((page, owner?))));
            }
            DamageScope::All => {
                let claimed: Vec<IndexId> =
                    unknown.iter().filter_map(|page| self.store.pool().claimed_owner(*page)).collect();
                let all = catalog.all_tables().flat_map(|table| table.index_ids());
                self.follow_links(claimed.into_iter().chain(all), &mut unknown, &mut owners);
            }
        }
        owners
    }

    /// Moves the pages that one of `trees` leads to from the unknown ones to those with an owner.
    fn follow_links(
        &self,
        trees: impl Iterator<Item = IndexId>,
        unknown: &mut BTreeSet<PageNo>,
        owners: &mut BTreeMap<PageNo, IndexId>,
    ) {
        let (catalog, mut followed) = (self.catalog(), BTreeSet::new());
        for index in trees {
            let Some((table, at)) = catalog.index(index).filter(|_| followed.insert(index)) else { continue };
            if unknown.is_empty() {
                return;
            }
            for page in table.indexes[*at].tree.leads_to(&self.store, unknown) {
                unknown.remove(&page);
                owners.insert(page, index);
            }
        }
    }

    /// The tree of a page that no link and no map names, and that a statement has met which has used
    /// `tables`.
    fn find_used(&self, page: PageNo, tables: &[Arc<Table>]) -> Option<IndexId> {
        let catalog = self.catalog();
        let mut used = tables.iter().flat_map(|table| table.index_ids());
        match self.store.pool().claimed_owner(page) {
            Some(claimed) if catalog.index(claimed).is_some() => {
                Some(claimed).filter(|claimed| tables.is_empty() || used.any(|index| index == *claimed))
            }
            Some(DICTIONARY_INDEX) => None,
            _ if !self.dictionary.tree().leads_to(&self.store, &[page].into()).is_empty() => None,
            // A value of the one table there is.
            _ => {
                if let [table] = tables {
                    Some(table.clustered().tree.index)
                } else {
                    None
                }
            }
        }
    }

    /// Takes an index out of use because of `cause`, until a startup. `None`: it is in no table.
    pub(crate) fn quarantine(&self, index: IndexId, cause: &str) -> Option<DamagedIndex> {
        let _definition = self.definition.lock();
        self.put_out_of_use(Damage { index, why: cause.into(), is_lost: false })
    }

    /// Background work has met damage in the tree of `index`, and leaves undone what it was about to do
    /// there.
    #[cold]
    pub(crate) fn pass_over_damage(&self, index: IndexId, cause: &Error) {
        let page = if let Error::Storage(error) = cause { error.damaged_page() } else { None };
        match page.filter(|page| self.store.is_system_page(*page)) {
            Some(page) if self.purge.is_new_damage(page) => {
                self.notes
                    .note(&format!("data file: {cause}; space is not freed where that page describes it"));
            }
            Some(_) => {}
            None => drop(self.quarantine(index, &cause.to_string())),
        }
    }

    /// An estimate or a count of `table` has failed: takes the index out of use if its damage is the reason.
    #[cold]
    pub(crate) fn note_damage(&self, table: &Table, error: Error) {
        let current = self.catalog().index(table.clustered().tree.index).map(|(table, _)| Arc::clone(table));
        if error.is_corrupt_page()
            && let Some(table) = current
        {
            self.name_damage(error, &[table]);
        }
    }

    /// Takes an index out of use permanently, because a change of it could not be made.
    ///
    /// # Errors
    /// The dictionary cannot be written: the damage would be forgotten at a restart.
    pub(crate) fn lose(&self, index: IndexId, why: &str) -> Result<()> {
        let _definition = self.definition.lock();
        if self.is_lost(index) {
            return Ok(());
        }
        if self.is_read_only() {
            self.put_out_of_use(Damage { index, why: why.into(), is_lost: true });
            return Ok(());
        }
        let value = [&[ENTRY_VERSION][..], why.as_bytes()].concat();
        self.store.log().admit_reserved()?;
        self.dictionary.put(&self.store, Kind::Damage, &index.0.to_be_bytes(), &value)?;
        self.put_out_of_use(Damage { index, why: why.into(), is_lost: true });
        Ok(())
    }

    /// Whether changes of the index could not be made.
    pub(crate) fn is_lost(&self, index: IndexId) -> bool {
        let catalog = self.catalog();
        let damage = catalog.index(index).and_then(|(table, _)| table.state.damages.of(index));
        damage.is_some_and(|damage| damage.is_lost)
    }

    /// The definition mutex is held, so that the table has no other version before it is restricted.
    fn put_out_of_use(&self, damage: Damage) -> Option<DamagedIndex> {
        let (table, position) = self.catalog().index(damage.index).cloned()?;
        let damaged = table.damaged(position, &damage);
        if table.state.damages.add(damage) {
            table.restrict();
            self.expire_plans(&table);
            self.notes.note(&format!("data file: {damaged}; restore it from a backup, or drop it"));
        }
        Some(damaged)
    }

    /// Takes the damaged indexes from the dictionary. No thread uses tables yet.
    pub(crate) fn load_damages(&self) -> Result<()> {
        for (name, value) in self.dictionary.list(&self.store, Kind::Damage)? {
            let (Ok(name), Some((&ENTRY_VERSION, why))) =
                (<[u8; 4]>::try_from(&name[..]), value.split_first())
            else {
                return Err(Error::DictionaryCorrupt { what: "damaged index" });
            };
            let (index, why) = (IndexId(u32::from_be_bytes(name)), String::from_utf8_lossy(why));
            // One whose trees were being freed when the server ended has no table.
            self.put_out_of_use(Damage { index, why: why.into(), is_lost: true });
        }
        Ok(())
    }

    /// The trees are about to be freed. The caller holds the definition mutex.
    pub(crate) fn forget_damages(&self, trees: impl IntoIterator<Item = IndexId>) -> Result<()> {
        for tree in trees {
            self.store.log().admit_reserved()?;
            self.dictionary.delete(&self.store, Kind::Damage, &tree.0.to_be_bytes())?;
        }
        Ok(())
    }

    /// A check of the whole table has found nothing wrong, with its exclusive metadata lock held: what was
    /// only read is mended. Returns what is not.
    pub(crate) fn lift_quarantine(&self, table: &Table) -> Vec<DamagedIndex> {
        let _definition = self.definition.lock();
        table.state.damages.forget_read();
        let left: Vec<DamagedIndex> = (0..table.indexes.len())
            .filter_map(|position| table.damage_of(position).map(|damage| table.damaged(position, &damage)))
            .collect();
        if left.is_empty() && !table.is_plain() && !self.force.is_forced() {
            table.lift_restriction();
            self.expire_plans(table);
        }
        left
    }

    /// Runs a rollback, which continues past changes that damaged pages keep it from undoing: their indexes
    /// are out of use from then on. The caller holds no latch, no undo and not the definition mutex; `undo`
    /// can be called again.
    #[inline]
    pub(crate) fn past_damage<R>(&self, mut undo: impl FnMut() -> Result<R>) -> Result<R> {
        loop {
            match undo() {
                Err(Error::NotUndone { index, cause }) => self.lose_undone(index, &cause)?,
                done => return done,
            }
        }
    }

    #[cold]
    fn lose_undone(&self, index: IndexId, cause: &Error) -> Result<()> {
        self.lose(index, &format!("a change of it could not be undone: {cause}"))
    }
}
