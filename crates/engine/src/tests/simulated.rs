//! Simulated threads on a simulated disk: one seed is one run, whatever the machine does meanwhile.

use std::sync::Arc;

use base::prng::Prng;
use env::{Simulated, simulate};

use super::support::*;
use crate::*;

const WRITERS: u64 = 3;
const ROWS_EACH: i32 = 40;

/// Rows of one writer: inserted, some deleted again, in transactions of a few changes, some rolled back.
fn write(engine: &Arc<Engine>, table: &Table, writer: u64) {
    let mut prng = Prng::new(writer);
    let mut trx = engine.begin(BeginOptions::default());
    for n in 0..ROWS_EACH {
        let id = n * WRITERS as i32 + writer as i32;
        let row = Wide { body: Some("b".repeat(200)), ..Wide::new(id, n, &format!("c{id}")) };
        insert(engine, table, &mut trx, &row).unwrap();
        if prng.below(4) == 0 {
            delete(engine, table, &mut trx, id).unwrap();
        }
        let ended = if prng.below(6) == 0 { engine.rollback(&mut trx) } else { engine.commit(&mut trx) };
        ended.unwrap();
        trx.restart(BeginOptions::default());
    }
}

/// A small engine with its background threads, three writers and a reader; the rows that are left.
fn run(seed: u64) -> Simulated<Vec<Wide>> {
    simulate(seed, 10_000_000, move || {
        let disk = Arc::new(env::SimDisk::seeded(seed));
        let config = EngineConfig { background: true, pool_bytes: 1 << 20, ..config(&disk) };
        let engine = Engine::open(config.clone()).unwrap();
        engine.create_schema("s", types::CollationId::UTF8MB4_BIN).unwrap();
        let table = engine.create_table(wide_def("t")).unwrap();
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let (engine, table) = (Arc::clone(&engine), Arc::clone(&table));
                env::spawn("writer", move || write(&engine, &table, writer)).unwrap()
            })
            .collect();
        for _ in 0..5 {
            rows(&engine, &table, ReadView::newest());
        }
        for writer in writers {
            writer.join().unwrap();
        }
        let left = rows(&engine, &table, ReadView::newest());
        assert_sound(&engine, &table);
        drop(table);
        engine.shutdown().unwrap();
        drop(engine);
        let engine = Engine::open(config).unwrap();
        let table = engine.table("s", "t").unwrap();
        assert_eq!(rows(&engine, &table, ReadView::newest()), left);
        engine.shutdown().unwrap();
        left
    })
}

#[test]
fn one_seed_is_one_run_of_the_whole_engine() {
    let mut traces = Vec::new();
    for seed in 0..4 {
        let (first, second) = (run(seed), run(seed));
        assert_eq!((first.result, first.trace), (second.result, second.trace), "seed {seed}");
        traces.push(first.trace.hash);
    }
    traces.dedup();
    assert_eq!(traces.len(), 4);
}
