//! The clustered record that a rebuild makes of a row.

use page::{OVERFLOW_REF_BYTES, RowHeader};

use crate::engine::Engine;
use crate::error::Result;
use crate::index::Index;
use crate::row::insert::too_large;
use crate::row::key::{Value, ensure_key};
use crate::table::Table;

/// Key and payload of a record.
#[derive(Debug, Default)]
pub(super) struct NewRecord {
    pub(super) key: Vec<u8>,
    pub(super) payload: Vec<u8>,
}

impl NewRecord {
    /// Makes the record of a row of `table`, long values written to pages of its tree. They are freed with
    /// the tree if the rebuild fails. `is_small`: the tree is, with the records that it has not been given
    /// yet.
    ///
    /// # Errors
    /// [`crate::Error::RowTooLarge`], [`crate::Error::KeyTooLong`], those of the log and of the disk.
    pub(super) fn encode(
        &mut self,
        engine: &Engine,
        table: &Table,
        row: &[Value<'_>],
        row_id: u64,
        is_small: impl Fn(&Index) -> Result<bool>,
    ) -> Result<()> {
        let index = table.clustered();
        self.key.clear();
        self.payload.clear();
        let extent = index.format.append_key(row, row_id, &mut self.key);
        ensure_key(extent, &self.key)?;
        let header = RowHeader::default();
        if index.format.encode_inline(header, row, self.key.len(), &mut self.payload) {
            return Ok(());
        }
        let off_page = index.format.choose_off_page(row, self.key.len()).map_err(too_large)?;
        let write = |&position: &u16| -> Result<[u8; OVERFLOW_REF_BYTES]> {
            let store = &engine.store;
            store.log().admit_change()?;
            let value = row[usize::from(position)].unwrap_or(&[]);
            Ok(index.tree.write_overflow_of_new_tree(store, value, is_small(index)?)?.encode())
        };
        let references = off_page.iter().map(write).collect::<Result<Vec<_>>>()?;
        let mut stored = row.to_vec();
        for (&position, reference) in off_page.iter().zip(&references) {
            stored[usize::from(position)] = Some(reference);
        }
        index.format.encode(header, &stored, &off_page, &mut self.payload);
        Ok(())
    }
}
