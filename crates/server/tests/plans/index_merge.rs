//! Disjunctions whose terms different indexes serve: each row once, in plain and locking reads, joins and
//! changes.

#![allow(clippy::unwrap_used, reason = "test code")]

use std::path::Path;
use std::time::{Duration, Instant};

use mysql::Conn;
use mysql::prelude::Queryable;
use testkit::conditions::{Column, Dice, Kind};
use testkit::runner::Target;
use testkit::server::{TestServer, of_build};

/// Conditions that are tried; `RATCHET_INDEX_MERGE` asks for another number.
fn conditions() -> usize {
    of_build(1500, 6000)
}

const COLUMNS: [Column; 7] = [
    ("a", "INT", Kind::Integer),
    ("b", "SMALLINT NOT NULL", Kind::Integer),
    ("u", "BIGINT UNSIGNED", Kind::Integer),
    ("e", "DECIMAL(5,1)", Kind::Number),
    ("c", "VARCHAR(8) COLLATE utf8mb4_0900_ai_ci", Kind::Text),
    ("k", "VARCHAR(8) COLLATE utf8mb4_bin NOT NULL", Kind::Text),
    ("d", "DATETIME", Kind::Time),
];

const KEYS: &str =
    "KEY ab (a, b), KEY b (b), KEY u (u DESC), KEY ea (e, a), KEY c (c), KEY k (k(2)), KEY d (d)";

/// A server with the same rows in `indexed` and, without keys that serve, in `scanned`.
fn start(dice: &mut Dice) -> (TestServer, Conn) {
    let server = TestServer::start(Path::new(env!("CARGO_BIN_EXE_ratchetd")), &[]).unwrap();
    let mut conn = Target { port: server.port, user: "root".to_owned() }.connect(None).unwrap();
    let columns: String = COLUMNS.iter().map(|(name, ty, _)| format!("{name} {ty}, ")).collect();
    let rows: Vec<String> = (0..400).map(|n| format!("({}{n}, 0)", dice.cells(&COLUMNS))).collect();
    for sql in [
        "CREATE DATABASE d".to_owned(),
        "USE d".to_owned(),
        // Changes would fail at numbers that are none.
        "SET sql_mode = ''".to_owned(),
        format!("CREATE TABLE scanned ({columns} n INT PRIMARY KEY, z INT NOT NULL)"),
        format!("CREATE TABLE indexed ({columns} n INT PRIMARY KEY, z INT NOT NULL, {KEYS})"),
        format!("INSERT INTO scanned VALUES {}", rows.join(", ")),
        "INSERT INTO indexed SELECT * FROM scanned".to_owned(),
    ] {
        conn.query_drop(sql).unwrap();
    }
    (server, conn)
}

fn numbers(conn: &mut Conn, sql: &str) -> Vec<i64> {
    let mut rows: Vec<i64> = conn.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    rows.sort_unstable();
    rows
}

fn condition(dice: &mut Dice) -> String {
    let terms: Vec<String> = (0..2 + dice.below(3))
        .map(|_| {
            let column = *dice.pick(&COLUMNS);
            match dice.below(4) {
                0 => format!("({} AND {})", dice.condition(&[column], 0), dice.condition(&COLUMNS[..2], 0)),
                1 => format!("n = {}", dice.below(400)),
                _ => dice.condition(&[column], 1),
            }
        })
        .collect();
    let either = format!("({})", terms.join(" OR "));
    match dice.below(3) {
        0 => format!("{either} AND {}", dice.condition(&COLUMNS, 1)),
        _ => either,
    }
}

#[test]
fn rows_of_several_indexes_come_once() {
    let seed = 20_261_126;
    let mut dice = Dice::new(seed);
    let (_server, mut conn) = start(&mut dice);
    let asked = std::env::var("RATCHET_INDEX_MERGE").ok().map(|count| count.parse().unwrap());
    let count = asked.unwrap_or(conditions());
    let (mut merged, mut found) = (0, 0);
    for at in 0..count {
        let condition = condition(&mut dice);
        let what = format!("seed {seed}, the {at}th: {condition}");
        let expected = numbers(&mut conn, &format!("SELECT n FROM scanned WHERE {condition}"));
        let shown = if at % 2 == 0 { "n + z" } else { "n" };
        let read = format!("SELECT {shown} FROM indexed WHERE {condition}");
        assert_eq!(numbers(&mut conn, &read), expected, "{what}");
        found += expected.len();
        let plan: String = conn.query_first(format!("EXPLAIN FORMAT=TREE {read}")).unwrap().unwrap();
        let is_merged = plan.contains("Index merge");
        merged += usize::from(is_merged);
        if !is_merged {
            continue;
        }
        conn.query_drop("BEGIN").unwrap();
        match at % 4 {
            0 => assert_eq!(numbers(&mut conn, &format!("{read} FOR UPDATE")), expected, "locking, {what}"),
            1 => {
                let change =
                    format!("UPDATE indexed SET z = z + 1, a = 3, b = b + 1, c = 'x' WHERE {condition}");
                conn.query_drop(&change).unwrap_or_else(|error| panic!("{change}: {error}"));
                let changed = numbers(&mut conn, "SELECT n FROM indexed WHERE z = 1");
                assert_eq!(changed, expected, "UPDATE, {what}");
            }
            2 => {
                conn.query_drop(format!("DELETE FROM indexed WHERE {condition}")).unwrap();
                assert_eq!(conn.affected_rows(), expected.len() as u64, "DELETE, {what}");
            }
            _ => {
                let join = |table: &str| {
                    let condition = condition.replace("n = ", "i.n = o.m + ");
                    let outer = "(SELECT n AS m FROM scanned WHERE n < 9) o";
                    format!("SELECT i.n FROM {outer} JOIN {table} i WHERE {condition}")
                };
                let expected = numbers(&mut conn, &join("scanned"));
                assert_eq!(numbers(&mut conn, &join("indexed")), expected, "joined, {what}");
            }
        }
        conn.query_drop("ROLLBACK").unwrap();
    }
    assert!(merged * 5 > count, "{merged} of {count} by several indexes");
    assert!(found > count * 10, "{found} rows");
}

#[test]
fn only_the_rows_found_are_locked() {
    let (server, mut conn) = start(&mut Dice::new(3));
    let mut other = Target { port: server.port, user: "root".to_owned() }.connect(Some("d")).unwrap();
    let rows: Vec<String> =
        (0..5_000).map(|n| format!("({n}, {}, {}, 'text')", n % 1_000, n % 997)).collect();
    for sql in [
        "CREATE TABLE messages (id INT PRIMARY KEY, sender INT, receiver INT, body VARCHAR(20), KEY s (sender), KEY r (receiver))",
        &format!("INSERT INTO messages VALUES {}", rows.join(", ")),
        "SET transaction_isolation = 'READ-COMMITTED'",
    ] {
        conn.query_drop(sql).unwrap();
    }
    conn.query_drop("BEGIN").unwrap();
    let read = "SELECT id FROM messages WHERE sender = 5 OR receiver = 5 FOR UPDATE";
    let plan: String = conn.query_first(format!("EXPLAIN FORMAT=TREE {read}")).unwrap().unwrap();
    assert!(plan.contains("Index merge"), "{plan}");
    let found = numbers(&mut conn, read);
    let expected: Vec<i64> = (0..5_000).filter(|n| n % 1_000 == 5 || n % 997 == 5).collect();
    assert_eq!(found, expected);
    let free = numbers(&mut other, "SELECT id FROM messages FOR UPDATE SKIP LOCKED");
    assert_eq!(free.len(), 5_000 - expected.len());
    conn.query_drop("COMMIT").unwrap();
}

/// While a locking read waits for a row of its first access, another transaction moves a row that the second
/// access finds to the first one's key. Each access would leave that row to the other.
#[test]
fn a_row_that_moves_between_two_accesses_is_found() {
    let (server, mut conn) = start(&mut Dice::new(4));
    let connect = || Target { port: server.port, user: "root".to_owned() }.connect(Some("d")).unwrap();
    let (mut mover, mut reader) = (connect(), connect());
    let rows: Vec<String> = (0..3_000).map(|n| format!("({n}, {}, {})", n % 300, n % 500)).collect();
    for sql in [
        "CREATE TABLE moving (id INT PRIMARY KEY, a INT, b INT, KEY a (a), KEY b (b))",
        &format!("INSERT INTO moving VALUES {}", rows.join(", ")),
    ] {
        conn.query_drop(sql).unwrap();
    }
    conn.query_drop("BEGIN").unwrap();
    conn.query_drop("SELECT * FROM moving WHERE id = 2707 FOR UPDATE").unwrap();
    reader.query_drop("SET transaction_isolation = 'READ-COMMITTED'").unwrap();
    let read = "SELECT id FROM moving WHERE a = 7 OR b = 400 FOR UPDATE";
    let plan: String = reader.query_first(format!("EXPLAIN FORMAT=TREE {read}")).unwrap().unwrap();
    assert!(plan.contains("Index merge"), "{plan}");
    let waiting = std::thread::spawn(move || {
        reader.query_drop("BEGIN").unwrap();
        numbers(&mut reader, read)
    });
    let waits = "SELECT COUNT(*) FROM performance_schema.data_lock_waits";
    let deadline = Instant::now() + Duration::from_secs(30);
    while mover.query_first::<u64, _>(waits).unwrap().unwrap() == 0 {
        assert!(Instant::now() < deadline, "the reader does not wait");
    }
    mover.query_drop("UPDATE moving SET a = 7 WHERE id = 400").unwrap();
    conn.query_drop("COMMIT").unwrap();
    let expected: Vec<i64> = (0..3_000).filter(|n| n % 300 == 7 || n % 500 == 400).collect();
    assert_eq!(waiting.join().unwrap(), expected);
}
