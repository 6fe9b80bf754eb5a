//! Extents that are withheld from changes, so that a rollback finds room in a file that cannot grow.
//!
//! A row that a change has made shorter, and whose page others have filled since, takes a page more when it
//! is put back. Two extents are kept free for that. A thread that rolls back says so; only then are they
//! given out, and only if the file cannot grow.

use std::cell::Cell;

/// Extents that are withheld.
pub(crate) const EXTENTS_WITHHELD: usize = 2;

thread_local! {
    static USERS: Cell<u32> = const { Cell::new(0) };
}

/// While it lives, the thread may take the extents that are withheld.
#[derive(Debug)]
pub struct SpaceReserve(());

impl SpaceReserve {
    /// For a rollback.
    pub fn open() -> Self {
        USERS.set(USERS.get() + 1);
        SpaceReserve(())
    }

    /// Whether the thread may take what is withheld.
    pub(crate) fn is_open() -> bool {
        USERS.get() > 0
    }
}

impl Drop for SpaceReserve {
    fn drop(&mut self) {
        USERS.set(USERS.get() - 1);
    }
}
