//! A disk that is full, fails or rots, files that are cut or gone: what was acknowledged is there or the
//! start is refused, errors name the file, and nothing wrong is served.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::codec::{get_u32, get_u64};
use env::{Disk, FaultKind, IoOp, OpenOptions, ScheduledFault, SimDisk};
use log::{LogConfig, LogReader};
use page::PAGE_SIZE;
use types::CollationId;

use super::support::*;
use crate::*;

/// A small pool and a small log, so that pages are evicted and files recycled.
fn small(disk: &Arc<SimDisk>) -> EngineConfig {
    let log = LogConfig { capacity_bytes: 256 << 10, buffer_bytes: 64 << 10, file_bytes_min: 32 << 10 };
    EngineConfig { pool_bytes: 40 * page::PAGE_SIZE, log, ..config(disk) }
}

fn row(id: i32) -> Wide {
    let body = (id % 7 == 0).then(|| format!("{id} ").repeat(4000));
    Wide { body, ..Wide::new(id, id % 9, &format!("c{id}")) }
}

fn new_engine(disk: &Arc<SimDisk>) -> Arc<Engine> {
    let engine = Engine::open(small(disk)).unwrap();
    engine.create_schema("s", CollationId::UTF8MB4_0900_AI_CI).unwrap();
    engine.create_table(wide_def("t")).unwrap();
    engine
}

/// Inserts the rows `from..to`, each in a transaction of its own, with checkpoints. Returns how many were
/// answered, and the error that ended it.
fn work(engine: &Arc<Engine>, from: i32, to: i32) -> (i32, Option<Error>) {
    let table = engine.table("s", "t").unwrap();
    for id in from..to {
        let mut trx = engine.begin(BeginOptions::default());
        if let Err(error) = insert(engine, &table, &mut trx, &row(id)).and_then(|()| engine.commit(&mut trx))
        {
            let _ = engine.rollback(&mut trx);
            return (id, Some(error));
        }
        let checkpoint = match id % 50 {
            49 => engine.checkpoint(),
            _ if id % 10 == 0 => engine.checkpoint_round(),
            _ => Ok(()),
        };
        if let Err(error) = checkpoint {
            return (id + 1, Some(error));
        }
    }
    (to, None)
}

/// The ids that are found, which must be the first ones, with all their columns.
fn found(engine: &Arc<Engine>) -> Result<i32> {
    let table = engine.table("s", "t")?;
    let mut scan =
        Scan::open(engine, &table, 0, ReadView::newest(), KeyRange::all(), Direction::Forward)?.detached();
    let mut count = 0;
    while let Some(batch) = scan.next_batch()? {
        for found in batch.rows() {
            if let Field::OffPage(reference) = found.field(3, &mut Vec::new()) {
                engine.read_value(&reference, &mut Vec::new())?;
            }
            assert_eq!(Wide::read(engine, &found), row(count));
            count += 1;
        }
    }
    Ok(count)
}

/// What a startup finds on `disk` after the power went off.
fn after_restart(disk: &SimDisk) -> i32 {
    let disk = Arc::new(disk.crash());
    let engine = Engine::open(small(&disk)).unwrap();
    let found = found(&engine).unwrap();
    assert_sound(&engine, &engine.table("s", "t").unwrap());
    assert_eq!(work(&engine, found, found + 5).1.map(|error| error.to_string()), None);
    engine.shutdown().unwrap();
    drop(engine);
    assert_eq!(look_at(&disk).findings, []);
    found
}

#[test]
fn wherever_the_disk_is_full_or_fails_reads_go_on_and_nothing_answered_is_lost() {
    let mut refused = 0;
    for op in [IoOp::Write, IoOp::Sync, IoOp::Create, IoOp::Resize, IoOp::Rename, IoOp::SyncDir] {
        for fault in
            [FaultKind::Error(ErrorKind::StorageFull), FaultKind::PartialWrite(ErrorKind::StorageFull)]
        {
            if op != IoOp::Write && matches!(fault, FaultKind::PartialWrite(_)) {
                continue;
            }
            let mut nth = 1;
            loop {
                let disk = Arc::new(SimDisk::seeded(nth));
                let engine = new_engine(&disk);
                disk.schedule(Some(op), nth, fault);
                let (answered, error) = work(&engine, 0, 160);
                let Some(error) = error else { break };
                let what = format!("{op:?} {nth}: {error}");
                assert!(what.contains("/data/"), "{what}");
                assert!(what.to_lowercase().contains("space") || what.contains("full"), "{what}");
                assert!((answered..=answered + 1).contains(&found(&engine).unwrap()), "{what}");
                // Nothing is changed any more after a failed sync; else the statement alone has failed.
                let (more, again) = work(&engine, answered + 1000, answered + 1003);
                let goes_on = again.is_none();
                assert_eq!(goes_on, !matches!(op, IoOp::Sync | IoOp::SyncDir), "{what}");
                assert!(goes_on || more == answered + 1000, "{what}");
                refused += u32::from(!goes_on);
                if !goes_on {
                    assert!((answered..=answered + 1).contains(&after_restart(&disk)), "{what}");
                }
                nth += 1 + nth / 4;
            }
        }
    }
    assert!(refused > 20, "{refused}");
}

/// Files of the data directory, a closed one or one that a crash has left.
fn files(disk: &Arc<SimDisk>) -> Vec<PathBuf> {
    let list = |dir: &str| {
        let names = disk.list(Path::new(dir)).unwrap();
        names.into_iter().map(|name| Path::new(dir).join(name)).collect::<Vec<_>>()
    };
    let dirs = ["/data/redo", "/data/doublewrite", "/data/undo", "/data/tmp"];
    let mut files: Vec<PathBuf> =
        list("/data").into_iter().filter(|path| !dirs.iter().any(|d| path == Path::new(d))).collect();
    files.extend(dirs.iter().filter(|dir| disk.exists(Path::new(dir)).unwrap()).flat_map(|dir| list(dir)));
    files
}

/// A directory with 160 rows: closed, or left by a crash with all of its log durable.
fn directory(closed: bool) -> SimDisk {
    let disk = Arc::new(SimDisk::seeded(3));
    let engine = new_engine(&disk);
    assert_eq!(work(&engine, 0, 150).0, 150);
    if closed {
        engine.shutdown().unwrap();
    } else {
        assert_eq!(work(&engine, 150, 160).0, 160);
    }
    drop(engine);
    disk.crash_keeping(|_, _| true)
}

/// The log file in which the log ends. Those after it are there for what comes.
fn last_written_redo(disk: &SimDisk, files: &[PathBuf]) -> PathBuf {
    let disk: Arc<dyn Disk> = Arc::new(disk.crash_keeping(|_, _| true));
    let header = |path: &Path| {
        let mut header = [0; 512];
        let file = disk.open(path, OpenOptions::default()).unwrap();
        file.read_exact_at(&mut header, 0).unwrap();
        header
    };
    let redo: Vec<&PathBuf> =
        files.iter().filter(|path| path.extension().is_some_and(|e| e == "redo")).collect();
    let identity = header(redo[0])[16..32].try_into().unwrap();
    let mut reader = LogReader::open(&disk, Path::new("/data/redo"), identity).unwrap();
    while reader.next_frame().unwrap().is_some() {}
    let holds_end = |path: &&&PathBuf| get_u64(&header(path), 40) < reader.position().0;
    let number = |path: &&&PathBuf| get_u64(&header(path), 32);
    (*redo.iter().filter(holds_end).max_by_key(number).unwrap()).clone()
}

/// Rows that may be found without a file, or with less of it: all 150 of a closed directory, all 160 of one
/// that a crash left. Loss of what only the end of the log has, and nothing proves to have been durable,
/// cannot be noticed.
fn rows_without(path: &Path, last_redo: &Path, closed: bool) -> std::ops::RangeInclusive<i32> {
    match (closed, path == last_redo) {
        (true, _) => 150..=150,
        (false, false) => 160..=160,
        (false, true) => 150..=160,
    }
}

/// Opens a damaged directory: refused with a message that names something in it, or it has this number of
/// rows.
fn refused_or_whole(disk: SimDisk, rows: std::ops::RangeInclusive<i32>, what: &str) -> bool {
    let disk = Arc::new(disk);
    let opened = Engine::open(small(&disk)).and_then(|engine| found(&engine));
    match opened {
        Ok(found) => {
            assert!(rows.contains(&found), "{what}: {found}");
            false
        }
        Err(error) => {
            assert!(error.to_string().contains("/data"), "{what}: {error}");
            true
        }
    }
}

#[test]
fn a_file_that_is_missing_is_named_or_not_needed() {
    for closed in [true, false] {
        let whole = directory(closed);
        let mut refused = Vec::new();
        let files = files(&Arc::new(whole.crash_keeping(|_, _| true)));
        let last = last_written_redo(&whole, &files);
        for path in &files {
            let rows = rows_without(path, &last, closed);
            let disk = whole.crash_keeping(|_, _| true);
            disk.remove(path).unwrap();
            if refused_or_whole(disk, rows, &format!("without {}", path.display())) {
                refused.push(path.clone());
            }
        }
        assert!(
            refused.contains(&"/data/data.pages".into()) && refused.contains(&"/data/FORMAT".into()),
            "{refused:?}"
        );
        assert!(refused.iter().any(|path| path.starts_with("/data/redo")), "{refused:?}");
    }
}

#[test]
fn a_file_that_is_cut_is_named_or_not_needed() {
    for closed in [true, false] {
        let whole = directory(closed);
        let files = files(&Arc::new(whole.crash_keeping(|_, _| true)));
        let last = last_written_redo(&whole, &files);
        for path in &files {
            let rows = rows_without(path, &last, closed);
            let len =
                whole.crash_keeping(|_, _| true).open(path, OpenOptions::default()).unwrap().len().unwrap();
            for to in [0, len / 3, len / 2, len.saturating_sub(1)] {
                let disk = whole.crash_keeping(|_, _| true);
                disk.open(path, OpenOptions::default()).unwrap().set_len(to).unwrap();
                refused_or_whole(disk, rows.clone(), &format!("{} cut to {to} of {len}", path.display()));
            }
        }
    }
}

#[test]
fn a_read_that_fails_at_the_start_is_told_and_the_next_start_is_right() {
    for closed in [true, false] {
        let whole = directory(closed);
        let rows = if closed { 150..=150 } else { 160..=160 };
        let mut refused = 0;
        for nth in 1..40 {
            let disk = whole.crash_keeping(|_, _| true);
            disk.schedule(Some(IoOp::Read), nth, FaultKind::Error(ErrorKind::Other));
            let again = disk.clone();
            refused += u32::from(refused_or_whole(disk, rows.clone(), &format!("read {nth} fails")));
            let again = again.crash_keeping(|_, _| true);
            assert!(!refused_or_whole(again, rows.clone(), &format!("after read {nth} failed")));
        }
        assert!(refused > 5, "{refused}");
    }
}

/// Copies files of a directory in use to another disk.
fn copy(from: &SimDisk, to: &SimDisk, paths: &[PathBuf]) {
    for path in paths.iter().filter(|path| !path.ends_with("LOCK")) {
        let Ok(file) = from.open(path, OpenOptions::default()) else { continue };
        let mut bytes = vec![0; file.len().unwrap() as usize];
        file.read_exact_at(&mut bytes, 0).unwrap();
        to.create(path, OpenOptions::default()).unwrap().write_at(&bytes, 0).unwrap();
    }
}

#[test]
fn a_copy_made_of_a_directory_in_use_is_refused_or_right() {
    let mut refused = [0; 2];
    for redo_first in [true, false] {
        for rows in (20..300).step_by(35) {
            for more in [1, 10, 60, 150] {
                let disk = Arc::new(SimDisk::seeded(rows as u64));
                let engine = new_engine(&disk);
                work(&engine, 0, rows);
                let to = SimDisk::new();
                for dir in ["/data", "/data/redo", "/data/doublewrite", "/data/undo", "/data/tmp"] {
                    to.create_dir(Path::new(dir)).unwrap();
                }
                let is_redo = |path: &PathBuf| path.starts_with("/data/redo");
                let (redo, others): (Vec<_>, Vec<_>) = files(&disk).into_iter().partition(is_redo);
                copy(&disk, &to, if redo_first { &redo } else { &others });
                work(&engine, rows, rows + more);
                let (redo, others): (Vec<_>, Vec<_>) = files(&disk).into_iter().partition(is_redo);
                copy(&disk, &to, if redo_first { &others } else { &redo });
                let what = format!("{rows} rows, then {more}, the log first: {redo_first}");
                refused[usize::from(redo_first)] +=
                    u32::from(refused_or_whole(to, rows..=rows + more, &what));
            }
        }
    }
    assert!(refused.iter().all(|&refused| refused > 0), "{refused:?}");
}

#[test]
fn a_page_that_is_damaged_like_its_copy_is_told_at_the_start() {
    let disk = Arc::new(directory(false));
    let data = PathBuf::from("/data/data.pages");
    let mut victim = None;
    for batch in ["/data/doublewrite/0", "/data/doublewrite/1"].map(Path::new) {
        let mut head = [0; 4096];
        disk.open(batch, OpenOptions::default()).unwrap().read_exact_at(&mut head, 0).unwrap();
        let pages = (0..get_u32(&head, 4)).map(|n| get_u32(&head, 32 + 8 * n as usize));
        for (n, page) in (0..).zip(pages) {
            if page != 0 && *victim.get_or_insert(page) == page {
                disk.flip_bit(batch, 4096 + n * PAGE_SIZE as u64 + 200);
            }
        }
    }
    let victim = victim.unwrap();
    disk.flip_bit(&data, u64::from(victim) * PAGE_SIZE as u64 + 200);
    let startup_lines = Arc::new(StartupLines::default());
    let startup_log = Arc::clone(&startup_lines) as Arc<dyn StartupLog>;
    let _ = Engine::open(EngineConfig { startup_log, ..small(&disk) });
    let lines = startup_lines.0.lock().unwrap();
    let expected = format!("recovery: page {victim} of data.pages is damaged");
    assert!(lines.iter().any(|line| line.starts_with(&expected)), "{lines:?}");
}

/// Inserts the rows from `from` on until one is refused for lack of space; how many were inserted.
fn fill(engine: &Arc<Engine>, from: i32) -> i32 {
    let (next, error) = work(engine, from, i32::MAX);
    let error = error.unwrap();
    assert!(error.is_full_disk(), "{error}");
    assert_eq!(error.effect(), Effect::Statement);
    next
}

#[test]
fn on_a_full_disk_changes_are_refused_rollback_and_reads_go_on_and_so_do_changes_once_there_is_room() {
    for room in [200 << 10, 700 << 10, 3 << 20] {
        let disk = Arc::new(SimDisk::seeded(room));
        let engine = new_engine(&disk);
        let table = engine.table("s", "t").unwrap();
        let before = work(&engine, 0, 60).0;
        // A transaction that is open while the disk fills.
        let mut open = engine.begin(BeginOptions::default());
        for id in 0..40 {
            insert(&engine, &table, &mut open, &row(10_000 + id)).unwrap();
        }
        disk.set_capacity(disk.used() + room);
        let full = fill(&engine, before);
        assert!(full >= before);
        engine.rollback(&mut open).unwrap();
        drop(open);
        assert_eq!(found(&engine).unwrap(), full);
        engine.checkpoint().unwrap();
        engine.purge_step(usize::MAX).unwrap();
        let still = fill(&engine, full);
        disk.set_capacity(u64::MAX);
        let (next, error) = work(&engine, still, still + 100);
        assert_eq!((next, error.map(|error| error.to_string())), (still + 100, None));
        assert_eq!(found(&engine).unwrap(), next);
        assert_eq!(after_restart(&disk), next, "room for {room}");
    }
}

#[test]
fn wherever_a_full_disk_is_met_changes_go_on_afterwards() {
    let full = ErrorKind::StorageFull;
    for op in [IoOp::Create, IoOp::Resize, IoOp::Rename, IoOp::Write] {
        let faults = [FaultKind::Error(full), FaultKind::PartialWrite(full)];
        for fault in &faults[..if op == IoOp::Write { 2 } else { 1 }] {
            let mut nth = 1;
            loop {
                let disk = Arc::new(SimDisk::seeded(nth));
                let engine = new_engine(&disk);
                disk.schedule(Some(op), nth, *fault);
                let mut id = 0;
                while id < 160 {
                    let (next, error) = work(&engine, id, 160);
                    assert!(error.is_none_or(|error| error.is_full_disk()), "{op:?} {nth}");
                    id = next;
                }
                assert_eq!(found(&engine).unwrap(), 160, "{op:?} {nth}");
                if disk.happened().is_empty() {
                    break;
                }
                assert_eq!(after_restart(&disk), 160, "{op:?} {nth}");
                nth += 1 + nth / 4;
            }
        }
    }
}

const COPIES: [&str; 2] = ["/data/doublewrite/0", "/data/doublewrite/1"];

fn content_of(disk: &SimDisk, path: &str) -> Vec<u8> {
    let file = disk.open(Path::new(path), OpenOptions::default()).unwrap();
    let mut bytes = vec![0; file.len().unwrap() as usize];
    file.read_exact_at(&mut bytes, 0).unwrap();
    bytes
}

/// After a crash, with the copies of an earlier moment if there are any: whether the server starts with all
/// rows, though the file header has rotted. If not, the start is refused by name.
fn starts_without_header(disk: &SimDisk, older: Option<&[Vec<u8>; 2]>, rows: i32) -> bool {
    let disk = Arc::new(disk.crash_keeping(|_, _| true));
    for (path, bytes) in COPIES.iter().zip(older.into_iter().flatten()) {
        disk.open(Path::new(path), OpenOptions::default()).unwrap().write_at(bytes, 0).unwrap();
    }
    disk.flip_bit(Path::new("/data/data.pages"), 9000);
    match Engine::open(small(&disk)) {
        Ok(engine) => {
            assert_eq!(found(&engine).unwrap(), rows);
            drop(engine);
            assert_eq!(after_restart(&disk), rows);
            true
        }
        Err(error) => {
            assert!(error.to_string().contains("page 0 "), "{error}");
            false
        }
    }
}

#[test]
fn a_rotten_file_header_is_restored_from_copies_of_the_moment_of_the_log_alone() {
    let mut restored = 0;
    for rows in 1..40 {
        let disk = Arc::new(SimDisk::seeded(5));
        let engine = new_engine(&disk);
        engine.checkpoint().unwrap();
        let older = COPIES.map(|path| content_of(&disk, path));
        assert!(work(&engine, 0, rows).1.is_none());
        engine.checkpoint().unwrap();
        restored += i32::from(starts_without_header(&disk, None, rows));
        assert!(!starts_without_header(&disk, Some(&older), rows), "{rows} rows");
    }
    assert!(restored > 30, "{restored}");
}

/// Inserts rows into the table until data.pages cannot grow.
fn fill_data_file(engine: &Arc<Engine>, table: &Table) {
    for id in 1_000_000.. {
        let mut trx = engine.begin(BeginOptions::default());
        let row = Wide { body: Some("fill ".repeat(600)), ..Wide::new(id, 0, &format!("f{id}")) };
        match insert(engine, table, &mut trx, &row).and_then(|()| engine.commit(&mut trx)) {
            Ok(()) => {}
            Err(Error::Storage(space::Error::FileFull)) => return,
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn a_rollback_that_makes_rows_longer_finds_room_in_a_file_that_cannot_grow() {
    let disk = Arc::new(SimDisk::new());
    let engine = new_engine(&disk);
    let table = engine.table("s", "t").unwrap();
    engine.create_table(wide_def("u")).unwrap();
    let other = engine.table("s", "u").unwrap();
    let long = |id: i32| Wide { body: Some("long ".repeat(300)), ..Wide::new(id, id, &format!("c{id}")) };
    let mut trx = engine.begin(BeginOptions::default());
    (0..100).for_each(|id| insert(&engine, &table, &mut trx, &long(2 * id)).unwrap());
    engine.commit(&mut trx).unwrap();
    let mut shortens = engine.begin(BeginOptions::default());
    for id in 0..100 {
        update(&engine, &table, &mut shortens, 2 * id, &Wide::new(2 * id, 2 * id, &format!("c{}", 2 * id)))
            .unwrap();
    }
    // Others take the room on their pages.
    trx.restart(BeginOptions::default());
    (0..100).for_each(|id| insert(&engine, &table, &mut trx, &long(2 * id + 1)).unwrap());
    engine.commit(&mut trx).unwrap();
    let fault = FaultKind::Error(ErrorKind::StorageFull);
    let scheduled = ScheduledFault { op: Some(IoOp::Resize), file: Some("data.pages"), nth: 1, fault };
    disk.schedule_all(&vec![scheduled; 5000]);
    fill_data_file(&engine, &other);
    fill_data_file(&engine, &table);
    engine.rollback(&mut shortens).unwrap();
    drop((trx, shortens));
    assert_sound(&engine, &table);
    let found = rows(&engine, &table, ReadView::newest());
    assert!(found[..200].iter().enumerate().all(|(id, row)| *row == long(id as i32)));
    engine.shutdown().unwrap();
}
