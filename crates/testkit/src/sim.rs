//! Crashes of the whole engine in simulations: a seed is one run of several threads on a simulated disk, a power failure
//! somewhere, recovery, perhaps another failure in that, and a comparison with what was answered.
//!
//! Each writer has rows of its own and raises one row that all share with each transaction. What is found must be what a
//! writer was answered, or what it asked for last; the shared row must have counted exactly the transactions found.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use base::prng::Prng;
use engine::check::check_datadir;
use engine::{
    BeginOptions, ColumnSet, Direction, Engine, EngineConfig, Error, Field, KeyRange, ReadView, Result, Scan,
    Table, Trx,
};
use env::{Disk, Mishap, SimDisk, simulate};
use types::{CollationId, ColumnDef, IndexDef, IndexKind, SqlType, TableDef, TypeKind};

const WRITERS: u64 = 3;
const TRANSACTIONS_EACH: u64 = 70;
const STEPS_MAX: u64 = 50_000_000;

/// The shared row.
const SHARED: i32 = 0;

/// `n` and the length of `c`, by id.
type Rows = BTreeMap<i32, (i32, usize)>;

/// What a writer may find: its rows, and how many of its transactions are in them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct State {
    rows: Rows,
    transactions: i32,
}

#[derive(Debug, Default)]
struct Writer {
    answered: State,
    asked: Option<State>,
}

/// What happened in runs: that it did happen is looked at by people.
#[derive(Clone, Copy, Debug, Default)]
pub struct Coverage {
    /// Row changes and statements of other kinds.
    pub operations: u64,
    /// Transactions answered.
    pub answered: u64,
    /// Transactions found that were not answered.
    pub found_unanswered: u64,
    /// Definition changes.
    pub definitions: u64,
    /// Pages evicted, as far as runs got.
    pub evictions: u64,
    /// Bytes of log, as far as runs got.
    pub log_bytes: u64,
    /// Runs that ended in a power failure.
    pub failures: u64,
    /// Recoveries that were cut short.
    pub failures_in_recovery: u64,
}

#[derive(Default)]
struct Shared {
    writers: Vec<Writer>,
    coverage: Coverage,
    /// Weak: its last owner ends its threads, which only the simulation can.
    engine: Weak<Engine>,
}

/// What threads tell those who look later. No simulated thread stops while it holds this.
type Notes = Arc<Mutex<Shared>>;

fn lock(notes: &Notes) -> MutexGuard<'_, Shared> {
    notes.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs one seed.
///
/// # Errors
/// What was lost, or does not agree.
///
/// # Panics
/// On whatever the engine panics on, and on runs without end.
pub fn run(seed: u64) -> std::result::Result<Coverage, String> {
    let disk = SimDisk::seeded(seed);
    let mut prng = Prng::new(seed ^ 0x5eed);
    let notes: Notes = Arc::default();
    lock(&notes).writers.resize_with(WRITERS as usize, Writer::default);
    let (theirs, on) = (Arc::clone(&notes), disk.clone());
    let fails_at = 1 + prng.below(600);
    let end = simulate(seed, STEPS_MAX, move || {
        let begun = Engine::open(config(&on, true)).and_then(|engine| {
            engine.create_schema("s", CollationId::UTF8MB4_BIN)?;
            engine.create_table(def("t"))?;
            on.schedule(None, fails_at, Mishap::PowerOff);
            work(&engine, &theirs)
        });
        begun.map_err(|error| error.to_string())
    });
    if let Some(Err(error)) = end.result {
        return Err(format!("an error without a cause: {error}"));
    }
    let mut coverage = lock(&notes).coverage;
    coverage.failures = u64::from(end.result.is_none());
    if let Some(engine) = lock(&notes).engine.upgrade() {
        coverage.evictions = engine.store().pool().stats().evictions;
        coverage.log_bytes = engine.store().log().current().0;
    }
    let mut crashed = disk.crash();
    while prng.below(2) == 0 {
        crashed.schedule(None, 1 + prng.below(400), Mishap::PowerOff);
        coverage.failures_in_recovery += u64::from(Engine::open(config(&crashed, false)).is_err());
        crashed = crashed.crash();
    }
    verify(&crashed, &mut lock(&notes).writers, &mut coverage)?;
    Ok(coverage)
}

fn config(disk: &SimDisk, background: bool) -> EngineConfig {
    let log = log::LogConfig { capacity_bytes: 8 << 20, buffer_bytes: 64 << 10, file_bytes_min: 64 << 10 };
    let disk: Arc<dyn Disk> = Arc::new(disk.clone());
    EngineConfig { pool_bytes: 40 << 14, background, log, ..EngineConfig::new(disk, "/data") }
}

fn def(name: &str) -> TableDef {
    let int = SqlType::new(TypeKind::Int, 11);
    let columns = vec![
        ColumnDef::new("id", int.clone(), false),
        ColumnDef::new("n", int, false),
        ColumnDef::new("c", SqlType::varchar(10_000, CollationId::UTF8MB4_BIN), false),
    ];
    let indexes = vec![
        IndexDef::new("PRIMARY", IndexKind::Primary, &[0]),
        IndexDef::new("n", IndexKind::Secondary, &[1]),
    ];
    TableDef::new("s", name, columns, indexes)
}

fn key(id: i32) -> [u8; 4] {
    (id as u32 ^ 0x8000_0000).to_be_bytes()
}

fn with_row<R>(id: i32, (n, len): (i32, usize), work: impl FnOnce(&[Option<&[u8]>]) -> R) -> R {
    work(&[Some(&id.to_le_bytes()), Some(&n.to_le_bytes()), Some(&vec![b'c'; len])])
}

/// Writers and a thread of definition changes, to their end.
fn work(engine: &Arc<Engine>, notes: &Notes) -> Result<()> {
    lock(notes).engine = Arc::downgrade(engine);
    let mut trx = engine.begin(BeginOptions::default());
    let table = engine.open_table(&mut trx, "s", "t")?;
    with_row(SHARED, (0, 0), |row| table.insert(engine, &mut trx, row))?;
    engine.commit(&mut trx)?;
    drop(trx);
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| {
            let (engine, notes) = (Arc::clone(engine), Arc::clone(notes));
            env::spawn("writer", move || write(&engine, writer, &notes))
        })
        .collect::<std::result::Result<_, _>>()?;
    let mut prng = Prng::new(env_seed()?);
    for _ in 0..8 {
        define(engine, &mut prng)?;
        lock(notes).coverage.definitions += 1;
    }
    for writer in writers {
        if let Some(done) = writer.join() {
            done?;
        }
    }
    Ok(())
}

/// A number that the simulation's seed decides.
fn env_seed() -> Result<u64> {
    let mut bytes = [0; 8];
    env::random_bytes(&mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}

/// One definition change, or a checkpoint.
fn define(engine: &Engine, prng: &mut Prng) -> Result<()> {
    let wait = Duration::from_secs(1000);
    match prng.below(4) {
        0 => engine.checkpoint(),
        1 if engine.table("s", "other").is_ok() => engine.drop_table("s", "other", wait),
        1 => engine.create_table(def("other")).map(drop),
        _ if engine.table("s", "t")?.find_index("c").is_some() => engine.drop_index("s", "t", "c", wait),
        _ => {
            let mut index = IndexDef::new("c", IndexKind::Secondary, &[2, 1]);
            index.parts[0].prefix_len = Some(20);
            engine.create_index("s", "t", index, wait)
        }
    }
}

/// All transactions of a writer.
fn write(engine: &Arc<Engine>, writer: u64, notes: &Notes) -> Result<()> {
    let mut prng = Prng::new(env_seed()?);
    for _ in 0..TRANSACTIONS_EACH {
        let mut state = lock(notes).writers[writer as usize].answered.clone();
        let mut trx = engine.begin(BeginOptions::default());
        let table = engine.open_table(&mut trx, "s", "t")?;
        let changes = 1 + prng.below(5);
        for _ in 0..changes {
            change(engine, &table, &mut trx, &mut state.rows, writer, &mut prng)?;
        }
        count(engine, &table, &mut trx)?;
        state.transactions += 1;
        lock(notes).coverage.operations += changes + 1;
        if prng.below(6) == 0 {
            engine.rollback(&mut trx)?;
            continue;
        }
        lock(notes).writers[writer as usize].asked = Some(state.clone());
        engine.commit(&mut trx)?;
        let notes = &mut *lock(notes);
        notes.writers[writer as usize] = Writer { answered: state, asked: None };
        notes.coverage.answered += 1;
    }
    Ok(())
}

/// Inserts, updates or deletes one of the writer's rows.
fn change(
    engine: &Engine,
    table: &Table,
    trx: &mut Trx,
    rows: &mut Rows,
    writer: u64,
    prng: &mut Prng,
) -> Result<()> {
    let id = (1 + writer + WRITERS * prng.below(60)) as i32;
    let len = [10, 100, 900, 9000][prng.below(4) as usize];
    let row = (prng.below(50) as i32, len);
    let there = rows.contains_key(&id);
    if there && prng.below(3) == 0 {
        table.delete(engine, trx, &key(id))?;
        rows.remove(&id);
        return Ok(());
    }
    if there {
        with_row(id, row, |row| table.update(engine, trx, &key(id), row, &ColumnSet::ALL))?;
    } else {
        with_row(id, row, |row| table.insert(engine, trx, row))?;
    }
    rows.insert(id, row);
    Ok(())
}

/// Raises the shared row. The transaction is the one that writes.
fn count(engine: &Engine, table: &Table, trx: &mut Trx) -> Result<()> {
    let n = read(engine, table)?.get(&SHARED).map_or(0, |row| row.0);
    with_row(SHARED, (n + 1, 0), |row| table.update(engine, trx, &key(SHARED), row, &ColumnSet::ALL))
        .map(drop)
}

/// The newest version of all rows.
fn read(engine: &Engine, table: &Table) -> Result<Rows> {
    let view = ReadView::newest();
    let mut scan = Scan::open(engine, table, 0, view, KeyRange::all(), Direction::Forward)?.detached();
    let (mut rows, mut scratch) = (Rows::new(), Vec::new());
    while let Some(batch) = scan.next_batch()? {
        for row in batch.rows() {
            let mut int = |column| match row.field(column, &mut scratch) {
                Field::Bytes(bytes) => bytes.first_chunk().map_or(-1, |raw| i32::from_le_bytes(*raw)),
                _ => -1,
            };
            let (id, n) = (int(0), int(1));
            let len = match row.field(2, &mut scratch) {
                Field::Bytes(bytes) => bytes.len(),
                Field::OffPage(reference) => reference.len as usize,
                Field::Null => 0,
            };
            rows.insert(id, (n, len));
        }
    }
    Ok(rows)
}

/// Looks at what a start finds.
fn verify(
    disk: &SimDisk,
    writers: &mut [Writer],
    coverage: &mut Coverage,
) -> std::result::Result<(), String> {
    let told = |error: Error| format!("recovery: {error}");
    let engine = Engine::open(config(disk, false)).map_err(told)?;
    let table = engine.table("s", "t").map_err(told)?;
    let mut rows = read(&engine, &table).map_err(told)?;
    let counted = rows.remove(&SHARED).map_or(0, |row| row.0);
    let mut transactions = 0;
    for (number, writer) in writers.iter_mut().enumerate() {
        let owner = |id: i32| (id - 1) as u64 % WRITERS == number as u64;
        let found: Rows = rows.iter().filter(|(id, _)| owner(**id)).map(|(id, row)| (*id, *row)).collect();
        let asked = writer.asked.take().filter(|asked| asked.rows == found);
        // Where both have the same rows, the shared row tells which it is.
        match asked {
            _ if writer.answered.rows == found && asked.is_none() => {
                transactions += writer.answered.transactions;
            }
            Some(asked) if writer.answered.rows != found => {
                transactions += asked.transactions;
                coverage.found_unanswered += 1;
            }
            Some(_) => transactions += writer.answered.transactions,
            None => {
                return Err(format!(
                    "writer {number} was answered {:?} and finds {found:?}",
                    writer.answered.rows
                ));
            }
        }
    }
    let ambiguous = WRITERS as i32;
    if !(transactions..=transactions + ambiguous).contains(&counted) {
        return Err(format!("{counted} transactions were counted and {transactions} found"));
    }
    for table in engine.tables("s").map_err(told)? {
        let report = table.check(&engine).map_err(told)?;
        if !report.problems.is_empty() {
            return Err(format!("{}: {:?}", table.def.name, report.problems));
        }
    }
    drop(table);
    engine.shutdown().map_err(told)?;
    drop(engine);
    let disk: Arc<dyn Disk> = Arc::new(disk.clone());
    let report = check_datadir(disk, Path::new("/data"), 8 << 20, &mut |_| {}).map_err(told)?;
    if report.findings.is_empty() { Ok(()) } else { Err(format!("{:?}", report.findings)) }
}

#[cfg(all(test, debug_assertions))]
mod tests {
    use super::*;

    #[test]
    fn what_was_answered_survives_simulated_power_failures() {
        let failures: u64 = (0..10)
            .map(|seed| run(seed).unwrap_or_else(|error| panic!("seed {seed}: {error}")).failures)
            .sum();
        assert!(failures > 3, "{failures} power failures");
    }
}
