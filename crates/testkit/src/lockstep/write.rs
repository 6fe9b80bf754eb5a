//! Writes cases as scripts that the recorder and the tests read.

use std::path::Path;

use super::case::Case;
use super::groups::Groups;
use super::pair::{DEFAULT_MODE, SETTINGS};
use super::run::is_scriptable;
use crate::script::{self, Entry};

/// Writes a script without answers: the settings and the context of all cases, then each case under its
/// comment.
///
/// # Errors
/// The file cannot be written.
pub fn script(path: &Path, context: &[String], cases: &[(String, Case)]) -> Result<(), String> {
    let settings = SETTINGS.iter().copied();
    let mut entries: Vec<Entry> = context.iter().map(String::as_str).chain(settings).map(entry).collect();
    entries[0].comments.push("# Statements of `cargo xtask lockstep`, with the answers of MySQL.".to_owned());
    for (comment, case) in cases {
        let first = entries.len();
        entries.extend(case.before.iter().map(|sql| entry(sql)));
        let changes_mode = case.steps.iter().any(|step| step.topic == "sql_mode");
        entries
            .extend(case.steps.iter().filter(|step| step.executions.is_none()).map(|step| entry(&step.sql)));
        if changes_mode {
            entries.push(entry(DEFAULT_MODE));
        }
        if let Some(entry) = entries.get_mut(first).filter(|_| !comment.is_empty()) {
            entry.comments.push(format!("# {comment}"));
        }
    }
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    }
    std::fs::write(path, script::print(&entries)).map_err(|e| format!("{}: {e}", path.display()))
}

/// Takes the queries out of a recorded script that `differences`, what [`crate::runner::run_file`] returned
/// for Ratchet, are about: the order of warnings, and what differs when a query is prepared.
///
/// # Errors
/// The file cannot be read or written.
pub fn without(path: &Path, differences: &[String]) -> Result<(), String> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let mut entries = script::parse(&text)?;
    entries.retain(|entry| {
        let place = format!("{}:{}: ", path.display(), entry.line);
        !entry.unordered && !entry.sql.contains("ORDER BY")
            || !differences.iter().any(|d| d.starts_with(&place))
    });
    std::fs::write(path, script::print(&entries)).map_err(|e| format!("{}: {e}", path.display()))
}

/// Writes the examples of all groups that can be told as text.
///
/// # Errors
/// The file cannot be written.
pub fn examples(path: &Path, context: &[String], groups: &Groups) -> Result<(), String> {
    let told = groups.sorted().into_iter().filter(|group| {
        is_scriptable(group.finding.difference.kind)
            && group.case.steps.iter().all(|step| step.executions.is_none())
    });
    let cases: Vec<(String, Case)> = told
        .map(|group| {
            let difference = &group.finding.difference;
            (format!("{:?} {}", difference.kind, difference.detail), group.case.clone())
        })
        .collect();
    script(path, context, &cases)
}

fn entry(sql: &str) -> Entry {
    let is_query = ["SELECT", "WITH"].iter().any(|word| sql.starts_with(word));
    Entry {
        comments: Vec::new(),
        connection: String::new(),
        unordered: is_query && !sql.to_ascii_uppercase().contains("ORDER BY"),
        sql: sql.replace('\n', " "),
        expected: Vec::new(),
        line: 0,
    }
}
