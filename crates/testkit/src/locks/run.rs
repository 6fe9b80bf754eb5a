//! Runs scripts of footprints against a server, to compare or to record.

use std::path::Path;

use mysql::prelude::Queryable;

use super::fixture::Fixture;
use super::footprint::Footprint;
use super::probe::{Prober, run};
use super::rule;
use super::statement::{Level, expand};
use crate::recording::Source;
use crate::runner::Target;
use crate::script::{self, Entry};

/// How the footprints of a script compare with the recorded ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Statements with MySQL's footprint.
    pub equal: usize,
    /// Statements that lock less, by a rule that their entry names.
    pub less: usize,
    /// Statements that lock rows where MySQL locks their entries in a secondary index alone.
    pub entries_as_rows: usize,
    /// Statements whose rows this server finds in another way.
    pub other_plan: usize,
    /// What is wrong, one message a statement.
    pub wrong: Vec<String>,
}

/// Runs the statements of a script and compares their footprints with the recorded ones.
pub fn compare_file(path: &Path, target: &Target) -> Result<Tally, String> {
    let entries = read(path)?;
    let mut session = Session::new(&entries, target)?;
    let mut tally = Tally::default();
    for entry in &entries {
        let actual = session.lines(entry)?;
        if actual.len() != entry.expected.len() {
            tally.wrong.push(format!("{}:{}: has no recorded answer", path.display(), entry.line));
            continue;
        }
        let mut used = Vec::new();
        for (expected, actual) in entry.expected.iter().zip(&actual) {
            match judge(entry, expected, actual, &session.fixture, &mut used)? {
                Verdict::Equal => tally.equal += 1,
                Verdict::Less => tally.less += 1,
                Verdict::EntriesAsRows => tally.entries_as_rows += 1,
                Verdict::OtherPlan => tally.other_plan += 1,
                Verdict::Wrong(what) => tally.wrong.push(format!(
                    "{}:{}: {}\n  MySQL:  {expected}\n  actual: {actual}\n  {what}",
                    path.display(),
                    entry.line,
                    entry.sql
                )),
            }
        }
        for rule in rule::named(&entry.comments).into_iter().filter(|rule| !used.contains(rule)) {
            tally.wrong.push(format!(
                "{}:{}: no statement needs the remark {rule:?}",
                path.display(),
                entry.line
            ));
        }
    }
    Ok(tally)
}

/// Rewrites a script with the footprints of the server, which is MySQL.
pub fn record_file(path: &Path, target: &Target) -> Result<(), String> {
    let mut entries = read(path)?;
    let mut session = Session::new(&entries, target)?;
    let source = Source::of(&mut session.conn)?;
    for entry in &mut entries {
        entry.expected = session.lines(entry)?;
    }
    source.stamp(&mut entries);
    std::fs::write(path, script::print(&entries)).map_err(|e| format!("{}: {e}", path.display()))
}

/// Schema of the tables, made again for each script.
const SCHEMA: &str = "lk_footprint";

fn read(path: &Path) -> Result<Vec<Entry>, String> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    script::parse(&text).map_err(|e| format!("{}: {e}", path.display()))
}

/// What has come of comparing two lines.
enum Verdict {
    Equal,
    Less,
    EntriesAsRows,
    OtherPlan,
    Wrong(&'static str),
}

/// A line of an answer.
struct Line<'l> {
    /// The level and the verb.
    head: &'l str,
    plan: &'l str,
    /// The error, if the statement failed.
    error: &'l str,
    footprint: &'l str,
}

impl<'l> Line<'l> {
    fn parse(text: &'l str) -> Option<Self> {
        let (head, rest) = text.split_once(" [")?;
        let (plan, rest) = rest.split_once(']')?;
        let (error, footprint) = rest.split_once(": ")?;
        Some(Line { head, plan, error, footprint })
    }
}

/// Compares the line of a statement with the recorded one. The remarks of the entry that it needs are added
/// to `used`.
fn judge<'e>(
    entry: &'e Entry,
    expected: &str,
    actual: &str,
    fixture: &Fixture,
    used: &mut Vec<&'e str>,
) -> Result<Verdict, String> {
    let (Some(expected), Some(actual)) = (Line::parse(expected), Line::parse(actual)) else {
        return Ok(Verdict::Wrong("one of them is no footprint"));
    };
    if (expected.head, expected.error) != (actual.head, actual.error) {
        return Ok(Verdict::Wrong("another outcome"));
    }
    let remarks = rule::named(&entry.comments);
    // Where MySQL shows no index, it has read the row while it planned, or has found that there is none.
    let is_other_plan = expected.plan != actual.plan && !expected.plan.is_empty();
    if expected.footprint == actual.footprint && !is_other_plan {
        return Ok(Verdict::Equal);
    }
    let other_plan = remarks.iter().find(|remark| **remark == rule::OTHER_PLAN);
    if let (true, Some(remark)) = (is_other_plan, other_plan) {
        used.push(remark);
        return Ok(Verdict::OtherPlan);
    }
    if is_other_plan {
        return Ok(Verdict::Wrong("another plan"));
    }
    let expected = Footprint::parse(expected.footprint, fixture)?;
    let differences = Footprint::parse(actual.footprint, fixture)?.differences(&expected);
    let mut verdict = Verdict::Less;
    for difference in &differences {
        let known = used.len();
        used.extend(remarks.iter().filter(|remark| rule::explains(remark, difference, &expected)));
        if let (true, Some(remark)) = (used.len() == known, other_plan) {
            used.push(remark);
            return Ok(Verdict::OtherPlan);
        }
        if used.len() == known {
            let what = if difference.is_more() { "locks more" } else { "locks less, and no rule is named" };
            return Ok(Verdict::Wrong(what));
        }
        if difference.is_more() {
            verdict = Verdict::EntriesAsRows;
        }
    }
    Ok(verdict)
}

/// The session whose statements are under test, and those that probe.
struct Session {
    conn: mysql::Conn,
    prober: Prober,
    fixture: Fixture,
}

impl Session {
    fn new(entries: &[Entry], target: &Target) -> Result<Self, String> {
        let mut conn = target.connect(None)?;
        run(&mut conn, &format!("DROP DATABASE IF EXISTS {SCHEMA}"))?;
        run(&mut conn, &format!("CREATE DATABASE {SCHEMA}"))?;
        run(&mut conn, &format!("USE {SCHEMA}"))?;
        let fixture = Fixture::of(entries)?;
        for table in fixture.tables.iter().filter(|table| table.indexes.is_empty()) {
            table.setup.iter().try_for_each(|sql| run(&mut conn, sql))?;
        }
        Ok(Session { conn, prober: Prober::new(target, SCHEMA)?, fixture })
    }

    /// Returns the answer of an entry: a line for each statement and level.
    fn lines(&mut self, entry: &Entry) -> Result<Vec<String>, String> {
        let mut lines = Vec::new();
        let statements = expand(&entry.connection, &entry.sql);
        for level in Level::ALL {
            for (verb, sql) in &statements {
                let footprint = self.footprint(level, sql)?;
                let space = if verb.is_empty() { "" } else { " " };
                lines.push(format!("{level}{space}{verb} {footprint}"));
            }
        }
        Ok(lines)
    }

    /// Returns the plan and the footprint of a statement, on tables made again.
    fn footprint(&mut self, level: Level, sql: &str) -> Result<String, String> {
        let tables: Vec<_> = self.fixture.tables_of(sql).into_iter().cloned().collect();
        let mut rows = Vec::new();
        for table in &tables {
            run(&mut self.conn, &format!("DROP TABLE IF EXISTS {}", table.name))?;
            table.setup.iter().try_for_each(|sql| run(&mut self.conn, sql))?;
            rows.push(self.prober.rows(table)?);
        }
        let plan = self.plan(sql)?;
        run(&mut self.conn, &format!("SET SESSION TRANSACTION ISOLATION LEVEL {}", level.sql()))?;
        run(&mut self.conn, "BEGIN")?;
        let outcome = match self.conn.query_drop(sql) {
            Ok(()) => String::new(),
            Err(mysql::Error::MySqlError(e)) => format!(" error {}", e.code),
            Err(e) => return Err(format!("{sql}: {e}")),
        };
        let mut footprint = Footprint::default();
        for (table, rows) in tables.iter().zip(&rows) {
            self.prober.add_locks(table, rows, &mut footprint)?;
        }
        run(&mut self.conn, "ROLLBACK")?;
        Ok(format!("[{plan}]{outcome}: {}", footprint.print(&self.fixture)))
    }

    /// Returns the indexes that the plan reads, each with its table, in order of their names.
    fn plan(&mut self, sql: &str) -> Result<String, String> {
        let mut paths = match self.conn.query::<mysql::Row, _>(format!("EXPLAIN FORMAT=TRADITIONAL {sql}")) {
            Ok(rows) => rows.iter().flat_map(paths_of_row).collect(),
            Err(mysql::Error::MySqlError(e)) if e.code == NOT_SUPPORTED => self.plan_of_tree(sql)?,
            Err(e) => return Err(format!("EXPLAIN {sql}: {e}")),
        };
        paths.sort();
        paths.dedup();
        Ok(paths.join(" "))
    }

    fn plan_of_tree(&mut self, sql: &str) -> Result<Vec<String>, String> {
        let explain = format!("EXPLAIN FORMAT=TREE {sql}");
        let lines: Vec<String> = self.conn.query(&explain).map_err(|e| format!("{explain}: {e}"))?;
        Ok(lines.iter().flat_map(|text| text.lines()).filter_map(path_of).collect())
    }
}

/// ER_NOT_SUPPORTED_YET
const NOT_SUPPORTED: u16 = 1235;

/// Returns the table and indexes that a row of a traditional plan reads; a table scan reads `PRIMARY`.
fn paths_of_row(row: &mysql::Row) -> Vec<String> {
    let cell = |name| row.get::<Option<String>, _>(name).flatten();
    let is_insert = cell("select_type").is_some_and(|kind| kind == "INSERT" || kind == "REPLACE");
    let Some(table) = cell("table").filter(|table| !table.starts_with('<') && !is_insert) else {
        return Vec::new();
    };
    let keys = cell("key").unwrap_or_else(|| "PRIMARY".to_owned());
    keys.split(',').map(|key| format!("{table}.{key}")).collect()
}

/// Returns the table and index of a line of a plan that reads one; a table scan reads `PRIMARY`.
fn path_of(line: &str) -> Option<String> {
    let (operator, rest) = line.trim_start().strip_prefix("-> ")?.split_once(" on ")?;
    let mut words = rest.split_whitespace();
    let table = words.next()?;
    if operator == "Table scan" {
        return Some(format!("{table}.PRIMARY")).filter(|_| !table.starts_with('<'));
    }
    let mut words = words.skip_while(|word| *word != "using");
    words.next()?;
    Some(format!("{table}.{}", words.next()?))
}
