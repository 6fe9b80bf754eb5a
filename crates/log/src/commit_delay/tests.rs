//! Whom a leader waits for, with syncs of a given length.

use super::*;

const SYNC: Duration = Duration::from_millis(1);

/// Committers who come when they are told to. Nobody comes while a leader waits.
#[derive(Debug, Default)]
struct Commits {
    arrivals: Arrivals,
    delay: CommitDelay,
}

impl Commits {
    fn come(&self, committers: u64) {
        (0..committers).for_each(|_| self.arrivals.add());
    }

    /// A sync of such length, while which so many come. True if its leader waited, which was in vain.
    fn sync(&mut self, meanwhile: u64, took: Duration) -> bool {
        let pause = self.delay.pause;
        self.delay.gather(&self.arrivals);
        let took = self.delay.has_company().then_some(took);
        self.come(meanwhile);
        self.delay.synced(&self.arrivals, took);
        self.delay.pause > pause
    }
}

#[test]
fn one_who_commits_alone_waits_for_nobody() {
    let mut commits = Commits::default();
    for _ in 0..100 {
        commits.come(1);
        assert!(!commits.sync(0, SYNC));
        assert!(!commits.delay.has_company(), "takes no time either");
    }
}

#[test]
fn nobody_is_waited_for_once_all_are_there() {
    let mut commits = Commits::default();
    commits.come(1);
    commits.sync(3, SYNC);
    commits.come(1);
    assert!(!commits.sync(0, SYNC));
    for _ in 0..100 {
        commits.come(4);
        assert!(!commits.sync(0, SYNC));
    }
}

#[test]
fn a_leader_waits_for_those_let_go_and_those_who_came_meanwhile() {
    let mut commits = Commits::default();
    commits.come(2);
    assert!(!commits.sync(2, SYNC));
    let Commits { arrivals, delay } = &mut commits;
    delay.sync_time = Duration::from_secs(600);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while arrivals.awaited.load(Ordering::SeqCst) != 6 {
                std::thread::yield_now();
            }
            arrivals.add();
            arrivals.add();
        });
        delay.gather(arrivals);
    });
    assert_eq!((delay.begun, delay.misses), (6, 0));
    delay.synced(arrivals, Some(SYNC));
    assert_eq!(delay.group, 4);
}

#[test]
fn who_went_away_is_waited_for_once() {
    let mut commits = Commits::default();
    commits.come(4);
    commits.sync(0, SYNC);
    commits.come(3);
    assert!(commits.sync(0, SYNC));
    for _ in 0..100 {
        commits.come(3);
        assert!(!commits.sync(0, SYNC));
    }
}

#[test]
fn vain_delays_become_rare_until_one_is_not() {
    let mut commits = Commits::default();
    commits.come(1);
    let vain = (0..1000).filter(|_| commits.sync(1, SYNC)).count();
    assert!((15..=25).contains(&vain), "{vain} of 1000");
    commits.come(1);
    commits.delay.pause = 0;
    commits.sync(0, SYNC);
    assert!(commits.sync(1, SYNC), "all were there the last time");
}

#[test]
fn short_syncs_are_not_delayed() {
    let longest = 2 * DELAY_MIN;
    for (took, is_delayed) in [(longest, true), (longest.saturating_sub(Duration::from_nanos(1)), false)] {
        let mut commits = Commits::default();
        commits.come(2);
        commits.sync(2, took);
        assert_eq!(commits.sync(0, SYNC), is_delayed);
    }
}

#[test]
fn one_long_sync_does_not_make_the_next_delay_long() {
    let mut commits = Commits::default();
    for took in [Duration::from_micros(200), Duration::from_secs(10)] {
        commits.come(2);
        commits.sync(0, took);
    }
    assert_eq!(commits.delay.sync_time, Duration::from_micros(1400));
}
