//! What a session gives back when it ends, and when it begins anew on the same connection.

use crate::session::Session;
use crate::transaction;

/// Rolls the open transaction back and releases all locks.
pub(crate) fn let_go(session: &mut Session) {
    transaction::rollback(session);
    session.release_table_locks();
    session.server.user_locks.release_all(session.process.id());
}

/// Back to the state of a new connection of the same user (COM_RESET_CONNECTION, COM_CHANGE_USER).
pub(crate) fn reset(session: &mut Session) {
    let_go(session);
    session.begin_anew();
}
