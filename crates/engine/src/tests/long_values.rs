//! Off-page values that are longer than the redo log has room for.

use std::sync::Arc;

use env::SimDisk;
#[cfg(debug_assertions)]
use env::simulate;

use super::support::*;
use crate::*;

/// Bytes of a value: four times the log's capacity ([`small_log`]).
const LONG: usize = 4 << 20;

fn long_row(id: i32) -> Wide {
    Wide { body: Some("long ".repeat(LONG / 5)), ..Wide::new(id, id, &format!("c{id}")) }
}

fn new_table(config: EngineConfig) -> (Arc<Engine>, Arc<Table>) {
    let engine = Engine::open(config).unwrap();
    engine.create_schema("s", types::CollationId::UTF8MB4_BIN).unwrap();
    let table = engine.create_table(wide_def("t")).unwrap();
    (engine, table)
}

fn insert_alone(engine: &Arc<Engine>, table: &Table, row: &Wide) -> Result<()> {
    let mut trx = engine.begin(BeginOptions::default());
    insert(engine, table, &mut trx, row)?;
    engine.commit(&mut trx)
}

#[test]
#[cfg(debug_assertions)]
fn a_value_longer_than_the_log_is_written_while_checkpoints_give_the_logs_files_back() {
    let run = simulate(1, 10_000_000, || {
        let disk = Arc::new(SimDisk::seeded(1));
        let (engine, table) = new_table(EngineConfig { background: true, ..small_log(&disk) });
        let capacity = engine.store().log().file_bytes().1;
        // The value takes its own space twice over, as the file grows in steps.
        disk.set_capacity(disk.used() + 2 * LONG as u64 + capacity);
        insert_alone(&engine, &table, &long_row(1)).unwrap();
        assert!(engine.store().log().stats().admission_waits > 0);
        let (used, capacity) = engine.store().log().file_bytes();
        assert!(used <= 2 * capacity, "{used}");
        assert_eq!(rows(&engine, &table, ReadView::newest()), [long_row(1)]);
        drop(table);
        engine.shutdown().unwrap();
    });
    assert_eq!(run.result, Some(()));
}

#[test]
fn a_value_that_a_full_disk_has_no_log_for_is_refused_and_leaves_nothing() {
    let disk = Arc::new(SimDisk::seeded(2));
    let (engine, table) = new_table(small_log(&disk));
    // Its pages stay free in the data file.
    insert_alone(&engine, &table, &long_row(1)).unwrap();
    let mut trx = engine.begin(BeginOptions::default());
    assert!(delete(&engine, &table, &mut trx, 1).unwrap());
    engine.commit(&mut trx).unwrap();
    engine.purge_step(usize::MAX).unwrap();
    engine.checkpoint().unwrap();
    let used = engine.store().space_report().pages_used;

    disk.set_capacity(disk.used());
    for id in 2..5 {
        let error = insert_alone(&engine, &table, &long_row(id)).unwrap_err();
        assert!(matches!(error, Error::LogFull(_)), "{error}");
        assert_eq!(error.effect(), Effect::Statement);
        engine.checkpoint().unwrap();
    }
    assert_eq!(rows(&engine, &table, ReadView::newest()), []);
    assert_eq!(engine.store().space_report().pages_used, used);

    disk.set_capacity(u64::MAX);
    insert_alone(&engine, &table, &long_row(5)).unwrap();
    assert_eq!(rows(&engine, &table, ReadView::newest()), [long_row(5)]);
    assert_sound(&engine, &table);
    engine.shutdown().unwrap();
    drop((table, engine));
    assert_eq!(look_at(&disk).findings, []);
}
