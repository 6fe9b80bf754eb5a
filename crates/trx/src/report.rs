//! Reports of the transaction system for people.

use std::sync::Arc;

use base::TrxId;

use crate::client::{ClientInfo, ClientSettings};
use crate::lock::{Deadlock, LockReport, OwnerInfo};
use crate::system::TrxSystem;

/// A session's transaction as others see it.
#[derive(Clone, Debug)]
pub struct TrxInfo {
    /// Its id, once it has written or locked.
    pub id: Option<TrxId>,
    /// Whether it has a view.
    pub has_view: bool,
    /// Changes it has made; `None`: it is making one.
    pub changes: Option<u64>,
    /// Its explicit locks, and its wait if it waits.
    pub locks: OwnerInfo,
    /// The session; of an unfinished transaction, nobody's.
    pub client: ClientInfo,
    /// Whether the startup found it unfinished: it is being rolled back.
    pub is_unfinished: bool,
}

impl TrxInfo {
    /// Whether the transaction has read or written anything.
    pub fn is_active(&self) -> bool {
        self.id.is_some() || self.has_view
    }
}

impl TrxSystem {
    /// The transaction of every session that has had one, and those that the startup found unfinished. Each
    /// is true at some moment of the call.
    pub fn transactions(&self) -> Vec<TrxInfo> {
        let slots = self.slots.all();
        let described = slots.iter().filter_map(|slot| {
            let (id, has_view) = slot.reads();
            let unfinished_s = slot.unfinished_s().filter(|_| id.is_some());
            let client = match unfinished_s {
                Some(active_s) => nobody(active_s),
                None => slot.client_info()?,
            };
            let locks = id.map(|id| self.locks.owner_info(id)).unwrap_or_default();
            // A transaction that waits for a row may hold its undo meanwhile.
            let changes = if locks.waits_s.is_some() { Some(locks.changes) } else { slot.try_changes() };
            Some(TrxInfo { id, has_view, changes, locks, client, is_unfinished: unfinished_s.is_some() })
        });
        described.collect()
    }

    /// All explicit locks of rows and gaps, at one moment.
    pub fn lock_report(&self) -> LockReport {
        self.locks.report()
    }

    /// The deadlock that was broken last.
    pub fn latest_deadlock(&self) -> Option<Arc<Deadlock>> {
        self.locks.latest_deadlock()
    }

    /// Deadlocks that were broken since the last call: the newest few.
    pub fn take_deadlocks(&self) -> Vec<Arc<Deadlock>> {
        self.locks.take_deadlocks()
    }

    /// Whether deadlocks are detected; else they end when a wait times out.
    pub fn set_deadlock_detection(&self, detects: bool) {
        self.locks.set_deadlock_detection(detects);
    }
}

/// The session of a transaction that has had none since startup, which was `active_s` seconds ago.
fn nobody(active_s: u64) -> ClientInfo {
    let settings =
        ClientSettings { unique_checks: true, foreign_key_checks: true, ..ClientSettings::default() };
    ClientInfo { settings, active_s, ..ClientInfo::default() }
}
