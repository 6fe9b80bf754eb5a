//! What threads do between a start and whatever ends it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use base::prng::Prng;
use base::sync::Event as Signal;
use engine::{
    Alteration, BeginOptions, BuildOptions, ColumnSet, Direction, Effect, Engine, Error, Isolation, KeyRange,
    LockMode, LockingScan, ReadView, Table, Trx, WaitPolicy,
};
use env::SimDisk;
use types::{CollationId, TableDef};

use super::coverage::{Coverage, Event};
use super::extra;
use super::model::{Change, Definitions, MAIN, Model, Pair, Row, Rows, SHARED, SIDE};
use super::tables::{self, NAMES, PAIR, PAIR_SCHEMA, SCHEMA, key, with_row};

/// Ids that each writer has for itself.
const IDS_EACH: u64 = 60;

/// Writers of a round, at most.
pub(super) const WRITERS_MAX: u64 = 4;

/// Changes of a long transaction.
const LONG: u64 = 40;

/// Values longer than this do not fit on their row's page.
const OFF_PAGE: usize = 8200;

/// Bytes of a value that does not fit into the shortest log.
const LONGER_THAN_LOG: usize = 384 << 10;

/// Definition changes in a round.
const DEFINITIONS: u64 = 14;

/// How long a DDL statement waits for its tables.
const LONG_WAIT: Duration = Duration::from_secs(1000);

/// Snapshots in a round, and checkpoints and steps of purge.
const SNAPSHOTS: u64 = 100;
const CHORES: u64 = 50;

/// Changes that a full disk refuses before space is freed.
const REFUSALS: u64 = 12;

/// Why a thread has stopped.
#[derive(Debug)]
pub(super) enum Stop {
    /// The engine has returned an error.
    Refused(Error),
    /// Something is not as it must be.
    Wrong(String),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Stop::Refused(error)
    }
}

impl From<env::IoError> for Stop {
    fn from(error: env::IoError) -> Self {
        Stop::Refused(error.into())
    }
}

impl From<String> for Stop {
    fn from(wrong: String) -> Self {
        Stop::Wrong(wrong)
    }
}

pub(super) type Result<T> = std::result::Result<T, Stop>;

/// What threads tell each other, and those who look later.
#[derive(Default)]
pub(super) struct Shared {
    pub(super) model: Model,
    pub(super) coverage: Coverage,
    /// Whether the start was found to be right.
    pub(super) started: bool,
    /// Threads go on until `coverage` has as many operations.
    pub(super) operations: u64,
    /// Sessions that change rows and have not ended.
    writers: u64,
    /// A commit has failed for good.
    log_failed: bool,
    /// Whether the engine's log has named a damaged page.
    pub(super) damage_told: bool,
    /// Changes that the full disk of this round has refused.
    refusals: u64,
    disk: Option<SimDisk>,
    /// Weak: its last owner ends its threads, which only the simulation can.
    pub(super) engine: Weak<Engine>,
}

impl Shared {
    /// Begins a round that ends after this number of operations in all.
    pub(super) fn begin(&mut self, operations: u64, disk: &SimDisk) {
        (self.started, self.log_failed, self.damage_told) = (false, false, false);
        (self.refusals, self.disk) = (0, Some(disk.clone()));
        self.operations = operations;
        self.engine = Weak::new();
        self.coverage.add(Event::Rounds, 1);
    }

    /// A full disk has refused a change. After some of them somebody frees space.
    fn refused(&mut self) {
        self.coverage.add(Event::DiskFull, 1);
        self.refusals += 1;
        if self.refusals == REFUSALS
            && let Some(disk) = &self.disk
        {
            disk.set_capacity(u64::MAX);
            self.coverage.add(Event::SpaceFreed, 1);
        }
    }

    /// Adds what the engine has counted. It is not asked again.
    pub(super) fn take_stats(&mut self, engine: &Engine) {
        self.engine = Weak::new();
        let store = engine.store();
        let (pool, log) = (store.pool().stats(), store.log().stats());
        let (splits, merges) = store.splits_and_merges();
        let (undo_swaps, undo_reads) = engine.trx_system().undo().swaps_and_reads();
        for (event, times) in [
            (Event::Evictions, pool.evictions),
            (Event::PageReads, pool.page_reads),
            (Event::Splits, splits),
            (Event::Merges, merges),
            (Event::Checkpoints, log.checkpoints),
            (Event::Recycled, log.files_recycled),
            (Event::AdmissionWaits, log.admission_waits),
            (Event::RingWaits, log.ring_waits),
            (Event::LogBytes, log.bytes_written),
            (Event::LogSpills, engine.undo_spills()),
            (Event::UndoSwaps, undo_swaps),
            (Event::UndoReads, undo_reads),
            (Event::IndexChanges, engine.side_log_totals().applied),
            (Event::RowsCopiedAgain, engine.side_log_totals().copied),
            (Event::LeavesConverted, store.conversions()),
        ] {
            self.coverage.add(event, times);
        }
    }
}

/// No simulated thread stops while it holds this.
pub(super) type Notes = Arc<Mutex<Shared>>;

pub(super) fn lock(notes: &Notes) -> MutexGuard<'_, Shared> {
    notes.lock().unwrap_or_else(PoisonError::into_inner)
}

fn count(notes: &Notes, event: Event, times: u64) {
    lock(notes).coverage.add(event, times);
}

fn is_done(notes: &Notes) -> bool {
    let shared = lock(notes);
    shared.writers == 0 || shared.coverage.of(Event::Operations) >= shared.operations
}

/// A number that the simulation's seed decides.
fn drawn_seed() -> Result<Prng> {
    let mut bytes = [0; 8];
    env::random_bytes(&mut bytes)?;
    Ok(Prng::new(u64::from_le_bytes(bytes)))
}

/// Writers, a reader, a keeper and a thread of definition changes, to their end.
pub(super) fn work(engine: &Arc<Engine>, notes: &Notes, writers: u64) -> Result<()> {
    let mut threads = Vec::new();
    lock(notes).writers = writers;
    for number in 0..writers {
        let (engine, theirs) = (Arc::clone(engine), Arc::clone(notes));
        let work = move || {
            let ended = Writer::new(engine, Arc::clone(&theirs), number).and_then(Writer::run);
            lock(&theirs).writers -= 1;
            ended
        };
        threads.push(env::spawn("writer", work)?);
    }
    for (name, work) in [("reader", read as fn(&Arc<Engine>, &Notes) -> Result<()>), ("keeper", keep)] {
        let (engine, notes) = (Arc::clone(engine), Arc::clone(notes));
        threads.push(env::spawn(name, move || work(&engine, &notes))?);
    }
    let mut definer = Definer { writer: Writer::new(Arc::clone(engine), Arc::clone(notes), writers)? };
    let mut ended = definer.run();
    for thread in threads {
        let theirs = thread.join().unwrap_or_else(|| Err(Stop::Wrong("a thread panicked".to_owned())));
        if weight(&theirs) > weight(&ended) {
            ended = theirs;
        }
    }
    ended
}

/// How much an end tells: a wrong answer more than an error, and that more than a wait for who has met the
/// error.
fn weight(ended: &Result<()>) -> u32 {
    match ended {
        Ok(()) => 0,
        Err(Stop::Refused(Error::Lock(_))) => 1,
        Err(Stop::Refused(_)) => 2,
        Err(Stop::Wrong(_)) => 3,
    }
}

/// A session that changes rows.
struct Writer {
    engine: Arc<Engine>,
    notes: Notes,
    prng: Prng,
    /// Its ids are those that leave this remainder.
    number: u64,
    table: usize,
    /// The rows of its table that are its own, as its transactions have left them.
    rows: Rows,
    changes: Vec<Change>,
}

impl Writer {
    /// The session `number`; the last one is the definer's and has the side table for itself.
    fn new(engine: Arc<Engine>, notes: Notes, number: u64) -> Result<Self> {
        let prng = drawn_seed()?;
        let rows = lock(&notes).model.newest(MAIN);
        let own = |id: &i32| *id != SHARED && (*id as u64 - 1) / IDS_EACH == number;
        let rows = rows.into_iter().filter(|(id, _)| own(id)).collect();
        Ok(Writer { engine, notes, prng, number, table: MAIN, rows, changes: Vec::new() })
    }

    fn run(mut self) -> Result<()> {
        while !is_done(&self.notes) {
            let changes = match self.prng.below(42) {
                0 => 3 * LONG + self.prng.below(60),
                1..3 => LONG + self.prng.below(30),
                _ => 1 + self.prng.below(6),
            };
            self.transaction(changes)?;
        }
        Ok(())
    }

    /// One transaction of about `changes` changes, which may have to give up in a deadlock.
    fn transaction(&mut self, changes: u64) -> Result<()> {
        let before = self.rows.clone();
        match self.try_transaction(changes) {
            Err(Stop::Refused(error)) if error.effect() == Effect::Transaction => {
                // Its end has rolled it back.
                self.rows = before;
                count(&self.notes, Event::Deadlocks, 1);
                Ok(())
            }
            Err(Stop::Refused(error)) if error.is_full_disk() => {
                // It was dropped, which has rolled it back.
                self.rows = before;
                lock(&self.notes).refused();
                Ok(())
            }
            ended => ended,
        }
    }

    fn try_transaction(&mut self, changes: u64) -> Result<()> {
        let before = self.rows.clone();
        self.changes.clear();
        let engine = Arc::clone(&self.engine);
        let mut trx = engine.begin(BeginOptions::default());
        let table = engine.open_table(&mut trx, SCHEMA, NAMES[self.table])?;
        let main = engine.open_table(&mut trx, SCHEMA, NAMES[MAIN])?;
        let first = self.prng.below(2) == 0;
        let mut number = if first { self.raise(&main, &mut trx)? } else { 0 };
        for at in 0..changes {
            if at % 4 == 0 && self.prng.below(8) == 0 {
                self.lock_any(&main, &mut trx)?;
            }
            self.step(&table, &mut trx)?;
        }
        count(&self.notes, Event::LongTransactions, u64::from(changes >= LONG));
        let end = self.prng.below(8);
        if !first {
            number = self.lock_shared(&main, &mut trx)?;
            if end > 1 && self.prng.below(2) == 0 {
                // The commit is in the frame of the last change.
                let log_failed = self.ask(number)?;
                trx.end_with_change();
                if let Err(error) = self.write_shared(&main, &mut trx, number) {
                    lock(&self.notes).model.withdraw(number);
                    return Err(error);
                }
                return self.answer(trx, number, log_failed);
            }
            self.write_shared(&main, &mut trx, number)?;
        }
        match end {
            0 => engine.rollback(&mut trx)?,
            // Its end rolls it back.
            1 if changes < 4 => drop(trx),
            _ => return self.commit(trx, number),
        }
        count(&self.notes, Event::RolledBack, 1);
        self.rows = before;
        Ok(())
    }

    /// Asks for the commit of what was done, and takes the answer down.
    fn commit(&mut self, trx: Trx, number: i32) -> Result<()> {
        let log_failed = self.ask(number)?;
        self.answer(trx, number, log_failed)
    }

    /// Says that the commit of what was done is about to be asked for; whether one has failed.
    fn ask(&mut self, number: i32) -> Result<bool> {
        let mut shared = lock(&self.notes);
        shared.model.ask(number, std::mem::take(&mut self.changes))?;
        Ok(shared.log_failed)
    }

    /// Asks for the commit; `log_failed`: one had failed before.
    fn answer(&mut self, mut trx: Trx, number: i32, log_failed: bool) -> Result<()> {
        let ended = self.engine.commit(&mut trx);
        let mut shared = lock(&self.notes);
        match ended {
            Ok(()) if log_failed => Err("a commit was answered after one had failed".to_owned().into()),
            Ok(()) => {
                shared.model.answer(number);
                shared.coverage.add(Event::Answered, 1);
                Ok(())
            }
            Err(error) => {
                shared.log_failed = error.effect() == Effect::Server;
                Err(error.into())
            }
        }
    }

    /// Locks a row that may be another writer's, or the gap where it would be.
    fn lock_any(&mut self, main: &Table, trx: &mut Trx) -> Result<()> {
        let mode = if self.prng.below(3) == 0 { LockMode::Shared } else { LockMode::Exclusive };
        let id = 1 + self.prng.below(IDS_EACH * WRITERS_MAX) as i32;
        self.lock_row(main, trx, mode, id)
    }

    /// Locks the row `id`, or the gap where it would be.
    fn lock_row(&self, table: &Table, trx: &mut Trx, mode: LockMode, id: i32) -> Result<()> {
        let locks = trx.lock_read(mode, WaitPolicy::Wait).map_err(Error::from)?;
        let mut scan = LockingScan::new(&self.engine, table, 0, &locks, Direction::Forward);
        scan.restart(true, |range| *range = KeyRange::prefix(&key(id)));
        scan.next_row()?;
        Ok(())
    }

    /// Raises the shared row, which stays locked until the transaction ends. Returns its number.
    fn raise(&mut self, main: &Table, trx: &mut Trx) -> Result<i32> {
        let number = self.lock_shared(main, trx)?;
        self.write_shared(main, trx, number)?;
        Ok(number)
    }

    /// Locks the shared row, and returns the number that it gets.
    fn lock_shared(&mut self, main: &Table, trx: &mut Trx) -> Result<i32> {
        self.lock_row(main, trx, LockMode::Exclusive, SHARED)?;
        let found = tables::get(&self.engine, main, ReadView::newest(), SHARED)?;
        let number = found.ok_or_else(|| "the shared row is gone".to_owned())?.n + 1;
        let row = Row { n: number, stamp: 0, len: 0 };
        self.changes.push(Change { table: MAIN, id: SHARED, row: Some(row) });
        Ok(number)
    }

    fn write_shared(&mut self, main: &Table, trx: &mut Trx, number: i32) -> Result<()> {
        let row = Row { n: number, stamp: 0, len: 0 };
        with_row(main, SHARED, &row, |row| {
            main.update(&self.engine, trx, &key(SHARED), row, &ColumnSet::ALL)
        })?;
        count(&self.notes, Event::Operations, 1);
        Ok(())
    }

    /// A change, or some that are taken back, or one that is refused.
    fn step(&mut self, table: &Table, trx: &mut Trx) -> Result<()> {
        let engine = Arc::clone(&self.engine);
        let kept = (self.rows.clone(), self.changes.len());
        let event = match self.prng.below(24) {
            0 => {
                let mark = trx.mark();
                self.change_some(table, trx)?;
                engine.rollback_statement(trx, mark)?;
                Event::StatementsRolledBack
            }
            1 => {
                trx.set_savepoint("before");
                self.change_some(table, trx)?;
                engine.rollback_to_savepoint(trx, "before")?;
                Event::SavepointsRolledBack
            }
            2 => {
                let Some((&id, row)) = self.rows.first_key_value() else { return Ok(()) };
                let refused = with_row(table, id, row, |row| table.insert(&engine, trx, row));
                match refused {
                    Err(Error::DuplicateKey(_)) => Event::DuplicatesRefused,
                    Err(error) => return Err(error.into()),
                    Ok(_) => return Err(format!("row {id} was inserted twice").into()),
                }
            }
            _ => return self.change(table, trx),
        };
        count(&self.notes, event, 1);
        self.rows = kept.0;
        self.changes.truncate(kept.1);
        Ok(())
    }

    fn change_some(&mut self, table: &Table, trx: &mut Trx) -> Result<()> {
        for _ in 0..=self.prng.below(4) {
            self.change(table, trx)?;
        }
        Ok(())
    }

    /// Inserts, updates or deletes one of the writer's rows.
    fn change(&mut self, table: &Table, trx: &mut Trx) -> Result<()> {
        let engine = Arc::clone(&self.engine);
        let id = (1 + self.number * IDS_EACH + self.prng.below(IDS_EACH)) as i32;
        let len = match self.prng.below(40) {
            0 if self.prng.below(20) == 0 => LONGER_THAN_LOG + self.prng.below(300_000) as usize,
            0 => 20_000 + self.prng.below(30_000) as usize,
            1..4 => 9000,
            4..14 => 900,
            14..26 => 100,
            _ => 10,
        };
        let row = Row { n: self.prng.below(50) as i32, stamp: self.prng.next_u64() as u32, len };
        count(&self.notes, Event::Operations, 1);
        if let Some(old) = self.rows.get(&id) {
            if self.prng.below(4) == 0 {
                // A transaction that a crash left open may have changed it.
                self.lock_row(table, trx, LockMode::Exclusive, id)?;
                let found = tables::get(&engine, table, ReadView::newest(), id)?;
                if !found.as_ref().is_some_and(|found| found.is(old)) {
                    return Err(
                        format!("row {id} of the writer's own is {found:.100?} instead of {old:?}").into()
                    );
                }
            }
            if self.prng.below(3) == 0 {
                table.delete(&engine, trx, &key(id))?;
                self.rows.remove(&id);
                self.changes.push(Change { table: self.table, id, row: None });
                return Ok(());
            }
            with_row(table, id, &row, |row| table.update(&engine, trx, &key(id), row, &ColumnSet::ALL))?;
        } else {
            with_row(table, id, &row, |row| table.insert(&engine, trx, row))?;
        }
        count(&self.notes, Event::OffPageValues, u64::from(len > OFF_PAGE));
        count(&self.notes, Event::LongValues, u64::from(len >= LONGER_THAN_LOG));
        self.rows.insert(id, row);
        self.changes.push(Change { table: self.table, id, row: Some(row) });
        Ok(())
    }
}

/// The session that changes definitions.
struct Definer {
    writer: Writer,
}

impl Definer {
    fn run(&mut self) -> Result<()> {
        for _ in 0..DEFINITIONS {
            if is_done(&self.writer.notes) {
                break;
            }
            match self.step() {
                // Somebody used the table for too long.
                Err(Stop::Refused(Error::Lock(_))) => lock(&self.writer.notes).model.defining = None,
                Err(Stop::Refused(error)) if error.is_full_disk() => {
                    let mut shared = lock(&self.writer.notes);
                    shared.model.defining = None;
                    shared.refused();
                }
                ended => ended?,
            }
            count(&self.writer.notes, Event::Operations, 1);
        }
        Ok(())
    }

    /// A DDL statement, or a transaction on the side table.
    fn step(&mut self) -> Result<()> {
        let defined = lock(&self.writer.notes).model.defined;
        match self.writer.prng.below(9) {
            0..2 => return self.index(!defined.index),
            2..4 => return self.pair(defined),
            4..7 => return self.columns(defined),
            _ => {}
        }
        if !defined.side {
            return self.create_side();
        }
        match self.writer.prng.below(4) {
            0 => self.empty_side(false),
            1 => self.empty_side(true),
            _ => self.fill_side(),
        }
    }

    /// Runs `change` of a definition.
    fn define(
        &mut self,
        event: Event,
        now: Definitions,
        change: impl FnOnce(&Engine) -> engine::Result<()>,
    ) -> Result<()> {
        lock(&self.writer.notes).model.defining = Some(now);
        change(&self.writer.engine)?;
        let mut shared = lock(&self.writer.notes);
        (shared.model.defined, shared.model.defining) = (now, None);
        shared.coverage.add(event, 1);
        Ok(())
    }

    /// Adds or drops the index on the long column, and says so in the comment, by one statement.
    fn index(&mut self, wanted: bool) -> Result<()> {
        let now = Definitions { index: wanted, ..lock(&self.writer.notes).model.defined };
        let event = if wanted { Event::IndexesCreated } else { Event::IndexesDropped };
        let rebuilds = self.writer.prng.below(3) == 0;
        let (event, in_order) =
            if rebuilds { (Event::TablesRebuilt, self.writer.prng.below(2) == 0) } else { (event, true) };
        self.define(event, now, |engine| {
            let old = engine.table(SCHEMA, NAMES[MAIN])?;
            let mut def = TableDef { comment: tables::comment(wanted).into(), ..(*old.def).clone() };
            if wanted {
                let index = tables::index_on_c(&def);
                def.indexes.push(index);
            } else {
                def.indexes.retain(|index| &*index.name != "c");
            }
            let alteration = Alteration { def, auto_increment: None };
            if rebuilds {
                return tables::rebuild(engine, &old, alteration, in_order, LONG_WAIT);
            }
            engine.alter_table(&old.def, alteration, &BuildOptions::default(), LONG_WAIT)
        })
    }

    /// Adds, drops or moves a column of the main table, whose rows stay.
    fn columns(&mut self, old: Definitions) -> Result<()> {
        let table = self.writer.engine.table(SCHEMA, NAMES[MAIN])?;
        let prng = &mut self.writer.prng;
        let step = extra::Step::draw(prng, old.columns, table.def.columns.len());
        let place = prng.below(8) as usize;
        let now = Definitions { columns: step.after(old.columns), ..old };
        self.define(step.event(), now, |engine| step.make(engine, &table, place, LONG_WAIT))
    }

    /// A statement on the pair of tables, or one that makes them.
    fn pair(&mut self, old: Definitions) -> Result<()> {
        let now = |pair| Definitions { pair, ..old };
        let create = |e: &Engine, at| e.create_table(tables::pair_definition(at)).map(drop);
        match (old.pair, self.writer.prng.below(4)) {
            (Pair::Missing, _) => self.define(Event::SchemasCreated, now(Pair::Empty), |e| {
                e.create_schema(PAIR_SCHEMA, CollationId::UTF8MB4_BIN)
            }),
            (Pair::Empty, _) => self.define(Event::TablesCreated, now(Pair::First), |e| create(e, 0)),
            (Pair::First, _) => {
                self.define(Event::TablesCreated, now(Pair::Both { swapped: false }), |e| create(e, 1))
            }
            (Pair::Both { .. }, 0) => self.define(Event::SchemasDropped, now(Pair::Missing), |e| {
                e.drop_schema(PAIR_SCHEMA, LONG_WAIT).map(drop)
            }),
            (Pair::Both { .. }, 1) => self.define(Event::TablesDroppedTogether, now(Pair::Empty), |e| {
                e.drop_tables(&PAIR.map(|name| (PAIR_SCHEMA, name)), LONG_WAIT)
            }),
            (Pair::Both { swapped }, _) => {
                let [left, right, between] = [PAIR[0], PAIR[1], "between"].map(|name| (PAIR_SCHEMA, name));
                let pairs = [(left, between), (right, left), (between, right)];
                self.define(Event::NamesSwapped, now(Pair::Both { swapped: !swapped }), |e| {
                    e.rename_tables(&pairs, LONG_WAIT)
                })
            }
        }
    }

    fn create_side(&mut self) -> Result<()> {
        let old = lock(&self.writer.notes).model.defined;
        let now = Definitions { side: true, epoch: old.epoch + 1, ..old };
        self.define(Event::TablesCreated, now, |e| e.create_table(tables::definition(SIDE)).map(drop))
    }

    fn empty_side(&mut self, stays: bool) -> Result<()> {
        let old = lock(&self.writer.notes).model.defined;
        let now = Definitions { side: stays, epoch: old.epoch + 1, ..old };
        if stays {
            self.define(Event::TablesTruncated, now, |e| e.truncate_table(SCHEMA, NAMES[SIDE], LONG_WAIT))
        } else {
            self.define(Event::TablesDropped, now, |e| e.drop_table(SCHEMA, NAMES[SIDE], LONG_WAIT))
        }
    }

    /// A transaction on the side table.
    fn fill_side(&mut self) -> Result<()> {
        self.writer.table = SIDE;
        self.writer.rows = lock(&self.writer.notes).model.newest(SIDE);
        let changes = 10 + self.writer.prng.below(40);
        self.writer.transaction(changes)
    }
}

/// Takes snapshots and compares them.
fn read(engine: &Arc<Engine>, notes: &Notes) -> Result<()> {
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

/// Checkpoints and purge, more often than the engine's own threads think of them.
fn keep(engine: &Arc<Engine>, notes: &Notes) -> Result<()> {
    let mut prng = drawn_seed()?;
    let longest = [300, 3000, 30_000][prng.below(3) as usize];
    for _ in 0..CHORES {
        if is_done(notes) {
            break;
        }
        pause(Duration::from_micros(prng.below(longest)));
        match prng.below(5) {
            0 => engine.checkpoint()?,
            1 => engine.checkpoint_round()?,
            4 => drop(engine.conversion_step()?),
            most => drop(engine.purge_step(most as usize)?),
        }
    }
    Ok(())
}

/// Lets simulated time go by.
fn pause(time: Duration) {
    let event = Signal::new();
    event.wait(event.ticket(), Some(env::deadline_in(time)));
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
