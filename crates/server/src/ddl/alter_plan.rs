//! ALTER TABLE: from actions to the definition that the table is to have, checked against the one that it
//! has.

use engine::{Alteration, Engine};
use sql::ast::{
    AlterAction, ColumnDefinition, ColumnPosition, ColumnRef, Constraint, KeyDefinition, TableName,
    TableOption,
};
use types::{CollationId, IndexDef, TableDef};

use super::alter_columns::{Attribute, ColumnActions, Definition, NewColumn, ensure_unread};
use super::alter_keys::{self, KeyActions, NewKey};
use super::collation::CollationClauses;
use super::column::Written;
use super::names;
use super::table_options::{TableOptions, UnknownOptions, ensure_comment_length};
use super::{column, convert_charset, key, not_yet, refused, row_default};
use crate::diagnostics::Severity;
use crate::error_map::{self, SqlError};
use crate::full_name::FullName;
use crate::inputs::Inputs;
use crate::session::Session;
use crate::show::definition_text::declared_indexes;

/// The table after a statement.
#[derive(Debug)]
pub(super) struct Planned {
    /// The definition, and the next number. Kept indexes have their ids.
    pub(super) alteration: Alteration,
    /// Where each column is in the old table.
    pub(super) old_columns: Vec<Option<u16>>,
    /// Columns of the old table that the rows are sorted by, each with whether it is descending.
    pub(super) order: Vec<(u16, bool)>,
    /// The statement asks for rows to be rewritten.
    pub(super) is_forced: bool,
    /// MySQL copies the rows because of ORDER BY, or of ENABLE and DISABLE KEYS beside other actions.
    pub(super) is_copied: bool,
    /// A new column's default is an expression.
    pub(super) computes_rows: bool,
    /// Options with a value that InnoDB does not have; the caller refuses it.
    pub(super) unknown: Option<UnknownOptions>,
}

/// The part of the actions that can be read without the table.
pub(super) struct Read<'a> {
    actions: &'a [AlterAction<'a>],
    /// The columns that they define, in order.
    columns: Vec<Written<'a>>,
    /// CONVERT TO among them.
    options: TableOptions<'a>,
    /// What CONVERT TO says; the options after it are for the table alone.
    converts: Option<CollationClauses>,
}

/// Reads the part of the actions that does not depend on the table.
///
/// # Errors
/// Those of [`column::read`] and [`TableOptions::gather`]; 1221 for VALIDATION, as there are no generated
/// columns.
pub(super) fn read<'a>(
    session: &mut Session,
    table: &str,
    actions: &'a [AlterAction<'a>],
    inputs: Inputs<'_>,
) -> Result<Read<'a>, SqlError> {
    let mut reading = Reading {
        session,
        table,
        inputs,
        columns: Vec::new(),
        options: TableOptions::default(),
        converts: None,
        failure: None,
    };
    for action in actions {
        let defined = match action {
            AlterAction::AddColumn(column, _)
            | AlterAction::ModifyColumn(column, _)
            | AlterAction::ChangeColumn(_, column, _) => std::slice::from_ref(column),
            AlterAction::AddElements(columns, _) => columns,
            _ => &[],
        };
        for column in defined {
            reading.column(column);
        }
        match *action {
            AlterAction::Option(option) => reading.option(&option),
            AlterAction::ConvertTo(charset, collation) => {
                reading.convert(&[charset.map(TableOption::Charset), collation.map(TableOption::Collate)]);
            }
            _ => {}
        }
    }
    let Reading { columns, mut options, converts, failure, .. } = reading;
    failure.map_or(Ok(()), Err)?;
    options.ignore_directories(session);
    ensure_comment_length(table, options.comment.unwrap_or_default())?;
    if actions.iter().any(|action| matches!(action, AlterAction::Validation(_))) {
        return Err(error_map::WRONG_USAGE.with(&[&"ALTER", &"WITH VALIDATION"]));
    }
    Ok(Read { actions, columns, options, converts })
}

/// Definitions and options that are read in the order written. After the first error, MySQL warns of types
/// and character sets that follow.
struct Reading<'s, 'a> {
    session: &'s mut Session,
    table: &'s str,
    inputs: Inputs<'s>,
    columns: Vec<Written<'a>>,
    options: TableOptions<'a>,
    converts: Option<CollationClauses>,
    failure: Option<SqlError>,
}

impl<'a> Reading<'_, 'a> {
    fn column(&mut self, column: &'a ColumnDefinition<'a>) {
        if self.failure.is_some() {
            return column::warn_of_type(self.session, column);
        }
        match column::read(self.session, column, self.inputs) {
            Ok(column) => self.columns.push(column),
            Err(error) => self.failure = Some(error),
        }
    }

    /// CONVERT TO, which the options before it have no say in.
    fn convert(&mut self, clauses: &[Option<TableOption<'a>>; 2]) {
        let clauses = || clauses.iter().flatten();
        for clause in clauses() {
            self.option(clause);
        }
        let mut own = CollationClauses::default();
        for clause in clauses() {
            match *clause {
                TableOption::Charset(name) => _ = own.add_charset(name),
                TableOption::Collate(name) => _ = own.add_collation(name),
                _ => {}
            }
        }
        (self.options.collation, self.converts) = (own, Some(own));
    }

    fn option(&mut self, option: &TableOption<'a>) {
        if self.failure.is_none() {
            self.failure = self.options.add(self.session, self.table, option).err();
        } else if matches!(option, TableOption::Charset(_) | TableOption::Collate(_)) {
            let _ = TableOptions::default().add(self.session, self.table, option);
        }
    }
}

/// What columns are defined for.
struct Target<'t> {
    /// The table to be, except for its columns and keys.
    def: &'t TableDef,
    /// The collation that all columns of characters get from CONVERT TO.
    converted: Option<CollationId>,
}

/// Gathers the actions of a statement, then applies them.
pub(super) struct Planner<'a, 'p> {
    session: &'p mut Session,
    engine: &'p Engine,
    inputs: Inputs<'p>,
    name: &'p FullName,
    old: &'p TableDef,
    read: &'p Read<'a>,
    written: std::slice::Iter<'p, Written<'a>>,
    columns: ColumnActions<'a>,
    keys: KeyActions<'a>,
    order: &'a [(ColumnRef<'a>, bool)],
    new_name: Option<TableName<'a>>,
}

impl<'a, 'p> Planner<'a, 'p> {
    pub(super) fn new(
        session: &'p mut Session,
        engine: &'p Engine,
        inputs: Inputs<'p>,
        name: &'p FullName,
        old: &'p TableDef,
        read: &'p Read<'a>,
    ) -> Self {
        Planner {
            session,
            engine,
            inputs,
            name,
            old,
            read,
            written: read.columns.iter(),
            columns: ColumnActions::default(),
            keys: KeyActions::default(),
            order: &[],
            new_name: None,
        }
    }

    /// The table after all actions.
    ///
    /// # Errors
    /// MySQL's for what cannot be done to this table; 1235 for actions that are not supported.
    pub(super) fn plan(mut self) -> Result<Planned, SqlError> {
        let Read { actions, options, .. } = self.read;
        self.ensure_new_name_is_free(actions)?;
        alter_keys::ensure_constraints(self.old, actions)?;
        let converts = self.converted_collation()?;
        let mut def = self.old.clone();
        def.hints = options.hints(&def.hints);
        def.collation = self.new_collation()?;
        if let Some(comment) = options.comment {
            def.comment = comment.into();
        }
        for action in *actions {
            self.gather(action, &Target { def: &def, converted: converts })?;
        }
        names::ensure_few(self.columns.definitions.len(), self.keys.added.len())?;
        let place = (&*self.name.table, self.old);
        let mut columns = self.columns.apply(self.session, self.inputs, place)?;
        ensure_unread(self.old, &columns)?;
        self.keys.ensure_primary_stays_visible(self.old, &columns)?;
        let converted = converts.map_or(Ok(()), |collation| {
            let mut columns = columns.iter_mut();
            columns.try_for_each(|column| convert_charset::convert(self.session, column, self.old, collation))
        });
        let mut indexes = self.keys.keep(self.old, &columns)?;
        self.ensure_dropped(actions)?;
        converted?;
        self.keys.show(&self.name.table, &mut indexes)?;
        self.settle_members(&mut columns)?;
        if columns.iter().filter(|column| column.def.auto_increment).count() > 1 {
            return Err(error_map::WRONG_AUTO_KEY.bare());
        }
        def.columns = columns.iter().map(|column| column.def.clone()).collect();
        self.keys.converts = self.read.converts.is_some();
        self.keys.add(self.session, self.name, (&mut def, &columns), &mut indexes)?;
        self.rename(&mut def)?;
        let hidden = def.indexes.drain(..).find(|index| index.parts.is_empty());
        indexes.splice(0..0, hidden);
        let old_columns: Vec<_> = columns.iter().map(|column| column.old).collect();
        def.indexes = indexes;
        engine::limits::table(&def).map_err(|error| refused(self.session, &error.into()))?;
        column::ensure_one_visible(&def.columns)?;
        let order = self.settle_order(&def)?;
        let literals = columns.iter().map(|column| column.literal);
        column::settle_defaults(self.session, &mut def, literals, self.inputs)?;
        let expressions = columns.iter().map(|column| column.expression);
        row_default::settle(self.session, &mut def, expressions, self.inputs)?;
        let computes_rows = row_default::computes_rows(&def, &old_columns)?;
        let is_copied = asks_for_copy(actions);
        let auto_increment = options.auto_increment.or(first_number(self.old, &columns));
        let is_forced = actions
            .iter()
            .any(|action| matches!(action, AlterAction::Force | AlterAction::Option(TableOption::Engine(_))));
        if !is_copied && !is_forced && auto_increment.is_none() {
            keep_if_same(self.old, &mut def);
        }
        let alteration = Alteration { def, auto_increment };
        let unknown = options.unknown(&alteration.def.hints);
        Ok(Planned { alteration, old_columns, order, is_forced, is_copied, computes_rows, unknown })
    }

    /// Looks at columns one after the other: what is wrong with their definitions, defaults that are members
    /// of ENUM and SET, and names that an earlier column has. Other defaults come after keys.
    ///
    /// # Errors
    /// 1060, 1067, and what is wrong.
    fn settle_members(&mut self, columns: &mut [NewColumn<'_>]) -> Result<(), SqlError> {
        let mut names = names::ColumnNames::default();
        for column in columns {
            column.failure.take().map_or(Ok(()), Err)?;
            column.notes.drain(..).for_each(|note| self.session.warn(Severity::Note, note));
            let literal = column.literal.take_if(|_| column.def.ty.members.is_some());
            if let Some(literal) = literal {
                column::settle_default(self.session, &mut column.def, &literal, self.inputs)?;
            }
            names.add(&column.def)?;
        }
        Ok(())
    }

    /// The collation of the table: that of CONVERT TO and the options. Columns that the statement defines
    /// have it, too.
    fn new_collation(&self) -> Result<CollationId, SqlError> {
        let default =
            if self.read.converts.is_some() { self.schema_collation()? } else { self.old.collation };
        Ok(self.read.options.collation.resolve(default))
    }

    /// The collation that all columns of characters get from CONVERT TO.
    fn converted_collation(&self) -> Result<Option<CollationId>, SqlError> {
        let converts = self.read.converts.as_ref();
        converts.map(|clauses| Ok(clauses.resolve(self.schema_collation()?))).transpose()
    }

    fn schema_collation(&self) -> Result<CollationId, SqlError> {
        let schema = self.engine.schema(&self.name.schema).map_err(|error| refused(self.session, &error))?;
        Ok(schema.collation)
    }

    fn gather(&mut self, action: &'a AlterAction<'a>, target: &Target<'_>) -> Result<(), SqlError> {
        match action {
            AlterAction::AddElements(columns, constraints) => {
                columns.iter().for_each(|_| self.define(None, ColumnPosition::Unchanged, target));
                constraints.iter().try_for_each(|one| self.add(one))
            }
            AlterAction::AddColumn(_, position) => {
                self.define(None, *position, target);
                Ok(())
            }
            AlterAction::ModifyColumn(column, position) => {
                self.define(Some(column.name), *position, target);
                Ok(())
            }
            AlterAction::ChangeColumn(old, _, position) => {
                self.define(Some(old), *position, target);
                Ok(())
            }
            AlterAction::AddConstraint(constraint) => self.add(constraint),
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
            AlterAction::DropColumn(name) => {
                self.columns.drops.push(name);
                self.keys.loses_columns = true;
            }
            AlterAction::DropKey(name) | AlterAction::DropConstraint(name) => self.keys.drops.push(name),
            AlterAction::DropPrimaryKey => self.keys.drops.push("PRIMARY"),
            AlterAction::RenameKey(old, new) => self.keys.renames.push((old, new)),
            AlterAction::RenameColumn(old, new) => attributes.push((old, Attribute::Rename(new))),
            AlterAction::SetDefault(name, value, parenthesised) => {
                attributes.push((name, Attribute::Default(value, *parenthesised)));
            }
            AlterAction::DropDefault(name) => attributes.push((name, Attribute::NoDefault)),
            AlterAction::SetColumnVisible(name, visible) => {
                attributes.push((name, Attribute::Visible(*visible)));
            }
            AlterAction::SetKeyVisible(name, visible) => self.keys.visibility.push((name, *visible)),
            AlterAction::OrderBy(columns) => self.order = columns,
            AlterAction::RenameTable(name) => self.new_name = Some(*name),
            _ => {}
        }
    }

    /// Takes the next column that the statement defines.
    fn define(&mut self, changes: Option<&'a str>, position: ColumnPosition<'a>, target: &Target<'_>) {
        let Target { def, converted } = *target;
        let written = self.written.next().expect("every definition has been read");
        let collations = (def.collation, converted);
        let column = written.column(self.session, collations, self.inputs).unwrap_or_else(|error| {
            // MySQL reports this after names of no column and no key.
            written.failed(error)
        });
        for &kind in &column.keys {
            self.keys.added.push(NewKey::OfColumn(written.name(), kind));
        }
        self.columns.definitions.push(Definition { changes, column, position });
    }

    /// MySQL searches for a table of the new name before anything else.
    ///
    /// # Errors
    /// 1050
    fn ensure_new_name_is_free(&self, actions: &[AlterAction<'_>]) -> Result<(), SqlError> {
        let named = actions.iter().rev().find_map(|action| match action {
            AlterAction::RenameTable(name) => Some(name),
            _ => None,
        });
        let Some(new) =
            named.map(|name| FullName::resolve(self.session.database.as_deref(), name)).transpose()?
        else {
            return Ok(());
        };
        if new != *self.name && self.engine.table(&new.schema, &new.table).is_ok() {
            return Err(error_map::TABLE_EXISTS.with(&[&new.table]));
        }
        Ok(())
    }

    /// Every name that is dropped was one.
    ///
    /// # Errors
    /// 1091
    fn ensure_dropped(&self, actions: &[AlterAction<'_>]) -> Result<(), SqlError> {
        let (mut columns, mut keys) = (self.columns.drops.as_slice(), self.keys.drops.as_slice());
        let mut missing = None;
        // Of actions that drop the same, the first found it.
        for action in actions.iter().rev() {
            let (left, name) = match action {
                AlterAction::DropColumn(name) => (&mut columns, *name),
                AlterAction::DropKey(name) | AlterAction::DropConstraint(name) => (&mut keys, *name),
                AlterAction::DropPrimaryKey => (&mut keys, "PRIMARY"),
                _ => continue,
            };
            if let Some((_, rest)) = left.split_last().filter(|(last, _)| **last == name) {
                (*left, missing) = (rest, Some(name));
            }
        }
        missing.map_or(Ok(()), |name| Err(error_map::CANT_DROP_FIELD_OR_KEY.with(&[&name])))
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

    /// The columns of ORDER BY. A clustered key that is declared decides the order instead.
    ///
    /// # Errors
    /// 1054 for columns that the table did not have.
    fn settle_order(&mut self, def: &TableDef) -> Result<Vec<(u16, bool)>, SqlError> {
        if self.order.is_empty() {
            return Ok(Vec::new());
        }
        let is_clustered = |index: &IndexDef| key::rank(index, &def.columns) <= key::PRIMARY_RANK_MAX;
        if !declared_indexes(def).any(is_clustered) {
            let position =
                |(column, desc): &(ColumnRef<'_>, bool)| Ok((self.ordering_column(column)?, *desc));
            return self.order.iter().map(position).collect();
        }
        let text = format!(
            "ORDER BY ignored as there is a user-defined clustered index in the table '{}'",
            self.name.table
        );
        self.session.warn(Severity::Warning, error_map::UNKNOWN.with_message(text));
        Ok(Vec::new())
    }

    /// The place in the old table of a column of ORDER BY.
    fn ordering_column(&self, column: &ColumnRef<'_>) -> Result<u16, SqlError> {
        let ColumnRef { schema, table, column } = *column;
        let is_of_table = schema.is_none_or(|schema| schema == self.name.schema)
            && table.is_none_or(|table| table == self.name.table);
        let mut columns = self.old.columns.iter();
        let position = columns.position(|known| is_of_table && known.name.eq_ignore_ascii_case(column));
        let unknown = || {
            let name = [schema, table, Some(column)].into_iter().flatten().collect::<Vec<_>>().join(".");
            error_map::BAD_FIELD.with(&[&name, &"order clause"])
        };
        position.map(|position| position as u16).ok_or_else(unknown)
    }

    fn rename(&mut self, def: &mut TableDef) -> Result<(), SqlError> {
        if let Some(name) = &self.new_name {
            let name = FullName::resolve(self.session.database.as_deref(), name)?;
            names::ensure_table_name(&name.table)?;
            (def.schema, def.name) = (name.schema.into(), name.table.into());
        }
        Ok(())
    }
}

/// Makes `new` the definition `old` if they differ in the order of keys alone: keys that are dropped and
/// added as they were keep their places where nothing else changes.
fn keep_if_same(old: &TableDef, new: &mut TableDef) {
    let is_old = |index: &IndexDef| {
        let mut named = old.indexes.iter().filter(|before| before.name == index.name);
        named.any(|before| IndexDef { id: before.id, ..index.clone() } == *before)
    };
    if new.indexes.len() == old.indexes.len()
        && new.indexes.iter().all(is_old)
        && (TableDef { indexes: old.indexes.clone(), ..new.clone() }) == *old
    {
        new.indexes.clone_from(&old.indexes);
    }
}

/// Whether MySQL copies the rows for ORDER BY, or for ENABLE and DISABLE KEYS beside other actions.
fn asks_for_copy(actions: &[AlterAction<'_>]) -> bool {
    actions.iter().any(|action| match action {
        AlterAction::OrderBy(_) => true,
        AlterAction::EnableKeys(_) => actions.len() > 1,
        _ => false,
    })
}

/// The first number of a column that gets AUTO_INCREMENT; `None`: numbers continue after those of the column
/// that had it, which stays.
fn first_number(old: &TableDef, columns: &[NewColumn<'_>]) -> Option<u64> {
    let was_numbered =
        |column: &NewColumn<'_>| column.old.is_some_and(|at| old.columns[usize::from(at)].auto_increment);
    let is_numbered = columns.iter().any(|column| column.def.auto_increment);
    (is_numbered && !columns.iter().any(was_numbered)).then_some(1)
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
