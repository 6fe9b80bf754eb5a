//! Column definitions.

use base::ColumnId;
use sql::ast::{ColumnAttribute, ColumnDefinition, Expr, ExprKind, KeyKind};
use types::{CollationId, ColumnDef, ColumnDefault, SqlType, TableDef, TypeKind};

use super::collation::CollationClauses;
use super::column_type::{self, WrittenType};
use super::{default_value, names, not_yet, row_default};
use crate::error_map::{self, SqlError};
use crate::inputs::Inputs;
use crate::session::Session;

/// Most characters of a column's comment.
const COMMENT_CHARS_MAX: usize = 1024;

/// A column, and what its attributes say of the table.
#[derive(Debug)]
pub(super) struct Column<'a> {
    /// The column, without the default that `literal` is.
    pub(super) def: ColumnDef,
    /// A default that is read when keys and names are known to be right.
    pub(super) literal: Option<Expr<'a>>,
    /// A default that is read when the whole table is known.
    pub(super) expression: Option<Expr<'a>>,
    /// BINARY was written: code points decide, whatever the character set is.
    pub(super) is_binary: bool,
    /// NULL or DEFAULT NULL was written, so that it cannot be part of a primary key.
    pub(super) explicit_null: bool,
    /// The length that is written for a TEXT or BLOB, 0 if none is; `None`: it is no such column.
    pub(super) lob_length: Option<u32>,
    /// Keys that attributes ask for.
    pub(super) keys: Vec<KeyKind>,
    /// Notes about what became of its type.
    pub(super) notes: Vec<SqlError>,
    /// What is wrong with the definition; all but its name stands for something else then.
    pub(super) failure: Option<SqlError>,
}

/// The part of a definition that does not depend on its table, which MySQL reads before it opens the table.
pub(super) struct Written<'a> {
    name: &'a str,
    ty: WrittenType<'a>,
    attributes: Attributes<'a>,
    default: Option<default_value::Written<'a>>,
    /// An empty default was written for a TEXT or BLOB: beyond strict modes it leaves the column without one,
    /// NULL included.
    loses_default: bool,
    names_charset: bool,
}

/// Attributes of a column, gathered in the order written; the last of a kind counts.
#[derive(Default)]
struct Attributes<'a> {
    nullable: Option<bool>,
    default: Option<Expr<'a>>,
    /// DEFAULT (expression).
    expression: Option<Expr<'a>>,
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
            ColumnAttribute::Default { value, parenthesised: false } => self.default = Some(value),
            ColumnAttribute::Default { value, .. } => self.expression = Some(value),
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

    fn not_null(&self) -> bool {
        self.nullable == Some(false) || self.auto_increment || self.keys.contains(&KeyKind::Primary)
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

/// Reads the parts of definitions that do not depend on their table. MySQL warns of all types before it looks
/// at any definition.
///
/// # Errors
/// Those of [`read`].
pub(super) fn read_all<'a>(
    session: &mut Session,
    mut columns: impl Iterator<Item = &'a ColumnDefinition<'a>>,
    inputs: Inputs<'_>,
) -> Result<Vec<Written<'a>>, SqlError> {
    let mut found = Vec::new();
    while let Some(column) = columns.next() {
        match read(session, column, inputs) {
            Ok(written) => found.push(written),
            Err(error) => {
                columns.for_each(|column| warn_of_type(session, column));
                return Err(error);
            }
        }
    }
    Ok(found)
}

/// Warns of a definition's type alone: an error after the first is not the statement's.
#[cold]
pub(super) fn warn_of_type(session: &mut Session, column: &ColumnDefinition<'_>) {
    if let Ok(attributes) = Attributes::gather(session, column) {
        let _ = column_type::read(session, column.name, &column.ty, attributes.collation);
    }
}

/// Reads the part of a definition that does not depend on its table.
///
/// # Errors
/// Those of its type; 1063, 1067, 1101, 1294; 1235 for attributes that are not supported yet.
pub(super) fn read<'a>(
    session: &mut Session,
    written: &'a ColumnDefinition<'a>,
    inputs: Inputs<'_>,
) -> Result<Written<'a>, SqlError> {
    let attributes = Attributes::gather(session, written)?;
    let name = written.name;
    let ty = column_type::read(session, name, &written.ty, attributes.collation)?;
    let now_digits = ty.now_digits();
    let mut loses_default = false;
    let mut default = match (attributes.default, attributes.expression) {
        (None, None) => None,
        (Some(value), None) => {
            Some(default_value::read(session, (name, now_digits), (value, false), inputs)?)
        }
        // Beside an expression, DEFAULT NULL counts for nothing.
        (None | Some(Expr { kind: ExprKind::Null, .. }), Some(value)) => {
            Some(default_value::Written::Expression(value))
        }
        (Some(_), Some(_)) => return Err(error_map::INVALID_DEFAULT.with(&[&name])),
    };
    let is_null = matches!(default, Some(default_value::Written::Null));
    if default.is_some() && attributes.not_null() && is_null != attributes.auto_increment {
        return Err(error_map::INVALID_DEFAULT.with(&[&name]));
    }
    if attributes.on_update.is_some() && attributes.on_update != now_digits {
        return Err(error_map::INVALID_ON_UPDATE.with(&[&name]));
    }
    ty.ensure_sound()?;
    if let Some(default_value::Written::Literal(value)) = &default
        && ty.is_lob()
    {
        default_value::refuse_of_blob(session, name, value, inputs)?;
        (default, loses_default) = (None, true);
    }
    if attributes.auto_increment && !ty.is_integer() {
        return Err(error_map::WRONG_FIELD_SPEC.with(&[&name]));
    }
    let names_charset = written.ty.charset.is_some_and(|name| !name.eq_ignore_ascii_case("DEFAULT"));
    Ok(Written { name, ty, attributes, default, loses_default, names_charset })
}

impl<'a> Written<'a> {
    /// The column in a table of collation `table`. `converted`: the collation that CONVERT TO gives to
    /// columns of characters.
    ///
    /// # Errors
    /// Those of its type and name; 1067 for the default of an ENUM or SET; 1629.
    pub(super) fn column(
        &self,
        session: &mut Session,
        (table, converted): (CollationId, Option<CollationId>),
        inputs: Inputs<'_>,
    ) -> Result<Column<'a>, SqlError> {
        names::ensure_column_name(self.name)?;
        let (name, attributes) = (self.name, &self.attributes);
        let mut notes = Vec::new();
        let ty = self.ty.sql_type(session, (name, self.default.is_some()), (table, converted), &mut notes)?;
        if attributes.comment.chars().count() > COMMENT_CHARS_MAX {
            return Err(error_map::TOO_LONG_FIELD_COMMENT.with(&[&name, &COMMENT_CHARS_MAX]));
        }
        let (mut default, mut literal) = match &self.default {
            None if self.loses_default && !attributes.not_null() => (ColumnDefault::Dropped, None),
            None => (ColumnDefault::None, None),
            Some(default_value::Written::Null) if attributes.auto_increment => (ColumnDefault::None, None),
            Some(default_value::Written::Null) => (ColumnDefault::Null, None),
            Some(default_value::Written::Now) => (ColumnDefault::Now, None),
            Some(default_value::Written::Literal(value)) => (ColumnDefault::None, Some(*value)),
            Some(default_value::Written::Expression(_)) => (row_default::pending(), None),
        };
        let expression = match &self.default {
            Some(default_value::Written::Expression(value)) => Some(*value),
            _ => None,
        };
        if let Some(value) = literal.filter(|_| ty.members.is_some()) {
            default = default_value::literal(session, (name, &ty), &value, inputs)?;
            literal = None;
        }
        let has_charset = ty.has_charset();
        let is_binary = self.ty.is_binary() && !self.ty.forgets_binary(&ty);
        let is_null = matches!(self.default, Some(default_value::Written::Null));
        let explicit_null = attributes.nullable == Some(true) || is_null;
        let def = ColumnDef {
            id: ColumnId(0),
            name: name.into(),
            ty,
            nullable: !attributes.not_null(),
            default,
            auto_increment: attributes.auto_increment,
            on_update_now: attributes.on_update.is_some(),
            invisible: attributes.invisible,
            comment: attributes.comment.into(),
            names_collation: has_charset && (self.names_charset || self.ty.names_collation()),
            unknown: None,
        };
        let (is_binary, lob_length, keys) = (is_binary, self.ty.lob_length(), attributes.keys.clone());
        Ok(Column {
            def,
            literal,
            expression,
            is_binary,
            explicit_null,
            lob_length,
            keys,
            notes,
            failure: None,
        })
    }

    /// A column of this name with a wrong definition, for checks that read names alone.
    pub(super) fn failed(&self, failure: SqlError) -> Column<'a> {
        let def = ColumnDef::new(self.name, SqlType::new(TypeKind::Int, 11), true);
        let (literal, expression) = (None, None);
        let (lob_length, keys, notes) = (None, Vec::new(), Vec::new());
        let (is_binary, explicit_null, failure) = (false, false, Some(failure));
        Column { def, literal, expression, is_binary, explicit_null, lob_length, keys, notes, failure }
    }

    /// The column that is defined.
    pub(super) fn name(&self) -> &'a str {
        self.name
    }
}

/// Digits of the CURRENT_TIMESTAMP that a column of this type takes, if it takes one.
pub(super) fn now_digits(ty: &SqlType) -> Option<u32> {
    matches!(ty.kind, TypeKind::DateTime | TypeKind::Timestamp).then(|| u32::from(ty.decimals))
}

/// Gives the columns of `def` the defaults that literals mean: `literals` has one for each column that gets
/// one, in order.
///
/// # Errors
/// Those of [`settle_default`].
pub(super) fn settle_defaults<'a>(
    session: &mut Session,
    def: &mut TableDef,
    literals: impl Iterator<Item = Option<Expr<'a>>>,
    inputs: Inputs<'_>,
) -> Result<(), SqlError> {
    for (column, literal) in def.columns.iter_mut().zip(literals) {
        if let Some(literal) = literal {
            settle_default(session, column, &literal, inputs)?;
        }
    }
    Ok(())
}

/// Gives a column the default that a literal means, now that all else is known to be right.
///
/// # Errors
/// 1067 and those of [`default_value::literal`].
pub(super) fn settle_default(
    session: &mut Session,
    def: &mut ColumnDef,
    literal: &Expr<'_>,
    inputs: Inputs<'_>,
) -> Result<(), SqlError> {
    let name = def.name.clone();
    let default = default_value::literal(session, (&name, &def.ty), literal, inputs)?;
    if def.auto_increment || default == ColumnDefault::Null && !def.nullable {
        return Err(error_map::INVALID_DEFAULT.with(&[&name]));
    }
    def.default = default;
    Ok(())
}
