//! The session that takes snapshots and compares them with the model.

use std::sync::Arc;
use std::time::Duration;

use base::prng::Prng;
use engine::{BeginOptions, Direction, Engine, Error, Isolation, ReadView, Table};

use super::coverage::Event;
use super::model::{MAIN, SHARED};
use super::notes::{Notes, Result, Stop, is_done, lock};
use super::tables::{self, NAMES, SCHEMA};
use super::workload::{drawn_seed, pause};

/// Snapshots in a round.
const SNAPSHOTS: u64 = 100;

/// Takes snapshots and compares them.
pub(super) fn read(engine: &Arc<Engine>, notes: &Notes) -> Result<()> {
    let mut prng = drawn_seed()?;
    for _ in 0..SNAPSHOTS {
        if is_done(notes) {
            break;
        }
        let options = BeginOptions { isolation: Isolation::RepeatableRead, ..BeginOptions::default() };
        let mut trx = engine.begin(options);
        if prng.below(3) == 0 {
            // The table may change while the snapshot has no use for it.
            trx.view();
            pause(Duration::from_micros(prng.below(5000)));
        }
        let table = engine.open_table(&mut trx, SCHEMA, NAMES[MAIN])?;
        let view = trx.view();
        for _ in 0..=prng.below(2) {
            match compare(engine, &table, view, notes, &mut prng) {
                // It is older than the index, or than the columns.
                Err(Stop::Refused(Error::TableDefinitionChanged)) => {}
                ended => ended?,
            }
        }
        engine.commit(&mut trx)?;
        pause(Duration::from_micros(prng.below(1000)));
    }
    Ok(())
}

/// Reads a table as `view` sees it, one way or another.
fn compare(
    engine: &Arc<Engine>,
    table: &Table,
    view: ReadView,
    notes: &Notes,
    prng: &mut Prng,
) -> Result<()> {
    let shared_row = tables::get(engine, table, view, SHARED)?;
    let number = shared_row.ok_or_else(|| "a snapshot has no shared row".to_owned())?.n;
    let rows = lock(notes).model.rows(MAIN, number, 0);
    let direction = if prng.below(2) == 0 { Direction::Forward } else { Direction::Backward };
    if prng.below(2) == 0 {
        let found = tables::scan(engine, table, view, direction)?;
        super::verify::agree(&format!("snapshot {number}"), found, &rows, direction)?;
    } else {
        let position = prng.below(table.indexes.len() as u64) as usize;
        super::verify::index_agrees(engine, table, position, view, &rows, direction)?;
    }
    let mut shared = lock(notes);
    shared.coverage.add(Event::Snapshots, 1);
    shared.coverage.add(Event::SnapshotRows, rows.len() as u64);
    Ok(())
}
