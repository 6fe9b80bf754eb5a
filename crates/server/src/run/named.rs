//! PREPARE, EXECUTE and DEALLOCATE PREPARE: prepared statements by name, within the text protocol.

use std::sync::atomic::Ordering;

use sql::ast::{Execute, Prepare, PrepareSource};
use types::{OwnedValue, Value};

use super::prepare::{new_statement, run_text};
use crate::answer::Answer;
use crate::error_map::{self, SqlError};
use crate::session::Session;
use crate::status::Com;

/// PREPARE name FROM text. A statement of the same name is gone even if the new one is refused.
///
/// # Errors
/// Those of preparing.
pub(crate) fn prepare(session: &mut Session, prepare: &Prepare<'_>) -> Result<(), SqlError> {
    session.counters.count(Com::PrepareSql);
    let name = prepare.name.to_lowercase();
    forget(session, &name);
    let text = match prepare.source {
        PrepareSource::Text(text) => text.as_bytes().to_vec(),
        PrepareSource::UserVar(variable) => {
            let mut text = Vec::new();
            match session.user_variables.get(&variable.to_lowercase()) {
                None | Some(OwnedValue::Null) => text.extend_from_slice(b"NULL"),
                Some(value) => value.as_value().write_text(&mut text),
            }
            text
        }
    };
    let (statement, _) = new_statement(session, text.into())?;
    let id = session.prepared.add(statement);
    session.named_statements.insert(name, id);
    Ok(())
}

/// EXECUTE name USING variables.
///
/// # Errors
/// 1243, 1210, and those of the statement.
pub(crate) fn execute(
    session: &mut Session,
    execute: &Execute<'_>,
    answer: &mut Answer<'_>,
) -> Result<(), SqlError> {
    session.counters.count(Com::ExecuteSql);
    let id = session.named_statements.get(&execute.name.to_lowercase()).copied();
    let prepared = id.and_then(|id| session.prepared.get_mut(id));
    let prepared =
        prepared.ok_or_else(|| error_map::UNKNOWN_STMT_HANDLER.with(&[&execute.name, &"EXECUTE"]))?;
    if prepared.params != execute.using.len() {
        return Err(error_map::WRONG_ARGUMENTS.with(&[&"EXECUTE"]));
    }
    let text = prepared.text.clone();
    let variable = |name: &&str| session.user_variables.get(&name.to_lowercase()).cloned();
    let values: Vec<OwnedValue> =
        execute.using.iter().map(|name| variable(name).unwrap_or(OwnedValue::Null)).collect();
    let params: Vec<Value<'_>> = values.iter().map(OwnedValue::as_value).collect();
    run_text(session, answer, &text, &params)
}

/// DEALLOCATE PREPARE name.
///
/// # Errors
/// 1243.
pub(crate) fn deallocate(session: &mut Session, name: &str) -> Result<(), SqlError> {
    session.counters.count(Com::DeallocSql);
    if forget(session, &name.to_lowercase()) {
        return Ok(());
    }
    Err(error_map::UNKNOWN_STMT_HANDLER.with(&[&name, &"DEALLOCATE PREPARE"]))
}

/// Forgets the statement called `name`; false if there is none.
fn forget(session: &mut Session, name: &str) -> bool {
    let Some(id) = session.named_statements.remove(name) else {
        return false;
    };
    if session.prepared.remove(id) {
        session.server.status.prepared_statements.fetch_sub(1, Ordering::Relaxed);
    }
    true
}
