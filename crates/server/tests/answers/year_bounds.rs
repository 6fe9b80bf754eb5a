//! Ranges of an index on YEAR have the rows that are found without it.

#![allow(clippy::unwrap_used, reason = "test code")]

use std::path::Path;

use mysql::prelude::Queryable;
use testkit::runner::Target;
use testkit::server::TestServer;

#[test]
fn ranges_of_years_find_what_a_scan_finds() {
    let server = TestServer::start(Path::new(env!("CARGO_BIN_EXE_ratchetd")), &[]).unwrap();
    let target = Target { port: server.port, user: "root".to_owned() };
    let mut conn = target.connect(None).unwrap();
    conn.query_drop("CREATE DATABASE t").unwrap();
    conn.query_drop("CREATE TABLE t.y (id INT PRIMARY KEY, y YEAR, KEY (y))").unwrap();
    conn.query_drop("INSERT INTO t.y VALUES (1, 2005), (2, 0), (3, 1999), (4, NULL), (5, 2155), (6, 1901)")
        .unwrap();
    for (condition, found) in [
        ("y < 1900", vec![2]),
        ("y < 300.5", vec![2]),
        ("y < 101112", vec![1, 2, 3, 5, 6]),
        ("y > 2155.5", vec![]),
        ("y BETWEEN 0 AND 2156", vec![1, 2, 3, 5, 6]),
        ("y BETWEEN 2000 AND 101112", vec![1, 5]),
    ] {
        for hint in ["FORCE INDEX (y)", "IGNORE INDEX (y)"] {
            let query = format!("SELECT id FROM t.y {hint} WHERE {condition} ORDER BY id");
            let ids: Vec<i64> = conn.query(&query).unwrap();
            assert_eq!(ids, found, "{query}");
        }
    }
}
