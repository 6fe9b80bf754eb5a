//! The default database: USE, COM_INIT_DB, and the one that a login names.

use crate::engine_error;
use crate::error_map::{self, SqlError};
use crate::privilege::{self, Access, Want};
use crate::session::Session;
use crate::virtual_tables;

/// Makes `name` the default database.
///
/// # Errors
/// 1046 for no name, 1044 without a privilege on it, 1049.
pub(crate) fn use_database(session: &mut Session, name: &str) -> Result<(), SqlError> {
    if name.is_empty() {
        return Err(error_map::NO_DB.bare());
    }
    if session.is_checked {
        let access = Access { schema: name.into(), table: "".into(), want: Want::Entered };
        privilege::ensure(session, &[access])?;
    }
    if let Some(schema) = virtual_tables::schema(name) {
        session.use_database(Some(schema.to_owned()));
        return Ok(());
    }
    let schema = session.server.engine.schema(name).map_err(|error| engine_error::plain(&error))?;
    session.use_database(Some(schema.name.as_ref().to_owned()));
    Ok(())
}
