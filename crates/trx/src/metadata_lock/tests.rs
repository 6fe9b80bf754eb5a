//! The metadata lock, by threads and waits that end in time.

use super::*;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

const SHORT: Duration = Duration::from_millis(20);
const LONG: Duration = Duration::from_mins(1);

#[test]
fn shared_locks_share_and_exclude_the_exclusive_one() {
    let lock = MetadataLock::default();
    assert!(lock.try_shared(TableUse::Read, false) && lock.try_shared(TableUse::Read, false));
    assert_eq!(lock.lock_exclusive(&SHORT.into()), Err(Error::LockWaitTimeout));
    lock.unlock_shared(TableUse::Read);
    lock.unlock_shared(TableUse::Read);
    assert_eq!(lock.lock_exclusive(&SHORT.into()), Ok(()));
    assert!(!lock.try_shared(TableUse::Read, true));
    assert_eq!(lock.lock_shared(TableUse::Read, true, SHORT), Err(Error::LockWaitTimeout));
    lock.unlock_exclusive();
    assert!(lock.try_shared(TableUse::Read, false));
}

#[test]
fn a_waiting_owner_stops_newcomers_but_not_holders_of_other_locks() {
    let lock = Arc::new(MetadataLock::default());
    assert!(lock.try_shared(TableUse::Read, false));
    let waiter = std::thread::spawn({
        let lock = Arc::clone(&lock);
        move || lock.own(&LONG.into())
    });
    while lock.state.load(Ordering::Relaxed) & PENDING == 0 {
        std::thread::yield_now();
    }
    assert!(!lock.try_shared(TableUse::Read, false));
    assert!(lock.try_shared(TableUse::Read, true));
    lock.unlock_shared(TableUse::Read);
    lock.unlock_shared(TableUse::Read);
    assert_eq!(waiter.join().unwrap(), Ok(()));
    lock.disown();
    assert_eq!(lock.state.load(Ordering::Relaxed), 0);
}

#[test]
fn who_changes_a_definition_stops_newcomers_for_a_moment_at_a_time() {
    let lock = Arc::new(MetadataLock::default());
    assert!(lock.try_shared(TableUse::Read, false));
    let waiter = std::thread::spawn({
        let lock = Arc::clone(&lock);
        move || lock.lock_exclusive(&LONG.into())
    });
    let mut kept_out = 0;
    while kept_out < 3 {
        assert!(!waiter.is_finished(), "the table is in use");
        if !lock.try_shared(TableUse::Write, false) {
            kept_out += 1;
            assert_eq!(lock.lock_shared(TableUse::Write, false, LONG), Ok(()), "it passes in the pause");
        }
        lock.unlock_shared(TableUse::Write);
    }
    lock.unlock_shared(TableUse::Read);
    assert_eq!(waiter.join().unwrap(), Ok(()));
    lock.unlock_exclusive();
    assert_eq!(lock.state.load(Ordering::Relaxed), 0);
}

#[test]
fn while_a_build_lets_writers_in_others_that_wait_keep_nobody_out() {
    let lock = Arc::new(MetadataLock::default());
    lock.lock_for_rebuild(&LONG.into()).unwrap();
    let start = |n| {
        let lock = Arc::clone(&lock);
        let wait = ExclusiveWait { session: 7, ..LONG.into() };
        std::thread::spawn(move || match n {
            0 => lock.lock_for_rebuild(&LONG.into()).map(|()| lock.unlock_read_only()),
            1 => lock.own(&wait).map(|()| lock.disown()),
            2 => lock.lock_exclusive(&wait).map(|()| lock.unlock_exclusive()),
            _ => lock.lock_read_only(&wait).map(|()| lock.unlock_read_only()),
        })
    };
    let all_wait = |count| {
        while lock.requests.lock().waiting() < count {
            std::thread::yield_now();
        }
    };
    let mut waiters: Vec<_> = (0..3).map(start).collect();
    all_wait(3);
    lock.admit_writers();
    waiters.push(start(3));
    all_wait(4);
    for _ in 0..100 {
        assert!(lock.try_shared(TableUse::Write, false) && lock.try_shared(TableUse::Read, false));
        lock.unlock_shared(TableUse::Read);
        lock.unlock_shared(TableUse::Write);
        assert_eq!(lock.state.load(Ordering::Relaxed), SHARED | WRITER);
        std::thread::sleep(Duration::from_millis(1));
    }
    lock.end_build();
    for waiter in waiters {
        assert_eq!(waiter.join().unwrap(), Ok(()));
    }
    assert_eq!(lock.state.load(Ordering::Relaxed), 0);
}

#[test]
fn many_threads_never_see_a_half_change() {
    let lock = Arc::new((MetadataLock::default(), AtomicU32::new(0)));
    let threads: Vec<_> = (0..4)
        .map(|n| {
            let lock = Arc::clone(&lock);
            std::thread::spawn(move || {
                for i in 0..300 {
                    if (i + n) % 5 == 0 {
                        lock.0.lock_exclusive(&LONG.into()).unwrap();
                        lock.1.fetch_add(1, Ordering::Relaxed);
                        std::thread::yield_now();
                        lock.1.fetch_add(1, Ordering::Relaxed);
                        lock.0.unlock_exclusive();
                    } else {
                        lock.0.lock_shared(TableUse::Read, false, LONG).unwrap();
                        assert_eq!(lock.1.load(Ordering::Relaxed) % 2, 0);
                        lock.0.unlock_shared(TableUse::Read);
                    }
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
}

#[test]
fn who_keeps_rows_from_changing_waits_for_those_who_change_them_and_keeps_them_out() {
    let lock = MetadataLock::default();
    let (read, write) = (TableUse::Read, TableUse::Write);
    assert!(lock.try_shared(write, false) && !lock.try_read_only());
    assert_eq!(lock.lock_read_only(&SHORT.into()), Err(Error::LockWaitTimeout));
    lock.unlock_shared(write);
    assert!(lock.try_shared(read, false));
    assert!(lock.try_read_only() && lock.try_read_only() && lock.try_shared(read, false));
    assert!(!lock.try_shared(write, true) && !lock.try_own(7));
    assert_eq!(lock.upgrade(SHORT, &|| Ok(())), Err(Error::LockWaitTimeout));
    lock.unlock_read_only();
    assert_eq!(lock.lock_shared(write, true, SHORT), Err(Error::LockWaitTimeout));
    lock.unlock_read_only();
    assert_eq!((lock.upgrade(SHORT, &|| Ok(())), lock.try_read_only()), (Ok(()), false));
    lock.unlock_shared(write);
    lock.unlock_shared(read);
    assert!(lock.try_own(7));
    let stopped = lock.lock_shared_unless(read, true, LONG, &|| Err(Error::Interrupted));
    assert_eq!(stopped, Err(Error::Interrupted));
    assert!(lock.is_owned_by(7) && !lock.is_owned_by(0) && !lock.is_owned_by(8));
    assert!(!lock.try_shared(read, true) && !lock.try_read_only() && !lock.try_own(8));
    let of = |session| ExclusiveWait { session, ..SHORT.into() };
    assert!(lock.try_shared(TableUse::Purge, false));
    assert_eq!(lock.lock_exclusive(&of(7)), Err(Error::LockWaitTimeout));
    lock.unlock_shared(TableUse::Purge);
    assert_eq!(lock.lock_exclusive(&of(8)), Err(Error::LockWaitTimeout));
    assert_eq!(lock.lock_exclusive(&of(7)), Ok(()));
    assert!(!lock.try_shared(TableUse::Purge, false));
    lock.unlock_exclusive();
    assert!(!lock.try_shared(read, true));
    lock.disown();
    assert_eq!(lock.state.load(Ordering::Relaxed), 0);
}

#[test]
fn an_owner_that_rebuilds_its_table_passes_those_who_wait_for_it() {
    let lock = Arc::new(MetadataLock::default());
    assert!(lock.try_own(7));
    let waiter = std::thread::spawn({
        let lock = Arc::clone(&lock);
        move || lock.lock_exclusive(&LONG.into())
    });
    while lock.state.load(Ordering::Relaxed) & WAITED == 0 {
        std::thread::yield_now();
    }
    let owner = ExclusiveWait { session: 7, ..SHORT.into() };
    assert_eq!((lock.lock_for_rebuild(&owner), lock.make_exclusive(&owner)), (Ok(()), Ok(())));
    lock.unlock_exclusive();
    assert_eq!(lock.lock_for_rebuild(&owner), Ok(()));
    lock.admit_writers();
    assert_eq!(lock.make_exclusive_from_writer(&owner), Ok(()));
    lock.unlock_exclusive();
    lock.disown();
    assert_eq!(waiter.join().unwrap(), Ok(()));
    lock.unlock_exclusive();
    assert_eq!(lock.state.load(Ordering::Relaxed), 0);
}

#[test]
fn who_lets_writers_in_keeps_others_from_keeping_them_out_and_waits_for_them_at_the_end() {
    let lock = MetadataLock::default();
    let (read, write) = (TableUse::Read, TableUse::Write);
    assert!(lock.try_shared(read, false));
    assert_eq!(lock.lock_for_rebuild(&SHORT.into()), Ok(()));
    assert!(!lock.try_shared(write, true));
    lock.admit_writers();
    assert!(lock.try_shared(write, false) && !lock.try_read_only() && !lock.try_own(7));
    assert_eq!(lock.lock_for_rebuild(&SHORT.into()), Err(Error::LockWaitTimeout));
    assert_eq!(lock.make_exclusive_from_writer(&SHORT.into()), Err(Error::LockWaitTimeout));
    assert!(lock.try_shared(write, false), "who has given up keeps nobody out");
    for use_ in [read, write, write] {
        assert_eq!(lock.make_exclusive_from_writer(&SHORT.into()), Err(Error::LockWaitTimeout));
        lock.unlock_shared(use_);
    }
    assert_eq!(lock.make_exclusive_from_writer(&SHORT.into()), Ok(()));
    assert!(!lock.try_shared(read, true));
    lock.unlock_exclusive();
    assert_eq!(lock.state.load(Ordering::Relaxed), 0);
}

#[test]
fn a_rebuild_lets_readers_go_on_until_it_takes_the_table() {
    let lock = MetadataLock::default();
    let (read, write) = (TableUse::Read, TableUse::Write);
    assert_eq!(lock.lock_for_rebuild(&SHORT.into()), Ok(()));
    assert_eq!(lock.lock_for_rebuild(&SHORT.into()), Err(Error::LockWaitTimeout));
    assert!(lock.try_shared(read, false) && !lock.try_shared(write, true));
    assert_eq!(lock.make_exclusive(&SHORT.into()), Err(Error::LockWaitTimeout));
    assert!(!lock.try_shared(write, true));
    lock.unlock_shared(read);
    assert_eq!(lock.make_exclusive(&SHORT.into()), Ok(()));
    assert!(!lock.try_shared(read, true));
    lock.unlock_exclusive();
    assert_eq!(lock.state.load(Ordering::Relaxed), 0);
    assert!(lock.try_own(7));
    let of = |session| ExclusiveWait { session, ..SHORT.into() };
    assert_eq!(lock.lock_for_rebuild(&of(8)), Err(Error::LockWaitTimeout));
    assert_eq!((lock.lock_for_rebuild(&of(7)), lock.make_exclusive(&of(7))), (Ok(()), Ok(())));
    lock.unlock_exclusive();
    lock.disown();
    assert_eq!(lock.state.load(Ordering::Relaxed), 0);
}
