//! Transactions that wait for each other in a cycle.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;

use base::TrxId;

use super::table::{Locks, Owner, WaitState, WaitTarget};

impl Locks<'_> {
    /// Breaks the cycles that the new wait of `trx` has closed: in each, the victim is the transaction whose
    /// rollback costs least, which has changed and locked least by now; `trx` itself where it is among the
    /// cheapest. False: it is `trx`. Nothing is searched where detection is switched off.
    pub(super) fn break_cycles(&mut self, trx: TrxId) -> bool {
        if !self.table.detects.load(Ordering::Relaxed) {
            return true;
        }
        while let Some(cycle) = self.find_cycle(trx) {
            let cost = |&member: &TrxId| (self.state.owners.get(&member).map(Owner::weight), member != trx);
            let victim = cycle.iter().copied().min_by_key(cost).unwrap_or(trx);
            self.note_deadlock(&cycle, victim);
            if victim == trx {
                return false;
            }
            self.end_wait(victim, WaitState::Victim);
            self.withdraw(victim);
        }
        true
    }

    /// A cycle of waits with `trx` in it.
    fn find_cycle(&mut self, trx: TrxId) -> Option<Vec<TrxId>> {
        let (mut path, mut seen) = (vec![(trx, self.blockers(trx))], BTreeSet::from([trx]));
        while let Some((_, blockers)) = path.last_mut() {
            match blockers.pop() {
                Some(next) if next == trx => {
                    return Some(path.into_iter().map(|(member, _)| member).collect());
                }
                Some(next) if seen.insert(next) => path.push((next, self.blockers(next))),
                Some(_) => {}
                None => drop(path.pop()),
            }
        }
        None
    }

    /// Whom `trx` waits for.
    fn blockers(&mut self, trx: TrxId) -> Vec<TrxId> {
        let wait = self.state.owners.get(&trx).and_then(|owner| owner.wait.as_ref());
        let Some(wait) = wait.filter(|wait| wait.state == WaitState::Yes) else { return Vec::new() };
        match wait.wanted.clone() {
            WaitTarget::Row { hash, index, key } => {
                let Some(queue) = self.queue(hash, index, &key) else { return Vec::new() };
                let Some(at) = queue.waiting(trx) else { return Vec::new() };
                let mode = queue.requests[at].mode;
                queue.blockers(trx, mode, at).collect()
            }
            WaitTarget::Gap { index, key } => self.gap_holders(trx, index, &key).collect(),
        }
    }
}
