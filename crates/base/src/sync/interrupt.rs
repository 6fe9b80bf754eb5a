//! The interrupt flag of the statement that a thread runs.
//!
//! A session's thread registers the flag that KILL sets. Long loops deep in the storage layers and in pure
//! functions over values ask it, so that no layer in between passes a flag down. A loop that asks must be
//! able to end early: with an error, or with a result that its caller drops after asking again. Commit and
//! rollback never ask. Background threads have no flag and are never interrupted.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

thread_local! {
    static FLAG: RefCell<Option<Arc<AtomicBool>>> = const { RefCell::new(None) };
}

/// The flag of this thread from now on; `None` to forget it.
pub fn set_flag(flag: Option<Arc<AtomicBool>>) {
    FLAG.set(flag);
}

/// Whether this thread has a flag.
pub fn is_registered() -> bool {
    FLAG.with_borrow(Option::is_some)
}

/// Whether this thread's statement is to end. Cost: a thread-local read and a relaxed load.
#[inline]
pub fn is_requested() -> bool {
    FLAG.with_borrow(|flag| flag.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_thread_asks_its_own_flag() {
        let flag = Arc::new(AtomicBool::new(false));
        assert!(!is_requested());
        set_flag(Some(Arc::clone(&flag)));
        assert!(is_registered() && !is_requested());
        flag.store(true, Ordering::Relaxed);
        assert!(is_requested());
        assert!(!std::thread::spawn(is_requested).join().unwrap());
        set_flag(None);
        assert!(!is_registered() && !is_requested());
    }
}
