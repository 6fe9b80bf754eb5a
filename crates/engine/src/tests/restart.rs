//! Opening and closing a data directory.

use std::path::Path;
use std::sync::Arc;

use env::{Disk, FaultKind, OpenOptions, SimDisk};
use types::CollationId;

use super::support::*;
use crate::*;

fn refusal(disk: &Arc<SimDisk>) -> DataDirError {
    match Engine::open(config(disk)) {
        Err(Error::DataDir(error)) => *error,
        other => panic!("{other:?}"),
    }
}

#[test]
fn everything_committed_is_there_after_a_clean_shutdown_and_nothing_else() {
    let (engine, disk) = engine();
    let mut def = wide_def("t");
    def.columns[0].auto_increment = true;
    let table = engine.create_table(def).unwrap();
    engine.put_object("account", "root", b"hash").unwrap();
    let mut trx = engine.begin(BeginOptions::default());
    for id in 0..800 {
        let body = (id % 50 == 0).then(|| format!("{id} ").repeat(5000));
        insert(&engine, &table, &mut trx, &Wide { body, ..Wide::new(id, id % 9, &format!("c{id}")) })
            .unwrap();
    }
    for id in (0..800).step_by(3) {
        update(&engine, &table, &mut trx, id, &Wide::new(id, -1, &format!("d{id}"))).unwrap();
        delete(&engine, &table, &mut trx, id + 1).unwrap();
    }
    engine.commit(&mut trx).unwrap();
    assert_eq!(table.reserve_auto_increment(&engine, 10, 1000).unwrap(), 1000);
    let committed = rows(&engine, &table, ReadView::newest());
    trx.restart(BeginOptions::default());
    delete(&engine, &table, &mut trx, 3).unwrap();
    insert(&engine, &table, &mut trx, &Wide::new(9999, 1, "open")).unwrap();
    engine.shutdown().unwrap();
    assert!(matches!(engine.commit(&mut trx), Err(Error::Lock(trx::Error::ShuttingDown))));
    assert!(matches!(engine.create_schema("x", CollationId::UTF8MB4_BIN), Err(Error::Closed)));
    drop((trx, table, engine));

    for round in 0..3 {
        let engine = Engine::open(config(&disk)).unwrap();
        let table = engine.table("s", "t").unwrap();
        assert_eq!(rows(&engine, &table, ReadView::newest()), committed);
        assert_eq!(table.row_count_estimate(), committed.len() as u64);
        assert_eq!(table.next_auto_increment(&engine).unwrap(), Some(1010 + round));
        assert_eq!(table.reserve_auto_increment(&engine, 1, 0).unwrap(), 1010 + round);
        assert_eq!(engine.get_object("account", "root").unwrap(), Some(b"hash".to_vec()));
        let report = table.check(&engine).unwrap();
        assert_eq!((report.leftovers, report.problems), (0, vec![]));
        engine.shutdown().unwrap();
        drop((table, engine));
        let report = look_at(&disk);
        assert_eq!(report.findings, []);
        assert_eq!((report.tables, report.rows, report.notes), (1, committed.len() as u64, vec![]));
    }
}

#[test]
fn ids_go_on_after_a_restart_so_that_old_rows_are_everyones() {
    let (engine, disk) = engine();
    let table = engine.create_table(wide_def("t")).unwrap();
    let mut trx = engine.begin(BeginOptions::default());
    insert(&engine, &table, &mut trx, &Wide::new(1, 1, "a")).unwrap();
    engine.commit(&mut trx).unwrap();
    let limit = engine.trx_system().next_id();
    engine.shutdown().unwrap();
    drop((trx, table, engine));
    let engine = Engine::open(config(&disk)).unwrap();
    assert!(engine.trx_system().next_id() >= limit);
    let table = engine.table("s", "t").unwrap();
    let mut trx = engine.begin(BeginOptions::default());
    assert_eq!(rows(&engine, &table, trx.view()).len(), 1);
}

#[test]
fn a_second_server_is_refused_while_the_first_runs() {
    let (engine, disk) = engine();
    assert_eq!(refusal(&disk), DataDirError::InUse("/data".into()));
    engine.shutdown().unwrap();
    drop(engine);
    Engine::open(config(&disk)).unwrap().shutdown().unwrap();
}

#[test]
fn a_directory_of_another_version_is_refused_untouched() {
    let (engine, disk) = engine();
    engine.shutdown().unwrap();
    drop(engine);
    let path = Path::new("/data/FORMAT");
    disk.open(path, OpenOptions::default()).unwrap().write_at(b"ratchet 9\n", 0).unwrap();
    let found = refusal(&disk);
    let expected = DataDirError::UnknownFormat {
        path: "/data".into(),
        found: "ratchet 9".into(),
        supported: FORMAT_VERSION,
    };
    assert_eq!(found, expected);
    disk.open(path, OpenOptions::default()).unwrap().write_at(b"ratchet 2\n", 0).unwrap();
    Engine::open(config(&disk)).unwrap().shutdown().unwrap();
}

#[test]
fn a_folder_with_other_files_is_not_taken_over() {
    let disk = Arc::new(SimDisk::new());
    disk.create_dir(Path::new("/data")).unwrap();
    disk.create(Path::new("/data/notes.txt"), OpenOptions::default()).unwrap();
    assert_eq!(refusal(&disk), DataDirError::NotADataDir("/data".into()));
    assert!(!disk.exists(Path::new("/data/LOCK")).unwrap());
}

/// The disk of a closed directory with one row, whose page file has the name that earlier builds gave it.
fn closed_by_an_earlier_build() -> Arc<SimDisk> {
    let (engine, disk) = engine();
    let table = engine.create_table(wide_def("t")).unwrap();
    let mut trx = engine.begin(BeginOptions::default());
    insert(&engine, &table, &mut trx, &Wide::new(1, 1, "a")).unwrap();
    engine.commit(&mut trx).unwrap();
    engine.shutdown().unwrap();
    drop((trx, table, engine));
    disk.rename(Path::new("/data/data.pages"), Path::new("/data/data.rdb")).unwrap();
    disk.sync_dir(Path::new("/data")).unwrap();
    disk
}

#[test]
fn a_page_file_of_the_earlier_name_is_renamed_at_a_start_wherever_a_crash_comes() {
    let closed = closed_by_an_earlier_build();
    assert_eq!(look_at(&closed).rows, 1, "a check reads it under the name that it has");
    let mut crashes = 0;
    for nth in 1.. {
        let disk = Arc::new(closed.crash_keeping(|_, _| true));
        disk.schedule(None, nth, FaultKind::PowerOff);
        let opened = Engine::open(config(&disk));
        crashes += u32::from(disk.is_powered_off());
        drop(opened);
        let is_done = !disk.is_powered_off();
        let disk = Arc::new(disk.crash());
        let engine = Engine::open(config(&disk)).unwrap();
        assert_eq!(rows(&engine, &engine.table("s", "t").unwrap(), ReadView::newest()).len(), 1);
        assert!(!disk.exists(Path::new("/data/data.rdb")).unwrap(), "operation {nth}");
        if is_done {
            break;
        }
    }
    assert!(crashes > 5, "{crashes} crashes");
}

#[test]
fn a_directory_with_page_files_of_both_names_is_refused_untouched() {
    let disk = closed_by_an_earlier_build();
    disk.create(Path::new("/data/data.pages"), OpenOptions::default()).unwrap();
    assert_eq!(refusal(&disk), DataDirError::TwoDataFiles("/data".into()));
    disk.remove(Path::new("/data/data.pages")).unwrap();
    Engine::open(config(&disk)).unwrap().shutdown().unwrap();
}

#[test]
fn counters_that_were_not_kept_are_found_again() {
    let (engine, _disk) = engine();
    let mut def = wide_def("t");
    def.columns[0].auto_increment = true;
    let table = engine.create_table(def).unwrap();
    let mut trx = engine.begin(BeginOptions::default());
    for id in [-5, 3, 77] {
        insert(&engine, &table, &mut trx, &Wide::new(id, 1, &format!("c{id}"))).unwrap();
    }
    delete(&engine, &table, &mut trx, 77).unwrap();
    engine.commit(&mut trx).unwrap();
    table.state.auto_increment.store(0, std::sync::atomic::Ordering::Relaxed);
    assert_eq!(table.reserve_auto_increment(&engine, 1, 0).unwrap(), 4);
}
