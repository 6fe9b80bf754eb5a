//! The client of a transaction, for reports on locks. Asked only when one is made.

use std::fmt::Debug;
use std::sync::Arc;

use crate::isolation::Isolation;

/// The session of a transaction as its server knows it. Answers while locks are held: briefly, and without
/// waiting.
pub trait Client: Send + Sync + Debug {
    /// Its client and activity.
    fn describe(&self) -> ClientInfo;

    /// Whether the client is gone. Asked now and then while the transaction waits, with no latch held.
    fn is_gone(&self) -> bool;

    /// Whether its statement or itself was killed. Asked likewise.
    fn is_killed(&self) -> bool;

    /// Its statement begins or ends to wait for a table's metadata lock.
    fn set_waits_for_table(&self, waits: bool);
}

/// A client whose statement waits for a table's metadata lock, until dropped.
#[derive(Debug)]
pub(crate) struct TableWaiter(Option<Arc<dyn Client>>);

impl TableWaiter {
    pub(crate) fn new(client: Option<Arc<dyn Client>>) -> Self {
        if let Some(client) = &client {
            client.set_waits_for_table(true);
        }
        TableWaiter(client)
    }
}

impl Drop for TableWaiter {
    fn drop(&mut self) {
        if let Some(client) = &self.0 {
            client.set_waits_for_table(false);
        }
    }
}

/// How a session's transactions run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClientSettings {
    /// Isolation level.
    pub isolation: Isolation,
    /// READ ONLY.
    pub read_only: bool,
    /// `unique_checks`.
    pub unique_checks: bool,
    /// `foreign_key_checks`.
    pub foreign_key_checks: bool,
}

/// The client of a session and its current activity.
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
    /// What its statement runs under.
    pub settings: ClientSettings,
    /// No transaction of several statements is open.
    pub statement_only: bool,
    /// Seconds since the transaction began, where one is open.
    pub active_s: u64,
}
