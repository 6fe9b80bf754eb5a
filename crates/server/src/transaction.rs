//! Where sessions begin and end transactions.

use crate::error_map::SqlError;
use crate::session::{NextTransaction, Session};

/// A session's transaction as its client sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TransactionState {
    /// A transaction is open (BEGIN, or a statement without autocommit).
    pub open: bool,
    /// It may only read.
    pub read_only: bool,
}

/// BEGIN or START TRANSACTION: commits what is open, then begins.
pub fn begin(session: &mut Session, read_only: bool) -> Result<(), SqlError> {
    if session.transaction.open {
        commit(session)?;
    }
    session.transaction = TransactionState { open: true, read_only };
    Ok(())
}

/// COMMIT; without an open transaction nothing happens.
pub fn commit(session: &mut Session) -> Result<(), SqlError> {
    session.next_transaction = NextTransaction::default();
    session.transaction = TransactionState::default();
    Ok(())
}

/// ROLLBACK; without an open transaction nothing happens.
pub fn rollback(session: &mut Session) {
    session.next_transaction = NextTransaction::default();
    session.transaction = TransactionState::default();
}
