//! A connection to each of the two servers, which take the same statements.

use std::time::{Duration, Instant};

use super::case::{Case, Step};
use super::client::{Address, Client, MYSQL};
use super::compare::{self, Difference, Kind, Scope};
use super::parameter::Parameter;
use super::reply::{Prepared, Reply};

/// The mode of a new session.
pub(crate) const DEFAULT_MODE: &str = "SET sql_mode = 'ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,\
                                ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION'";
/// Statements that make the sessions of both servers alike and their clocks stand still.
pub const SETTINGS: [&str; 3] = [
    "SET NAMES utf8mb4 COLLATE utf8mb4_0900_ai_ci",
    DEFAULT_MODE,
    "SET time_zone = '+00:00', timestamp = 1700000000.123456, @i = 5, @n = -7, @d = 1.50, @f = 2.5e0, @s = 'abc', \
     @z = NULL",
];
/// Settings of MySQL 8.4 where 9.7 has others; what an older server does not have is no error.
const SETTINGS_OF_8_4: [&str; 2] =
    ["SET explain_json_format_version = 1", "SET restrict_fk_on_non_standard_key = ON"];

/// A server that has not come back after this long is gone.
pub(crate) const RESTART_MAX: Duration = Duration::from_secs(90);
/// A difference, where it was found, and both answers.
#[derive(Clone, Debug)]
pub struct Finding {
    /// What differs.
    pub difference: Difference,
    /// The step's place in its case.
    pub at: usize,
    /// Ratchet's answer, a line each.
    pub ours: Vec<String>,
    /// MySQL's.
    pub theirs: Vec<String>,
}

/// Both servers, Ratchet first.
pub struct Pair {
    addresses: [Address; 2],
    clients: [Client; 2],
    schema: String,
    context: Vec<String>,
    scope: Scope,
    /// Each case gets a schema of its own.
    pub makes_schemas: bool,
    /// Statements that were compared.
    pub statements: u64,
    /// Of these, how many failed on MySQL.
    pub failed: u64,
}

impl Pair {
    /// Connects to both servers, makes `schema` again on each and runs `context` in it.
    ///
    /// # Errors
    /// A server cannot be reached, or the first is no Ratchet or the second one is.
    pub fn connect(
        addresses: &[Address; 2],
        schema: &str,
        context: Vec<String>,
        scope: Scope,
    ) -> Result<Pair, String> {
        let clients = [Client::connect(&addresses[0])?, Client::connect(&addresses[1])?];
        let is_ratchet = clients.each_ref().map(Client::is_ratchet);
        if is_ratchet != [true, false] {
            let [a, b] = clients.map(|client| client.version);
            return Err(format!("{a} and {b} are not a Ratchet and a MySQL"));
        }
        let scope = Scope { trackers: scope.trackers && clients.iter().all(|client| client.tracks), ..scope };
        let addresses = addresses.clone();
        let schema = schema.to_owned();
        let mut pair = Pair {
            addresses,
            clients,
            schema,
            context,
            scope,
            makes_schemas: false,
            statements: 0,
            failed: 0,
        };
        // The server may have gone and come back since the connection was made.
        pair.make_schema().or_else(|_| pair.reconnect_within(RESTART_MAX))?;
        Ok(pair)
    }

    fn make_schema(&mut self) -> Result<(), String> {
        let schema = &self.schema;
        let mut statements = vec![
            format!("DROP DATABASE IF EXISTS {schema}"),
            format!("CREATE DATABASE {schema} CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_ai_ci"),
            format!("USE {schema}"),
        ];
        statements.extend(self.context.iter().cloned());
        for client in &mut self.clients {
            for sql in &statements {
                let reply = client.query(sql)?;
                if reply.error_number() != 0 {
                    return Err(format!("{sql}: {}: {}", client.version, reply.lines().concat()));
                }
            }
        }
        self.begin()
    }

    /// Makes both sessions new.
    fn begin(&mut self) -> Result<(), String> {
        let select = format!("USE {}", self.schema);
        for (number, client) in self.clients.iter_mut().enumerate() {
            client.reset()?;
            let own: &[&str] = if number == 1 { &SETTINGS_OF_8_4 } else { &[] };
            for sql in SETTINGS.iter().chain(own).chain([&select.as_str()]) {
                client.query(sql)?;
            }
        }
        Ok(())
    }

    /// Runs a case and returns what differs.
    ///
    /// # Errors
    /// MySQL is gone, or Ratchet does not come back.
    pub fn run(&mut self, case: &Case) -> Result<Vec<Finding>, String> {
        let begun = if self.makes_schemas { self.make_schema() } else { self.begin() };
        if begun.is_err() {
            self.reconnect_within(RESTART_MAX)?;
        }
        for sql in &case.before {
            self.send(|client, _| client.query(sql).map(|_| ()))?;
        }
        let mut found = Vec::new();
        for (at, step) in case.steps.iter().enumerate() {
            let differing = self.step(step, at)?;
            let spoilt = differing.iter().any(|finding| spoils(finding.difference.kind));
            let lost = differing
                .iter()
                .any(|finding| matches!(finding.difference.kind, Kind::Lost | Kind::MysqlLost));
            found.extend(differing);
            if lost || spoilt && !case.independent {
                break;
            }
        }
        Ok(found)
    }

    /// Connects again; a server that somebody restarts may take its time.
    fn reconnect_within(&mut self, limit: Duration) -> Result<(), String> {
        let begun = Instant::now();
        loop {
            match self.reconnect() {
                Err(_) if begun.elapsed() < limit => std::thread::sleep(Duration::from_millis(200)),
                ended => return ended,
            }
        }
    }

    fn reconnect(&mut self) -> Result<(), String> {
        self.clients = [Client::connect(&self.addresses[0])?, Client::connect(&self.addresses[1])?];
        self.make_schema()
    }

    /// Runs one statement on both servers and compares the answers.
    fn step(&mut self, step: &Step, at: usize) -> Result<Vec<Finding>, String> {
        self.statements += 1;
        let mut found = Vec::new();
        let ended = match &step.executions {
            None => self.query(&step.sql).map(|replies| self.compare(&step.sql, &replies, at, &mut found)),
            Some(executions) => self.run_prepared(&step.sql, executions, at, &mut found),
        };
        if let Err(error) = ended {
            found.push(self.lost(error, &step.sql, at)?);
        }
        Ok(found)
    }

    /// Prepares a statement and executes it with each list of values.
    fn run_prepared(
        &mut self,
        sql: &str,
        executions: &[Vec<Parameter>],
        at: usize,
        found: &mut Vec<Finding>,
    ) -> Result<(), String> {
        let answers = self.prepare(sql)?;
        for difference in compare::preparations(&answers[0], &answers[1], self.scope) {
            let [ours, theirs] = answers.each_ref().map(prepared_lines);
            found.push(Finding { difference, at, ours, theirs });
        }
        let ids = answers.map(|answer| answer.ok().map(|prepared| prepared.id));
        if let [Some(ours), Some(theirs)] = ids {
            for values in executions {
                self.statements += 1;
                self.send(|client, number| client.send_execute([ours, theirs][number], values))?;
                let replies = self.read(true)?;
                self.compare(sql, &replies, at, found);
            }
        }
        self.send(|client, number| ids[number].map_or(Ok(()), |id| client.close(id)))
    }

    /// Connects again, because one of the servers is gone.
    fn lost(&mut self, error: String, sql: &str, at: usize) -> Result<Finding, String> {
        self.reconnect_within(RESTART_MAX).map_err(|again| format!("{error}, after {sql}; then: {again}"))?;
        let kind = if error.starts_with(MYSQL) { Kind::MysqlLost } else { Kind::Lost };
        let difference = Difference { kind, detail: error.clone() };
        Ok(Finding { difference, at, ours: vec![error], theirs: Vec::new() })
    }

    /// Enters how two answers differ, unless an answer to the same statement differed in the same way.
    fn compare(&mut self, sql: &str, [ours, theirs]: &[Reply; 2], at: usize, found: &mut Vec<Finding>) {
        self.failed += u64::from(theirs.error_number() != 0);
        for difference in compare::replies(sql, ours, theirs, self.scope) {
            if !found.iter().any(|finding| finding.difference == difference) {
                let lines = |reply: &Reply| match difference.kind {
                    Kind::Metadata => reply.definitions(),
                    Kind::Trackers => reply.tracked.clone(),
                    Kind::Info => vec![reply.info().to_owned()],
                    _ => reply.lines(),
                };
                let (ours, theirs) = (lines(ours), lines(theirs));
                found.push(Finding { difference, at, ours, theirs });
            }
        }
    }

    /// Sends a statement to both, then reads both answers and their warnings, so that the servers work at the
    /// same time.
    fn query(&mut self, sql: &str) -> Result<[Reply; 2], String> {
        self.send(|client, _| client.send_query(sql))?;
        self.read(false)
    }

    fn send(&mut self, mut send: impl FnMut(&mut Client, usize) -> Result<(), String>) -> Result<(), String> {
        self.clients.iter_mut().enumerate().try_for_each(|(number, client)| send(client, number))
    }

    fn read(&mut self, binary: bool) -> Result<[Reply; 2], String> {
        let [first, second] = &mut self.clients;
        let (theirs, ours) = (second.read_reply(binary), first.read_reply(binary));
        let (mut theirs, mut ours) = (theirs?, ours?);
        let asked = [first.asks_for_warnings(&ours)?, second.asks_for_warnings(&theirs)?];
        if asked[0] {
            first.read_warnings(&mut ours)?;
        }
        if asked[1] {
            second.read_warnings(&mut theirs)?;
        }
        Ok([ours, theirs])
    }

    fn prepare(&mut self, sql: &str) -> Result<[Result<Prepared, Reply>; 2], String> {
        self.send(|client, _| client.send_prepare(sql))?;
        let [first, second] = &mut self.clients;
        let (theirs, ours) = (second.read_prepared(), first.read_prepared());
        let theirs = theirs?;
        Ok([ours?, theirs])
    }
}

/// Whether the two servers' data may differ after a difference of this kind.
fn spoils(kind: Kind) -> bool {
    use Kind::{Affected, InsertId, Lost, NotSupported, Refused, Rows, Taken};
    matches!(kind, Lost | Rows | Affected | InsertId | Refused | Taken | NotSupported)
}

fn prepared_lines(answer: &Result<Prepared, Reply>) -> Vec<String> {
    match answer {
        Ok(prepared) => prepared.definitions(),
        Err(reply) => reply.lines(),
    }
}
