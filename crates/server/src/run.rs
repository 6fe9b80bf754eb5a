//! Statements: from text or prepared id to the packets of an answer.

use crate::client_io::ClientIo;
use crate::error_map::{self, SqlError};
use crate::session::Session;

/// COM_QUERY: runs every statement of the packet's text.
pub fn query(session: &mut Session, _io: &mut ClientIo) -> Result<(), SqlError> {
    session.diagnostics.clear();
    Err(not_yet("SQL statements"))
}

/// COM_STMT_PREPARE.
pub fn prepare(_session: &mut Session, _io: &mut ClientIo) -> Result<(), SqlError> {
    Err(error_map::UNSUPPORTED_PS.bare())
}

/// COM_STMT_EXECUTE of a statement that exists.
pub fn execute(_session: &mut Session, _io: &mut ClientIo) -> Result<(), SqlError> {
    Err(error_map::UNSUPPORTED_PS.bare())
}

/// COM_FIELD_LIST.
pub fn field_list(_session: &mut Session, _io: &mut ClientIo) -> Result<(), SqlError> {
    Err(error_map::NO_DB.bare())
}

/// USE and COM_INIT_DB.
pub fn use_database(session: &mut Session, name: &str) -> Result<(), SqlError> {
    if name.is_empty() {
        return Err(error_map::NO_DB.bare());
    }
    session.use_database(Some(name.to_owned()));
    Ok(())
}

#[cold]
fn not_yet(what: &str) -> SqlError {
    error_map::NOT_SUPPORTED_YET.with(&[&what])
}
