//! The columns of an altered table: MySQL's order of applying actions, whatever order they are written in.
//!
//! 1. Columns that are dropped leave. The others stay in their places, with what MODIFY, CHANGE, ALTER COLUMN
//!    and RENAME COLUMN say of them.
//! 2. New columns, and those that are redefined with a place, are put there one by one in the order written.
//!    AFTER names a column as it is called after the statement.

use sql::ast::{ColumnPosition, Expr};
use sql::bind::row_expression::default_reads;
use types::{ColumnDef, ColumnDefault, TableDef, TypeKind};

use super::column::{self, Column};
use super::{default_value, names, row_default};
use crate::error_map::{self, SqlError};
use crate::inputs::Inputs;
use crate::session::Session;

/// A column of the table to be.
#[derive(Debug)]
pub(super) struct NewColumn<'a> {
    pub(super) def: ColumnDef,
    /// Its place in the old table; `None`: it is new.
    pub(super) old: Option<u16>,
    /// The statement defines it, with BINARY.
    pub(super) is_binary: bool,
    /// The statement defines it, with NULL or DEFAULT NULL.
    pub(super) explicit_null: bool,
    /// The statement defines it as a TEXT or BLOB of this length; 0: without one.
    pub(super) lob_length: Option<u32>,
    /// Notes about what became of its type.
    pub(super) notes: Vec<SqlError>,
    /// What is wrong with its definition or its default.
    pub(super) failure: Option<SqlError>,
    /// A default that is read when keys and names are known to be right.
    pub(super) literal: Option<Expr<'a>>,
    /// A default that is read when the whole table is known.
    pub(super) expression: Option<Expr<'a>>,
}

/// A column that the statement defines.
#[derive(Debug)]
pub(super) struct Definition<'a> {
    /// The column that it redefines.
    pub(super) changes: Option<&'a str>,
    pub(super) column: Column<'a>,
    pub(super) position: ColumnPosition<'a>,
}

/// An action's change of one attribute of a column.
#[derive(Clone, Copy, Debug)]
pub(super) enum Attribute<'a> {
    Rename(&'a str),
    Default(&'a Expr<'a>, bool),
    NoDefault,
    Visible(bool),
}

/// The actions on columns, in the order written.
#[derive(Debug, Default)]
pub(super) struct ColumnActions<'a> {
    pub(super) definitions: Vec<Definition<'a>>,
    pub(super) drops: Vec<&'a str>,
    pub(super) attributes: Vec<(&'a str, Attribute<'a>)>,
}

impl<'a> ColumnActions<'a> {
    /// The columns of the table to be. The rest of `drops` names no column.
    ///
    /// # Errors
    /// 1054, 1067, 1090, 1166.
    pub(super) fn apply(
        &mut self,
        session: &mut Session,
        inputs: Inputs<'_>,
        (table, old): (&str, &TableDef),
    ) -> Result<Vec<NewColumn<'a>>, SqlError> {
        let unknown = |name: &str| error_map::BAD_FIELD.with(&[&name, &table]);
        let mut columns = Vec::with_capacity(old.columns.len() + self.definitions.len());
        let mut places: Vec<Option<u16>> = vec![None; self.definitions.len()];
        for (position, column) in old.columns.iter().enumerate() {
            // Each column is looked up in all actions: the cost is their product.
            session.fail_if_killed()?;
            if take(&mut self.drops, |name| name.eq_ignore_ascii_case(&column.name)).is_some() {
                continue;
            }
            let redefines = |definition: &Definition<'_>| {
                definition.changes.is_some_and(|name| name.eq_ignore_ascii_case(&column.name))
            };
            let found = self.definitions.iter().position(redefines);
            if let Some(at) = found {
                places[at] = Some(position as u16);
                columns.push(self.definitions[at].new_column(places[at], old));
                continue;
            }
            columns.push(self.kept(session, inputs, position, column)?);
        }
        for (definition, place) in self.definitions.iter().zip(places) {
            if let (Some(name), None) = (definition.changes, place) {
                return Err(unknown(name));
            }
            let is_it = |column: &NewColumn<'_>| place.is_some() && column.old == place;
            if definition.position == ColumnPosition::Unchanged && place.is_some() {
                continue;
            }
            let new = take(&mut columns, is_it).unwrap_or_else(|| definition.new_column(place, old));
            match definition.position {
                ColumnPosition::Unchanged => columns.push(new),
                ColumnPosition::First => columns.insert(0, new),
                ColumnPosition::After(name) => {
                    let before = columns.iter().position(|one| one.def.name.eq_ignore_ascii_case(name));
                    columns.insert(before.ok_or_else(|| unknown(name))? + 1, new);
                }
            }
        }
        if let Some((name, _)) = self.attributes.first() {
            return Err(unknown(name));
        }
        if columns.is_empty() {
            return Err(error_map::CANT_REMOVE_ALL_FIELDS.bare());
        }
        Ok(columns)
    }
}

impl<'a> ColumnActions<'a> {
    /// A column that is neither dropped nor redefined, with what an action says of it.
    fn kept(
        &mut self,
        session: &mut Session,
        inputs: Inputs<'_>,
        position: usize,
        column: &ColumnDef,
    ) -> Result<NewColumn<'a>, SqlError> {
        let (def, old) = (column.clone(), Some(position as u16));
        let (is_binary, explicit_null, lob_length, notes) = (false, false, None, Vec::new());
        let (failure, literal, expression) = (None, None, None);
        let mut kept =
            NewColumn { def, old, is_binary, explicit_null, lob_length, notes, failure, literal, expression };
        let is_of = |(name, _): &(&str, _)| name.eq_ignore_ascii_case(&column.name);
        if let Some((_, attribute)) = take(&mut self.attributes, is_of) {
            if matches!(attribute, Attribute::Default(..)) && is_lob(&kept.def) {
                return Err(error_map::BLOB_CANT_HAVE_DEFAULT.with(&[&column.name]));
            }
            // MySQL reports this after names of no column and no key.
            kept.failure = set_attribute(session, inputs, &mut kept, attribute).err();
        }
        Ok(kept)
    }
}

impl<'a> Definition<'a> {
    fn new_column(&self, at: Option<u16>, old: &TableDef) -> NewColumn<'a> {
        let mut def = self.column.def.clone();
        if let Some(at) = at {
            def.id = old.columns[usize::from(at)].id;
        }
        let Column { literal, expression, is_binary, explicit_null, lob_length, .. } = self.column;
        let (notes, failure) = (self.column.notes.clone(), self.column.failure.clone());
        NewColumn { def, old: at, is_binary, explicit_null, lob_length, notes, failure, literal, expression }
    }
}

fn is_lob(column: &ColumnDef) -> bool {
    matches!(column.ty.kind, TypeKind::Text(_) | TypeKind::Blob(_))
}

fn set_attribute<'a>(
    session: &mut Session,
    inputs: Inputs<'_>,
    column: &mut NewColumn<'a>,
    attribute: Attribute<'a>,
) -> Result<(), SqlError> {
    let def = &mut column.def;
    match attribute {
        Attribute::Rename(new) => {
            names::ensure_column_name(new)?;
            def.name = new.into();
        }
        Attribute::Default(value, parenthesised) => {
            let digits = column::now_digits(&def.ty);
            match default_value::read(session, (&def.name, digits), (*value, parenthesised), inputs)? {
                default_value::Written::Now => def.default = ColumnDefault::Now,
                default_value::Written::Null | default_value::Written::Literal(_) => {
                    column.literal = Some(*value);
                }
                default_value::Written::Expression(value) => {
                    def.default = row_default::pending();
                    column.expression = Some(value);
                }
            }
        }
        Attribute::Visible(visible) => def.invisible = !visible,
        Attribute::NoDefault => {
            def.default = if def.nullable { ColumnDefault::Dropped } else { ColumnDefault::None };
        }
    }
    Ok(())
}

/// Removes and returns the first element that matches.
pub(super) fn take<T>(all: &mut Vec<T>, is_it: impl Fn(&T) -> bool) -> Option<T> {
    let at = all.iter().position(is_it)?;
    Some(all.remove(at))
}

/// Refuses to drop or rename a column of `old` that the default of one of `columns` reads, unless the
/// statement gives that column another default.
///
/// # Errors
/// 3766
pub(super) fn ensure_unread(old: &TableDef, columns: &[NewColumn<'_>]) -> Result<(), SqlError> {
    let readers = || columns.iter().filter(|column| row_default::is_settled(&column.def.default));
    if readers().next().is_none() {
        return Ok(());
    }
    for (position, column) in old.columns.iter().enumerate() {
        let is_it = |new: &&NewColumn<'_>| new.old == Some(position as u16);
        let stays =
            columns.iter().find(is_it).is_some_and(|new| new.def.name.eq_ignore_ascii_case(&column.name));
        if !stays && readers().any(|reader| default_reads(&reader.def, &column.name)) {
            return Err(error_map::DEPENDENT_BY_DEFAULT.with(&[&column.name, &old.name]));
        }
    }
    Ok(())
}
