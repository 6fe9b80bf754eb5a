//! Undo that memory has no room for: old views, rollback and purge have it from the swap file, and a disk
//! that fails gives an error and nothing wrong.

use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use env::{Disk, FaultKind, IoOp, SimDisk};

use super::support::*;
use crate::*;

/// Bytes of undo in memory that the tests permit.
const MEMORY: u64 = 128 << 10;

const SWAP_FILE: &str = "/data/undo/swap.undo";

const ROWS: i32 = 40;

fn limited(disk: &Arc<SimDisk>) -> (Arc<Engine>, Arc<Table>, Trx) {
    let engine = Engine::open(config(disk)).unwrap();
    engine.create_schema("s", types::CollationId::UTF8MB4_0900_AI_CI).unwrap();
    engine.set_undo_memory(MEMORY);
    let table = engine.create_table(wide_def("t")).unwrap();
    let mut trx = engine.begin(BeginOptions::default());
    for id in 0..ROWS {
        insert(&engine, &table, &mut trx, &Wide::new(id, id, &format!("c{id}"))).unwrap();
    }
    commit(&engine, &mut trx);
    (engine, table, trx)
}

fn commit(engine: &Engine, trx: &mut Trx) {
    engine.commit(trx).unwrap();
    trx.restart(BeginOptions::default());
}

/// Changes every row `times` times, in the open transaction, each time to something else.
fn change(engine: &Engine, table: &Table, trx: &mut Trx, times: i32) -> Result<()> {
    for n in 0..times * ROWS {
        let (id, lsn) = (n % ROWS, engine.store().log().current().0);
        let letter = char::from(b'a' + (lsn % 26) as u8).to_string();
        let body = Some(format!("{lsn}{}", letter.repeat(400 + id as usize)));
        update(engine, table, trx, id, &Wide { body, ..Wide::new(id, n, &format!("d{lsn}")) })?;
    }
    Ok(())
}

fn swapped(engine: &Engine) -> u64 {
    let (memory, swapped) = engine.trx_system().undo().memory_and_swapped();
    assert!(memory <= MEMORY + (64 << 10), "{memory} bytes in memory");
    swapped
}

#[test]
fn an_old_view_sees_its_rows_out_of_swapped_undo_and_its_end_frees_all() {
    let disk = Arc::new(SimDisk::new());
    let (engine, table, mut writer) = limited(&disk);
    let mut reader = engine.begin(BeginOptions::default());
    let view = reader.view();
    let before = rows(&engine, &table, view);
    for _ in 0..60 {
        change(&engine, &table, &mut writer, 1).unwrap();
        commit(&engine, &mut writer);
        engine.purge_step(usize::MAX).unwrap();
    }
    assert!(swapped(&engine) > 1 << 20, "{}", swapped(&engine));
    assert_eq!(rows(&engine, &table, view), before);
    assert_eq!(ids_by_index(&engine, &table, 1, view).len(), ROWS as usize);
    engine.commit(&mut reader).unwrap();
    drop(writer);
    engine.purge_step(usize::MAX).unwrap();
    engine.purge_step(usize::MAX).unwrap();
    assert_eq!(swapped(&engine), 0);
    assert_sound(&engine, &table);
    let file = disk.open(Path::new(SWAP_FILE), env::OpenOptions::default()).unwrap();
    assert_eq!(file.len().unwrap(), 0);
    engine.shutdown().unwrap();
    assert!(!disk.exists(Path::new(SWAP_FILE)).unwrap());
}

#[test]
fn a_transaction_larger_than_memory_goes_back_to_savepoints_and_to_its_start() {
    let disk = Arc::new(SimDisk::new());
    let (engine, table, mut trx) = limited(&disk);
    let before = rows(&engine, &table, ReadView::newest());
    change(&engine, &table, &mut trx, 20).unwrap();
    let half = rows(&engine, &table, ReadView::newest());
    trx.set_savepoint("half");
    change(&engine, &table, &mut trx, 20).unwrap();
    for id in 0..ROWS {
        assert!(delete(&engine, &table, &mut trx, id).unwrap());
    }
    assert!(swapped(&engine) > 512 << 10, "{}", swapped(&engine));
    engine.rollback_to_savepoint(&mut trx, "half").unwrap();
    assert_eq!(rows(&engine, &table, ReadView::newest()), half);
    change(&engine, &table, &mut trx, 20).unwrap();
    engine.rollback(&mut trx).unwrap();
    assert_eq!(rows(&engine, &table, ReadView::newest()), before);
    drop(trx);
    engine.purge_step(usize::MAX).unwrap();
    assert_eq!(swapped(&engine), 0);
    assert_sound(&engine, &table);
}

#[test]
fn purge_finds_what_a_large_transaction_left_in_swapped_undo() {
    let disk = Arc::new(SimDisk::new());
    let (engine, table, mut trx) = limited(&disk);
    change(&engine, &table, &mut trx, 30).unwrap();
    for id in 0..ROWS {
        assert!(delete(&engine, &table, &mut trx, id).unwrap());
    }
    assert!(swapped(&engine) > 512 << 10, "{}", swapped(&engine));
    engine.commit(&mut trx).unwrap();
    let report = engine.purge_step(usize::MAX).unwrap();
    assert!(report.removed > 30 * ROWS as usize, "{report:?}");
    assert!(engine.trx_system().undo().swaps_and_reads().1 > 10);
    assert_eq!(rows(&engine, &table, ReadView::newest()), []);
    assert_sound(&engine, &table);
}

#[test]
fn what_purge_could_not_read_once_it_purges_later() {
    let disk = Arc::new(SimDisk::new());
    let (engine, table, mut trx) = limited(&disk);
    let long = |id: i32| Wide { body: Some("v".repeat(40_000)), ..Wide::new(id, id, &format!("long{id}")) };
    for id in 0..ROWS {
        update(&engine, &table, &mut trx, id, &long(id)).unwrap();
    }
    commit(&engine, &mut trx);
    engine.purge_step(usize::MAX).unwrap();
    // Leaves the long values without a row.
    change(&engine, &table, &mut trx, 60).unwrap();
    assert!(swapped(&engine) > 1 << 20, "{}", swapped(&engine));
    engine.commit(&mut trx).unwrap();
    disk.schedule_all(&[env::ScheduledFault {
        op: Some(IoOp::Read),
        file: Some("swap.undo"),
        nth: 3,
        fault: FaultKind::Error(ErrorKind::Other),
    }]);
    let kept = engine.trx_system().first_unpurged();
    assert_eq!(engine.purge_step(usize::MAX).unwrap().transactions, 0);
    assert_eq!(engine.trx_system().first_unpurged(), kept);
    let report = engine.purge_step(usize::MAX).unwrap();
    assert!(report.transactions == 1 && report.removed >= ROWS as usize, "{report:?}");
    assert_eq!(engine.trx_system().first_unpurged(), None);
    assert_sound(&engine, &table);
    engine.shutdown().unwrap();
    assert_eq!(
        crate::check::check_datadir(Arc::new(disk.crash()), Path::new("/data"), 1 << 20, &mut |_| {})
            .unwrap()
            .findings,
        []
    );
}

#[test]
fn a_full_disk_refuses_changes_until_there_is_room_and_loses_nothing() {
    let disk = Arc::new(SimDisk::new());
    let (engine, table, mut trx) = limited(&disk);
    change(&engine, &table, &mut trx, 1).unwrap();
    let before = rows(&engine, &table, ReadView::newest());
    let fails = env::ScheduledFault {
        op: Some(IoOp::Create),
        file: Some("swap.undo"),
        nth: 1,
        fault: FaultKind::Error(ErrorKind::Other),
    };
    disk.schedule_all(&[fails; 20]);
    // What fails at all looks but the last is tried again.
    change(&engine, &table, &mut trx, 10).unwrap();
    assert_eq!(disk.happened().len(), 20);
    let mark = trx.mark();
    engine.store().log().flush().unwrap();
    disk.set_capacity(disk.used());
    let refused = change(&engine, &table, &mut trx, 10).unwrap_err();
    assert!(matches!(refused, Error::UndoNotSwapped(_)), "{refused}");
    assert_eq!(refused.effect(), Effect::Statement);
    assert!(refused.to_string().contains(SWAP_FILE), "{refused}");
    disk.set_capacity(u64::MAX);
    engine.rollback_statement(&mut trx, mark).unwrap();
    change(&engine, &table, &mut trx, 10).unwrap();
    engine.rollback(&mut trx).unwrap();
    assert_eq!(rows(&engine, &table, ReadView::newest()).len(), before.len());
    assert_sound(&engine, &table);
}

#[test]
fn undo_that_cannot_be_read_back_fails_a_reader_alone_and_leaves_a_rollback_to_the_next_start() {
    let disk = Arc::new(SimDisk::new());
    let (engine, table, mut trx) = limited(&disk);
    let before = rows(&engine, &table, ReadView::newest());
    let mut reader = engine.begin(BeginOptions::default());
    let view = reader.view();
    change(&engine, &table, &mut trx, 60).unwrap();
    assert!(swapped(&engine) > 1 << 20, "{}", swapped(&engine));
    disk.flip_bit(Path::new(SWAP_FILE), 100);
    let scan = |engine: &Arc<Engine>| -> Result<usize> {
        let mut scan = Scan::open(engine, &table, 0, view, KeyRange::all(), Direction::Forward)?;
        let mut count = 0;
        while let Some(batch) = scan.next_batch()? {
            count += batch.len();
        }
        Ok(count)
    };
    let unread = scan(&engine).unwrap_err();
    assert!(unread.to_string().contains(SWAP_FILE), "{unread}");
    assert_eq!(unread.effect(), Effect::Statement);
    let got = table.get(&engine, &view, &key(0), |_| ()).unwrap_err();
    assert!(matches!(got, Error::VersionUnreadable(_)), "{got}");
    let undone = engine.rollback(&mut trx).unwrap_err();
    assert!(undone.to_string().contains("next start"), "{undone}");
    assert_eq!(undone.effect(), Effect::Connection);
    // Its session is gone: it stays in progress, others continue, and a shutdown leaves it to the next
    // startup.
    let id = trx.id().unwrap();
    drop(trx);
    assert!(engine.trx_system().is_in_progress(id));
    let mut other = engine.begin(BeginOptions { lock_wait: Duration::ZERO, ..BeginOptions::default() });
    engine.lock_table(&mut other, &table, TableUse::Write).unwrap();
    let waits = update(&engine, &table, &mut other, 0, &Wide::new(0, 1, "other")).unwrap_err();
    assert!(matches!(waits, Error::Lock(trx::Error::LockWaitTimeout)), "{waits}");
    insert(&engine, &table, &mut other, &Wide::new(100_000, 1, "other")).unwrap();
    engine.commit(&mut other).unwrap();
    let before = [before, vec![Wide::new(100_000, 1, "other")]].concat();
    engine.shutdown().unwrap();
    drop((reader, other, table, engine));
    let disk = Arc::new(disk.crash());
    let engine = Engine::open(config(&disk)).unwrap();
    assert!(!disk.exists(Path::new(SWAP_FILE)).unwrap());
    let table = engine.table("s", "t").unwrap();
    assert_eq!(rows(&engine, &table, ReadView::newest()), before);
    assert_sound(&engine, &table);
}
