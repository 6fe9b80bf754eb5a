//! Waiting for committers under the model checker.

use std::sync::Arc;

use base::sync::model::{explore, spawn};

use super::*;

#[test]
fn who_makes_the_awaited_number_is_seen_or_tells() {
    explore(3, || {
        let waiters = Arc::new(CommitWaiters::default());
        let committers = [(); 2].map(|()| {
            let waiters = Arc::clone(&waiters);
            spawn(move || waiters.add())
        });
        while !waiters.wait_for(2, None) {}
        committers.into_iter().for_each(|committer| committer.join().unwrap());
    });
}
