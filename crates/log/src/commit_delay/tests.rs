//! Whom a leader waits for, with syncs of a given length.

use super::*;

const SYNC_NS: u64 = 1_000_000;

/// Committers that come at given moments. No committer comes while a leader waits.
#[derive(Debug, Default)]
struct Commits {
    waiters: CommitWaiters,
    delay: CommitDelay,
}

impl Commits {
    fn come(&self, committers: u64) {
        (0..committers).for_each(|_| self.waiters.add());
    }

    /// A sync of this length, during which `meanwhile` committers come. True if its leader waited without
    /// effect.
    fn sync(&mut self, meanwhile: u64, took_ns: u64) -> bool {
        let pause = self.delay.pause;
        self.delay.gather(&self.waiters);
        let is_timed = self.delay.begun_ns().is_some();
        self.come(meanwhile);
        self.delay.synced(&self.waiters);
        if is_timed {
            self.delay.sync_took(took_ns);
        }
        self.delay.pause > pause
    }
}

#[test]
fn one_who_commits_alone_waits_for_nobody() {
    let mut commits = Commits::default();
    for _ in 0..100 {
        commits.come(1);
        assert!(!commits.sync(0, SYNC_NS));
        assert!(commits.delay.begun_ns().is_none(), "asks no clock");
    }
}

#[test]
fn nobody_is_waited_for_once_all_are_there() {
    let mut commits = Commits::default();
    commits.come(1);
    commits.sync(3, SYNC_NS);
    commits.come(1);
    assert!(!commits.sync(0, SYNC_NS));
    for _ in 0..100 {
        commits.come(4);
        assert!(!commits.sync(0, SYNC_NS));
    }
}

#[test]
fn a_leader_waits_for_those_let_go_and_those_who_came_meanwhile() {
    let mut commits = Commits::default();
    commits.come(2);
    assert!(!commits.sync(2, SYNC_NS));
    let Commits { waiters, delay } = &mut commits;
    delay.sync_ns = 600_000_000_000;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while waiters.awaited.load(Ordering::SeqCst) != 6 {
                std::thread::yield_now();
            }
            waiters.add();
            waiters.add();
        });
        delay.gather(waiters);
    });
    assert_eq!((delay.begun, delay.misses), (6, 0));
    delay.synced(waiters);
    assert_eq!(delay.group, 4);
}

#[test]
fn who_went_away_is_waited_for_once() {
    let mut commits = Commits::default();
    commits.come(4);
    commits.sync(0, SYNC_NS);
    commits.come(3);
    assert!(commits.sync(0, SYNC_NS));
    for _ in 0..100 {
        commits.come(3);
        assert!(!commits.sync(0, SYNC_NS));
    }
}

#[test]
fn vain_delays_become_rare_until_one_is_not() {
    let mut commits = Commits::default();
    commits.come(1);
    let vain = (0..1000).filter(|_| commits.sync(1, SYNC_NS)).count();
    assert!((15..=25).contains(&vain), "{vain} of 1000");
    commits.come(1);
    commits.delay.pause = 0;
    commits.sync(0, SYNC_NS);
    assert!(commits.sync(1, SYNC_NS), "all were there the last time");
}

#[test]
fn short_syncs_are_not_delayed() {
    let shortest_ns = 2 * DELAY_MIN_NS;
    for (took_ns, is_delayed) in [(shortest_ns, true), (shortest_ns - 1, false)] {
        let mut commits = Commits::default();
        commits.come(2);
        commits.sync(2, took_ns);
        assert_eq!(commits.sync(0, SYNC_NS), is_delayed);
    }
}

#[test]
fn one_long_sync_does_not_make_the_next_delay_long() {
    let mut commits = Commits::default();
    for took_ns in [200_000, 10_000_000_000] {
        commits.come(2);
        commits.sync(0, took_ns);
    }
    assert_eq!(commits.delay.sync_ns, 1_400_000);
}
