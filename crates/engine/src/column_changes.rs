//! What a table's columns may become while its rows stay as they are.

use page::{GROWTH_MAX, OVERFLOW_REF_BYTES, RowFormat, max_inline_payload};
use types::storage::{fixed_width, max_width};
use types::{RowHistory, SqlType, TableDef, TypeKind};

/// Most entries and versions of a history. A change that would exceed them rebuilds the table, which clears
/// the history.
const HISTORY_MAX: usize = 1024;
const VERSIONS_MAX: usize = 2048;
/// Most bytes of the members of its types and of its values.
const HISTORY_BYTES_MAX: usize = 256 << 10;

/// Whether every value of a column of type `old` is, byte by byte, one of type `new`: the same type, or one
/// that MySQL makes of it without rewriting rows.
pub fn has_same_storage(old: &SqlType, new: &SqlType) -> bool {
    let is_like =
        |ty: &SqlType| SqlType { length: ty.length, members: ty.members.clone(), ..old.clone() } == *ty;
    let is_long = |ty: &SqlType| max_width(ty) > 255;
    match (&old.members, &new.members) {
        _ if old == new => true,
        (Some(before), Some(after)) => {
            is_like(new) && after.starts_with(before) && fixed_width(old) == fixed_width(new)
        }
        // Digits of these are how values are shown and what assignments round to.
        _ if old.is_integer() || matches!(old.kind, TypeKind::Float | TypeKind::Double) => {
            let SqlType { length, decimals, zerofill, .. } = *new;
            SqlType { length, decimals, zerofill, ..old.clone() } == *new
        }
        _ => {
            matches!(old.kind, TypeKind::VarChar | TypeKind::VarBinary)
                && is_like(new)
                && new.length >= old.length
                && is_long(old) == is_long(new)
        }
    }
}

/// Whether the history of a table of this definition is one that a change of columns may leave.
pub(crate) fn is_bounded(history: &RowHistory, def: &TableDef) -> bool {
    history.past.len() + history.added.len() <= HISTORY_MAX
        && history.versions(def.format_version) <= VERSIONS_MAX
        && bytes_of(history) <= HISTORY_BYTES_MAX
        && history.growth_max(def) <= GROWTH_MAX
        && has_room(def)
}

fn bytes_of(history: &RowHistory) -> usize {
    let members = history.past.iter().flat_map(|past| past.ty.members.iter().flat_map(|members| &**members));
    let values = history.added.iter().filter_map(|added| added.initial.as_ref());
    members.map(|member| member.len()).sum::<usize>() + values.map(|value| value.len()).sum::<usize>()
}

/// Whether a row of this definition always fits on a page once its long values are off page.
fn has_room(def: &TableDef) -> bool {
    let format = RowFormat::clustered(def);
    let key_len = format.fixed_key_len().map_or(btree::KEY_BYTES_MAX, usize::from);
    let width = |&position: &u16| {
        let max = max_width(&def.columns[usize::from(position)].ty);
        usize::try_from(max).map_or(OVERFLOW_REF_BYTES, |max| max.min(OVERFLOW_REF_BYTES))
    };
    format.var_from() + format.var_columns().iter().map(width).sum::<usize>() <= max_inline_payload(key_len)
}
