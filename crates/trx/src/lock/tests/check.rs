//! The invariants of the lock table, checked over all of it.

use std::sync::atomic::Ordering;

use crate::lock::LockMode;
use crate::lock::queue::RowQueue;
use crate::lock::table::{LockTable, State, WaitState, WaitTarget};

/// Asserts that no two conflicting locks are granted, that every request that waits has something to wait for
/// and one that has nothing is granted, and that owners and counters agree with the queues.
pub(super) fn check_table(table: &LockTable) {
    let locks = table.lock();
    let state = &*locks.state;
    let queues: Vec<&RowQueue> = state.rows.values().flatten().collect();
    for queue in &queues {
        check_queue(queue, state);
    }
    let counted = |counters: &[std::sync::atomic::AtomicU32]| -> usize {
        counters.iter().map(|counter| counter.load(Ordering::SeqCst) as usize).sum()
    };
    assert_eq!(counted(&table.row_counters), queues.iter().map(|queue| queue.requests.len()).sum());
    assert_eq!(counted(&table.gap_counters), state.gaps.values().map(Vec::len).sum());
    assert_eq!(table.owner_count(), state.owners.len());
    for (&trx, owner) in &state.owners {
        let Some(wait) = owner.wait.as_ref().filter(|wait| wait.state == WaitState::Yes) else { continue };
        match &wait.wanted {
            WaitTarget::Row { hash, index, key } => {
                let queue =
                    state.rows[hash].iter().find(|queue| queue.index == *index && *queue.key == **key);
                assert!(queue.is_some_and(|queue| queue.waiting(trx).is_some()), "{trx} waits in no queue");
            }
            WaitTarget::Gap { index, key } => {
                assert!(locks.gap_holders(trx, *index, key).next().is_some(), "{trx} waits for no gap");
            }
        }
    }
}

fn check_queue(queue: &RowQueue, state: &State) {
    assert!(!queue.requests.is_empty(), "an empty queue is forgotten");
    for (at, request) in queue.requests.iter().enumerate() {
        assert!(state.owners.contains_key(&request.trx), "{} has a request and is no owner", request.trx);
        let granted = queue.requests.iter().filter(|other| other.granted && other.trx != request.trx);
        let mut conflicts =
            granted.filter(|other| other.mode == LockMode::Exclusive || request.mode == LockMode::Exclusive);
        if request.granted {
            assert!(conflicts.next().is_none(), "{:?} have conflicting locks", queue.requests);
        } else {
            let blocked = queue.blockers(request.trx, request.mode, at).next().is_some();
            assert!(blocked, "{request:?} waits for nobody");
        }
    }
}
