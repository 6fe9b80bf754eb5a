//! ALTER TABLE, CREATE INDEX, DROP INDEX.
//!
//! Actions are checked against the definition that the statement finds, then all of them are one change of
//! the engine's.

use std::sync::Arc;

use engine::{Engine, Error, InitialValues, NewColumns, Table};
use exec::ExecError;
use sql::ast::{AlterAction, AlterTable, Constraint, CreateIndex, DropIndex, KeyDefinition, TableName};
use types::TableDef;

use super::alter_kind::{AlgorithmAndLock, Kind};
use super::alter_plan::{self, Planned, Planner};
use super::{Done, alter_rows, build_options, key, row_default};
use crate::catalog::open_table;
use crate::diagnostics::Severity;
use crate::error_map::{self, SqlError};
use crate::exec_error;
use crate::full_name::FullName;
use crate::inputs::Inputs;
use crate::memory_limits;
use crate::session::Session;
use crate::table_locks::lock_wait;

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

fn change(
    session: &mut Session,
    engine: &Arc<Engine>,
    table: &TableName<'_>,
    actions: &[AlterAction<'_>],
    requested: AlgorithmAndLock,
    inputs: Inputs<'_>,
) -> Result<Done, SqlError> {
    let name = FullName::resolve(session.database.as_deref(), table)?;
    let first_warning = session.diagnostics.warning_count();
    let read = alter_plan::read(session, &name.table, actions, inputs)?;
    let warnings = session.diagnostics.warning_count();
    loop {
        let old = open_table(session, engine, &name)?;
        if actions.is_empty() && requested == (None, None) {
            return Ok(Done::default());
        }
        let planned = Planner::new(session, engine, inputs, &name, &old.def, &read).plan()?;
        let strict = session.variables.hot.sql_mode.is_strict();
        let initial = match alter_rows::initial_values(session, engine, &old, &planned) {
            Ok(initial) => initial,
            Err(error) => return Err(exec_error::sql_error(&error, &session.variables.hot.time_zone)),
        };
        let kind = Kind::of(&old.def, &planned, requested, strict, initial.is_some());
        kind.ensure_requested(requested)?;
        if let Some(unknown) = &planned.unknown {
            return Err(unknown.clone().refuse(session, &name.table, kind.copies.is_none()));
        }
        ensure_primary_key(session, &old.def, &planned.alteration.def)?;
        let new = &planned.alteration.def;
        let new_name = FullName { schema: new.schema.to_string(), table: new.name.to_string() };
        let defaults = row_default::bound(session, new, &planned.old_columns)?;
        let numbers = kind.copies.is_some().then(|| numbered_key(new)).flatten();
        let columns = (initial.as_ref(), &*defaults);
        match make(session, engine, &old, planned, (kind, requested), columns) {
            // Another statement has altered it since it was looked up.
            Err(ExecError::Engine(Error::TableChanged)) if !old.is_current() => {
                session.diagnostics.truncate(warnings);
            }
            Err(ExecError::Memory(exceeded) | ExecError::Engine(Error::Memory(exceeded))) => {
                return Err(memory_limits::refuse(&session.process, exceeded));
            }
            Err(error) => return Err(refusal(session, &error, numbers.as_deref())),
            Ok(copied) => {
                note_keys(session, actions, &name.table);
                if let Some(locks) = &mut session.table_locks {
                    locks.rename(&name, &new_name);
                }
                if is_simple(actions) {
                    return Ok(Done::default());
                }
                return Ok(done(copied, session.diagnostics.warning_count() - first_warning));
            }
        }
    }
}

/// Makes the change of `old` that was planned; returns how many rows MySQL counts as copied. `initial`: what
/// rows show in columns that come while they stay. `defaults`: of new columns that are expressions.
fn make(
    session: &mut Session,
    engine: &Arc<Engine>,
    old: &Arc<Table>,
    planned: Planned,
    (kind, requested): (Kind, AlgorithmAndLock),
    (initial, defaults): (Option<&InitialValues>, &[(u16, expr::Expr)]),
) -> Result<u64, ExecError> {
    if kind.rebuilds {
        return alter_rows::rebuild(session, engine, old, planned, (kind, requested.1), defaults);
    }
    let Planned { alteration, old_columns, .. } = planned;
    if let (true, Some(initial)) = (kind.changes_columns, initial) {
        let columns = NewColumns { kept: &old_columns, initial };
        engine.change_columns(&old.def, alteration, columns, lock_wait(session))?;
    } else if alteration.def != *old.def || alteration.auto_increment.is_some() {
        engine.alter_table(&old.def, alteration, &build_options(session, requested.1), lock_wait(session))?;
    }
    Ok(0)
}

/// InnoDB has no keys that it could enable or disable.
fn note_keys(session: &mut Session, actions: &[AlterAction<'_>], table: &str) {
    if actions.iter().any(|action| matches!(action, AlterAction::EnableKeys(_))) {
        session.warn(Severity::Note, error_map::ILLEGAL_HA.with(&[&table]));
    }
}

/// The first key, if it begins with the AUTO_INCREMENT column.
fn numbered_key(def: &TableDef) -> Option<Box<str>> {
    let first = def.indexes.iter().min_by_key(|index| key::rank(index, &def.columns))?;
    let column = &def.columns[usize::from(first.parts.first()?.column)];
    column.auto_increment.then(|| first.name.clone())
}

/// The client's error. A number that is there twice in the key `numbers` is said to come from numbering.
#[cold]
fn refusal(session: &Session, error: &ExecError, numbers: Option<&str>) -> SqlError {
    let text = exec_error::sql_error(error, &session.variables.hot.time_zone);
    match error {
        ExecError::Engine(Error::DuplicateKey(duplicate)) if Some(&*duplicate.index) == numbers => {
            let cause = "ALTER TABLE causes auto_increment resequencing, resulting in duplicate entry";
            error_map::DUP_ENTRY.with_message(text.message.replacen("Duplicate entry", cause, 1))
        }
        _ => text,
    }
}

/// Whether MySQL makes the change without a new definition, and so without a message about rows.
fn is_simple(actions: &[AlterAction<'_>]) -> bool {
    !actions.is_empty()
        && actions
            .iter()
            .all(|action| matches!(action, AlterAction::RenameTable(_) | AlterAction::EnableKeys(_)))
}

/// MySQL's message about the rows that were copied; other changes have none.
fn done(copied: u64, warnings: u64) -> Done {
    Done { affected: copied, info: format!("Records: {copied}  Duplicates: 0  Warnings: {warnings}") }
}

/// The table must have a primary key afterwards where the session asks for one, unless the statement only
/// renames it.
///
/// # Errors
/// 3750.
fn ensure_primary_key(session: &Session, old: &TableDef, new: &TableDef) -> Result<(), SqlError> {
    let renamed = TableDef { schema: old.schema.clone(), name: old.name.clone(), ..new.clone() };
    if renamed == *old {
        return Ok(());
    }
    let keys = &new.indexes[usize::from(new.hidden_row_id)..];
    key::ensure_primary(session, keys, &new.columns, key::PRIMARY_RANK_MAX)
}
