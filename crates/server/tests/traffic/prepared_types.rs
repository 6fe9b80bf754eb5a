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

/// Days that the sql_mode does not let in have their places among the others, with an index and without.
#[test]
fn days_that_are_none_bound_an_index_where_they_stand() {
    let (_server, mut conn) = start();
    for sql in [
        "CREATE TABLE d1 (a INT PRIMARY KEY, d DATE, n DATETIME NOT NULL, s TIMESTAMP NULL, KEY (d), KEY (n), KEY (s))",
        "INSERT INTO d1 VALUES (1, '2020-02-27', '2020-02-27', '2020-02-27'), (2, '2020-03-05', '2020-03-05', '2020-03-05'),
         (3, '2019-01-01', '2019-01-01', '2019-01-01'), (4, NULL, '2020-02-29 23:59:59', NULL)",
    ] {
        conn.query_drop(sql).unwrap();
    }
    let days =
        [(2020, 2, 31), (2020, 0, 0), (2020, 3, 0), (2020, 2, 30), (2019, 12, 0), (2100, 1, 1), (1960, 5, 5)];
    for (year, month, day) in days {
        let value = Value::Date(year, month, day, 0, 0, 0, 0);
        for column in ["d", "n", "s"] {
            for comparison in ["<", "<=", ">", ">=", "="] {
                let found = |conn: &mut Conn, hint: &str| -> Vec<u32> {
                    let sql = format!(
                        "SELECT a FROM d1 {hint} INDEX ({column}) WHERE {column} {comparison} ? ORDER BY a"
                    );
                    conn.exec(sql, vec![value.clone()]).unwrap()
                };
                let (by_index, by_scan) = (found(&mut conn, "FORCE"), found(&mut conn, "IGNORE"));
                assert_eq!(by_index, by_scan, "{column} {comparison} {year}-{month}-{day}");
            }
        }
    }
    let day = Value::Date(2020, 2, 31, 0, 0, 0, 0);
    conn.exec_drop("DELETE FROM d1 WHERE d < ?", vec![day]).unwrap();
    assert_eq!(conn.query::<u32, _>("SELECT a FROM d1 ORDER BY a").unwrap(), [2, 4]);
}

#[test]
fn an_execution_answers_as_the_one_before_it_with_the_same_value() {
    let (_server, mut conn) = start();
    conn.query_drop("CREATE TABLE y (id INT PRIMARY KEY, y YEAR, KEY (y))").unwrap();
    conn.query_drop("INSERT INTO y VALUES (1, 1999), (2, 2024)").unwrap();
    let above = conn.prep("SELECT id FROM y WHERE y > ? ORDER BY id").unwrap();
    let union = conn.prep("SELECT ? UNION SELECT 1").unwrap();
    for _ in 0..3 {
        assert_eq!(conn.exec::<u32, _, _>(&above, (-5,)).unwrap(), [1, 2]);
        let row: Row = conn.exec_first(&union, vec![MOMENT]).unwrap().unwrap();
        assert_eq!(row.get::<String, _>(0).unwrap(), "2024-02-29 12:34:56");
    }
}

/// A parameter that PREPARE or an earlier execution made a date takes numbers beside numbers as they are.
#[test]
fn numbers_beside_numbers_are_compared_as_such_whatever_date_came_before() {
    let (_server, mut conn) = start();
    let first_is_number = [vec![Value::Int(1), MOMENT], vec![MOMENT, Value::Int(1)]];
    for types in first_is_number {
        for (comparison, left, right, expected) in [
            ("=", Value::Int(65_535), Value::Int(65_535), 1),
            ("<=>", Value::Int(3), Value::Int(3), 1),
            ("<", Value::Int(32_767), Value::Double(1.5), 0),
            ("<", Value::Int(20_250_101), Value::Int(20_240_101), 0),
            ("<", Value::Int(5), Value::from("12"), 1),
        ] {
            let statement = conn.prep(format!("SELECT ? {comparison} ?")).unwrap();
            conn.exec_drop(&statement, types.clone()).unwrap();
            let found: Option<u32> = conn.exec_first(&statement, vec![left, right]).unwrap();
            assert_eq!(found, Some(expected), "{comparison} after {types:?}");
        }
    }
    conn.query_drop("CREATE TABLE days (day INT PRIMARY KEY)").unwrap();
    conn.query_drop("INSERT INTO days VALUES (20240229)").unwrap();
    let statement = conn.prep("SELECT day FROM days WHERE day = ?").unwrap();
    conn.exec_drop(&statement, vec![MOMENT]).unwrap();
    for day in [Value::Int(20_240_229), Value::from("20240229"), Value::from("2024-02-29")] {
        assert_eq!(conn.exec::<u32, _, _>(&statement, vec![day]).unwrap(), [20_240_229]);
    }
}
