//! CONVERT TO CHARACTER SET: columns of characters in another character set.

use types::collation::{Charset, convert as convert_text};
use types::{CollationId, ColumnDefault, LobSize, SqlModes, SqlType, TableDef, TypeKind, storage};

use super::alter_columns::NewColumn;
use super::column_type;
use crate::error_map::{self, SqlError};
use crate::session::Session;

/// Most bytes of a VARCHAR.
const VARCHAR_BYTES_MAX: u32 = 65_535;

/// Gives a column of characters the collation, and a type that holds as many characters as before.
///
/// # Errors
/// 1074 for a VARCHAR that gets too long, unless it becomes a TEXT; 1067 for a default that the character set
/// does not have.
pub(super) fn convert(
    session: &Session,
    column: &mut NewColumn<'_>,
    old: &TableDef,
    collation: CollationId,
) -> Result<(), SqlError> {
    let charset = collation.collation().filter(|_| column.is_binary).map(|found| found.charset);
    let collation = charset.map_or(collation, Charset::binary_collation);
    resize(column, old, collation);
    let ty = &column.def.ty;
    if !ty.has_charset() || [collation, CollationId::BINARY].contains(&ty.collation) {
        return Ok(());
    }
    let is_kept = column.lob_length.is_none();
    let default = &column.def.default;
    let has_default = column.literal.is_some() || matches!(default, ColumnDefault::Constant(_));
    if !has_default
        && !session.variables.hot.sql_mode.is_strict()
        && let Some(lob) = as_text(ty, collation)
    {
        column.notes.push(column_type::became_lob(&column.def.name, &lob));
        column.def.ty = lob;
        return Ok(());
    }
    let converted = converted(&column.def.name, ty, collation, is_kept)?;
    if let ColumnDefault::Constant(bytes) = &column.def.default {
        let hot = &session.variables.hot;
        let value = storage::read(ty, bytes, &hot.time_zone);
        let today = hot.time_zone.to_local(0, 0).date();
        let context = types::StoreContext::new(SqlModes::STRICT_ALL_TABLES, &hot.time_zone, today);
        let mut stored = Vec::new();
        storage::store(&converted, &value, &context, &mut stored)
            .map_err(|_| error_map::INVALID_DEFAULT.with(&[&column.def.name]))?;
        column.def.default = ColumnDefault::Constant(stored.into());
    }
    column.def.ty = converted;
    Ok(())
}

/// Gives a TEXT or BLOB that the statement defines the size that it is to have. As in MySQL, one that is
/// redefined without a length holds as much as the column did before, whatever size is written, unless that
/// is the largest.
fn resize(column: &mut NewColumn<'_>, old: &TableDef, collation: CollationId) {
    let to = SqlType::varchar(0, collation).max_char_bytes();
    let (size, to) = match &mut column.def.ty.kind {
        TypeKind::Text(size) => (size, to),
        TypeKind::Blob(size) => (size, 1),
        _ => return,
    };
    let characters = match (column.lob_length, column.old) {
        (Some(0), Some(at)) if *size != LobSize::Long => characters(&old.columns[usize::from(at)].ty),
        (Some(length), _) if length > 0 => u64::from(length),
        _ => return,
    };
    *size = LobSize::holding(characters.saturating_mul(to.into()));
}

/// Characters that a column holds, as MySQL counts them for another one of its size.
fn characters(ty: &SqlType) -> u64 {
    let length = match ty.kind {
        TypeKind::Text(size) | TypeKind::Blob(size) => size.max_bytes(),
        _ => u64::from(ty.length),
    };
    length / u64::from(if ty.has_charset() { ty.max_char_bytes() } else { 1 })
}

/// The TEXT that holds what a VARCHAR holds that gets too long.
fn as_text(ty: &SqlType, collation: CollationId) -> Option<SqlType> {
    let bytes = ty.length.saturating_mul(SqlType::varchar(0, collation).max_char_bytes());
    let is_it = ty.kind == TypeKind::VarChar && collation != CollationId::BINARY && bytes > VARCHAR_BYTES_MAX;
    let text = || SqlType::new(TypeKind::Text(LobSize::holding(bytes.into())), 0);
    is_it.then(|| SqlType { collation, ..text() })
}

/// `is_kept`: the statement does not define the column, which is to hold as many characters as before.
fn converted(column: &str, ty: &SqlType, collation: CollationId, is_kept: bool) -> Result<SqlType, SqlError> {
    let to = SqlType::varchar(0, collation).max_char_bytes();
    let binary = collation == CollationId::BINARY;
    let from_width = ty.max_char_bytes();
    Ok(match ty.kind {
        TypeKind::Char if binary => SqlType::new(TypeKind::Binary, ty.length),
        TypeKind::VarChar if binary => SqlType::new(TypeKind::VarBinary, ty.length),
        TypeKind::VarChar if ty.length.saturating_mul(to) > VARCHAR_BYTES_MAX => {
            return Err(error_map::TOO_BIG_FIELDLENGTH.with(&[&column, &(VARCHAR_BYTES_MAX / to)]));
        }
        TypeKind::Text(size) => {
            let bytes = size.max_bytes() / u64::from(from_width) * u64::from(to);
            let size = if is_kept { LobSize::holding(bytes) } else { size };
            if binary {
                SqlType::new(TypeKind::Blob(size), 0)
            } else {
                SqlType { collation, ..SqlType::new(TypeKind::Text(size), 0) }
            }
        }
        _ => SqlType { collation, members: converted_members(ty, collation), ..ty.clone() },
    })
}

/// The members of an ENUM or SET in the character set of `collation`.
fn converted_members(ty: &SqlType, collation: CollationId) -> Option<std::sync::Arc<[Box<[u8]>]>> {
    let charset = |id: CollationId| id.collation().map_or(Charset::Utf8mb4, |found| found.charset);
    let (from, to) = (charset(ty.collation), charset(collation));
    let convert = |member: &[u8]| {
        let mut out = Vec::new();
        convert_text(from, to, member, &mut out);
        out.into()
    };
    ty.members.as_ref().map(|members| members.iter().map(|member| convert(member)).collect())
}
