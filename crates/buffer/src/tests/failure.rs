use super::*;
use crate::{Error, PageDefect};
use env::{FaultKind, IoOp};
use page::CorruptionKind;
use std::io::ErrorKind;

fn damage_of(error: Error) -> PageDefect {
    match error {
        Error::Corruption(corrupt) => corrupt.defect,
        other => panic!("{other} is not corruption"),
    }
}

fn disk_with_pages(pages: u32) -> SimDisk {
    let disk = SimDisk::new();
    let pool = manual_pool(&disk, 64);
    fill(&pool, pages);
    pool.close().unwrap();
    disk
}

#[test]
fn every_flipped_bit_is_found_and_the_error_names_file_and_page() {
    let disk = disk_with_pages(2);
    for offset in [0, 4, 8, 100, 8000, 16383] {
        disk.flip_bit(Path::new(FILE), 2 * PAGE_SIZE as u64 + offset);
        let pool = manual_pool(&disk, 16);
        let error = pool.shared(PageNo(2)).unwrap_err();
        assert_eq!(error.to_string(), "page 2 of data.pages is corrupt: Checksum");
        assert_eq!(
            damage_of(pool.exclusive(PageNo(2)).unwrap_err()),
            PageDefect::Bytes(CorruptionKind::Checksum)
        );
        assert_eq!(pool.stats().frames_free, 16);
        disk.flip_bit(Path::new(FILE), 2 * PAGE_SIZE as u64 + offset);
        assert_eq!(value(&pool, 2), 20);
    }
}

#[test]
fn a_page_at_the_wrong_place_is_found() {
    let disk = disk_with_pages(2);
    let file = open(&disk);
    let mut bytes = [0; PAGE_SIZE];
    file.read_exact_at(&mut bytes, PAGE_SIZE as u64).unwrap();
    file.write_at(&bytes, 2 * PAGE_SIZE as u64).unwrap();
    let error = manual_pool(&disk, 16).shared(PageNo(2)).unwrap_err();
    assert_eq!(damage_of(error), PageDefect::Bytes(CorruptionKind::PageNo));
}

#[test]
fn a_page_behind_the_end_is_corruption_not_a_crash() {
    let disk = disk_with_pages(1);
    let pool = manual_pool(&disk, 16);
    for page in [2, 70_000, u32::MAX] {
        assert_eq!(damage_of(pool.shared(PageNo(page)).unwrap_err()), PageDefect::PastEnd);
    }
}

#[test]
fn a_read_that_fails_twice_leaves_the_page_readable_and_one_that_fails_once_is_repeated() {
    let disk = disk_with_pages(2);
    let pool = manual_pool(&disk, 16);
    let fail_read = || disk.schedule(Some(IoOp::Read), 1, FaultKind::Error(ErrorKind::Other));
    fail_read();
    assert_eq!(value(&pool, 2), 20);
    fail_read();
    fail_read();
    let error = pool.shared(PageNo(1)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "page 1 of data.pages is corrupt: it cannot be read (other error, errno 0)"
    );
    assert_eq!(value(&pool, 1), 10);
}

#[test]
fn a_failed_write_refuses_all_later_changes_and_keeps_the_pages() {
    let disk = SimDisk::new();
    let pool = manual_pool(&disk, 16);
    fill(&pool, 3);
    disk.schedule(Some(IoOp::Write), 1, FaultKind::Error(ErrorKind::Other));
    let cause = pool.flush_all().unwrap_err();
    assert!(matches!(&cause, Error::Io(error) if error.kind == ErrorKind::Other));
    let refused = Error::ChangesRefused(Arc::new(cause));
    assert_eq!(pool.exclusive(PageNo(1)).unwrap_err(), refused);
    assert_eq!(pool.create(PageNo(4)).unwrap_err(), refused);
    assert_eq!(pool.flush_all().unwrap_err(), refused);
    // Nothing is dirty below this any more, but it may not look as if all were written.
    assert_eq!(pool.write_back_below(Lsn(1000), 100).unwrap_err(), refused);
    assert_eq!(pool.close().unwrap_err(), refused);
    (1..=3).for_each(|page| assert_eq!(value(&pool, page), page * 10));
    assert_eq!(pool.oldest_change(), Some(Lsn(10)));
}

#[test]
fn a_failed_sync_refuses_all_later_changes() {
    let disk = SimDisk::new();
    let pool = manual_pool(&disk, 16);
    fill(&pool, 1);
    disk.schedule(Some(IoOp::Sync), 1, FaultKind::Error(ErrorKind::Other));
    pool.flush_all().unwrap_err();
    assert!(matches!(pool.exclusive(PageNo(1)), Err(Error::ChangesRefused(_))));
}

#[test]
fn a_write_that_fails_in_the_background_reaches_the_next_changer() {
    let disk = SimDisk::new();
    let pool = background_pool(&disk, 8);
    disk.schedule(Some(IoOp::Write), 1, FaultKind::Error(ErrorKind::Other));
    let refused = (1..100).find_map(|page| match pool.create(PageNo(page)) {
        Ok(mut guard) => {
            store(&mut guard, 1);
            None
        }
        Err(error) => Some(error),
    });
    assert!(matches!(refused, Some(Error::ChangesRefused(_))));
}

#[derive(Debug)]
struct BrokenLog;

impl log::LogPosition for BrokenLog {
    fn durable_up_to(&self, lsn: Lsn) -> log::Result<()> {
        assert_eq!(lsn, Lsn(77));
        let error = env::IoError::new(IoOp::Sync, Path::new("redo"), ErrorKind::Other);
        Err(log::Error::Io(Box::new(error)))
    }
}

#[test]
fn a_page_is_not_written_before_its_log() {
    let disk = SimDisk::new();
    let config = PoolConfig { bytes: 16 * PAGE_SIZE, background: false };
    let pool = Pool::new(open(&disk), config, Arc::new(BrokenLog)).unwrap();
    let mut guard = pool.create(PageNo(1)).unwrap();
    store(&mut guard, 1);
    guard.page_mut().set_lsn(Lsn(77));
    drop(guard);
    assert!(matches!(pool.flush_all(), Err(Error::Log(_))));
    assert_eq!(disk.count(IoOp::Write), 0);
}

#[test]
fn a_page_write_that_finds_the_disk_full_is_done_again() {
    for fault in [FaultKind::Error(ErrorKind::StorageFull), FaultKind::PartialWrite(ErrorKind::StorageFull)] {
        let disk = SimDisk::new();
        let pool = manual_pool(&disk, 16);
        fill(&pool, 3);
        disk.schedule(Some(IoOp::Write), 1, fault);
        pool.flush_all().unwrap();
        assert_eq!(disk.happened(), [fault]);
        drop(pool);
        let pool = manual_pool(&disk, 16);
        (1..=3).for_each(|page| assert_eq!(value(&pool, page), page * 10));
    }
}
