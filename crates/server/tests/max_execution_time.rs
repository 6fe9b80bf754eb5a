//! `max_execution_time` and the hint MAX_EXECUTION_TIME, as MySQL 9.7 answers them.

#![allow(clippy::unwrap_used, reason = "test code")]

use std::path::Path;
use std::time::{Duration, Instant};

use mysql::prelude::Queryable;
use mysql::{Conn, Row};
use testkit::runner::Target;
use testkit::server::TestServer;

const EXCEEDED: Result<i64, u16> = Err(3024);

struct House {
    target: Target,
    conn: Conn,
    _server: TestServer,
}

impl House {
    fn open() -> Self {
        let server = TestServer::start(Path::new(env!("CARGO_BIN_EXE_ratchetd")), &[]).unwrap();
        let target = Target { port: server.port, user: "root".to_owned() };
        let mut conn = target.connect(None).unwrap();
        for sql in [
            "CREATE DATABASE d",
            "USE d",
            "CREATE TABLE t (a INT PRIMARY KEY, b INT)",
            "INSERT INTO t VALUES (1, 1), (2, 2), (3, 3)",
        ] {
            conn.query_drop(sql).unwrap();
        }
        House { target, conn, _server: server }
    }

    /// The first value that `sql` yields, or the number of its error.
    fn answer(&mut self, sql: &str) -> Result<i64, u16> {
        answer(self.conn.query_first(sql))
    }

    fn counted(&mut self, name: &str) -> u64 {
        let row: Option<Row> = self.conn.query_first(format!("SHOW STATUS LIKE '{name}'")).unwrap();
        row.unwrap().get::<String, _>(1).unwrap().parse().unwrap()
    }
}

fn answer(result: mysql::Result<Option<Row>>) -> Result<i64, u16> {
    match result {
        Ok(row) => Ok(row.and_then(|row| row.get::<Option<i64>, _>(0).flatten()).unwrap_or_default()),
        Err(mysql::Error::MySqlError(error)) => Err(error.code),
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn the_session_variable_limits_selects_alone() {
    let mut house = House::open();
    house.conn.query_drop("SET max_execution_time = 50").unwrap();
    // SLEEP alone ends early and is no error; beside rows it is one.
    for (sql, expected) in [
        ("SELECT SLEEP(20)", Ok(1)),
        ("SELECT (SELECT SLEEP(20))", Ok(1)),
        ("VALUES ROW(SLEEP(20))", Ok(1)),
        ("SELECT BENCHMARK(100000000000, 1 + 1)", Ok(0)),
        ("SELECT SLEEP(20), 1 FROM t", EXCEEDED),
        ("SELECT COUNT(*) FROM t a, t b WHERE SLEEP(20)", EXCEEDED),
        ("SELECT a FROM t UNION SELECT SLEEP(20)", EXCEEDED),
        ("SELECT SLEEP(20) FROM t FOR UPDATE", EXCEEDED),
        ("SELECT SUM(SLEEP(0.04)) FROM t", EXCEEDED),
        ("SELECT a FROM t", Ok(1)),
        // No limit for what is no SELECT of its own.
        ("UPDATE t SET b = b + SLEEP(0.03)", Ok(0)),
        ("INSERT INTO t SELECT a + 10, SLEEP(0.03) FROM t", Ok(0)),
        ("DELETE FROM t WHERE a > 10 AND SLEEP(0.03) = 0", Ok(0)),
        ("DO SLEEP(0.08)", Ok(0)),
        ("SET @x = SLEEP(0.08)", Ok(0)),
        ("SELECT @x", Ok(0)),
    ] {
        let began = Instant::now();
        assert_eq!(house.answer(sql), expected, "{sql}");
        assert!(began.elapsed() < Duration::from_secs(10), "{sql}");
    }
    assert_eq!(house.answer("SHOW WARNINGS"), Ok(0));
}

#[test]
fn the_hint_of_the_first_query_block_comes_before_the_variable() {
    let mut house = House::open();
    house.conn.query_drop("SET max_execution_time = 50").unwrap();
    for (sql, expected) in [
        ("SELECT /*+ MAX_EXECUTION_TIME(20000) */ SLEEP(0.15)", Ok(0)),
        ("SELECT /*+ MAX_EXECUTION_TIME(0) */ SLEEP(20)", Ok(1)),
        ("(SELECT /*+ MAX_EXECUTION_TIME(20000) */ SLEEP(0.15)) UNION SELECT 5", Ok(0)),
        ("SELECT 3 UNION SELECT /*+ MAX_EXECUTION_TIME(20000) */ SLEEP(0.15)", EXCEEDED),
        ("SELECT * FROM (SELECT /*+ MAX_EXECUTION_TIME(20000) */ a FROM t WHERE SLEEP(0.15)) d", EXCEEDED),
    ] {
        assert_eq!(house.answer(sql), expected, "{sql}");
    }
    house.conn.query_drop("SET max_execution_time = 0").unwrap();
    for (sql, expected) in [
        ("SELECT /*+ MAX_EXECUTION_TIME(20) */ a FROM t WHERE SLEEP(20)", EXCEEDED),
        ("SELECT /*+ NO_ICP(t) MAX_EXECUTION_TIME(20) */ a FROM t WHERE SLEEP(20)", EXCEEDED),
        ("SELECT 3 UNION SELECT /*+ MAX_EXECUTION_TIME(20) */ SLEEP(0.1)", Ok(3)),
        ("UPDATE /*+ MAX_EXECUTION_TIME(20) */ t SET b = 1 WHERE a = 1 + SLEEP(0.05)", Ok(0)),
        ("SELECT SLEEP(0.05)", Ok(0)),
    ] {
        assert_eq!(house.answer(sql), expected, "{sql}");
    }
}

#[test]
fn prepared_statements_are_limited_when_they_run() {
    let mut house = House::open();
    let slow = house.conn.prep("SELECT a FROM t WHERE SLEEP(?)").unwrap();
    let hinted = house.conn.prep("SELECT /*+ MAX_EXECUTION_TIME(20) */ a FROM t WHERE SLEEP(?)").unwrap();
    assert_eq!(answer(house.conn.exec_first(&slow, (0.01,))), Ok(0));
    assert_eq!(answer(house.conn.exec_first(&hinted, (20,))), EXCEEDED);
    house.conn.query_drop("SET max_execution_time = 50").unwrap();
    assert_eq!(answer(house.conn.exec_first(&slow, (20,))), EXCEEDED);
    assert_eq!(answer(house.conn.exec_first(&slow, (0.0,))), Ok(0));
    house.conn.query_drop("PREPARE p FROM 'SELECT a FROM t WHERE SLEEP(20)'").unwrap();
    assert_eq!(house.answer("EXECUTE p"), EXCEEDED);
}

#[test]
fn a_limit_ends_waits_and_dies_with_its_statement() {
    let mut house = House::open();
    let mut other = house.target.connect(Some("d")).unwrap();
    other.query_drop("BEGIN").unwrap();
    other.query_drop("UPDATE t SET b = 0 WHERE a = 2").unwrap();
    other.query_drop("DO GET_LOCK('l', 0)").unwrap();
    house.conn.query_drop("SET max_execution_time = 50").unwrap();
    assert_eq!(house.answer("SELECT * FROM t WHERE a = 2 FOR SHARE"), EXCEEDED);
    assert_eq!(house.answer("SELECT GET_LOCK('l', 20)"), EXCEEDED);
    // A statement that ends just when its time is over does not fail the next one.
    for i in 0..60 {
        let sql = format!("SELECT /*+ MAX_EXECUTION_TIME(2) */ SLEEP(0.00{}); SELECT a FROM t", 1 + i % 3);
        let mut results = house.conn.query_iter(&sql).unwrap();
        while let Some(set) = results.iter() {
            set.for_each(|row| drop(row.unwrap()));
        }
        drop(results);
        assert_eq!(house.answer("UPDATE t SET b = 4 WHERE a = 3"), Ok(0));
    }
}

#[test]
fn the_limits_are_counted() {
    let mut house = House::open();
    let counts = ["Max_execution_time_set", "Max_execution_time_exceeded", "Max_execution_time_set_failed"];
    assert_eq!(counts.map(|name| house.counted(name)), [0, 0, 0]);
    house.conn.query_drop("SELECT a FROM t").unwrap();
    assert_eq!(house.answer("SELECT /*+ MAX_EXECUTION_TIME(20000) */ a FROM t"), Ok(1));
    assert_eq!(house.answer("SELECT /*+ MAX_EXECUTION_TIME(20) */ a FROM t WHERE SLEEP(20)"), EXCEEDED);
    assert_eq!(house.answer("SELECT /*+ MAX_EXECUTION_TIME(20) */ SLEEP(20)"), Ok(1));
    assert_eq!(counts.map(|name| house.counted(name)), [3, 2, 0]);
}

#[test]
fn the_global_value_is_that_of_new_sessions() {
    let mut house = House::open();
    house.conn.query_drop("SET GLOBAL max_execution_time = 40").unwrap();
    assert_eq!(house.answer("SELECT a FROM t WHERE SLEEP(0.1)"), Ok(0));
    let mut fresh = house.target.connect(Some("d")).unwrap();
    assert_eq!(answer(fresh.query_first("SELECT a FROM t WHERE SLEEP(20)")), EXCEEDED);
}
