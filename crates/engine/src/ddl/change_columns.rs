//! ALTER TABLE that changes columns and leaves the rows as they are: the definition gets another row format
//! version, and a history that describes rows of older versions. Cost: independent of the number of rows.
//!
//! Pages are converted when they are written (`btree/src/convert.rs`), and in the background
//! (`convert_tables.rs`).

use std::sync::Arc;

use base::{ColumnId, IndexId};
use page::{OVERFLOW_REF_BYTES, RowFormat};
use trx::ExclusiveWait;
use types::storage::{fixed_width, is_widened, max_width, widened};
use types::{AddedColumn, ColumnDef, IndexDef, KeyPart, PastColumn, RowHistory, SqlType, TableDef};

use super::alter::{Alteration, Rows};
use super::rebuild::KeptColumns;
use super::table::clustered_index;
use crate::column_changes::{has_same_storage, is_bounded};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::limits;
use crate::table::Table;

/// For each column of a table to be that is new, what rows that were there before show in it: storage bytes,
/// `None` for NULL.
pub type InitialValues = Vec<Option<Box<[u8]>>>;

/// The columns of a table to be.
#[derive(Clone, Copy, Debug)]
pub struct NewColumns<'a> {
    /// For each column its place in the old table; `None`: it is new.
    pub kept: &'a KeptColumns,
    /// By position; those of columns that are kept are not read.
    pub initial: &'a InitialValues,
}

impl Table {
    /// Whether [`Engine::change_columns`] can make `new` of the table.
    pub fn can_change_columns(&self, new: &TableDef, columns: NewColumns<'_>) -> bool {
        versioned(self, new, columns).is_some()
    }
}

impl Engine {
    /// ALTER TABLE of the table whose definition is `old`, without reading its rows: all of `alteration`,
    /// or nothing. Waits up to `wait` for the table to be unused; the session has committed.
    ///
    /// # Errors
    /// [`Error::TableChanged`] if `old` is not the table's definition any more, or rows have to be written
    /// again for the new one; [`Error::Definition`]; [`Error::Name`].
    pub fn change_columns(
        &self,
        old: &Arc<TableDef>,
        alteration: Alteration,
        columns: NewColumns<'_>,
        wait: impl Into<ExclusiveWait>,
    ) -> Result<()> {
        self.ensure_open()?;
        let gone = self.with_exclusive(&old.schema, &old.name, wait, |exclusive| {
            let table = &exclusive.0;
            if !Arc::ptr_eq(&table.def, old) {
                return Err(Error::TableChanged);
            }
            let (def, history) = versioned(table, &alteration.def, columns).ok_or(Error::TableChanged)?;
            let is_kept = |index: &&IndexDef| !def.indexes.iter().any(|new| new.id == index.id);
            for index in old.indexes.iter().filter(is_kept) {
                limits::dropped_index(old, &index.name)?;
            }
            limits::table(&def)?;
            self.ensure_name_is_free(old, &def)?;
            let put = self.put_altered(table, def, Rows::Versioned(history), alteration.auto_increment);
            put.map_err(|error| self.name_damage(error, std::slice::from_ref(table)))
        })?;
        self.flush_change()?;
        self.free_trees_later(gone)
    }
}

/// The definition and the history of the table with other columns; `None`: its rows do not show what they are
/// to hold.
fn versioned(old: &Table, new: &TableDef, columns: NewColumns<'_>) -> Option<(TableDef, RowHistory)> {
    let NewColumns { kept, initial } = columns;
    if !keeps_indexes(&old.def, new, kept) {
        return None;
    }
    let mut history = old.history();
    let version = old.def.format_version.checked_add(1)?;
    let oldest = if history.is_empty() { old.def.format_version } else { history.oldest };
    let ids = old.def.columns.iter().map(|column| column.id).chain(history.past.iter().map(|past| past.id));
    let mut next_id = ids.max()?.0;
    let mut def = new.clone();
    let mut has_new_rows = false;
    for (position, column) in def.columns.iter_mut().enumerate() {
        let Some(at) = kept[position] else {
            if column.auto_increment {
                return None;
            }
            next_id = next_id.checked_add(1)?;
            column.id = ColumnId(next_id);
            let initial = initial[position].clone();
            history.added.push(AddedColumn { id: column.id, since: version, initial });
            has_new_rows = true;
            continue;
        };
        let before = &old.def.columns[usize::from(at)];
        column.id = before.id;
        let opens = column.nullable && !before.nullable;
        let widens = is_widened(&before.ty, &column.ty);
        if !(widens || has_same_storage(&before.ty, &column.ty))
            || before.nullable && !column.nullable
            || before.auto_increment != column.auto_increment
            || (opens || widens) && is_in_key(new, position)
        {
            return None;
        }
        if opens || widens {
            retire(&mut history, before, oldest, version);
            renew(&mut history, before, &column.ty, version);
            has_new_rows = true;
        }
    }
    let is_dropped = |at: usize| !kept.contains(&Some(at as u16));
    for (_, column) in old.def.columns.iter().enumerate().filter(|(at, _)| is_dropped(*at)) {
        retire(&mut history, column, oldest, version);
        history.added.retain(|added| added.id != column.id);
        has_new_rows = true;
    }
    if has_new_rows {
        (def.format_version, history.oldest) = (version, oldest);
    }
    (is_bounded(&history, &def) && !strands_values(&old.def, &def)).then_some((def, history))
}

/// Whether a column of both definitions may have values off page that rows of `new` alone could not have:
/// readers who go by the definition would take the references for values.
fn strands_values(old: &TableDef, new: &TableDef) -> bool {
    let after = columns_off_page(new);
    let is_kept = |id: &ColumnId| new.columns.iter().any(|column| column.id == *id);
    columns_off_page(old).iter().any(|id| is_kept(id) && !after.contains(id))
}

/// The columns that may be off page in rows of this definition. Longer values leave a row before shorter
/// ones: when a value leaves, each of the others takes at most as many bytes.
fn columns_off_page(def: &TableDef) -> Vec<ColumnId> {
    let format = RowFormat::clustered(def);
    let columns = format.var_columns().iter().map(|&position| &def.columns[usize::from(position)]);
    let widths: Vec<(ColumnId, u64)> = columns.map(|column| (column.id, max_width(&column.ty))).collect();
    let inline = format.inline_bytes_min() as u64;
    let may_leave = |&&(_, width): &&(ColumnId, u64)| {
        let others: u64 = widths.iter().map(|(_, other)| width.min(*other)).sum();
        width > OVERFLOW_REF_BYTES as u64 && format.var_from() as u64 + others > inline
    };
    widths.iter().filter(may_leave).map(|(id, _)| *id).collect()
}

/// Notes that rows of the versions since the column was last changed, up to `version`, have it as it is now.
fn retire(history: &mut RowHistory, column: &ColumnDef, oldest: u16, version: u16) {
    let versions = history.since(column.id).max(oldest)..version;
    let (id, ty, nullable) = (column.id, column.ty.clone(), column.nullable);
    history.past.push(PastColumn { id, ty, nullable, versions });
}

/// Notes that rows have the column with type `ty`, or with NULLs, from `version` on.
fn renew(history: &mut RowHistory, column: &ColumnDef, ty: &SqlType, version: u16) {
    let Some(added) = history.added.iter_mut().find(|added| added.id == column.id) else {
        return history.added.push(AddedColumn { id: column.id, since: version, initial: None });
    };
    added.since = version;
    if let Some(initial) = added.initial.as_mut().filter(|_| is_widened(&column.ty, ty)) {
        let width = fixed_width(ty).unwrap_or(initial.len());
        *initial = widened(initial, !ty.unsigned)[..width].into();
    }
}

/// Whether all indexes of `new` are indexes of `old`, on the same columns, and the clustered one is the same.
fn keeps_indexes(old: &TableDef, new: &TableDef, kept: &KeptColumns) -> bool {
    let is_same_part = |(before, after): (&KeyPart, &KeyPart)| {
        kept[usize::from(after.column)] == Some(before.column)
            && (before.prefix_len, before.desc) == (after.prefix_len, after.desc)
    };
    let is_kept = |index: &IndexDef| {
        let before = old.indexes.iter().find(|before| before.id == index.id);
        index.id != IndexId(0)
            && before.is_some_and(|before| {
                before.kind == index.kind
                    && before.parts.len() == index.parts.len()
                    && before.parts.iter().zip(&index.parts).all(is_same_part)
            })
    };
    new.indexes.iter().all(is_kept)
        && new.indexes.first().is_some_and(|index| index.id == old.clustered().id)
        && clustered_index(new).map(|index| index.id) == (!old.hidden_row_id).then(|| old.clustered().id)
}

fn is_in_key(def: &TableDef, position: usize) -> bool {
    def.indexes.iter().flat_map(|index| &index.parts).any(|part| usize::from(part.column) == position)
}
