//! UPDATE of several tables: each assignment sees those before it, whatever the plan reads first.

#![allow(clippy::unwrap_used, reason = "test code")]

use std::path::Path;

use mysql::prelude::Queryable;
use testkit::runner::Target;
use testkit::server::TestServer;

#[test]
fn assignments_see_those_before_them() {
    let server = TestServer::start(Path::new(env!("CARGO_BIN_EXE_ratchetd")), &[]).unwrap();
    let target = Target { port: server.port, user: "root".to_owned() };
    let mut conn = target.connect(None).unwrap();
    conn.query_drop("CREATE DATABASE t").unwrap();
    conn.query_drop("USE t").unwrap();
    conn.query_drop("CREATE TABLE a (id INT PRIMARY KEY, n INT)").unwrap();
    conn.query_drop("CREATE TABLE b (id INT PRIMARY KEY, n INT)").unwrap();
    for (tables, sets, after) in [
        ("a LEFT JOIN b ON a.id = b.id", "b.n = a.n, a.n = 5", (5, 10)),
        ("a JOIN b ON a.id = b.id", "b.n = a.n, a.n = 5", (5, 10)),
        ("b JOIN a ON a.id = b.id", "b.n = a.n, a.n = 5", (5, 10)),
        ("a JOIN b ON a.id = b.id", "a.n = 5, b.n = a.n", (5, 5)),
        ("b JOIN a ON a.id = b.id", "a.n = 5, b.n = a.n", (5, 5)),
        ("a RIGHT JOIN b ON a.id = b.id", "a.n = b.n + 1, b.n = a.n + 1", (2, 3)),
    ] {
        conn.query_drop("REPLACE INTO a VALUES (1, 10)").unwrap();
        conn.query_drop("REPLACE INTO b VALUES (1, 1)").unwrap();
        conn.query_drop(format!("UPDATE {tables} SET {sets}")).unwrap();
        let now: Option<(i64, i64)> = conn.query_first("SELECT a.n, b.n FROM a JOIN b").unwrap();
        assert_eq!(now, Some(after), "{tables}: {sets}");
    }
}
