//! The instruction ledger over time: what an operation cost in each release, and which functions made the
//! difference.
//!
//! Counts are the same on every machine, so that counts of two releases may be compared, wherever they were
//! made. The file is written by `cargo xtask ledger --bless`: one JSON line per time that figures were
//! entered, the oldest first.

use std::fmt::Write;
use std::path::Path;

use serde::Deserialize;

use crate::error::{Error, Result};

pub mod callgrind;
pub mod difference;

/// Figures entered at one time.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Entry {
    /// Version of the server.
    pub version: String,
    /// The commit that entered them; none while it is not known, as in the commit itself.
    #[serde(default)]
    pub commit: Option<String>,
    /// Day, UTC, as YYYY-MM-DD.
    pub date: String,
    /// The commit's subject.
    #[serde(default)]
    pub subject: Option<String>,
    /// What each operation cost.
    pub operations: Vec<Operation>,
}

/// What an operation costs, per unit; none where it is not counted.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct Operation {
    /// Its name.
    pub name: String,
    /// User instructions of the serving thread.
    #[serde(default)]
    pub instructions: Option<f64>,
    /// Bytes copied by calls of memcpy and memmove.
    #[serde(default)]
    pub bytes_copied: Option<f64>,
    /// Allocations.
    #[serde(default)]
    pub allocations: Option<f64>,
    /// System calls.
    #[serde(default)]
    pub syscalls: Option<f64>,
    /// Bytes written to the redo log.
    #[serde(default)]
    pub log_bytes: Option<f64>,
    /// Syncs of the redo log.
    #[serde(default)]
    pub syncs: Option<f64>,
}

impl Entry {
    /// How a person names it: the commit, or else the version.
    pub fn label(&self) -> &str {
        self.commit.as_deref().unwrap_or(&self.version)
    }

    /// An operation's costs.
    pub fn operation(&self, name: &str) -> Option<&Operation> {
        self.operations.iter().find(|operation| operation.name == name)
    }
}

/// All entries, the oldest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    /// The entries.
    pub entries: Vec<Entry>,
}

impl History {
    /// Reads a history.
    pub fn read(path: &Path) -> Result<History> {
        let text = std::fs::read_to_string(path).map_err(Error::file(path))?;
        History::parse(&text).map_err(|e| Error::Config(format!("{}: {e}", path.display())))
    }

    /// One JSON line per entry.
    pub fn parse(text: &str) -> std::result::Result<History, String> {
        let entry = |(at, line)| serde_json::from_str(line).map_err(|e| format!("line {}: {e}", at + 1));
        Ok(History { entries: text.lines().enumerate().map(entry).collect::<std::result::Result<_, _>>()? })
    }

    /// Names of all operations there ever were, those of the newest entry first.
    pub fn operations(&self) -> Vec<&str> {
        let mut names = Vec::new();
        for entry in self.entries.iter().rev() {
            for operation in &entry.operations {
                if !names.contains(&&operation.name[..]) {
                    names.push(&operation.name[..]);
                }
            }
        }
        names
    }

    /// The entries in which an operation has a count of instructions.
    pub fn instructions(&self, name: &str) -> Vec<(&Entry, f64)> {
        let of = |entry: &'_ Entry| entry.operation(name)?.instructions;
        self.entries.iter().filter_map(|entry| Some((entry, of(entry)?))).collect()
    }

    /// First and newest instructions of every operation.
    pub fn overview(&self) -> String {
        let mut out = format!("{:<24} {:>12} {:>12} {:>9}\n", "instructions", "first", "newest", "change");
        for name in self.operations() {
            if let [(_, first), .., (_, newest)] | [(_, first @ newest)] = self.instructions(name)[..] {
                let _ = writeln!(out, "{name:<24} {first:>12} {newest:>12} {:>9}", percent(first, newest));
            }
        }
        out
    }

    /// Every change of an operation's costs; an error if there never was such an operation.
    pub fn of_operation(&self, name: &str) -> Result<String> {
        if !self.operations().contains(&name) {
            let known = self.operations().join(", ");
            return Err(Error::Config(format!("the ledger knows no operation {name}; it knows {known}")));
        }
        let mut out = format!(
            "{name}\n  {:<10} {:<10} {:>12} {:>9} {:>9} {:>7} {:>7} {:>9} {:>6}\n",
            "date", "commit", "instructions", "change", "copied", "allocs", "calls", "log bytes", "syncs"
        );
        let mut before: Option<&Operation> = None;
        for entry in &self.entries {
            let Some(now) = entry.operation(name) else { continue };
            if before == Some(now) {
                continue;
            }
            let change = before.and_then(|b| b.instructions).zip(now.instructions);
            let change = change.map_or_else(String::new, |(b, n)| percent(b, n));
            let _ = writeln!(
                out,
                "  {:<10} {:<10} {:>12} {change:>9} {:>9} {:>7} {:>7} {:>9} {:>6}  {}",
                entry.date,
                entry.label(),
                figure(now.instructions),
                figure(now.bytes_copied),
                figure(now.allocations),
                figure(now.syscalls),
                figure(now.log_bytes),
                figure(now.syncs),
                entry.subject.as_deref().unwrap_or_default(),
            );
            before = Some(now);
        }
        Ok(out)
    }
}

fn figure(counted: Option<f64>) -> String {
    counted.map_or_else(|| "-".to_owned(), |n| n.to_string())
}

/// A change in per cent.
pub(crate) fn percent(before: f64, after: f64) -> String {
    if before == 0.0 { "new".to_owned() } else { format!("{:+.1} %", (after / before - 1.0) * 100.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"{"version":"0.1.0","commit":"abc","date":"2026-01-01","subject":"enter","operations":[{"name":"ping","instructions":500,"syscalls":2}]}
{"version":"0.1.0","commit":"def","date":"2026-01-02","operations":[{"name":"ping","instructions":500,"syscalls":2}]}
{"version":"0.2.0","date":"2026-01-03","operations":[{"name":"select_1","instructions":900},{"name":"ping","instructions":400,"syscalls":2}]}
"#;

    #[test]
    fn an_operation_is_followed_through_its_changes() {
        let history = History::parse(TEXT).unwrap();
        assert_eq!(history.operations(), ["select_1", "ping"]);
        let counts: Vec<f64> = history.instructions("ping").iter().map(|c| c.1).collect();
        assert_eq!(counts, [500.0, 500.0, 400.0]);
        let text = history.of_operation("ping").unwrap();
        let lines: Vec<Vec<&str>> = text.lines().map(|l| l.split_whitespace().collect()).collect();
        assert_eq!(lines.len(), 4, "what did not change is told once: {text}");
        assert_eq!(lines[2][..3], ["2026-01-01", "abc", "500"]);
        assert_eq!(lines[3][..5], ["2026-01-03", "0.2.0", "400", "-20.0", "%"]);
        let overview = history.overview();
        assert!(overview.lines().any(|l| l.split_whitespace().eq(["select_1", "900", "900", "+0.0", "%"])));
    }

    #[test]
    fn what_is_not_there_is_named() {
        let error = History::parse(&format!("{TEXT}{{")).unwrap_err();
        assert!(error.starts_with("line 4: "), "{error}");
        let error = History::parse(TEXT).unwrap().of_operation("pong").unwrap_err().to_string();
        assert!(error.contains("pong") && error.contains("select_1, ping"), "{error}");
    }

    #[test]
    fn the_projects_history_ends_with_its_ledger() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ledger");
        let history = History::read(&folder.join("history.jsonl")).unwrap();
        let ledger = std::fs::read_to_string(folder.join("ledger.tsv")).unwrap();
        let newest = history.entries.last().unwrap();
        let advice = "the history ends otherwise than the ledger: cargo xtask ledger --history";
        assert_eq!(newest.operations.len(), ledger.lines().count() - 1, "{advice}");
        for line in ledger.lines().skip(1) {
            let fields: Vec<&str> = line.split('\t').collect();
            let o = newest.operation(fields[0]).unwrap();
            let counts = [o.instructions, o.bytes_copied, o.allocations, o.syscalls, o.log_bytes, o.syncs];
            assert_eq!(fields[1..], counts.map(figure), "{}: {advice}", fields[0]);
        }
    }
}
