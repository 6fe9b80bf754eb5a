//! The locks of rows and gaps with the names that tables show them by.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use base::TrxId;
use engine::{Engine, LockMode};
use trx::{LockInfo, LockKind, LockReport};

use crate::lock_text::NamedLock;

/// All locks at a moment, and whose transactions have them.
#[derive(Debug)]
pub(crate) struct LockRows {
    pub(super) report: LockReport,
    connections: BTreeMap<TrxId, u64>,
}

/// A lock in the words of the tables.
pub(super) struct LockRow {
    pub(super) id: String,
    pub(super) connection: Option<u64>,
    pub(super) schema: Option<String>,
    pub(super) table: Option<String>,
    pub(super) index: Option<String>,
    /// A number that distinguishes locks.
    pub(super) instance: u64,
    pub(super) mode: &'static str,
    pub(super) data: String,
}

impl LockRows {
    pub(crate) fn new(engine: &Engine) -> Self {
        let system = engine.trx_system();
        let report = system.lock_report();
        let sessions = system.transactions();
        let connections =
            sessions.iter().filter_map(|trx| Some((trx.id?, u64::from(trx.client.connection)))).collect();
        LockRows { report, connections }
    }

    /// The connection of a transaction.
    pub(super) fn connection(&self, trx: TrxId) -> Option<u64> {
        self.connections.get(&trx).copied()
    }

    pub(super) fn row(&self, engine: &Engine, lock: &LockInfo) -> LockRow {
        let named = NamedLock::new(engine, lock);
        let (schema, table) = named.table_name().unzip();
        LockRow {
            id: lock_id(lock),
            connection: self.connection(lock.trx),
            schema,
            table,
            index: Some(named.index_name().to_owned()).filter(|name| !name.is_empty()),
            instance: instance(lock),
            mode: mode(&lock.kind),
            data: named.data(),
        }
    }
}

/// The name of a lock among all that there are.
pub(super) fn lock_id(lock: &LockInfo) -> String {
    format!("{}:{}:{:016x}", lock.trx.0, lock.index.0, instance(lock))
}

pub(super) fn instance(lock: &LockInfo) -> u64 {
    let mut hasher = DefaultHasher::new();
    (lock.trx.0, lock.index.0, lock.granted).hash(&mut hasher);
    match &lock.kind {
        LockKind::Row { key, mode } => (0, key, *mode == LockMode::Exclusive).hash(&mut hasher),
        LockKind::Gap { lower, upper } => (1, lower, upper).hash(&mut hasher),
        LockKind::Insert { key } => (2, key).hash(&mut hasher),
    }
    hasher.finish()
}

/// The mode in InnoDB's words.
fn mode(kind: &LockKind) -> &'static str {
    match kind {
        LockKind::Row { mode: LockMode::Shared, .. } => "S,REC_NOT_GAP",
        LockKind::Row { mode: LockMode::Exclusive, .. } => "X,REC_NOT_GAP",
        LockKind::Gap { .. } => "X,GAP",
        LockKind::Insert { .. } => "X,GAP,INSERT_INTENTION",
    }
}
