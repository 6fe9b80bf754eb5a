//! What the tests that a row names say, and with success.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use testkit::script;

/// The text of what succeeded in recorded statements, with their answers, and of tests in Rust without their
/// comments; all in small letters.
#[derive(Debug, Default)]
pub(super) struct Evidence {
    recorded: String,
    code: String,
}

impl Evidence {
    /// Of the files `tests` below `root`. One that is not there says nothing.
    pub(super) fn of(root: &Path, tests: &[PathBuf]) -> Self {
        let mut evidence = Evidence::default();
        for path in tests {
            let path = root.join(path);
            let text = fs::read_to_string(&path).unwrap_or_default();
            let (into, lines) = match path.extension().and_then(|ending| ending.to_str()) {
                Some("test") => (&mut evidence.recorded, of_script(&text)),
                Some("sql") => (&mut evidence.recorded, of_stock_client(&path)),
                Some("rs") => (&mut evidence.code, of_code(&text)),
                _ => (&mut evidence.recorded, of_captures(&text)),
            };
            into.push_str(&lines.to_lowercase());
            into.push('\n');
        }
        evidence
    }

    /// Whether something says the word, or an option of that name.
    pub(super) fn says(&self, word: &str) -> bool {
        // Tables are named without their schema, and the schemas by other rows.
        let word = word.rsplit_once('.').map_or(word, |(_, name)| name).to_lowercase();
        [&self.recorded, &self.code].into_iter().any(|text| places(text, &word).next().is_some())
    }

    /// Whether a test in Rust says the variable, or recorded statements give it two values: to set it is no
    /// effect, but answers that were recorded beneath both are.
    pub(super) fn sets(&self, variable: &str) -> bool {
        let option = variable.replace('_', "-");
        let is_said = |name: &str| places(&self.code, name).next().is_some();
        is_said(variable) || is_said(&option) || values(&self.recorded, variable).len() > 1
    }
}

/// What follows the word, wherever it is as a whole.
fn places<'a>(text: &'a str, word: &'a str) -> impl Iterator<Item = &'a str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.match_indices(word).filter_map(move |(at, _)| {
        let (before, after) = (&text[..at], &text[at + word.len()..]);
        (!before.ends_with(is_part) && !after.starts_with(is_part)).then_some(after)
    })
}

/// The values that statements assign to the variable.
fn values<'a>(text: &'a str, variable: &'a str) -> BTreeSet<&'a str> {
    let assigned = places(text, variable).filter_map(|after| {
        let after = after.trim_start_matches('`').trim_start();
        let value = after.strip_prefix(":=").or_else(|| after.strip_prefix('='))?.trim_start();
        value.split([',', ';', ' ', '\n']).next()
    });
    assigned.filter(|value| !value.is_empty()).collect()
}

fn of_script(text: &str) -> String {
    let entries = script::parse(text).unwrap_or_default().into_iter();
    let is_refused =
        |entry: &script::Entry| entry.expected.first().is_some_and(|line| line.starts_with("error "));
    let good = entries.filter(|entry| !is_refused(entry));
    good.map(|entry| format!("{}\n{}\n", entry.sql, entry.expected.join("\n"))).collect()
}

/// The output shows each statement between two lines, and then its answer.
fn of_stock_client(path: &Path) -> String {
    let shown = fs::read_to_string(path.with_extension("out")).unwrap_or_default();
    let parts: Vec<&str> = shown.split("--------------\n").skip(1).collect();
    let pairs = parts.chunks_exact(2).filter(|pair| !pair[1].trim_start().starts_with("ERROR"));
    pairs.flat_map(|pair| [pair[0], pair[1]]).collect()
}

/// A line is a statement, and one with an arrow the error of the one before it.
fn of_captures(text: &str) -> String {
    let lines: Vec<&str> = text.lines().chain([""]).collect();
    let good = lines.windows(2).filter(|two| !two[1].starts_with("->") && !two[0].starts_with(['#', '-']));
    good.flat_map(|two| [two[0], "\n"]).collect()
}

fn of_code(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.flat_map(|line| [line, "\n"]).collect()
}
