//! Ends SELECTs that run for longer than `max_execution_time`.
//!
//! One thread waits for the earliest deadline. It starts with the first statement that has one and ends when
//! none has had one for a while, so a server without limits pays nothing.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};
use std::thread;
use std::time::{Duration, Instant};

use engine::Engine;
use parking_lot::{Condvar, Mutex};

use crate::process_list::{Kill, Process};

/// The thread ends after so long without a deadline.
const LINGER: Duration = Duration::from_secs(5);

/// The deadlines of the statements in progress.
#[derive(Debug, Default)]
pub struct Deadlines(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    /// An earlier deadline than all before has come.
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// By time, then by number.
    waiting: BTreeMap<(Instant, u64), Arc<Process>>,
    next_number: u64,
    /// The thread is there.
    has_thread: bool,
}

/// A statement's deadline; dropping it takes the deadline back, and the request to end the statement with it.
#[derive(Debug)]
pub struct Armed {
    shared: Arc<Shared>,
    key: (Instant, u64),
    process: Arc<Process>,
}

impl Deadlines {
    /// Ends the statement of `process` once `limit` has passed. `None` if that cannot be had: no thread could
    /// be started.
    pub fn arm(&self, process: &Arc<Process>, limit: Duration, engine: &Arc<Engine>) -> Option<Armed> {
        let shared = &self.0;
        let mut state = shared.state.lock();
        if !state.has_thread {
            let (shared, engine) = (Arc::clone(&self.0), Arc::downgrade(engine));
            let builder = thread::Builder::new().name("deadlines".to_owned());
            builder.spawn(move || watch(&shared, &engine)).ok()?;
            state.has_thread = true;
        }
        // A limit beyond the clock's end is as good as a day far away.
        let now = Instant::now();
        let key = (now.checked_add(limit).unwrap_or(now + Duration::from_secs(1 << 32)), state.next_number);
        state.next_number += 1;
        let is_first = state.waiting.first_key_value().is_none_or(|(first, _)| key < *first);
        state.waiting.insert(key, Arc::clone(process));
        drop(state);
        if is_first {
            shared.changed.notify_one();
        }
        Some(Armed { shared: Arc::clone(shared), key, process: Arc::clone(process) })
    }
}

impl Armed {
    /// Whether the deadline has passed and no KILL came before it.
    pub(crate) fn has_passed(&self) -> bool {
        self.process.kill_requested() == Kill::Timeout
    }
}

impl Drop for Armed {
    fn drop(&mut self) {
        // Under the mutex: the thread either has asked already, or never does.
        let mut state = self.shared.state.lock();
        if state.waiting.remove(&self.key).is_none() {
            self.process.forget_timeout();
        }
    }
}

/// The thread: asks each statement to end when its time is over.
fn watch(shared: &Shared, engine: &Weak<Engine>) {
    let mut state = shared.state.lock();
    loop {
        let now = Instant::now();
        let mut passed = false;
        while let Some(first) = state.waiting.first_entry().filter(|first| first.key().0 <= now) {
            first.remove().kill(Kill::Timeout);
            passed = true;
        }
        if passed {
            // Statements that wait for a row's lock check their flags.
            let engine = engine.upgrade();
            parking_lot::MutexGuard::unlocked(&mut state, || {
                if let Some(engine) = engine {
                    engine.trx_system().wake_waiters();
                }
            });
            continue;
        }
        let next = state.waiting.first_key_value().map(|((time, _), _)| *time);
        let timed_out = shared.changed.wait_until(&mut state, next.unwrap_or(now + LINGER)).timed_out();
        if timed_out && next.is_none() && state.waiting.is_empty() {
            state.has_thread = false;
            return;
        }
    }
}
