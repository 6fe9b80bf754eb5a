//! ALTER TABLE, CREATE INDEX, DROP INDEX.
//!
//! Actions are checked against the definition that the statement finds, then all of them are one change of the engine's.

use std::sync::Arc;

use engine::{Alteration, Engine, Error};
use sql::ast::{
    Algorithm, AlterAction, AlterTable, Constraint, CreateIndex, DropIndex, KeyDefinition, LockOption,
    TableName,
};
use types::TableDef;

use super::alter_plan::Planner;
use super::names::FullName;
use super::{Done, key, lock_wait, refused};
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
    let warnings = session.diagnostics.warning_count();
    loop {
        let old = name.open(session, engine)?;
        let planned = Planner::new(session, inputs, &name, &old.def).plan(actions)?;
        ensure_manner(manner)?;
        if let Some(Alteration { def, .. }) = &planned {
            ensure_primary_key(session, &old.def, def)?;
        }
        let altered = match planned {
            Some(alteration) => engine.alter_table(&old.def, alteration, lock_wait(session)),
            None => Ok(()),
        };
        match altered {
            // Another statement has altered it since it was looked up.
            Err(Error::TableChanged) => session.diagnostics.truncate(warnings),
            altered => {
                altered.map_err(|error| refused(session, &error))?;
                return Ok(Done { affected: 0, info: "Records: 0  Duplicates: 0  Warnings: 0".to_owned() });
            }
        }
    }
}

/// The table must have a primary key afterwards where the session asks for one, unless it gets but another name.
///
/// # Errors
/// 3750.
fn ensure_primary_key(session: &Session, old: &TableDef, new: &TableDef) -> Result<(), SqlError> {
    let renamed = TableDef { schema: old.schema.clone(), name: old.name.clone(), ..new.clone() };
    if renamed == *old {
        return Ok(());
    }
    let keys = &new.indexes[usize::from(new.hidden_row_id)..];
    key::ensure_primary(session, keys, &new.columns, key::SERVES_AS_PRIMARY)
}
