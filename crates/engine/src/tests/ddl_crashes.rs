//! Crashes at each step of DDL statements beside which rows change.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use ::trx::{Client, ClientInfo, ExclusiveWait};
use types::CollationId;

use super::index_builds::{filled, new_indexes, notes, temp_files};
use super::online_builds::{LONG, add, long, options, user};
use super::online_rebuilds::{force, indexed};
use super::support::*;
use crate::*;

/// A client that is there as long as its disk has power: a transaction that could not be rolled back keeps
/// its metadata locks.
#[derive(Debug)]
struct Power(Arc<env::SimDisk>);

impl Client for Power {
    fn describe(&self) -> ClientInfo {
        ClientInfo::default()
    }

    fn is_gone(&self) -> bool {
        self.0.is_powered_off()
    }

    fn is_killed(&self) -> bool {
        false
    }

    fn set_waits_for_table(&self, _waits: bool) {}
}

/// Changes of rows until the statement is over or, once it is at its end, a round more.
fn change_rows(engine: &Arc<Engine>, at_its_end: &AtomicBool) -> Result<()> {
    let mut left = 60;
    for n in (0..60).cycle() {
        left = if at_its_end.load(Ordering::Relaxed) { left - 1 } else { 60 };
        if left == 0 {
            break;
        }
        let mut trx = engine.begin(BeginOptions::default());
        let table = engine.open_table(&mut trx, "s", "t")?;
        for id in [n, n + 100, n + 200] {
            let body = Some(long(id, n as usize));
            update(engine, &table, &mut trx, id, &Wide { body, ..Wide::new(id, n, "new") })?;
        }
        if n % 5 == 0 { engine.rollback(&mut trx)? } else { engine.commit(&mut trx)? }
    }
    Ok(())
}

/// Runs `alter` of the table that `fill` makes, again and again, beside a writer and a reader for whom it
/// waits, each time with a crash later than before, until there is none. `verify` gets the table that the
/// restart finds, and whether the statement had ended well.
fn with_crashes(
    fill: impl Fn(&Arc<Engine>),
    alter: impl Fn(&Engine, ExclusiveWait) -> Result<()> + Sync,
    verify: impl Fn(&Engine, &Table, bool),
) {
    let (mut nth, mut crashes, mut noted) = (1, 0, 0);
    loop {
        let disk = Arc::new(env::SimDisk::seeded(nth));
        let engine = Engine::open(config(&disk)).unwrap();
        engine.create_schema("s", CollationId::UTF8MB4_0900_AI_CI).unwrap();
        fill(&engine);
        engine.checkpoint().unwrap();
        disk.schedule(None, nth, env::FaultKind::PowerOff);
        let at_its_end = AtomicBool::new(false);
        let done = thread::scope(|scope| {
            let mut reader = user(&engine);
            let old = engine.table("s", "t").unwrap();
            let power: Arc<dyn Client> = Arc::new(Power(Arc::clone(&disk)));
            let wait = ExclusiveWait { client: Some(power), ..LONG.into() };
            let altering = scope.spawn(|| alter(&engine, wait));
            let writer = scope.spawn(|| change_rows(&engine, &at_its_end));
            while !old.state.lock.is_wanted() && !altering.is_finished() {
                thread::yield_now();
            }
            at_its_end.store(true, Ordering::Relaxed);
            let _ = writer.join().unwrap();
            engine.commit(&mut reader).unwrap();
            altering.join().unwrap().is_ok()
        });
        let was_cut = disk.is_powered_off();
        noted += engine.side_log_totals().noted;
        drop(engine);
        let disk = Arc::new(disk.crash_keeping(|_, _| true));
        let engine = Engine::open(config(&disk)).unwrap();
        let table = engine.table("s", "t").unwrap();
        verify(&engine, &table, done);
        assert_sound(&engine, &table);
        assert_eq!((notes(&engine), temp_files(&disk)), (0, 0));
        engine.shutdown().unwrap();
        drop((table, engine));
        assert_eq!(look_at(&disk).findings, []);
        if !was_cut {
            break;
        }
        crashes += 1;
        nth += 1 + nth / 4;
    }
    assert!(crashes > 10 && noted > 100, "{crashes} crashes, {noted} changes noted");
}

#[test]
fn a_crash_while_rows_change_leaves_all_of_the_indexes_or_none() {
    with_crashes(
        |engine| drop(filled(engine, 400)),
        |engine, wait| add(engine, new_indexes(), &options(), wait).map(drop),
        |_, table, done| {
            assert!([1, 6].contains(&table.indexes.len()) && (!done || table.indexes.len() == 6));
        },
    );
}

#[test]
fn a_crash_while_rows_change_leaves_the_old_table_or_the_new_one() {
    let old_tree = Cell::new(None);
    with_crashes(
        |engine| old_tree.set(Some(indexed(engine, 400).clustered().tree.index)),
        |engine, wait| force(engine, &options(), wait).map(drop),
        |engine, table, done| {
            assert!(!done || Some(table.clustered().tree.index) != old_tree.get());
            assert_eq!(table.count_rows(engine).unwrap(), 400);
        },
    );
}
