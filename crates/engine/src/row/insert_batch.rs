//! Inserting many rows at once.

use trx::{Buffers, Trx};

use super::insert::Value;
use super::writer::{RowWriter, change};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::table::Table;

impl Table {
    /// Inserts rows, tree by tree: all clustered records, then each index's entries in key order.
    ///
    /// A clash takes the whole batch back and inserts row by row instead, so that the error is that of the first row in
    /// the statement's order that fails; the rows before it are in the table then. Returns how many rows are in.
    /// # Errors
    /// As [`Table::insert`], with the number of rows that are in.
    pub fn insert_batch(
        &self,
        engine: &Engine,
        trx: &mut Trx,
        rows: &[&[Value<'_>]],
    ) -> std::result::Result<usize, (usize, Error)> {
        if rows.len() > 1 {
            match change(engine, self, trx, |writer, buffers| writer.insert_by_tree(rows, buffers)) {
                Ok(()) => return Ok(rows.len()),
                Err(Error::DuplicateKey(_) | Error::RowTooLarge { .. } | Error::KeyTooLong { .. }) => {}
                Err(error) => return Err((0, error)),
            }
        }
        for (done, row) in rows.iter().enumerate() {
            self.insert(engine, trx, row).map_err(|error| (done, error))?;
        }
        Ok(rows.len())
    }
}

impl RowWriter<'_> {
    fn insert_by_tree(&mut self, rows: &[&[Value<'_>]], buffers: &mut Buffers) -> Result<()> {
        let mut row_ids = Vec::with_capacity(if self.table.def.hidden_row_id { rows.len() } else { 0 });
        for row in rows {
            let row_id = self.next_row_id()?;
            row_ids.extend(row_id);
            self.insert_clustered(row, row_id.unwrap_or(0), buffers)?;
            self.table.add_rows(1);
        }
        let row_id = |i: usize| row_ids.get(i).copied().unwrap_or(0);
        let (mut keys, mut order) = (Vec::new(), Vec::new());
        for position in 1..self.table.indexes.len() {
            let index = &self.table.indexes[position];
            keys.clear();
            order.clear();
            for (i, row) in rows.iter().enumerate() {
                let start = keys.len();
                index.format.append_key(row, row_id(i), &mut keys);
                order.push((start, keys.len(), i));
            }
            order.sort_unstable_by(|a, b| keys[a.0..a.1].cmp(&keys[b.0..b.1]));
            for &(_, _, i) in &order {
                self.insert_entry(position, rows[i], row_id(i), buffers)?;
            }
        }
        Ok(())
    }
}
