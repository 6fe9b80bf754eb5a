//! Stored procedures, functions, triggers and events: none can be created, so that every name is unknown.

use sql::ast::{DropProgram, ProgramKind, TableName};

use super::Done;
use crate::diagnostics::Severity;
use crate::error_map::{self, SqlError};
use crate::full_name::FullName;
use crate::privilege::{self, Privileges};
use crate::session::Session;

/// DROP PROCEDURE, FUNCTION, TRIGGER, EVENT.
pub(super) fn drop(session: &mut Session, drop: &DropProgram<'_>) -> Result<Done, SqlError> {
    let name = FullName::resolve(session.database.as_deref(), &drop.name)?;
    match drop.kind {
        ProgramKind::Procedure | ProgramKind::Function => {
            privilege::ensure_program(session, &name, Privileges::ALTER_ROUTINE)?;
        }
        ProgramKind::Event => privilege::ensure_on_schema(session, &name.schema, Privileges::EVENT)?,
        ProgramKind::Trigger => {}
    }
    if drop.if_exists {
        session.warn(Severity::Note, note(drop.kind, &name));
        return Ok(Done::default());
    }
    Err(match drop.kind {
        ProgramKind::Event => error_map::EVENT_DOES_NOT_EXIST.with(&[&name.table]),
        kind => note(kind, &name),
    })
}

/// What IF EXISTS notes.
fn note(kind: ProgramKind, name: &FullName) -> SqlError {
    match kind {
        ProgramKind::Procedure => error_map::SP_DOES_NOT_EXIST.with(&[&"PROCEDURE", name]),
        ProgramKind::Function => error_map::SP_DOES_NOT_EXIST.with(&[&"FUNCTION", name]),
        ProgramKind::Event => error_map::SP_DOES_NOT_EXIST.with(&[&"Event", &name.table]),
        ProgramKind::Trigger => error_map::TRG_DOES_NOT_EXIST.bare(),
    }
}

/// Error 1305 for CALL of `procedure`, or 1370 for an account that may not call one.
pub(crate) fn unknown_procedure(session: &Session, procedure: &TableName<'_>) -> SqlError {
    let allowed = FullName::resolve(session.database.as_deref(), procedure).and_then(|name| {
        privilege::ensure_program(session, &name, Privileges::EXECUTE)?;
        Ok(name)
    });
    match allowed {
        Ok(name) => error_map::SP_DOES_NOT_EXIST.with(&[&"PROCEDURE", &name]),
        Err(error) => error,
    }
}
