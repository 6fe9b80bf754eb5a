//! Random transactions of several sessions on few keys, written down with what they were answered.
//!
//! *Lists*: a row per key with the elements as text. Only some keys are in use at a time; each gets about a
//! hundred elements until the next ones take their place, so that lists stay short. A key's first element
//! makes its row.
//!
//! *Registers*: as many rows as keys in use, each with a value, which is unique, and the number of its
//! writes, which a write learns by `LAST_INSERT_ID`. The values have an index, by which a range can be read,
//! too.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use base::prng::Prng;

use super::anomaly::Level;
use super::client::{Answer, Client};
use super::history::{History, Objects, Op, ReadKind, Transaction};

/// Keys in use at a time.
const KEYS: u32 = 8;
/// Writes after which the next key takes the place of the oldest: a key sees this many times `KEYS`.
const WRITES_A_KEY: u32 = 12;
/// Operations of a transaction.
const OPERATIONS_MAX: u64 = 5;

/// What to run.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// What the keys are.
    pub objects: Objects,
    /// At which level.
    pub level: Level,
    /// How many transactions are begun.
    pub transactions: u64,
    /// By how many sessions.
    pub sessions: u64,
    /// Of all that is random but the order of events.
    pub seed: u64,
}

/// What came of a run beside its history.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// Transactions that committed.
    pub commits: usize,
    /// That rolled back because they wanted to.
    pub rollbacks: usize,
    /// Victims of deadlocks.
    pub deadlocks: usize,
    /// Rolled back because a row had changed since their view.
    pub conflicts: usize,
}

/// What the sessions share.
struct Shared {
    plan: Plan,
    clock: AtomicU64,
    left: AtomicU64,
    next_value: AtomicU32,
    done: Mutex<(Vec<Transaction>, Counts)>,
}

/// Runs `plan` on connections that `connect` makes.
///
/// # Errors
/// An answer that no transaction should get.
pub fn run(
    plan: Plan,
    connect: impl Fn() -> Result<Client, String> + Sync,
) -> Result<(History, Counts), String> {
    let mut admin = connect()?;
    prepare(&mut admin, plan.objects)?;
    let shared = Shared {
        plan,
        clock: AtomicU64::new(1),
        left: AtomicU64::new(plan.transactions),
        next_value: AtomicU32::new(1),
        done: Mutex::default(),
    };
    let work = &|number| Session::start(&shared, connect()?, number)?.work();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..plan.sessions).map(|number| scope.spawn(move || work(number))).collect();
        threads
            .into_iter()
            .try_for_each(|thread| thread.join().map_err(|_| "a session panicked".to_owned())?)
    })?;
    let (transactions, counts) = shared.done.into_inner().map_err(|e| e.to_string())?;
    let last = last(&mut admin, plan.objects)?;
    Ok((History { objects: plan.objects, transactions, last }, counts))
}

fn prepare(admin: &mut Client, objects: Objects) -> Result<(), String> {
    let columns = match objects {
        Objects::Lists => "v TEXT",
        Objects::Registers => "v INT, n BIGINT, KEY by_v (v)",
    };
    let mut statements = vec![
        "DROP DATABASE IF EXISTS elle".to_owned(),
        "CREATE DATABASE elle".to_owned(),
        format!("CREATE TABLE elle.t (id INT PRIMARY KEY, {columns})"),
    ];
    if objects == Objects::Registers {
        let rows: Vec<String> = (0..KEYS).map(|key| format!("({key}, 0, 0)")).collect();
        statements.push(format!("INSERT INTO elle.t VALUES {}", rows.join(", ")));
    }
    for statement in statements {
        if let Answer::Error(number, text) = admin.ask(&statement)? {
            return Err(format!("{statement}: {number} {text}"));
        }
    }
    Ok(())
}

/// What is there in the end.
fn last(admin: &mut Client, objects: Objects) -> Result<HashMap<u32, Vec<u32>>, String> {
    let rows = match admin.ask("SELECT id, v FROM elle.t")? {
        Answer::Rows(rows) => rows,
        other => return Err(format!("the last read: {other:?}")),
    };
    let mut last = HashMap::new();
    for row in rows {
        last.insert(number(&row[0])?, elements(&row[1])?);
    }
    if objects == Objects::Registers {
        last.retain(|_, seen| *seen != [0]);
    }
    Ok(last)
}

fn number(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| format!("not a number: {text}"))
}

fn elements(text: &str) -> Result<Vec<u32>, String> {
    text.split(',').map(number).collect()
}

/// How a transaction continues after an answer.
enum Next {
    On,
    /// The server has rolled it back.
    RolledBack,
}

struct Session<'s> {
    shared: &'s Shared,
    client: Client,
    prng: Prng,
    trx: Transaction,
    counts: Counts,
    done: Vec<Transaction>,
}

impl<'s> Session<'s> {
    fn start(shared: &'s Shared, mut client: Client, number: u64) -> Result<Self, String> {
        let plan = shared.plan;
        let level = format!("SET SESSION TRANSACTION ISOLATION LEVEL {}", plan.level.sql());
        let mut statements = vec!["USE elle", "SET SESSION innodb_lock_wait_timeout = 600", &level];
        if plan.level == Level::Snapshot {
            statements.push("SET SESSION innodb_snapshot_isolation = ON");
        }
        for (statement, answer) in statements.iter().zip(client.ask_all(&statements)?) {
            if let Answer::Error(number, text) = answer {
                return Err(format!("{statement}: {number} {text}"));
            }
        }
        let prng = Prng::new(plan.seed.wrapping_mul(1000) + number);
        let (trx, counts) = (Transaction::default(), Counts::default());
        Ok(Session { shared, client, prng, trx, counts, done: Vec::new() })
    }

    fn work(mut self) -> Result<(), String> {
        let one = |left: u64| left.checked_sub(1);
        while self.shared.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one).is_ok() {
            self.transaction()?;
        }
        let mut done = self.shared.done.lock().map_err(|e| e.to_string())?;
        done.0.append(&mut self.done);
        let Counts { commits, rollbacks, deadlocks, conflicts } = self.counts;
        done.1.commits += commits;
        done.1.rollbacks += rollbacks;
        done.1.deadlocks += deadlocks;
        done.1.conflicts += conflicts;
        Ok(())
    }

    fn now(&self) -> u64 {
        self.shared.clock.fetch_add(1, Ordering::SeqCst)
    }

    /// A value that nobody has written.
    fn value(&self) -> u32 {
        self.shared.next_value.fetch_add(1, Ordering::Relaxed)
    }

    /// The lowest key in use.
    fn first_key(&self) -> u32 {
        match self.shared.plan.objects {
            Objects::Lists => self.shared.next_value.load(Ordering::Relaxed) / WRITES_A_KEY,
            Objects::Registers => 0,
        }
    }

    fn transaction(&mut self) -> Result<(), String> {
        let first = self.first_key();
        let operations = 1 + self.prng.below(OPERATIONS_MAX);
        let mut begin = Some("BEGIN");
        for _ in 0..operations {
            if let Next::RolledBack = self.operation(first, begin.take())? {
                let now = self.now();
                self.trx.ending = now..now;
                self.done.push(std::mem::take(&mut self.trx));
                return Ok(());
            }
        }
        let commits = self.prng.below(10) > 0;
        let started = self.now();
        let answer = self.client.ask(if commits { "COMMIT" } else { "ROLLBACK" })?;
        if let Answer::Error(number, text) = answer {
            return Err(format!("an end: {number} {text}"));
        }
        self.trx.committed = commits;
        self.trx.ending = started..self.now();
        self.counts.commits += usize::from(commits);
        self.counts.rollbacks += usize::from(!commits);
        self.done.push(std::mem::take(&mut self.trx));
        Ok(())
    }

    /// Runs a statement, after `begin` if that is to come first.
    fn ask(&mut self, begin: Option<&str>, statement: &str) -> Result<Option<Answer>, String> {
        let started = self.now();
        let answer = match begin {
            Some(begin) => self.client.ask_all(&[begin, statement])?.pop(),
            None => Some(self.client.ask(statement)?),
        };
        self.trx.statements.push(started..self.now());
        match answer {
            Some(Answer::Error(1213, _)) => self.counts.deadlocks += 1,
            Some(Answer::Error(1020, _)) if self.shared.plan.level == Level::Snapshot => {
                self.counts.conflicts += 1;
            }
            Some(Answer::Error(number, text)) => return Err(format!("{statement}: {number} {text}")),
            other => return Ok(other),
        }
        Ok(None)
    }

    fn operation(&mut self, first: u32, begin: Option<&str>) -> Result<Next, String> {
        let key = first + self.prng.below(u64::from(KEYS)) as u32;
        let to = (key + 1 + self.prng.below(3) as u32).min(first + KEYS - 1);
        match self.prng.below(24) {
            0..5 => self.read(begin, key, key, ReadKind::Plain),
            5..8 => self.read(begin, key, to, ReadKind::Range),
            8..10 => self.read(begin, key, key, ReadKind::Locking),
            10 => self.read(begin, key, to, ReadKind::Locking),
            11 if begin.is_none() => self.write_and_undo(key),
            12 => match self.read(begin, key, key, ReadKind::Plain)? {
                Next::On => self.write(None, key, false),
                rolled_back @ Next::RolledBack => Ok(rolled_back),
            },
            13 => self.write_range(begin, key, to),
            14 if self.is_register() => self.remake(begin, key),
            _ => self.write(begin, key, false),
        }
    }

    fn is_register(&self) -> bool {
        self.shared.plan.objects == Objects::Registers
    }

    fn read(&mut self, begin: Option<&str>, from: u32, to: u32, kind: ReadKind) -> Result<Next, String> {
        let tail = match (kind, self.prng.below(2)) {
            (ReadKind::Locking, 0) => " FOR UPDATE",
            (ReadKind::Locking, _) => " FOR SHARE",
            _ => "",
        };
        // What is not committed may have left its entry, and have no other yet; after a scan that waits for
        // a row, without gaps locked, the row may get a lower entry.
        let level = self.shared.plan.level;
        let has_entry = match kind {
            ReadKind::Locking => level >= Level::RepeatableRead,
            _ => level >= Level::ReadCommitted,
        };
        let text = if from == to {
            format!("SELECT id, v FROM t WHERE id = {from}{tail}")
        } else if self.is_register() && has_entry && self.prng.below(2) == 0 {
            format!(
                "SELECT id, v FROM t FORCE INDEX (by_v) WHERE v >= 0 AND id BETWEEN {from} AND {to}{tail}"
            )
        } else {
            format!("SELECT id, v FROM t WHERE id BETWEEN {from} AND {to}{tail}")
        };
        let statement = self.trx.statements.len() as u32;
        match self.rows(begin, &text)? {
            None => Ok(Next::RolledBack),
            Some(rows) => self.note_reads(&text, rows, from..=to, kind, statement).map(|()| Next::On),
        }
    }

    /// The rows of a query; `None`: rolled back.
    fn rows(&mut self, begin: Option<&str>, text: &str) -> Result<Option<Vec<Vec<String>>>, String> {
        match self.ask(begin, text)? {
            None => Ok(None),
            Some(Answer::Rows(rows)) => Ok(Some(rows)),
            Some(other) => Err(format!("{text}: {other:?}")),
        }
    }

    /// Writes down what `rows`, of keys and values, tell of `keys`.
    fn note_reads(
        &mut self,
        text: &str,
        rows: Vec<Vec<String>>,
        keys: RangeInclusive<u32>,
        kind: ReadKind,
        statement: u32,
    ) -> Result<(), String> {
        let mut found = HashMap::new();
        for row in rows {
            if found.insert(number(&row[0])?, elements(&row[1])?).is_some() {
                return Err(format!("{text}: a row twice: {row:?}"));
            }
        }
        // One that is being remade is missing for readers of uncommitted data.
        let may_miss = self.shared.plan.level == Level::ReadUncommitted && kind != ReadKind::Locking;
        for key in keys {
            match found.remove(&key) {
                None if self.is_register() && may_miss => {}
                None if self.is_register() => return Err(format!("{text}: no row {key}")),
                seen => {
                    let seen = seen.unwrap_or_default();
                    self.trx.ops.push(Op::Read { key, seen, kind, statement });
                }
            }
        }
        if found.is_empty() { Ok(()) } else { Err(format!("{text}: rows beyond the range")) }
    }

    /// Writes one value to those of a range that there are, and reads which.
    fn write_range(&mut self, begin: Option<&str>, from: u32, to: u32) -> Result<Next, String> {
        let value = self.value();
        let (text, back) = if self.is_register() {
            (
                format!(
                    "UPDATE t SET v = {value}, n = n + 1 WHERE id BETWEEN {from} AND {to} AND v % 3 <> 0"
                ),
                format!("SELECT id, v, n FROM t WHERE id BETWEEN {from} AND {to}"),
            )
        } else {
            (
                format!("UPDATE t SET v = CONCAT(v, ',', '{value}') WHERE id BETWEEN {from} AND {to}"),
                format!("SELECT id, v FROM t WHERE id BETWEEN {from} AND {to}"),
            )
        };
        let matched = match self.ask(begin, &text)? {
            None => return Ok(Next::RolledBack),
            Some(Answer::Done { matched, .. }) => matched,
            Some(other) => return Err(format!("{text}: {other:?}")),
        };
        let statement = self.trx.statements.len() as u32;
        let Some(rows) = self.rows(None, &back)? else { return Ok(Next::RolledBack) };
        let mut written = 0;
        for row in &rows {
            if elements(&row[1])?.last() == Some(&value) {
                let version = row.get(2).map_or(Ok(0), |n| number(n))?;
                self.trx.ops.push(Op::Write { key: number(&row[0])?, value, version, undone: false });
                written += 1;
            }
        }
        if written != matched {
            return Err(format!("{text}: {matched} rows matched, and {written} are read back: {rows:?}"));
        }
        self.note_reads(&back, rows, from..=to, ReadKind::Range, statement).map(|()| Next::On)
    }

    /// Deletes a register and creates it again, or replaces it.
    fn remake(&mut self, begin: Option<&str>, key: u32) -> Result<Next, String> {
        let text = format!("SELECT id, v, n FROM t WHERE id = {key} FOR UPDATE");
        let statement = self.trx.statements.len() as u32;
        let Some(rows) = self.rows(begin, &text)? else { return Ok(Next::RolledBack) };
        let version = 1 + rows.first().map_or(Err(format!("{text}: no row")), |row| number(&row[2]))?;
        self.note_reads(&text, rows, key..=key, ReadKind::Locking, statement)?;
        let value = self.value();
        let row = format!("INTO t VALUES ({key}, {value}, {version})");
        let statements = match self.prng.below(2) {
            0 => vec![format!("REPLACE {row}")],
            _ => vec![format!("DELETE FROM t WHERE id = {key}"), format!("INSERT {row}")],
        };
        for text in statements {
            match self.ask(None, &text)? {
                None => return Ok(Next::RolledBack),
                Some(Answer::Done { matched: 1.., .. }) => {}
                Some(other) => return Err(format!("{text}: {other:?}")),
            }
        }
        self.trx.ops.push(Op::Write { key, value, version, undone: false });
        Ok(Next::On)
    }

    fn write(&mut self, begin: Option<&str>, key: u32, undone: bool) -> Result<Next, String> {
        let value = self.value();
        let is_list = !self.is_register();
        let upsert = format!(
            "INSERT INTO t VALUES ({key}, '{value}') ON DUPLICATE KEY UPDATE v = CONCAT(v, ',', '{value}')"
        );
        let text = match (is_list, self.prng.below(3)) {
            (true, 0) => format!("UPDATE t SET v = CONCAT(v, ',', '{value}') WHERE id = {key}"),
            (true, _) => upsert.clone(),
            (false, 0) => {
                format!("UPDATE t SET v = {value}, n = LAST_INSERT_ID(n + 1) WHERE id = {key} AND v >= 0")
            }
            (false, _) => format!("UPDATE t SET v = {value}, n = LAST_INSERT_ID(n + 1) WHERE id = {key}"),
        };
        let mut answer = self.ask(begin, &text)?;
        if let Some(Answer::Done { matched: 0, .. }) = answer {
            // No row yet, or no longer under this level's view of it.
            answer = self.ask(None, &upsert)?;
        }
        match answer {
            None => Ok(Next::RolledBack),
            Some(Answer::Done { matched, insert_id }) if matched > 0 && (is_list || insert_id > 0) => {
                self.trx.ops.push(Op::Write { key, value, version: insert_id as u32, undone });
                Ok(Next::On)
            }
            Some(other) => Err(format!("{text}: {other:?}")),
        }
    }

    /// A write between a savepoint and the return to it.
    fn write_and_undo(&mut self, key: u32) -> Result<Next, String> {
        self.savepoint("SAVEPOINT s")?;
        if let Next::RolledBack = self.write(None, key, true)? {
            return Ok(Next::RolledBack);
        }
        self.savepoint("ROLLBACK TO SAVEPOINT s")?;
        Ok(Next::On)
    }

    fn savepoint(&mut self, statement: &str) -> Result<(), String> {
        match self.client.ask(statement)? {
            Answer::Done { .. } => Ok(()),
            other => Err(format!("{statement}: {other:?}")),
        }
    }
}
