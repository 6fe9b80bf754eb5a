//! SHOW, DESCRIBE and table maintenance: statements that answer with a small table built in memory.
//!
//! | file | what it shows |
//! |---|---|
//! | `server_state` | variables, counters, conditions, connections, character sets |

mod server_state;

use std::sync::Arc;

use engine::Engine;
use sql::ast::{Expr, Show, ShowFilter, Statement};
use types::OwnedValue;

use crate::answer::Table;
use crate::constant::{Inputs, evaluate};
use crate::error_map::{self, SqlError};
use crate::like::like;
use crate::session::Session;

/// The answer to SHOW, DESCRIBE, and ANALYZE, CHECK, OPTIMIZE, REPAIR or CHECKSUM TABLE.
///
/// # Errors
/// 1235 for what cannot be shown yet; 1046, 1049, 1146 for missing names.
pub fn rows(
    session: &mut Session,
    engine: &Arc<Engine>,
    statement: &Statement<'_>,
    inputs: Inputs<'_>,
) -> Result<Table, SqlError> {
    let _ = engine;
    match statement {
        Statement::Show(show) => without_engine(session, show, inputs),
        _ => Err(not_yet("this statement")),
    }
}

/// SHOW of what the server itself knows, without a look at tables.
///
/// # Errors
/// 1235 for everything else.
pub fn without_engine(session: &mut Session, show: &Show<'_>, inputs: Inputs<'_>) -> Result<Table, SqlError> {
    let Some(mut table) = server_state::table(session, show)? else {
        return Err(not_yet("this form of SHOW"));
    };
    narrow(session, show, inputs, &mut table)?;
    Ok(table)
}

/// Applies LIKE, WHERE and LIMIT.
fn narrow(
    session: &mut Session,
    show: &Show<'_>,
    inputs: Inputs<'_>,
    table: &mut Table,
) -> Result<(), SqlError> {
    match show.filter {
        ShowFilter::None => {}
        ShowFilter::Like(pattern) => table.retain_by_first(|text| like(pattern, text)),
        ShowFilter::Where(_) => return Err(not_yet("SHOW ... WHERE here")),
    }
    if let Some(limit) = show.limit {
        let offset = match &limit.offset {
            Some(offset) => row_count(session, offset, inputs)?,
            None => 0,
        };
        table.limit(offset, row_count(session, &limit.count, inputs)?);
    }
    Ok(())
}

fn row_count(session: &mut Session, expr: &Expr<'_>, inputs: Inputs<'_>) -> Result<usize, SqlError> {
    match evaluate(session, expr, inputs)? {
        OwnedValue::Int(rows) if rows >= 0 => Ok(usize::try_from(rows).unwrap_or(usize::MAX)),
        OwnedValue::UInt(rows) => Ok(usize::try_from(rows).unwrap_or(usize::MAX)),
        _ => Err(error_map::WRONG_ARGUMENTS.with(&[&"LIMIT"])),
    }
}

#[cold]
fn not_yet(what: &str) -> SqlError {
    error_map::NOT_SUPPORTED_YET.with(&[&what])
}
