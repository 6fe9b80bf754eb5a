//! Trees of dropped tables: freed without reading their pages, in background where there is a thread for
//! it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::support::*;
use crate::*;

const WAIT: Duration = Duration::from_secs(1);

fn fill(engine: &Arc<Engine>, table: &Arc<Table>, rows: i32) {
    let mut trx = engine.begin(BeginOptions::default());
    for id in 0..rows {
        let body = Some("long ".repeat(if id % 30 == 0 { 3000 } else { 300 }));
        insert(engine, table, &mut trx, &Wide { body, ..Wide::new(id, id, &format!("c{id}")) }).unwrap();
    }
    engine.commit(&mut trx).unwrap();
}

#[test]
fn a_table_is_dropped_without_reading_its_pages() {
    let (engine, disk) = engine();
    let table = engine.create_table(wide_def("t")).unwrap();
    fill(&engine, &table, 3000);
    engine.shutdown().unwrap();
    drop((table, engine));
    let engine = Engine::open(config(&disk)).unwrap();
    let used = engine.store().space_report().pages_used;
    let before = engine.store().pool().stats().page_reads;
    engine.drop_table("s", "t", WAIT).unwrap();
    let read = engine.store().pool().stats().page_reads - before;
    let freed = used - engine.store().space_report().pages_used;
    // Pages of shared extents are asked once after a startup.
    assert!(freed > 300 && read < 100, "{read} pages were read to free {freed}");
    for name in ["a", "b"] {
        let table = engine.create_table(wide_def(name)).unwrap();
        fill(&engine, &table, 100);
    }
    let before = engine.store().pool().stats().page_reads;
    engine.drop_table("s", "a", WAIT).unwrap();
    assert_eq!(engine.store().pool().stats().page_reads, before);
    assert_sound(&engine, &engine.table("s", "b").unwrap());
    engine.shutdown().unwrap();
    drop(engine);
    assert_eq!(look_at(&disk).findings, []);
}

#[test]
fn the_purge_thread_frees_what_was_dropped() {
    let disk = Arc::new(env::SimDisk::new());
    let engine = Engine::open(EngineConfig { background: true, ..config(&disk) }).unwrap();
    engine.create_schema("s", types::CollationId::UTF8MB4_0900_AI_CI).unwrap();
    let empty = engine.store().space_report().pages_used;
    let table = engine.create_table(wide_def("t")).unwrap();
    fill(&engine, &table, 1000);
    drop(table);
    engine.drop_table("s", "t", WAIT).unwrap();
    let deadline = Instant::now() + Duration::from_mins(1);
    while engine.store().space_report().pages_used != empty {
        assert!(Instant::now() < deadline, "{:?}", engine.store().space_report());
        std::thread::yield_now();
    }
    engine.shutdown().unwrap();
    drop(engine);
    assert_eq!(look_at(&disk).findings, []);
}
