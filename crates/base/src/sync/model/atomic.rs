//! The checker's atomics, with an order among sequentially consistent accesses, and orderings that can be
//! made weaker.
//!
//! Beside each value is a second word, which makes up for two things that the checker does not do.
//!
//! *The order among SeqCst accesses.* The checker treats SeqCst as AcqRel. Here a SeqCst store or exchange
//! releases the second word right after, and a SeqCst load acquires it before. Exchanges always find the
//! newest value, so that a load sees the last such store that came before it in the order of execution, which
//! so is the order among all of them. Accesses with less than SeqCst get nothing from it.
//!
//! *All orders of threads.* The checker goes back to change places with the last access to an object only. A
//! thread that loads and then stores hides its store behind its load from another thread's earlier load, and
//! the order in which the store comes first is never tried. Each access ends with an exchange of the second
//! word, so that any two are tried both ways.

use std::panic::Location;

use loom::sync::atomic as checked;

use super::Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst};
use super::weakened;

/// The second word.
#[derive(Debug, Default)]
struct Shadow(checked::AtomicUsize);

impl Shadow {
    fn before_load(&self, ordering: Ordering) {
        if ordering == SeqCst {
            self.0.fetch_add(0, Acquire);
        }
    }

    fn after_load(&self) {
        self.touch(Relaxed);
    }

    fn after_store(&self, ordering: Ordering) {
        self.touch(if ordering == SeqCst { Release } else { Relaxed });
    }

    /// Part of the access before it: no thread comes in between.
    fn touch(&self, ordering: Ordering) {
        loom::stop_exploring();
        self.0.fetch_add(1, ordering);
        loom::explore();
    }
}

/// `ordering` without what a load cannot have.
fn of_load(ordering: Ordering) -> Ordering {
    match ordering {
        Release => Relaxed,
        AcqRel => Acquire,
        other => other,
    }
}

/// `ordering` without what a store cannot have.
fn of_store(ordering: Ordering) -> Ordering {
    match ordering {
        Acquire => Relaxed,
        AcqRel => Release,
        other => other,
    }
}

/// As std's; made as weak as it gets, there is none.
#[track_caller]
pub fn fence(ordering: Ordering) {
    match weakened(ordering, Location::caller()) {
        Relaxed => {}
        ordering => checked::fence(ordering),
    }
}

macro_rules! atomic {
    ($name:ident, $value:ty, $doc:literal, [$($exchange:ident),*]) => {
        #[doc = $doc]
        #[derive(Debug, Default)]
        pub struct $name {
            value: checked::$name,
            shadow: Shadow,
        }

        #[allow(missing_docs, reason = "the calls are those of std")]
        impl $name {
            pub fn new(value: $value) -> Self {
                $name { value: checked::$name::new(value), shadow: Shadow::default() }
            }

            #[track_caller]
            pub fn load(&self, ordering: Ordering) -> $value {
                let ordering = of_load(weakened(ordering, Location::caller()));
                self.shadow.before_load(ordering);
                let value = self.value.load(ordering);
                self.shadow.after_load();
                value
            }

            #[track_caller]
            pub fn store(&self, value: $value, ordering: Ordering) {
                let ordering = of_store(weakened(ordering, Location::caller()));
                if ordering == SeqCst {
                    // As an exchange, which comes after all before it: the order of execution is that of the
                    // stores, too.
                    self.value.swap(value, Release);
                } else {
                    self.value.store(value, ordering);
                }
                self.shadow.after_store(ordering);
            }

            #[track_caller]
            pub fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                let success = weakened(success, Location::caller());
                let failure = of_load(weakened(failure, Location::caller()));
                let exchanged = self.value.compare_exchange(current, new, success, failure);
                self.shadow.after_store(if exchanged.is_ok() { success } else { Relaxed });
                exchanged
            }

            #[track_caller]
            pub fn compare_exchange_weak(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                self.compare_exchange(current, new, success, failure)
            }

            #[track_caller]
            pub fn fetch_update(
                &self,
                set: Ordering,
                fetch: Ordering,
                mut update: impl FnMut($value) -> Option<$value>,
            ) -> Result<$value, $value> {
                let mut now = self.load(fetch);
                while let Some(next) = update(now) {
                    match self.compare_exchange(now, next, set, fetch) {
                        Ok(before) => return Ok(before),
                        Err(other) => now = other,
                    }
                }
                Err(now)
            }

            $(
                #[track_caller]
                pub fn $exchange(&self, value: $value, ordering: Ordering) -> $value {
                    let ordering = weakened(ordering, Location::caller());
                    let before = self.value.$exchange(value, ordering);
                    self.shadow.after_store(ordering);
                    before
                }
            )*
        }
    };
}

atomic!(AtomicBool, bool, "As std's.", [swap, fetch_or, fetch_and]);
atomic!(AtomicU32, u32, "As std's.", [swap, fetch_add, fetch_sub, fetch_or, fetch_and, fetch_max, fetch_min]);
atomic!(AtomicU64, u64, "As std's.", [swap, fetch_add, fetch_sub, fetch_or, fetch_and, fetch_max, fetch_min]);
atomic!(
    AtomicUsize,
    usize,
    "As std's.",
    [swap, fetch_add, fetch_sub, fetch_or, fetch_and, fetch_max, fetch_min]
);
