use super::*;
use crate::Error;

#[test]
fn a_created_page_is_free_and_kept() {
    let disk = SimDisk::new();
    let pool = manual_pool(&disk, 16);
    {
        let mut guard = pool.create(PageNo(3)).unwrap();
        assert!(guard.page().bytes()[..page::COMMON_HEADER_BYTES].iter().all(|&b| b == 0));
        store(&mut guard, 42);
    }
    assert_eq!(value(&pool, 3), 42);
    assert_eq!(pool.stats().page_reads, 0);
    let again = pool.create(PageNo(3)).unwrap();
    assert!(again.page().bytes()[..page::COMMON_HEADER_BYTES].iter().all(|&b| b == 0));
}

#[test]
fn a_closed_pool_is_found_again_by_the_next_one() {
    let disk = SimDisk::new();
    let pool = background_pool(&disk, 16);
    fill(&pool, 10);
    pool.close().unwrap();
    assert_eq!(pool.exclusive(PageNo(1)).unwrap_err(), Error::Closed);
    assert_eq!(value(&pool, 1), 10);
    let pool = manual_pool(&disk, 16);
    (1..=10).for_each(|page| assert_eq!(value(&pool, page), page * 10));
    assert_eq!(pool.stats().page_reads, 10);
}

#[test]
fn a_page_is_read_once_and_then_hit() {
    let disk = SimDisk::new();
    fill_and_close(&disk, 1);
    let pool = manual_pool(&disk, 16);
    (0..5).for_each(|_| assert_eq!(value(&pool, 1), 10));
    assert!(pool.exclusive(PageNo(1)).is_ok());
    assert_eq!(pool.stats().page_reads, 1);
}

fn fill_and_close(disk: &SimDisk, pages: u32) {
    let pool = manual_pool(disk, 64);
    fill(&pool, pages);
    pool.close().unwrap();
}

#[test]
fn tries_never_wait_and_do_read() {
    let disk = SimDisk::new();
    fill_and_close(&disk, 2);
    let pool = manual_pool(&disk, 16);
    let shared = pool.try_shared(PageNo(1)).unwrap().unwrap();
    assert_eq!(shared.page().version(), 10);
    assert!(pool.try_exclusive(PageNo(1)).unwrap().is_none());
    drop(shared);
    let exclusive = pool.try_exclusive(PageNo(2)).unwrap().unwrap();
    assert!(pool.try_shared(PageNo(2)).unwrap().is_none());
    assert_eq!(exclusive.page().version(), 20);
}

#[test]
fn a_downgraded_guard_shares_what_it_changed() {
    let disk = SimDisk::new();
    let pool = manual_pool(&disk, 16);
    let mut guard = pool.create(PageNo(1)).unwrap();
    store(&mut guard, 5);
    let shared = guard.downgrade();
    let other = std::thread::scope(|scope| scope.spawn(|| value(&pool, 1)).join().unwrap());
    assert_eq!((shared.page().version(), other), (5, 5));
    drop(shared);
    assert_eq!(base::sync::critical::depth(), 0);
    assert!(pool.try_exclusive(PageNo(1)).unwrap().is_some());
}

#[test]
fn a_discarded_page_is_never_written_and_frees_its_frame() {
    let disk = SimDisk::new();
    let pool = manual_pool(&disk, 16);
    fill(&pool, 3);
    pool.discard(PageNo(1));
    pool.exclusive(PageNo(2)).unwrap().discard();
    pool.discard(PageNo(9));
    let stats = pool.stats();
    assert_eq!((stats.frames_free, stats.pages_dirty), (15, 1));
    pool.flush_all().unwrap();
    assert_eq!(pool.stats().page_writes, 1);
}

#[test]
fn a_large_idle_pool_costs_no_memory() {
    // Resident pages are the second number of statm.
    let resident_kib = || {
        let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
        statm.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4
    };
    let disk = SimDisk::new();
    let before = resident_kib();
    let pool = manual_pool(&disk, 1 << 20);
    fill(&pool, 10);
    let grown = resident_kib().saturating_sub(before);
    assert!(grown < 32 << 10, "16 GiB of idle pool took {grown} KiB");
}

/// Fills a file on the real disk through a small pool, and reads it back through another.
fn real_file_round_trip(options: OpenOptions) -> env::Result<()> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(FILE);
    let config = PoolConfig { bytes: 16 * PAGE_SIZE, background: true };
    let pool = Pool::new(env::RealDisk.create(&path, options)?, config, Arc::new(NoLog)).unwrap();
    fill(&pool, 100);
    pool.close().unwrap();
    let pool = Pool::new(env::RealDisk.open(&path, options)?, config, Arc::new(NoLog)).unwrap();
    pool.prefetch(&[PageNo(1), PageNo(2), PageNo(50)]);
    (1..=100).for_each(|page| assert_eq!(value(&pool, page), page * 10));
    Ok(())
}

#[test]
fn pages_survive_on_a_real_disk() {
    real_file_round_trip(OpenOptions::default()).unwrap();
}

#[test]
fn direct_io_gets_the_alignment_it_needs_where_the_file_system_has_it() {
    match real_file_round_trip(OpenOptions { direct: true }) {
        Ok(()) => {}
        // Memory file systems may refuse to open a file for direct I/O; nothing else may go wrong.
        Err(error) => assert_eq!(error.kind, std::io::ErrorKind::InvalidInput, "{error}"),
    }
}

#[test]
fn a_freed_page_that_was_evicted_is_not_read_for_the_check_of_those_in_memory() {
    let disk = SimDisk::new();
    let pool = manual_pool(&disk, 64);
    fill(&pool, 3);
    {
        let mut freed = pool.exclusive(PageNo(2)).unwrap();
        freed.page_mut().format_common(PageNo(2), PageType::Free, IndexId(0), 20);
        freed.mark_dirty(Lsn(30));
    }
    pool.close().unwrap();
    let pool = manual_pool(&disk, 64);
    assert_eq!((value(&pool, 1), value(&pool, 3)), (10, 30));
    assert!(matches!(pool.shared(PageNo(2)), Err(Error::Corruption(_))), "nobody reads a page that is free");
    let reads = pool.stats().page_reads;
    pool.ensure_sound(&[PageNo(1), PageNo(2), PageNo(3)]).unwrap();
    assert_eq!(pool.stats().page_reads, reads);
}
