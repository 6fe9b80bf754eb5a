//! Plans of prepared statements are shared by sessions, as far as they mean the same there.

#![allow(clippy::unwrap_used, reason = "test code")]

use std::path::Path;

use mysql::prelude::Queryable;
use mysql::{Conn, Value};
use testkit::runner::Target;
use testkit::server::TestServer;

fn start() -> (TestServer, Conn, Conn) {
    let server = TestServer::start(Path::new(env!("CARGO_BIN_EXE_ratchetd")), &[]).unwrap();
    let target = Target { port: server.port, user: "root".to_owned() };
    let (mut one, mut other) = (target.connect(None).unwrap(), target.connect(None).unwrap());
    for sql in [
        "CREATE DATABASE d",
        "CREATE DATABASE e",
        "CREATE TABLE d.t (id INT PRIMARY KEY, a INT, c VARCHAR(10))",
        "INSERT INTO d.t VALUES (1, 10, 'x'), (2, 20, 'y')",
        "CREATE TABLE e.t (id INT PRIMARY KEY, a INT, c VARCHAR(10))",
        "INSERT INTO e.t VALUES (1, 11, 'z')",
        "USE d",
    ] {
        one.query_drop(sql).unwrap();
    }
    other.query_drop("USE d").unwrap();
    (server, one, other)
}

/// Bytes of all shared plans.
fn plan_bytes(conn: &mut Conn) -> u64 {
    let row: (String, u64) =
        conn.query_first("SHOW GLOBAL STATUS LIKE 'Ratchet_plan_cache_bytes'").unwrap().unwrap();
    row.1
}

/// Prepares `sql`, runs it, and closes it.
fn run(conn: &mut Conn, sql: &str, params: Vec<Value>) -> Vec<(i64, String)> {
    let statement = conn.prep(sql).unwrap();
    let rows = conn.exec(&statement, params).unwrap();
    conn.close(statement).unwrap();
    rows
}

#[test]
fn a_second_session_finds_what_the_first_has_planned() {
    let (_server, mut one, mut other) = start();
    let sql = "SELECT a, c FROM t WHERE id = ?";
    let first = plan_bytes(&mut one);
    assert_eq!(run(&mut one, sql, vec![1.into()]), [(10, "x".to_owned())]);
    let known = plan_bytes(&mut one);
    assert!(known > first, "a plan for the description, one for the integer");
    for id in [2, 1, 3] {
        let expected: &[(i64, String)] = match id {
            1 => &[(10, "x".to_owned())],
            2 => &[(20, "y".to_owned())],
            _ => &[],
        };
        assert_eq!(run(&mut other, sql, vec![id.into()]), expected);
        assert_eq!(run(&mut one, sql, vec![id.into()]), expected);
    }
    assert_eq!(plan_bytes(&mut one), known, "no plan is made again");
    assert_eq!(run(&mut other, sql, vec!["2x".into()]), [(20, "y".to_owned())]);
    assert_eq!(plan_bytes(&mut one), known, "a text is converted to the type that the plan is for");
    assert_eq!(run(&mut other, sql, vec![2.5.into()]), []);
    assert!(plan_bytes(&mut one) > known, "a number of another class is compared otherwise");
}

#[test]
fn sessions_that_read_a_text_otherwise_have_plans_of_their_own() {
    let (_server, mut one, mut other) = start();
    let sql = "SELECT a, \"c\" FROM t WHERE id = ?";
    assert_eq!(run(&mut one, sql, vec![1.into()]), [(10, "c".to_owned())]);
    other.query_drop("SET sql_mode = 'ANSI_QUOTES'").unwrap();
    assert_eq!(run(&mut other, sql, vec![1.into()]), [(10, "x".to_owned())]);
    other.query_drop("USE e").unwrap();
    assert_eq!(run(&mut other, sql, vec![1.into()]), [(11, "z".to_owned())]);
    assert_eq!(run(&mut one, sql, vec![1.into()]), [(10, "c".to_owned())]);
    // The type of a user variable belongs to its session.
    let sql = "SELECT id, CONCAT(@v + 0) FROM t WHERE id = ?";
    one.query_drop("SET @v = 1").unwrap();
    other.query_drop("SET @v = 1.5").unwrap();
    assert_eq!(run(&mut one, sql, vec![1.into()]), [(1, "1".to_owned())]);
    assert_eq!(run(&mut other, sql, vec![1.into()]), [(1, format!("1.5{}", "0".repeat(29)))]);
}

#[test]
fn a_change_of_the_table_ends_all_plans_for_it() {
    let (_server, mut one, mut other) = start();
    let sql = "SELECT id, c FROM t WHERE a = ?";
    assert_eq!(run(&mut one, sql, vec![20.into()]), [(2, "y".to_owned())]);
    other.query_drop("ALTER TABLE t ADD INDEX (a)").unwrap();
    assert_eq!(run(&mut one, sql, vec![20.into()]), [(2, "y".to_owned())]);
    other.query_drop("DROP TABLE t").unwrap();
    assert!(one.prep(sql).unwrap_err().to_string().contains("1146"));
    other.query_drop("CREATE TABLE t (c VARCHAR(10), a BIGINT, id INT)").unwrap();
    other.query_drop("INSERT INTO t VALUES ('new', 20, 7)").unwrap();
    assert_eq!(run(&mut one, sql, vec![20.into()]), [(7, "new".to_owned())]);
}

#[test]
fn what_is_refused_is_refused_each_time() {
    let (_server, mut one, mut other) = start();
    for conn in [&mut one, &mut other] {
        for (sql, code) in [("SELECT nothing FROM t", "1054"), ("SELECT ? FROM", "1064"), ("USE d", "1295")] {
            assert!(conn.prep(sql).unwrap_err().to_string().contains(code), "{sql}");
        }
    }
    let statement = one.prep("INSERT INTO t VALUES (?, ?, ?)").unwrap();
    assert_eq!(statement.num_params(), 3);
    let again = other.prep("INSERT INTO t VALUES (?, ?, ?)").unwrap();
    assert_eq!(again.num_params(), 3);
    other.exec_drop(&again, (5, 50, "five")).unwrap();
    assert!(one.exec_drop(&statement, (5, 50, "five")).unwrap_err().to_string().contains("1062"));
}
