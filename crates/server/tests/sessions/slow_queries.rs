//! Which statements `Slow_queries` counts.

#![allow(clippy::unwrap_used, reason = "test code")]

use std::path::Path;

use mysql::prelude::Queryable;
use mysql::{Conn, OptsBuilder, Row};
use testkit::server::TestServer;

fn start() -> TestServer {
    TestServer::start(Path::new(env!("CARGO_BIN_EXE_ratchetd")), &[]).unwrap()
}

fn connect(server: &TestServer) -> Conn {
    let options =
        OptsBuilder::new().ip_or_hostname(Some("127.0.0.1")).tcp_port(server.port).user(Some("root"));
    Conn::new(options).unwrap()
}

fn count(conn: &mut Conn, scope: &str) -> u64 {
    let row: Row = conn.query_first(format!("SHOW {scope} STATUS LIKE 'Slow_queries'")).unwrap().unwrap();
    row.get::<String, _>(1).unwrap().parse().unwrap()
}

fn slow(conn: &mut Conn) -> u64 {
    count(conn, "SESSION")
}

#[test]
fn each_statement_counts_by_its_own_time() {
    let server = start();
    let mut conn = connect(&server);
    conn.query_drop("SET long_query_time = 0.15").unwrap();
    conn.query_drop("SELECT SLEEP(0.01)").unwrap();
    assert_eq!(slow(&mut conn), 0);
    conn.query_drop("SELECT SLEEP(0.3)").unwrap();
    assert_eq!(slow(&mut conn), 1);
    let results =
        "SELECT SLEEP(0.1); SELECT SLEEP(0.1); SELECT SLEEP(0.3); SELECT SLEEP(0.01); DO SLEEP(0.3)";
    conn.query_iter(results).unwrap().for_each(drop);
    assert_eq!(slow(&mut conn), 3);
    let statement = conn.prep("SELECT SLEEP(?)").unwrap();
    conn.exec_drop(&statement, (0.3,)).unwrap();
    assert_eq!(slow(&mut conn), 4);
    conn.query_drop("SELECT SLEEP(0.3) FROM nowhere.nothing").unwrap_err();
    conn.query_drop("SELECT 1 + (SELECT SLEEP(0.3) UNION ALL SELECT 2)").unwrap_err();
    assert_eq!(slow(&mut conn), 5, "one that fails late counts");
    let mut other = connect(&server);
    assert_eq!((slow(&mut other), count(&mut other, "GLOBAL")), (0, 5));
    conn.query_drop("SET long_query_time = 0").unwrap();
    let before = slow(&mut conn);
    assert_eq!(slow(&mut conn), before + 1, "every statement");
    conn.query_drop("SET long_query_time = DEFAULT").unwrap();
    conn.query_drop("SELECT SLEEP(0.3)").unwrap();
    let before = slow(&mut conn);
    assert_eq!(slow(&mut conn), before);
}

#[test]
fn a_long_limit_needs_no_clock_of_short_statements() {
    let server = start();
    let mut conn = connect(&server);
    conn.query_drop("SET long_query_time = 5").unwrap();
    conn.query_drop("SELECT SLEEP(1.2)").unwrap();
    conn.query_drop("SELECT SLEEP(5.2)").unwrap();
    conn.query_drop("SELECT SLEEP(0.01)").unwrap();
    assert_eq!(slow(&mut conn), 1);
}
