//! `Ratchet_rows_examined`: what each way of reading rows counts.

#![allow(clippy::unwrap_used, reason = "test code")]

use std::path::Path;

use mysql::Conn;
use mysql::prelude::Queryable;
use testkit::runner::Target;
use testkit::server::TestServer;

const ROWS: u32 = 3_000;

/// Table `t` with `a` = id / 10, `b` = id % 100 and `c` = id, of which the first two have indexes; table
/// `one` with the first ten values of `t.a`, ten of `t.id`, and ten of which five are in `t.id`.
fn start() -> (TestServer, Conn) {
    let server = TestServer::start(Path::new(env!("CARGO_BIN_EXE_ratchetd")), &[]).unwrap();
    let mut conn = Target { port: server.port, user: "root".to_owned() }.connect(None).unwrap();
    let rows: Vec<String> = (0..ROWS).map(|n| format!("({n}, {}, {}, {n})", n / 10, n % 100)).collect();
    let pairs: Vec<String> = (0..10).map(|n| format!("({n}, {}, {})", n * 300, n * 600)).collect();
    for sql in [
        "CREATE DATABASE d",
        "USE d",
        "CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT, c INT, KEY a (a), KEY b (b, a))",
        "CREATE TABLE one (a INT PRIMARY KEY, id INT, beyond INT)",
        &format!("INSERT INTO t VALUES {}", rows.join(", ")),
        &format!("INSERT INTO one VALUES {}", pairs.join(", ")),
    ] {
        conn.query_drop(sql).unwrap();
    }
    (server, conn)
}

fn status(conn: &mut Conn, scope: &str) -> u64 {
    let sql = format!("SHOW {scope} STATUS LIKE 'Ratchet_rows_examined'");
    conn.query_first::<(String, u64), _>(sql).unwrap().unwrap().1
}

/// What `sql` adds to the session's counter.
fn examined(conn: &mut Conn, sql: &str) -> u64 {
    let before = status(conn, "SESSION");
    conn.query_drop(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    status(conn, "SESSION") - before
}

#[test]
fn every_way_of_reading_counts_the_rows_it_reads() {
    let (_server, mut conn) = start();
    for (rows, sql) in [
        (3_000, "SELECT * FROM t"),
        (3_000, "SELECT SUM(c) FROM t"),
        (3_000, "SELECT id FROM t WHERE c = 5"),
        (1, "SELECT * FROM t WHERE id = 7"),
        (0, "SELECT * FROM t WHERE id = -7"),
        (1, "SELECT c + 1 FROM t WHERE id = 7 AND c > 0"),
        (3, "SELECT * FROM t WHERE id IN (1, 500, 2999)"),
        (100, "SELECT * FROM t WHERE id BETWEEN 100 AND 199"),
        (100, "SELECT SUM(c) FROM t WHERE id BETWEEN 100 AND 199"),
        (10, "SELECT c FROM t WHERE a = 7"),
        (0, "SELECT c FROM t WHERE a = 7000"),
        (8, "SELECT a FROM t WHERE b = 7 AND a < 40 OR b = 8 AND a >= 260"),
        (20, "SELECT c FROM t WHERE a = 7 OR (b = 3 AND a < 100)"),
        (7, "SELECT * FROM t LIMIT 7"),
        (12, "SELECT * FROM t ORDER BY id DESC LIMIT 5, 7"),
        (9, "SELECT * FROM t WHERE id % 3 = 2 LIMIT 3"),
        (3_000, "SELECT SQL_CALC_FOUND_ROWS * FROM t LIMIT 7"),
        (1, "SELECT MIN(id) FROM t"),
        (11, "SELECT COUNT(*) FROM one WHERE EXISTS (SELECT * FROM t)"),
        (20, "SELECT t.c FROM one STRAIGHT_JOIN t ON t.id = one.id"),
        (20, "SELECT SUM(t.c) FROM one STRAIGHT_JOIN t ON t.id = one.id"),
        (110, "SELECT t.c FROM one STRAIGHT_JOIN t ON t.a = one.a"),
        (110, "SELECT t.id FROM one STRAIGHT_JOIN t ON t.a = one.a"),
        (4, "SELECT t.id FROM one STRAIGHT_JOIN t ON t.a = one.a LIMIT 3"),
        (15, "SELECT t.c FROM one LEFT JOIN t ON t.id = one.beyond"),
        (15, "SELECT SUM(t.c) FROM one LEFT JOIN t ON t.id = one.beyond"),
        (2, "SELECT t.c FROM one LEFT JOIN t ON t.id = one.id LIMIT 1"),
        (20, "SELECT (SELECT t.id FROM t WHERE t.a = one.a LIMIT 1) FROM one"),
    ] {
        assert_eq!(examined(&mut conn, sql), rows, "{sql}");
    }
}

#[test]
fn locking_reads_and_changes_count_what_they_find() {
    let (_server, mut conn) = start();
    conn.query_drop("BEGIN").unwrap();
    for (rows, sql) in [
        (1, "SELECT * FROM t WHERE id = 7 FOR UPDATE"),
        (100, "SELECT * FROM t WHERE id BETWEEN 100 AND 199 FOR SHARE"),
        (1, "UPDATE t SET c = 1 WHERE id = 7"),
        (10, "UPDATE t SET c = 1 WHERE a = 7 AND c > 5"),
        (30, "UPDATE t SET c = c + 1 WHERE b = 7"),
        (1, "DELETE FROM t WHERE id = 8"),
        (9, "DELETE FROM t WHERE a = 0"),
        (3_000 - 10, "DELETE FROM t WHERE c = -1"),
    ] {
        assert_eq!(examined(&mut conn, sql), rows, "{sql}");
    }
    conn.query_drop("ROLLBACK").unwrap();
}

#[test]
fn the_server_counts_for_all_its_sessions() {
    let (server, mut conn) = start();
    let mut other = Target { port: server.port, user: "root".to_owned() }.connect(Some("d")).unwrap();
    let (before, own) = (status(&mut conn, "GLOBAL"), status(&mut conn, ""));
    other.query_drop("SELECT * FROM t").unwrap();
    conn.query_drop("SELECT * FROM t WHERE id = 1").unwrap();
    assert_eq!(status(&mut conn, ""), own + 1);
    assert_eq!(status(&mut conn, "GLOBAL"), before + 3_001);
    drop(other);
    assert_eq!(status(&mut conn, "GLOBAL"), before + 3_001);
}
