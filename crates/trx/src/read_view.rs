//! Which transactions a reader sees.

use base::{Lsn, TrxId};

use crate::system::TrxSystem;

/// A snapshot: commits up to a number, and the reader's own changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadView {
    /// Every id below had ended before the number was taken.
    limit: u64,
    number: u64,
    own: u64,
    mixed: bool,
}

impl ReadView {
    /// `limit` was loaded before `number`.
    #[inline]
    pub(crate) fn new(limit: TrxId, number: Lsn, own: Option<TrxId>) -> Self {
        // The id 0 is below every limit, so it serves as "no own id".
        ReadView { limit: limit.0, number: number.0, own: own.map_or(0, |id| id.0), mixed: false }
    }

    /// The same snapshot for a transaction that has got an id, or has changed what it does not see.
    #[inline]
    pub(crate) fn with(self, own: Option<TrxId>, mixed: bool) -> Self {
        ReadView { own: own.map_or(0, |id| id.0), mixed, ..self }
    }

    /// The newest version of everything: READ UNCOMMITTED, and the reads of a statement that locks.
    pub const fn newest() -> Self {
        ReadView { limit: u64::MAX, number: u64::MAX, own: 0, mixed: false }
    }

    /// What is committed when it is asked. For one who keeps versions: see [`crate::Trx::keep_versions`].
    pub const fn committed() -> Self {
        ReadView { limit: 0, number: u64::MAX, own: 0, mixed: false }
    }

    /// What commits up to `number` left, at or above the purge horizon. Nothing may be purged while it is
    /// used, for it is not published: for checks.
    pub const fn at(number: Lsn) -> Self {
        ReadView { limit: 0, number: number.0, own: 0, mixed: false }
    }

    /// Whether changes by `id` are visible. Cost: one compare for all-visible rows, else a lookup of how the
    /// id has ended.
    #[inline(always)]
    pub fn sees(&self, trx: &TrxSystem, id: TrxId) -> bool {
        id.0 < self.limit || id.0 == self.own || trx.commits.is_visible(id, Lsn(self.number))
    }

    /// Whether everything on a page whose highest writer is `trx_max` is visible as it is.
    #[inline(always)]
    pub fn sees_whole_page(&self, trx_max: TrxId) -> bool {
        trx_max.0 < self.limit
    }

    /// Whether the transaction has changed a row over a version that the view does not see. Such a row's
    /// secondary entries, some closed by a writer the view does not see, do not show by themselves which of
    /// them is the row's.
    #[inline]
    pub fn is_mixed(&self) -> bool {
        self.mixed
    }

    /// The newest commit that is visible.
    #[inline]
    pub fn number(&self) -> Lsn {
        Lsn(self.number)
    }
}
