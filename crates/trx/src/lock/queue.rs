//! The requests for one row.

use base::{IndexId, TrxId};
use smallvec::SmallVec;

use super::LockMode;

/// A transaction's request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) trx: TrxId,
    pub(super) mode: LockMode,
    pub(super) granted: bool,
}

/// Keys up to this length need no allocation.
const INLINE_KEY_BYTES: usize = 16;

/// All requests for a row, in order of arrival. One request for a row with a short key needs no allocation.
#[derive(Debug)]
pub(super) struct RowQueue {
    pub(super) index: IndexId,
    pub(super) key: SmallVec<[u8; INLINE_KEY_BYTES]>,
    pub(super) requests: SmallVec<[Request; 1]>,
}

impl RowQueue {
    /// Whether `trx` has been granted `mode` or more.
    pub(super) fn holds(&self, trx: TrxId, mode: LockMode) -> bool {
        self.requests.iter().any(|held| {
            held.trx == trx && held.granted && (held.mode == LockMode::Exclusive || mode == LockMode::Shared)
        })
    }

    /// Those that keep `trx` from `mode` if it was at position `at`: conflicting locks of others, and
    /// conflicting requests before it, unless they wait for `trx` itself.
    pub(super) fn blockers(&self, trx: TrxId, mode: LockMode, at: usize) -> impl Iterator<Item = TrxId> {
        self.requests.iter().enumerate().filter_map(move |(i, other)| {
            let conflicts = other.trx != trx && other.mode.conflicts(mode);
            let counts = other.granted || (i < at && !self.is_blocked_by(other, trx));
            (conflicts && counts).then_some(other.trx)
        })
    }

    /// Whether the request waits for a lock that `trx` has.
    fn is_blocked_by(&self, waiting: &Request, trx: TrxId) -> bool {
        self.requests.iter().any(|held| held.trx == trx && held.granted && held.mode.conflicts(waiting.mode))
    }

    /// Where the waiting request of `trx` is.
    pub(super) fn waiting(&self, trx: TrxId) -> Option<usize> {
        self.requests.iter().position(|request| request.trx == trx && !request.granted)
    }

    /// Grants what nothing stands against any more, in order; `granted` learns whose.
    pub(super) fn grant(&mut self, mut granted: impl FnMut(TrxId)) {
        for at in 0..self.requests.len() {
            let Request { trx, mode, granted: is_granted } = self.requests[at];
            if !is_granted && self.blockers(trx, mode, at).next().is_none() {
                self.requests[at].granted = true;
                granted(trx);
            }
        }
    }
}
