//! Items of the select list that have another value each time: where MySQL computes them again and this
//! server does not.

#![allow(clippy::unwrap_used, reason = "test code")]

use std::path::Path;

use mysql::prelude::Queryable;
use testkit::runner::Target;
use testkit::server::TestServer;

#[test]
fn a_row_has_one_value_of_an_item_in_every_clause() {
    let server = TestServer::start(Path::new(env!("CARGO_BIN_EXE_ratchetd")), &[]).unwrap();
    let target = Target { port: server.port, user: "root".to_owned() };
    let mut conn = target.connect(None).unwrap();
    conn.query_drop("CREATE DATABASE t").unwrap();
    conn.query_drop("CREATE TABLE t.n (id INT PRIMARY KEY, k INT)").unwrap();
    conn.query_drop("INSERT INTO t.n VALUES (1, 1), (2, 2), (3, 1), (4, 2), (5, 1), (6, 2), (7, 1), (8, 2)")
        .unwrap();

    let shown: Vec<f64> = conn.query("SELECT RAND() AS r FROM t.n ORDER BY 1 - r").unwrap();
    assert!(shown.is_sorted_by(|a, b| a >= b), "{shown:?}");

    for _ in 0..20 {
        let shown: Vec<f64> = conn.query("SELECT RAND() AS r FROM t.n HAVING r > 0.5").unwrap();
        assert!(shown.iter().all(|&r| r > 0.5), "{shown:?}");
        let grouped = "SELECT k, RAND() + COUNT(*) AS r FROM t.n GROUP BY k HAVING r > 4.5 ORDER BY -r";
        let shown: Vec<(i64, f64)> = conn.query(grouped).unwrap();
        assert!(shown.iter().all(|&(_, r)| r > 4.5) && shown.is_sorted_by(|a, b| a.1 >= b.1), "{shown:?}");
    }

    // MySQL merges the table, and its answer is another one each time.
    let merged = "SELECT COUNT(*) FROM (SELECT id, FLOOR(RAND() * 10) AS r FROM t.n ORDER BY r) AS d WHERE r < 5 AND r >= 5";
    assert_eq!(conn.query_first(merged).unwrap(), Some(0));

    conn.query_drop("SET @a := 0").unwrap();
    let computed: Option<(i64, i64)> =
        conn.query_first("SELECT (@a := @a + 1) IN (7, '1', 2.5), @a").unwrap();
    assert_eq!(computed, Some((1, 1)));
}
