//! ALTER TABLE: from actions to the definition that the table is to have, checked against the one that it
//! has.

use engine::{Alteration, Engine};
use sql::ast::{
    AlterAction, ColumnDefinition, ColumnPosition, Constraint, KeyDefinition, TableName, TableOption,
};
use types::{ColumnDef, IndexDef, TableDef};

use super::alter_columns::{Attribute, ColumnActions, Definition};
use super::alter_keys::{self, KeyActions, NewKey};
use super::names::{self, FullName};
use super::table_options::TableOptions;
use super::{column, convert_charset, key, not_yet, refused};
use crate::constant::Inputs;
use crate::diagnostics::Severity;
use crate::error_map::{self, SqlError};
use crate::session::Session;

/// What a statement makes of a table.
#[derive(Debug)]
pub(super) struct Planned {
    /// The definition, and the next number. Kept indexes have their ids.
    pub(super) alteration: Alteration,
    /// Where each column is in the old table.
    pub(super) old_columns: Vec<Option<u16>>,
    /// The statement asks for rows to be written anew.
    pub(super) is_forced: bool,
    /// It asks for rows in an order.
    pub(super) is_ordered: bool,
}

/// Gathers the actions of a statement, then applies them.
pub(super) struct Planner<'a, 'p> {
    session: &'p mut Session,
    engine: &'p Engine,
    inputs: Inputs<'p>,
    name: &'p FullName,
    old: &'p TableDef,
    columns: ColumnActions<'a>,
    keys: KeyActions<'a>,
    options: Vec<TableOption<'a>>,
    convert_to: Vec<(Option<&'a str>, Option<&'a str>)>,
    is_ordered: bool,
    new_name: Option<TableName<'a>>,
    is_forced: bool,
}

impl<'a, 'p> Planner<'a, 'p> {
    pub(super) fn new(
        session: &'p mut Session,
        engine: &'p Engine,
        inputs: Inputs<'p>,
        name: &'p FullName,
        old: &'p TableDef,
    ) -> Self {
        Planner {
            session,
            engine,
            inputs,
            name,
            old,
            columns: ColumnActions::default(),
            keys: KeyActions::default(),
            options: Vec::new(),
            convert_to: Vec::new(),
            is_ordered: false,
            new_name: None,
            is_forced: false,
        }
    }

    /// What all actions make of the table.
    ///
    /// # Errors
    /// MySQL's for what cannot be done to this table; 1235 for actions that are not supported.
    pub(super) fn plan(mut self, actions: &'a [AlterAction<'a>]) -> Result<Planned, SqlError> {
        alter_keys::ensure_constraints(self.old, actions)?;
        for action in actions {
            self.gather_option(action);
        }
        let mut def = self.old.clone();
        let options = TableOptions::gather(self.session, &self.name.table, &self.options, &def.hints)?;
        options.ensure_agreement_of_altered()?;
        def.hints = options.hints();
        def.collation = self.new_collation(&options)?;
        if self.options.iter().any(|option| matches!(option, TableOption::Comment(_))) {
            def.comment = options.comment.into();
        }
        for action in actions {
            self.gather(action, &def)?;
        }
        names::ensure_few(self.columns.definitions.len(), self.keys.added.len())?;
        let place = (&*self.name.table, self.old);
        let mut columns = self.columns.apply(self.session, self.inputs, place)?;
        if !self.convert_to.is_empty() {
            for column in &mut columns {
                convert_charset::convert(self.session, column, def.collation)?;
            }
        }
        let mut indexes = self.keys.keep(self.old, &columns)?;
        if let Some(name) = self.columns.drops.iter().chain(&self.keys.drops).next() {
            return Err(error_map::CANT_DROP_FIELD_OR_KEY.with(&[name]));
        }
        self.keys.show(place, &mut indexes)?;
        names::ensure_distinct_columns(columns.iter().map(|column| &column.def))?;
        if columns.iter().filter(|column| column.def.auto_increment).count() > 1 {
            return Err(error_map::WRONG_AUTO_KEY.bare());
        }
        if let Some(error) = self.columns.failure.take() {
            return Err(error);
        }
        let mut defs: Vec<ColumnDef> = columns.iter().map(|column| column.def.clone()).collect();
        column::ensure_one_visible(&defs)?;
        self.keys.add(self.session, self.name, &defs, &mut indexes)?;
        alter_keys::close_primary_key(&mut columns, &indexes)?;
        for (def, column) in defs.iter_mut().zip(&columns) {
            def.clone_from(&column.def);
        }
        key::ensure_visible_primary(&indexes, &defs)?;
        self.ensure_ordered(&defs, &indexes)?;
        self.rename(&mut def)?;
        let hidden = def.indexes.drain(..).find(|index| index.parts.is_empty());
        indexes.splice(0..0, hidden);
        let old_columns = columns.iter().map(|column| column.old).collect();
        (def.columns, def.indexes) = (defs, indexes);
        let alteration = Alteration { def, auto_increment: options.auto_increment };
        let Planner { is_forced, is_ordered, .. } = self;
        Ok(Planned { alteration, old_columns, is_forced, is_ordered })
    }

    /// Options come first: columns that the statement defines have the new default collation.
    fn gather_option(&mut self, action: &AlterAction<'a>) {
        match *action {
            AlterAction::Option(option) => {
                self.is_forced |= matches!(option, TableOption::Engine(_));
                self.options.push(option);
            }
            AlterAction::ConvertTo(charset, collation) => self.convert_to.push((charset, collation)),
            AlterAction::Force => self.is_forced = true,
            _ => {}
        }
    }

    /// The collation of the table: CONVERT TO's, else the options'.
    fn new_collation(&mut self, options: &TableOptions<'_>) -> Result<types::CollationId, SqlError> {
        if self.convert_to.is_empty() {
            return Ok(options.collation.resolve(self.old.collation));
        }
        let mut clauses = options.collation;
        for &(charset, collation) in &self.convert_to {
            if let Some(charset) = charset {
                clauses.take_charset(self.session, charset)?;
            }
            if let Some(collation) = collation {
                clauses.take_collation(self.session, collation)?;
            }
        }
        let schema = self.engine.schema(&self.name.schema).map_err(|error| refused(self.session, &error))?;
        Ok(clauses.resolve(schema.collation))
    }

    fn gather(&mut self, action: &'a AlterAction<'a>, def: &TableDef) -> Result<(), SqlError> {
        match action {
            AlterAction::AddColumn(column, position) => self.define(None, column, *position, def),
            AlterAction::AddElements(columns, constraints) => {
                columns
                    .iter()
                    .try_for_each(|column| self.define(None, column, ColumnPosition::Unchanged, def))?;
                constraints.iter().try_for_each(|one| self.add(one))
            }
            AlterAction::ModifyColumn(column, position) => {
                self.define(Some(column.name), column, *position, def)
            }
            AlterAction::ChangeColumn(old, column, position) => {
                self.define(Some(old), column, *position, def)
            }
            AlterAction::AddConstraint(constraint) => self.add(constraint),
            AlterAction::RenameKey(old, new) => {
                alter_keys::ensure_renamable(old, new)?;
                self.keys.renames.push((old, new));
                Ok(())
            }
            other => {
                if let Some(what) = unsupported(other) {
                    return Err(not_yet(what));
                }
                self.note(other);
                Ok(())
            }
        }
    }

    /// Notes an action that is not checked by itself.
    fn note(&mut self, action: &'a AlterAction<'a>) {
        let attributes = &mut self.columns.attributes;
        match action {
            AlterAction::DropColumn(name) => self.columns.drops.push(name),
            AlterAction::DropKey(name) | AlterAction::DropConstraint(name) => self.keys.drops.push(name),
            AlterAction::DropPrimaryKey => self.keys.drops.push("PRIMARY"),
            AlterAction::RenameColumn(old, new) => attributes.push((old, Attribute::Rename(new))),
            AlterAction::SetDefault(name, value, parenthesised) => {
                attributes.push((name, Attribute::Default(value, *parenthesised)));
            }
            AlterAction::DropDefault(name) => attributes.push((name, Attribute::NoDefault)),
            AlterAction::SetColumnVisible(name, visible) => {
                attributes.push((name, Attribute::Visible(*visible)));
            }
            AlterAction::SetKeyVisible(name, visible) => self.keys.visibility.push((name, *visible)),
            AlterAction::OrderBy(_) => self.is_ordered = true,
            AlterAction::RenameTable(name) => self.new_name = Some(*name),
            AlterAction::EnableKeys(_) => {
                let note = error_map::ILLEGAL_HA.with(&[&self.name.table]);
                self.session.warn(Severity::Note, note);
            }
            _ => {}
        }
    }

    fn define(
        &mut self,
        changes: Option<&'a str>,
        written: &'a ColumnDefinition<'a>,
        position: ColumnPosition<'a>,
        def: &TableDef,
    ) -> Result<(), SqlError> {
        let column = column::column(self.session, written, def.collation, self.inputs)?;
        for &kind in &column.keys {
            self.keys.added.push(NewKey::OfColumn(written.name, kind));
        }
        self.columns.definitions.push(Definition { changes, column, position });
        Ok(())
    }

    fn add(&mut self, constraint: &'a Constraint<'a>) -> Result<(), SqlError> {
        let definition: &'a KeyDefinition<'a> = match constraint {
            Constraint::Key(definition) => definition,
            Constraint::ForeignKey(_) => return Err(not_yet("FOREIGN KEY constraints")),
            Constraint::Check(_) => return Err(not_yet("CHECK constraints")),
        };
        self.keys.added.push(NewKey::Element(definition));
        Ok(())
    }

    /// ORDER BY: a clustered key that was declared decides the order.
    ///
    /// # Errors
    /// 1235 for a table without such a key.
    fn ensure_ordered(&mut self, columns: &[ColumnDef], indexes: &[IndexDef]) -> Result<(), SqlError> {
        if !self.is_ordered {
            return Ok(());
        }
        let is_clustered = |index: &IndexDef| key::rank(index, columns) <= key::SERVES_AS_PRIMARY;
        if !indexes.iter().any(is_clustered) {
            return Err(not_yet("ALTER TABLE ... ORDER BY of a table without a primary key"));
        }
        let text = format!(
            "ORDER BY ignored as there is a user-defined clustered index in the table '{}'",
            self.name.table
        );
        self.session.warn(Severity::Warning, error_map::UNKNOWN.saying(text));
        Ok(())
    }

    fn rename(&mut self, def: &mut TableDef) -> Result<(), SqlError> {
        if let Some(name) = &self.new_name {
            let name = FullName::resolve(self.session, name)?;
            names::ensure_table_name(&name.table)?;
            (def.schema, def.name) = (name.schema.into(), name.table.into());
        }
        Ok(())
    }
}

/// What error 1235 names for an action that is not supported.
fn unsupported(action: &AlterAction<'_>) -> Option<&'static str> {
    Some(match action {
        AlterAction::DropForeignKey(_) => "FOREIGN KEY constraints",
        AlterAction::DropCheck(_) | AlterAction::SetEnforced(..) => "CHECK constraints",
        AlterAction::Tablespace(_) => "DISCARD and IMPORT TABLESPACE",
        AlterAction::Partition => "partitions",
        _ => return None,
    })
}
