//! Bringing the pages of tables whose columns have changed to the version of the definition, in the
//! background.
//!
//! Statements convert the pages that they change (`btree/src/convert.rs`), and read others as they are. The
//! purge thread walks over the leaves of a table that has a history, some at a time, from the first to the
//! last key. Behind it no page has an older version, as new pages come from those that were converted, so
//! that at the end the history is forgotten. A change of columns meanwhile begins the walk again, and so does
//! a start.

use std::sync::atomic::Ordering;

use base::IndexId;

use crate::conversion::Walk;
use crate::dictionary::{Kind, encode_table};
use crate::engine::Engine;
use crate::error::Result;
use crate::purge::{HeldTable, Hold};
use crate::table::Table;

/// Leaves looked at in one step.
const LEAVES_PER_STEP: usize = 64;

impl Engine {
    /// Takes a step of the conversion. False: there is nothing to convert, or not now.
    ///
    /// # Errors
    /// Those that stop the server.
    pub fn conversion_step(&self) -> Result<bool> {
        if !self.conversion.is_wanted.load(Ordering::Relaxed) || self.is_read_only() {
            return Ok(false);
        }
        let mut walk = self.conversion.walk.lock();
        let Some(tree) = self.tree_to_convert(walk.as_ref()) else { return Ok(false) };
        let mut held = HeldTable::default();
        match held.hold(self, tree) {
            Hold::Held => {}
            Hold::Gone => return Ok(true),
            Hold::Locked => return Ok(false),
        }
        let Some((table, _)) = held.table() else { return Ok(false) };
        match self.convert_some(table, &mut walk) {
            Err(error) if error.is_full_disk() => Ok(false),
            // Statements that need the page report it; the next start tries again.
            Err(error) if error.is_corrupt_page() => {
                self.conversion.damaged.lock().insert(tree);
                *walk = None;
                Ok(true)
            }
            converted => converted.map(|()| true),
        }
    }

    /// The clustered tree of a table that has a history: the one that the walk is in, if it has.
    fn tree_to_convert(&self, walk: Option<&Walk>) -> Option<IndexId> {
        // Before the look: a table that gets a history meanwhile is seen, or wanted again.
        self.conversion.is_wanted.store(false, Ordering::SeqCst);
        let damaged = self.conversion.damaged.lock();
        let catalog = self.catalog();
        let mut found = None;
        for table in catalog.all_tables().filter(|table| table.older_versions() > 0) {
            let tree = table.clustered().tree.index;
            if damaged.contains(&tree) || table.is_out_of_use(0) {
                continue;
            }
            self.conversion.want();
            if walk.is_some_and(|walk| walk.tree == tree) {
                return Some(tree);
            }
            found = Some(tree);
        }
        found
    }

    /// Converts some leaves of the table, which is held, and forgets its history at the end.
    fn convert_some(&self, table: &Table, walk: &mut Option<Walk>) -> Result<()> {
        let (tree, version) = (&table.clustered().tree, table.def.format_version);
        let mut next = match walk.take() {
            Some(walk) if (walk.tree, walk.version) == (tree.index, version) => walk.next,
            _ => Vec::new(),
        };
        for _ in 0..LEAVES_PER_STEP {
            self.store.log().admit()?;
            let (upper, _) = tree.convert_leaf(&self.store, &next)?;
            match upper {
                Some(upper) => next = upper,
                None => return self.forget_history(table),
            }
        }
        *walk = Some(Walk { tree: tree.index, version, next });
        Ok(())
    }

    /// All pages of the table, which is held, have the version of its definition.
    fn forget_history(&self, table: &Table) -> Result<()> {
        let _definition = self.definition.lock();
        if !table.is_current() {
            return Ok(());
        }
        let mut record = table.record();
        record.history = types::RowHistory::default();
        self.store.log().admit()?;
        self.dictionary.put(
            &self.store,
            Kind::Table,
            &table.def.id.0.to_be_bytes(),
            &encode_table(&record),
        )?;
        table.forget_history();
        Ok(())
    }
}
