//! Two conditions that different indexes serve and that leave many rows each: the rows of both are what a
//! scan finds.

#![allow(clippy::unwrap_used, reason = "test code")]

use std::path::Path;

use mysql::Conn;
use mysql::prelude::Queryable;
use testkit::conditions::Dice;
use testkit::runner::Target;
use testkit::server::{TestServer, of_build};

const ROWS: usize = 6_000;
/// Conditions that are tried; `RATCHET_INDEX_INTERSECTION` asks for another number.
fn conditions() -> usize {
    of_build(300, 3_000)
}

const COLUMNS: &str = "a INT, b SMALLINT NOT NULL, c VARCHAR(12) COLLATE utf8mb4_0900_ai_ci, d DATE, t VARCHAR(40) NOT NULL, z INT NOT NULL";
const KEYS: &str = "KEY a (a), KEY b (b DESC), KEY c (c), KEY dz (d, z)";

/// A server with equal rows in `indexed`, in `wide`, whose clustered key has two parts, and, without a key
/// that serves, in `scanned`.
fn start(dice: &mut Dice) -> (TestServer, Conn) {
    let server = TestServer::start(Path::new(env!("CARGO_BIN_EXE_ratchetd")), &[]).unwrap();
    let mut conn = Target { port: server.port, user: "root".to_owned() }.connect(None).unwrap();
    for sql in [
        "CREATE DATABASE d".to_owned(),
        "USE d".to_owned(),
        format!("CREATE TABLE scanned (n INT PRIMARY KEY, {COLUMNS})"),
        format!("CREATE TABLE indexed (n INT PRIMARY KEY, {COLUMNS}, {KEYS})"),
        format!("CREATE TABLE wide (n INT NOT NULL, {COLUMNS}, PRIMARY KEY (t, n), {KEYS})"),
    ] {
        conn.query_drop(sql).unwrap();
    }
    let rows: Vec<String> = (0..ROWS).map(|n| format!("({n}, {})", cells(dice))).collect();
    for some in rows.chunks(1_000) {
        conn.query_drop(format!("INSERT INTO scanned VALUES {}", some.join(", "))).unwrap();
    }
    for table in ["indexed", "wide"] {
        conn.query_drop(format!("INSERT INTO {table} SELECT * FROM scanned")).unwrap();
    }
    (server, conn)
}

/// Twelve values of each column but the last.
fn cells(dice: &mut Dice) -> String {
    let mut or_null = |value: String| if dice.one_in(12) { "NULL".to_owned() } else { value };
    let [a, c, d] = std::array::from_fn(|_| or_null(String::new()) == "NULL");
    let a = if a { "NULL".to_owned() } else { dice.below(12).to_string() };
    let c =
        if c { "NULL".to_owned() } else { format!("'{} {}'", dice.pick(&["x", "X", "y"]), dice.below(6)) };
    let d = if d { "NULL".to_owned() } else { format!("'2026-01-{:02}'", 1 + dice.below(12)) };
    format!("{a}, {}, {c}, {d}, 'text {}', {}", dice.below(12), dice.below(50), dice.below(1_000))
}

/// A condition on one column that leaves about a twelfth of the rows.
fn term(dice: &mut Dice, column: &str) -> String {
    let value = dice.below(12);
    match (column, dice.below(4)) {
        ("a", 0) => "a IS NULL".to_owned(),
        ("a", 1) => format!("a <=> {value}"),
        ("b", 0) => format!("b BETWEEN {value} AND {value}"),
        ("b", 1) => format!("b IN ({value}, 700)"),
        ("c", 0) => format!("c LIKE 'x {}%'", dice.below(6)),
        ("c", _) => format!("c = 'x {}'", dice.below(6)),
        ("d", 0) => "d IS NULL".to_owned(),
        ("d", 1) => format!("d = '2026-01-{:02}' AND z < 900", 1 + value),
        ("d", _) => format!("d = '2026-01-{:02}'", 1 + value),
        _ => format!("{column} = {value}"),
    }
}

fn condition(dice: &mut Dice) -> String {
    let first = *dice.pick(&["a", "b", "c", "d"]);
    let others: Vec<&str> = ["a", "b", "c", "d"].into_iter().filter(|column| *column != first).collect();
    let second = *dice.pick(&others);
    let mut terms = vec![term(dice, first), term(dice, second)];
    match dice.below(5) {
        0 => terms.push(format!("z < {}", dice.below(1_000))),
        1 => terms.push(format!("n % 3 = {}", dice.below(3))),
        _ => {}
    }
    terms.join(" AND ")
}

fn answers(conn: &mut Conn, sql: &str) -> Vec<String> {
    let rows = conn.query::<mysql::Row, _>(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    let mut rows: Vec<String> = rows.into_iter().map(|row| format!("{:?}", row.unwrap())).collect();
    rows.sort_unstable();
    rows
}

fn plan(conn: &mut Conn, sql: &str) -> String {
    conn.query_first(format!("EXPLAIN FORMAT=TREE {sql}")).unwrap().unwrap()
}

fn is_intersection(plan: &str) -> bool {
    plan.contains("Index intersection")
}

#[test]
fn rows_of_both_conditions_are_what_a_scan_finds() {
    let seed = 20_261_125;
    let mut dice = Dice::new(seed);
    let (_server, mut conn) = start(&mut dice);
    let asked = std::env::var("RATCHET_INDEX_INTERSECTION").ok().map(|count| count.parse().unwrap());
    let count = asked.unwrap_or(conditions());
    let (mut intersected, mut covered, mut found_rows) = (0, 0, 0);
    for at in 0..count {
        if at == count / 2 {
            // Rows that are changed or gone for this transaction alone, and new ones.
            conn.query_drop("BEGIN").unwrap();
            for table in ["scanned", "indexed", "wide"] {
                conn.query_drop(format!("UPDATE {table} SET a = b, b = 3 WHERE n % 7 = 1")).unwrap();
                conn.query_drop(format!("DELETE FROM {table} WHERE n % 11 = 2")).unwrap();
                conn.query_drop(format!(
                    "INSERT INTO {table} VALUES (-1, 5, 3, 'x 1', '2026-01-05', 'new', 0)"
                ))
                .unwrap();
            }
        }
        let condition = condition(&mut dice);
        let shown =
            *dice.pick(&["n, t", "n", "COUNT(*)", "COUNT(*), MIN(z)", "a, b, c, d, z", "DISTINCT a, b"]);
        let rest = if shown == "n, t" && dice.one_in(3) { " ORDER BY n DESC" } else { "" };
        let table = *dice.pick(&["indexed", "wide"]);
        let read = |table: &str| format!("SELECT {shown} FROM {table} WHERE {condition}{rest}");
        let what = format!("seed {seed}, the {at}th: {}", read(table));
        let expected = answers(&mut conn, &read("scanned"));
        assert_eq!(answers(&mut conn, &read(table)), expected, "{what}");
        let plan = plan(&mut conn, &read(table));
        intersected += usize::from(is_intersection(&plan));
        // Both accesses read entries alone.
        covered += usize::from(is_intersection(&plan) && plan.matches("Covering index").count() == 2);
        found_rows += expected.len();
    }
    assert!(intersected * 3 > count, "{intersected} of {count} by two indexes");
    assert!(covered * 10 > count, "{covered} of {count} by entries alone");
    assert!(found_rows > count * 5, "{found_rows} rows");
}

#[test]
fn reads_that_lock_use_one_index() {
    let mut dice = Dice::new(3);
    let (server, mut conn) = start(&mut dice);
    let read = "SELECT n, t FROM indexed WHERE a = 5 AND b = 3";
    let expected = answers(&mut conn, "SELECT n, t FROM scanned WHERE a = 5 AND b = 3");
    let shown = plan(&mut conn, read);
    assert!(is_intersection(&shown), "{shown}");
    assert_eq!(answers(&mut conn, read), expected);
    for sql in [
        format!("{read} FOR UPDATE"),
        format!("{read} FOR SHARE"),
        "UPDATE indexed SET t = 'x' WHERE a = 5 AND b = 3".to_owned(),
        "DELETE FROM indexed WHERE a = 5 AND b = 3".to_owned(),
        "INSERT INTO scanned SELECT n + 10000, a, b, c, d, t, z FROM indexed WHERE a = 5 AND b = 3"
            .to_owned(),
    ] {
        let shown = plan(&mut conn, &sql);
        assert!(!is_intersection(&shown), "{sql}\n{shown}");
    }
    // A transaction whose level the plan does not know of: the rows found are locked all the same.
    let mut other = Target { port: server.port, user: "root".to_owned() }.connect(Some("d")).unwrap();
    for (at, read) in [read, "SELECT COUNT(*) FROM indexed WHERE a = 5 AND b = 3"].into_iter().enumerate() {
        conn.query_drop("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE").unwrap();
        conn.query_drop("BEGIN").unwrap();
        let found = answers(&mut conn, read);
        assert!(at > 0 || found == expected);
        other.query_drop("SET innodb_lock_wait_timeout = 1").unwrap();
        other.query_drop("INSERT INTO indexed VALUES (-5, 5, 3, NULL, NULL, '', 0)").unwrap_err();
        conn.query_drop("COMMIT").unwrap();
    }
}
