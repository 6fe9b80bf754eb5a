//! A startup on a full disk: the server comes up and continues once there is space, or the start is refused
//! in one line.

use std::sync::Arc;
use std::time::Duration;

use base::sync::sim;
use env::{FaultKind, IoOp, SimDisk, Simulated, simulate};

use super::support::*;
use crate::*;

/// Rows that are committed before anything else happens.
const ROWS: i32 = 60;
/// Changes of the transaction that is open in the end.
const OPEN: i32 = 150;

const STEPS_MAX: u64 = 3_000_000;

/// A small pool and a small log, so that pages are evicted and files recycled.
fn small(disk: &Arc<SimDisk>) -> EngineConfig {
    let log = LogConfig { capacity_bytes: 256 << 10, buffer_bytes: 64 << 10, file_bytes_min: 32 << 10 };
    EngineConfig { pool_bytes: 40 * page::PAGE_SIZE, log, background: true, ..config(disk) }
}

fn row(id: i32) -> Wide {
    let body = (id % 7 == 0).then(|| format!("{id} ").repeat(4000));
    Wide { body, ..Wide::new(id, id % 9, &format!("c{id}")) }
}

/// Commits `ROWS` rows, leaves a transaction open that has changed them, makes tables and drops them, and
/// ends `how`.
fn work(disk: &Arc<SimDisk>, how: Ending) {
    let engine = Engine::open(small(disk)).unwrap();
    engine.create_schema("s", types::CollationId::UTF8MB4_BIN).unwrap();
    let table = engine.create_table(wide_def("t")).unwrap();
    let mut trx = engine.begin(BeginOptions::default());
    (0..ROWS).for_each(|id| insert(&engine, &table, &mut trx, &row(id)).unwrap());
    engine.commit(&mut trx).unwrap();
    let other = engine.create_table(wide_def("u")).unwrap();
    trx.restart(BeginOptions::default());
    (0..ROWS).for_each(|id| insert(&engine, &other, &mut trx, &row(id)).unwrap());
    engine.commit(&mut trx).unwrap();
    drop((trx, other));
    if how == Ending::Closed {
        drop(table);
        return engine.shutdown().unwrap();
    }
    let mut open = engine.begin(BeginOptions::default());
    for n in 0..OPEN {
        let id = n % ROWS;
        let changed = Wide { c: Some(format!("open {n}")), k: Some(-n), ..row(id) };
        update(&engine, &table, &mut open, id, &changed).unwrap();
    }
    engine.drop_table("s", "u", Duration::from_secs(1)).unwrap();
    engine.store().log().flush().unwrap();
    sim::halt();
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    Closed,
    Crashed,
}

/// A directory that [`work`] leaves.
fn directory(how: Ending) -> SimDisk {
    let disk = Arc::new(SimDisk::seeded(7));
    let theirs = Arc::clone(&disk);
    simulate(3, STEPS_MAX, move || work(&theirs, how));
    disk.crash_keeping(|_, _| true)
}

/// What became of a startup.
#[derive(Debug, PartialEq, Eq)]
enum Start {
    /// The lines of the server's log.
    CameUp(Vec<String>),
    Refused(String),
}

/// Starts on `disk`; if the server comes up, reads its rows, does what is to be done `meanwhile`, frees
/// space and continues.
fn start(disk: &Arc<SimDisk>, meanwhile: fn(&Arc<Engine>)) -> Simulated<Start> {
    let disk = Arc::clone(disk);
    simulate(5, STEPS_MAX, move || {
        let startup_lines = Arc::new(StartupLines::default());
        let startup_log = Arc::clone(&startup_lines) as Arc<dyn StartupLog>;
        let engine = match Engine::open(EngineConfig { startup_log, ..small(&disk) }) {
            Ok(engine) => engine,
            Err(error) => return Start::Refused(error.to_string()),
        };
        let table = engine.table("s", "t").unwrap();
        let mut trx = engine.begin(BeginOptions::default());
        let view = trx.view();
        assert_eq!(rows(&engine, &table, view), (0..ROWS).map(row).collect::<Vec<_>>());
        engine.commit(&mut trx).unwrap();
        meanwhile(&engine);
        disk.unschedule();
        disk.set_capacity(u64::MAX);
        trx.restart(BeginOptions::default());
        insert(&engine, &table, &mut trx, &row(1000)).unwrap();
        engine.commit(&mut trx).unwrap();
        roll_back(&engine);
        drop((trx, table));
        engine.shutdown().unwrap();
        Start::CameUp(std::mem::take(&mut *startup_lines.0.lock().unwrap()))
    })
}

/// Waits for the thread that rolls unfinished transactions back.
fn roll_back(engine: &Engine) {
    while engine.unfinished_transactions() > 0 {
        env::pause_for_space();
    }
}

/// A start with space after which all is there that was.
fn start_again(disk: &SimDisk, what: &str) {
    let disk = Arc::new(disk.crash_keeping(|_, _| true));
    disk.set_capacity(u64::MAX);
    let started = start(&disk, |_| {});
    assert!(matches!(started.result, Some(Start::CameUp(_))), "{what}: {started:?}");
    assert_eq!(look_at(&disk).findings, [], "{what}");
}

#[test]
fn wherever_a_start_meets_a_full_disk_it_comes_up_or_is_refused_by_name() {
    let (mut came_up, mut refused) = (0, 0);
    for how in [Ending::Closed, Ending::Crashed] {
        let whole = directory(how);
        for op in [IoOp::Create, IoOp::Resize, IoOp::Write, IoOp::Rename] {
            for nth in 1.. {
                let what = format!("{how:?}, {op:?} {nth}");
                let disk = Arc::new(whole.crash_keeping(|_, _| true));
                disk.schedule(Some(op), nth, FaultKind::Full);
                let started = start(&disk, |_| {});
                match started.result {
                    Some(Start::CameUp(_)) => came_up += 1,
                    Some(Start::Refused(line)) => {
                        assert!(line.contains("/data/") && line.contains("space"), "{what}: {line}");
                        assert!(!line.contains('\n'), "{what}: {line}");
                        refused += 1;
                        start_again(&disk, &what);
                    }
                    None => panic!("{what}: {:?}", started.stopped),
                }
                if disk.happened().is_empty() {
                    break;
                }
            }
        }
    }
    assert!(came_up >= 8 && refused >= 3, "{came_up} {refused}");
}

/// Rolls back what the startup has found open, with the log that is there; changes are refused, and nothing
/// else.
fn work_without_space(engine: &Arc<Engine>) {
    roll_back(engine);
    let table = engine.table("s", "t").unwrap();
    let mut trx = engine.begin(BeginOptions::default());
    let mut id = 2000;
    let error = loop {
        let inserted = insert(engine, &table, &mut trx, &row(id)).and_then(|()| engine.commit(&mut trx));
        match inserted {
            Ok(()) => trx.restart(BeginOptions::default()),
            Err(error) => break error,
        }
        id += 1;
    };
    assert!(error.is_full_disk() && error.effect() == Effect::Statement, "{error}");
    engine.rollback(&mut trx).unwrap();
    assert_sound(engine, &table);
}

#[test]
fn a_server_that_starts_without_any_space_rolls_back_and_refuses_changes_until_there_is_some() {
    for how in [Ending::Closed, Ending::Crashed] {
        let disk = Arc::new(directory(how));
        // Nothing is given back either: what the start removes is taken by others.
        disk.set_capacity(0);
        match start(&disk, work_without_space).result {
            Some(Start::CameUp(_)) => assert_eq!(look_at(&disk).findings, [], "{how:?}"),
            other => panic!("{how:?}: {other:?}"),
        }
    }
}
