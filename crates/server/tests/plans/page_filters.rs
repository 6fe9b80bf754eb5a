//! Conditions whose constants are parameters, whose rows have older row format versions, or that depend on
//! the session's zone are on page bytes what they are in the interpreter.

#![allow(clippy::unwrap_used, reason = "test code")]

use std::path::Path;

use mysql::prelude::Queryable;
use mysql::{Conn, Value};
use testkit::runner::Target;
use testkit::server::TestServer;

const ROWS: u32 = 400;

/// A server with a table whose rows have three row format versions: of the first, columns were added.
fn start() -> (TestServer, Conn) {
    let server = TestServer::start(Path::new(env!("CARGO_BIN_EXE_ratchetd")), &[]).unwrap();
    let mut conn = Target { port: server.port, user: "root".to_owned() }.connect(None).unwrap();
    for sql in [
        "CREATE DATABASE d",
        "USE d",
        "SET time_zone = '+00:00'",
        "CREATE TABLE numbers (i INT PRIMARY KEY)",
        "CREATE TABLE t (n INT AUTO_INCREMENT PRIMARY KEY, d DATE, a VARCHAR(20), s SMALLINT, z INT)",
    ] {
        conn.query_drop(sql).unwrap();
    }
    let numbers: Vec<String> = (1..=ROWS).map(|i| format!("({i})")).collect();
    conn.query_drop(format!("INSERT INTO numbers VALUES {}", numbers.join(", "))).unwrap();
    let insert = |conn: &mut Conn, columns: &str, values: &str| {
        conn.query_drop(format!("INSERT INTO t ({columns}) SELECT {values} FROM numbers")).unwrap();
    };
    let first = "IF(i % 7, '2024-01-01' + INTERVAL i DAY, NULL), CHAR(65 + i % 50), i % 90 - 40";
    insert(&mut conn, "d, a, s", first);
    conn.query_drop(
        "ALTER TABLE t ADD COLUMN p DECIMAL(9,3) DEFAULT 12.5, ADD COLUMN m DATETIME(3), MODIFY s INT, DROP COLUMN z",
    )
    .unwrap();
    let second = format!("{first}, i / 8, '2024-06-01 12:00:00' + INTERVAL i * 1001000 MICROSECOND");
    insert(&mut conn, "d, a, s, p, m", &second);
    conn.query_drop("ALTER TABLE t ADD COLUMN ts TIMESTAMP(2) NULL DEFAULT '2024-03-31 01:30:00' FIRST")
        .unwrap();
    let third = format!("{second}, '2024-03-30 20:00:00' + INTERVAL i * 90 SECOND");
    insert(&mut conn, "d, a, s, p, m, ts", &third);
    (server, conn)
}

/// The rows that `condition` finds with `params`.
fn rows(conn: &mut Conn, condition: &str, params: &[Value]) -> Vec<u32> {
    conn.exec(format!("SELECT n FROM t WHERE {condition} ORDER BY n"), params.to_vec()).unwrap()
}

#[test]
fn parameters_find_what_the_interpreter_finds_in_rows_of_all_versions() {
    let (_server, mut conn) = start();
    let text = |value: &str| Value::Bytes(value.into());
    let date = |month, day| Value::Date(2024, month, day, 0, 0, 0, 0);
    let cases: Vec<(&str, Vec<Value>)> = vec![
        ("d >= ?", vec![date(6, 1)]),
        ("d >= ?", vec![text("2024-06-01")]),
        ("d < ?", vec![text("2024-06-01 00:00:01")]),
        ("d BETWEEN ? AND ?", vec![date(2, 1), text("2024-05-03")]),
        ("d IN (?, ?)", vec![text("2024-02-03"), date(3, 4)]),
        ("d = ? OR d IS NULL", vec![text("2024-02-03")]),
        ("m > ?", vec![Value::Date(2024, 6, 1, 12, 1, 0, 60_000)]),
        ("m > ?", vec![text("2024-06-01 12:01:00.06")]),
        ("m <= ?", vec![text("2024-06-01T12:02:00")]),
        ("p = ?", vec![text("12.5")]),
        ("p = ?", vec![Value::Double(12.5)]),
        ("p > ?", vec![Value::Int(40)]),
        ("p BETWEEN ? AND ?", vec![Value::Int(12), Value::Int(13)]),
        ("s < ?", vec![Value::Int(-30)]),
        ("s IN (?, ?)", vec![Value::Int(-30), Value::UInt(u64::MAX)]),
        ("s IN (?, ?)", vec![text("5"), Value::Int(7)]),
        ("a = ?", vec![text("b")]),
        ("a > ?", vec![text("Y")]),
        ("a NOT IN (?, ?)", vec![text("a"), text("B")]),
        ("a = ? OR s = ? AND d IS NOT NULL", vec![text("z"), Value::Int(3)]),
        ("ts > ?", vec![text("2024-03-31 01:30:00")]),
        ("ts = ?", vec![text("2024-03-31 01:30:00")]),
        ("ts BETWEEN ? AND ?", vec![Value::Date(2024, 3, 30, 21, 0, 0, 0), text("2024-03-31 03:00:00")]),
        ("ts > ?", vec![text("2024-03-31 01:30:00+01:00")]),
        ("ts IS NULL OR ts < ?", vec![text("1960-01-01")]),
    ];
    for zone in ["+00:00", "-03:30", "SYSTEM", "Europe/Berlin"] {
        conn.query_drop(format!("SET time_zone = '{zone}'")).unwrap();
        let mut found = 0;
        for (condition, params) in &cases {
            let bytes = rows(&mut conn, condition, params);
            let value = rows(&mut conn, &format!("({condition}) + 0 = 1"), params);
            assert_eq!(bytes, value, "{condition} with {params:?} in {zone}");
            found += bytes.len();
        }
        assert!(found > 3000, "{found} rows in {zone}");
    }
}
