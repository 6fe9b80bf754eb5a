use super::*;
use std::cell::UnsafeCell;
use std::sync::atomic::AtomicUsize;

#[test]
fn sharers_exclude_a_writer_and_a_writer_excludes_all() {
    let latch = Latch::new();
    latch.shared();
    assert!(latch.try_shared());
    assert!(!latch.try_exclusive());
    latch.release_shared();
    latch.release_shared();
    assert!(latch.try_exclusive());
    assert!(!latch.try_shared());
    assert!(!latch.try_exclusive());
    latch.release_exclusive();
    assert!(!latch.is_held());
}

#[test]
fn only_exclusive_holds_move_the_version() {
    let latch = Latch::new();
    latch.shared();
    latch.release_shared();
    assert_eq!(latch.version(), 0);
    latch.exclusive();
    latch.release_exclusive();
    assert_eq!(latch.version(), 1);
    latch.exclusive();
    latch.downgrade();
    assert_eq!(latch.version(), 2);
    assert!(latch.try_shared());
    latch.release_shared();
    latch.release_shared();
    assert!(!latch.is_held());
}

#[test]
fn the_version_wraps_without_touching_the_state() {
    let latch = Latch(AtomicU64::new(!STATE));
    latch.exclusive();
    latch.release_exclusive();
    assert_eq!(latch.0.load(Ordering::Relaxed), 0);
}

#[test]
fn one_sharer_too_many_waits_and_the_writer_bit_survives() {
    let latch = Latch(AtomicU64::new(SHARERS - 1));
    assert!(latch.try_shared());
    assert!(!latch.try_shared());
    assert_eq!(latch.0.load(Ordering::Relaxed), SHARERS);
}

#[test]
fn a_waiting_writer_is_not_overtaken_by_new_sharers() {
    let latch = Latch::new();
    latch.shared();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            latch.exclusive();
            latch.release_exclusive();
        });
        while latch.0.load(Ordering::Relaxed) & WAITERS == 0 {
            std::thread::yield_now();
        }
        assert!(!latch.try_shared());
        latch.release_shared();
    });
    assert_eq!(latch.version(), 1);
    assert!(latch.try_shared());
}

#[test]
fn a_downgrade_lets_waiting_sharers_in() {
    let latch = Latch::new();
    latch.exclusive();
    std::thread::scope(|scope| {
        let sharer = scope.spawn(|| latch.shared());
        while latch.0.load(Ordering::Relaxed) & WAITERS == 0 {
            std::thread::yield_now();
        }
        latch.downgrade();
        sharer.join().unwrap();
    });
    assert_eq!(latch.0.load(Ordering::Relaxed) & STATE, 2);
}

/// Two words that every holder must find equal.
struct Pair(UnsafeCell<[u64; 2]>);

#[expect(unsafe_code, reason = "the latch under test is what makes the sharing sound")]
// SAFETY: every access in the test below happens under the latch.
unsafe impl Sync for Pair {}

#[test]
#[expect(unsafe_code, reason = "the latch under test is what makes the access sound")]
fn many_threads_see_whole_writes_only_and_no_wake_up_is_lost() {
    const THREADS: u64 = 8;
    const ROUNDS: u64 = if cfg!(miri) { 100 } else { 4000 };
    let latch = Latch::new();
    let pair = Pair(UnsafeCell::new([0; 2]));
    let sharing = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for seed in 0..THREADS {
            let (latch, pair, sharing) = (&latch, &pair, &sharing);
            scope.spawn(move || {
                let mut prng = crate::prng::Prng::new(seed);
                for round in 0..ROUNDS {
                    if round % 2 == 0 {
                        latch.exclusive();
                        // SAFETY: held exclusively.
                        let words = unsafe { &mut *pair.0.get() };
                        words[0] += 1;
                        // Every so often the holder is descheduled, so that others really park.
                        if prng.below(64) == 0 {
                            std::thread::yield_now();
                        }
                        words[1] += 1;
                        if prng.below(2) == 0 {
                            latch.downgrade();
                            latch.release_shared();
                        } else {
                            latch.release_exclusive();
                        }
                    } else {
                        latch.shared();
                        sharing.fetch_add(1, Ordering::Relaxed);
                        // SAFETY: held shared.
                        let words = unsafe { *pair.0.get() };
                        assert_eq!(words[0], words[1]);
                        latch.release_shared();
                    }
                }
            });
        }
    });
    assert_eq!(latch.0.load(Ordering::Relaxed) & STATE, 0);
    assert_eq!(latch.version(), THREADS * ROUNDS / 2);
    assert_eq!(sharing.into_inner() as u64, THREADS * ROUNDS / 2);
}
