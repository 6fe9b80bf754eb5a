//! The columns of an altered table: MySQL's order of applying actions, whatever order they are written in.
//!
//! 1. Columns that are dropped leave. The others stay in their places, with what MODIFY, CHANGE, ALTER COLUMN
//!    and RENAME COLUMN say of them.
//! 2. New columns, and those that are redefined with a place, are put there one by one in the order written.
//!    AFTER names a column as it is called after the statement.

use sql::ast::{ColumnPosition, Expr};
use types::{ColumnDef, ColumnDefault, TableDef};

use super::column::Column;
use super::{default_value, names};
use crate::constant::Inputs;
use crate::error_map::{self, SqlError};
use crate::session::Session;

/// A column of the table to be.
#[derive(Debug)]
pub(super) struct NewColumn {
    pub(super) def: ColumnDef,
    /// Its place in the old table; `None`: it is new.
    pub(super) old: Option<u16>,
    /// The statement defines it, with NULL or DEFAULT NULL.
    pub(super) explicit_null: bool,
    /// ALTER COLUMN gives it a default value.
    pub(super) has_new_default: bool,
}

/// A column that the statement defines.
#[derive(Debug)]
pub(super) struct Definition<'a> {
    /// The column that it redefines.
    pub(super) changes: Option<&'a str>,
    pub(super) column: Column,
    pub(super) position: ColumnPosition<'a>,
}

/// What an action says of one attribute of a column.
#[derive(Clone, Copy, Debug)]
pub(super) enum Attribute<'a> {
    Rename(&'a str),
    Default(&'a Expr<'a>, bool),
    NoDefault,
    Visible(bool),
}

/// What the actions say of columns, in the order written.
#[derive(Debug, Default)]
pub(super) struct ColumnActions<'a> {
    pub(super) definitions: Vec<Definition<'a>>,
    pub(super) drops: Vec<&'a str>,
    pub(super) attributes: Vec<(&'a str, Attribute<'a>)>,
    /// What is wrong with a default or a name among them.
    pub(super) failure: Option<SqlError>,
}

impl<'a> ColumnActions<'a> {
    /// The columns of the table to be. What is left of `drops` names no column.
    ///
    /// # Errors
    /// 1054, 1067, 1090, 1166.
    pub(super) fn apply(
        &mut self,
        session: &mut Session,
        inputs: Inputs<'_>,
        (table, old): (&str, &TableDef),
    ) -> Result<Vec<NewColumn>, SqlError> {
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
            let mut kept = NewColumn {
                def: column.clone(),
                old: Some(position as u16),
                explicit_null: false,
                has_new_default: false,
            };
            let is_of = |(name, _): &(&str, _)| name.eq_ignore_ascii_case(&column.name);
            if let Some((_, attribute)) = take(&mut self.attributes, is_of) {
                kept.has_new_default = matches!(attribute, Attribute::Default(..));
                let set = set_attribute(session, inputs, &mut kept.def, &column.name, attribute);
                // MySQL reports this after names of no column and no key.
                self.failure = self.failure.take().or(set.err());
            }
            columns.push(kept);
        }
        for (definition, place) in self.definitions.iter().zip(places) {
            if let (Some(name), None) = (definition.changes, place) {
                return Err(unknown(name));
            }
            let is_it = |column: &NewColumn| place.is_some() && column.old == place;
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

impl Definition<'_> {
    fn new_column(&self, at: Option<u16>, old: &TableDef) -> NewColumn {
        let mut def = self.column.def.clone();
        if let Some(at) = at {
            def.id = old.columns[usize::from(at)].id;
        }
        NewColumn { def, old: at, explicit_null: self.column.explicit_null, has_new_default: false }
    }
}

fn set_attribute(
    session: &mut Session,
    inputs: Inputs<'_>,
    column: &mut ColumnDef,
    name: &str,
    attribute: Attribute<'_>,
) -> Result<(), SqlError> {
    match attribute {
        Attribute::Rename(new) => {
            names::ensure_column_name(new)?;
            column.name = new.into();
        }
        Attribute::Default(value, parenthesised) => {
            let place = (name, &column.ty);
            let value = default_value::column_default(session, place, (value, parenthesised), inputs)?;
            if column.auto_increment || value == ColumnDefault::Null && !column.nullable {
                return Err(error_map::INVALID_DEFAULT.with(&[&name]));
            }
            column.default = value;
        }
        Attribute::Visible(visible) => column.invisible = !visible,
        Attribute::NoDefault => {
            column.default = if column.nullable { ColumnDefault::Dropped } else { ColumnDefault::None };
        }
    }
    Ok(())
}

/// Removes and returns the first element that matches.
pub(super) fn take<T>(all: &mut Vec<T>, is_it: impl Fn(&T) -> bool) -> Option<T> {
    let at = all.iter().position(is_it)?;
    Some(all.remove(at))
}
