//! What is missing, row by row: `tests/claims/missing.txt` says how.

use std::collections::BTreeSet;

use testkit::runner::Target;

use super::effects::{ask, prepared};
use super::rows::Row;
use super::variables;

/// Rows that no statement shows: they are about starts of the server. It may only get shorter.
const NOT_BY_STATEMENT: [&str; 3] =
    ["`innodb_doublewrite`", "`innodb_flush_method`", "`innodb_force_recovery`"];

/// All entries of a file.
pub(super) struct Missing(Vec<Entry>);

struct Entry {
    title: String,
    lines: Vec<Line>,
}

struct Line {
    wanted: Wanted,
    sql: String,
}

/// How a statement ends.
enum Wanted {
    Success,
    Refusal(u16),
    NoWarning(u16),
    Rows,
    /// Its last value is 1.
    Truth,
    /// However; it is run at the end.
    End,
}

impl Missing {
    /// Reads the file's text.
    pub(super) fn parse(text: &str) -> Self {
        let mut entries: Vec<Entry> = Vec::new();
        for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with("# ")) {
            if let Some(title) = line.strip_prefix("== ") {
                entries.push(Entry { title: title.to_owned(), lines: Vec::new() });
            } else if let Some(entry) = entries.last_mut() {
                entry.lines.push(Line::parse(line));
            }
        }
        Missing(entries)
    }

    /// What `rows` deny and no entry shows, and entries of no row, a message each.
    pub(super) fn unshown(&self, rows: &[Row]) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        for row in rows.iter().filter(|row| !NOT_BY_STATEMENT.contains(&&*row.title)) {
            let entry = self.0.iter().find(|entry| entry.title == row.title);
            let missing = match entry {
                Some(entry) => entry.unshown(row),
                None if variables::is_shown(row) => Vec::new(),
                None => vec!["that it is missing".to_owned()],
            };
            let message = |what| format!("{}: {}: nothing shows {what}", row.section, row.title);
            found.extend(missing.into_iter().map(message));
        }
        let is_known = |title: &str| rows.iter().any(|row| row.title == title);
        let unknown = self.0.iter().filter(|entry| !is_known(&entry.title));
        found.extend(unknown.map(|entry| format!("{}: no row denies it", entry.title)));
        found
    }

    /// The lines of entries that end otherwise on the server.
    pub(super) fn wrong(&self, target: &Target) -> Vec<String> {
        self.0.iter().flat_map(|entry| entry.wrong(target)).collect()
    }
}

impl Line {
    fn parse(line: &str) -> Self {
        let of = |prefix: &str, wanted| {
            let sql = line.strip_prefix(prefix)?;
            Some(Line { wanted, sql: sql.to_owned() })
        };
        let numbered = || {
            let (head, sql) = line.split_once("> ")?;
            let wanted = match head.strip_prefix("no ") {
                Some(code) => Wanted::NoWarning(code.parse().ok()?),
                None => Wanted::Refusal(head.parse().ok()?),
            };
            Some(Line { wanted, sql: sql.to_owned() })
        };
        of("<< ", Wanted::End)
            .or_else(|| of("= ", Wanted::Truth))
            .or_else(|| of("rows> ", Wanted::Rows))
            .or_else(numbered)
            .unwrap_or_else(|| Line { wanted: Wanted::Success, sql: line.to_owned() })
    }

    /// Whether `answer` is the wanted one. Warnings come after it.
    fn is_met(&self, answer: &[String]) -> bool {
        let error = answer.first().and_then(|line| line.strip_prefix("error "));
        match self.wanted {
            Wanted::Refusal(code) => error.is_some_and(|error| error.starts_with(&format!("{code} "))),
            Wanted::NoWarning(code) => {
                error.is_none() && !answer.iter().any(|line| line.contains(&code.to_string()))
            }
            Wanted::Rows => error.is_none() && answer.len() > 1,
            Wanted::Truth => answer.last().is_some_and(|line| line == "1"),
            Wanted::Success => error.is_none(),
            Wanted::End => true,
        }
    }
}

impl Entry {
    /// The parts of the row that no line is about: numbers of its status and, where it says "no", the words
    /// of its title.
    fn unshown(&self, row: &Row) -> Vec<String> {
        let codes: BTreeSet<String> = self.lines.iter().filter_map(Line::code).collect();
        let numbers = row.status.split(|c: char| !c.is_ascii_alphanumeric());
        let numbers = numbers.filter(|word| word.len() == 4 && word.parse::<u16>().is_ok());
        let mut missing: Vec<String> =
            numbers.filter(|number| !codes.contains(*number)).map(str::to_owned).collect();
        if row.status.starts_with("no") {
            let refused: String = self
                .lines
                .iter()
                .filter(|line| line.code().is_some())
                .map(|line| format!(" {} ", line.sql))
                .collect();
            let refused = refused.to_ascii_uppercase();
            let words = row.title.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            let is_keyword = |word: &&str| word.len() > 1 && word.chars().all(|c| c.is_ascii_uppercase());
            let words = words.filter(is_keyword).map(str::to_owned);
            let names = row.names.iter().map(|name| name.to_ascii_uppercase());
            missing.extend(words.chain(names).filter(|word| !refused.contains(word.as_str())));
        }
        let shows = |line: &Line| !matches!(line.wanted, Wanted::Success | Wanted::End);
        if !self.lines.iter().any(shows) {
            missing.push("anything".to_owned());
        }
        missing
    }

    fn wrong(&self, target: &Target) -> Vec<String> {
        let mut conn = prepared(target);
        let mut wrong = Vec::new();
        let (ends, lines): (Vec<&Line>, Vec<&Line>) =
            self.lines.iter().partition(|line| matches!(line.wanted, Wanted::End));
        for line in lines.into_iter().chain(ends) {
            let answer = ask(&mut conn, &line.sql);
            if !line.is_met(&answer) {
                wrong.push(format!("{}: {}: {answer:?}", self.title, line.sql));
            }
        }
        wrong
    }
}

impl Line {
    /// The number of the error or warning that the line is about.
    fn code(&self) -> Option<String> {
        match self.wanted {
            Wanted::Refusal(code) | Wanted::NoWarning(code) => Some(code.to_string()),
            _ => None,
        }
    }
}
