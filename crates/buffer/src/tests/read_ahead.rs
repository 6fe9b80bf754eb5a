use super::*;
use crate::LookupOutcome;
use env::{FaultKind, IoOp};
use std::io::ErrorKind;

fn disk_with_pages(pages: u32) -> SimDisk {
    let disk = SimDisk::new();
    let pool = manual_pool(&disk, 512);
    fill(&pool, pages);
    pool.close().unwrap();
    disk
}

fn page_nos(range: std::ops::RangeInclusive<u32>) -> Vec<PageNo> {
    range.map(PageNo).collect()
}

fn arrive(pool: &Pool, page: u32) -> LookupOutcome {
    let (guard, arrival) = pool.shared_in_order(PageNo(page)).unwrap();
    assert_eq!(guard.page().version(), page * 10);
    arrival
}

#[test]
fn pages_read_ahead_are_resident_and_the_middle_one_asks_for_more() {
    let disk = disk_with_pages(20);
    let pool = manual_pool(&disk, 64);
    assert_eq!(arrive(&pool, 1), LookupOutcome::Missed);
    pool.read_ahead(&page_nos(2..=9));
    assert_eq!(pool.stats().page_reads, 9);
    for page in 2..=9 {
        let expected = if page == 6 { LookupOutcome::AsksForMore } else { LookupOutcome::ReadAhead };
        assert_eq!(arrive(&pool, page), expected);
        assert_eq!(arrive(&pool, page), LookupOutcome::Resident, "asked once");
    }
    assert_eq!(pool.stats().page_reads, 9);
    assert_eq!(arrive(&pool, 10), LookupOutcome::Missed);
}

#[test]
fn the_background_reads_what_it_is_asked_for() {
    let disk = disk_with_pages(200);
    let pool = background_pool(&disk, 512);
    for from in (1..200).step_by(50) {
        pool.prefetch(&page_nos(from..=from + 49));
    }
    while pool.stats().frames_free > 512 - 200 {
        std::thread::yield_now();
    }
    (1..=200).for_each(|page| assert_eq!(value(&pool, page), page * 10));
    assert_eq!(pool.stats().page_reads, 200);
    pool.close().unwrap();
}

#[test]
fn a_page_that_is_wanted_while_it_is_read_ahead_is_read_once_or_twice_and_right() {
    let disk = disk_with_pages(300);
    let pool = background_pool(&disk, 64);
    for round in 0..10 {
        for page in 1..=300 {
            if page % 32 == 1 {
                pool.read_ahead(&page_nos(page..=(page + 31).min(300)));
            }
            arrive(&pool, if round % 2 == 0 { page } else { 301 - page });
        }
    }
    pool.close().unwrap();
}

#[test]
fn resident_latched_damaged_and_missing_pages_are_passed_over() {
    let disk = disk_with_pages(10);
    disk.flip_bit(Path::new(FILE), 7 * PAGE_SIZE as u64 + 100);
    let pool = manual_pool(&disk, 256);
    let guard = pool.exclusive(PageNo(3)).unwrap();
    assert_eq!(value(&pool, 5), 50);
    pool.prefetch(&page_nos(1..=20));
    // 1, 2, 4, 6, 7 (damaged) to 10, and 11 to 20 after the end.
    let free = pool.stats().frames_free;
    assert_eq!(free, 256 - 9);
    drop(guard);
    assert!(matches!(pool.shared(PageNo(7)), Err(crate::Error::Corruption(_))));
    for page in (1..=10).filter(|page| *page != 7) {
        assert_eq!(value(&pool, page), page * 10);
    }
}

#[test]
fn a_read_that_fails_leaves_the_pages_to_those_who_need_them() {
    let disk = disk_with_pages(4);
    let pool = manual_pool(&disk, 64);
    disk.schedule(Some(IoOp::Read), 1, FaultKind::Error(ErrorKind::Other));
    pool.prefetch(&page_nos(1..=4));
    assert_eq!(pool.stats().frames_free, 64);
    (1..=4).for_each(|page| assert_eq!(value(&pool, page), page * 10));
}

#[test]
fn a_scan_that_is_read_ahead_does_not_push_out_pages_in_use() {
    let disk = disk_with_pages(300);
    let pool = manual_pool(&disk, 64);
    (1..=8).for_each(|page| assert_eq!(value(&pool, page), page * 10));
    for page in 9..=300 {
        if page % 8 == 1 {
            pool.read_ahead(&page_nos(page..=(page + 7).min(300)));
        }
        arrive(&pool, page);
        (1..=8).for_each(|hot| assert_eq!(value(&pool, hot), hot * 10));
    }
    assert_eq!(pool.stats().page_reads, 300);
}

#[test]
fn requests_without_free_frames_are_dropped() {
    let disk = disk_with_pages(100);
    let pool = manual_pool(&disk, 16);
    let guards: Vec<_> = (1..=14).map(|page| pool.shared(PageNo(page)).unwrap()).collect();
    pool.prefetch(&page_nos(20..=60));
    assert_eq!(pool.stats().page_reads, 14 + 16 / 8);
    let more: Vec<_> = (15..=16).map(|page| pool.shared(PageNo(page)).unwrap()).collect();
    pool.prefetch(&page_nos(70..=80));
    assert_eq!(pool.stats().page_reads, 14 + 16 / 8 + 2);
    drop(more);
    drop(guards);
    (1..=100).for_each(|page| assert_eq!(value(&pool, page), page * 10));
}
