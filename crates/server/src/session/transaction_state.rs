//! What a session has of its transactions.

use engine::Trx;

/// A session's transaction.
#[derive(Debug, Default)]
pub struct TransactionState {
    /// A transaction is open (BEGIN, or a statement without autocommit).
    pub open: bool,
    /// It may only read.
    pub read_only: bool,
    /// It has outlasted a statement that used a table, and the process list shows it.
    pub(crate) noted: bool,
    /// The engine's side; `None` before the first statement, and while a statement has it.
    pub(crate) trx: Option<Box<Trx>>,
}
