//! A server that is killed again and again under load, with clients that remember what they were told.
//!
//! Each client has rows and a series of transfers between accounts of its own. It notes what holds before it
//! asks for a commit and what holds after it was answered. After a kill and a start, what is found must be
//! one of the two, and the former only if there was no answer; sums and indexes must agree. Others change
//! definitions (`definer.rs`). Beside them stock sysbench works, and its transactions that were answered must
//! be there, too. After every other kill the next two starts are killed as well, in the middle of their
//! recovery if it takes long enough.

mod definer;
mod sysbench;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use base::prng::Prng;
use mysql::prelude::Queryable;

use crate::runner::Target;
use crate::server::TestServer;
use definer::Definer;
use sysbench::Sysbench;

/// What to do.
#[derive(Clone, Debug)]
pub struct Plan<'p> {
    /// The server.
    pub binary: &'p Path,
    /// Its data directory, new.
    pub datadir: &'p Path,
    /// Its further options.
    pub options: &'p [&'p str],
    /// Kills.
    pub rounds: u32,
    /// Clients at once.
    pub clients: u32,
    /// Clients beside them that change definitions.
    pub definers: u32,
    /// Threads of sysbench beside them.
    pub sysbench: u32,
    /// Most milliseconds between a start and the kill.
    pub run_ms: u64,
    /// Which statements, and when the kills come.
    pub seed: u64,
}

/// What was done.
#[derive(Clone, Copy, Debug, Default)]
pub struct Summary {
    /// Transactions of the clients that were answered.
    pub acknowledged: u64,
    /// DDL statements, and some others between them, that were answered.
    pub definitions: u64,
    /// Transactions of sysbench that were answered.
    pub sysbench: u64,
    /// Transactions that were asked for, not answered, and found.
    pub found_unanswered: u64,
    /// Recoveries that were cut short by another kill.
    pub cut_short: u32,
}

const SCHEMA: &str = "kill9";
/// About how long a start takes.
const RECOVERY_MS: u64 = 60;
const ACCOUNTS: u64 = 40;
const BALANCE: i64 = 1000;
const IDS: u64 = 200;

/// Rows by id: `n`, and the length of `body`.
type Rows = BTreeMap<u32, (i64, Option<usize>)>;

/// What a client may find.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct State {
    rows: Rows,
    /// Transfers made.
    transfers: u64,
}

#[derive(Debug)]
struct Client {
    number: u32,
    prng: Prng,
    answered: State,
    asked: Option<State>,
    acknowledged: u64,
}

/// Runs the plan. `tell` gets a line per round.
///
/// # Errors
/// What was lost, or does not agree, or a server that does not start.
pub fn run(plan: &Plan<'_>, tell: &mut dyn FnMut(&str)) -> Result<Summary, String> {
    let mut prng = Prng::new(plan.seed);
    let mut server = TestServer::start_on(plan.binary, plan.datadir, plan.options)?;
    let mut clients: Vec<Client> =
        (0..plan.clients).map(|number| Client::new(number, prng.next_u64())).collect();
    let mut definers: Vec<Definer> =
        (0..plan.definers).map(|number| Definer::new(number, prng.next_u64())).collect();
    let mut conn = connect(&server)?;
    prepare(&mut conn)?;
    let mut sysbench = Sysbench::prepare(&server, &mut conn, plan.sysbench)?;
    drop(conn);
    let mut summary = Summary::default();
    for round in 1..=plan.rounds {
        let pause = Duration::from_millis(plan.run_ms / 4 + prng.below(plan.run_ms * 3 / 4 + 1));
        work_and_kill(server, &mut clients, &mut definers, &mut sysbench, pause)?;
        if round % 2 == 0 {
            for _ in 0..2 {
                let pause = Duration::from_millis(1 + prng.below(RECOVERY_MS));
                let cut = TestServer::kill_start(plan.binary, plan.datadir, plan.options, pause)?;
                summary.cut_short += u32::from(cut);
            }
        }
        server = TestServer::start_on(plan.binary, plan.datadir, plan.options)?;
        let mut conn = connect(&server)?;
        for client in &mut clients {
            summary.found_unanswered += u64::from(client.verify(&mut conn)?);
        }
        for definer in &mut definers {
            summary.found_unanswered += u64::from(definer.verify(&mut conn)?);
        }
        verify_whole(&mut conn)?;
        summary.found_unanswered += sysbench.verify(&mut conn)?;
        summary.acknowledged = clients.iter().map(|client| client.acknowledged).sum();
        summary.definitions = definers.iter().map(|definer| definer.acknowledged).sum();
        summary.sysbench = sysbench.acknowledged;
        let Summary { acknowledged, definitions, sysbench, .. } = summary;
        tell(&format!(
            "round {round}: {acknowledged} transactions answered so far, {definitions} statements of definers, and {sysbench} \
             transactions of sysbench's"
        ));
    }
    server.shut_down()?;
    Ok(summary)
}

fn connect(server: &TestServer) -> Result<mysql::Conn, String> {
    Target { port: server.port, user: "root".to_owned() }.connect(None)
}

fn prepare(conn: &mut mysql::Conn) -> Result<(), String> {
    let mut accounts = String::new();
    for id in 0..ACCOUNTS {
        accounts.push_str(if id == 0 { "" } else { ", " });
        accounts.push_str(&format!("({id}, {BALANCE})"));
    }
    for sql in [
        format!("CREATE DATABASE {SCHEMA}"),
        format!(
            "CREATE TABLE {SCHEMA}.item (client INT, id INT, n BIGINT, c VARCHAR(120), body TEXT, \
             PRIMARY KEY (client, id), KEY n (n), UNIQUE KEY c (c, client, id))"
        ),
        format!("CREATE TABLE {SCHEMA}.account (id INT PRIMARY KEY, balance BIGINT, KEY balance (balance))"),
        format!("CREATE TABLE {SCHEMA}.transfer (client INT, seq BIGINT, PRIMARY KEY (client, seq))"),
        format!("INSERT INTO {SCHEMA}.account VALUES {accounts}"),
    ] {
        conn.query_drop(&sql).map_err(|e| format!("{sql}: {e}"))?;
    }
    Ok(())
}

/// The number of the error that ends a transaction to break a deadlock.
const DEADLOCK: u16 = 1213;

/// Lets all clients work for a while, then kills the server under them.
fn work_and_kill(
    server: TestServer,
    clients: &mut [Client],
    definers: &mut [Definer],
    sysbench: &mut Sysbench,
    pause: Duration,
) -> Result<(), String> {
    let killed = AtomicBool::new(false);
    let mut run = sysbench.start(&server)?;
    let mut connected = |_| connect(&server);
    let conns: Vec<mysql::Conn> = (0..clients.len()).map(&mut connected).collect::<Result<_, _>>()?;
    let definer_conns: Vec<mysql::Conn> =
        (0..definers.len()).map(&mut connected).collect::<Result<_, _>>()?;
    std::thread::scope(|scope| {
        let killed = &killed;
        let clients = clients.iter_mut().zip(conns).map(|(client, mut conn)| {
            scope.spawn(move || {
                until_killed(killed, &format!("client {}", client.number), || {
                    match client.transaction(&mut conn) {
                        // Transfers in any order: the transaction is gone, and the client continues.
                        Err(mysql::Error::MySqlError(error)) if error.code == DEADLOCK => {
                            client.asked = None;
                            Ok(())
                        }
                        done => done,
                    }
                })
            })
        });
        let mut workers: Vec<_> = clients.collect();
        workers.extend(definers.iter_mut().zip(definer_conns).map(|(definer, mut conn)| {
            scope.spawn(move || until_killed(killed, "definer", || definer.step(&mut conn)))
        }));
        std::thread::sleep(pause);
        let works = sysbench.ensure_works(&mut run);
        killed.store(true, Ordering::SeqCst);
        server.kill()?;
        workers
            .into_iter()
            .try_for_each(|worker| worker.join().map_err(|_| "a client panicked".to_owned())?)?;
        works
    })
}

/// Takes steps until one fails because the server was killed.
fn until_killed(
    killed: &AtomicBool,
    who: &str,
    mut step: impl FnMut() -> Result<(), mysql::Error>,
) -> Result<(), String> {
    loop {
        match step() {
            Ok(()) => {}
            Err(_) if killed.load(Ordering::SeqCst) => return Ok(()),
            Err(error) => return Err(format!("{who}: {error}")),
        }
    }
}

impl Client {
    fn new(number: u32, seed: u64) -> Self {
        let prng = Prng::new(seed);
        Client { number, prng, answered: State::default(), asked: None, acknowledged: 0 }
    }

    /// One transaction: a statement by itself, several, or a transfer.
    fn transaction(&mut self, conn: &mut mysql::Conn) -> Result<(), mysql::Error> {
        let mut state = self.answered.clone();
        let alone = self.prng.below(3) > 0;
        let mut statements = Vec::new();
        if alone {
            statements.push(self.change(&mut state.rows));
        } else {
            (0..=self.prng.below(6)).for_each(|_| statements.push(self.change(&mut state.rows)));
            if self.prng.below(2) == 0 {
                state.transfers += 1;
                statements.extend(self.transfer(state.transfers));
            }
        }
        if alone {
            self.asked = Some(state.clone());
            conn.query_drop(&statements[0])?;
        } else {
            conn.query_drop("BEGIN")?;
            statements.iter().try_for_each(|sql| conn.query_drop(sql))?;
            if self.prng.below(8) == 0 {
                return conn.query_drop("ROLLBACK");
            }
            self.asked = Some(state.clone());
            conn.query_drop("COMMIT")?;
        }
        (self.answered, self.asked) = (state, None);
        self.acknowledged += 1;
        Ok(())
    }

    /// A change of one row, made in `rows`, too.
    fn change(&mut self, rows: &mut Rows) -> String {
        let (client, id, n) = (self.number, self.prng.below(IDS) as u32, self.prng.below(1000) as i64);
        let body = (self.prng.below(10) == 0).then(|| 1 + self.prng.below(20_000) as usize);
        let text = body.map_or("NULL".to_owned(), |len| format!("REPEAT('b', {len})"));
        match rows.get(&id).copied() {
            None => {
                rows.insert(id, (n, body));
                format!("INSERT INTO {SCHEMA}.item VALUES ({client}, {id}, {n}, REPEAT('{n}-', 20), {text})")
            }
            Some(_) if self.prng.below(4) == 0 => {
                rows.remove(&id);
                format!("DELETE FROM {SCHEMA}.item WHERE client = {client} AND id = {id}")
            }
            Some((_, old)) if self.prng.below(2) == 0 => {
                rows.insert(id, (n, old));
                format!("UPDATE {SCHEMA}.item SET n = {n} WHERE client = {client} AND id = {id}")
            }
            Some(_) => {
                rows.insert(id, (n, body));
                format!(
                    "UPDATE {SCHEMA}.item SET n = {n}, c = REPEAT('{n}+', 25), body = {text} \
                     WHERE client = {client} AND id = {id}"
                )
            }
        }
    }

    /// Statements of a transfer between two accounts.
    fn transfer(&mut self, seq: u64) -> [String; 3] {
        let (from, to, sum) = (self.prng.below(ACCOUNTS), self.prng.below(ACCOUNTS), self.prng.below(90));
        [
            format!("UPDATE {SCHEMA}.account SET balance = balance - {sum} WHERE id = {from}"),
            format!("UPDATE {SCHEMA}.account SET balance = balance + {sum} WHERE id = {to}"),
            format!("INSERT INTO {SCHEMA}.transfer VALUES ({}, {seq})", self.number),
        ]
    }

    /// Looks at what the server has of this client; true if that is what was asked for and not answered.
    fn verify(&mut self, conn: &mut mysql::Conn) -> Result<bool, String> {
        let number = self.number;
        let sql = format!("SELECT id, n, LENGTH(body) FROM {SCHEMA}.item WHERE client = {number}");
        let rows: Vec<(u32, i64, Option<usize>)> = conn.query(sql).map_err(|e| e.to_string())?;
        let sql =
            format!("SELECT COUNT(*), IFNULL(MAX(seq), 0) FROM {SCHEMA}.transfer WHERE client = {number}");
        let (count, transfers): (u64, u64) =
            conn.query_first(sql).map_err(|e| e.to_string())?.ok_or("no transfers are counted")?;
        if count != transfers {
            return Err(format!("client {number}: {count} transfers, the last is number {transfers}"));
        }
        let found = State { rows: rows.into_iter().map(|(id, n, len)| (id, (n, len))).collect(), transfers };
        let asked = self.asked.take();
        if found == self.answered {
            return Ok(false);
        }
        if asked.as_ref() != Some(&found) {
            let rows = difference(&self.answered.rows, &found.rows);
            let (had, has) = (self.answered.transfers, found.transfers);
            return Err(format!(
                "client {number}: {had} transfers were answered, {has} are there; rows: {rows}"
            ));
        }
        self.answered = found;
        Ok(true)
    }
}

/// The first rows that differ, in words.
fn difference(answered: &Rows, found: &Rows) -> String {
    let ids = answered.keys().chain(found.keys()).filter(|id| answered.get(id) != found.get(id));
    let told = ids.take(5).map(|id| format!("{id}: {:?} is {:?}", answered.get(id), found.get(id)));
    told.collect::<Vec<_>>().join(", ")
}

/// Sums and indexes agree.
fn verify_whole(conn: &mut mysql::Conn) -> Result<(), String> {
    let sql = format!("SELECT CAST(SUM(balance) AS SIGNED) FROM {SCHEMA}.account");
    let sum: Option<i64> = conn.query_first(sql).map_err(|e| e.to_string())?;
    if sum != Some(ACCOUNTS as i64 * BALANCE) {
        return Err(format!("the balances sum up to {sum:?}"));
    }
    ["item", "account", "transfer"]
        .iter()
        .try_for_each(|table| check_table(conn, &format!("{SCHEMA}.{table}")))
}

fn check_table(conn: &mut mysql::Conn, table: &str) -> Result<(), String> {
    let report: Vec<(String, String, String, String)> =
        conn.query(format!("CHECK TABLE {table}")).map_err(|e| e.to_string())?;
    let is_ok = report.iter().all(|line| line.3 == "OK");
    if is_ok { Ok(()) } else { Err(format!("CHECK TABLE {table}: {report:?}")) }
}
