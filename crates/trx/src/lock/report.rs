//! What the lock table reports: locks and requests of transactions, and the last deadlock.

use std::ops::Bound;
use std::sync::Arc;

use base::{IndexId, TrxId};
use env::{Clock, RealClock, WallTime};

use super::LockMode;
use super::queue::RowQueue;
use super::table::{Gap, LockTable, Locks, Wait, WaitState, WaitTarget};
use crate::client::ClientInfo;

const NS_PER_S: u64 = 1_000_000_000;
/// Deadlocks kept until a reader takes them.
const UNREAD_MAX: usize = 16;

/// The conflicts of a lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LockKind {
    /// A row by its clustered key.
    Row {
        /// The key.
        key: Box<[u8]>,
        /// How.
        mode: LockMode,
    },
    /// A stretch of the index.
    Gap {
        /// From here
        lower: Bound<Box<[u8]>>,
        /// to here.
        upper: Bound<Box<[u8]>>,
    },
    /// The wish to insert a key, which gap locks of others stand against.
    Insert {
        /// The key.
        key: Box<[u8]>,
    },
}

/// An explicit lock, or a request for one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockInfo {
    /// The transaction that has or requests it.
    pub trx: TrxId,
    /// On what.
    pub index: IndexId,
    /// What it keeps others from.
    pub kind: LockKind,
    /// Whether it is held.
    pub granted: bool,
}

/// A transaction that waits for another's lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitInfo {
    /// What is waited for.
    pub wanted: LockInfo,
    /// What stands against it.
    pub blocking: LockInfo,
}

/// All explicit locks at a moment.
#[derive(Clone, Debug, Default)]
pub struct LockReport {
    /// Locks and requests, by transaction in no particular order.
    pub locks: Vec<LockInfo>,
    /// Each wait with each lock that it is for.
    pub waits: Vec<WaitInfo>,
}

/// A member of a deadlock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadlockMember {
    /// The transaction.
    pub trx: TrxId,
    /// Its session; `None` without a transaction.
    pub client: Option<ClientInfo>,
    /// Changes it had made.
    pub changes: u64,
    /// Its explicit locks on rows.
    pub row_locks: usize,
    /// The lock that the member before it waits for, the last one for the first.
    pub holds: Option<LockInfo>,
    /// What it waits for.
    pub wants: LockInfo,
}

/// A deadlock that was resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deadlock {
    /// When it was found.
    pub found: WallTime,
    /// The members: each waits for the next, the last one, whose wait closed the cycle, for the first.
    pub members: Vec<DeadlockMember>,
    /// The victim among them.
    pub victim: usize,
}

/// The deadlocks found.
#[derive(Debug, Default)]
pub(super) struct Found {
    latest: Option<Arc<Deadlock>>,
    unread: Vec<Arc<Deadlock>>,
}

/// A transaction's explicit locks.
#[derive(Clone, Debug, Default)]
pub struct OwnerInfo {
    /// Locks on rows and requests for them.
    pub rows: usize,
    /// Locks on gaps.
    pub gaps: usize,
    /// Changes it had made when it began to wait last.
    pub changes: u64,
    /// Seconds since it began to wait, while it waits.
    pub waits_s: Option<u64>,
    /// What it waits for.
    pub wants: Option<LockInfo>,
}

impl LockTable {
    /// The locks of `trx`.
    pub(crate) fn owner_info(&self, trx: TrxId) -> OwnerInfo {
        let mut locks = self.lock();
        let Some(owner) = locks.state.owners.get(&trx) else { return OwnerInfo::default() };
        let waits = owner.wait.as_ref().filter(|wait| wait.state == WaitState::Yes);
        let waits_s = waits.map(|wait| RealClock.monotonic_ns().saturating_sub(wait.since_ns) / NS_PER_S);
        let (rows, gaps, changes) = (owner.rows.len(), owner.indexes.len(), owner.changes);
        OwnerInfo { rows, gaps, changes, waits_s, wants: locks.wanted(trx).map(|(wanted, _)| wanted) }
    }

    /// All explicit locks. Cost: everything that waits for a lock or gives one up waits meanwhile.
    pub(crate) fn report(&self) -> LockReport {
        let mut locks = self.lock();
        LockReport { locks: locks.all_locks(), waits: locks.all_waits() }
    }

    /// The deadlock that was broken last.
    pub(crate) fn latest_deadlock(&self) -> Option<Arc<Deadlock>> {
        self.lock().state.found.latest.clone()
    }

    /// The newest deadlocks that have not been taken yet.
    pub(crate) fn take_deadlocks(&self) -> Vec<Arc<Deadlock>> {
        std::mem::take(&mut self.lock().state.found.unread)
    }
}

impl Locks<'_> {
    /// Keeps a report on `cycle`, whose first member closed it and each of whose members waits for the next.
    #[cold]
    pub(super) fn note_deadlock(&mut self, cycle: &[TrxId], victim: TrxId) {
        let before = |at: usize| cycle[(at + cycle.len() - 1) % cycle.len()];
        // The one that closed the cycle comes last.
        let order = (1..cycle.len()).chain([0]);
        let members: Vec<DeadlockMember> =
            order.filter_map(|at| self.member(cycle[at], before(at))).collect();
        let victim = members.iter().position(|member| member.trx == victim).unwrap_or_default();
        let deadlock = Arc::new(Deadlock { found: RealClock.wall(), members, victim });
        let found = &mut self.state.found;
        found.latest = Some(Arc::clone(&deadlock));
        if found.unread.len() == UNREAD_MAX {
            found.unread.remove(0);
        }
        found.unread.push(deadlock);
    }

    /// The member `trx` of a cycle, for which `waiter` waits.
    fn member(&mut self, trx: TrxId, waiter: TrxId) -> Option<DeadlockMember> {
        let owner = self.state.owners.get(&trx)?;
        let (changes, row_locks) = (owner.changes, owner.rows.len());
        let client = owner.wait.as_ref()?.slot.client_info();
        let wants = self.wanted(trx)?.0;
        let holds =
            self.wanted(waiter).and_then(|(_, against)| against.into_iter().find(|lock| lock.trx == trx));
        Some(DeadlockMember { trx, client, changes, row_locks, holds, wants })
    }

    /// What `trx` waits for, and the locks that stand against it.
    fn wanted(&mut self, trx: TrxId) -> Option<(LockInfo, Vec<LockInfo>)> {
        let wait = self.state.owners.get(&trx).and_then(|owner| owner.wait.as_ref());
        match wait.filter(|wait| wait.state == WaitState::Yes).map(|wait| wait.wanted.clone())? {
            WaitTarget::Row { hash, index, key } => {
                let queue = self.queue(hash, index, &key)?;
                let at = queue.waiting(trx)?;
                let blockers: Vec<TrxId> = queue.blockers(trx, queue.requests[at].mode, at).collect();
                let all = locks_of(queue);
                let against = all.iter().filter(|lock| blockers.contains(&lock.trx)).cloned().collect();
                Some((all[at].clone(), against))
            }
            WaitTarget::Gap { index, key } => {
                let gaps = self.state.gaps.get(&index).into_iter().flatten();
                let against = gaps.filter(|gap| gap.trx != trx && gap.covers(&key));
                let against = against.map(|gap| gap_lock(index, gap)).collect();
                Some((LockInfo { trx, index, kind: LockKind::Insert { key }, granted: false }, against))
            }
        }
    }

    fn all_locks(&self) -> Vec<LockInfo> {
        let rows = self.state.rows.values().flatten().flat_map(locks_of);
        let gaps = self.state.gaps.iter();
        let gaps = gaps.flat_map(|(&index, gaps)| gaps.iter().map(move |gap| gap_lock(index, gap)));
        let inserts = self.state.owners.iter().filter_map(|(&trx, owner)| {
            let waits = |wait: &&Wait| wait.state == WaitState::Yes;
            match owner.wait.as_ref().filter(waits).map(|wait| &wait.wanted) {
                Some(WaitTarget::Gap { index, key }) => Some(LockInfo {
                    trx,
                    index: *index,
                    kind: LockKind::Insert { key: key.clone() },
                    granted: false,
                }),
                _ => None,
            }
        });
        rows.chain(gaps).chain(inserts).collect()
    }

    fn all_waits(&mut self) -> Vec<WaitInfo> {
        let waiting: Vec<TrxId> = self.state.owners.keys().copied().collect();
        let mut waits = Vec::new();
        for trx in waiting {
            let Some((wanted, against)) = self.wanted(trx) else { continue };
            waits.extend(against.into_iter().map(|blocking| WaitInfo { wanted: wanted.clone(), blocking }));
        }
        waits
    }
}

/// The requests in a row's queue, in order.
fn locks_of(queue: &RowQueue) -> Vec<LockInfo> {
    let lock = |request: &super::queue::Request| LockInfo {
        trx: request.trx,
        index: queue.index,
        kind: LockKind::Row { key: (*queue.key).into(), mode: request.mode },
        granted: request.granted,
    };
    queue.requests.iter().map(lock).collect()
}

fn gap_lock(index: IndexId, gap: &Gap) -> LockInfo {
    let (lower, upper) = (gap.lower.clone(), gap.upper.clone());
    LockInfo { trx: gap.trx, index, kind: LockKind::Gap { lower, upper }, granted: true }
}
