//! Runs scripts against a server, to compare or to record.

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::Path;

use mysql::{LocalInfile, LocalInfileHandler};

use crate::lockstep::client::FILE_TEXT;
use crate::recording::Source;
use crate::{answer, script};

/// Where a server listens and as whom to connect.
#[derive(Clone, Debug)]
pub struct Target {
    /// Port on the loopback address.
    pub port: u16,
    /// Account name.
    pub user: String,
}

impl Target {
    /// Opens a connection; `schema` is chosen if given.
    pub fn connect(&self, schema: Option<&str>) -> Result<mysql::Conn, String> {
        let opts = mysql::OptsBuilder::new()
            .ip_or_hostname(Some("127.0.0.1"))
            .tcp_port(self.port)
            .user(Some(&self.user))
            .prefer_socket(false)
            .local_infile_handler(Some(LocalInfileHandler::new(send_file)))
            .db_name(schema);
        mysql::Conn::new(opts).map_err(|e| format!("cannot connect to port {}: {e}", self.port))
    }
}

/// Sends a file that LOAD DATA LOCAL asks for: what its name says after [`FILE_TEXT`], else nothing.
fn send_file(name: &[u8], file: &mut LocalInfile<'_>) -> io::Result<()> {
    file.write_all(name.strip_prefix(FILE_TEXT.as_bytes()).unwrap_or_default())
}

/// Schema that every script works in; dropped and made again before it.
const SCHEMA: &str = "test_script";

/// Runs one script file and returns what differs, one message per statement. With `record`, the file is
/// rewritten with the answers of this server instead.
pub fn run_file(path: &Path, target: &Target, record: bool) -> Result<Vec<String>, String> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let mut entries = script::parse(&text).map_err(|e| format!("{}: {e}", path.display()))?;
    let mut connections = Connections::new(target)?;
    let source = if record { Some(Source::of(connections.get("")?)?) } else { None };
    let mut differences = Vec::new();
    for entry in &mut entries {
        let conn = connections.get(&entry.connection)?;
        let actual = answer::of_text(conn, &entry.sql, entry.unordered)?;
        if record {
            entry.expected = actual;
        } else if actual != entry.expected {
            differences.push(difference(path, entry, &actual));
        } else if is_query(&entry.sql) {
            let prepared = answer::of_prepared(conn, &entry.sql, entry.unordered)?;
            if let Some(prepared) = prepared.filter(|p| !answer::agree(without_warnings(&actual), p)) {
                differences.push(format!("{} (as a prepared statement)", difference(path, entry, &prepared)));
            }
        }
    }
    if let Some(source) = source {
        source.stamp(&mut entries);
        std::fs::write(path, script::print(&entries)).map_err(|e| format!("{}: {e}", path.display()))?;
    }
    Ok(differences)
}

/// Returns the entries of a script with the answers of the server at `target`.
///
/// # Errors
/// The connection breaks.
pub fn answered(mut entries: Vec<script::Entry>, target: &Target) -> Result<Vec<script::Entry>, String> {
    let mut connections = Connections::new(target)?;
    for entry in &mut entries {
        entry.expected = answer::of_text(connections.get(&entry.connection)?, &entry.sql, entry.unordered)?;
    }
    Ok(entries)
}

/// A plain query that neither sets variables nor tells of the statement before can run a second time,
/// prepared.
fn is_query(sql: &str) -> bool {
    let is_select = sql.trim_start().get(..6).is_some_and(|word| word.eq_ignore_ascii_case("select"));
    is_select && ![":=", "ROW_COUNT()", "FOUND_ROWS"].iter().any(|word| sql.contains(word))
}

fn without_warnings(lines: &[String]) -> &[String] {
    let end = lines
        .iter()
        .position(|l| ["warning ", "note ", "error "].iter().any(|p| l.starts_with(p)) && lines[0] != *l)
        .unwrap_or(lines.len());
    &lines[..end]
}

pub(crate) fn difference(path: &Path, entry: &script::Entry, actual: &[String]) -> String {
    format!(
        "{}:{}: {}\n  expected:\n    {}\n  actual:\n    {}",
        path.display(),
        entry.line,
        entry.sql,
        entry.expected.join("\n    "),
        actual.join("\n    ")
    )
}

/// A connection that has just made the schema of scripts again, and the schema's name.
pub(crate) fn connect_fresh(target: &Target) -> Result<(mysql::Conn, &'static str), String> {
    let mut first = target.connect(None)?;
    for sql in [
        format!("DROP DATABASE IF EXISTS {SCHEMA}"),
        format!("CREATE DATABASE {SCHEMA} CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_ai_ci"),
        format!("USE {SCHEMA}"),
    ] {
        let lines = answer::of_text(&mut first, &sql, false)?;
        if lines[0].starts_with("error") {
            return Err(format!("{sql}: {}", lines[0]));
        }
    }
    Ok((first, SCHEMA))
}

struct Connections<'a> {
    target: &'a Target,
    open: HashMap<String, mysql::Conn>,
}

impl<'a> Connections<'a> {
    fn new(target: &'a Target) -> Result<Self, String> {
        let (first, _) = connect_fresh(target)?;
        Ok(Connections { target, open: HashMap::from([(String::new(), first)]) })
    }

    fn get(&mut self, name: &str) -> Result<&mut mysql::Conn, String> {
        if !self.open.contains_key(name) {
            let conn = match name.strip_prefix("as ").and_then(|rest| rest.split_once(' ')) {
                // Another account has no right to the schema by itself.
                Some((user, _)) => Target { user: user.to_owned(), ..*self.target }.connect(None)?,
                None => self.target.connect(Some(SCHEMA))?,
            };
            self.open.insert(name.to_owned(), conn);
        }
        self.open.get_mut(name).ok_or_else(|| format!("no connection {name}"))
    }
}
