//! Column definitions.

use base::ColumnId;
use sql::ast::{ColumnAttribute, ColumnDefinition, Expr, KeyKind};
use types::{CollationId, ColumnDef, ColumnDefault, SqlType};

use super::collation::CollationClauses;
use super::{column_type, default_value, names, not_yet};
use crate::constant::Inputs;
use crate::error_map::{self, SqlError};
use crate::session::Session;

/// Most characters of a column's comment.
const COMMENT_CHARS_MAX: usize = 1024;

/// A column, and what its attributes say of the table.
#[derive(Debug)]
pub(super) struct Column {
    pub(super) def: ColumnDef,
    /// NULL or DEFAULT NULL was written, so that it cannot be part of a primary key.
    pub(super) explicit_null: bool,
    /// Keys that attributes ask for.
    pub(super) keys: Vec<KeyKind>,
}

/// Attributes of a column, gathered in the order written; the last of a kind counts.
#[derive(Default)]
struct Attributes<'a> {
    nullable: Option<bool>,
    default: Option<(Expr<'a>, bool)>,
    /// Digits of CURRENT_TIMESTAMP.
    on_update: Option<u32>,
    auto_increment: bool,
    invisible: bool,
    keys: Vec<KeyKind>,
    comment: &'a str,
    collation: CollationClauses,
}

impl<'a> Attributes<'a> {
    fn gather(session: &mut Session, written: &ColumnDefinition<'a>) -> Result<Self, SqlError> {
        let mut all = Attributes::default();
        if written.ty.serial {
            all.serial();
        }
        for attribute in written.attributes {
            all.add(session, attribute)?;
        }
        Ok(all)
    }

    fn add(&mut self, session: &mut Session, attribute: &ColumnAttribute<'a>) -> Result<(), SqlError> {
        match *attribute {
            ColumnAttribute::Null => self.nullable = Some(true),
            ColumnAttribute::NotNull => self.nullable = Some(false),
            ColumnAttribute::Default { value, parenthesised } => self.default = Some((value, parenthesised)),
            ColumnAttribute::OnUpdateNow(digits) => self.on_update = Some(digits.unwrap_or(0)),
            ColumnAttribute::AutoIncrement => self.auto_increment = true,
            ColumnAttribute::SerialDefault => self.serial(),
            ColumnAttribute::Unique => self.keys.push(KeyKind::Unique),
            ColumnAttribute::PrimaryKey => self.keys.push(KeyKind::Primary),
            ColumnAttribute::Comment(text) => self.comment = text,
            ColumnAttribute::Collate(name) => self.collation.take_collation(session, name)?,
            // MySQL 8.4 makes foreign keys of FOREIGN KEY clauses alone.
            ColumnAttribute::Ignored | ColumnAttribute::References(_) => {}
            ColumnAttribute::Visible(visible) => self.invisible = !visible,
            ColumnAttribute::Generated { .. } => return Err(not_yet("generated columns")),
            ColumnAttribute::Check(_) => return Err(not_yet("CHECK constraints")),
            ColumnAttribute::Srid(_) => return Err(not_yet("spatial columns")),
        }
        Ok(())
    }

    /// NOT NULL AUTO_INCREMENT UNIQUE.
    fn serial(&mut self) {
        self.nullable = Some(false);
        self.auto_increment = true;
        self.keys.push(KeyKind::Unique);
    }
}

/// Refuses a table all of whose columns are invisible.
///
/// # Errors
/// 4028.
pub(super) fn ensure_one_visible(columns: &[ColumnDef]) -> Result<(), SqlError> {
    let is_one_visible = columns.iter().any(|column| !column.invisible);
    is_one_visible.then_some(()).ok_or_else(|| error_map::NO_VISIBLE_COLUMN.bare())
}

/// The type of the column of this definition in a table of collation `default`.
///
/// # Errors
/// Those of its type and attributes.
pub(super) fn column_type_of(
    session: &mut Session,
    written: &ColumnDefinition<'_>,
    default: CollationId,
) -> Result<SqlType, SqlError> {
    let attributes = Attributes::gather(session, written)?;
    column_type::sql_type(session, written.name, &written.ty, attributes.collation, default)
}

/// The column of this definition in a table of collation `default`.
///
/// # Errors
/// Those of its type and default value; 1063, 1067, 1294, 1629; 1235 for attributes that are not supported
/// yet.
pub(super) fn column(
    session: &mut Session,
    written: &ColumnDefinition<'_>,
    default: CollationId,
    inputs: Inputs<'_>,
) -> Result<Column, SqlError> {
    names::ensure_column_name(written.name)?;
    let attributes = Attributes::gather(session, written)?;
    let ty = column_type::sql_type(session, written.name, &written.ty, attributes.collation, default)?;
    if attributes.comment.chars().count() > COMMENT_CHARS_MAX {
        return Err(error_map::TOO_LONG_FIELD_COMMENT.with(&[&written.name, &COMMENT_CHARS_MAX]));
    }
    if attributes.auto_increment && !ty.is_integer() {
        return Err(error_map::WRONG_FIELD_SPEC.with(&[&written.name]));
    }
    if let Some(digits) = attributes.on_update {
        default_value::ensure_on_update(written.name, &ty, digits)?;
    }
    let value = match &attributes.default {
        None => ColumnDefault::None,
        Some((value, parenthesised)) => {
            default_value::column_default(session, (written.name, &ty), (value, *parenthesised), inputs)?
        }
    };
    let is_primary = attributes.keys.contains(&KeyKind::Primary);
    let not_null = attributes.nullable == Some(false) || attributes.auto_increment || is_primary;
    let has_value = attributes.default.is_some();
    if has_value && (attributes.auto_increment || not_null && value == ColumnDefault::Null) {
        return Err(error_map::INVALID_DEFAULT.with(&[&written.name]));
    }
    let has_charset = ty.has_charset();
    let names_charset = written.ty.charset.is_some_and(|name| !name.eq_ignore_ascii_case("DEFAULT"));
    let explicit_null = attributes.nullable == Some(true) || value == ColumnDefault::Null;
    let def = ColumnDef {
        id: ColumnId(0),
        name: written.name.into(),
        ty,
        nullable: !not_null,
        default: value,
        auto_increment: attributes.auto_increment,
        on_update_now: attributes.on_update.is_some(),
        invisible: attributes.invisible,
        comment: attributes.comment.into(),
        names_collation: has_charset && (names_charset || attributes.collation.is_collation_named()),
    };
    Ok(Column { def, explicit_null, keys: attributes.keys })
}
