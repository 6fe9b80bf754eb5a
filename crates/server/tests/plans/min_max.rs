//! MIN and MAX by the ends of indexes: the same as by all rows, whatever the conditions are.

#![allow(clippy::unwrap_used, reason = "test code")]

use std::path::Path;

use mysql::Conn;
use mysql::prelude::Queryable;
use testkit::conditions::{Column, Dice, Kind};
use testkit::runner::Target;
use testkit::server::{TestServer, of_build};

fn queries() -> usize {
    of_build(1500, 6000)
}

const COLUMNS: [Column; 5] = [
    ("a", "INT", Kind::Integer),
    ("b", "SMALLINT NOT NULL", Kind::Integer),
    ("e", "DECIMAL(5,1)", Kind::Number),
    ("c", "VARCHAR(8) COLLATE utf8mb4_0900_bin", Kind::Text),
    ("d", "DATETIME", Kind::Time),
];

const KEYS: &str = "KEY ab (a, b), KEY ba (b, a DESC), KEY e (e), KEY c (c), KEY d (d DESC)";

/// A server with the same rows in `indexed` and, without keys that serve, in `scanned`.
fn start(dice: &mut Dice) -> (TestServer, Conn) {
    let server = TestServer::start(Path::new(env!("CARGO_BIN_EXE_ratchetd")), &[]).unwrap();
    let mut conn = Target { port: server.port, user: "root".to_owned() }.connect(None).unwrap();
    let columns: String = COLUMNS.iter().map(|(name, ty, _)| format!("{name} {ty}, ")).collect();
    let rows: Vec<String> = (0..400).map(|n| format!("({}{n})", dice.cells(&COLUMNS))).collect();
    for sql in [
        "CREATE DATABASE d".to_owned(),
        "USE d".to_owned(),
        "SET sql_mode = ''".to_owned(),
        format!("CREATE TABLE scanned ({columns} n INT PRIMARY KEY)"),
        format!("CREATE TABLE indexed ({columns} n INT PRIMARY KEY, {KEYS})"),
        format!("INSERT INTO scanned VALUES {}", rows.join(", ")),
        "INSERT INTO indexed SELECT * FROM scanned".to_owned(),
    ] {
        conn.query_drop(sql).unwrap();
    }
    (server, conn)
}

#[test]
fn ends_of_indexes_are_the_least_and_greatest_of_all_rows() {
    let seed = 20_261_125;
    let mut dice = Dice::new(seed);
    let (_server, mut conn) = start(&mut dice);
    let mut by_ends = 0;
    for at in 0..queries() {
        let ends: Vec<String> = (0..=dice.below(3))
            .map(|_| format!("{}({})", dice.pick(&["MIN", "MAX"]), dice.pick(&COLUMNS).0))
            .collect();
        let about = *dice.pick(&COLUMNS);
        let condition = match dice.below(4) {
            0 => String::new(),
            1 => format!("WHERE {}", dice.condition(&COLUMNS, 1)),
            2 => format!("WHERE {}", dice.condition(&[about], 1)),
            _ => format!("WHERE {} AND {}", dice.condition(&[about], 0), dice.condition(&COLUMNS, 0)),
        };
        let sql = |table: &str| format!("SELECT {} FROM {table} {condition}", ends.join(", "));
        let read = |conn: &mut Conn, table: &str| {
            let row = conn.query_first::<mysql::Row, _>(sql(table));
            row.unwrap_or_else(|error| panic!("{}: {error}", sql(table))).unwrap().unwrap()
        };
        let expected = read(&mut conn, "scanned");
        assert_eq!(read(&mut conn, "indexed"), expected, "seed {seed}, the {at}th: {}", sql("indexed"));
        let explain = format!("EXPLAIN FORMAT=TREE {}", sql("indexed"));
        let plan: String = conn.query_first(explain).unwrap().unwrap();
        by_ends += usize::from(plan.contains("Limit: 1 row"));
    }
    assert!(by_ends * 5 > queries(), "{by_ends} of {} by ends", queries());
}
