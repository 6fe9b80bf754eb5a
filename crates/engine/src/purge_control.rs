//! What the purge thread and its callers agree by: turns, rests, and what was logged already.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use base::PageNo;
use base::sync::plain::{Condvar, Mutex, MutexGuard};

use crate::startup_log::StartupLog;

/// How long the background thread rests between two looks. No transaction waits for purge, so no commit wakes
/// it.
const REST: Duration = Duration::from_millis(100);

/// The background thread's end of the engine.
#[derive(Debug, Default)]
pub(crate) struct PurgeControl {
    stop: Mutex<bool>,
    wake: Condvar,
    /// Serialises purges of all callers.
    turn: Mutex<()>,
    /// Unreadable undo was logged already.
    is_unreadable_logged: AtomicBool,
    /// Damaged system pages that were logged already.
    logged_pages: Mutex<BTreeSet<PageNo>>,
}

impl PurgeControl {
    pub(crate) fn stop(&self) {
        *self.stop.lock() = true;
        self.wake.notify_all();
    }

    /// Keeps purge from beginning another step while the guard lives; waits for the one under way. The caller
    /// holds no metadata lock.
    pub(crate) fn pause(&self) -> MutexGuard<'_, ()> {
        self.turn.lock()
    }

    /// [`PurgeControl::pause`], unless a step is under way.
    pub(crate) fn try_pause(&self) -> Option<MutexGuard<'_, ()>> {
        self.turn.try_lock()
    }

    /// Ends the rest of the background thread.
    pub(crate) fn wake_thread(&self) {
        self.wake.notify_all();
    }

    /// Logs the first undo record that cannot be read back.
    #[cold]
    pub(crate) fn log_unreadable(&self, notes: &dyn StartupLog, error: &trx::SwapError) {
        if !self.is_unreadable_logged.swap(true, Ordering::Relaxed) {
            notes
                .note(&format!("purge: what a transaction has left is purged after the next start: {error}"));
        }
    }

    /// Whether this is the first time that background work meets the damaged system page `page`, which is to
    /// be logged once.
    #[cold]
    pub(crate) fn is_new_damage(&self, page: PageNo) -> bool {
        self.logged_pages.lock().insert(page)
    }

    pub(crate) fn is_stopped(&self) -> bool {
        *self.stop.lock()
    }

    /// Rests; false: time to end.
    pub(crate) fn rest(&self) -> bool {
        let mut stop = self.stop.lock();
        if !*stop {
            self.wake.wait_for(&mut stop, REST);
        }
        !*stop
    }
}
