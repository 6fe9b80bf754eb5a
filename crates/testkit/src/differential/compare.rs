//! Sends the statements of rounds to two servers and reports what differs.

use std::collections::BTreeMap;
use std::time::Duration;

use mysql::prelude::Queryable;

use super::dice::{Dice, as_prepared, as_text};
use super::schema::Table;
use super::{changes, query};
use crate::answer;

/// What kind of difference two answers have, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// The first server broke the connection or did not answer in time.
    Lost,
    /// Rows, affected rows, or an error on one side only.
    Rows,
    /// Both fail, with different numbers.
    ErrorNumber,
    /// The first server says that it does not support the statement (1235).
    NotSupported,
    /// The rows are the same except for their order, or for which of several equal strings stands for them.
    Representative,
    /// Names or types of columns.
    Header,
    /// Error text or warnings.
    Messages,
}

/// What a run found.
#[derive(Debug, Default)]
pub struct Summary {
    /// Statements that both servers answered.
    pub statements: u64,
    /// Of these, how many failed on the second server.
    pub failed: u64,
    /// Differences by class.
    pub differences: BTreeMap<Class, u64>,
}

/// How long a statement may take.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(15);
/// Data changes in one round, and queries after them.
const CHANGES: usize = 25;
const QUERIES: usize = 100;

/// Receives every difference.
pub type Report = Box<dyn FnMut(Class, &str)>;

/// Both servers, the one under test first.
pub struct Pair {
    ports: [u16; 2],
    connections: [mysql::Conn; 2],
    schema: String,
    /// The counts so far.
    pub summary: Summary,
    report: Report,
}

impl Pair {
    /// Connects to both; `report` receives every difference.
    pub fn connect(ports: [u16; 2], report: Report) -> Result<Self, String> {
        let connections = [connect(ports[0])?, connect(ports[1])?];
        Ok(Pair { ports, connections, schema: String::new(), summary: Summary::default(), report })
    }

    /// Runs the round of `seed` in a schema of its own, which is kept if a difference was found.
    pub fn round(&mut self, seed: u64) -> Result<(), String> {
        let before: u64 = self.summary.differences.values().sum();
        let dice = &mut Dice::new(seed);
        self.schema = format!("differential_{seed}");
        for sql in [
            format!("DROP DATABASE IF EXISTS {}", self.schema),
            format!("CREATE DATABASE {} CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_ai_ci", self.schema),
            format!("USE {}", self.schema),
        ] {
            self.both(&sql)?;
        }
        let tables: Vec<Table> = (0..3).map(|i| Table::random(dice, format!("t{i}"))).collect();
        let mut created = Vec::new();
        for table in tables {
            if self.same(table.create(), true, false)? && self.fill(dice, &table)? {
                created.push(table);
            }
        }
        if !created.is_empty() && self.change(dice, &created)? {
            self.query(dice, &created)?;
        }
        if self.summary.differences.values().sum::<u64>() == before {
            self.both(&format!("DROP DATABASE {}", self.schema))?;
        }
        Ok(())
    }

    /// Sends a statement that is not compared.
    fn both(&mut self, sql: &str) -> Result<(), String> {
        self.connections.iter_mut().try_for_each(|c| c.query_drop(sql).map_err(|e| format!("{sql}: {e}")))
    }

    fn fill(&mut self, dice: &mut Dice, table: &Table) -> Result<bool, String> {
        for _ in 0..4 + dice.below(8) {
            let sql = format!("INSERT IGNORE INTO {} VALUES {}", table.name, table.row(dice));
            if !self.same(&sql, true, false)? {
                return Ok(false);
            }
        }
        self.check(table)
    }

    /// The phase of changes; false once the tables' contents differ.
    fn change(&mut self, dice: &mut Dice, tables: &[Table]) -> Result<bool, String> {
        let mut in_transaction = false;
        for _ in 0..CHANGES {
            let sql = changes::random(dice, tables, &mut in_transaction);
            let prepared =
                dice.percent(30) && sql.contains("INTO") | sql.contains("SET") | sql.contains("FROM");
            if !self.same(&sql, true, prepared)? && !in_transaction {
                // Whatever this changed on one side only would be found again and again.
                return Ok(false);
            }
            for table in tables {
                if !self.check(table)? {
                    (self.report)(
                        Class::Rows,
                        &format!("{}: tables differ after {}", self.schema, as_text(&sql)),
                    );
                    self.both("ROLLBACK")?;
                    return Ok(false);
                }
            }
        }
        self.both("COMMIT")?;
        Ok(true)
    }

    /// Reads `table` in every index order; both servers must have the same rows everywhere.
    fn check(&mut self, table: &Table) -> Result<bool, String> {
        let mut same = self.same(&format!("SELECT * FROM {}", table.name), false, false)?;
        for (index, key) in &table.indexes {
            let key = key.join(", ");
            for columns in ["*", &key] {
                let sql =
                    format!("SELECT {columns} FROM {} FORCE INDEX ({index}) ORDER BY {key}", table.name);
                same &= self.same(&sql, false, false)?;
            }
        }
        Ok(same)
    }

    fn query(&mut self, dice: &mut Dice, tables: &[Table]) -> Result<(), String> {
        for _ in 0..QUERIES {
            let query = query::random(dice, tables);
            self.same(&query.sql, query.ordered, false)?;
            if dice.percent(20) {
                self.same(&query.sql, query.ordered, true)?;
            }
        }
        Ok(())
    }

    /// Sends one statement to both and compares; false if rows or errors differ.
    fn same(&mut self, sql: &str, ordered: bool, prepared: bool) -> Result<bool, String> {
        let [first, second] = &mut self.connections;
        let expected = ask(second, sql, prepared)?;
        let actual = match ask(first, sql, prepared) {
            Ok(actual) => actual,
            Err(e) => {
                self.tell(Class::Lost, sql, prepared, &[e], &expected);
                self.connections[0] = connect(self.ports[0])?;
                let schema = self.schema.clone();
                self.connections[0].query_drop(format!("USE {schema}")).map_err(|e| e.to_string())?;
                return Ok(false);
            }
        };
        self.summary.statements += 1;
        self.summary.failed += u64::from(expected[0].starts_with("error"));
        match class_of(&actual, &expected, ordered) {
            Some(class) => {
                self.tell(class, sql, prepared, &actual, &expected);
                Ok(class > Class::NotSupported)
            }
            None => Ok(true),
        }
    }

    fn tell(&mut self, class: Class, sql: &str, prepared: bool, actual: &[String], expected: &[String]) {
        *self.summary.differences.entry(class).or_default() += 1;
        let sent = if prepared { format!("{:?}", as_prepared(sql)) } else { as_text(sql) };
        let text = format!(
            "{}: {sent}\n  actual:\n    {}\n  expected:\n    {}",
            self.schema,
            actual.join("\n    "),
            expected.join("\n    ")
        );
        (self.report)(class, &text);
    }
}

fn connect(port: u16) -> Result<mysql::Conn, String> {
    let opts = mysql::OptsBuilder::new()
        .ip_or_hostname(Some("127.0.0.1"))
        .tcp_port(port)
        .user(Some("root"))
        .prefer_socket(false)
        .read_timeout(Some(ANSWER_TIMEOUT));
    let mut conn = mysql::Conn::new(opts).map_err(|e| format!("cannot connect to port {port}: {e}"))?;
    // The tables' own default, not the one that the client library asks for.
    conn.query_drop("SET NAMES utf8mb4 COLLATE utf8mb4_0900_ai_ci").map_err(|e| e.to_string())?;
    Ok(conn)
}

fn ask(conn: &mut mysql::Conn, sql: &str, prepared: bool) -> Result<Vec<String>, String> {
    if prepared {
        let (text, values) = as_prepared(sql);
        answer::of_parameters(conn, &text, values)
    } else {
        answer::of_text(conn, &as_text(sql), false)
    }
}

/// How two answers differ, `None` if they do not.
fn class_of(actual: &[String], expected: &[String], ordered: bool) -> Option<Class> {
    if actual == expected {
        return None;
    }
    let (a, b) = (Parts::of(actual), Parts::of(expected));
    if let (Some(x), Some(y)) = (a.error, b.error) {
        return Some(if x == y { Class::Messages } else { Class::ErrorNumber });
    }
    if a.error.is_some() || b.error.is_some() {
        let refused = a.error == Some("1235");
        return Some(if refused { Class::NotSupported } else { Class::Rows });
    }
    let mut rows = [a.rows.to_vec(), b.rows.to_vec()];
    if !ordered {
        for side in &mut rows {
            side.sort();
        }
    }
    if rows[0] != rows[1] {
        let mut folded = rows.map(|rows| rows.iter().map(|row| fold(row)).collect::<Vec<_>>());
        if !ordered {
            for side in &mut folded {
                side.sort();
            }
        }
        return Some(if folded[0] == folded[1] { Class::Representative } else { Class::Rows });
    }
    if a.head != b.head {
        return Some(if a.is_result { Class::Header } else { Class::Rows });
    }
    (a.messages != b.messages).then_some(Class::Messages)
}

/// A row as a case- and accent-insensitive collation that ignores trailing spaces sees it.
fn fold(row: &str) -> String {
    let cells = row
        .split('\t')
        .map(|cell| cell.trim_end().to_lowercase().replace('\u{e1}', "a").replace('\u{e9}', "e"));
    cells.collect::<Vec<_>>().join("\t")
}

/// An answer's lines by what they say.
struct Parts<'a> {
    head: &'a str,
    is_result: bool,
    error: Option<&'a str>,
    rows: &'a [String],
    messages: &'a [String],
}

impl<'a> Parts<'a> {
    fn of(lines: &'a [String]) -> Self {
        let head = lines[0].as_str();
        let error = head.strip_prefix("error ").and_then(|rest| rest.split(' ').next());
        let is_result = error.is_none() && !head.starts_with("ok ");
        let is_message = |l: &String| ["warning ", "note ", "error "].iter().any(|p| l.starts_with(p));
        let end = lines.iter().skip(1).position(is_message).map_or(lines.len(), |at| at + 1);
        Parts { head, is_result, error, rows: &lines[1..end], messages: &lines[end..] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn differences_are_classed_by_how_bad_they_are() {
        let class = |a: &str, b: &str, ordered| class_of(&lines(a), &lines(b), ordered);
        assert_eq!(class("a:LONG\n1\n2", "a:LONG\n2\n1", false), None);
        assert_eq!(class("a:LONG\n1\n2", "a:LONG\n2\n1", true), Some(Class::Rows));
        assert_eq!(class("a:LONG\n1", "a:LONGLONG\n1", true), Some(Class::Header));
        assert_eq!(class("a:VAR_STRING\nA ", "a:VAR_STRING\n\u{e1}", true), Some(Class::Representative));
        assert_eq!(class("error 1235 (42000): no", "ok 1 rows", true), Some(Class::NotSupported));
        assert_eq!(class("error 1064 (42000): no", "error 1054 (42S22): no", true), Some(Class::ErrorNumber));
        assert_eq!(class("ok 1 rows\nwarning 1265: x", "ok 1 rows", true), Some(Class::Messages));
        assert_eq!(class("ok 1 rows", "ok 2 rows", true), Some(Class::Rows));
    }
}
