//! The latch under the model checker.

use std::sync::Arc;

use super::*;
use crate::sync::atomic::fence;
use crate::sync::model::{UnsafeCell, explore, spawn};

/// A latch and plain memory that it protects.
#[derive(Debug, Default)]
struct Page {
    latch: Latch,
    bytes: UnsafeCell<[u64; 2]>,
}

#[expect(unsafe_code, reason = "the latch under test is what makes the sharing sound")]
// SAFETY: the checker fails on every access that the latch does not order.
unsafe impl Send for Page {}
#[expect(unsafe_code, reason = "the latch under test is what makes the sharing sound")]
// SAFETY: as above.
unsafe impl Sync for Page {}

impl Page {
    /// Adds one to both words. Held exclusively.
    #[expect(unsafe_code, reason = "the latch under test is what makes the access sound")]
    fn write(&self) {
        self.bytes.with_mut(|bytes| {
            // SAFETY: held exclusively; the checker watches.
            let bytes = unsafe { &mut *bytes };
            *bytes = bytes.map(|word| word + 1);
        });
    }

    /// The value of both words. Held.
    #[expect(unsafe_code, reason = "the latch under test is what makes the access sound")]
    fn read(&self) -> u64 {
        // SAFETY: held at least shared; the checker watches.
        let [first, second] = self.bytes.with(|bytes| unsafe { *bytes });
        assert_eq!(first, second, "half of a write");
        first
    }
}

/// Runs the works at the same time, and the first also on the thread that starts them.
fn at_once<const N: usize>(works: [fn(&Page); N]) -> Arc<Page> {
    let page = Arc::new(Page::default());
    let [first, others @ ..] = &works[..] else { unreachable!("a model has threads") };
    let threads: Vec<_> = others
        .iter()
        .map(|&work| {
            let page = Arc::clone(&page);
            spawn(move || work(&page))
        })
        .collect();
    first(&page);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert!(!page.latch.is_held(), "everybody has let go");
    assert_eq!(page.latch.0.load(Ordering::Relaxed) & WAITERS, 0, "nobody is left asleep");
    page
}

fn write(page: &Page) {
    page.latch.exclusive();
    page.write();
    page.latch.release_exclusive();
}

fn read(page: &Page) {
    page.latch.shared();
    page.read();
    page.latch.release_shared();
}

fn try_write(page: &Page) {
    if page.latch.try_exclusive() {
        page.write();
        page.latch.release_exclusive();
    }
}

fn try_read(page: &Page) {
    if page.latch.try_shared() {
        page.read();
        page.latch.release_shared();
    }
}

fn write_and_read_on(page: &Page) {
    page.latch.exclusive();
    page.write();
    page.latch.downgrade();
    page.read();
    page.latch.release_shared();
}

#[test]
fn writers_exclude_each_other_and_none_sleeps_for_ever() {
    explore(2, || assert_eq!(at_once([write, write, write]).read(), 3));
}

#[test]
fn a_reader_sees_no_half_of_a_write_and_ends_before_the_next() {
    explore(2, || assert_eq!(at_once([write, read, write]).read(), 2));
}

#[test]
fn readers_that_wait_for_a_writer_are_all_woken() {
    explore(2, || assert_eq!(at_once([write, read, read]).read(), 1));
}

#[test]
fn a_downgrade_lets_readers_in_and_no_writer() {
    explore(2, || assert_eq!(at_once([write_and_read_on, read, write]).read(), 2));
}

#[test]
fn who_tries_excludes_as_who_waits() {
    explore(2, || {
        at_once([try_write, try_read, write]);
    });
    explore(2, || {
        at_once([write_and_read_on, try_write, try_read]);
    });
}

#[test]
fn who_sees_a_version_sees_what_was_written_before_it() {
    explore(3, || {
        let page = at_once([
            |page| {
                if page.latch.version() == 2 {
                    assert_eq!(page.read(), 2);
                }
            },
            |page| {
                write(page);
                write_and_read_on(page);
            },
        ]);
        assert_eq!(page.latch.version(), 2);
    });
}

/// What docs/latching.md, rule 10, asks of readers without a latch, and of writers of pages that have such:
/// words that are atomics, a fence before the version is compared, and a fence between taking the latch and
/// the first store.
#[test]
fn an_optimistic_reader_accepts_no_torn_data() {
    explore(3, || {
        let page = Arc::new((Latch::new(), [AtomicU64::new(0), AtomicU64::new(0)]));
        let writer = {
            let page = Arc::clone(&page);
            spawn(move || {
                page.0.exclusive();
                fence(Ordering::Release);
                page.1.iter().for_each(|word| word.store(1, Ordering::Relaxed));
                page.0.release_exclusive();
            })
        };
        let (latch, words) = &*page;
        let before = latch.0.load(Ordering::Acquire);
        let [first, second] = [0, 1].map(|at: usize| words[at].load(Ordering::Relaxed));
        fence(Ordering::Acquire);
        if before & EXCLUSIVE == 0 && latch.0.load(Ordering::Relaxed) == before {
            assert_eq!(first, second, "half of a write was accepted");
        }
        writer.join().unwrap();
    });
}
