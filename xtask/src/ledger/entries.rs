//! The ledger over time, as `ratchet lab ledger` and the lab's report show it: a JSON line per time that
//! figures were entered.

use std::fs;

use serde_json::{Map, Value, json};

use super::LEDGER;
use crate::process::{output, root};

/// Where commits have the ledger that do not have it at [`LEDGER`].
const FORMER: &str = "ledger/ledger.tsv";
/// The file, from the workspace's root.
const HISTORY: &str = "tools/ledger/history.jsonl";

/// Writes the file again: the commits that changed the ledger, the oldest first, and what was entered since,
/// whose commit nobody knows yet.
pub(super) fn write() -> Result<(), String> {
    if output("git", &["rev-parse", "--is-shallow-repository"])?.trim() == "true" {
        return Err(format!("{HISTORY} comes from the history, of which a shallow clone has only the end"));
    }
    let commits = output(
        "git",
        &["log", "--reverse", "--format=%h%x09%as%x09%s", "--abbrev=10", "--", LEDGER, FORMER],
    )?;
    let mut entries = Vec::new();
    for line in commits.lines() {
        let [commit, date, subject] = line.splitn(3, '\t').collect::<Vec<_>>()[..] else {
            return Err(format!("git log: '{line}'"));
        };
        let at = |path| output("git", &["show", &format!("{commit}:{path}")]);
        let operations = operations(&at(LEDGER).or_else(|_| at(FORMER))?)?;
        if entries.last().is_some_and(|entry: &Value| entry["operations"] == Value::from(operations.clone()))
        {
            continue;
        }
        let manifest = at("Cargo.toml")?;
        entries.push(json!({
            "version": version(&manifest)?, "commit": commit, "date": date, "subject": subject, "operations": operations
        }));
    }
    let read = |path: &str| fs::read_to_string(root().join(path)).map_err(|e| format!("{path}: {e}"));
    let now = operations(&read(LEDGER)?)?;
    if entries.last().is_none_or(|entry| entry["operations"] != Value::from(now.clone())) {
        let (manifest, date) = (read("Cargo.toml")?, output("date", &["--utc", "+%F"])?);
        entries.push(json!({ "version": version(&manifest)?, "date": date.trim(), "operations": now }));
    }
    let text: String = entries.iter().map(|entry| format!("{entry}\n")).collect();
    fs::write(root().join(HISTORY), text).map_err(|e| format!("{HISTORY}: {e}"))?;
    println!("ledger: {HISTORY} written, {} entries", entries.len());
    Ok(())
}

/// The lines of a ledger of any time, by the names in its first line; what was not counted is left out.
fn operations(text: &str) -> Result<Vec<Value>, String> {
    let mut lines = text.lines();
    let columns: Vec<&str> = lines.next().unwrap_or_default().split('\t').collect();
    if columns[0] != "name" {
        return Err(format!("no ledger: '{}'", columns.join("\t")));
    }
    let operation = |line: &str| {
        let mut operation = Map::new();
        for (column, field) in columns.iter().zip(line.split('\t')).filter(|(_, field)| *field != "-") {
            let number = || field.parse::<serde_json::Number>().map(Value::from);
            let value = if *column == "name" { Ok(field.into()) } else { number() };
            operation.insert((*column).to_owned(), value.map_err(|e| format!("'{line}': {e}"))?);
        }
        Ok(Value::from(operation))
    };
    lines.map(operation).collect()
}

/// The version that the workspace's manifest states.
fn version(manifest: &str) -> Result<&str, String> {
    let line = manifest.lines().find_map(|line| line.strip_prefix("version = \""));
    line.and_then(|rest| rest.split('"').next()).ok_or_else(|| "Cargo.toml states no version".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ledgers_of_any_time_are_read_by_their_first_line() {
        let told = operations("name\tinstructions\tlog_bytes\nping\t415.5\t0\nshared\t-\t3\n").unwrap();
        assert_eq!(
            told,
            [
                json!({"name": "ping", "instructions": 415.5, "log_bytes": 0}),
                json!({"name": "shared", "log_bytes": 3})
            ]
        );
        assert!(operations("ping\t1\n").is_err() && operations("name\tinstructions\nping\tmany\n").is_err());
        assert_eq!(version("[workspace.package]\nversion = \"0.1.0\"\n").unwrap(), "0.1.0");
    }
}
