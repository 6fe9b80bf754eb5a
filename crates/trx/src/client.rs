//! Who is behind a transaction, for reports on locks. Asked only when one is made.

use std::fmt::Debug;

/// The session of a transaction as its server knows it. Answers while locks are held: briefly, and without waiting.
pub trait Client: Send + Sync + Debug {
    /// Who it is and what it does.
    fn describe(&self) -> ClientInfo;
}

/// Who a session is and what it does at the moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientInfo {
    /// Number of the connection.
    pub connection: u32,
    /// User.
    pub user: String,
    /// Host.
    pub host: String,
    /// The statement in progress; empty: none.
    pub statement: String,
    /// Seconds since the transaction began, where one is open.
    pub active_s: u64,
}
