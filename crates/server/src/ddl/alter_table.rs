//! ALTER TABLE, CREATE INDEX, DROP INDEX.
//!
//! Actions are checked before the first is done, and done one by one; if one fails, those before it are taken back.

use std::sync::Arc;

use engine::{Engine, ExclusiveWait};
use sql::ast::{
    Algorithm, AlterAction, AlterTable, Constraint, CreateIndex, DropIndex, KeyDefinition, LockOption,
    TableName,
};
use types::{IndexDef, TableDef};

use super::alter_plan::{Planner, Step};
use super::names::FullName;
use super::{Done, drop_table, key, lock_wait, refused};
use crate::constant::Inputs;
use crate::error_map::{self, SqlError};
use crate::session::Session;

/// CREATE INDEX.
pub(super) fn create_index(
    session: &mut Session,
    engine: &Arc<Engine>,
    create: &CreateIndex<'_>,
    inputs: Inputs<'_>,
) -> Result<Done, SqlError> {
    let definition = KeyDefinition {
        kind: create.kind,
        constraint: None,
        name: Some(create.name),
        parts: create.parts,
        options: create.options,
    };
    let action = AlterAction::AddConstraint(Constraint::Key(definition));
    change(session, engine, &create.table, &[action], (create.algorithm, create.lock), inputs)
}

/// DROP INDEX.
pub(super) fn drop_index(
    session: &mut Session,
    engine: &Arc<Engine>,
    drop: &DropIndex<'_>,
    inputs: Inputs<'_>,
) -> Result<Done, SqlError> {
    let action = AlterAction::DropKey(drop.name);
    change(session, engine, &drop.table, &[action], (drop.algorithm, drop.lock), inputs)
}

/// ALTER TABLE.
pub(super) fn alter(
    session: &mut Session,
    engine: &Arc<Engine>,
    alter: &AlterTable<'_>,
    inputs: Inputs<'_>,
) -> Result<Done, SqlError> {
    change(session, engine, &alter.table, alter.actions, (alter.algorithm, alter.lock), inputs)
}

/// ALGORITHM and LOCK of a statement.
type Manner = (Option<Algorithm>, Option<LockOption>);

/// Indexes are built in place under an exclusive lock: what asks for less is refused.
fn ensure_manner((algorithm, lock): Manner) -> Result<(), SqlError> {
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
    manner: Manner,
    inputs: Inputs<'_>,
) -> Result<Done, SqlError> {
    let name = FullName::resolve(session, table)?;
    let old = name.open(session, engine)?;
    let steps = Planner::new(session, inputs, &name, &old.def).plan(actions)?;
    ensure_manner(manner)?;
    ensure_primary_key(session, &old.def, &steps)?;
    let mut runner = Runner { session, engine, table, name: &name, undo: Vec::new() };
    for step in &steps {
        if let Err(error) = runner.run(step) {
            runner.take_back()?;
            return Err(error);
        }
    }
    Ok(Done { affected: 0, info: "Records: 0  Duplicates: 0  Warnings: 0".to_owned() })
}

/// The table must have a primary key afterwards where the session asks for one, unless it gets but another name.
///
/// # Errors
/// 3750.
fn ensure_primary_key(session: &Session, old: &TableDef, steps: &[Step<'_>]) -> Result<(), SqlError> {
    let mut indexes = old.indexes.clone();
    if old.hidden_row_id {
        indexes.remove(0);
    }
    for step in steps {
        match step {
            Step::AddIndex(index) => indexes.push(index.clone()),
            Step::DropIndex(name) => indexes.retain(|index| !index.name.eq_ignore_ascii_case(name)),
            Step::AutoIncrement(_) | Step::Words(_) | Step::Rename(_) => {}
        }
    }
    if steps.iter().all(|step| matches!(step, Step::Rename(_))) {
        return Ok(());
    }
    key::ensure_primary(session, &indexes, &old.columns, key::SERVES_AS_PRIMARY)
}

/// How a step is taken back.
enum Undo {
    DropIndex(Box<str>),
    AddIndex(IndexDef),
    Redefine(Box<TableDef>),
}

/// Does steps and remembers how to take them back.
struct Runner<'a> {
    session: &'a Session,
    engine: &'a Arc<Engine>,
    table: &'a TableName<'a>,
    name: &'a FullName,
    undo: Vec<Undo>,
}

impl Runner<'_> {
    fn run(&mut self, step: &Step<'_>) -> Result<(), SqlError> {
        if let Step::Rename(to) = step {
            return drop_table::rename_one(self.session, self.engine, self.table, to).map(|_| ());
        }
        self.change(step).map_err(|error| refused(self.session, &error))
    }

    fn change(&mut self, step: &Step<'_>) -> engine::Result<()> {
        let (schema, name, wait) = (&self.name.schema, &self.name.table, lock_wait(self.session));
        match step {
            Step::AddIndex(index) => {
                self.engine.create_index(schema, name, index.clone(), wait)?;
                self.undo.push(Undo::DropIndex(index.name.clone()));
            }
            Step::DropIndex(index) => {
                let before = self.engine.table(schema, name)?;
                self.engine.drop_index(schema, name, index, wait)?;
                self.undo.extend(before.def.find_index(index).cloned().map(Undo::AddIndex));
            }
            // Never taken back: numbers may have gaps.
            Step::AutoIncrement(next) => {
                self.engine.table(schema, name)?.set_auto_increment(self.engine, *next)?;
            }
            Step::Words(words) => {
                let before = self.engine.table(schema, name)?;
                self.engine.redefine_table(words.apply(&before.def), wait)?;
                self.undo.push(Undo::Redefine(Box::new((*before.def).clone())));
            }
            Step::Rename(_) => {}
        }
        Ok(())
    }

    /// Undoes what was done, the last first.
    fn take_back(self) -> Result<(), SqlError> {
        let (schema, name) = (&self.name.schema, &self.name.table);
        // Nothing stops this: half of a statement's effect would stay.
        let wait = || ExclusiveWait { client: None, ..lock_wait(self.session) };
        let back = |undo: Undo| match undo {
            Undo::DropIndex(index) => self.engine.drop_index(schema, name, &index, wait()),
            Undo::AddIndex(index) => self.engine.create_index(schema, name, index, wait()),
            Undo::Redefine(def) => self.engine.redefine_table(*def, wait()),
        };
        self.undo.into_iter().rev().try_for_each(back).map_err(|error| refused(self.session, &error))
    }
}
