//! Torn pages: made by crashes of the simulated disk, restored from the doublewrite files.

use super::*;
use crate::{Doublewrite, Error, LogBounds, RestoreReport, forget_copies, restore_torn_pages};
use base::codec::get_u32;
use base::prng::Prng;
use base::{SchemaId, TableId, TrxId};
use env::{FaultKind, IoOp, SimDisk};
use page::{FileHeader, PageOp, PageRef};
use std::io::ErrorKind;

const DIR: &str = "doublewrite";
const IDENTITY: [u8; 16] = [3; 16];
const FRAMES: usize = 64;
const SECTORS: u64 = PAGE_SIZE as u64 / 512;
const DIRECT: OpenOptions = OpenOptions { direct: true };

fn data_file(disk: &SimDisk) -> env::Result<Arc<dyn File>> {
    let path = Path::new(FILE);
    if disk.exists(path)? { disk.open(path, DIRECT) } else { disk.create(path, DIRECT) }
}

/// A pool with doublewrite, the way an engine opens one.
fn pool_on(disk: &SimDisk) -> crate::Result<Arc<Pool>> {
    let file = data_file(disk).map_err(Error::io)?;
    let dir = Path::new(DIR);
    if !disk.exists(dir).map_err(Error::io)? {
        disk.create_dir(dir).map_err(Error::io)?;
    }
    disk.sync_dir(Path::new("")).map_err(Error::io)?;
    let doublewrite = Doublewrite::open(disk, dir, DIRECT, IDENTITY, &*file)?;
    let config = PoolConfig { bytes: FRAMES * PAGE_SIZE, background: false };
    Pool::with_doublewrite(file, config, Arc::new(NoLog), Some(doublewrite))
}

fn restore(disk: &SimDisk) -> crate::Result<RestoreReport> {
    restore_from(disk, Lsn(0))
}

fn log_from(redo_lsn: Lsn) -> LogBounds {
    LogBounds { redo_lsn, end: Lsn(u64::MAX) }
}

/// With a log from `redo_lsn` on.
fn restore_from(disk: &SimDisk, redo_lsn: Lsn) -> crate::Result<RestoreReport> {
    let file = data_file(disk).map_err(Error::io)?;
    restore_torn_pages(disk, Path::new(DIR), DIRECT, IDENTITY, log_from(redo_lsn), &*file)
}

/// Fills the whole page with `value`, so that every sector of it differs from that of another value.
fn put(pool: &Pool, page: u32, value: u32) -> crate::Result<()> {
    let mut guard = pool.create(PageNo(page))?;
    store(&mut guard, value);
    let bytes = value.to_le_bytes().repeat((PAGE_SIZE - 28) / 4);
    PageOp::WriteBytes { offset: 28, bytes: &bytes }.apply(&mut guard.page_mut()).unwrap();
    Ok(())
}

/// A disk with pages 1 to `pages` of value 1, durable, and value 2 written and not synced.
fn disk_with_unsynced_pages(pages: u32) -> SimDisk {
    let disk = SimDisk::seeded(7);
    let pool = pool_on(&disk).unwrap();
    (1..=pages).for_each(|page| put(&pool, page, 1).unwrap());
    pool.flush_all().unwrap();
    (1..=pages).for_each(|page| put(&pool, page, 2).unwrap());
    assert_eq!(pool.write_back_step(FRAMES), Ok(pages as usize));
    assert_eq!(disk.unsynced(), [Path::new(FILE)]);
    disk
}

#[test]
fn a_page_torn_at_any_sector_is_restored() {
    let disk = disk_with_unsynced_pages(2);
    let page_1 = SECTORS..2 * SECTORS;
    for cut in page_1.clone() {
        let whole = cut == page_1.start;
        let first_part = disk.crash_keeping(|_, sector| sector < cut || !page_1.contains(&sector));
        let last_part = disk.crash_keeping(|_, sector| sector >= cut);
        let one_old = disk.crash_keeping(|_, sector| sector != cut);
        let one_new = disk.crash_keeping(|_, sector| sector == cut || !page_1.contains(&sector));
        let torn = |whole: bool| if whole { vec![] } else { vec![PageNo(1)] };
        for (disk, whole) in [(first_part, whole), (last_part, whole), (one_old, false), (one_new, false)] {
            let report = RestoreReport { examined: 2, restored: torn(whole), lost: vec![] };
            assert_eq!(restore(&disk), Ok(report), "sector {cut}");
            assert!([1, 2].contains(&value(&pool_on(&disk).unwrap(), 1)));
            assert_eq!(value(&pool_on(&disk).unwrap(), 2), 2);
        }
    }
}

#[test]
fn a_page_torn_where_its_bytes_end_with_their_own_checksum_is_restored() {
    // A sector in the middle of page 1, of bytes and their CRC-32: to the page's CRC-32 all such sectors are
    // equal.
    let store_sealed = |pool: &Pool, value: u32| {
        let mut bytes = value.to_le_bytes().repeat(127);
        bytes.extend_from_slice(&base::checksum::crc32(&bytes).to_le_bytes());
        let mut guard = pool.create(PageNo(1)).unwrap();
        store(&mut guard, value);
        PageOp::WriteBytes { offset: 5 * 512, bytes: &bytes }.apply(&mut guard.page_mut()).unwrap();
    };
    let disk = SimDisk::seeded(7);
    let pool = pool_on(&disk).unwrap();
    store_sealed(&pool, 1);
    pool.flush_all().unwrap();
    store_sealed(&pool, 2);
    assert_eq!(pool.write_back_step(FRAMES), Ok(1));
    let torn = disk.crash_keeping(|_, sector| sector != SECTORS + 5);
    let sealed = |disk: &SimDisk| {
        let pool = pool_on(disk).unwrap();
        let guard = pool.shared(PageNo(1)).unwrap();
        get_u32(guard.page().bytes(), 5 * 512)
    };
    assert_eq!(sealed(&torn), 1, "the page passes its check");
    assert_eq!(restore(&torn).unwrap().restored, [PageNo(1)]);
    assert_eq!(sealed(&torn), 2);
}

#[test]
fn without_copies_the_same_crash_loses_the_page() {
    let disk = disk_with_unsynced_pages(2).crash_keeping(|_, sector| sector % 2 == 0);
    for name in ["0", "1"] {
        disk.remove(&Path::new(DIR).join(name)).unwrap();
    }
    assert_eq!(restore(&disk), Ok(RestoreReport::default()));
    assert!(matches!(pool_on(&disk).unwrap().shared(PageNo(1)), Err(Error::Corruption(_))));
}

#[test]
fn copies_of_another_data_directory_do_not_count() {
    let disk = disk_with_unsynced_pages(1).crash_keeping(|_, sector| sector % 2 == 0);
    let file = data_file(&disk).unwrap();
    let report = restore_torn_pages(&disk, Path::new(DIR), DIRECT, [4; 16], log_from(Lsn(0)), &*file);
    assert_eq!(report, Ok(RestoreReport::default()));
}

#[test]
fn a_damaged_page_whose_newest_copy_is_damaged_is_restored_from_the_one_before_if_the_log_has_the_rest() {
    let disk = disk_with_unsynced_pages(1).crash_keeping(|_, sector| sector % 2 == 0);
    // Batch 2, the newest, is in file 0. Batch 1 has a good copy of the page as it was before.
    disk.flip_bit(&Path::new(DIR).join("0"), 4096 + 9000);
    let report = restore_from(&disk, Lsn(2)).unwrap();
    assert_eq!((report.restored, report.lost), (vec![], vec![PageNo(1)]));
    let report = restore_from(&disk, Lsn(1)).unwrap();
    assert_eq!((report.restored, report.lost), (vec![PageNo(1)], vec![]));
}

#[test]
fn a_copy_from_before_the_log_begins_is_not_restored() {
    let disk = disk_with_unsynced_pages(1).crash_keeping(|_, sector| sector % 2 == 0);
    let report = restore_from(&disk, Lsn(3)).unwrap();
    assert_eq!((report.restored, report.lost), (vec![], vec![PageNo(1)]));
    assert_eq!(restore_from(&disk, Lsn(2)).unwrap().restored, [PageNo(1)]);
}

fn header() -> FileHeader {
    FileHeader {
        identity: IDENTITY,
        trx_limit: TrxId(1),
        row_id_limit: 1,
        next_index: IndexId(64),
        next_table: TableId(1),
        next_schema: SchemaId(1),
        high_water: PageNo(64),
        checkpoint: Lsn(0),
        clean: Lsn(0),
        catalog_version: 1,
        roots: std::array::from_fn(|_| PageNo(2)),
    }
}

/// A disk whose file header has rotted, with copies of it that note checkpoints at 500 and at 700.
fn disk_with_damaged_header(clean: u64) -> SimDisk {
    let disk = SimDisk::seeded(7);
    let pool = pool_on(&disk).unwrap();
    pool.create(PageNo(0)).unwrap().page_mut().format_file_header(&header());
    for (checkpoint, clean) in [(500, 0), (700, clean)] {
        let mut page = pool.exclusive(PageNo(0)).unwrap();
        page.page_mut().set_checkpoint(Lsn(checkpoint), Lsn(clean));
        page.mark_dirty(Lsn(1));
        drop(page);
        pool.flush_page(PageNo(0)).unwrap();
    }
    drop(pool);
    disk.flip_bit(Path::new(FILE), 9000);
    disk
}

fn restored_checkpoint(disk: &SimDisk, log: LogBounds) -> Option<Lsn> {
    let disk = disk.crash_keeping(|_, _| true);
    let file = data_file(&disk).unwrap();
    let report = restore_torn_pages(&disk, Path::new(DIR), DIRECT, IDENTITY, log, &*file).unwrap();
    let [PageNo(0)] = report.restored[..] else {
        assert_eq!((&report.restored[..], &report.lost[..]), (&[][..], &[PageNo(0)][..]));
        return None;
    };
    let mut image = [0; PAGE_SIZE];
    open(&disk).read_exact_at(&mut image, 0).unwrap();
    Some(FileHeader::decode(PageRef::new(&image)).unwrap().checkpoint)
}

#[test]
fn a_damaged_file_header_is_restored_from_a_copy_of_the_moment_of_the_log() {
    let disk = disk_with_damaged_header(0);
    let log = |redo_lsn| LogBounds { redo_lsn: Lsn(redo_lsn), end: Lsn(1000) };
    assert_eq!(restored_checkpoint(&disk, log(700)), Some(Lsn(700)));
    assert_eq!(restored_checkpoint(&disk, log(701)), None, "the file is older than the log");
    // The newest copy has rotted: the one before is of use where no checkpoint came in between.
    disk.flip_bit(&Path::new(DIR).join("0"), 4096 + 9000);
    assert_eq!(restored_checkpoint(&disk, log(500)), Some(Lsn(500)));
    assert_eq!(restored_checkpoint(&disk, log(501)), None);
    // The header of a file that was closed at a position that the log does not reach.
    let disk = disk_with_damaged_header(1001);
    assert_eq!(restored_checkpoint(&disk, log(700)), None);
    assert_eq!(restored_checkpoint(&disk, log(500)), None, "nor from one before, which hides that");
    assert_eq!(restored_checkpoint(&disk, LogBounds { end: Lsn(1001), ..log(700) }), Some(Lsn(700)));
}

#[test]
fn copies_from_before_a_run_without_copies_do_not_count() {
    let disk = disk_with_unsynced_pages(2);
    forget_copies(&disk, Path::new(DIR), DIRECT, &*data_file(&disk).unwrap()).unwrap();
    let disk = disk.crash();
    let config = PoolConfig { bytes: FRAMES * PAGE_SIZE, background: false };
    let pool = Pool::new(data_file(&disk).unwrap(), config, Arc::new(NoLog)).unwrap();
    assert_eq!(value(&pool, 2), 2, "pages are durable before their copies go");
    put(&pool, 1, 3).unwrap();
    pool.write_back_step(FRAMES).unwrap();
    let torn = disk.crash_keeping(|_, sector| sector % 2 == 0);
    assert_eq!(restore(&torn), Ok(RestoreReport::default()));
    assert!(matches!(pool_on(&torn).unwrap().shared(PageNo(1)), Err(Error::Corruption(_))));
}

#[test]
fn a_page_beyond_the_end_is_left_to_redo() {
    let disk = disk_with_unsynced_pages(2).crash_keeping(|_, _| true);
    data_file(&disk).unwrap().set_len(2 * PAGE_SIZE as u64).unwrap();
    assert_eq!(restore(&disk).unwrap().restored, []);
    data_file(&disk).unwrap().set_len(2 * PAGE_SIZE as u64 + 4096).unwrap();
    assert_eq!(restore(&disk).unwrap().restored, [PageNo(2)]);
}

/// Values that pages may have after a crash: from the last one that a returned sync covers to the last one
/// stored.
struct Expected {
    durable: Vec<u32>,
    stored: Vec<u32>,
}

const PAGES: usize = 24;

/// Changes random pages and writes some of them back until the disk fails or enough is done.
fn work(disk: &SimDisk, seed: u64, expected: &mut Expected) -> crate::Result<()> {
    let mut prng = Prng::new(seed);
    let pool = pool_on(disk)?;
    for round in 2..12 {
        for _ in 0..prng.below(PAGES as u64) {
            let page = prng.below(PAGES as u64) as usize;
            put(&pool, page as u32 + 1, round)?;
            expected.stored[page] = round;
        }
        match prng.below(3) {
            0 => pool.flush_all()?,
            1 => pool.write_back_below(Lsn(u64::from(round)), 5).map(drop)?,
            _ => pool.write_back_step(prng.below(10) as usize).map(drop)?,
        }
        if pool.stats().pages_dirty == 0 {
            pool.sync_below(Lsn(0))?;
            expected.durable.clone_from(&expected.stored);
        }
    }
    Ok(())
}

fn assert_whole(disk: &SimDisk, expected: &Expected, what: &str) {
    let pool = pool_on(disk).unwrap();
    for page in 0..PAGES {
        let found = pool.shared(PageNo(page as u32 + 1)).map_or(0, |guard| guard.page().version());
        let range = expected.durable[page]..=expected.stored[page];
        assert!(range.contains(&found), "{what}: page {} is {found}, not in {range:?}", page + 1);
    }
}

fn new_disk(seed: u64) -> (SimDisk, Expected) {
    let disk = SimDisk::seeded(seed);
    let pool = pool_on(&disk).unwrap();
    (1..=PAGES as u32).for_each(|page| put(&pool, page, 1).unwrap());
    pool.flush_all().unwrap();
    (disk, Expected { durable: vec![1; PAGES], stored: vec![1; PAGES] })
}

#[test]
fn after_power_failure_at_any_operation_every_page_is_whole() {
    let mut restored = 0;
    for seed in 0..3 {
        for nth in 1.. {
            let what = format!("seed {seed}, operation {nth}");
            let (disk, mut expected) = new_disk(seed);
            disk.schedule(None, nth, FaultKind::PowerOff);
            if work(&disk, seed, &mut expected).is_ok() {
                break;
            }
            let disk = disk.crash();
            let report = restore(&disk).unwrap();
            assert_eq!(report.lost, [], "{what}");
            restored += report.restored.len();
            assert_whole(&disk, &expected, &what);
        }
    }
    assert!(restored > 50, "only {restored} pages were torn");
}

#[test]
fn restoring_can_be_repeated_after_a_crash_in_the_middle_of_it() {
    let mut interrupted = 0;
    for nth in 1..200 {
        let (disk, mut expected) = new_disk(nth);
        disk.schedule(Some(IoOp::Write), 3 + nth % 20, FaultKind::PowerOff);
        work(&disk, nth, &mut expected).unwrap_err();
        let disk = disk.crash();
        disk.schedule(None, nth % 40 + 1, FaultKind::PowerOff);
        interrupted += u32::from(restore(&disk).is_err());
        let disk = disk.crash();
        assert_eq!(restore(&disk).unwrap().lost, []);
        assert_whole(&disk, &expected, &format!("seed {nth}"));
    }
    assert!(interrupted > 20, "only {interrupted} interruptions");
}

#[test]
fn a_failure_of_any_write_or_sync_refuses_changes_and_loses_nothing() {
    for op in [IoOp::Write, IoOp::Sync] {
        for nth in 1.. {
            let (disk, mut expected) = new_disk(nth);
            disk.schedule(Some(op), nth, FaultKind::Error(ErrorKind::Other));
            match work(&disk, nth, &mut expected) {
                Ok(()) => break,
                // Opening the files fails, too, if their sync does.
                Err(error) => assert!(matches!(error, Error::Io(_)), "{error:?}"),
            }
            let disk = disk.crash();
            assert_eq!(restore(&disk).unwrap().lost, []);
            assert_whole(&disk, &expected, &format!("{op:?} {nth}"));
        }
    }
}

#[test]
fn a_failed_copy_keeps_the_page_from_being_written_and_refuses_changes() {
    let disk = SimDisk::seeded(1);
    let pool = pool_on(&disk).unwrap();
    put(&pool, 1, 1).unwrap();
    disk.schedule(Some(IoOp::Sync), 1, FaultKind::Error(ErrorKind::Other));
    let cause = pool.write_back_step(1).unwrap_err();
    assert_eq!(disk.count(IoOp::Write), 1);
    assert_eq!(put(&pool, 1, 2), Err(Error::ChangesRefused(Arc::new(cause))));
}

#[test]
fn a_batch_costs_one_sync_of_its_own_and_half_a_sync_of_the_data() {
    let disk = SimDisk::new();
    let pool = pool_on(&disk).unwrap();
    let before = disk.count(IoOp::Sync);
    for round in 0..20 {
        put(&pool, 1, round).unwrap();
        pool.write_back_step(1).unwrap();
    }
    assert_eq!(disk.count(IoOp::Sync) - before, 20 + 10 - 1);
    pool.flush_all().unwrap();
    let before = disk.count(IoOp::Sync);
    for round in 0..20 {
        put(&pool, 1, round).unwrap();
        pool.flush_all().unwrap();
    }
    assert_eq!(disk.count(IoOp::Sync) - before, 20 + 20);
}

#[test]
fn batch_numbers_go_on_after_a_restart() {
    let disk = SimDisk::seeded(1);
    for value in 1..5 {
        let pool = pool_on(&disk).unwrap();
        put(&pool, 1, value).unwrap();
        pool.close().unwrap();
    }
    // Only the newest copy can be the page as it is.
    disk.flip_bit(Path::new(FILE), PAGE_SIZE as u64 + 100);
    assert_eq!(restore(&disk).unwrap().restored, [PageNo(1)]);
    assert_eq!(value(&pool_on(&disk).unwrap(), 1), 4);
}

#[test]
fn a_device_that_writes_pages_atomically_needs_no_copies() {
    for seed in 0..50 {
        let disk = SimDisk::seeded(seed);
        disk.set_atomic_write_bytes(PAGE_SIZE);
        let open = |disk: &SimDisk| {
            let config = PoolConfig { bytes: FRAMES * PAGE_SIZE, background: false };
            Pool::new(data_file(disk).unwrap(), config, Arc::new(NoLog)).unwrap()
        };
        let pool = open(&disk);
        disk.sync_dir(Path::new("")).unwrap();
        (1..=9).for_each(|page| put(&pool, page, 1).unwrap());
        pool.flush_all().unwrap();
        (1..=9).for_each(|page| put(&pool, page, 2).unwrap());
        pool.write_back_step(FRAMES).unwrap();
        let pool = open(&disk.crash());
        (1..=9).for_each(|page| assert!([1, 2].contains(&value(&pool, page))));
    }
}
