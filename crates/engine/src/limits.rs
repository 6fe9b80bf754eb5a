//! Limits of definitions: MySQL's limits, checked before anything is made.

use types::{ColumnDef, IndexDef, IndexKind, KeyPart, SqlType, TableDef, TypeKind};

use crate::error::DefinitionError;

/// Most columns of a table.
pub const COLUMNS_MAX: usize = 1017;
/// Most secondary indexes of a table.
pub const KEYS_MAX: usize = 64;
/// Most columns of an index.
pub const KEY_PARTS_MAX: usize = 16;
/// Most bytes of an index's columns, as MySQL counts them.
pub const KEY_BYTES_MAX: usize = 3072;
/// Most bytes of a row's columns, as MySQL counts them; BLOB and TEXT count as their length words and
/// pointer.
pub const ROW_BYTES_MAX: usize = 65_535;

const _: () = assert!(
    KEY_BYTES_MAX + 2 * KEY_PARTS_MAX + base::TrxId::STORED_BYTES <= btree::KEY_BYTES_MAX,
    "a clustered key whose parts take their own bytes, a mark before and an end behind fits its tree"
);

/// What a check finds.
pub type Checked = Result<(), DefinitionError>;

/// Whether a table of this definition can be made.
///
/// # Errors
/// What is wrong with it.
pub fn table(def: &TableDef) -> Checked {
    columns(def)?;
    if def.indexes.iter().filter(|index| index.kind == IndexKind::Primary).count() > 1 {
        return Err(DefinitionError::MultiplePrimaryKeys);
    }
    let secondary = def.indexes.iter().filter(|index| index.kind != IndexKind::Primary && !is_hidden(index));
    if secondary.count() > KEYS_MAX {
        return Err(DefinitionError::TooManyKeys { limit: KEYS_MAX });
    }
    for (i, index) in def.indexes.iter().enumerate() {
        if def.indexes[..i].iter().any(|other| other.name.eq_ignore_ascii_case(&index.name)) {
            return Err(DefinitionError::DuplicateKeyName { name: index.name.clone() });
        }
        if !is_hidden(index) {
            key(def, index)?;
        }
    }
    auto_increment(def)
}

/// Whether `index` can be added to `def`.
pub(crate) fn added_index(def: &TableDef, index: &IndexDef) -> Checked {
    if index.kind == IndexKind::Primary {
        let what = "adding a primary key to an existing table";
        return Err(if def.clustered().kind == IndexKind::Primary {
            DefinitionError::MultiplePrimaryKeys
        } else {
            DefinitionError::NotSupported { what }
        });
    }
    if def.find_index(&index.name).is_some() {
        return Err(DefinitionError::DuplicateKeyName { name: index.name.clone() });
    }
    let others = def.indexes.iter().filter(|other| other.kind != IndexKind::Primary && !is_hidden(other));
    if others.count() >= KEYS_MAX {
        return Err(DefinitionError::TooManyKeys { limit: KEYS_MAX });
    }
    key(def, index)
}

/// Whether `def` may lose the index called `name`, other rules of tables apart.
pub(crate) fn dropped_index(def: &TableDef, name: &str) -> Checked {
    let Some(index) = def.find_index(name).filter(|index| !is_hidden(index)) else {
        return Err(DefinitionError::NoSuchKey { name: name.into() });
    };
    if index.name == def.clustered().name {
        return Err(DefinitionError::NotSupported { what: "dropping the clustered index" });
    }
    Ok(())
}

fn is_hidden(index: &IndexDef) -> bool {
    index.parts.is_empty()
}

fn columns(def: &TableDef) -> Checked {
    if def.columns.is_empty() {
        return Err(DefinitionError::NoColumns);
    }
    if def.columns.len() > COLUMNS_MAX {
        return Err(DefinitionError::TooManyColumns);
    }
    for (i, column) in def.columns.iter().enumerate() {
        if def.columns[..i].iter().any(|other| other.name.eq_ignore_ascii_case(&column.name)) {
            return Err(DefinitionError::DuplicateColumn { name: column.name.clone() });
        }
    }
    let nullable = def.columns.iter().filter(|column| column.nullable).count();
    let bytes: usize = def.columns.iter().map(|column| row_bytes(&column.ty)).sum();
    if bytes + nullable.div_ceil(8) > ROW_BYTES_MAX {
        return Err(DefinitionError::RowSize { limit: ROW_BYTES_MAX });
    }
    Ok(())
}

/// Whether `def` can have the index `index`, by its parts.
///
/// # Errors
/// What is wrong with it.
pub fn key(def: &TableDef, index: &IndexDef) -> Checked {
    let is_primary = index.kind == IndexKind::Primary;
    if !is_primary && index.name.eq_ignore_ascii_case("PRIMARY") {
        return Err(DefinitionError::WrongKeyName { name: index.name.clone() });
    }
    if index.parts.len() > KEY_PARTS_MAX {
        return Err(DefinitionError::TooManyKeyParts { limit: KEY_PARTS_MAX });
    }
    let mut bytes = 0;
    for (i, part) in index.parts.iter().enumerate() {
        let Some(column) = def.columns.get(usize::from(part.column)) else {
            return Err(DefinitionError::KeyColumnMissing { column: part.column.to_string().into() });
        };
        if index.parts[..i].iter().any(|other| other.column == part.column) {
            return Err(DefinitionError::DuplicateColumn { name: column.name.clone() });
        }
        if is_primary && column.nullable {
            return Err(DefinitionError::PrimaryKeyNullable);
        }
        prefix(column, *part)?;
        bytes += part_bytes(&column.ty, part.prefix_len);
    }
    if bytes > KEY_BYTES_MAX {
        return Err(DefinitionError::KeyTooLong { limit: KEY_BYTES_MAX });
    }
    Ok(())
}

/// Whether a key can have as much of `column` as `part` says, however long keys may be.
///
/// # Errors
/// What is wrong with it.
pub fn prefix(column: &ColumnDef, part: KeyPart) -> Checked {
    let is_lob = matches!(column.ty.kind, TypeKind::Text(_) | TypeKind::Blob(_));
    match part.prefix_len {
        None if is_lob => Err(DefinitionError::BlobKeyWithoutLength { column: column.name.clone() }),
        Some(len) if len == 0 || !column.ty.is_string() => Err(DefinitionError::WrongPrefix),
        Some(len) if !is_lob && u32::from(len) > column.ty.length => Err(DefinitionError::WrongPrefix),
        _ => Ok(()),
    }
}

fn auto_increment(def: &TableDef) -> Checked {
    let mut columns = def.columns.iter().enumerate().filter(|(_, column)| column.auto_increment);
    let Some((position, _)) = columns.next() else { return Ok(()) };
    let leads_a_key =
        |index: &IndexDef| index.parts.first().is_some_and(|p| usize::from(p.column) == position);
    if columns.next().is_some() || !def.indexes.iter().any(leads_a_key) {
        return Err(DefinitionError::AutoColumnNotKey);
    }
    Ok(())
}

/// Bytes of a character of the type's character set, at most.
fn bytes_per_char(ty: &SqlType) -> usize {
    ty.collation.collation().map_or(1, |collation| collation.charset.max_char_bytes())
}

/// Bytes of the longest row as MySQL counts them, TEXT and BLOB columns aside.
pub(crate) fn row_bytes_max(def: &TableDef) -> usize {
    def.columns.iter().map(|column| row_bytes(&column.ty)).sum()
}

/// Bytes of a column in the row as MySQL counts them.
fn row_bytes(ty: &SqlType) -> usize {
    let length = ty.length as usize;
    match ty.kind {
        TypeKind::Char => length * bytes_per_char(ty),
        TypeKind::Binary => length,
        TypeKind::VarChar | TypeKind::VarBinary => {
            let bytes = length * bytes_per_char(ty);
            bytes + if bytes > 255 { 2 } else { 1 }
        }
        // A length word of its class and a pointer.
        TypeKind::Text(size) | TypeKind::Blob(size) => size as usize + 8,
        _ => fixed_bytes(ty),
    }
}

/// Bytes of a key part as MySQL counts them.
fn part_bytes(ty: &SqlType, prefix_len: Option<u16>) -> usize {
    if !ty.is_string() {
        return fixed_bytes(ty);
    }
    let chars = prefix_len.map_or(ty.length as usize, usize::from);
    chars * bytes_per_char(ty)
}

/// Bytes of a value of this type, if it has no strings, as MySQL stores it.
pub fn fixed_bytes(ty: &SqlType) -> usize {
    let fraction = usize::from(ty.decimals.min(6)).div_ceil(2);
    match ty.kind {
        TypeKind::Null => 0,
        TypeKind::TinyInt | TypeKind::Year => 1,
        TypeKind::SmallInt => 2,
        TypeKind::MediumInt | TypeKind::Date => 3,
        TypeKind::Int | TypeKind::Float => 4,
        TypeKind::BigInt | TypeKind::Double => 8,
        TypeKind::Time => 3 + fraction,
        TypeKind::Timestamp => 4 + fraction,
        TypeKind::DateTime => 5 + fraction,
        TypeKind::Decimal => {
            let scale = usize::from(ty.decimals);
            digits_bytes((ty.length as usize).saturating_sub(scale)) + digits_bytes(scale)
        }
        TypeKind::Bit => (ty.length as usize).div_ceil(8),
        TypeKind::Enum => {
            if members(ty) > 255 {
                2
            } else {
                1
            }
        }
        TypeKind::Set => members(ty).div_ceil(8).max(1).next_power_of_two(),
        _ => ty.length as usize,
    }
}

/// Bytes of the decimal digits before or after the point.
fn digits_bytes(digits: usize) -> usize {
    digits / 9 * 4 + [0, 1, 1, 2, 2, 3, 3, 4, 4][digits % 9]
}

fn members(ty: &SqlType) -> usize {
    ty.members.as_ref().map_or(0, |members| members.len())
}
