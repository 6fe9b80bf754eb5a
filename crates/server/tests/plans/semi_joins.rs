//! Subqueries in WHERE, whichever way they are read: as a list that leads an index or is looked into, or row
//! by row. What they find is what their value finds as an operand, which no rule of the planner touches.

#![allow(clippy::unwrap_used, reason = "test code")]

use std::path::Path;

use mysql::Conn;
use mysql::prelude::Queryable;
use testkit::conditions::{Column, Dice, Kind};
use testkit::runner::Target;
use testkit::server::{TestServer, of_build};

/// Conditions that are tried; `RATCHET_SEMI_JOINS` asks for another number.
fn conditions() -> usize {
    of_build(1000, 4000)
}

/// The columns but the row's number and the one that changes.
const COLUMNS: [Column; 9] = [
    ("a", "INT", Kind::Integer),
    ("b", "SMALLINT NOT NULL", Kind::Integer),
    ("u", "BIGINT UNSIGNED NOT NULL", Kind::Integer),
    ("e", "DECIMAL(5,1)", Kind::Number),
    ("f", "DOUBLE NOT NULL", Kind::Number),
    ("c", "VARCHAR(8) COLLATE utf8mb4_0900_ai_ci", Kind::Text),
    ("k", "VARCHAR(8) COLLATE utf8mb4_bin NOT NULL", Kind::Text),
    ("d", "DATETIME", Kind::Time),
    ("g", "DATE NOT NULL", Kind::Time),
];

const KEYS: &str = "KEY a (a), KEY ba (b, a), KEY ub (u DESC, b), KEY e (e), KEY f (f), KEY c (c), KEY k (k), KEY d (d), KEY g (g)";

/// A server with an outer and two inner tables, one without indexes.
fn start(dice: &mut Dice) -> (TestServer, Conn) {
    let server = TestServer::start(Path::new(env!("CARGO_BIN_EXE_ratchetd")), &[]).unwrap();
    let mut conn = Target { port: server.port, user: "root".to_owned() }.connect(None).unwrap();
    let columns: String = COLUMNS.iter().map(|(name, ty, _)| format!("{name} {ty}, ")).collect();
    // Changes would fail at numbers that are none.
    for sql in ["CREATE DATABASE d", "USE d", "SET sql_mode = ''"] {
        conn.query_drop(sql).unwrap();
    }
    for (table, keys, rows) in [("o", KEYS, 200), ("i", KEYS, 60), ("plain", "KEY z (z)", 30)] {
        let create =
            format!("CREATE TABLE {table} ({columns} n INT PRIMARY KEY, z INT NOT NULL DEFAULT 0, {keys})");
        conn.query_drop(create).unwrap();
        let rows: Vec<String> = (0..rows).map(|n| format!("({}{n}, 0)", dice.cells(&COLUMNS))).collect();
        conn.query_drop(format!("INSERT INTO {table} VALUES {}", rows.join(", "))).unwrap();
    }
    (server, conn)
}

fn numbers(conn: &mut Conn, sql: &str) -> Vec<i64> {
    let mut rows: Vec<i64> = conn.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    rows.sort_unstable();
    rows
}

/// Columns that compare with one another.
fn pair(dice: &mut Dice) -> (&'static str, &'static str) {
    loop {
        let ((x, _, first), (y, _, second)) = (*dice.pick(&COLUMNS), *dice.pick(&COLUMNS));
        let is_number = |kind: Kind| matches!(kind, Kind::Integer | Kind::Number);
        let fits = match (first, second) {
            (Kind::Text, Kind::Text) => x == y,
            _ => first == second || (is_number(first) && is_number(second)),
        };
        if fits {
            return (x, y);
        }
    }
}

/// A condition on rows of a table, of which it leaves few or many.
fn filter(dice: &mut Dice, rows: usize) -> String {
    match dice.below(6) {
        0 => format!("n = {}", dice.below(rows)),
        1 => format!("n IN ({}, {}, {})", dice.below(rows), dice.below(rows), dice.below(rows)),
        2 => format!("n < {}", dice.below(rows)),
        3 => dice.condition(&COLUMNS[..3], 1),
        _ => "TRUE".to_owned(),
    }
}

/// A condition with a subquery, and one like it that may be an operand; the outer table is `o`.
fn condition(dice: &mut Dice) -> (String, String) {
    let (x, y) = pair(dice);
    let table = *dice.pick(&["i", "i", "plain"]);
    let filter = filter(dice, 30);
    let not = *dice.pick(&["", "NOT "]);
    let pair = format!("EXISTS (SELECT 1 FROM {table} s WHERE s.b = o.b AND s.{y} = o.{x} AND {filter})");
    let test = match dice.below(10) {
        0 | 1 => format!("o.{x} {not}IN (SELECT {y} FROM {table} WHERE {filter})"),
        2 | 3 => format!("{not}EXISTS (SELECT 1 FROM {table} s WHERE s.{y} = o.{x} AND {filter})"),
        4 => format!("{not}(o.{x} IN (SELECT {y} FROM {table} WHERE {filter} AND {table}.b >= o.b))"),
        6 => return (format!("(o.{x}, o.b) IN (SELECT {y}, b FROM {table} WHERE {filter})"), pair),
        7 => pair,
        8 => format!("EXISTS (SELECT n FROM {table} s WHERE s.{y} = o.{x} AND s.a >= o.a AND {filter})"),
        5 => format!("NOT (o.{x} {not}IN (SELECT {y} FROM {table} WHERE {filter}))"),
        _ => format!(
            "{not}EXISTS (SELECT s.z FROM {table} s JOIN {table} r ON r.n = s.n WHERE o.{x} = s.{y} AND s.{filter})",
            filter = if filter == "TRUE" { "z = 0" } else { "n < 20" },
        ),
    };
    (test.clone(), test)
}

#[test]
fn subqueries_find_the_same_rows_in_every_direction() {
    let seed = 20_261_125;
    let mut dice = Dice::new(seed);
    let (_server, mut conn) = start(&mut dice);
    let asked = std::env::var("RATCHET_SEMI_JOINS").ok().map(|count| count.parse().unwrap());
    let count = asked.unwrap_or(conditions());
    let (mut by_index, mut by_row, mut by_list, mut found) = (0, 0, 0, 0);
    for at in 0..count {
        let ((test, like_it), filter) = (condition(&mut dice), filter(&mut dice, 200));
        let what = format!("seed {seed}, the {at}th: {test} AND {filter}");
        let oracle = format!("SELECT n FROM o WHERE ({like_it}) + 0 = 1 AND ({filter})");
        let expected = numbers(&mut conn, &oracle);
        let read = format!("SELECT n FROM o WHERE {test} AND ({filter})");
        assert_eq!(numbers(&mut conn, &read), expected, "{what}");
        found += expected.len();
        let plan: String = conn.query_first(format!("EXPLAIN FORMAT=TREE {read}")).unwrap().unwrap();
        let leads = |line: &str| line.contains("scan on o using") && line.contains("in (select #");
        by_index += usize::from(plan.lines().any(leads));
        by_row += usize::from(plan.contains("exists(select #2)") && !test.contains("EXISTS"));
        by_list += usize::from(plan.contains("in (select #2)") && test.contains("EXISTS"));
        match at % 6 {
            0 => {
                let either = format!("({like_it} OR n = 7)");
                let oracle = format!("SELECT n FROM o WHERE ({either}) + 0 = 1");
                let expected = numbers(&mut conn, &oracle);
                assert_eq!(
                    numbers(&mut conn, &format!("SELECT n FROM o WHERE {either}")),
                    expected,
                    "OR, {what}"
                );
            }
            1 => {
                conn.query_drop("BEGIN").unwrap();
                let change = format!("UPDATE o SET z = 1, a = 3, b = b + 1 WHERE {test} AND ({filter})");
                conn.query_drop(&change).unwrap_or_else(|error| panic!("{change}: {error}"));
                let changed = numbers(&mut conn, "SELECT n FROM o WHERE z = 1");
                conn.query_drop("ROLLBACK").unwrap();
                assert_eq!(changed, expected, "UPDATE, {what}");
            }
            2 => {
                conn.query_drop("BEGIN").unwrap();
                conn.query_drop(format!("DELETE FROM o WHERE {test} AND ({filter})")).unwrap();
                let deleted = conn.affected_rows();
                conn.query_drop("ROLLBACK").unwrap();
                assert_eq!(deleted, expected.len() as u64, "DELETE, {what}");
            }
            3 => {
                conn.query_drop("BEGIN").unwrap();
                assert_eq!(numbers(&mut conn, &format!("{read} FOR UPDATE")), expected, "locking, {what}");
                conn.query_drop("ROLLBACK").unwrap();
            }
            4 => {
                let beside = dice.below(200);
                let join = |test: &str| {
                    format!(
                        "SELECT o.n FROM o JOIN i w ON w.b = o.b WHERE {test} AND o.n <> {beside} AND w.n < 9"
                    )
                };
                let expected = numbers(&mut conn, &join(&format!("({like_it}) + 0 = 1")));
                assert_eq!(numbers(&mut conn, &join(&test)), expected, "joined, {what}");
            }
            _ => {}
        }
    }
    assert!(by_index * 10 > count, "{by_index} of {count} by an index");
    assert!(by_row * 20 > count, "{by_row} of {count} IN as EXISTS");
    assert!(by_list * 20 > count, "{by_list} of {count} EXISTS as IN");
    assert!(found > count * 10, "{found} rows");
}

#[test]
fn rows_that_agree_share_an_answer_unless_each_run_does_something() {
    let mut dice = Dice::new(7);
    let (_server, mut conn) = start(&mut dice);
    for column in ["a", "b", "c", "e", "d"] {
        // More rows than answers are kept for, and each value many times.
        let outer = "(SELECT x.* FROM o x JOIN o y ON y.n < 40) t";
        let scalar = format!("SELECT (SELECT SUM(s.n) FROM i s WHERE s.{column} = t.{column}) FROM {outer}");
        let grouped = format!(
            "SELECT g.total FROM {outer} LEFT JOIN \
             (SELECT {column} AS v, SUM(n) AS total FROM i GROUP BY {column}) g ON g.v = t.{column}"
        );
        let sums = [scalar, grouped].map(|sql| {
            let mut sums: Vec<Option<u32>> = conn.query(sql).unwrap();
            sums.sort_unstable();
            sums
        });
        assert_eq!((sums[0].len(), &sums[0]), (8_000, &sums[1]), "{column}");
        let listed = format!("n IN (SELECT n FROM i WHERE i.{column} > t.{column})");
        let counts = [format!("({listed}) + 0 = 1"), listed].map(|test| {
            conn.query_first::<u32, _>(format!("SELECT COUNT(*) FROM {outer} WHERE {test}")).unwrap()
        });
        assert_eq!(counts[0], counts[1], "{column}");
    }
    for (each, what) in [("@n := @n + 1", "a variable that it sets"), ("UUID()", "a new value each time")] {
        conn.query_drop("SET @n = 0").unwrap();
        let sql = format!("SELECT (SELECT {each} FROM i WHERE i.n = 0 AND o.b = o.b) FROM o");
        let mut found: Vec<String> = conn.query(sql).unwrap();
        found.sort_unstable();
        found.dedup();
        assert_eq!(found.len(), 200, "{what}");
    }
    let read = "SELECT @n := n, (SELECT @n FROM i WHERE i.n = 0 AND x.z = x.z) FROM o x";
    let found: Vec<(u32, u32)> = conn.query(read).unwrap();
    assert!(found.iter().all(|(set, read)| set == read), "a variable that the outer query sets");
}
