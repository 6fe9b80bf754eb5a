//! DROP TABLE, DROP VIEW, TRUNCATE TABLE, RENAME TABLE.

use std::sync::Arc;

use engine::{Engine, Error, NameError};
use sql::ast::{DropTable, TableName};

use super::names::{self, FullName};
use super::{Done, lock_wait, refused};
use crate::diagnostics::Severity;
use crate::error_map::{self, SqlError};
use crate::session::Session;

/// DROP TABLE. Without IF EXISTS, no table is dropped unless all are there.
pub(super) fn drop(
    session: &mut Session,
    engine: &Arc<Engine>,
    drop: &DropTable<'_>,
) -> Result<Done, SqlError> {
    let mut names = resolve_all(session, drop.tables)?;
    // There are no temporary tables.
    let is_there = |name: &FullName| !drop.temporary && engine.table(&name.schema, &name.table).is_ok();
    let missing = names.extract_if(.., |name| !is_there(name)).collect::<Vec<_>>();
    report_missing(session, &missing, drop.if_exists)?;
    for name in &names {
        let dropped = engine.drop_table(&name.schema, &name.table, lock_wait(session));
        dropped.map_err(|error| refused(session, &error))?;
    }
    Ok(Done::default())
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
    report_missing(session, &names, drop.if_exists)?;
    Ok(Done::default())
}

fn resolve_all(session: &Session, tables: &[TableName<'_>]) -> Result<Vec<FullName>, SqlError> {
    let mut names: Vec<FullName> = Vec::with_capacity(tables.len());
    for table in tables {
        let name = FullName::resolve(session, table)?;
        if names.contains(&name) {
            return Err(error_map::NONUNIQ_TABLE.with(&[&name.table]));
        }
        names.push(name);
    }
    Ok(names)
}

/// One error for all missing tables, or a note for each under IF EXISTS.
fn report_missing(session: &mut Session, missing: &[FullName], if_exists: bool) -> Result<(), SqlError> {
    if !if_exists && !missing.is_empty() {
        let all = missing.iter().map(FullName::to_string).collect::<Vec<_>>().join(",");
        return Err(error_map::BAD_TABLE.with(&[&all]));
    }
    for name in missing {
        session.warn(Severity::Note, error_map::BAD_TABLE.with(&[name]));
    }
    Ok(())
}

/// TRUNCATE TABLE.
pub(super) fn truncate(
    session: &Session,
    engine: &Arc<Engine>,
    table: &TableName<'_>,
) -> Result<Done, SqlError> {
    let name = FullName::resolve(session, table)?;
    match engine.truncate_table(&name.schema, &name.table, lock_wait(session)) {
        // MySQL does not look at the schema by itself here.
        Err(Error::Name(error)) if matches!(*error, NameError::UnknownSchema(_)) => {
            Err(error_map::NO_SUCH_TABLE.with(&[&name.schema, &name.table]))
        }
        result => result.map(|()| Done::default()).map_err(|error| refused(session, &error)),
    }
}

/// RENAME TABLE: pair after pair; if one fails, those before it are taken back.
pub(super) fn rename(
    session: &Session,
    engine: &Arc<Engine>,
    pairs: &[(TableName<'_>, TableName<'_>)],
) -> Result<Done, SqlError> {
    let mut done: Vec<(FullName, FullName)> = Vec::with_capacity(pairs.len());
    for (from, to) in pairs {
        let renamed = rename_one(session, engine, from, to);
        match renamed {
            Ok(pair) => done.push(pair),
            Err(error) => {
                for (from, to) in done.iter().rev() {
                    move_table(session, engine, to, from)?;
                }
                return Err(error);
            }
        }
    }
    Ok(Done::default())
}

/// Renames one table; its full names, old and new.
pub(super) fn rename_one(
    session: &Session,
    engine: &Arc<Engine>,
    from: &TableName<'_>,
    to: &TableName<'_>,
) -> Result<(FullName, FullName), SqlError> {
    let (from, to) = (FullName::resolve(session, from)?, FullName::resolve(session, to)?);
    names::ensure_table_name(&to.table)?;
    move_table(session, engine, &from, &to)?;
    Ok((from, to))
}

fn move_table(
    session: &Session,
    engine: &Arc<Engine>,
    from: &FullName,
    to: &FullName,
) -> Result<(), SqlError> {
    let (source, target) = ((&*from.schema, &*from.table), (&*to.schema, &*to.table));
    let renamed = engine.rename_table(source, target, lock_wait(session));
    renamed.map_err(|error| refused(session, &error))
}
