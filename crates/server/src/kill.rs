//! KILL and COM_PROCESS_KILL.

use crate::error_map::{self, SqlError};
use crate::process_list::Kill;
use crate::session::Session;

/// KILL: an account may kill its own connections, and all with CONNECTION_ADMIN.
pub(crate) fn kill(session: &mut Session, id: u64, what: Kill) -> Result<(), SqlError> {
    let process = u32::try_from(id).ok().and_then(|id| session.server.processes.find(id));
    let Some(process) = process else {
        return Err(error_map::NO_SUCH_THREAD.with(&[&id]));
    };
    if !session.is_connection_admin() && process.user() != session.user {
        return Err(error_map::KILL_DENIED.with(&[&id]));
    }
    if process.id() == session.process.id() {
        // The answer must still reach the client, so the socket stays open until it is sent.
        session.process.kill_self(what);
        return Err(error_map::QUERY_INTERRUPTED.bare());
    }
    process.kill(what);
    session.server.engine.trx_system().wake_waiters();
    Ok(())
}
