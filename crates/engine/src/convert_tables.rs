//! Bringing the pages of tables whose columns have changed to the version of the definition, in the
//! background.
//!
//! Statements convert the pages that they change (`btree/src/convert.rs`), and read others as they are. The
//! purge thread walks over the leaves of a table that has a history, some at a time, from the first to the
//! last key. Behind it no page has an older version, as new pages come from those that were converted, so
//! that at the end the history is forgotten. A change of columns meanwhile begins the walk again, and so does
//! a startup.

use std::sync::atomic::Ordering;

use base::IndexId;

use crate::conversion::Walk;
use crate::dictionary::{Kind, encode_table};
use crate::engine::Engine;
use crate::error::Result;
use crate::purge::{HeldTable, Hold};
use crate::table::Table;

/// Leaves checked in one step.
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
        let mut held = HeldTable::default();
        let trees = self.trees_to_convert(walk.as_ref());
        let Some(&tree) = trees.iter().find(|tree| held.hold(self, **tree) == Hold::Held) else {
            return Ok(false);
        };
        let Some((table, _)) = held.table() else { return Ok(false) };
        match self.convert_some(table, &mut walk) {
            Err(error) if error.is_full_disk() => Ok(false),
            // Statements that need the page report it; the next startup tries again.
            Err(error) if error.is_corrupt_page() => {
                self.conversion.damaged.lock().insert(tree);
                *walk = None;
                Ok(true)
            }
            converted => converted.map(|()| true),
        }
    }

    /// The clustered trees of tables that have a history, first the one that the walk is in.
    fn trees_to_convert(&self, walk: Option<&Walk>) -> Vec<IndexId> {
        // Before the look: a table that gets a history meanwhile is seen, or wanted again.
        self.conversion.is_wanted.store(false, Ordering::SeqCst);
        let damaged = self.conversion.damaged.lock();
        let catalog = self.catalog();
        let tables =
            catalog.all_tables().filter(|table| table.older_versions() > 0 && !table.is_out_of_use(0));
        let trees = tables.map(|table| table.clustered().tree.index).filter(|tree| !damaged.contains(tree));
        let mut trees: Vec<IndexId> = trees.collect();
        if !trees.is_empty() {
            self.conversion.want();
        }
        let under_way = |tree: &IndexId| walk.is_some_and(|walk| walk.tree == *tree);
        trees.sort_by_key(|tree| !under_way(tree));
        trees
    }

    /// Converts some leaves of the table, which is held, and forgets its history at the end. It ends early
    /// if a DDL statement waits for the table, or the thread is to stop.
    fn convert_some(&self, table: &Table, walk: &mut Option<Walk>) -> Result<()> {
        let (tree, version) = (&table.clustered().tree, table.def.format_version);
        let begun = walk.take().filter(|walk| (walk.tree, walk.version) == (tree.index, version));
        let begun = begun.unwrap_or_else(|| Walk { tree: tree.index, version, next: Vec::new() });
        let next = &mut walk.insert(begun).next;
        for _ in 0..LEAVES_PER_STEP {
            self.store.log().admit()?;
            let Some(upper) = tree.convert_leaf(&self.store, next)?.0 else {
                self.forget_history(table)?;
                *walk = None;
                return Ok(());
            };
            *next = upper;
            if table.state.lock.is_wanted() || self.purge.is_stopped() {
                break;
            }
        }
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
        self.store.pool().register_format(table.clustered().tree.index, &table.clustered().format, None);
        Ok(())
    }
}
