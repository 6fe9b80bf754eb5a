//! Conditions that entries of a secondary index decide: rows that they refuse are neither read nor locked.

#![allow(clippy::unwrap_used, reason = "test code")]

use std::path::Path;

use mysql::Conn;
use mysql::prelude::Queryable;
use testkit::runner::Target;
use testkit::server::TestServer;

/// Rows by `a`, a third of which has each `b`.
fn start() -> (TestServer, Conn, Conn) {
    let server = TestServer::start(Path::new(env!("CARGO_BIN_EXE_ratchetd")), &[]).unwrap();
    let target = Target { port: server.port, user: "root".to_owned() };
    let (mut conn, mut other) = (target.connect(None).unwrap(), target.connect(None).unwrap());
    let rows: Vec<String> =
        (0..300).map(|n| format!("({n}, {}, {}, 'text {n}', {n})", n / 30, n % 3)).collect();
    for sql in [
        "CREATE DATABASE d",
        "USE d",
        "CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT, c VARCHAR(20), z INT, KEY abc (a, b, c))",
        &format!("INSERT INTO t VALUES {}", rows.join(", ")),
    ] {
        conn.query_drop(sql).unwrap();
    }
    other.query_drop("USE d").unwrap();
    (server, conn, other)
}

fn plan(conn: &mut Conn, sql: &str) -> String {
    conn.query_first::<String, _>(format!("EXPLAIN FORMAT=TREE {sql}")).unwrap().unwrap()
}

#[test]
fn rows_that_their_entries_refuse_are_not_locked() {
    let (_server, mut conn, mut other) = start();
    let read = "SELECT id FROM t WHERE a BETWEEN 2 AND 3 AND c LIKE '%7' AND z >= 0";
    assert!(
        plan(&mut conn, read).contains("with index condition: (t.c like '%7')"),
        "{}",
        plan(&mut conn, read)
    );
    conn.query_drop("BEGIN").unwrap();
    let mut found: Vec<u32> = conn.query(format!("{read} FOR UPDATE")).unwrap();
    found.sort_unstable();
    assert_eq!(found, [67, 77, 87, 97, 107, 117]);
    let free: Vec<u32> =
        other.query("SELECT id FROM t WHERE id BETWEEN 60 AND 119 FOR UPDATE SKIP LOCKED").unwrap();
    let expected: Vec<u32> = (60..120).filter(|id| id % 10 != 7).collect();
    assert_eq!(free, expected, "rows of others");
    // The stretch of the index is locked all the same: nothing comes in that the condition would find.
    other.query_drop("SET innodb_lock_wait_timeout = 1").unwrap();
    let refused = other.query_drop("INSERT INTO t VALUES (1000, 2, 0, 'text 1007', 0)").unwrap_err();
    assert!(refused.to_string().contains("1205"), "{refused}");
    conn.query_drop("COMMIT").unwrap();
}

#[test]
fn a_condition_of_a_join_is_tested_on_entries_for_each_outer_row() {
    let (_server, mut conn, _) = start();
    let join = "SELECT COUNT(*), SUM(t.z) FROM t AS o STRAIGHT_JOIN t FORCE INDEX (abc) \
                ON t.a = o.a AND t.c > o.c WHERE o.b = 1 AND o.id < 90";
    assert!(plan(&mut conn, join).contains("with index condition: (t.c > o.c)"), "{}", plan(&mut conn, join));
    let (count, sum): (u32, u32) = conn.query_first(join).unwrap().unwrap();
    let pair =
        |o: u32| (0..300_u32).filter(move |t| t / 30 == o / 30 && format!("text {t}") > format!("text {o}"));
    let pairs: Vec<u32> = (0..90).filter(|o| o % 3 == 1).flat_map(pair).collect();
    assert_eq!((count, sum), (pairs.len() as u32, pairs.iter().sum()));
}

#[test]
fn a_change_by_such_a_path_changes_what_a_scan_finds() {
    let (_server, mut conn, _) = start();
    conn.query_drop("UPDATE t SET z = -1 WHERE a BETWEEN 1 AND 8 AND b = 2 AND c LIKE '%1%'").unwrap();
    let changed: Vec<u32> = conn.query("SELECT id FROM t WHERE z = -1 ORDER BY id").unwrap();
    let expected: Vec<u32> = (30..270).filter(|id| id % 3 == 2 && id.to_string().contains('1')).collect();
    assert_eq!(changed, expected);
}
