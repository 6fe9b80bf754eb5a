//! Left joins of which only the rows without a partner are wanted: the same rows as by a left join and a
//! filter, in all the forms of a join, read no further than the first partner.

#![allow(clippy::unwrap_used, reason = "test code")]

use std::path::Path;

use mysql::Conn;
use mysql::prelude::Queryable;
use testkit::conditions::{Column, Dice, Kind};
use testkit::runner::Target;
use testkit::server::{TestServer, of_build};

fn queries() -> usize {
    of_build(400, 5000)
}

const COLUMNS: [Column; 4] = [
    ("a", "INT", Kind::Integer),
    ("b", "SMALLINT NOT NULL", Kind::Integer),
    ("c", "VARCHAR(8)", Kind::Text),
    ("e", "DECIMAL(5,1)", Kind::Number),
];

/// A server with the outer rows `o` and the inner rows `i`.
fn start(dice: &mut Dice) -> (TestServer, Conn) {
    let server = TestServer::start(Path::new(env!("CARGO_BIN_EXE_ratchetd")), &[]).unwrap();
    let mut conn = Target { port: server.port, user: "root".to_owned() }.connect(None).unwrap();
    let columns: String = COLUMNS.iter().map(|(name, ty, _)| format!("{name} {ty}, ")).collect();
    for sql in ["CREATE DATABASE d", "USE d", "SET sql_mode = ''"] {
        conn.query_drop(sql).unwrap();
    }
    for (table, keys, rows) in [("o", "", 150), ("i", ", KEY ab (a, b), KEY b (b), KEY c (c)", 300)] {
        conn.query_drop(format!("CREATE TABLE {table} ({columns} n INT PRIMARY KEY, x INT NOT NULL{keys})"))
            .unwrap();
        let rows: Vec<String> =
            (0..rows).map(|n| format!("({}{}, {})", dice.cells(&COLUMNS), n * 2, n % 7)).collect();
        conn.query_drop(format!("INSERT INTO {table} VALUES {}", rows.join(", "))).unwrap();
    }
    (server, conn)
}

fn numbers(conn: &mut Conn, sql: &str) -> Vec<i64> {
    let mut rows: Vec<i64> = conn.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    rows.sort_unstable();
    rows
}

#[test]
fn rows_without_a_partner_are_those_that_a_left_join_fills_with_nulls() {
    let seed = 20_261_128;
    let mut dice = Dice::new(seed);
    let (_server, mut conn) = start(&mut dice);
    let (mut nested, mut hashed, mut found) = (0, 0, 0);
    for at in 0..queries() {
        let equal =
            *dice.pick(&["i.a = o.a", "i.b = o.b", "i.n = o.n", "i.n = o.x", "i.c = o.c", "i.e = o.e"]);
        let mut on = vec![equal.to_owned()];
        on.extend(dice.one_in(3).then(|| "i.b <= o.b".to_owned()));
        let own = *dice.pick(&["i.x = 3", "i.x < 5", "i.a IS NULL", "i.e > 1"]);
        on.extend(dice.one_in(2).then(|| own.to_owned()));
        let hint = *dice.pick(&["", "IGNORE INDEX (PRIMARY, ab, b, c)"]);
        let absent = *dice.pick(&["i.n", "i.x", "i.b"]);
        let filter = *dice.pick(&["TRUE", "o.x = 2", "o.a > 1", "i.a IS NULL", "COALESCE(i.x, o.x) < 4"]);
        let tail = if dice.one_in(4) { " ORDER BY o.n LIMIT 5" } else { "" };
        let from = format!("FROM o LEFT JOIN i {hint} ON {}", on.join(" AND "));
        // The sum hides from the planner what is asked for.
        let oracle = format!("SELECT o.n {from} WHERE ({absent} IS NULL) + 0 = 1 AND {filter}{tail}");
        let read = format!("SELECT o.n {from} WHERE {absent} IS NULL AND {filter}{tail}");
        let expected = numbers(&mut conn, &oracle);
        assert_eq!(numbers(&mut conn, &read), expected, "seed {seed}, the {at}th: {read}");
        let locking = format!("{read} FOR UPDATE");
        assert_eq!(numbers(&mut conn, &locking), expected, "seed {seed}, the {at}th: {locking}");
        let count = read.replace("SELECT o.n", "SELECT COUNT(*), SUM(o.x), COUNT(i.x)");
        let (rows, _, inner): (usize, Option<i64>, u64) =
            conn.query_first(&count).unwrap().unwrap_or_default();
        if tail.is_empty() {
            assert_eq!((rows, inner), (expected.len(), 0), "seed {seed}, the {at}th: {count}");
        }
        found += expected.len();
        let plan: String = conn.query_first(format!("EXPLAIN FORMAT=TREE {read}")).unwrap().unwrap();
        nested += usize::from(plan.contains("Nested loop antijoin"));
        hashed += usize::from(plan.contains("Hash antijoin"));
    }
    assert!(nested * 4 > queries() && hashed * 8 > queries(), "{nested} nested, {hashed} hashed");
    assert!(found > queries() * 5, "{found} rows");
}

#[test]
fn nulls_of_the_partner_itself_make_no_antijoin() {
    let mut dice = Dice::new(7);
    let (_server, mut conn) = start(&mut dice);
    for sql in ["CREATE TABLE p (id INT PRIMARY KEY, v INT)", "INSERT INTO p VALUES (0, NULL), (2, 5)"] {
        conn.query_drop(sql).unwrap();
    }
    let read = "SELECT o.n FROM o LEFT JOIN p ON p.id = o.n WHERE p.v IS NULL AND o.n < 6";
    assert_eq!(numbers(&mut conn, read), [0, 4]);
    let inner = "SELECT o.n FROM o LEFT JOIN (p LEFT JOIN i ON i.n = p.v) ON p.id = o.n WHERE i.n IS NULL AND o.n < 6";
    assert_eq!(numbers(&mut conn, inner), [0, 2, 4]);
}
