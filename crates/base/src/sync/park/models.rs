//! Waiting under the model checker.

use std::sync::Arc;

use super::super::atomic::AtomicU64;
use super::super::model::{UnsafeCell, explore, spawn};
use super::*;

#[test]
fn who_takes_a_ticket_and_looks_sleeps_through_nothing() {
    explore(3, || {
        let shared = Arc::new((Event::new(), AtomicU64::new(0)));
        let teller = {
            let shared = Arc::clone(&shared);
            spawn(move || {
                shared.1.store(1, Ordering::Relaxed);
                shared.0.notify_all();
            })
        };
        let (event, state) = &*shared;
        loop {
            let ticket = event.ticket();
            if state.load(Ordering::Relaxed) == 1 {
                break;
            }
            event.wait(ticket, None);
        }
        teller.join().unwrap();
    });
}

#[test]
fn who_waits_for_a_word_sees_what_was_written_before_it() {
    explore(3, || {
        let shared = Arc::new((AtomicU32::new(0), UnsafeCell::new(())));
        let waker = {
            let shared = Arc::clone(&shared);
            spawn(move || {
                shared.1.with_mut(|_| ());
                shared.0.store(1, Ordering::Release);
                wake_all(&shared.0);
            })
        };
        wait_while_equal(&shared.0, 0, None);
        shared.1.with(|_| ());
        waker.join().unwrap();
    });
}
