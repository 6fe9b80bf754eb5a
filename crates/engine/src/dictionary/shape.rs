//! Requirements on a definition that was read, so that row formats and readers can be built from it.

use base::ColumnId;
use page::PAGE_SIZE;
use types::storage::{ValueRule, fixed_width, is_widened};
use types::{
    AddedColumn, ColumnDef, ColumnDefault, EXPRESSION_BYTES_MAX, KeyColumn, PastColumn, SqlType, TableDef,
    TypeKind,
};

use super::TableRecord;
use crate::column_changes::{has_same_storage, is_bounded};
use crate::limits;

/// Largest sizes of types, as MySQL has them.
const DECIMAL_DIGITS_MAX: u32 = 65;
const BITS_MAX: u32 = 64;
const FIXED_STRING_MAX: u32 = 255;
const VARIABLE_STRING_MAX: u32 = 65_535;
const FRACTION_DIGITS_MAX: u8 = 6;
const ENUM_MEMBERS_MAX: usize = 65_535;
const SET_MEMBERS_MAX: usize = 64;

/// Whether `def` is one that CREATE TABLE can have made, as far as records depend on it. Its bytes come from
/// a disk.
pub(super) fn is_usable(def: &TableDef) -> bool {
    let Some(clustered) = def.indexes.first() else { return false };
    !def.columns.is_empty()
        && def.columns.len() <= limits::COLUMNS_MAX
        && clustered.parts.is_empty() == def.hidden_row_id
        && def.columns.iter().all(is_usable_column)
        && def.indexes.iter().enumerate().all(|(position, index)| {
            let is_hidden = position == 0 && def.hidden_row_id;
            is_hidden || !index.parts.is_empty() && limits::key(def, index).is_ok() && has_keys(def, position)
        })
}

/// Whether the history of a table, whose definition is usable, is one that changes of its columns can have
/// left: rows of every version can be read, and made rows of today.
pub(super) fn is_usable_history(record: &TableRecord) -> bool {
    let TableRecord { def, history, .. } = record;
    let mut ids: Vec<_> = def.columns.iter().map(|column| column.id).collect();
    ids.sort_unstable();
    if history.is_empty() {
        return history.past.is_empty() && history.added.is_empty();
    }
    let current = def.format_version;
    let column_of = |id: ColumnId| def.columns.iter().find(|column| column.id == id);
    let is_key = |id: ColumnId| {
        def.clustered().parts.iter().any(|part| def.columns[usize::from(part.column)].id == id)
    };
    let is_past = |past: &PastColumn| {
        let fits = |column: &ColumnDef| {
            let is_same = has_same_storage(&past.ty, &column.ty) || is_widened(&past.ty, &column.ty);
            is_same && (column.nullable || !past.nullable)
        };
        !past.versions.is_empty()
            && past.versions.end <= current
            && is_usable_type(&past.ty)
            && !is_key(past.id)
            && column_of(past.id).is_none_or(fits)
            && column_of(past.id).is_none_or(|_| history.since(past.id) >= past.versions.end)
    };
    let is_added = |added: &AddedColumn| {
        let holds = |column: &ColumnDef| match &added.initial {
            Some(bytes) => is_value(&column.ty, bytes),
            None => column.nullable,
        };
        let was_past = history.past.iter().any(|past| past.id == added.id);
        (1..=current).contains(&added.since)
            && !is_key(added.id)
            && column_of(added.id).is_some_and(|column| was_past && added.initial.is_none() || holds(column))
    };
    let overlap = |a: &PastColumn, b: &PastColumn| {
        a.id == b.id && a.versions.start < b.versions.end && b.versions.start < a.versions.end
    };
    let past = &history.past;
    let is_apart = |(i, one): (usize, &PastColumn)| !past[..i].iter().any(|other| overlap(one, other));
    // Bounds first: the rest compares entries with one another.
    history.oldest < current
        && is_bounded(history, def)
        && ids.is_sorted_by(|a, b| a < b)
        && history.past.iter().all(is_past)
        && history.added.iter().all(is_added)
        && history.added.iter().enumerate().all(|(i, one)| !history.added[..i].iter().any(|o| o.id == one.id))
        && past.iter().enumerate().all(is_apart)
}

/// Whether `bytes` are a value of the type.
fn is_value(ty: &SqlType, bytes: &[u8]) -> bool {
    fixed_width(ty).is_none_or(|width| width == bytes.len())
        && bytes.len() <= PAGE_SIZE
        && ValueRule::of(ty).is_kept_by(bytes)
}

fn is_usable_column(column: &ColumnDef) -> bool {
    let is_default_one = match &column.default {
        ColumnDefault::Constant(bytes) => is_value(&column.ty, bytes),
        ColumnDefault::Expression(text) => !text.is_empty() && text.len() <= EXPRESSION_BYTES_MAX,
        _ => true,
    };
    is_usable_type(&column.ty) && is_default_one
}

fn is_usable_type(ty: &SqlType) -> bool {
    match ty.kind {
        TypeKind::Null => false,
        TypeKind::Decimal => {
            (1..=DECIMAL_DIGITS_MAX).contains(&ty.length) && u32::from(ty.decimals) <= ty.length
        }
        TypeKind::Bit => (1..=BITS_MAX).contains(&ty.length),
        TypeKind::Char | TypeKind::Binary => ty.length <= FIXED_STRING_MAX,
        TypeKind::VarChar | TypeKind::VarBinary => ty.length <= VARIABLE_STRING_MAX,
        TypeKind::Time | TypeKind::DateTime | TypeKind::Timestamp => ty.decimals <= FRACTION_DIGITS_MAX,
        TypeKind::Enum => ty.member_count() <= ENUM_MEMBERS_MAX,
        TypeKind::Set => ty.member_count() <= SET_MEMBERS_MAX,
        _ => true,
    }
}

/// Whether all columns of the index at `position` have keys, whole ones in the clustered index, and none of
/// that is NULL.
fn has_keys(def: &TableDef, position: usize) -> bool {
    def.indexes[position].parts.iter().all(|part| {
        let ColumnDef { ty, nullable, .. } = &def.columns[usize::from(part.column)];
        let (ty, nullable, prefix_len) = (ty.clone(), *nullable, part.prefix_len);
        let has_encoder = KeyColumn { ty, nullable, desc: part.desc, prefix_len }.encoder().is_some();
        has_encoder && !(position == 0 && nullable)
    })
}

#[cfg(test)]
mod tests {
    use types::{CollationId, ColumnDef, IndexDef, IndexKind};

    use super::*;

    fn sound() -> TableDef {
        let columns = vec![
            ColumnDef::new("id", SqlType::bigint(), false),
            ColumnDef::new("d", SqlType::decimal(10, 2), true),
            ColumnDef::new("v", SqlType::varchar(20, CollationId::UTF8MB4_BIN), true),
            ColumnDef::new("b", SqlType::new(TypeKind::Bit, 7), true),
        ];
        let indexes = vec![
            IndexDef::new("PRIMARY", IndexKind::Primary, &[0]),
            IndexDef::new("v", IndexKind::Secondary, &[2, 1]),
        ];
        TableDef::new("s", "t", columns, indexes)
    }

    #[test]
    fn definitions_that_no_statement_makes_are_refused() {
        assert!(is_usable(&sound()));
        type Damage = fn(&mut TableDef);
        let damages: [(&str, Damage); 12] = [
            ("no index", |def| def.indexes.clear()),
            ("no column", |def| def.columns.clear()),
            ("a key of a column that is not there", |def| def.indexes[1].parts[0].column = 4),
            ("a clustered key without columns", |def| def.indexes[0].parts.clear()),
            ("a row id beside a key", |def| def.hidden_row_id = true),
            ("a secondary index without columns", |def| def.indexes[1].parts.clear()),
            ("a clustered key that may be NULL", |def| def.columns[0].nullable = true),
            ("a DECIMAL without digits", |def| def.columns[1].ty.length = 0),
            ("a DECIMAL with more of a fraction than digits", |def| def.columns[1].ty.decimals = 11),
            ("a BIT without bits", |def| def.columns[3].ty.length = 0),
            ("a collation that there is not", |def| def.columns[2].ty.collation = CollationId(9999)),
            ("a default of another width", |def| {
                def.columns[0].default = ColumnDefault::Constant([1, 2][..].into());
            }),
        ];
        for (what, damage) in damages {
            let mut def = sound();
            damage(&mut def);
            assert!(!is_usable(&def), "{what}");
        }
    }
}
