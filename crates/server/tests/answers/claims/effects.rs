//! Effects that are checked on a running server: `tests/claims/effects.txt` says how.

use mysql::Conn;
use mysql::prelude::Queryable;
use testkit::answer;
use testkit::runner::Target;

/// What is made again for each run.
const PREPARE: [&str; 5] = [
    "DROP DATABASE IF EXISTS claims",
    "CREATE DATABASE claims",
    "USE claims",
    "CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, a INT, s VARCHAR(20))",
    "INSERT INTO t VALUES (1, 1, 'a'), (2, 2, 'b')",
];

/// All effects of a file.
pub(super) struct Effects(Vec<Effect>);

struct Effect {
    name: String,
    lines: Vec<String>,
}

impl Effects {
    /// Reads the file's text.
    pub(super) fn parse(text: &str) -> Self {
        let mut effects: Vec<Effect> = Vec::new();
        for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with("# ")) {
            if let Some(name) = line.strip_prefix("== ") {
                effects.push(Effect { name: name.to_owned(), lines: Vec::new() });
            } else if let Some(effect) = effects.last_mut() {
                effect.lines.push(line.to_owned());
            }
        }
        Effects(effects)
    }

    /// Whether there is one of that name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|effect| effect.name == name)
    }

    /// The names of those that cannot be seen on the server.
    pub(super) fn unseen(&self, target: &Target) -> Vec<String> {
        self.0.iter().filter(|effect| !effect.is_seen(target)).map(|effect| effect.name.clone()).collect()
    }
}

impl Effect {
    /// What is the same without the cause must differ with it.
    fn is_seen(&self, target: &Target) -> bool {
        let without = self.run(target, false);
        if !self.lines.iter().any(|line| line.starts_with(">> ")) {
            return without.last().is_some_and(|line| line == "1");
        }
        without == self.run(target, false) && without != self.run(target, true)
    }

    /// The answers to what is neither cause nor end.
    fn run(&self, target: &Target, with_cause: bool) -> Vec<String> {
        let mut conn = prepared(target);
        let mut answers = Vec::new();
        for line in &self.lines {
            match (line.strip_prefix(">> "), line.strip_prefix("<< ")) {
                (Some(cause), _) if with_cause => drop(ask(&mut conn, cause)),
                (None, None) => answers.extend(ask(&mut conn, line)),
                _ => {}
            }
        }
        for end in self.lines.iter().filter_map(|line| line.strip_prefix("<< ")) {
            ask(&mut conn, end);
        }
        answers
    }
}

/// A connection to the schema.
pub(super) fn prepared(target: &Target) -> Conn {
    let mut conn = target.connect(None).unwrap();
    for sql in PREPARE {
        conn.query_drop(sql).unwrap();
    }
    conn
}

pub(super) fn ask(conn: &mut Conn, sql: &str) -> Vec<String> {
    // A connection that the server ends is an answer, too.
    answer::of_text(conn, sql, false).unwrap_or_else(|ended| vec![format!("error 2013 (HY000): {ended}")])
}
