//! More undo than the limit: the transaction that keeps it is named, and only changes of rows are refused.

use std::sync::Arc;

use ::trx::{Client, ClientInfo};
use env::SimDisk;

use super::support::*;
use crate::*;

/// Bytes of undo that the tests permit.
const LIMIT: u64 = 1 << 20;

#[derive(Debug)]
struct Session(u32);

impl Client for Session {
    fn describe(&self) -> ClientInfo {
        let (user, host) = ("ann".to_owned(), "here".to_owned());
        ClientInfo { connection: self.0, user, host, active_s: 340, ..ClientInfo::default() }
    }

    fn is_gone(&self) -> bool {
        false
    }

    fn is_killed(&self) -> bool {
        false
    }

    fn set_waits_for_table(&self, _waits: bool) {}
}

fn limited(startup_lines: &Arc<StartupLines>) -> (Arc<Engine>, Arc<Table>) {
    let disk = Arc::new(SimDisk::new());
    let startup_log = Arc::clone(startup_lines) as Arc<dyn StartupLog>;
    let engine = Engine::open(EngineConfig { startup_log, ..config(&disk) }).unwrap();
    engine.create_schema("s", types::CollationId::UTF8MB4_0900_AI_CI).unwrap();
    engine.set_undo_limit(LIMIT);
    let table = engine.create_table(wide_def("t")).unwrap();
    (engine, table)
}

/// Updates a row again and again; the error that ends it.
fn update_until_refused(engine: &Engine, table: &Table, trx: &mut Trx) -> Error {
    for n in 0..100_000 {
        let row = Wide { body: Some(format!("{n}{}", "b".repeat(500))), ..Wide::new(1, n, "c") };
        if let Err(error) = update(engine, table, trx, 1, &row) {
            return error;
        }
        engine.commit(trx).unwrap();
        trx.restart(BeginOptions::default());
    }
    panic!("undo has no limit");
}

#[test]
fn an_idle_reader_that_keeps_too_much_undo_is_named_and_its_end_is_enough() {
    let startup_lines = Arc::new(StartupLines::default());
    let (engine, table) = limited(&startup_lines);
    let mut writer = engine.begin(BeginOptions::default());
    insert(&engine, &table, &mut writer, &Wide::new(1, 1, "c")).unwrap();
    engine.commit(&mut writer).unwrap();
    writer.restart(BeginOptions::default());
    let session: Arc<Session> = Arc::new(Session(12));
    let client: Arc<dyn Client> = Arc::clone(&session) as _;
    let mut reader = engine.begin(BeginOptions::default());
    reader.set_client(Arc::downgrade(&client));
    let view = reader.view();
    let before = rows(&engine, &table, view);
    for _ in 0..2 {
        let error = update_until_refused(&engine, &table, &mut writer);
        assert_eq!(error.effect(), Effect::Statement);
        let text = error.to_string();
        assert!(text.contains("a read view of connection 12 (ann@here)"), "{text}");
        assert!(text.contains("340 s"), "{text}");
        engine.purge_step(usize::MAX).unwrap();
    }
    // Reads and commits continue.
    assert_eq!(rows(&engine, &table, view), before);
    engine.commit(&mut writer).unwrap();
    writer.restart(BeginOptions::default());
    assert_eq!(startup_lines.0.lock().unwrap().iter().filter(|line| line.contains("are refused")).count(), 1);
    engine.commit(&mut reader).unwrap();
    engine.purge_step(usize::MAX).unwrap();
    update(&engine, &table, &mut writer, 1, &Wide::new(1, 5, "c")).unwrap();
    engine.commit(&mut writer).unwrap();
    assert_sound(&engine, &table);
}

#[test]
fn a_transaction_that_is_too_large_is_named_and_rolls_back() {
    let startup_lines = Arc::new(StartupLines::default());
    let (engine, table) = limited(&startup_lines);
    let mut trx = engine.begin(BeginOptions::default());
    let mut refused = None;
    for id in 0..100_000 {
        let row = Wide { body: Some("b".repeat(100)), ..Wide::new(id, id, &format!("c{id}")) };
        refused = insert(&engine, &table, &mut trx, &row).err();
        if refused.is_some() {
            break;
        }
    }
    let text = refused.unwrap().to_string();
    assert!(text.contains(&format!("it is kept for {}", trx.id().unwrap())), "{text}");
    engine.rollback(&mut trx).unwrap();
    assert_eq!(rows(&engine, &table, ReadView::newest()), []);
    engine.purge_step(usize::MAX).unwrap();
    engine.set_undo_limit(0);
    trx.restart(BeginOptions::default());
    insert(&engine, &table, &mut trx, &Wide::new(1, 1, "c")).unwrap();
    engine.commit(&mut trx).unwrap();
    assert_sound(&engine, &table);
}
