//! Random transactions of several threads, against a store that runs them one after another.
//!
//! Reads lock what they read, so that transactions are serializable in the order of their commits. Each
//! session writes down what it did and what the engine answered; in the end the committed transactions are
//! repeated in that order on a map, which must answer the same. Consistent reads must have seen what the
//! commits up to their number made.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use base::Lsn;
use base::prng::Prng;

use super::support::*;
use crate::*;

type Rows = BTreeMap<i32, Wide>;

/// What to read.
#[derive(Clone, Copy, Debug)]
enum Query {
    Ids { from: i32, to: i32, backward: bool },
    Id(i32),
    K(i32),
    All { index: usize },
}

/// A statement and its answer.
#[derive(Clone, Debug)]
enum Step {
    Insert {
        row: Wide,
        done: bool,
    },
    Batch {
        rows: Vec<Wide>,
        done: usize,
    },
    /// `None`: a key is another's.
    Update {
        id: i32,
        row: Wide,
        outcome: Option<UpdateOutcome>,
    },
    Delete {
        id: i32,
        done: bool,
    },
    Read {
        query: Query,
        found: Vec<Wide>,
    },
    /// The duplicate found of a row, by index.
    Duplicate {
        row: Wide,
        found: Option<(i32, usize)>,
    },
}

/// What a transaction did, by its commit number.
type History = Vec<(Lsn, Vec<Step>)>;

/// What a consistent read has seen, by its view's number.
type Snapshots = Vec<(Lsn, Vec<Wide>)>;

/// How wild a run is.
#[derive(Clone, Copy, Debug)]
struct Shape {
    ids: u64,
    transactions: u64,
    steps_max: u64,
}

struct Session {
    engine: Arc<Engine>,
    table: Arc<Table>,
    trx: Trx,
    prng: Prng,
    shape: Shape,
    deadlocks: u64,
}

fn clashes(rows: &Rows, row: &Wide, but: Option<i32>) -> bool {
    let name = |row: &Wide| row.c.as_ref().map(|c| c.to_ascii_lowercase());
    let others = rows.values().filter(|other| Some(other.id) != but);
    others.clone().any(|other| other.id == row.id)
        || (row.c.is_some() && others.clone().any(|other| name(other) == name(row)))
}

impl Query {
    fn of(self, rows: &Rows) -> Vec<Wide> {
        let picked = rows.values().filter(|row| match self {
            Query::Ids { from, to, .. } => (from..=to).contains(&row.id),
            Query::Id(id) => row.id == id,
            Query::K(k) => row.k == Some(k),
            Query::All { .. } => true,
        });
        picked.cloned().collect()
    }
}

/// Rows in few words.
fn told<'r>(rows: impl IntoIterator<Item = &'r Wide>) -> String {
    let told = |row: &Wide| {
        let Wide { id, k, c, body } = row;
        format!("({id}, {k:?}, {c:?}, {:?})", body.as_ref().map(String::len))
    };
    rows.into_iter().map(told).collect::<Vec<_>>().join(" ")
}

fn assert_same(found: &[Wide], wanted: &[Wide], what: &str) {
    assert!(found == wanted, "{what}:\n found {}\nwanted {}", told(found), told(wanted));
}

impl Step {
    fn has_changed(&self) -> bool {
        match self {
            Step::Insert { done, .. } | Step::Delete { done, .. } => *done,
            Step::Batch { done, .. } => *done > 0,
            Step::Update { outcome, .. } => *outcome == Some(UpdateOutcome::Updated),
            Step::Read { .. } | Step::Duplicate { .. } => false,
        }
    }

    fn told(&self) -> String {
        match self {
            Step::Insert { row, done } => format!("insert {}: {done}", told([row])),
            Step::Batch { rows, done } => format!("insert {}: {done}", told(rows)),
            Step::Update { id, row, outcome } => format!("update {id} to {}: {outcome:?}", told([row])),
            Step::Duplicate { row, found } => format!("duplicate of {}: {found:?}", told([row])),
            Step::Read { query, found } => format!("read {query:?}: {}", told(found)),
            other @ Step::Delete { .. } => format!("{other:?}"),
        }
    }
}

/// Repeats a transaction on `rows`.
fn repeat(rows: &mut Rows, steps: &[Step], number: Lsn) {
    for (at, step) in steps.iter().enumerate() {
        let what = || {
            let before: Vec<_> = steps[..at].iter().map(Step::told).collect();
            let rows = told(rows.values());
            format!("commit {number}: {}\nbefore: {before:#?}\nrows: {rows}", step.told())
        };
        match step {
            Step::Insert { row, done } => {
                assert!(clashes(rows, row, None) != *done, "{}", what());
                if *done {
                    rows.insert(row.id, row.clone());
                }
            }
            Step::Batch { rows: batch, done } => {
                let mut after = rows.clone();
                let in_turn = |row: &&Wide| {
                    !clashes(&after, row, None) && after.insert(row.id, (*row).clone()).is_none()
                };
                assert!(batch.iter().take_while(in_turn).count() == *done, "{}", what());
                *rows = after;
            }
            Step::Update { id, row, outcome } => {
                let wanted = match rows.get(id) {
                    None => Some(UpdateOutcome::Missing),
                    // A long value counts as changed.
                    Some(old) if old == row && *outcome != Some(UpdateOutcome::Updated) => {
                        Some(UpdateOutcome::Unchanged)
                    }
                    Some(_) if clashes(rows, row, Some(*id)) => None,
                    Some(_) => Some(UpdateOutcome::Updated),
                };
                assert!(*outcome == wanted, "{}", what());
                if wanted == Some(UpdateOutcome::Updated) {
                    rows.remove(id);
                    rows.insert(row.id, row.clone());
                }
            }
            Step::Delete { id, done } => {
                assert!(rows.contains_key(id) == *done, "{}", what());
                rows.remove(id);
            }
            Step::Read { query, found } => assert!(query.of(rows) == *found, "{}", what()),
            Step::Duplicate { row, found } => {
                let by_name = || {
                    let name = row.c.as_ref()?.to_ascii_lowercase();
                    let has_it =
                        |other: &&Wide| other.c.as_ref().is_some_and(|c| c.to_ascii_lowercase() == name);
                    Some((rows.values().find(has_it)?.id, 2))
                };
                // That there is none is not locked, not that of an earlier index either.
                let wanted = match found {
                    Some((_, 0)) => rows.get(&row.id).map(|row| (row.id, 0)),
                    Some(_) => by_name(),
                    None => None,
                };
                assert!(*found == wanted, "{}", what());
            }
        }
    }
}

/// Repeats all transactions in the order of their commits, and reads what consistent reads saw in between.
fn check(mut history: History, mut snapshots: Snapshots) -> Rows {
    // One that has changed nothing has the number of the newest commit at its end, whose changes it sees.
    history.sort_by_key(|(number, steps)| (*number, !steps.iter().any(Step::has_changed)));
    snapshots.sort_by_key(|&(number, _)| number);
    let mut snapshots = snapshots.into_iter().peekable();
    let mut rows = Rows::new();
    let look = |rows: &Rows, next: Lsn, snapshots: &mut std::iter::Peekable<std::vec::IntoIter<_>>| {
        while let Some((number, seen)) = snapshots.next_if(|&(number, _): &(Lsn, Vec<Wide>)| number < next) {
            assert_same(
                &seen,
                &rows.values().cloned().collect::<Vec<_>>(),
                &format!("a snapshot at {number}"),
            );
        }
    };
    for (number, steps) in history {
        look(&rows, number, &mut snapshots);
        repeat(&mut rows, &steps, number);
    }
    look(&rows, Lsn(u64::MAX), &mut snapshots);
    rows
}

impl Session {
    fn new(engine: &Arc<Engine>, table: &Arc<Table>, seed: u64, shape: Shape) -> Self {
        let mut trx = engine.begin(BeginOptions::default());
        engine.commit(&mut trx).unwrap();
        let (engine, table) = (Arc::clone(engine), Arc::clone(table));
        Session { engine, table, trx, prng: Prng::new(seed), shape, deadlocks: 0 }
    }

    fn id(&mut self) -> i32 {
        self.prng.below(self.shape.ids) as i32
    }

    fn row(&mut self) -> Wide {
        let ids = self.shape.ids;
        let n = self.prng.below(2 * ids);
        let c = if self.prng.below(2) == 0 { format!("name {n}") } else { format!("NAME {n}") };
        let body = match self.prng.below(12) {
            0 => None,
            1 => Some("x".repeat(6000 + self.prng.below(20_000) as usize)),
            _ => Some("text ".repeat(1 + self.prng.below(40) as usize)),
        };
        Wide {
            id: self.id(),
            k: (self.prng.below(6) != 0).then(|| self.prng.below(6) as i32),
            c: (self.prng.below(3) != 0).then_some(c),
            body,
        }
    }

    fn query(&mut self) -> Query {
        match self.prng.below(8) {
            0..2 => Query::Id(self.id()),
            2..5 => {
                let from = self.id();
                let to = from + self.prng.below(1 + self.shape.ids / 4) as i32;
                Query::Ids { from, to, backward: self.prng.below(2) == 0 }
            }
            5..7 => Query::K(self.prng.below(6) as i32),
            _ => Query::All { index: self.prng.below(4) as usize },
        }
    }

    /// A locking read.
    fn read(&mut self, query: Query) -> Result<Vec<Wide>> {
        let mode = if self.prng.below(2) == 0 { LockMode::Shared } else { LockMode::Exclusive };
        let locks = self.trx.lock_read(mode, WaitPolicy::Wait)?;
        let (index, range, backward, single) = match query {
            Query::Ids { from, to, backward } => (0, between(from, to), backward, false),
            Query::Id(id) => (0, between(id, id), false, true),
            Query::K(k) => (1, KeyRange::prefix(&[&[1][..], &key(k)].concat()), false, false),
            Query::All { index } => (index, KeyRange::all(), false, false),
        };
        let direction = if backward { Direction::Backward } else { Direction::Forward };
        let mut scan = LockingScan::new(&self.engine, &self.table, index, &locks, direction);
        scan.restart(single, |to| *to = range);
        let mut found = Vec::new();
        while let Some(entry) = scan.next_row()? {
            let mut key = Vec::new();
            self.table.indexes[index].append_clustered_key(&entry.row, &mut key);
            let newest = ReadView::newest();
            let mut copy = Vec::new();
            let place = self.table.get(&self.engine, &newest, &key, |row| row.record().copy_to(&mut copy))?;
            let record = place.expect("a locked row is there").record(&copy);
            found.push(Wide::read(&self.engine, &RowRef::new(&self.table.indexes[0].format, record)));
        }
        found.sort_by_key(|row| row.id);
        Ok(found)
    }

    fn step(&mut self) -> Result<Step> {
        let (engine, table) = (Arc::clone(&self.engine), Arc::clone(&self.table));
        Ok(match self.prng.below(20) {
            0..5 => {
                let row = self.row();
                match insert(&engine, &table, &mut self.trx, &row) {
                    Ok(()) => Step::Insert { row, done: true },
                    Err(Error::DuplicateKey(_)) => Step::Insert { row, done: false },
                    Err(error) => return Err(error),
                }
            }
            5 => {
                let rows: Vec<Wide> = (0..2 + self.prng.below(3)).map(|_| self.row()).collect();
                let done = self.insert_batch(&rows)?;
                Step::Batch { rows, done }
            }
            6..11 => {
                let (id, mut row) = (self.id(), self.row());
                if self.prng.below(4) > 0 {
                    row.id = id;
                }
                let outcome = match update(&engine, &table, &mut self.trx, id, &row) {
                    Ok(outcome) => Some(outcome),
                    Err(Error::DuplicateKey(_)) => None,
                    Err(error) => return Err(error),
                };
                Step::Update { id, row, outcome }
            }
            11..14 => {
                let id = self.id();
                Step::Delete { id, done: delete(&engine, &table, &mut self.trx, id)? }
            }
            14 => {
                let row = self.row();
                let found = row.with(|row| table.find_duplicate(&engine, &mut self.trx, row))?;
                let id = |key: &[u8]| (u32::from_be_bytes(key.try_into().unwrap()) ^ 0x8000_0000) as i32;
                Step::Duplicate { row, found: found.map(|found| (id(&found.clustered_key), found.index)) }
            }
            _ => {
                let query = self.query();
                Step::Read { query, found: self.read(query)? }
            }
        })
    }

    fn insert_batch(&mut self, rows: &[Wide]) -> Result<usize> {
        let (engine, table, trx) = (&self.engine, &self.table, &mut self.trx);
        match Wide::with_all(rows, |rows| table.insert_batch(engine, trx, rows)) {
            Ok(done) | Err((done, Error::DuplicateKey(_))) => Ok(done),
            Err((_, error)) => Err(error),
        }
    }

    /// A transaction; `None` if it was rolled back.
    fn transaction(&mut self) -> Option<(Lsn, Vec<Step>)> {
        let isolation = Isolation::RepeatableRead;
        // No thread sleeps on purpose: a wait this long is an undetected deadlock.
        let lock_wait = Duration::from_secs(100_000);
        self.trx.restart(BeginOptions { isolation, lock_wait, ..BeginOptions::default() });
        assert!(self.engine.lock_table(&mut self.trx, &self.table, trx::TableUse::Write).unwrap());
        let (mut steps, mut mark) = (Vec::new(), None);
        for _ in 0..=self.prng.below(self.shape.steps_max) {
            match (self.prng.below(16), mark) {
                (0, None) if self.trx.id().is_some() => {
                    mark = Some((self.trx.mark(), steps.len()));
                }
                (1..4, Some((at, len))) => {
                    // What is undone is not locked against others: it counts as if it had not been.
                    self.engine.rollback_statement(&mut self.trx, at).unwrap();
                    steps.truncate(len);
                }
                _ => match self.step() {
                    Ok(step) => steps.push(step),
                    Err(Error::Lock(trx::Error::Deadlock)) => {
                        self.deadlocks += 1;
                        self.engine.rollback(&mut self.trx).unwrap();
                        return None;
                    }
                    Err(error) => panic!("{error}"),
                },
            }
        }
        let id = self.trx.id();
        if self.prng.below(6) == 0 {
            self.engine.rollback(&mut self.trx).unwrap();
            return None;
        }
        self.engine.commit(&mut self.trx).unwrap();
        let number = self.engine.trx_system().number(id?)?;
        Some((number, steps))
    }

    fn run(mut self) -> (History, u64) {
        let history = (0..self.shape.transactions).filter_map(|_| self.transaction()).collect();
        (history, self.deadlocks)
    }
}

/// Consistent reads through all indexes.
fn look(engine: &Arc<Engine>, table: &Table, rounds: u64) -> Snapshots {
    let mut trx = engine.begin(BeginOptions::default());
    let mut snapshots = Snapshots::new();
    for _ in 0..rounds {
        let view = trx.view();
        let seen = rows(engine, table, view);
        let ids: Vec<i32> = seen.iter().map(|row| row.id).collect();
        for index in 1..table.indexes.len() {
            assert_eq!(ids_by_index(engine, table, index, view), ids, "{}", table.indexes[index].def.name);
        }
        assert_same(&rows(engine, table, view), &seen, "a snapshot stays");
        snapshots.push((view.number(), seen));
        engine.commit(&mut trx).unwrap();
        trx.restart(BeginOptions::default());
    }
    snapshots
}

/// Runs `sessions` threads and a reader; the deadlocks there were.
fn run(seed: u64, sessions: u64, shape: Shape) -> u64 {
    let disk = Arc::new(env::SimDisk::seeded(seed));
    let config = EngineConfig { background: true, pool_bytes: 2 << 20, ..config(&disk) };
    let engine = Engine::open(config).unwrap();
    engine.create_schema("s", types::CollationId::UTF8MB4_BIN).unwrap();
    let table = engine.create_table(wide_def("t")).unwrap();
    let writers: Vec<_> = (0..sessions)
        .map(|n| {
            let session = Session::new(&engine, &table, seed << 8 | n, shape);
            env::spawn("writer", move || session.run()).unwrap()
        })
        .collect();
    let reader = {
        let (engine, table) = (Arc::clone(&engine), Arc::clone(&table));
        env::spawn("reader", move || look(&engine, &table, shape.transactions)).unwrap()
    };
    let (mut history, mut deadlocks) = (History::new(), 0);
    for writer in writers {
        let (done, broken) = writer.join().unwrap();
        history.extend(done);
        deadlocks += broken;
    }
    let left = check(history, reader.join().unwrap());
    let wanted: Vec<_> = left.values().cloned().collect();
    assert_same(&rows(&engine, &table, ReadView::newest()), &wanted, "what is left");
    engine.purge_step(usize::MAX).unwrap();
    let report = table.check(&engine).unwrap();
    assert_eq!((report.rows, report.leftovers, report.problems), (left.len() as u64, 0, vec![]));
    drop(table);
    engine.shutdown().unwrap();
    deadlocks
}

const SMALL: Shape = Shape { ids: 12, transactions: 25, steps_max: 5 };
const LARGE: Shape = Shape { ids: 2000, transactions: 60, steps_max: 12 };

#[cfg(debug_assertions)]
#[test]
fn simulated_sessions_are_serializable() {
    let mut deadlocks = 0;
    for seed in 0..30 {
        eprintln!("seed {seed}");
        let simulated = env::simulate(seed, 100_000_000, move || run(seed, 4, SMALL));
        deadlocks += simulated.result.unwrap();
    }
    assert!(deadlocks > 0);
}

#[test]
fn sessions_on_real_threads_are_serializable() {
    for seed in 100..104 {
        eprintln!("seed {seed}");
        run(seed, 4, SMALL);
        run(seed, 4, LARGE);
    }
}
