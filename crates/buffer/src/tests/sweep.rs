use super::*;

/// A pool whose page n has a change logged at 10 n, for n from 1 to `pages`.
fn pool_of_dirty(disk: &SimDisk, pages: u32) -> Arc<Pool> {
    let pool = manual_pool(disk, 512);
    fill(&pool, pages);
    pool
}

#[test]
fn pages_with_changes_below_the_position_are_written_and_no_others() {
    let disk = SimDisk::new();
    let pool = pool_of_dirty(&disk, 9);
    assert_eq!(pool.write_back_below(Lsn(10), 100), Ok(0));
    assert_eq!(pool.write_back_below(Lsn(41), 100), Ok(4));
    assert_eq!((pool.oldest_change(), pool.stats().pages_dirty), (Some(Lsn(50)), 5));
    assert_eq!(disk.count(env::IoOp::Write), 1);
    assert_eq!(pool.write_back_below(Lsn(1000), 100), Ok(5));
    assert_eq!(pool.oldest_change(), None);
}

#[test]
fn of_too_many_pages_those_with_the_oldest_changes_are_written() {
    let disk = SimDisk::new();
    let pool = manual_pool(&disk, 512);
    for page in (1..=300).rev() {
        let mut guard = pool.create(PageNo(page)).unwrap();
        store(&mut guard, 1000 - page);
    }
    assert_eq!(pool.write_back_below(Lsn(1000), 200), Ok(200));
    assert_eq!(pool.oldest_change(), Some(Lsn(900)));
    assert_eq!(pool.write_back_below(Lsn(1000), 200), Ok(100));
}

#[test]
fn a_page_in_change_is_waited_for() {
    let disk = SimDisk::new();
    let pool = pool_of_dirty(&disk, 2);
    let mut guard = pool.exclusive(PageNo(1)).unwrap();
    std::thread::scope(|scope| {
        let sweep = scope.spawn(|| pool.write_back_below(Lsn(100), 100));
        while pool.stats().page_writes == 0 {
            std::thread::yield_now();
        }
        store(&mut guard, 7);
        drop(guard);
        assert_eq!(sweep.join().unwrap(), Ok(2));
    });
    assert_eq!(pool.oldest_change(), None);
}

#[test]
fn a_sync_claims_no_more_than_is_written_and_no_more_than_is_safe() {
    let disk = SimDisk::new();
    let pool = pool_of_dirty(&disk, 5);
    assert_eq!(pool.sync_below(Lsn(60)), Ok(Lsn(10)));
    pool.write_back_below(Lsn(30), 100).unwrap();
    assert_eq!(pool.sync_below(Lsn(60)), Ok(Lsn(30)));
    assert_eq!(pool.sync_below(Lsn(20)), Ok(Lsn(20)));
    pool.write_back_below(Lsn(100), 100).unwrap();
    assert_eq!(pool.sync_below(Lsn(60)), Ok(Lsn(60)));
}

#[test]
fn a_change_during_the_writing_of_a_page_stays_counted() {
    let disk = SimDisk::new();
    let pool = pool_of_dirty(&disk, 1);
    pool.write_back_below(Lsn(100), 100).unwrap();
    let mut guard = pool.exclusive(PageNo(1)).unwrap();
    store(&mut guard, 70);
    drop(guard);
    assert_eq!(pool.sync_below(Lsn(100)), Ok(Lsn(70)));
}
