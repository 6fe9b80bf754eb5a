//! Sessions that change rows: transactions of many lengths, savepoints, rollbacks, deadlocks.

use std::sync::Arc;

use base::prng::Prng;
use engine::{
    BeginOptions, ColumnSet, Direction, Effect, Engine, Error, KeyRange, LockMode, LockingScan, ReadView,
    Table, Trx, WaitPolicy,
};

use super::coverage::Event;
use super::model::{Change, MAIN, Row, Rows, SHARED};
use super::notes::{Notes, Result, Stop, count, is_done, lock};
use super::tables::{self, NAMES, SCHEMA, key, with_row};
use super::workload::drawn_seed;

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

/// A session that changes rows.
pub(super) struct Writer {
    pub(super) engine: Arc<Engine>,
    pub(super) notes: Notes,
    pub(super) prng: Prng,
    /// Its ids are those that leave this remainder.
    number: u64,
    pub(super) table: usize,
    /// The rows of its table that are its own, as its transactions have left them.
    pub(super) rows: Rows,
    changes: Vec<Change>,
}

impl Writer {
    /// The session `number`; the last one is the definer's and has the side table for itself.
    pub(super) fn new(engine: Arc<Engine>, notes: Notes, number: u64) -> Result<Self> {
        let prng = drawn_seed()?;
        let rows = lock(&notes).model.newest(MAIN);
        let own = |id: &i32| *id != SHARED && (*id as u64 - 1) / IDS_EACH == number;
        let rows = rows.into_iter().filter(|(id, _)| own(id)).collect();
        Ok(Writer { engine, notes, prng, number, table: MAIN, rows, changes: Vec::new() })
    }

    pub(super) fn run(mut self) -> Result<()> {
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
    pub(super) fn transaction(&mut self, changes: u64) -> Result<()> {
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
                trx.commit_with_change();
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
