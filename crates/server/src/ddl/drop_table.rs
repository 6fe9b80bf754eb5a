//! DROP TABLE, DROP VIEW, TRUNCATE TABLE, RENAME TABLE.

use std::sync::Arc;

use engine::{Engine, Error, NameError};
use sql::ast::{DropTable, TableName};

use super::names;
use super::{Done, refused};
use crate::diagnostics::Severity;
use crate::error_map::{self, SqlError};
use crate::full_name::FullName;
use crate::session::Session;
use crate::table_locks::lock_wait;

/// DROP TABLE: all tables, or none. Without IF EXISTS that means none unless all are there.
pub(super) fn drop(
    session: &mut Session,
    engine: &Arc<Engine>,
    drop: &DropTable<'_>,
) -> Result<Done, SqlError> {
    let names = resolve_all(session, drop.tables)?;
    // There are no temporary tables.
    let is_there = |name: &FullName| !drop.temporary && engine.table(&name.schema, &name.table).is_ok();
    loop {
        let (there, missing): (Vec<&FullName>, Vec<&FullName>) =
            names.iter().partition(|name| is_there(name));
        if !drop.if_exists {
            ensure_none_missing(&missing)?;
        }
        let tables: Vec<(&str, &str)> = there.iter().map(|name| name.as_pair()).collect();
        match engine.drop_tables(&tables, lock_wait(session)) {
            // Another statement has dropped one since it was looked up.
            Err(Error::Name(error)) if matches!(*error, NameError::NoTableToDrop { .. }) => {}
            dropped => {
                dropped.map_err(|error| refused(session, &error))?;
                note_missing(session, &missing);
                return Ok(Done::default());
            }
        }
    }
}

/// DROP VIEW: there are no views.
pub(super) fn drop_view(
    session: &mut Session,
    engine: &Arc<Engine>,
    drop: &DropTable<'_>,
) -> Result<Done, SqlError> {
    let names = resolve_all(session, drop.tables)?;
    if let Some(table) = names.iter().find(|name| engine.table(&name.schema, &name.table).is_ok()) {
        return Err(error_map::WRONG_OBJECT.with(&[&table.schema, &table.table, &"VIEW"]));
    }
    let missing: Vec<&FullName> = names.iter().collect();
    if !drop.if_exists {
        ensure_none_missing(&missing)?;
    }
    note_missing(session, &missing);
    Ok(Done::default())
}

fn resolve_all(session: &Session, tables: &[TableName<'_>]) -> Result<Vec<FullName>, SqlError> {
    let mut names: Vec<FullName> = Vec::with_capacity(tables.len());
    for table in tables {
        let name = FullName::resolve(session.database.as_deref(), table)?;
        if names.contains(&name) {
            return Err(error_map::NONUNIQ_TABLE.with(&[&name.table]));
        }
        names.push(name);
    }
    Ok(names)
}

/// One error for all missing tables.
fn ensure_none_missing(missing: &[&FullName]) -> Result<(), SqlError> {
    if missing.is_empty() {
        return Ok(());
    }
    let all = missing.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    Err(error_map::BAD_TABLE.with(&[&all]))
}

/// A note for each missing table, under IF EXISTS.
fn note_missing(session: &mut Session, missing: &[&FullName]) {
    for name in missing {
        session.warn(Severity::Note, error_map::BAD_TABLE.with(&[name]));
    }
}

/// TRUNCATE TABLE.
pub(super) fn truncate(
    session: &Session,
    engine: &Arc<Engine>,
    table: &TableName<'_>,
) -> Result<Done, SqlError> {
    let name = FullName::resolve(session.database.as_deref(), table)?;
    match engine.truncate_table(&name.schema, &name.table, lock_wait(session)) {
        // MySQL does not check the schema by itself here.
        Err(Error::Name(error)) if matches!(*error, NameError::UnknownSchema(_)) => {
            Err(error_map::NO_SUCH_TABLE.with(&[&name.schema, &name.table]))
        }
        result => result.map(|()| Done::default()).map_err(|error| refused(session, &error)),
    }
}

/// RENAME TABLE: all pairs, or none.
pub(super) fn rename(
    session: &mut Session,
    engine: &Arc<Engine>,
    pairs: &[(TableName<'_>, TableName<'_>)],
) -> Result<Done, SqlError> {
    let mut names: Vec<(FullName, FullName)> = Vec::with_capacity(pairs.len());
    for (from, to) in pairs {
        let pair = (
            FullName::resolve(session.database.as_deref(), from)?,
            FullName::resolve(session.database.as_deref(), to)?,
        );
        names::ensure_table_name(&pair.1.table)?;
        names.push(pair);
    }
    let pairs: Vec<_> = names.iter().map(|(from, to)| (from.as_pair(), to.as_pair())).collect();
    let renamed = engine.rename_tables(&pairs, lock_wait(session));
    renamed.map_err(|error| refused(session, &error))?;
    if let Some(locks) = &mut session.table_locks {
        for (from, to) in &names {
            locks.rename(from, to);
        }
    }
    Ok(Done::default())
}
