//! Golden scripts of row and gap locks (`tests/row_locks`): requests of several transactions, one after the
//! other, and the queues that they leave.
//!
//! A command's prefix names its transaction, which begins with its first command. After each command the
//! table is checked (`check.rs`), and what became of the waits of others is shown. A script ends with the end
//! of all transactions, after which the table must be empty.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use goldenscript::{Context, Runner};

use super::check::check_table;
use super::*;
use crate::lock::table::{GapId, Wait, WaitState};

#[derive(goldenscript::Command)]
enum Command {
    /// Asks for a row, S or X. `policy`: nowait or skip. `changes`: how many the transaction has made.
    Lock {
        key: String,
        mode: String,
        #[arg(key)]
        policy: Option<String>,
        #[arg(key)]
        changes: Option<u64>,
    },
    /// Changes a row: the transaction becomes its writer.
    Write { key: String },
    /// Inserts a row, whose writer the transaction becomes.
    Insert { key: String },
    /// Locks a gap: `gap "(b, d]"`, with `-` for no bound.
    Gap { interval: String },
    /// Moves the upper end of the transaction's last gap: `extend "e]"`.
    Extend { to: String },
    /// Sees how the wait has ended. One that has not is given up, as after the lock wait timeout.
    Wait,
    /// Keeps the lock on a row whose change is taken back.
    Keep { key: String },
    /// Gives a lock on a row up.
    Release { key: String, mode: String },
    /// Ends the transaction: what it changed is committed.
    Commit,
    /// Ends the transaction: what it changed is as before.
    RollBack,
    /// Looks for deadlocks, or does not.
    Detection { on: bool },
    /// Shows the queues of rows, the gaps, and each wait with the lock that it waits for.
    Show,
    /// Shows the deadlock that was found last.
    Deadlock,
}

type Answer = std::result::Result<String, Box<dyn std::error::Error>>;

struct Table {
    system: Arc<TrxSystem>,
    sessions: BTreeMap<String, Session>,
    /// The writer of each row's newest version.
    writers: BTreeMap<String, TrxId>,
    /// The gap that a transaction locked last.
    gaps: BTreeMap<String, GapId>,
    log_end: u64,
}

fn mode_of(text: &str) -> LockMode {
    if text == "S" { S } else { X }
}

/// A bound from its text, of which the bracket is the first or the last character.
fn bound(text: &str) -> Bound<&[u8]> {
    let key = text.trim_matches(['(', ')', '[', ']']).trim();
    match key {
        "-" => Bound::Unbounded,
        _ if text.contains(['[', ']']) => Bound::Included(key.as_bytes()),
        _ => Bound::Excluded(key.as_bytes()),
    }
}

fn interval(lower: &Bound<Box<[u8]>>, upper: &Bound<Box<[u8]>>) -> String {
    let end = |bound: &Bound<Box<[u8]>>, included, excluded| match bound {
        Bound::Unbounded => ("-".to_owned(), excluded),
        Bound::Included(key) => (key.escape_ascii().to_string(), included),
        Bound::Excluded(key) => (key.escape_ascii().to_string(), excluded),
    };
    let ((lower, open), (upper, close)) = (end(lower, '[', '('), end(upper, ']', ')'));
    format!("{open}{lower}, {upper}{close}")
}

impl Table {
    fn new() -> Self {
        let system = TrxSystem::new(TrxId(1), Lsn(7));
        let (sessions, writers, gaps) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        Table { system, sessions, writers, gaps, log_end: 100 }
    }

    fn begin(&mut self, name: &str) {
        if self.sessions.contains_key(name) {
            return;
        }
        let system = Arc::clone(&self.system);
        let slot = system.slots.register(system.undo());
        let id = system.begin(&slot).unwrap();
        let timeout = Duration::ZERO;
        let session = Session { system, slot, id, timeout, interrupt: AtomicBool::new(false) };
        self.sessions.insert(name.to_owned(), session);
    }

    fn name_of(&self, id: TrxId) -> String {
        let named = self.sessions.iter().find(|(_, session)| session.id == id);
        named.map_or(id.to_string(), |(name, _)| name.clone())
    }

    fn end(&mut self, name: &str, ending: impl FnOnce(Lsn) -> TrxOutcome) {
        self.log_end += 100;
        let session = self.sessions.remove(name).unwrap();
        self.system.end(&session.slot, session.id, |_| ending(Lsn(self.log_end))).unwrap();
    }

    /// How each wait stands, by the transaction's name.
    fn waits(&self) -> BTreeMap<String, WaitState> {
        let locks = self.system.locks.lock();
        let wait = |id| locks.state.owners.get(&id)?.wait.as_ref().map(|wait: &Wait| wait.state);
        self.sessions.iter().filter_map(|(name, session)| Some((name.clone(), wait(session.id)?))).collect()
    }

    fn run_as(&mut self, name: &str, command: &Command) -> Answer {
        self.begin(name);
        let session = &self.sessions[name];
        let attempt = match *command {
            Command::Lock { ref key, ref mode, ref policy, changes } => {
                let policy = match policy.as_deref() {
                    Some("nowait") => WaitPolicy::NoWait,
                    Some("skip") => WaitPolicy::SkipLocked,
                    _ => WaitPolicy::Wait,
                };
                let writer = self.writers.get(key).copied().unwrap_or(TrxId::NONE);
                let (key, mode) = (key.as_bytes(), mode_of(mode));
                let request = RowRequest { index: INDEX, key, mode, writer, stays: true, policy };
                session.locker().request(request, changes.unwrap_or(0))?
            }
            Command::Write { ref key } => {
                let writer = self.writers.get(key).copied().unwrap_or(TrxId::NONE);
                let attempt = session.locker().try_write(INDEX, key.as_bytes(), writer, 0)?;
                return Ok(self.written(attempt, session.id, key));
            }
            Command::Insert { ref key } => {
                let attempt = session.locker().try_insert(INDEX, key.as_bytes(), 0)?;
                return Ok(self.written(attempt, session.id, key));
            }
            _ => return self.change_as(name, command),
        };
        Ok(words(attempt).to_owned())
    }

    /// Notes that `id` has written the row, if it may.
    fn written(&mut self, attempt: Attempt, id: TrxId, key: &str) -> String {
        if let Attempt::Granted { .. } = attempt {
            self.writers.insert(key.to_owned(), id);
        }
        match attempt {
            Attempt::Granted { .. } => "written".to_owned(),
            other => words(other).to_owned(),
        }
    }

    fn change_as(&mut self, name: &str, command: &Command) -> Answer {
        let locker = self.sessions[name].locker();
        match command {
            Command::Gap { interval } => {
                let (lower, upper) = interval.split_once(", ").ok_or("a gap is \"(b, d]\"")?;
                let gap = locker.lock_gap(INDEX, bound(lower), bound(upper));
                self.gaps.insert(name.to_owned(), gap);
            }
            Command::Extend { to } => locker.extend_gap(INDEX, self.gaps[name], Side::Upper, bound(to)),
            Command::Wait => {
                locker.wait()?;
                return Ok("the wait is over: ask again".to_owned());
            }
            Command::Keep { key } => locker.keep_row(INDEX, key.as_bytes()),
            Command::Release { key, mode } => locker.release_row(INDEX, key.as_bytes(), mode_of(mode)),
            Command::Commit => self.end(name, TrxOutcome::Committed),
            Command::RollBack => {
                let id = self.sessions[name].id;
                self.writers.retain(|_, writer| *writer != id);
                self.end(name, TrxOutcome::RolledBack);
            }
            _ => return Err("this command has no transaction".into()),
        }
        Ok(String::new())
    }

    fn lock(&self, lock: &LockInfo) -> String {
        let name = self.name_of(lock.trx);
        match &lock.kind {
            LockKind::Row { key, mode } => {
                let mode = if *mode == S { "S" } else { "X" };
                format!("{name} {mode} on {}", key.escape_ascii())
            }
            LockKind::Gap { lower, upper } => format!("{name} gap {}", interval(lower, upper)),
            LockKind::Insert { key } => format!("{name} insert of {}", key.escape_ascii()),
        }
    }

    fn show(&self) -> String {
        let report = self.system.locks.report();
        let (mut rows, mut others): (BTreeMap<_, Vec<String>>, _) = (BTreeMap::new(), Vec::new());
        for lock in &report.locks {
            let LockKind::Row { key, mode } = &lock.kind else {
                others.push(self.lock(lock) + if lock.granted { "" } else { ", waits" });
                continue;
            };
            let (name, mode) = (self.name_of(lock.trx), if *mode == S { "S" } else { "X" });
            let waits = if lock.granted { "" } else { " waits" };
            rows.entry(key.escape_ascii().to_string()).or_default().push(format!("{name} {mode}{waits}"));
        }
        for (key, writer) in &self.writers {
            let is_explicit =
                rows.get(key).is_some_and(|queue| queue.contains(&format!("{} X", self.name_of(*writer))));
            if self.system.is_in_progress(*writer) && !is_explicit {
                others.push(format!("{} X on {key}, implicit", self.name_of(*writer)));
            }
        }
        let mut out = String::new();
        for (key, queue) in rows {
            let _ = writeln!(out, "row {key}: {}", queue.join(", "));
        }
        for lock in others {
            let _ = writeln!(out, "{lock}");
        }
        for wait in &report.waits {
            let _ = writeln!(out, "{} waits for {}", self.lock(&wait.wanted), self.lock(&wait.blocking));
        }
        if out.is_empty() { "no locks".to_owned() } else { out }
    }

    fn deadlock(&self) -> Answer {
        let deadlock = self.system.locks.latest_deadlock().ok_or("none was found")?;
        let mut out = String::new();
        for (at, member) in deadlock.members.iter().enumerate() {
            let victim = if at == deadlock.victim { ", the victim" } else { "" };
            let holds = member.holds.as_ref().map_or("nothing".to_owned(), |lock| self.lock(lock));
            let weight = member.changes + member.row_locks as u64;
            let wants = self.lock(&member.wants);
            let _ = writeln!(out, "weight {weight}: holds {holds}; wants {wants}{victim}");
        }
        Ok(out)
    }
}

fn words(attempt: Attempt) -> &'static str {
    match attempt {
        Attempt::Granted { new: true } => "granted",
        Attempt::Granted { new: false } => "held already",
        Attempt::Skipped => "skipped",
        Attempt::Wait => "waits",
    }
}

impl Runner for Table {
    type Command = Command;

    fn run(&mut self, command: &Command, context: &Context) -> Answer {
        let before = self.waits();
        let answer = match (&context.prefix, command) {
            (None, Command::Show) => Ok(self.show()),
            (None, Command::Deadlock) => self.deadlock(),
            (None, Command::Detection { on }) => {
                self.system.locks.set_deadlock_detection(*on);
                Ok(String::new())
            }
            (Some(name), command) => self.run_as(name, command),
            (None, _) => Err("whose command is it?".into()),
        };
        check_table(&self.system.locks);
        let mut out = match answer {
            Ok(out) => out,
            // Errors of the lock table are answers.
            Err(error) if error.is::<Error>() => error.to_string(),
            Err(error) => return Err(error),
        };
        for (name, state) in self.waits() {
            if before.get(&name) == Some(&WaitState::Yes) && state != WaitState::Yes {
                let what =
                    if state == WaitState::Granted { "ends its wait" } else { "is a deadlock's victim" };
                let _ = write!(out, "{}{name} {what}", if out.is_empty() { "" } else { "\n" });
            }
        }
        Ok(out)
    }

    fn end_script(&mut self) -> std::result::Result<(), Box<dyn std::error::Error>> {
        while let Some(name) = self.sessions.keys().next().cloned() {
            self.end(&name, TrxOutcome::Committed);
            check_table(&self.system.locks);
        }
        assert_eq!(self.system.locks.owner_count(), 0, "no transaction is left");
        Ok(())
    }
}

#[test]
fn every_script_of_row_locks_shows_what_was_recorded() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/row_locks");
    let mut scripts: Vec<_> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    scripts.sort();
    for script in scripts {
        let text = std::fs::read_to_string(&script).unwrap();
        assert!(text.starts_with("# "), "{}: the first line says what the script shows", script.display());
        let ran = goldenscript::run(&mut Table::new(), &script);
        ran.unwrap_or_else(|error| panic!("{}: {error}", script.display()));
    }
}
