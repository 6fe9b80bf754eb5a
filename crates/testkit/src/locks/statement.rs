//! The statements that an entry of a script stands for.

use std::fmt;

/// An isolation level that statements run at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// REPEATABLE READ, `RR` in scripts.
    RepeatableRead,
    /// READ COMMITTED, `RC` in scripts.
    ReadCommitted,
}

impl Level {
    /// Both levels, in the order of recorded lines.
    pub const ALL: [Level; 2] = [Level::RepeatableRead, Level::ReadCommitted];

    /// Returns the level's name in SQL.
    pub fn sql(self) -> &'static str {
        match self {
            Level::RepeatableRead => "REPEATABLE READ",
            Level::ReadCommitted => "READ COMMITTED",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Level::RepeatableRead => "RR",
            Level::ReadCommitted => "RC",
        })
    }
}

/// What an `[each]` entry does with the rows that it reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    /// `SELECT * FROM .. FOR UPDATE`
    ForUpdate,
    /// `SELECT * FROM .. FOR SHARE`
    ForShare,
    /// `UPDATE .. SET v = v + 1`, of a column without an index.
    Update,
    /// `DELETE FROM ..`; with an index hint, which MySQL takes in the form of several tables alone,
    /// `DELETE t FROM t ..`.
    Delete,
    /// `INSERT INTO copied SELECT v FROM ..`
    Copy,
}

impl Verb {
    const ALL: [Verb; 5] = [Verb::ForUpdate, Verb::ForShare, Verb::Update, Verb::Delete, Verb::Copy];

    fn name(self) -> &'static str {
        match self {
            Verb::ForUpdate => "FOR UPDATE",
            Verb::ForShare => "FOR SHARE",
            Verb::Update => "UPDATE",
            Verb::Delete => "DELETE",
            Verb::Copy => "INSERT SELECT",
        }
    }

    /// Returns the statement that reads the rows of `from`: a table, index hints, and clauses.
    fn sql(self, from: &str) -> String {
        let is_ordered = from.contains(" ORDER BY ") || from.contains(" LIMIT ");
        let table = from.split_whitespace().next().unwrap_or_default();
        let (hinted, clauses) = split_clauses(from);
        match self {
            Verb::ForUpdate => format!("SELECT * FROM {from} FOR UPDATE"),
            Verb::ForShare => format!("SELECT * FROM {from} FOR SHARE"),
            Verb::Update => format!("UPDATE {hinted} SET v = v + 1{clauses}"),
            Verb::Delete if hinted == table || is_ordered => format!("DELETE FROM {table}{clauses}"),
            Verb::Delete => format!("DELETE {table} FROM {from}"),
            Verb::Copy => format!("INSERT INTO copied SELECT v FROM {from}"),
        }
    }
}

/// Splits the table and its hints from the clauses, which keep their leading space.
fn split_clauses(from: &str) -> (&str, &str) {
    let starts = [" WHERE ", " ORDER BY ", " LIMIT "].iter().filter_map(|word| from.find(word));
    from.split_at(starts.min().unwrap_or(from.len()))
}

/// Returns the statements of an entry, each with the verb that its recorded line names, if it names one.
pub fn expand(mark: &str, text: &str) -> Vec<(&'static str, String)> {
    match mark {
        "each" => Verb::ALL.iter().map(|verb| (verb.name(), verb.sql(text))).collect(),
        "" => vec![("", text.to_owned())],
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_with_a_hint_is_read_by_every_verb() {
        let sqls: Vec<String> =
            expand("each", "t FORCE INDEX (k) WHERE k > 1").into_iter().map(|(_, sql)| sql).collect();
        assert_eq!(
            sqls,
            [
                "SELECT * FROM t FORCE INDEX (k) WHERE k > 1 FOR UPDATE",
                "SELECT * FROM t FORCE INDEX (k) WHERE k > 1 FOR SHARE",
                "UPDATE t FORCE INDEX (k) SET v = v + 1 WHERE k > 1",
                "DELETE t FROM t FORCE INDEX (k) WHERE k > 1",
                "INSERT INTO copied SELECT v FROM t FORCE INDEX (k) WHERE k > 1",
            ]
        );
    }

    #[test]
    fn a_delete_with_a_limit_has_no_hint() {
        let sqls = expand("each", "t FORCE INDEX (k) ORDER BY k LIMIT 1");
        assert_eq!(sqls[3].1, "DELETE FROM t ORDER BY k LIMIT 1");
    }
}
