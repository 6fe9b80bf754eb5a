//! Key definitions: names, parts, options.

use base::IndexId;
use engine::limits;
use sql::ast::{IndexType, KeyDefinition, KeyKind, KeyOptions, KeyPartSpec};
use types::{
    ColumnDef, ColumnDefault, IndexDef, IndexKind, KeyPart, SqlType, StorageHint, TableDef, TypeKind,
};

use super::{names, not_yet, refused};
use crate::diagnostics::Severity;
use crate::error_map::{self, SqlError};
use crate::full_name::FullName;
use crate::session::Session;

/// Most characters of a key's comment.
const COMMENT_CHARS_MAX: usize = 1024;
/// Most bytes that a key has of a column where the row format is COMPACT or REDUNDANT.
const SHORT_PART_BYTES_MAX: u32 = 767;
/// Numbers after a column's name in generated key names: `c_2` to `c_99`.
const NAME_SUFFIX_MAX: u32 = 99;

/// The index of a key definition over `columns`, beside the keys `others`. With an error, which counts once
/// [`fit`] has looked at the parts before it, it has these parts alone.
///
/// # Errors
/// 1061, 1280, 1688; 1235 for full-text and spatial keys.
pub(super) fn index(
    session: &mut Session,
    key: &KeyDefinition<'_>,
    columns: &[ColumnDef],
    others: &[IndexDef],
) -> Result<(IndexDef, Option<SqlError>), SqlError> {
    let kind = match key.kind {
        KeyKind::Primary => IndexKind::Primary,
        KeyKind::Unique => IndexKind::Unique,
        KeyKind::Plain => IndexKind::Secondary,
        KeyKind::FullText => return Err(not_yet("FULLTEXT keys")),
        KeyKind::Spatial => return Err(not_yet("SPATIAL keys")),
    };
    let written = if kind == IndexKind::Primary { Some("PRIMARY") } else { key.name.or(key.constraint) };
    if let Some(name) = written {
        if kind != IndexKind::Primary {
            names::ensure_key_name(name)?;
        }
        ensure_free(name, others)?;
    }
    let mut parts: Vec<KeyPart> = Vec::with_capacity(key.parts.len().min(limits::KEY_PARTS_MAX));
    let mut failure = None;
    for part in key.parts {
        match key_part(session, part, columns, &parts) {
            Ok(part) => parts.push(part),
            Err(error) => {
                failure = Some(error);
                break;
            }
        }
    }
    let (id, names_btree) = (IndexId(0), key.options.using == Some(IndexType::BTree));
    let invisible = key.options.invisible;
    if failure.is_some() {
        let (name, comment) = Default::default();
        return Ok((
            IndexDef { id, name, kind, parts, comment, names_btree, invisible, unknown: None },
            failure,
        ));
    }
    let name = written.map_or_else(|| generated_name(&parts, columns, others), Into::into);
    ensure_free(&name, others)?;
    let comment = comment(session, &name, &key.options)?.into();
    Ok((IndexDef { id, name, kind, parts, comment, names_btree, invisible, unknown: None }, None))
}

/// # Errors
/// 1061 for a name that a key has already; 1068 for that of the primary key.
fn ensure_free(name: &str, others: &[IndexDef]) -> Result<(), SqlError> {
    if !others.iter().any(|other| other.name.eq_ignore_ascii_case(name)) {
        return Ok(());
    }
    Err(if name == "PRIMARY" {
        error_map::MULTIPLE_PRI_KEY.bare()
    } else {
        error_map::DUP_KEYNAME.with(&[&name])
    })
}

/// The key that a column's attribute asks for.
///
/// # Errors
/// 1061, 1068.
pub(super) fn of_column(
    kind: KeyKind,
    position: usize,
    columns: &[ColumnDef],
    others: &[IndexDef],
) -> Result<IndexDef, SqlError> {
    let parts = vec![KeyPart { column: position as u16, prefix_len: None, desc: false }];
    let (kind, name) = match kind {
        KeyKind::Primary => (IndexKind::Primary, "PRIMARY".into()),
        _ => (IndexKind::Unique, generated_name(&parts, columns, others)),
    };
    ensure_free(&name, others)?;
    let comment = "".into();
    Ok(IndexDef {
        id: IndexId(0),
        name,
        kind,
        parts,
        comment,
        names_btree: false,
        invisible: false,
        unknown: None,
    })
}

/// A part of a key, after the parts `before`.
///
/// # Errors
/// 1060, 1072, 1170, 1391; 1235 for expressions.
fn key_part(
    session: &mut Session,
    part: &KeyPartSpec<'_>,
    columns: &[ColumnDef],
    before: &[KeyPart],
) -> Result<KeyPart, SqlError> {
    let (name, length, desc) = match *part {
        KeyPartSpec::Column { name, length, descending } => (name, length, descending),
        KeyPartSpec::Expr { .. } => return Err(not_yet("functional key parts")),
    };
    let Some(position) = columns.iter().position(|column| column.name.eq_ignore_ascii_case(name)) else {
        return Err(error_map::KEY_COLUMN_DOES_NOT_EXIST.with(&[&name]));
    };
    if length == Some(0) {
        return Err(error_map::KEY_PART_0.with(&[&name]));
    }
    if before.iter().any(|other| usize::from(other.column) == position) {
        return Err(error_map::DUP_FIELDNAME.with(&[&name]));
    }
    let ty = &columns[position].ty;
    let prefix_len = length.and_then(|length| prefix_of(ty, length));
    let part = KeyPart { column: position as u16, prefix_len, desc };
    if is_lob(ty) {
        // Messages have the name as it is written.
        let column = ColumnDef::new(name, ty.clone(), true);
        limits::prefix(&column, part).map_err(|error| refused(session, &error.into()))?;
    }
    Ok(part)
}

fn is_lob(ty: &SqlType) -> bool {
    matches!(ty.kind, TypeKind::Text(_) | TypeKind::Blob(_))
}

/// The length of a key's part of which `length` is written; `None`: the whole column. Columns that are no
/// strings have their length in bytes.
pub(super) fn prefix_of(ty: &SqlType, length: u32) -> Option<u16> {
    let is_whole = match ty.members {
        None if !ty.is_string() => limits::fixed_bytes(ty) == length as usize,
        _ => ty.is_string() && ty.length == length,
    };
    // Longer prefixes than fit here are longer than any key may be.
    (!is_whole).then(|| u16::try_from(length).unwrap_or(u16::MAX))
}

/// Most bytes that a key has of a column, in a table with these hints.
pub(super) fn part_bytes_max(hints: &[(StorageHint, u64)]) -> u32 {
    let format = hints.iter().find(|(hint, _)| *hint == StorageHint::RowFormat);
    match format.and_then(|(hint, value)| hint.word(*value)) {
        Some("COMPACT" | "REDUNDANT") => SHORT_PART_BYTES_MAX,
        _ => limits::KEY_BYTES_MAX as u32,
    }
}

/// How long parts of a key may be.
#[derive(Clone, Copy, Debug)]
pub(super) struct PartLimit<'k> {
    pub(super) bytes_max: u32,
    /// With CONVERT TO: the name of the key in messages.
    pub(super) converted_key: Option<&'k str>,
}

/// A column of the primary key becomes NOT NULL.
///
/// # Errors
/// 1171
fn close(column: &mut ColumnDef, is_null_written: bool) -> Result<(), SqlError> {
    if is_null_written {
        return Err(error_map::PRIMARY_CANT_HAVE_NULL.bare());
    }
    if matches!(column.default, ColumnDefault::Null | ColumnDefault::Dropped) {
        column.default = ColumnDefault::None;
    }
    column.nullable = false;
    Ok(())
}

/// Looks at the parts of a key one after the other. Columns of the primary key become NOT NULL;
/// `is_null_written`: NULL or DEFAULT NULL was written for the column in this place. A part that is longer
/// than the limit is refused. Beyond strict modes a key that is not unique has as
/// much as it may, with a warning.
///
/// # Errors
/// 1071, 1167, 1171, 3886, and others of what a key may be.
pub(super) fn fit(
    session: &mut Session,
    index: &mut IndexDef,
    def: &mut TableDef,
    PartLimit { bytes_max, converted_key }: PartLimit<'_>,
    is_null_written: impl Fn(usize) -> bool,
) -> Result<(), SqlError> {
    for part in &mut index.parts {
        let position = usize::from(part.column);
        let column = &mut def.columns[position];
        let prefix = limits::prefix(column, *part).map_err(|error| refused(session, &error.into()));
        if is_lob(&column.ty) {
            prefix.clone()?;
        }
        if index.kind == IndexKind::Primary {
            close(column, is_null_written(position))?;
        }
        prefix?;
        let ty = &column.ty;
        if ty.is_string() && part.prefix_len.is_none() && ty.length == 0 {
            return Err(error_map::WRONG_KEY_COLUMN.with(&[&column.name]));
        }
        let lob_bytes = match ty.kind {
            TypeKind::Text(size) | TypeKind::Blob(size) => Some(size.max_bytes()),
            _ => None,
        };
        let length = part.prefix_len.map_or(ty.length, u32::from);
        let limit = lob_bytes.map_or(bytes_max, |bytes| (bytes as u32).min(bytes_max));
        if !ty.is_string() || length.saturating_mul(ty.max_char_bytes()) <= limit {
            continue;
        }
        if let Some(key) = converted_key.filter(|_| index.kind != IndexKind::Secondary && lob_bytes.is_none())
        {
            return Err(error_map::CONVERTED_KEY_TOO_LONG.with(&[&column.name, &def.name, &key, &limit]));
        }
        let error = error_map::TOO_LONG_KEY.with(&[&limit]);
        if index.kind != IndexKind::Secondary || session.variables.hot.sql_mode.is_strict() {
            return Err(error);
        }
        session.warn(Severity::Warning, error);
        part.prefix_len = Some((limit / ty.max_char_bytes()) as u16);
    }
    limits::key(def, index).map_err(|error| refused(session, &error.into()))
}

/// The first column's name, with a number if a key has it already.
fn generated_name(parts: &[KeyPart], columns: &[ColumnDef], others: &[IndexDef]) -> Box<str> {
    let column = parts.first().map_or("", |part| &columns[usize::from(part.column)].name);
    let is_free = |name: &str| {
        names::ensure_key_name(name).is_ok()
            && !others.iter().any(|other| other.name.eq_ignore_ascii_case(name))
    };
    if is_free(column) {
        return column.into();
    }
    let numbered = (2..=NAME_SUFFIX_MAX).map(|number| format!("{column}_{number}"));
    numbered.into_iter().find(|name| is_free(name)).unwrap_or_else(|| column.to_owned()).into()
}

fn comment<'a>(session: &mut Session, name: &str, options: &KeyOptions<'a>) -> Result<&'a str, SqlError> {
    if options.parser.is_some() {
        return Err(not_yet("WITH PARSER"));
    }
    if let Some(kind @ (IndexType::Hash | IndexType::RTree)) = options.using {
        let algorithm = if kind == IndexType::Hash { "HASH" } else { "RTREE" };
        session.warn(Severity::Note, error_map::UNSUPPORTED_INDEX_ALGORITHM.with(&[&algorithm]));
    }
    let comment = options.comment.unwrap_or_default();
    if comment.chars().count() > COMMENT_CHARS_MAX {
        return Err(error_map::TOO_LONG_INDEX_COMMENT.with(&[&name, &COMMENT_CHARS_MAX]));
    }
    Ok(comment)
}

/// Warns of a key that is the same as one of `others`, except for its name.
pub(super) fn warn_if_repeated<'i>(
    session: &mut Session,
    index: &IndexDef,
    mut others: impl Iterator<Item = &'i IndexDef>,
    table: &FullName,
) {
    let repeated = others.any(|other| other.kind == index.kind && other.parts == index.parts);
    if repeated && index.kind != IndexKind::Primary {
        let args: [&dyn std::fmt::Display; 3] = [&index.name, &table.schema, &table.table];
        session.warn(Severity::Warning, error_map::DUP_INDEX.with(&args));
    }
}

/// Sorts `indexes` by `ranks`, one for each.
pub(super) fn sort(ranks: &[(u8, bool)], indexes: &mut Vec<IndexDef>) {
    let mut ranked: Vec<_> = ranks.iter().zip(indexes.drain(..)).collect();
    ranked.sort_by_key(|(rank, _)| **rank);
    indexes.extend(ranked.into_iter().map(|(_, index)| index));
}

/// Rank of a primary key.
pub(super) const PRIMARY: (u8, bool) = (0, false);
/// Greatest rank of a key that serves as one: a unique key of whole columns without NULLs.
pub(super) const PRIMARY_RANK_MAX: (u8, bool) = (1, false);

/// Makes sure of a key of rank `rank_max` or below where `sql_require_primary_key` asks for it.
///
/// # Errors
/// 3750.
pub(super) fn ensure_primary(
    session: &Session,
    indexes: &[IndexDef],
    columns: &[ColumnDef],
    rank_max: (u8, bool),
) -> Result<(), SqlError> {
    let is_wanted = session.variables.hot.sql_require_primary_key;
    if is_wanted && indexes.iter().all(|index| rank(index, columns) > rank_max) {
        return Err(error_map::TABLE_WITHOUT_PRIMARY_KEY.bare());
    }
    Ok(())
}

/// Refuses a primary key, or a key that serves as one, that is invisible. `indexes` are in the order in which
/// they are defined.
///
/// # Errors
/// 3522.
pub(super) fn ensure_visible_primary(indexes: &[IndexDef], columns: &[ColumnDef]) -> Result<(), SqlError> {
    // As in MySQL, one of prefixes counts here.
    let first = indexes.iter().min_by_key(|index| rank(index, columns).0);
    let serves = first.filter(|index| rank(index, columns).0 <= PRIMARY_RANK_MAX.0);
    match serves.filter(|index| index.invisible) {
        Some(_) => Err(error_map::INVISIBLE_PRIMARY_KEY.bare()),
        None => Ok(()),
    }
}

/// Rank of an index in MySQL's order of a table's keys: primary, unique without NULLs, unique, others. Within
/// a rank, keys whose parts are whole columns come before those with prefixes if they are unique.
pub(crate) fn rank(index: &IndexDef, columns: &[ColumnDef]) -> (u8, bool) {
    let may_be_null = index.parts.iter().any(|part| columns[usize::from(part.column)].nullable);
    let has_prefix = index.parts.iter().any(|part| part.prefix_len.is_some());
    match index.kind {
        IndexKind::Primary => (0, false),
        IndexKind::Unique => (if may_be_null { 2 } else { 1 }, has_prefix),
        IndexKind::Secondary => (3, false),
    }
}
