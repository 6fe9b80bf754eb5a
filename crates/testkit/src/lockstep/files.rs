//! Files of statements: scripts of one or more connections, in the form of `tests/sql` and `tests/isolation`,
//! and plain SQL.

use std::collections::HashMap;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use super::case::{Case, Step};
use super::client::{Address, Client};
use super::compare::{self, Difference, Kind, Scope};
use super::explained::Rules;
use super::groups::Groups;
use super::pair::{Finding, Pair};
use super::reply::Reply;
use crate::script::{self, Entry};

/// Schema of files with one connection, and of those with more.
const SCHEMAS: [&str; 2] = ["ls_file", "ls_sessions"];
/// A statement that takes longer is taken to wait for another session.
const WAITS: Duration = Duration::from_millis(400);
/// A statement that one server has answered takes no longer on the other one.
const PATIENCE: Duration = Duration::from_secs(5);

/// Reads a file's statements.
///
/// # Errors
/// It cannot be read, or is no script.
pub fn read(path: &Path) -> Result<Vec<Entry>, String> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    if text.lines().any(|line| line == "----") {
        return script::parse(&text).map_err(|e| format!("{}: {e}", path.display()));
    }
    Ok(plain(&text))
}

/// Statements that end with a semicolon at a line's end.
fn plain(text: &str) -> Vec<Entry> {
    let mut entries = Vec::new();
    let mut sql = String::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.starts_with("--")) {
        if !sql.is_empty() {
            sql.push('\n');
        }
        sql.push_str(line);
        if let Some(whole) = sql.trim().strip_suffix(';') {
            let sql = whole.to_owned();
            let (comments, expected) = (Vec::new(), Vec::new());
            entries.push(Entry {
                comments,
                connection: String::new(),
                unordered: false,
                sql,
                expected,
                line: number + 1,
            });
        }
        if line.trim_end().ends_with(';') || sql.trim().is_empty() {
            sql.clear();
        }
    }
    entries
}

/// What files showed.
#[derive(Debug, Default)]
pub struct Found {
    /// Statements that were compared.
    pub statements: u64,
    /// Differences in files with one connection.
    pub single: Groups,
    /// Differences in files with more.
    pub several: Groups,
}

/// Runs a file on both servers and enters what differs.
///
/// # Errors
/// The file cannot be read, or a server not be reached.
pub fn run(
    path: &Path,
    addresses: &[Address; 2],
    scope: Scope,
    rules: &Rules,
    found: &mut Found,
) -> Result<(), String> {
    let entries = read(path)?;
    let several = entries.iter().any(|entry| !entry.connection.is_empty());
    let case = Case { before: Vec::new(), steps: steps(path, &entries, several), independent: true };
    let (findings, groups) = if several {
        (run_sessions(&entries, addresses, scope)?, &mut found.several)
    } else {
        (Pair::connect(addresses, SCHEMAS[0], Vec::new(), scope)?.run(&case)?, &mut found.single)
    };
    // The statements before it may be what a difference needs.
    let case = Case { independent: false, ..case };
    for finding in findings {
        if !rules.explain(&entries[finding.at].sql, &finding) {
            groups.add(&case, finding);
        }
    }
    found.statements += entries.len() as u64;
    Ok(())
}

/// The statements as steps; the connection stands before each where there are several.
fn steps(path: &Path, entries: &[Entry], several: bool) -> Vec<Step> {
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let step = |entry: &Entry| {
        let connection = if several { format!("[{}] ", entry.connection) } else { String::new() };
        Step::text(&format!("{name}:{}", entry.line), format!("{connection}{}", entry.sql))
    };
    entries.iter().map(step).collect()
}

/// A pair of connections that makes its schema again for each case, to make a file's cases smaller.
///
/// # Errors
/// A server cannot be reached.
pub fn pair(addresses: &[Address; 2], scope: Scope) -> Result<Pair, String> {
    let mut pair = Pair::connect(addresses, SCHEMAS[0], Vec::new(), scope)?;
    pair.makes_schemas = true;
    Ok(pair)
}

/// A connection, and the thread that uses it.
struct Session {
    statements: Sender<String>,
    answers: Receiver<Result<Reply, String>>,
}

impl Session {
    fn start(address: &Address) -> Result<Session, String> {
        let mut client = Client::connect(address)?;
        let reply = client.query(&format!("USE {}", SCHEMAS[1]))?;
        if reply.error_number() != 0 {
            return Err(reply.lines().concat());
        }
        let (statements, work) = channel::<String>();
        let (done, answers) = channel();
        std::thread::spawn(move || {
            for sql in work {
                if done.send(client.query(&sql)).is_err() {
                    return;
                }
            }
        });
        Ok(Session { statements, answers })
    }

    /// The answer of the statement at work; `None` if that takes longer.
    fn answer(&self, limit: Duration) -> Result<Option<Reply>, String> {
        match self.answers.recv_timeout(limit) {
            Ok(answer) => answer.map(Some),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err("a connection's thread has ended".to_owned()),
        }
    }
}

fn run_sessions(entries: &[Entry], addresses: &[Address; 2], scope: Scope) -> Result<Vec<Finding>, String> {
    for address in addresses {
        let mut client = Client::connect(address)?;
        client.query(&format!("DROP DATABASE IF EXISTS {}", SCHEMAS[1]))?;
        client.query(&format!("CREATE DATABASE {}", SCHEMAS[1]))?;
    }
    let mut sessions: HashMap<&str, [Session; 2]> = HashMap::new();
    let mut found = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        if !sessions.contains_key(entry.connection.as_str()) {
            let both = [Session::start(&addresses[0])?, Session::start(&addresses[1])?];
            sessions.insert(&entry.connection, both);
        }
        let both = &sessions[entry.connection.as_str()];
        if entry.sql != "answer" {
            for session in both {
                session.statements.send(entry.sql.clone()).map_err(|e| e.to_string())?;
            }
        }
        found.extend(gather(entry, at, both, scope)?);
    }
    Ok(found)
}

/// Waits for both answers of an entry. Where only one comes, the other server waits for a session.
fn gather(entry: &Entry, at: usize, both: &[Session; 2], scope: Scope) -> Result<Vec<Finding>, String> {
    let limit = if entry.sql == "answer" { PATIENCE } else { WAITS };
    let mut answers = [both[0].answer(limit)?, both[1].answer(limit)?];
    if answers.iter().any(Option::is_some) {
        for (answer, session) in answers.iter_mut().zip(both) {
            if answer.is_none() {
                *answer = session.answer(PATIENCE)?;
            }
        }
    }
    let lines = answers.each_ref().map(|a| a.as_ref().map_or_else(|| vec!["waits".to_owned()], Reply::lines));
    let differing = match &answers {
        [Some(ours), Some(theirs)] => compare::replies(&entry.sql, ours, theirs, scope),
        [None, None] => Vec::new(),
        _ => vec![Difference { kind: Kind::Waits, detail: String::new() }],
    };
    let finding = |difference| {
        let [ours, theirs] = lines.clone();
        Finding { difference, at, ours, theirs }
    };
    Ok(differing.into_iter().map(finding).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_statements_end_with_a_semicolon_at_a_line_end() {
        let entries = plain("-- a comment\nSELECT ';'\n  AS a;\n\nSELECT 2;\nSELECT 3");
        let sqls: Vec<&str> = entries.iter().map(|entry| entry.sql.as_str()).collect();
        assert_eq!(sqls, ["SELECT ';'\n  AS a", "SELECT 2"]);
    }
}
