//! Trees that are to go: noted in the dictionary, so that a crash between two steps of a definition change loses no pages.
//!
//! An index that is made or given up is noted as doomed before the definition that decides is written. If that definition
//! names the index, the note is forgotten; if not, the tree is freed first. A start does the same with the notes it finds.
//! Between the first page of a new tree and its note lies one mini-transaction: a crash there loses that page.

use base::IndexId;
use types::TableDef;

use crate::dictionary::{Kind, TableRecord, decode_table, encode_table};
use crate::engine::Engine;
use crate::error::Result;
use crate::table::{Index, Table};

impl Engine {
    /// Notes that `indexes` of `def` are doomed, unless a definition that names them is written. The caller holds the
    /// definition mutex.
    pub(crate) fn doom<'i>(
        &self,
        def: &TableDef,
        indexes: impl IntoIterator<Item = &'i Index>,
    ) -> Result<()> {
        for index in indexes {
            let mut def = def.clone();
            let clustered = def.indexes[0].id;
            def.indexes.retain(|one| one.id == index.tree.index || one.id == clustered);
            let roots = def.indexes.iter().map(|_| index.tree.root).collect();
            let note = encode_table(&TableRecord { def, roots });
            self.dictionary.put(&self.store, Kind::Doomed, &name(index.tree.index), &note)?;
        }
        Ok(())
    }

    /// Forgets the note about an index: it is named by a definition, or gone.
    pub(super) fn forget_doomed(&self, index: IndexId) -> Result<()> {
        self.dictionary.delete(&self.store, Kind::Doomed, &name(index)).map(drop)
    }

    /// Finishes what a crash left of definition changes. Before anybody uses a table.
    pub(crate) fn finish_definition_changes(&self) -> Result<()> {
        for (name, note) in self.dictionary.list(&self.store, Kind::Doomed)? {
            let record = decode_table(&note)?;
            let table = Table::open(record);
            let doomed = table.indexes.iter().find(|index| index.tree.index.0.to_be_bytes()[..] == name[..]);
            let is_named = |index: &Index| self.catalog().index(index.tree.index).is_some();
            match doomed {
                Some(index) if !is_named(index) => self.destroy_tree(index)?,
                _ => drop(self.dictionary.delete(&self.store, Kind::Doomed, &name)?),
            }
        }
        Ok(())
    }
}

fn name(index: IndexId) -> [u8; 4] {
    index.0.to_be_bytes()
}
