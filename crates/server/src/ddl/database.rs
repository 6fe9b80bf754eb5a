//! CREATE, ALTER and DROP DATABASE.

use std::sync::Arc;

use engine::{Engine, Error, NameError};
use sql::ast::{AlterDatabase, CreateDatabase, DatabaseOption, DropDatabase};
use types::CollationId;
use types::collation::Collation;

use super::collation::CollationClauses;
use super::{Done, names, not_yet, refused};
use crate::diagnostics::Severity;
use crate::error_map::{self, SqlError};
use crate::full_name::schema_or_default;
use crate::session::Session;
use crate::table_locks::lock_wait;
use crate::virtual_tables;

/// CREATE DATABASE. One row is affected, even if the database was there already.
pub(super) fn create(
    session: &mut Session,
    engine: &Arc<Engine>,
    create: &CreateDatabase<'_>,
) -> Result<Done, SqlError> {
    names::ensure_schema_name(create.name)?;
    if create.if_not_exists && virtual_tables::is_of_accounts(create.name) {
        session.warn(Severity::Note, error_map::DB_CREATE_EXISTS.with(&[&create.name]));
        return Ok(Done { affected: 1, ..Done::default() });
    }
    let collation = clauses(session, create.options)?.resolve(server_collation(session));
    match engine.create_schema(create.name, collation) {
        Err(error)
            if create.if_not_exists && is_name(&error, |e| matches!(e, NameError::SchemaExists(_))) =>
        {
            session.warn(Severity::Note, refused(session, &error));
        }
        result => result.map_err(|error| refused(session, &error))?,
    }
    Ok(Done { affected: 1, ..Done::default() })
}

/// ALTER DATABASE.
pub(super) fn alter(
    session: &mut Session,
    engine: &Arc<Engine>,
    alter: &AlterDatabase<'_>,
) -> Result<Done, SqlError> {
    let name = schema_or_default(session.database.as_deref(), alter.name)?;
    let collation = clauses(session, alter.options)?;
    let Ok(old) = engine.schema(&name) else {
        return Err(error_map::DATABASE_DOES_NOT_EXIST.with(&[&name]));
    };
    let altered = engine.alter_schema(&name, collation.resolve(old.collation));
    altered.map_err(|error| refused(session, &error))?;
    Ok(Done { affected: 1, ..Done::default() })
}

/// DROP DATABASE: as many rows are affected as there were tables.
pub(super) fn drop(
    session: &mut Session,
    engine: &Arc<Engine>,
    drop: &DropDatabase<'_>,
) -> Result<Done, SqlError> {
    let dropped = match engine.drop_schema(drop.name, lock_wait(session)) {
        Err(error) if drop.if_exists && is_name(&error, |e| matches!(e, NameError::NoSchemaToDrop(_))) => {
            session.warn(Severity::Note, refused(session, &error));
            return Ok(Done::default());
        }
        result => result.map_err(|error| refused(session, &error))?,
    };
    if session.database.as_deref() == Some(drop.name) {
        session.use_database(None);
    }
    Ok(Done { affected: dropped as u64, ..Done::default() })
}

fn is_name(error: &Error, wanted: impl Fn(&NameError) -> bool) -> bool {
    matches!(error, Error::Name(name) if wanted(name))
}

fn clauses(session: &mut Session, options: &[DatabaseOption<'_>]) -> Result<CollationClauses, SqlError> {
    let mut clauses = CollationClauses::default();
    for option in options {
        match *option {
            DatabaseOption::Charset(name) => clauses.take_charset(session, name)?,
            DatabaseOption::Collate(name) => clauses.take_collation(session, name)?,
            DatabaseOption::Encryption(value) if value.eq_ignore_ascii_case("N") => {}
            DatabaseOption::Encryption(_) => return Err(not_yet("ENCRYPTION")),
            DatabaseOption::ReadOnly(None | Some(false)) => {}
            DatabaseOption::ReadOnly(Some(true)) => return Err(not_yet("READ ONLY")),
        }
    }
    Ok(clauses)
}

/// `collation_server`.
fn server_collation(session: &Session) -> CollationId {
    let name = session.variables.named("collation_server");
    Collation::find(name.as_text()).map_or(CollationId::UTF8MB4_0900_AI_CI, |collation| collation.id)
}
