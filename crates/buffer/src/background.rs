//! The background thread that keeps frames free.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use base::sync::{Event, LatchLevel, Mutex};
use env::Thread;

use crate::error::{Error, Result};
use crate::pool::Pool;

/// The pool's side of the background thread.
#[derive(Debug)]
pub(crate) struct Writer {
    enabled: bool,
    signal: Arc<Signal>,
    thread: Mutex<Option<Thread<()>>>,
}

/// What pool and thread share; it outlives the pool while the thread runs.
#[derive(Debug, Default)]
struct Signal {
    wanted: Event,
    /// Set by a request until the thread takes it up, so that a crowd of requests is one notification.
    pending: AtomicBool,
    stop: AtomicBool,
}

impl Writer {
    pub(crate) fn new(enabled: bool) -> Self {
        let thread = Mutex::new(LatchLevel::Leaf, None);
        Writer { enabled, signal: Arc::default(), thread }
    }

    /// Starts the thread of `pool`. It does not keep the pool alive.
    pub(crate) fn start(pool: &Arc<Pool>) -> Result<()> {
        let (weak, signal) = (Arc::downgrade(pool), Arc::clone(&pool.writer.signal));
        let thread = env::spawn_background("page-writer", move || run(&weak, &signal)).map_err(Error::io)?;
        *pool.writer.thread.lock() = Some(thread);
        Ok(())
    }

    /// Asks for free frames; false if there is no thread to ask.
    pub(crate) fn request(&self) -> bool {
        // AcqRel pairs with the swap in `run`: a request made after that swap starts another round.
        if self.enabled && !self.signal.pending.swap(true, Ordering::AcqRel) {
            self.signal.wanted.notify_all();
        }
        self.enabled && !self.signal.stop.load(Ordering::Acquire)
    }

    /// Ends the thread after the round it is in, and waits for it.
    pub(crate) fn stop(&self) {
        self.signal.stop.store(true, Ordering::Release);
        self.signal.wanted.notify_all();
        let thread = self.thread.lock().take();
        // The last owner of a pool may be the thread itself, in the middle of a round; it ends by itself.
        if let Some(thread) = thread.filter(|thread| !thread.is_current()) {
            thread.join();
        }
    }
}

/// Works while frames are wanted, then sleeps until asked.
fn run(pool: &Weak<Pool>, signal: &Signal) {
    loop {
        let ticket = signal.wanted.ticket();
        signal.pending.swap(false, Ordering::AcqRel);
        if signal.stop.load(Ordering::Acquire) {
            return;
        }
        let Some(pool) = pool.upgrade() else { return };
        // The pool remembers a failed write and refuses changes from then on; waiting threads find the
        // failure there.
        let progress = pool.refill().unwrap_or(0);
        if progress > 0 && pool.wants_frames() {
            continue;
        }
        drop(pool);
        signal.wanted.wait(ticket, None);
    }
}
