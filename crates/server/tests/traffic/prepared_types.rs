//! Types of parameters that the text protocol cannot bind: dates, times and FLOAT. The answers are MySQL's.

#![allow(clippy::unwrap_used, reason = "test code")]

use std::path::Path;

use mysql::prelude::Queryable;
use mysql::{Conn, Row, Value};
use testkit::runner::Target;
use testkit::server::TestServer;

fn start() -> (TestServer, Conn) {
    let server = TestServer::start(Path::new(env!("CARGO_BIN_EXE_ratchetd")), &[]).unwrap();
    let mut conn = Target { port: server.port, user: "root".to_owned() }.connect(None).unwrap();
    for sql in [
        "CREATE DATABASE d",
        "USE d",
        "CREATE TABLE t (id INT PRIMARY KEY, dt DATETIME, tm TIME, da DATE)",
        "INSERT INTO t VALUES (1, '2024-02-29 12:34:56', '00:01:27', '2000-01-27')",
    ] {
        conn.query_drop(sql).unwrap();
    }
    (server, conn)
}

/// The first column of the first row as text.
fn first(conn: &mut Conn, sql: &str, params: Vec<Value>) -> String {
    let row: Row = conn.exec_first(sql, params).unwrap().unwrap();
    match row.as_ref(0).unwrap() {
        Value::Bytes(bytes) => String::from_utf8(bytes.clone()).unwrap(),
        value => value.as_sql(true).trim_matches('\'').to_owned(),
    }
}

/// The number of the error that an execution fails with.
fn error(conn: &mut Conn, sql: &str, params: Vec<Value>) -> u16 {
    match conn.exec_drop(sql, params).unwrap_err() {
        mysql::Error::MySqlError(error) => error.code,
        other => panic!("{other}"),
    }
}

const MOMENT: Value = Value::Date(2024, 2, 29, 12, 34, 56, 0);
const TIME: Value = Value::Time(false, 1, 2, 59, 58, 0);

#[test]
fn moments_have_six_digits_after_the_point() {
    let (_server, mut conn) = start();
    assert_eq!(first(&mut conn, "SELECT CONCAT(?)", vec![MOMENT]), "2024-02-29 12:34:56.000000");
    assert_eq!(first(&mut conn, "SELECT UPPER(?)", vec![TIME]), "26:59:58.000000");
}

#[test]
fn a_float_is_a_double() {
    let (_server, mut conn) = start();
    assert_eq!(first(&mut conn, "SELECT RTRIM(?)", vec![Value::Float(0.1)]), "0.10000000149011612");
}

#[test]
fn numbers_beside_dates_and_times_are_dates_and_times() {
    let (_server, mut conn) = start();
    let value = first(&mut conn, "SELECT CONCAT(COALESCE(?, tm)) FROM t", vec![Value::Double(0.5)]);
    assert_eq!(value, "00:00:00.500000");
    assert_eq!(first(&mut conn, "SELECT id FROM t WHERE tm = ?", vec![Value::Int(127)]), "1");
    assert_eq!(first(&mut conn, "SELECT id FROM t WHERE da = ?", vec![Value::Int(127)]), "1");
}

/// The first column of the first row of a second execution, which keeps the types of the first.
fn then(conn: &mut Conn, sql: &str, first: Vec<Value>, second: Vec<Value>) -> String {
    let statement = conn.prep(sql).unwrap();
    let _: Vec<Row> = conn.exec(&statement, first).unwrap();
    let row: Row = conn.exec_first(&statement, second).unwrap().unwrap();
    match row.as_ref(0).unwrap() {
        Value::Bytes(bytes) => String::from_utf8(bytes.clone()).unwrap(),
        value => value.as_sql(true).trim_matches('\'').to_owned(),
    }
}

#[test]
fn values_are_read_as_the_types_of_earlier_ones() {
    let (_server, mut conn) = start();
    let time = || vec![Value::Time(false, 1, 12, 59, 58, 0)];
    let sql = "SELECT CONCAT(tm, ?) FROM t";
    assert_eq!(then(&mut conn, sql, time(), vec![Value::UInt(u64::MAX)]), "00:01:27-00:00:01.000000");
    assert_eq!(then(&mut conn, sql, time(), vec![Value::Int(99)]), "00:01:2799");
    assert_eq!(then(&mut conn, "SELECT COALESCE(?, id) FROM t", time(), vec!["alpha".into()]), "alpha");
    let date = vec![Value::Date(2024, 2, 29, 0, 0, 0, 0)];
    assert_eq!(then(&mut conn, "SELECT ? COLLATE utf8mb4_bin", date, vec!["-1.5".into()]), "-1.5");
    assert_eq!(then(&mut conn, "SELECT ABS(?)", vec![MOMENT], vec![Value::Int(2)]), "2");
    assert_eq!(then(&mut conn, "SELECT id FROM t WHERE id = ?", vec![MOMENT], vec![Value::Int(1)]), "1");
}

#[test]
fn functions_of_clocks_read_times_and_unions_cut_zero_fractions() {
    let (_server, mut conn) = start();
    assert_eq!(first(&mut conn, "SELECT HOUR(?)", vec![Value::Time(true, 1, 22, 59, 58, 0)]), "46");
    let union = "SELECT ? AS a UNION SELECT ? ORDER BY a";
    assert_eq!(
        first(&mut conn, union, vec![Value::Time(false, 0, 22, 59, 58, 0), Value::Int(5)]),
        "22:59:58"
    );
    assert_eq!(first(&mut conn, union, vec![MOMENT, Value::Int(5)]), "2024-02-29 12:34:56");
}

#[test]
fn a_time_beyond_the_range_is_refused() {
    let (_server, mut conn) = start();
    assert_eq!(error(&mut conn, "SELECT ?", vec![Value::Time(true, 35, 0, 0, 0, 0)]), 1690);
}

#[test]
fn a_number_of_rows_is_an_integer_that_is_not_negative() {
    let (_server, mut conn) = start();
    let sql = "SELECT id FROM t LIMIT ?";
    assert_eq!(first(&mut conn, sql, vec![Value::Int(1)]), "1");
    assert_eq!(error(&mut conn, sql, vec![Value::Int(-1)]), 1690);
    assert_eq!(error(&mut conn, sql, vec![MOMENT]), 1210);
    assert_eq!(error(&mut conn, sql, vec![Value::Double(1.0)]), 1210);
}
