//! A client of the kill suite that changes definitions: DDL of every kind, in a loop, on two databases of its
//! own.
//!
//! It knows what there is before a statement and after it. After a kill the server must have one of the two,
//! whole, and the former only if there was no answer.

use std::collections::{BTreeMap, BTreeSet};

use base::prng::Prng;
use mysql::prelude::Queryable;

use super::check_table;

/// Tables of the first database, at most. The second one has [`PAIR`].
const TABLES: u64 = 5;
/// Tables of the database that is made and dropped.
const PAIR: [&str; 2] = ["left", "right"];
/// Rows that one statement inserts, at most.
const ROWS_AT_ONCE: u64 = 60;

/// A table, by what a statement can change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Table {
    comment: String,
    indexes: BTreeSet<String>,
    /// It has the column that comes and goes.
    has_extra: bool,
    /// `n` is a BIGINT.
    is_wide: bool,
    rows: u64,
}

/// Tables by database and name.
type Databases = BTreeMap<String, BTreeMap<String, Table>>;

/// Changes definitions and remembers the answers.
#[derive(Debug)]
pub(super) struct Definer {
    prng: Prng,
    /// The database of its tables, and the one that comes and goes.
    schema: String,
    other: String,
    answered: Databases,
    asked: Option<Databases>,
    /// Numbers comments.
    number: u64,
    pub(super) acknowledged: u64,
}

impl Definer {
    pub(super) fn new(number: u32, seed: u64) -> Self {
        Definer {
            prng: Prng::new(seed),
            schema: format!("ddl{number}"),
            other: format!("ddl{number}_other"),
            answered: Databases::new(),
            asked: None,
            number: 0,
            acknowledged: 0,
        }
    }

    /// One statement.
    pub(super) fn step(&mut self, conn: &mut mysql::Conn) -> Result<(), mysql::Error> {
        let mut after = self.answered.clone();
        let sql = self.statement(&mut after);
        self.asked = Some(after.clone());
        conn.query_drop(sql)?;
        (self.answered, self.asked) = (after, None);
        self.acknowledged += 1;
        Ok(())
    }

    /// Draws a statement, and does to `now` what it does.
    fn statement(&mut self, now: &mut Databases) -> String {
        let schema = self.schema.clone();
        let Some(tables) = now.get_mut(&schema) else {
            now.insert(schema.clone(), BTreeMap::new());
            return format!("CREATE DATABASE {schema}");
        };
        if (tables.len() as u64) < 2 {
            return self.create(tables);
        }
        match self.prng.below(15) {
            0 if (tables.len() as u64) < TABLES => self.create(tables),
            0 | 1 => self.alter(tables),
            2 | 3 => self.swap(tables),
            4 => self.drop_some(tables),
            5 => self.truncate(tables),
            6 => self.index(tables),
            12.. => self.rebuild(tables),
            7..9 => self.other(now),
            _ => self.insert(tables),
        }
    }

    fn any(&mut self, tables: &BTreeMap<String, Table>) -> String {
        let at = self.prng.below(tables.len() as u64) as usize;
        tables.keys().nth(at).cloned().unwrap_or_default()
    }

    fn comment(&mut self) -> String {
        self.number += 1;
        format!("comment {}", self.number)
    }

    /// CREATE TABLE, also LIKE another one.
    fn create(&mut self, tables: &mut BTreeMap<String, Table>) -> String {
        let (name, schema) = (free_name(tables, "t"), &self.schema);
        if !tables.is_empty() && self.prng.below(2) == 0 {
            let source = self.any(tables);
            let table = Table { rows: 0, ..tables[&source].clone() };
            tables.insert(name.clone(), table);
            return format!("CREATE TABLE {0}.{name} LIKE {0}.{source}", self.schema);
        }
        let sql = create_text(schema, &name);
        let comment = self.comment();
        let indexes = ["PRIMARY".to_owned(), "n".to_owned()].into();
        tables.insert(name, Table { comment: comment.clone(), indexes, ..Table::default() });
        format!("{sql} COMMENT '{comment}'")
    }

    /// ALTER TABLE with three or four actions.
    fn alter(&mut self, tables: &mut BTreeMap<String, Table>) -> String {
        let (name, comment) = (self.any(tables), self.comment());
        let mut table = tables.remove(&name).unwrap_or_default();
        let mut sql = format!("ALTER TABLE {}.{name} COMMENT '{comment}'", self.schema);
        table.comment = comment;
        for (index, parts) in [("n", "n"), ("nc", "n, c"), ("cn", "c, n")] {
            if table.indexes.remove(index) {
                sql.push_str(&format!(", DROP INDEX {index}"));
            } else {
                table.indexes.insert(index.to_owned());
                sql.push_str(&format!(", ADD INDEX {index} ({parts})"));
            }
        }
        let to = free_name(tables, "a");
        let renamed = self.prng.below(3) == 0;
        if renamed {
            sql.push_str(&format!(", RENAME TO {}.{to}", self.schema));
        }
        tables.insert(if renamed { to } else { name }, table);
        sql
    }

    /// ALTER TABLE that rewrites all rows: a column comes or goes, or gets another type, at times with an
    /// index.
    fn rebuild(&mut self, tables: &mut BTreeMap<String, Table>) -> String {
        let name = self.any(tables);
        let table = tables.entry(name.clone()).or_default();
        let mut actions = Vec::new();
        if self.prng.below(2) == 0 {
            table.has_extra = !table.has_extra;
            let add = "ADD COLUMN extra VARCHAR(20) NOT NULL DEFAULT 'extra' AFTER id";
            actions.push(if table.has_extra { add } else { "DROP COLUMN extra" });
        }
        if actions.is_empty() || self.prng.below(3) == 0 {
            table.is_wide = !table.is_wide;
            actions.push(if table.is_wide { "MODIFY n BIGINT" } else { "MODIFY n INT" });
        }
        if self.prng.below(3) == 0 {
            let is_new = table.indexes.insert("nc".to_owned());
            if !is_new {
                table.indexes.remove("nc");
            }
            actions.push(if is_new { "ADD KEY nc (n, c)" } else { "DROP KEY nc" });
        }
        format!("ALTER TABLE {}.{name} {}", self.schema, actions.join(", "))
    }

    /// RENAME TABLE of two that swap their names.
    fn swap(&mut self, tables: &mut BTreeMap<String, Table>) -> String {
        let (one, other) = (self.any(tables), self.any(tables));
        let schema = &self.schema;
        if one == other {
            let to = free_name(tables, "r");
            let table = tables.remove(&one).unwrap_or_default();
            tables.insert(to.clone(), table);
            return format!("RENAME TABLE {schema}.{one} TO {schema}.{to}");
        }
        let (first, second) = (tables.remove(&one), tables.remove(&other));
        tables.insert(one.clone(), second.unwrap_or_default());
        tables.insert(other.clone(), first.unwrap_or_default());
        format!(
            "RENAME TABLE {schema}.{one} TO {schema}.between, {schema}.{other} TO {schema}.{one}, \
             {schema}.between TO {schema}.{other}"
        )
    }

    /// DROP TABLE of all but one.
    fn drop_some(&mut self, tables: &mut BTreeMap<String, Table>) -> String {
        let kept = self.any(tables);
        let names: Vec<String> = tables.keys().filter(|name| **name != kept).cloned().collect();
        tables.retain(|name, _| *name == kept);
        let names: Vec<String> = names.iter().map(|name| format!("{}.{name}", self.schema)).collect();
        format!("DROP TABLE {}", names.join(", "))
    }

    fn truncate(&mut self, tables: &mut BTreeMap<String, Table>) -> String {
        let name = self.any(tables);
        tables.entry(name.clone()).or_default().rows = 0;
        format!("TRUNCATE TABLE {}.{name}", self.schema)
    }

    /// CREATE INDEX or DROP INDEX.
    fn index(&mut self, tables: &mut BTreeMap<String, Table>) -> String {
        let name = self.any(tables);
        let indexes = &mut tables.entry(name.clone()).or_default().indexes;
        if indexes.remove("nc") {
            return format!("DROP INDEX nc ON {}.{name}", self.schema);
        }
        indexes.insert("nc".to_owned());
        format!("CREATE INDEX nc ON {}.{name} (n, c)", self.schema)
    }

    /// A step to a second database with two tables, or DROP DATABASE of it.
    fn other(&mut self, now: &mut Databases) -> String {
        let other = self.other.clone();
        let Some(tables) = now.get_mut(&other) else {
            now.insert(other.clone(), BTreeMap::new());
            return format!("CREATE DATABASE {other}");
        };
        if let Some(name) = PAIR.into_iter().find(|name| !tables.contains_key(*name)) {
            let comment = self.comment();
            let indexes = ["PRIMARY".to_owned(), "n".to_owned()].into();
            tables.insert(name.to_owned(), Table { comment: comment.clone(), indexes, ..Table::default() });
            return format!("{} COMMENT '{comment}'", create_text(&other, name));
        }
        now.remove(&other);
        format!("DROP DATABASE {other}")
    }

    fn insert(&mut self, tables: &mut BTreeMap<String, Table>) -> String {
        let (name, count) = (self.any(tables), 1 + self.prng.below(ROWS_AT_ONCE));
        tables.entry(name.clone()).or_default().rows += count;
        let rows: Vec<String> = (0..count)
            .map(|n| format!("({}, REPEAT('{n}-', 30), REPEAT('b', {}))", n % 7, n % 3 * 6000))
            .collect();
        format!("INSERT INTO {}.{name} (n, c, body) VALUES {}", self.schema, rows.join(", "))
    }

    /// Looks at what the server has; true if that is what was asked for and not answered.
    pub(super) fn verify(&mut self, conn: &mut mysql::Conn) -> Result<bool, String> {
        let found = self.found(conn)?;
        let asked = self.asked.take();
        if found == self.answered {
            return Ok(false);
        }
        if asked.as_ref() != Some(&found) {
            let answered = &self.answered;
            return Err(format!("DDL: {found:?} is there; answered was {answered:?}, asked for {asked:?}"));
        }
        self.answered = found;
        Ok(true)
    }

    fn found(&self, conn: &mut mysql::Conn) -> Result<Databases, String> {
        let schemas: Vec<String> = conn.query("SHOW DATABASES").map_err(|e| e.to_string())?;
        let mut found = Databases::new();
        for schema in schemas.into_iter().filter(|name| *name == self.schema || *name == self.other) {
            let names: Vec<String> =
                conn.query(format!("SHOW TABLES FROM {schema}")).map_err(|e| e.to_string())?;
            let mut tables = BTreeMap::new();
            for name in names {
                let table = table(conn, &format!("{schema}.{name}"))?;
                tables.insert(name, table);
            }
            found.insert(schema, tables);
        }
        Ok(found)
    }
}

/// A name that no table has.
fn free_name(tables: &BTreeMap<String, Table>, letter: &str) -> String {
    let mut names = (0..=TABLES).map(|number| format!("{letter}{number}"));
    names.find(|name| !tables.contains_key(name)).unwrap_or_default()
}

fn create_text(schema: &str, name: &str) -> String {
    format!(
        "CREATE TABLE {schema}.{name} (id INT AUTO_INCREMENT PRIMARY KEY, n INT, c VARCHAR(120), body TEXT, KEY n (n))"
    )
}

/// What is there of a table, which is sound.
fn table(conn: &mut mysql::Conn, name: &str) -> Result<Table, String> {
    check_table(conn, name)?;
    let said = |e: mysql::Error| format!("{name}: {e}");
    let text: Option<(String, String)> =
        conn.query_first(format!("SHOW CREATE TABLE {name}")).map_err(said)?;
    let (_, text) = text.ok_or_else(|| format!("{name} has no definition"))?;
    let comment = text.rsplit_once("COMMENT='").and_then(|(_, rest)| rest.strip_suffix('\''));
    let rows: Option<u64> = conn.query_first(format!("SELECT COUNT(*) FROM {name}")).map_err(said)?;
    let keys = text.lines().map(str::trim).filter_map(|line| match line.strip_prefix("PRIMARY KEY") {
        Some(_) => Some("PRIMARY".to_owned()),
        None => line.strip_prefix("KEY `").and_then(|rest| rest.split('`').next()).map(str::to_owned),
    });
    Ok(Table {
        comment: comment.unwrap_or_default().to_owned(),
        indexes: keys.collect(),
        has_extra: text.contains("`extra` varchar(20)"),
        is_wide: text.contains("`n` bigint"),
        rows: rows.unwrap_or_default(),
    })
}
