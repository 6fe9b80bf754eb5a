//! What DDL statements have in common: their result, their options for the engine, their errors.

use std::rc::Rc;

use engine::{BuildOptions, SortMemory};
use sql::ast::LockOption;

use crate::engine_error;
use crate::error_map::{self, SqlError};
use crate::session::Session;

/// Result of a DDL statement.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// Rows affected, as the OK packet reports them.
    pub affected: u64,
    /// Summary for the OK packet; empty: none.
    pub info: String,
}

/// A DDL statement's memory for the sort of new indexes' entries.
fn sort_memory(session: &Session) -> SortMemory {
    SortMemory {
        buffer_bytes: session.variables.named("innodb_ddl_buffer_size").as_u64(),
        account: Some(Rc::clone(&session.statement_memory)),
    }
}

/// The build options of a DDL statement with the option `lock`: memory, and whether others may change rows
/// meanwhile.
pub(crate) fn build_options(session: &Session, lock: Option<LockOption>) -> BuildOptions {
    let variables = session.server.variables.read();
    BuildOptions {
        memory: sort_memory(session),
        side_log_bytes_max: variables.named("innodb_online_alter_log_max_size").as_u64(),
        lets_writers_on: !matches!(lock, Some(LockOption::Shared | LockOption::Exclusive)),
    }
}

/// The client's error for an engine's.
#[cold]
pub(crate) fn refused(session: &Session, error: &engine::Error) -> SqlError {
    engine_error::sql_error(error, &session.variables.hot.time_zone)
}

#[cold]
pub(crate) fn not_yet(what: &str) -> SqlError {
    error_map::NOT_SUPPORTED_YET.with(&[&what])
}
