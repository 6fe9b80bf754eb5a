//! DDL statements: from syntax tree to the engine's calls, with MySQL's checks and texts.
//!
//! | file | role |
//! |---|---|
//! | `names` | which schema is meant, and which names may be given |
//! | `collation` | CHARACTER SET and COLLATE clauses |
//! | `database` | CREATE, ALTER and DROP DATABASE |
//! | `create_table` | CREATE TABLE: [`table_def`] makes the definition |
//! | `column`, `column_type`, `default_value`, `row_default` | columns |
//! | `key` | keys |
//! | `table_options` | table options |
//! | `alter_table` | ALTER TABLE, CREATE INDEX, DROP INDEX |
//! | `alter_plan`, `alter_columns`, `alter_keys`, `convert_charset` | the definition that a table is to have |
//! | `alter_kind`, `alter_rows` | what kind of change that is, and the rows of a rebuild |
//! | `common` | results, options for the engine, errors |
//! | `program` | stored programs, of which there are none |
//! | `drop_table` | DROP, TRUNCATE and RENAME TABLE |
//!
//! The caller has committed the session's transaction: DDL statements hold no row locks.

mod alter_columns;
mod alter_keys;
mod alter_kind;
mod alter_plan;
mod alter_rows;
mod alter_table;
pub(crate) mod collation;
mod column;
mod column_type;
mod common;
mod convert_charset;
mod create_table;
mod database;
mod default_value;
mod drop_table;
pub(crate) mod key;
pub(crate) mod names;
pub(crate) mod program;
pub(crate) mod row_default;
mod table_options;

use std::sync::Arc;

use engine::Engine;
use sql::ast::Statement;

pub use common::Done;
pub(crate) use common::{build_options, not_yet, refused};
pub use create_table::table_def;

use crate::error_map::SqlError;
use crate::inputs::Inputs;
use crate::session::Session;
use crate::{table_locks, virtual_tables};

/// MySQL's name of a statement that [`execute`] runs, which commits the transaction before and ends it after.
pub(crate) fn command_name(statement: &Statement<'_>) -> Option<&'static str> {
    Some(match statement {
        Statement::CreateDatabase(_) => "create_db",
        Statement::AlterDatabase(_) => "alter_db",
        Statement::DropDatabase(_) => "drop_db",
        Statement::CreateTable(_) => "create_table",
        Statement::AlterTable(_) => "alter_table",
        Statement::DropTable(_) => "drop_table",
        Statement::DropView(_) => "drop_view",
        Statement::DropProgram(_) => "drop_program",
        Statement::Truncate(_) => "truncate",
        Statement::RenameTable(_) => "rename_table",
        Statement::CreateIndex(_) => "create_index",
        Statement::DropIndex(_) => "drop_index",
        _ => return None,
    })
}

/// Whether [`execute`] runs `statement`.
pub(crate) fn is_definition(statement: &Statement<'_>) -> bool {
    command_name(statement).is_some()
}

/// Runs a DDL statement. Warnings and notes go to the session's diagnostics area.
///
/// # Errors
/// MySQL's error for what is wrong with the definition, 1235 for what is not supported yet.
pub fn execute(
    session: &mut Session,
    engine: &Arc<Engine>,
    statement: &Statement<'_>,
    inputs: Inputs<'_>,
) -> Result<Done, SqlError> {
    virtual_tables::ensure_allowed(session, statement)?;
    table_locks::ensure_definable(session, statement)?;
    match *statement {
        Statement::CreateDatabase(create) => database::create(session, engine, create),
        Statement::AlterDatabase(alter) => database::alter(session, engine, alter),
        Statement::DropDatabase(drop) => database::drop(session, engine, drop),
        Statement::CreateTable(create) => create_table::create(session, engine, create, inputs),
        Statement::AlterTable(alter) => alter_table::alter(session, engine, alter, inputs),
        Statement::DropTable(drop) => drop_table::drop(session, engine, drop),
        Statement::DropView(drop) => drop_table::drop_view(session, engine, drop),
        Statement::DropProgram(drop) => program::drop(session, drop),
        Statement::Truncate(ref table) => drop_table::truncate(session, engine, table),
        Statement::RenameTable(pairs) => drop_table::rename(session, engine, pairs),
        Statement::CreateIndex(create) => alter_table::create_index(session, engine, create, inputs),
        Statement::DropIndex(drop) => alter_table::drop_index(session, engine, drop, inputs),
        _ => Err(not_yet(statement.name())),
    }
}
