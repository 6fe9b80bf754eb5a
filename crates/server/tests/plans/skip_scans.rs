//! Jumps over the parts of an index: groups of which only the ends are read, and stretches after each value
//! of a part that no condition names. Both find what a scan finds.

#![allow(clippy::unwrap_used, reason = "test code")]

use std::path::Path;

use mysql::Conn;
use mysql::prelude::Queryable;
use testkit::conditions::Dice;
use testkit::runner::Target;
use testkit::server::TestServer;

const ROWS: usize = 6_000;

/// Few values: `a`, `s`, `d`; many: `b`, `c`. All but `c` may be NULL.
const COLUMNS: &str = "a INT, b INT, c SMALLINT NOT NULL, s VARCHAR(8) COLLATE utf8mb4_0900_ai_ci, d DATE, \
    n INT PRIMARY KEY, z INT NOT NULL DEFAULT 0";
const KEYS: &str =
    "KEY abc (a, b, c), KEY acb (a, c DESC, b), KEY sab (s DESC, a, b), KEY das (d, a, s), KEY sd (s, d, c)";

/// A server with equal rows in `indexed` and, without a key that serves, in `scanned`.
fn start(dice: &mut Dice) -> (TestServer, Conn) {
    let server = TestServer::start(Path::new(env!("CARGO_BIN_EXE_ratchetd")), &[]).unwrap();
    let mut conn = Target { port: server.port, user: "root".to_owned() }.connect(None).unwrap();
    for sql in [
        "CREATE DATABASE d".to_owned(),
        "USE d".to_owned(),
        format!("CREATE TABLE scanned ({COLUMNS})"),
        format!("CREATE TABLE indexed ({COLUMNS}, {KEYS})"),
    ] {
        conn.query_drop(sql).unwrap();
    }
    let rows: Vec<String> = (0..ROWS).map(|n| format!("({}, {n}, 0)", cells(dice))).collect();
    for some in rows.chunks(1_000) {
        conn.query_drop(format!("INSERT INTO scanned VALUES {}", some.join(", "))).unwrap();
    }
    conn.query_drop("INSERT INTO indexed SELECT * FROM scanned").unwrap();
    (server, conn)
}

fn cells(dice: &mut Dice) -> String {
    let mut or_null = |value: String| if dice.one_in(9) { "NULL".to_owned() } else { value };
    let nulls: [bool; 4] = std::array::from_fn(|_| or_null(String::new()) == "NULL");
    let values = [
        dice.below(4).to_string(),
        (dice.below(900)).to_string(),
        format!("'{}'", dice.pick(&["x", "X", "y", "", "zz "])),
        format!("'2026-01-0{}'", 1 + dice.below(3)),
    ];
    let [a, b, s, d] = std::array::from_fn(|at| if nulls[at] { "NULL" } else { &values[at] });
    format!("{a}, {b}, {}, {s}, {d}", dice.below(500))
}

/// Answers in the order of their texts, without regard to case.
fn answers(conn: &mut Conn, sql: &str) -> Vec<String> {
    let mut rows: Vec<String> = conn
        .query::<mysql::Row, _>(sql)
        .unwrap_or_else(|error| panic!("{sql}: {error}"))
        .into_iter()
        .map(|row| format!("{:?}", row.unwrap()).to_lowercase())
        .collect();
    rows.sort_unstable();
    rows
}

fn plan(conn: &mut Conn, sql: &str) -> String {
    conn.query_first(format!("EXPLAIN FORMAT=TREE {sql}")).unwrap().unwrap()
}

#[test]
fn the_ends_of_groups_are_what_a_scan_finds() {
    let mut dice = Dice::new(5);
    let (server, mut conn) = start(&mut dice);
    let shapes = [
        ("DISTINCT a", "", ""),
        ("DISTINCT s, a", "", ""),
        ("a, MIN(b)", "", "GROUP BY a"),
        ("a, MAX(b)", "", "GROUP BY a"),
        ("MAX(b) - MIN(b), a", "", "GROUP BY a HAVING MIN(b) IS NOT NULL OR a > 1"),
        ("a, MIN(b), MAX(b)", "WHERE b > 17", "GROUP BY a"),
        ("a, MIN(b), MAX(b)", "WHERE b BETWEEN 300 AND 310", "GROUP BY a"),
        ("a, MIN(c), MAX(c)", "WHERE b = 5", "GROUP BY a"),
        ("a, MAX(c)", "WHERE b IS NULL", "GROUP BY a"),
        ("a, MIN(b)", "WHERE s = 'x'", "GROUP BY a"),
        ("DISTINCT a", "WHERE s = 'X'", ""),
        ("DISTINCT d, a", "WHERE s = 'y'", ""),
        ("a, d", "", "GROUP BY d, a"),
        ("s, MAX(d)", "", "GROUP BY s"),
        ("DISTINCT a", "WHERE b = 7", "ORDER BY a DESC"),
        ("a, MIN(b)", "", "GROUP BY a ORDER BY a DESC LIMIT 2"),
        ("d", "WHERE a = 2", "GROUP BY d"),
        ("DISTINCT a", "WHERE s = NULL", ""),
        // Conditions on the groups' own columns.
        ("a, MIN(b), MAX(b)", "WHERE a IN (1, 3)", "GROUP BY a"),
        ("a, MAX(b)", "WHERE a IN (3, 1, NULL, 77, 3)", "GROUP BY a"),
        ("DISTINCT a", "WHERE a > 1", ""),
        ("DISTINCT s, a", "WHERE s >= 'x' AND s < 'zz'", ""),
        ("DISTINCT s", "WHERE s <> 'X'", ""),
        ("a, MIN(c), MAX(c)", "WHERE a BETWEEN 1 AND 2", "GROUP BY a"),
        ("a, MIN(c)", "WHERE a IS NOT NULL", "GROUP BY a"),
        ("a, MAX(c)", "WHERE a IS NULL OR a = 3", "GROUP BY a"),
        ("a, MIN(c), MAX(c)", "WHERE a IN (0, 2) AND b = 5", "GROUP BY a"),
        ("a, MIN(b)", "WHERE a <= 2 AND b > 600", "GROUP BY a"),
        ("DISTINCT d, a", "WHERE d IN ('2026-01-01', '2026-01-03') AND a IN (0, 1)", ""),
        ("DISTINCT a", "WHERE s = 'x' AND a IN (0, 3)", ""),
        ("DISTINCT d", "WHERE d > '2026-01-01 12:00:00'", ""),
        ("DISTINCT a", "WHERE a % 2 = 1", ""),
        ("a, MAX(b)", "WHERE a * 2 > 2.5 AND a < 3", "GROUP BY a"),
        ("DISTINCT a", "WHERE (a = 1 AND b = 5) OR a = 3", ""),
        ("a, MIN(b), MAX(b)", "WHERE a IN (1, 2) AND z = 0", "GROUP BY a"),
        ("s, MAX(a), MIN(a)", "WHERE s LIKE 'z%'", "GROUP BY s"),
        ("a, MAX(b)", "WHERE a IN (1, 2)", "GROUP BY a ORDER BY a DESC"),
        // Small groups: several of them end in one leaf.
        ("b, MIN(c)", "WHERE a = 2", "GROUP BY b"),
        ("a, b, MIN(c), MAX(c)", "WHERE a IN (0, 1) AND b BETWEEN 20 AND 60", "GROUP BY a, b"),
        ("DISTINCT a, b", "WHERE a IN (0, 1)", ""),
    ];
    let mut jumped = Vec::new();
    for with_change in [false, true] {
        if with_change {
            // Rows that are gone for this transaction alone, and new ones.
            conn.query_drop("BEGIN").unwrap();
            for table in ["scanned", "indexed"] {
                conn.query_drop(format!("DELETE FROM {table} WHERE a = 1 OR (a = 2 AND b < 400)")).unwrap();
                conn.query_drop(format!("INSERT INTO {table} VALUES (99, NULL, 1, 'x', NULL, -1, 0)"))
                    .unwrap();
            }
        }
        for (shown, condition, rest) in shapes {
            let read = |table: &str| format!("SELECT {shown} FROM {table} {condition} {rest}");
            let expected = answers(&mut conn, &read("scanned"));
            assert_eq!(answers(&mut conn, &read("indexed")), expected, "{}", read("indexed"));
            if plan(&mut conn, &read("indexed")).contains("skip scan for grouping") {
                jumped.push(read("indexed"));
            }
        }
    }
    assert!(jumped.len() > 50, "{jumped:#?}");
    // As another session sees it that reads what is not committed, and one that does not.
    let mut other = Target { port: server.port, user: "root".to_owned() }.connect(Some("d")).unwrap();
    for level in ["READ UNCOMMITTED", "READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"] {
        other.query_drop(format!("SET SESSION TRANSACTION ISOLATION LEVEL {level}")).unwrap();
        for (shown, condition, rest) in shapes {
            let read = |table: &str| format!("SELECT {shown} FROM {table} {condition} {rest}");
            let expected = answers(&mut other, &read("scanned"));
            assert_eq!(answers(&mut other, &read("indexed")), expected, "{level}: {}", read("indexed"));
        }
    }
    // Reads that lock although their plans do not say so.
    conn.query_drop("ROLLBACK").unwrap();
    other.query_drop("SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE").unwrap();
    other.query_drop("CREATE TABLE copied (shown VARCHAR(30))").unwrap();
    for (shown, condition, rest) in shapes {
        let read = |table: &str| format!("SELECT {shown} FROM {table} {condition} {rest}");
        other.query_drop("BEGIN").unwrap();
        let expected = answers(&mut other, &read("scanned"));
        assert_eq!(answers(&mut other, &read("indexed")), expected, "locking: {}", read("indexed"));
        other.query_drop("COMMIT").unwrap();
    }
    for (kind, condition) in
        [("a", "b = 5"), ("MAX(b)", "s = 'x'"), ("DISTINCT d", "a = 2"), ("c", "b IS NULL")]
    {
        let copied = |conn: &mut Conn, table: &str| {
            conn.query_drop("DELETE FROM copied").unwrap();
            let read = format!("SELECT {kind} FROM {table} WHERE {condition}");
            conn.query_drop(format!("INSERT INTO copied {read}")).unwrap();
            answers(conn, "SELECT * FROM copied")
        };
        assert_eq!(copied(&mut conn, "indexed"), copied(&mut conn, "scanned"), "{kind} of {condition}");
    }
    for sql in ["SELECT DISTINCT a FROM indexed FOR UPDATE", "SELECT a, SUM(b) FROM indexed GROUP BY a"] {
        assert!(!plan(&mut conn, sql).contains("skip scan"), "{sql}");
    }
}

#[test]
fn stretches_behind_each_value_are_what_a_scan_finds() {
    let seed = 20_261_126;
    let mut dice = Dice::new(seed);
    let (_server, mut conn) = start(&mut dice);
    let mut jumped = 0;
    for at in 0..500 {
        let low = dice.below(900);
        let high = low + dice.below(30);
        let conditions = [
            format!("b = {low}"),
            format!("b BETWEEN {low} AND {high}"),
            format!("b > {}", 870 + dice.below(30)),
            format!("b < {}", dice.below(9)),
            "b IS NULL AND c < 20".to_owned(),
            format!("b = {low} AND c > 100"),
            format!("c = {}", dice.below(500)),
            format!("c BETWEEN {} AND {}", dice.below(250), 250 + dice.below(9)),
            format!("s = 'x' AND b = {low}"),
            format!("s = 'y ' AND b BETWEEN {low} AND {high}"),
            format!("b = {low} AND n % 3 = 1"),
            // A range of the part that is jumped over.
            format!("a > 1 AND b = {low}"),
            format!("a <> 2 AND b BETWEEN {low} AND {high}"),
            format!("a BETWEEN 1 AND 2 AND c > {}", 480 + dice.below(20)),
            format!("s LIKE 'z%' AND a = {}", dice.below(4)),
            format!("s > 'x' AND d = '2026-01-0{}' AND c < 100", 1 + dice.below(3)),
            format!("s < 'y' AND a IS NULL AND b > {}", 800 + dice.below(100)),
            format!("d >= '2026-01-02' AND a = {} AND s = 'X'", dice.below(4)),
        ];
        let condition = dice.pick(&conditions);
        let shown = *dice.pick(&["n", "n + z", "MIN(n), COUNT(*), SUM(b)", "a, b, c"]);
        let read = |table: &str| format!("SELECT {shown} FROM {table} WHERE {condition}");
        let expected = answers(&mut conn, &read("scanned"));
        let found = answers(&mut conn, &read("indexed"));
        assert_eq!(found, expected, "seed {seed}, the {at}th: {}", read("indexed"));
        jumped += u32::from(plan(&mut conn, &read("indexed")).contains("skip scan on"));
        if at % 10 == 0 {
            let sql = format!("{} FOR UPDATE", read("indexed"));
            assert!(!plan(&mut conn, &sql).contains("skip scan"), "{sql}");
            assert_eq!(answers(&mut conn, &sql), expected, "{sql}");
        }
    }
    assert!(jumped > 150, "{jumped}");
}
