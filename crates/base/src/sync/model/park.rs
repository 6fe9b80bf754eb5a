//! Parking by address in a model: a queue of sleepers for each address, under a lock that the checker knows.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use loom::sync::Mutex;
use loom::thread::Thread;

use crate::sync::park::{Choice, Wake};

#[derive(Debug)]
struct Sleeper {
    kind: usize,
    /// Only looked at by threads of the model, one of which runs at a time.
    woken: Arc<AtomicBool>,
    thread: Thread,
}

type Queue = Arc<Mutex<Vec<Sleeper>>>;

thread_local! {
    /// All threads of a model share the thread that explores it.
    static QUEUES: RefCell<HashMap<usize, Queue>> = RefCell::new(HashMap::new());
}

fn queue_of(addr: usize) -> Queue {
    QUEUES.with_borrow_mut(|queues| Arc::clone(queues.entry(addr).or_default()))
}

/// Begins a new execution.
pub(super) fn forget_all() {
    QUEUES.with_borrow_mut(HashMap::clear);
}

/// As that of `parking_lot_core`. Time does not go by in a model: a wait with a deadline lets others run and
/// is over.
pub(crate) fn park(
    addr: usize,
    kind: usize,
    deadline: Option<Instant>,
    still_wanted: impl FnOnce() -> bool,
) -> Wake {
    let queue = queue_of(addr);
    let mut sleepers = queue.lock().expect("never poisoned");
    if !still_wanted() {
        return Wake::Stale;
    }
    if deadline.is_some() {
        drop(sleepers);
        loom::thread::yield_now();
        return Wake::TimedOut;
    }
    let woken = Arc::new(AtomicBool::new(false));
    sleepers.push(Sleeper { kind, woken: Arc::clone(&woken), thread: loom::thread::current() });
    drop(sleepers);
    while !woken.load(Ordering::Relaxed) {
        loom::thread::park();
    }
    Wake::Unparked
}

/// As `unpark_filter` of `parking_lot_core`.
pub(crate) fn unpark(addr: usize, mut choose: impl FnMut(usize) -> Choice, done: impl FnOnce(bool)) {
    let queue = queue_of(addr);
    let mut sleepers = queue.lock().expect("never poisoned");
    let mut awake = Vec::new();
    let mut at = 0;
    while let Some(sleeper) = sleepers.get(at) {
        match choose(sleeper.kind) {
            Choice::Wake => awake.push(sleepers.remove(at)),
            Choice::PassOver => at += 1,
            Choice::Stop => break,
        }
    }
    done(!sleepers.is_empty());
    drop(sleepers);
    for sleeper in awake {
        sleeper.woken.store(true, Ordering::Relaxed);
        sleeper.thread.unpark();
    }
}
