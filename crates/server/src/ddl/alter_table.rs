//! ALTER TABLE, CREATE INDEX, DROP INDEX.
//!
//! Actions are checked before the first is done, and done one by one; if one fails, those before it are taken back.

use std::sync::Arc;

use engine::{Engine, Table};
use sql::ast::{
    Algorithm, AlterAction, AlterTable, Constraint, CreateIndex, DropIndex, KeyDefinition, LockOption,
    TableName, TableOption,
};
use types::{IndexDef, TableDef};

use super::names::FullName;
use super::{Done, drop_table, key, lock_wait, not_yet, refused};
use crate::diagnostics::Severity;
use crate::error_map::{self, SqlError};
use crate::session::Session;

/// A change of a table's indexes or counters.
enum Step {
    Add(IndexDef),
    Drop(IndexDef),
    AutoIncrement(u64),
}

/// CREATE INDEX.
pub(super) fn create_index(
    session: &mut Session,
    engine: &Arc<Engine>,
    create: &CreateIndex<'_>,
) -> Result<Done, SqlError> {
    check_manner(create.algorithm, create.lock)?;
    let definition = KeyDefinition {
        kind: create.kind,
        constraint: None,
        name: Some(create.name),
        parts: create.parts,
        options: create.options,
    };
    let action = AlterAction::AddConstraint(Constraint::Key(definition));
    change(session, engine, &create.table, &[action])
}

/// DROP INDEX.
pub(super) fn drop_index(
    session: &mut Session,
    engine: &Arc<Engine>,
    drop: &DropIndex<'_>,
) -> Result<Done, SqlError> {
    check_manner(drop.algorithm, drop.lock)?;
    change(session, engine, &drop.table, &[AlterAction::DropKey(drop.name)])
}

/// ALTER TABLE.
pub(super) fn alter(
    session: &mut Session,
    engine: &Arc<Engine>,
    alter: &AlterTable<'_>,
) -> Result<Done, SqlError> {
    check_manner(alter.algorithm, alter.lock)?;
    change(session, engine, &alter.table, alter.actions)
}

/// Indexes are built in place under an exclusive lock: what asks for less is refused.
fn check_manner(algorithm: Option<Algorithm>, lock: Option<LockOption>) -> Result<(), SqlError> {
    let refuse =
        |what: &str, instead: &str| Err(error_map::ALTER_OPERATION_NOT_SUPPORTED.with(&[&what, &instead]));
    if algorithm == Some(Algorithm::Instant) {
        return refuse("ALGORITHM=INSTANT", "ALGORITHM=COPY/INPLACE");
    }
    match lock {
        Some(LockOption::None) => refuse("LOCK=NONE", "LOCK=EXCLUSIVE"),
        Some(LockOption::Shared) => refuse("LOCK=SHARED", "LOCK=EXCLUSIVE"),
        None | Some(LockOption::Default | LockOption::Exclusive) => Ok(()),
    }
}

fn change(
    session: &mut Session,
    engine: &Arc<Engine>,
    table: &TableName<'_>,
    actions: &[AlterAction<'_>],
) -> Result<Done, SqlError> {
    let name = FullName::resolve(session, table)?;
    let table_now = name.open(session, engine)?;
    let mut planner =
        Planner { name: &name, def: (*table_now.def).clone(), steps: Vec::new(), new_name: None };
    for action in actions {
        planner.plan(session, action)?;
    }
    let Planner { steps, new_name, .. } = planner;
    run(session, engine, &name, &table_now, &steps)?;
    if let Some(new_name) = new_name
        && let Err(error) = drop_table::rename_one(session, engine, table, &new_name)
    {
        take_back(session, engine, &name, &steps)?;
        return Err(error);
    }
    Ok(Done { affected: 0, info: "Records: 0  Duplicates: 0  Warnings: 0".to_owned() })
}

/// Turns actions into steps, keeping track of the definition that each finds.
struct Planner<'a, 'n> {
    name: &'n FullName,
    def: TableDef,
    steps: Vec<Step>,
    new_name: Option<TableName<'a>>,
}

impl<'a> Planner<'a, '_> {
    fn plan(&mut self, session: &mut Session, action: &AlterAction<'a>) -> Result<(), SqlError> {
        match action {
            AlterAction::AddConstraint(constraint) => self.add(session, constraint),
            AlterAction::AddElements([], constraints) => {
                constraints.iter().try_for_each(|constraint| self.add(session, constraint))
            }
            AlterAction::DropKey(name) | AlterAction::DropConstraint(name) => self.drop(name),
            AlterAction::DropPrimaryKey => self.drop("PRIMARY"),
            AlterAction::RenameTable(name) => {
                self.new_name = Some(*name);
                Ok(())
            }
            AlterAction::EnableKeys(_) => {
                session.warn(Severity::Note, error_map::ILLEGAL_HA.with(&[&self.name.table]));
                Ok(())
            }
            AlterAction::Option(TableOption::AutoIncrement(next)) => {
                self.steps.push(Step::AutoIncrement(*next));
                Ok(())
            }
            other => Err(not_yet(unsupported(other))),
        }
    }

    fn add(&mut self, session: &mut Session, constraint: &Constraint<'_>) -> Result<(), SqlError> {
        let definition = match constraint {
            Constraint::Key(definition) => definition,
            Constraint::ForeignKey(_) => return Err(not_yet("FOREIGN KEY constraints")),
            Constraint::Check(_) => return Err(not_yet("CHECK constraints")),
        };
        let index = key::index(session, definition, &self.def.columns, &self.def.indexes)?;
        key::warn_if_repeated(session, &index, &self.def.indexes, self.name);
        self.def.indexes.push(index.clone());
        self.steps.push(Step::Add(index));
        Ok(())
    }

    fn drop(&mut self, name: &str) -> Result<(), SqlError> {
        let found = self
            .def
            .indexes
            .iter()
            .position(|index| index.name.eq_ignore_ascii_case(name) && !index.parts.is_empty());
        let Some(position) = found else {
            return Err(error_map::CANT_DROP_FIELD_OR_KEY.with(&[&name]));
        };
        self.steps.push(Step::Drop(self.def.indexes.remove(position)));
        Ok(())
    }
}

fn unsupported(action: &AlterAction<'_>) -> &'static str {
    match action {
        AlterAction::AddColumn(..) | AlterAction::AddElements(..) => "ALTER TABLE ... ADD COLUMN",
        AlterAction::DropColumn(_) => "ALTER TABLE ... DROP COLUMN",
        AlterAction::ModifyColumn(..) | AlterAction::ChangeColumn(..) => "ALTER TABLE ... MODIFY COLUMN",
        AlterAction::RenameColumn(..) => "ALTER TABLE ... RENAME COLUMN",
        AlterAction::RenameKey(..) => "ALTER TABLE ... RENAME INDEX",
        AlterAction::SetDefault(..) | AlterAction::DropDefault(_) => "ALTER TABLE ... ALTER COLUMN",
        AlterAction::DropForeignKey(_) => "FOREIGN KEY constraints",
        AlterAction::DropCheck(_) | AlterAction::SetEnforced(..) => "CHECK constraints",
        AlterAction::SetColumnVisible(..) | AlterAction::SetKeyVisible(..) => "INVISIBLE columns and keys",
        AlterAction::ConvertTo(..) => "ALTER TABLE ... CONVERT TO",
        AlterAction::Tablespace(_) => "DISCARD and IMPORT TABLESPACE",
        AlterAction::Partition => "partitions",
        _ => "this form of ALTER TABLE",
    }
}

fn run(
    session: &Session,
    engine: &Arc<Engine>,
    name: &FullName,
    table: &Arc<Table>,
    steps: &[Step],
) -> Result<(), SqlError> {
    for (number, step) in steps.iter().enumerate() {
        if let Err(error) = apply(session, engine, name, table, step) {
            take_back(session, engine, name, &steps[..number])?;
            return Err(refused(session, &error));
        }
    }
    Ok(())
}

fn apply(
    session: &Session,
    engine: &Arc<Engine>,
    name: &FullName,
    table: &Arc<Table>,
    step: &Step,
) -> engine::Result<()> {
    let (schema, table_name, wait) = (&name.schema, &name.table, lock_wait(session));
    match step {
        Step::Add(index) => engine.create_index(schema, table_name, index.clone(), wait),
        Step::Drop(index) => engine.drop_index(schema, table_name, &index.name, wait),
        // Counters belong to the table over all versions of its definition.
        Step::AutoIncrement(next) => table.set_auto_increment(engine, *next),
    }
}

/// Undoes `steps`, the last first. A counter that was raised stays so: numbers may have gaps.
fn take_back(
    session: &Session,
    engine: &Arc<Engine>,
    name: &FullName,
    steps: &[Step],
) -> Result<(), SqlError> {
    let (schema, table, wait) = (&name.schema, &name.table, lock_wait(session));
    let undo = |step: &Step| match step {
        Step::Add(index) => engine.drop_index(schema, table, &index.name, wait),
        Step::Drop(index) => engine.create_index(schema, table, index.clone(), wait),
        Step::AutoIncrement(_) => Ok(()),
    };
    steps.iter().rev().try_for_each(undo).map_err(|error| refused(session, &error))
}
