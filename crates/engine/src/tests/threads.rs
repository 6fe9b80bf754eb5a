//! Real threads: transfers between accounts while readers add everything up.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use base::prng::Prng;

use super::support::*;
use crate::*;

const ACCOUNTS: i32 = 200;
const START: i32 = 1000;

fn sum(engine: &Engine, table: &Table, view: ReadView, index: usize) -> i64 {
    let scan = Scan::open(engine, table, index, view, KeyRange::all(), Direction::Forward).unwrap();
    let mut scan = if view.number().0.is_multiple_of(2) { scan.detached() } else { scan };
    let (mut sum, mut count) = (0, 0);
    while let Some(batch) = scan.next_batch().unwrap() {
        for row in batch.rows() {
            let k = row.column(1, &mut Vec::new()).map(|k| i32::from_le_bytes(k.try_into().unwrap()));
            sum += i64::from(k.unwrap());
            count += 1;
        }
    }
    assert_eq!(count, ACCOUNTS);
    sum
}

/// The balance of an account, its row locked.
fn balance(engine: &Engine, table: &Table, trx: &mut Trx, id: i32) -> Result<i32> {
    let locks = trx.lock_read(LockMode::Exclusive, WaitPolicy::Wait)?;
    let mut scan = LockingScan::new(engine, table, 0, &locks, Direction::Forward);
    scan.restart(true, |range| *range = KeyRange::prefix(&key(id)));
    let row = scan.next_row()?.expect("accounts stay").row;
    Ok(i32::from_le_bytes(row.column(1, &mut Vec::new()).unwrap().try_into().unwrap()))
}

/// Moves money between two accounts; now and then the row changes its size or its key and back. Whether it
/// was not chosen to break a deadlock.
fn transfer(engine: &Engine, table: &Table, trx: &mut Trx, prng: &mut Prng) -> bool {
    trx.restart(BeginOptions::default());
    assert!(engine.lock_table(trx, table, trx::TableUse::Write).unwrap());
    let done = try_transfer(engine, table, trx, prng);
    match done {
        Ok(()) if prng.below(5) > 0 => engine.commit(trx).unwrap(),
        Ok(()) | Err(Error::Lock(trx::Error::Deadlock)) => engine.rollback(trx).unwrap(),
        Err(error) => panic!("{error}"),
    }
    done.is_ok()
}

fn try_transfer(engine: &Engine, table: &Table, trx: &mut Trx, prng: &mut Prng) -> Result<()> {
    let (from, to) = (prng.below(ACCOUNTS as u64) as i32, prng.below(ACCOUNTS as u64) as i32);
    let amount = prng.below(50) as i32;
    for (id, delta) in [(from, -amount), (to, amount)] {
        let row = Wide {
            body: Some("b".repeat(prng.below(300) as usize)),
            ..Wide::new(id, balance(engine, table, trx, id)? + delta, &format!("account {id}"))
        };
        match prng.below(10) {
            0 => {
                assert!(delete(engine, table, trx, id)?);
                insert(engine, table, trx, &row)?;
            }
            1 => {
                let moved = Wide { id: id + 10_000, ..row.clone() };
                assert_eq!(update(engine, table, trx, id, &moved)?, UpdateOutcome::Updated);
                assert_eq!(update(engine, table, trx, id + 10_000, &row)?, UpdateOutcome::Updated);
            }
            _ => drop(update(engine, table, trx, id, &row)?),
        }
    }
    Ok(())
}

#[test]
fn readers_never_see_a_transfer_half_done() {
    let (engine, _disk) = engine();
    let table = engine.create_table(wide_def("t")).unwrap();
    let mut trx = engine.begin(BeginOptions::default());
    for id in 0..ACCOUNTS {
        insert(&engine, &table, &mut trx, &Wide::new(id, START, &format!("account {id}"))).unwrap();
    }
    engine.commit(&mut trx).unwrap();
    let (done, reads) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    std::thread::scope(|scope| {
        let writers: Vec<_> = (0..3)
            .map(|seed| {
                let (engine, table) = (&engine, &table);
                scope.spawn(move || {
                    let (mut prng, mut trx) = (Prng::new(seed), engine.begin(BeginOptions::default()));
                    engine.commit(&mut trx).unwrap();
                    let done = (0..600).filter(|_| transfer(engine, table, &mut trx, &mut prng)).count();
                    assert!(done > 300, "{done} transfers were not deadlocks");
                })
            })
            .collect();
        for reader in 0..2 {
            let (engine, table, done, reads) = (&engine, &table, &done, &reads);
            scope.spawn(move || {
                let mut trx = engine.begin(BeginOptions::default());
                while !done.load(Ordering::Relaxed) {
                    let view = trx.view();
                    let expected = i64::from(ACCOUNTS) * i64::from(START);
                    for index in [0, 1, (reader + view.number().0 as usize) % 2] {
                        assert_eq!(sum(engine, table, view, index), expected);
                    }
                    engine.commit(&mut trx).unwrap();
                    trx.restart(BeginOptions::default());
                    reads.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        let (engine, done) = (&engine, &done);
        scope.spawn(move || {
            while !done.load(Ordering::Relaxed) {
                engine.purge_step(7).unwrap();
                std::thread::yield_now();
            }
        });
        for writer in writers {
            writer.join().unwrap();
        }
        done.store(true, Ordering::Relaxed);
    });
    assert!(reads.load(Ordering::Relaxed) > 0);
    engine.purge_step(usize::MAX).unwrap();
    let report = table.check(&engine).unwrap();
    assert_eq!((report.rows, report.leftovers, report.problems), (ACCOUNTS as u64, 0, vec![]));
    assert!(engine.trx_system().undo().chunk_count() < 20);
}

#[test]
fn the_background_thread_purges_and_ends_with_the_engine() {
    let disk = Arc::new(env::SimDisk::new());
    let engine = Engine::open(EngineConfig { background: true, ..config(&disk) }).unwrap();
    engine.create_schema("s", types::CollationId::UTF8MB4_BIN).unwrap();
    let table = engine.create_table(wide_def("t")).unwrap();
    let mut trx = engine.begin(BeginOptions::default());
    for id in 0..100 {
        insert(&engine, &table, &mut trx, &Wide::new(id, id, &format!("c{id}"))).unwrap();
        delete(&engine, &table, &mut trx, id).unwrap();
    }
    engine.commit(&mut trx).unwrap();
    while engine.trx_system().purge_pending() > 0 {
        std::thread::yield_now();
    }
    engine.shutdown().unwrap();
    drop((trx, table, engine));
    let engine = Engine::open(config(&disk)).unwrap();
    let report = engine.table("s", "t").unwrap().check(&engine).unwrap();
    assert_eq!((report.rows, report.leftovers, report.problems), (0, 0, vec![]));
}

#[test]
fn a_shutdown_beside_running_writers_keeps_what_was_committed() {
    let (engine, disk) = engine();
    let table = engine.create_table(wide_def("t")).unwrap();
    let committed: Vec<i32> = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..3)
            .map(|writer| {
                let (engine, table) = (&engine, &table);
                scope.spawn(move || {
                    let mut trx = engine.begin(BeginOptions::default());
                    let mut done = Vec::new();
                    for n in 0.. {
                        let id = n * 3 + writer;
                        if insert(engine, table, &mut trx, &Wide::new(id, n, &format!("c{id}"))).is_err()
                            || engine.commit(&mut trx).is_err()
                        {
                            break;
                        }
                        done.push(id);
                        trx.restart(BeginOptions::default());
                    }
                    done
                })
            })
            .collect();
        while table.row_count_estimate() < 300 {
            std::thread::yield_now();
        }
        engine.shutdown().unwrap();
        writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect()
    });
    drop((table, engine));
    let engine = Engine::open(config(&disk)).unwrap();
    let table = engine.table("s", "t").unwrap();
    let mut committed = committed;
    committed.sort_unstable();
    let found: Vec<i32> = rows(&engine, &table, ReadView::newest()).iter().map(|row| row.id).collect();
    assert_eq!(found, committed);
    assert_sound(&engine, &table);
}
