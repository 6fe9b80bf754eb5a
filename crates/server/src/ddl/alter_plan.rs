//! ALTER TABLE: from actions to the definition that the table is to have, checked against the one that it has.

use engine::Alteration;
use sql::ast::{AlterAction, ColumnDefinition, ColumnPosition, Constraint, Expr, TableName, TableOption};
use types::{ColumnDefault, IndexDef, TableDef};

use super::names::{self, FullName};
use super::{column, default_value, key, not_yet, table_options};
use crate::constant::Inputs;
use crate::diagnostics::Severity;
use crate::error_map::{self, SqlError};
use crate::session::Session;

/// Applies actions to a definition. Names in actions are those before the statement; added keys name columns as they will be.
pub(super) struct Planner<'a, 'p> {
    pub(super) session: &'p mut Session,
    pub(super) inputs: Inputs<'p>,
    pub(super) name: &'p FullName,
    pub(super) old: &'p TableDef,
    def: TableDef,
    auto_increment: Option<u64>,
    /// Old and new names of indexes.
    renamed: Vec<(Box<str>, Box<str>)>,
    new_name: Option<TableName<'a>>,
}

impl<'a, 'p> Planner<'a, 'p> {
    pub(super) fn new(
        session: &'p mut Session,
        inputs: Inputs<'p>,
        name: &'p FullName,
        old: &'p TableDef,
    ) -> Self {
        let def = old.clone();
        let renamed = Vec::new();
        Planner { session, inputs, name, old, def, auto_increment: None, renamed, new_name: None }
    }

    /// What all actions make of the table; `None`: they change nothing.
    ///
    /// # Errors
    /// MySQL's for what cannot be done to this table; 1235 for actions that are not supported.
    pub(super) fn plan(mut self, actions: &[AlterAction<'a>]) -> Result<Option<Alteration>, SqlError> {
        let is_addition = |action: &&AlterAction<'_>| {
            matches!(action, AlterAction::AddConstraint(_) | AlterAction::AddElements([], _))
        };
        for action in actions.iter().filter(|action| !is_addition(action)) {
            self.action(action)?;
        }
        for index in &mut self.def.indexes {
            let renamed = self.renamed.iter().find(|(old, _)| old.eq_ignore_ascii_case(&index.name));
            if let Some((_, new)) = renamed {
                index.name.clone_from(new);
            }
        }
        // New keys find columns and other keys as the statement leaves them, wherever it says so.
        for action in actions.iter().filter(is_addition) {
            self.action(action)?;
        }
        if let Some(name) = &self.new_name {
            let name = FullName::resolve(self.session, name)?;
            names::ensure_table_name(&name.table)?;
            (self.def.schema, self.def.name) = (name.schema.into(), name.table.into());
        }
        let Planner { old, def, auto_increment, .. } = self;
        let changes = def != *old || auto_increment.is_some();
        Ok(changes.then_some(Alteration { def, auto_increment }))
    }

    fn action(&mut self, action: &AlterAction<'a>) -> Result<(), SqlError> {
        match action {
            AlterAction::AddConstraint(constraint) => self.add(constraint),
            AlterAction::AddElements([], constraints) => constraints.iter().try_for_each(|one| self.add(one)),
            AlterAction::DropKey(name) | AlterAction::DropConstraint(name) => self.drop(name),
            AlterAction::DropPrimaryKey => self.drop("PRIMARY"),
            AlterAction::RenameKey(old, new) => self.rename_key(old, new),
            AlterAction::RenameColumn(old, new) => self.rename_column(old, new),
            AlterAction::SetDefault(name, value, parenthesised) => {
                self.set_default(name, value, *parenthesised)
            }
            AlterAction::DropDefault(name) => self.drop_default(name),
            AlterAction::ModifyColumn(column, ColumnPosition::Unchanged) => {
                self.redefine(column.name, column)
            }
            AlterAction::ChangeColumn(old, column, ColumnPosition::Unchanged) => self.redefine(old, column),
            AlterAction::RenameTable(name) => {
                self.new_name = Some(*name);
                Ok(())
            }
            AlterAction::EnableKeys(_) => {
                let note = error_map::ILLEGAL_HA.with(&[&self.name.table]);
                self.session.warn(Severity::Note, note);
                Ok(())
            }
            AlterAction::Option(TableOption::AutoIncrement(next)) => {
                self.auto_increment = Some(*next);
                Ok(())
            }
            AlterAction::Option(TableOption::Comment(text)) => {
                table_options::ensure_comment_length(&self.name.table, text)?;
                self.def.comment = (*text).into();
                Ok(())
            }
            other => Err(not_yet(unsupported(other))),
        }
    }

    fn add(&mut self, constraint: &Constraint<'_>) -> Result<(), SqlError> {
        let definition = match constraint {
            Constraint::Key(definition) => definition,
            Constraint::ForeignKey(_) => return Err(not_yet("FOREIGN KEY constraints")),
            Constraint::Check(_) => return Err(not_yet("CHECK constraints")),
        };
        let index = key::index(self.session, definition, &self.def.columns, &self.def.indexes)?;
        key::warn_if_repeated(self.session, &index, &self.def.indexes, self.name);
        self.def.indexes.push(index);
        Ok(())
    }

    /// Position of an index that was declared.
    fn index(&self, name: &str) -> Option<usize> {
        let is_it = |index: &IndexDef| index.name.eq_ignore_ascii_case(name) && !index.parts.is_empty();
        self.def.indexes.iter().position(is_it)
    }

    fn drop(&mut self, name: &str) -> Result<(), SqlError> {
        let Some(position) = self.index(name) else {
            return Err(error_map::CANT_DROP_FIELD_OR_KEY.with(&[&name]));
        };
        self.def.indexes.remove(position);
        Ok(())
    }

    fn rename_key(&mut self, old: &str, new: &str) -> Result<(), SqlError> {
        names::ensure_key_name(old)?;
        names::ensure_key_name(new)?;
        let Some(position) = self.index(old) else {
            return Err(error_map::KEY_DOES_NOT_EXIST.with(&[&old, &self.name.table]));
        };
        if self.index(new).is_some_and(|other| other != position) {
            return Err(error_map::DUP_KEYNAME.with(&[&new]));
        }
        self.renamed.push((old.into(), new.into()));
        Ok(())
    }

    /// Position of a column, by its name before the statement.
    fn column(&self, name: &str) -> Result<usize, SqlError> {
        let unknown = || error_map::BAD_FIELD.with(&[&name, &self.name.table]);
        self.old.find_column(name).ok_or_else(unknown)
    }

    fn rename_column(&mut self, old: &str, new: &str) -> Result<(), SqlError> {
        let position = self.column(old)?;
        names::ensure_column_name(new)?;
        self.def.columns[position].name = new.into();
        Ok(())
    }

    fn set_default(&mut self, name: &str, value: &Expr<'_>, parenthesised: bool) -> Result<(), SqlError> {
        let position = self.column(name)?;
        let column = &mut self.def.columns[position];
        let place = (&*column.name, &column.ty);
        let value = default_value::column_default(self.session, place, (value, parenthesised), self.inputs)?;
        if column.auto_increment || value == ColumnDefault::Null && !column.nullable {
            return Err(error_map::INVALID_DEFAULT.with(&[&name]));
        }
        column.default = value;
        Ok(())
    }

    fn drop_default(&mut self, name: &str) -> Result<(), SqlError> {
        let position = self.column(name)?;
        let column = &mut self.def.columns[position];
        if column.nullable {
            return Err(not_yet("DROP DEFAULT of columns that may be NULL"));
        }
        column.default = ColumnDefault::None;
        Ok(())
    }

    /// MODIFY and CHANGE, as far as values stay what they are.
    fn redefine(&mut self, old: &str, written: &ColumnDefinition<'_>) -> Result<(), SqlError> {
        let position = self.column(old)?;
        let new = column::column(self.session, written, self.old.collation, self.inputs)?;
        let present = &mut self.def.columns[position];
        let is_same = |a: &types::ColumnDef, b: &types::ColumnDef| {
            (&a.ty, a.auto_increment, a.nullable) == (&b.ty, b.auto_increment, b.nullable)
        };
        // A column of the primary key is NOT NULL without saying so.
        let is_key = self.old.clustered().parts.iter().any(|part| usize::from(part.column) == position);
        let new_def = types::ColumnDef {
            id: present.id,
            nullable: new.def.nullable && !(is_key && !present.nullable && !new.explicit_null),
            ..new.def
        };
        if !new.keys.is_empty() || !is_same(present, &new_def) {
            return Err(not_yet("ALTER TABLE ... MODIFY COLUMN"));
        }
        *present = new_def;
        Ok(())
    }
}

fn unsupported(action: &AlterAction<'_>) -> &'static str {
    match action {
        AlterAction::AddColumn(..) | AlterAction::AddElements(..) => "ALTER TABLE ... ADD COLUMN",
        AlterAction::DropColumn(_) => "ALTER TABLE ... DROP COLUMN",
        AlterAction::ModifyColumn(..) | AlterAction::ChangeColumn(..) => "ALTER TABLE ... MODIFY COLUMN",
        AlterAction::DropForeignKey(_) => "FOREIGN KEY constraints",
        AlterAction::DropCheck(_) | AlterAction::SetEnforced(..) => "CHECK constraints",
        AlterAction::SetColumnVisible(..) | AlterAction::SetKeyVisible(..) => "INVISIBLE columns and keys",
        AlterAction::ConvertTo(..) => "ALTER TABLE ... CONVERT TO",
        AlterAction::Tablespace(_) => "DISCARD and IMPORT TABLESPACE",
        AlterAction::Partition => "partitions",
        _ => "this form of ALTER TABLE",
    }
}
