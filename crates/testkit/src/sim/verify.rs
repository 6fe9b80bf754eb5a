//! Looking at what a startup has found.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use engine::check::{Depth, check_datadir};
use engine::{BeginOptions, Direction, Engine, ReadView, Table};
use env::{Disk, SimDisk};
use types::CollationId;

use super::coverage::Event;
use super::model::{Definitions, MAIN, Pair, Row, Rows, SHARED, SIDE};
use super::notes::{Notes, Result, lock};
use super::tables::{self, Found, NAMES, PAIR, PAIR_SCHEMA, SCHEMA, ids_in_order, with_row};
use super::{DATADIR, extra};

/// Compares what `engine` has found with what it may have found, and takes that as the state to continue
/// from. The first time it makes the tables.
pub(super) fn start(engine: &Arc<Engine>, notes: &Notes) -> Result<()> {
    if !lock(notes).model.made {
        make(engine)?;
        lock(notes).model.made = true;
    }
    // Transactions that the last round has left open may be there still: a view sees nothing of them.
    let mut trx = engine.begin(BeginOptions::default());
    let view = trx.view();
    // As statements do: what is out of use is refused by name.
    let main = engine.open_table(&mut trx, SCHEMA, NAMES[MAIN])?;
    let shared_row = tables::get(engine, &main, view, SHARED)?;
    let count = shared_row.ok_or_else(|| "the shared row is gone".to_owned())?.n;
    let has_side = engine.table(SCHEMA, NAMES[SIDE]).is_ok();
    let side = if has_side { Some(engine.open_table(&mut trx, SCHEMA, NAMES[SIDE])?) } else { None };
    let defined = definitions(engine, notes, view, (&main, side.as_deref()))?;
    let model = {
        let mut shared = lock(notes);
        shared.model.check_count(count)?;
        let unanswered = shared.model.settle(count, defined);
        shared.coverage.add(Event::FoundUnanswered, unanswered);
        shared.model.clone()
    };
    table_agrees(engine, &main, view, &model.newest(MAIN))?;
    if let Some(side) = side {
        table_agrees(engine, &side, view, &model.newest(SIDE))?;
    }
    Ok(engine.commit(&mut trx)?)
}

/// Checks all tables. Waits until transactions that the last round has left open are rolled back.
pub(super) fn check(engine: &Engine) -> Result<()> {
    for table in engine.tables(SCHEMA)? {
        let wait = Duration::from_secs(1000);
        let report = engine.check_table(&table.def.schema, &table.def.name, wait, Depth::Full)?;
        if !report.problems.is_empty() {
            return Err(format!("{}: {:?}", table.def.name, report.problems).into());
        }
    }
    Ok(())
}

/// Makes the tables, or what an attempt before has left out.
fn make(engine: &Arc<Engine>) -> Result<()> {
    if engine.schema(SCHEMA).is_err() {
        engine.create_schema(SCHEMA, CollationId::UTF8MB4_BIN)?;
    }
    let main = match engine.table(SCHEMA, NAMES[MAIN]) {
        Ok(main) => main,
        Err(_) => engine.create_table(tables::definition(MAIN))?,
    };
    let mut trx = engine.begin(BeginOptions::default());
    let view = trx.view();
    if tables::get(engine, &main, view, SHARED)?.is_none() {
        let main = engine.open_table(&mut trx, SCHEMA, NAMES[MAIN])?;
        let row = Row { n: 0, stamp: 0, len: 0 };
        with_row(&main, SHARED, &row, |row| main.insert(engine, &mut trx, row))?;
    }
    Ok(engine.commit(&mut trx)?)
}

/// The definitions found, if they may be, given the main table and the side table that were found.
fn definitions(
    engine: &Engine,
    notes: &Notes,
    view: ReadView,
    (main, side): (&Table, Option<&Table>),
) -> Result<Definitions> {
    let index = main.find_index("c").is_some();
    if *main.def.comment != *tables::comment(index) {
        return Err(format!("index {index}, but the comment is {:?}", main.def.comment).into());
    }
    let (columns, pair) = (extra::of(main), pair(engine)?);
    let model = lock(notes).model.clone();
    let is_it = |possible: &Definitions| {
        (possible.side, possible.index, possible.columns, possible.pair)
            == (side.is_some(), index, columns, pair)
    };
    let mut possible: Vec<Definitions> = model.possible().filter(is_it).collect();
    if let (Some(side), [now, before]) = (side, &possible[..])
        && now.epoch != before.epoch
    {
        // The side table may have been emptied, or not yet.
        let is_emptied = tables::scan(engine, side, view, Direction::Forward)?.is_empty();
        possible = vec![if is_emptied { *now } else { *before }];
    }
    let found = possible.first().copied();
    found.ok_or_else(|| {
        let (defined, defining) = (model.defined, model.defining);
        format!(
            "side {}, index {index}, columns {columns:x}, {pair:?} after {defined:?}, {defining:?}",
            side.is_some()
        )
        .into()
    })
}

/// What there is of the pair.
fn pair(engine: &Engine) -> Result<Pair> {
    let Ok(found) = engine.tables(PAIR_SCHEMA) else { return Ok(Pair::Missing) };
    let names: Vec<(&str, &str)> =
        found.iter().map(|table| (&*table.def.name, &*table.def.comment)).collect();
    let [left, right] = PAIR;
    match names[..] {
        [] => Ok(Pair::Empty),
        [one] if one == (left, left) => Ok(Pair::First),
        [one, other] if one == (left, left) && other == (right, right) => Ok(Pair::Both { swapped: false }),
        [one, other] if one == (left, right) && other == (right, left) => Ok(Pair::Both { swapped: true }),
        _ => Err(format!("half of a statement on two tables: {names:?}").into()),
    }
}

/// Compares a table with its rows through all of its indexes.
fn table_agrees(engine: &Engine, table: &Table, view: ReadView, rows: &Rows) -> Result<()> {
    let found = tables::scan(engine, table, view, Direction::Forward)?;
    agree(&table.def.name, found, rows, Direction::Forward)?;
    for position in 1..table.indexes.len() {
        let direction = [Direction::Forward, Direction::Backward][position % 2];
        index_agrees(engine, table, position, view, rows, direction)?;
    }
    Ok(())
}

/// Compares what was found with what there must be.
pub(super) fn agree(
    place: &str,
    mut found: Vec<Found>,
    rows: &Rows,
    direction: Direction,
) -> std::result::Result<(), String> {
    if direction == Direction::Backward {
        found.reverse();
    }
    let ids: Vec<i32> = found.iter().map(|found| found.id).collect();
    if !ids.iter().eq(rows.keys()) {
        let wanted: Vec<i32> = rows.keys().copied().collect();
        return Err(format!("{place}: rows {ids:?} instead of {wanted:?}"));
    }
    match found.iter().zip(rows.values()).find(|(found, row)| !found.is(row)) {
        Some((found, row)) => Err(format!("{place}: row {} is {found:.100?} instead of {row:?}", found.id)),
        None => Ok(()),
    }
}

/// Compares the ids that an index shows with those it must show.
pub(super) fn index_agrees(
    engine: &Engine,
    table: &Table,
    position: usize,
    view: ReadView,
    rows: &Rows,
    direction: Direction,
) -> Result<()> {
    let mut ids = tables::ids_by_index(engine, table, position, view, direction)?;
    if direction == Direction::Backward {
        ids.reverse();
    }
    let name = &table.indexes[position].def.name;
    let wanted = if position == 0 { rows.keys().copied().collect() } else { ids_in_order(rows, name) };
    if ids == wanted {
        return Ok(());
    }
    Err(format!("index {name} of {}: {ids:?} instead of {wanted:?}", table.def.name).into())
}

/// What is wrong with a directory that was closed.
pub(super) fn check_closed(disk: &SimDisk) -> std::result::Result<Vec<String>, String> {
    let disk: Arc<dyn Disk> = Arc::new(disk.clone());
    let report = check_datadir(disk, Path::new(DATADIR), 8 << 20, &mut |_| {}).map_err(|e| e.to_string())?;
    Ok(report.findings.iter().map(ToString::to_string).collect())
}
