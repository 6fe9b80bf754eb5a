//! The two copies of a file's schema.

use std::collections::BTreeMap;

use mysql::Conn;
use mysql::prelude::Queryable;

use super::file::File;

/// Schema with the table `numbers`: what data are made of.
const BASE: &str = "ap_base";

/// Numbers in it, from 0 on.
const NUMBERS: u32 = 20_000;

/// A prime above [`NUMBERS`]: multiplied by another number, and divided by this, all are in another order.
const SHUFFLE: &str = "n * 7919 % 20011 DESC";

/// Which copy of a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Copy {
    /// As the file says, rows in the order of their numbers.
    Plain,
    /// Its keys in the reverse order, its rows shuffled.
    Shuffled,
}

/// Makes the table of numbers.
pub(super) fn make_numbers(conn: &mut Conn) -> Result<(), String> {
    execute(conn, &format!("DROP DATABASE IF EXISTS {BASE}"))?;
    execute(conn, &format!("CREATE DATABASE {BASE}"))?;
    execute(conn, &format!("CREATE TABLE {BASE}.numbers (n INT PRIMARY KEY)"))?;
    let numbers: Vec<String> = (0..NUMBERS).map(|n| format!("({n})")).collect();
    for some in numbers.chunks(5_000) {
        execute(conn, &format!("INSERT INTO {BASE}.numbers VALUES {}", some.join(",")))?;
    }
    Ok(())
}

/// Makes a copy of the schema of `file`, called `name`, and goes there.
pub(super) fn make(conn: &mut Conn, name: &str, file: &File, copy: Copy) -> Result<(), String> {
    let suffix = if copy == Copy::Plain { "plain" } else { "shuffled" };
    let schema = format!("ap_{name}_{suffix}");
    execute(conn, &format!("DROP DATABASE IF EXISTS {schema}"))?;
    execute(conn, &format!("CREATE DATABASE {schema} CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_ai_ci"))?;
    execute(conn, &format!("USE {schema}"))?;
    for statement in file.setup.iter().filter(|statement| !statement.starts_with('#')) {
        if statement.starts_with("CREATE ") {
            let statement =
                if copy == Copy::Plain { statement.clone() } else { with_reversed_keys(statement) };
            execute(conn, &statement)?;
        } else {
            let order = if copy == Copy::Plain { "n" } else { SHUFFLE };
            let statement = statement.replace("FROM numbers", &format!("FROM {BASE}.numbers"));
            execute(conn, &format!("{statement} ORDER BY {order}"))?;
        }
    }
    Ok(())
}

/// Runs a statement for its effect.
pub(super) fn execute(conn: &mut Conn, sql: &str) -> Result<(), String> {
    conn.query_drop(sql).map_err(|error| format!("{}: {error}", sql.chars().take(300).collect::<String>()))
}

/// The definition of a table with its secondary keys, a line each, in the reverse order.
fn with_reversed_keys(create: &str) -> String {
    let lines: Vec<&str> = create.lines().map(|line| line.trim_end_matches(',')).collect();
    let mut keys: Vec<&str> = lines.iter().copied().filter(|line| secondary_key(line).is_some()).collect();
    let next = |line: &&str| if secondary_key(line).is_some() { keys.pop() } else { None };
    let lines: Vec<&str> = lines.iter().scan(next, |next, line| Some(next(line).unwrap_or(line))).collect();
    let last = lines.len() - 1;
    let separated = |(at, line): (usize, &&str)| {
        let comma = if at > 0 && at + 1 < last { "," } else { "" };
        format!("{line}{comma}")
    };
    lines.iter().enumerate().map(separated).collect::<Vec<_>>().join("\n")
}

/// Name of the secondary key that a line of a definition declares.
fn secondary_key(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let rest = line.strip_prefix("UNIQUE ").unwrap_or(line).strip_prefix("KEY ")?;
    rest.split_whitespace().next()
}

/// Names of tables and their keys.
pub(super) fn keys(file: &File) -> BTreeMap<String, Vec<String>> {
    let creates = file.setup.iter().filter_map(|statement| {
        let table = statement.strip_prefix("CREATE TABLE ")?.split_whitespace().next()?;
        let primary = statement.contains("PRIMARY KEY").then_some("PRIMARY");
        let keys = primary.into_iter().chain(statement.lines().filter_map(secondary_key));
        Some((table.to_owned(), keys.map(str::to_owned).collect()))
    });
    creates.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secondary_keys_change_places_and_nothing_else_does() {
        let create = "CREATE TABLE t (\n    id INT,\n    PRIMARY KEY (id),\n    KEY a (a, b),\n    UNIQUE KEY u (u)\n)";
        let reversed = "CREATE TABLE t (\n    id INT,\n    PRIMARY KEY (id),\n    UNIQUE KEY u (u),\n    KEY a (a, b)\n)";
        assert_eq!(with_reversed_keys(create), reversed);
        let file = File { setup: vec![create.to_owned()], queries: Vec::new() };
        assert_eq!(keys(&file)["t"], ["PRIMARY", "a", "u"]);
    }
}
