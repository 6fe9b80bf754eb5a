//! PREPARE, EXECUTE and DEALLOCATE PREPARE: prepared statements by name, within the text protocol.

use std::sync::atomic::Ordering;

use sql::ast::{Execute, Prepare, PrepareSource};
use types::collation::convert;
use types::{CollationId, OwnedValue, Value};
use wire::execute::ParamType;
use wire::{ColumnType, OkPacket};

use super::prepare::{execute_values, new_statement};
use crate::answer::Answer;
use crate::error_map::{self, SqlError};
use crate::session::Session;
use crate::status::Com;

/// PREPARE name FROM text. A statement of the same name is gone even if the new one is refused.
///
/// # Errors
/// Those of preparing.
pub(crate) fn prepare(
    session: &mut Session,
    prepare: &Prepare<'_>,
    answer: &mut Answer<'_>,
) -> Result<(), SqlError> {
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
    session.row_count = 0;
    answer.ok(session, &OkPacket { info: b"Statement prepared", ..OkPacket::default() });
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
    let values: Vec<OwnedValue> = execute.using.iter().map(|name| bound_value(session, name)).collect();
    let params: Vec<Value<'_>> = values.iter().map(OwnedValue::as_value).collect();
    let Some((id, mut prepared)) = id.and_then(|id| Some((id, session.prepared.lend(id)?))) else {
        return Ok(());
    };
    prepared.types = values.iter().map(bound_type).collect();
    let result = execute_values(session, answer, &mut prepared, &params);
    session.prepared.give_back(id, prepared);
    result
}

/// The value of a variable as it is bound to a parameter: texts are in the connection's character set.
fn bound_value(session: &Session, name: &str) -> OwnedValue {
    let value = session.user_variables.get(&name.to_lowercase()).cloned().unwrap_or(OwnedValue::Null);
    let hot = &session.variables.hot;
    match value {
        OwnedValue::Bytes { data, collation } if collation != CollationId::BINARY => {
            let from = collation.collation().map_or(hot.charset_connection, |known| known.charset);
            let mut converted = Vec::with_capacity(data.len());
            convert(from, hot.charset_connection, &data, &mut converted);
            OwnedValue::Bytes { data: converted.into(), collation: hot.collation_connection }
        }
        value => value,
    }
}

/// The type that the value of a variable is bound with.
fn bound_type(value: &OwnedValue) -> ParamType {
    let column_type = match value {
        OwnedValue::Null => ColumnType::Null,
        OwnedValue::Int(_) | OwnedValue::UInt(_) => ColumnType::LongLong,
        OwnedValue::Double(_) => ColumnType::Double,
        OwnedValue::Decimal(_) => ColumnType::NewDecimal,
        OwnedValue::Bytes { collation: CollationId::BINARY, .. } => ColumnType::Blob,
        _ => ColumnType::VarString,
    };
    ParamType { column_type, unsigned: matches!(value, OwnedValue::UInt(_)) }
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
