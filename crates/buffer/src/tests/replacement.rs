use super::*;
use crate::Error;

#[test]
fn evicted_pages_come_back_as_they_were() {
    let disk = SimDisk::new();
    let pool = manual_pool(&disk, 16);
    fill(&pool, 200);
    (1..=200).for_each(|page| assert_eq!(value(&pool, page), page * 10));
    let stats = pool.stats();
    assert!(stats.evictions >= 300 && stats.page_reads >= 150, "{stats:?}");
}

#[test]
fn the_background_thread_makes_room_for_dirty_pages() {
    let disk = SimDisk::new();
    let pool = background_pool(&disk, 16);
    fill(&pool, 500);
    (1..=500).for_each(|page| assert_eq!(value(&pool, page), page * 10));
    pool.close().unwrap();
}

#[test]
fn a_scan_does_not_push_out_pages_in_use() {
    let disk = SimDisk::new();
    let pool = manual_pool(&disk, 128);
    fill(&pool, 100);
    pool.flush_all().unwrap();
    let pool = manual_pool(&disk, 32);
    (1..=8).for_each(|page| assert_eq!(value(&pool, page), page * 10));
    for page in 9..=100 {
        assert_eq!(pool.shared_cold(PageNo(page)).unwrap().page().version(), page * 10);
        (1..=8).for_each(|hot| assert_eq!(value(&pool, hot), hot * 10));
    }
    assert_eq!(pool.stats().page_reads, 100);
}

#[test]
fn latched_pages_are_never_evicted_and_a_pool_of_them_is_exhausted() {
    let disk = SimDisk::new();
    let pool = manual_pool(&disk, 16);
    fill(&pool, 40);
    let guards: Vec<_> = (1..=16).map(|page| pool.shared(PageNo(page)).unwrap()).collect();
    assert_eq!(pool.shared(PageNo(17)).unwrap_err(), Error::Exhausted { frames: 16 });
    for guard in &guards {
        assert_eq!(guard.page().version(), guard.page_no().0 * 10);
    }
    drop(guards);
    assert_eq!(value(&pool, 17), 170);
}

#[test]
fn exhaustion_is_an_error_with_a_background_thread_too() {
    let disk = SimDisk::new();
    let pool = background_pool(&disk, 8);
    let mut guards: Vec<_> = (1..=8).map(|page| pool.create(PageNo(page)).unwrap()).collect();
    for guard in &mut guards {
        store(guard, 1);
    }
    assert_eq!(pool.create(PageNo(9)).unwrap_err(), Error::Exhausted { frames: 8 });
    drop(guards);
    store(&mut pool.create(PageNo(9)).unwrap(), 1);
    pool.close().unwrap();
}

#[test]
fn a_step_writes_runs_of_adjacent_pages_in_one_request() {
    let disk = SimDisk::new();
    let pool = manual_pool(&disk, 16);
    for page in [5, 2, 3, 9, 4] {
        store(&mut pool.create(PageNo(page)).unwrap(), page);
    }
    assert_eq!(pool.write_back_step(64), Ok(5));
    assert_eq!(disk.count(env::IoOp::Write), 2);
    assert_eq!(pool.write_back_step(64), Ok(0));
}

#[test]
fn a_step_passes_over_a_page_in_change() {
    let disk = SimDisk::new();
    let pool = manual_pool(&disk, 16);
    fill(&pool, 2);
    let guard = pool.exclusive(PageNo(1)).unwrap();
    assert_eq!(pool.write_back_step(64), Ok(1));
    drop(guard);
    assert_eq!(pool.write_back_step(64), Ok(1));
}

#[test]
fn the_oldest_change_moves_on_as_pages_are_written() {
    let disk = SimDisk::new();
    let pool = manual_pool(&disk, 16);
    fill(&pool, 3);
    assert_eq!(pool.oldest_change(), Some(Lsn(10)));
    pool.discard(PageNo(1));
    assert_eq!(pool.oldest_change(), Some(Lsn(20)));
    pool.flush_all().unwrap();
    assert_eq!(pool.oldest_change(), None);
}

#[test]
fn dropping_the_pool_ends_its_thread() {
    let disk = SimDisk::new();
    let pool = background_pool(&disk, 8);
    fill(&pool, 20);
    let file = Arc::downgrade(&pool.file);
    drop(pool);
    // Either the drop waited for the thread, or the thread was the last owner and drops the pool after its
    // round.
    while file.upgrade().is_some() {
        std::thread::yield_now();
    }
}

#[test]
fn a_refill_looks_no_further_than_the_pages_it_writes() {
    let disk = SimDisk::new();
    let pool = manual_pool(&disk, 2000);
    fill(&pool, 2000);
    // The first one also clears the marks of the pages' creation.
    assert_eq!(pool.refill(), Ok(127 + 60));
    let hand = |pool: &Pool| pool.frames.beginning_at_hand().next().unwrap();
    let before = hand(&pool);
    (3000..3060).for_each(|page| store(&mut pool.create(PageNo(page)).unwrap(), page * 10));
    assert_eq!(pool.refill(), Ok(127 + 60));
    assert!(hand(&pool) - before < 2 * 127, "from {before} to {}", hand(&pool));
}
