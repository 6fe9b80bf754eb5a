//! Transactions, plans and prepared statements over several connections.

#![allow(clippy::unwrap_used, reason = "test code")]

use std::path::Path;
use std::time::{Duration, Instant};

use mysql::prelude::Queryable;
use mysql::{Conn, Value};
use testkit::runner::Target;
use testkit::server::TestServer;

fn binary() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_ratchetd"))
}

/// A server with a table `d.t (id, v)` of three rows.
fn server() -> TestServer {
    let server = TestServer::start(binary(), &[]).unwrap();
    let mut conn = connect(&server, None);
    for sql in [
        "CREATE DATABASE d",
        "CREATE TABLE d.t (id INT PRIMARY KEY, v INT)",
        "INSERT INTO d.t VALUES (1, 10), (2, 20), (3, 30)",
    ] {
        conn.query_drop(sql).unwrap();
    }
    server
}

fn connect(server: &TestServer, schema: Option<&str>) -> Conn {
    Target { port: server.port, user: "root".to_owned() }.connect(schema).unwrap()
}

fn value(conn: &mut Conn, sql: &str) -> Option<i64> {
    conn.query_first::<Option<i64>, _>(sql).unwrap().flatten()
}

fn error_code(result: Result<(), mysql::Error>) -> u16 {
    match result {
        Err(mysql::Error::MySqlError(error)) => error.code,
        other => panic!("expected an error of the server, got {other:?}"),
    }
}

const V1: &str = "SELECT v FROM t WHERE id = 1";

#[test]
fn a_repeatable_read_keeps_its_view_and_a_committed_read_does_not() {
    let server = server();
    let (mut repeatable, mut committed, mut writer) =
        (connect(&server, Some("d")), connect(&server, Some("d")), connect(&server, Some("d")));
    committed.query_drop("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED").unwrap();
    for conn in [&mut repeatable, &mut committed] {
        conn.query_drop("BEGIN").unwrap();
        assert_eq!(value(conn, V1), Some(10));
    }
    writer.query_drop("UPDATE t SET v = 11 WHERE id = 1").unwrap();
    assert_eq!(value(&mut repeatable, V1), Some(10));
    assert_eq!(value(&mut committed, V1), Some(11));
    repeatable.query_drop("COMMIT").unwrap();
    assert_eq!(value(&mut repeatable, V1), Some(11));
}

#[test]
fn changes_are_seen_by_others_after_the_commit_only() {
    let server = server();
    let (mut a, mut b) = (connect(&server, Some("d")), connect(&server, Some("d")));
    a.query_drop("SET autocommit = 0").unwrap();
    a.query_drop("UPDATE t SET v = v + 1").unwrap();
    assert_eq!((value(&mut a, V1), value(&mut b, V1)), (Some(11), Some(10)));
    a.query_drop("ROLLBACK").unwrap();
    assert_eq!(value(&mut a, V1), Some(10));
    a.query_drop("DELETE FROM t WHERE id = 1").unwrap();
    a.query_drop("COMMIT").unwrap();
    assert_eq!(value(&mut b, V1), None);
}

#[test]
fn savepoints_and_failed_statements_undo_what_came_after_them() {
    let server = server();
    let mut conn = connect(&server, Some("d"));
    conn.query_drop("BEGIN").unwrap();
    conn.query_drop("UPDATE t SET v = 1 WHERE id = 1").unwrap();
    conn.query_drop("SAVEPOINT s").unwrap();
    conn.query_drop("UPDATE t SET v = 2 WHERE id = 1").unwrap();
    assert_eq!(error_code(conn.query_drop("INSERT INTO t VALUES (7, 7), (1, 1)")), 1062);
    assert_eq!(value(&mut conn, "SELECT COUNT(*) FROM t"), Some(3), "the row before the duplicate is gone");
    conn.query_drop("ROLLBACK TO s").unwrap();
    assert_eq!(value(&mut conn, V1), Some(1));
    assert_eq!(error_code(conn.query_drop("ROLLBACK TO nowhere")), 1305);
    conn.query_drop("COMMIT").unwrap();
    assert_eq!(value(&mut conn, V1), Some(1));
}

#[test]
fn a_writer_waits_for_another_until_its_timeout_or_a_kill() {
    let server = server();
    let (mut holder, mut waiter) = (connect(&server, Some("d")), connect(&server, Some("d")));
    holder.query_drop("BEGIN").unwrap();
    holder.query_drop("UPDATE t SET v = 0 WHERE id = 1").unwrap();
    waiter.query_drop("SET innodb_lock_wait_timeout = 1").unwrap();
    assert_eq!(error_code(waiter.query_drop("UPDATE t SET v = 5 WHERE id = 1")), 1205);
    waiter.query_drop("SET innodb_lock_wait_timeout = 100").unwrap();
    let id = waiter.connection_id();
    let thread = std::thread::spawn(move || error_code(waiter.query_drop("DELETE FROM t WHERE id = 1")));
    let started = Instant::now();
    while !thread.is_finished() && started.elapsed() < Duration::from_secs(20) {
        holder.query_drop(format!("KILL QUERY {id}")).unwrap();
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(thread.join().unwrap(), 1317);
}

#[test]
fn a_wait_in_an_open_transaction_ends_by_the_time_limit_set_last() {
    let server = server();
    let (mut holder, mut waiter) = (connect(&server, Some("d")), connect(&server, Some("d")));
    holder.query_drop("BEGIN").unwrap();
    holder.query_drop("UPDATE t SET v = 0 WHERE id = 1").unwrap();
    waiter.query_drop("SET innodb_lock_wait_timeout = 1000").unwrap();
    waiter.query_drop("BEGIN").unwrap();
    waiter.query_drop("UPDATE t SET v = 5 WHERE id = 2").unwrap();
    waiter.query_drop("SET innodb_lock_wait_timeout = 1, lock_wait_timeout = 1").unwrap();
    assert_eq!(error_code(waiter.query_drop("UPDATE t SET v = 5 WHERE id = 1")), 1205);
    assert_eq!(error_code(waiter.query_drop("SELECT v FROM t WHERE id = 1 FOR UPDATE")), 1205);
}

#[test]
fn cached_and_prepared_plans_follow_the_definition() {
    let server = server();
    let (mut a, mut b) = (connect(&server, Some("d")), connect(&server, Some("d")));
    let statement = a.prep("SELECT v FROM t WHERE v = ? ORDER BY id").unwrap();
    let prepared = |conn: &mut Conn, v: i64| conn.exec::<i64, _, _>(&statement, (v,)).unwrap();
    let text = |conn: &mut Conn, v: i64| {
        conn.query::<i64, _>(format!("SELECT v FROM t WHERE v = {v} ORDER BY id")).unwrap()
    };
    for _ in 0..2 {
        assert_eq!((prepared(&mut a, 20), text(&mut a, 30)), (vec![20], vec![30]));
    }
    b.query_drop("CREATE INDEX k ON t (v)").unwrap();
    assert_eq!((prepared(&mut a, 20), text(&mut a, 30)), (vec![20], vec![30]));
    b.query_drop("TRUNCATE TABLE t").unwrap();
    assert_eq!((prepared(&mut a, 20), text(&mut a, 30)), (vec![], vec![]));
    b.query_drop("DROP TABLE t").unwrap();
    assert_eq!(error_code(a.exec_drop(&statement, (1,))), 1146);
    b.query_drop("CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(10))").unwrap();
    b.query_drop("INSERT INTO t VALUES (1, '20')").unwrap();
    assert_eq!((prepared(&mut a, 20), text(&mut a, 20)), (vec![20], vec![20]));
}

#[test]
fn one_text_means_what_its_session_says() {
    let server = server();
    let mut conn = connect(&server, Some("d"));
    conn.query_drop("CREATE DATABASE e").unwrap();
    conn.query_drop("CREATE TABLE e.t (id INT PRIMARY KEY, v INT)").unwrap();
    conn.query_drop("INSERT INTO e.t VALUES (1, 99)").unwrap();
    assert_eq!(value(&mut conn, V1), Some(10));
    conn.query_drop("USE e").unwrap();
    assert_eq!(value(&mut conn, V1), Some(99));
    let text = "SELECT \"id\" FROM t WHERE id = 1";
    assert_eq!(conn.query_first::<String, _>(text).unwrap().unwrap(), "id");
    conn.query_drop("SET sql_mode = 'ANSI_QUOTES'").unwrap();
    assert_eq!(value(&mut conn, text), Some(1));
}

#[test]
fn literals_of_one_shape_keep_their_own_values() {
    let server = server();
    let mut conn = connect(&server, None);
    for (text, expected) in [
        ("SELECT COUNT(*) FROM d.t WHERE id = 1", 1),
        ("SELECT COUNT(*) FROM d.t WHERE id = 4", 0),
        ("SELECT COUNT(*) FROM d.t WHERE id = '2'", 1),
        ("SELECT COUNT(*) FROM d.t WHERE id = '2x'", 1),
        ("SELECT COUNT(*) FROM d.t WHERE id = 2.0", 1),
        ("SELECT COUNT(*) FROM d.t WHERE id = 2.5", 0),
        ("SELECT COUNT(*) FROM d.t WHERE id < 18446744073709551615", 3),
        ("SELECT COUNT(*) FROM d.t WHERE id < 99999999999999999999999", 3),
        ("SELECT COUNT(*) FROM d.t WHERE id < 2", 1),
        ("SELECT COUNT(*) FROM d.t WHERE id < 1e1", 3),
    ] {
        for _ in 0..2 {
            assert_eq!(value(&mut conn, text), Some(expected), "{text}");
        }
    }
}

#[test]
fn prepared_statements_take_values_of_any_type() {
    let server = server();
    let mut conn = connect(&server, Some("d"));
    let insert = conn.prep("INSERT INTO t VALUES (?, ?)").unwrap();
    conn.exec_drop(&insert, (50, 500)).unwrap();
    conn.exec_drop(&insert, (51, Value::NULL)).unwrap();
    conn.exec_drop(&insert, ("52", "520")).unwrap();
    let by_id = conn.prep("SELECT v FROM t WHERE id = ?").unwrap();
    for (id, expected) in [
        (Value::Int(50), Some(500)),
        (Value::Int(51), None),
        (Value::Bytes(b"52".to_vec()), Some(520)),
        (Value::Double(50.0), Some(500)),
        (Value::NULL, None),
    ] {
        let found: Option<Option<i64>> = conn.exec_first(&by_id, (id.clone(),)).unwrap();
        assert_eq!(found.flatten(), expected, "{id:?}");
    }
    let limit = conn.prep("SELECT id FROM t ORDER BY id LIMIT ?").unwrap();
    assert_eq!(conn.exec::<i64, _, _>(&limit, (2,)).unwrap(), [1, 2]);
    assert_eq!(limit.columns().len(), 1, "columns are known before the execution");
}

#[test]
fn several_statements_in_one_text_answer_one_by_one() {
    let server = server();
    let mut conn = connect(&server, Some("d"));
    let mut results =
        conn.query_iter("SELECT 1; INSERT INTO t VALUES (9, 9); SELECT id FROM t WHERE v = 9").unwrap();
    let mut sets = Vec::new();
    while let Some(set) = results.iter() {
        sets.push(set.map(|row| row.unwrap().get::<i64, _>(0).unwrap()).collect::<Vec<_>>());
    }
    drop(results);
    assert_eq!(sets, [vec![1], vec![], vec![9]]);
}

#[test]
fn named_statements_run_with_variables() {
    let server = server();
    let mut conn = connect(&server, Some("d"));
    conn.query_drop("PREPARE s FROM 'SELECT v FROM t WHERE id = ?'").unwrap();
    conn.query_drop("SET @id = 2").unwrap();
    assert_eq!(value(&mut conn, "EXECUTE s USING @id"), Some(20));
    assert_eq!(error_code(conn.query_drop("EXECUTE s")), 1210);
    conn.query_drop("DEALLOCATE PREPARE s").unwrap();
    assert_eq!(error_code(conn.query_drop("EXECUTE s USING @id")), 1243);
}

#[test]
fn tables_and_accounts_survive_a_clean_restart() {
    let folder = tempfile::tempdir().unwrap();
    let datadir = folder.path().join("data");
    let mut server = TestServer::start_on(binary(), &datadir, &[]).unwrap();
    let mut conn = connect(&server, None);
    for sql in [
        "CREATE DATABASE d",
        "CREATE TABLE d.t (id INT PRIMARY KEY AUTO_INCREMENT, v INT)",
        "INSERT INTO d.t (v) VALUES (1), (2)",
        "CREATE USER bob@localhost",
        "GRANT SELECT ON d.* TO bob@localhost",
        "BEGIN",
        "INSERT INTO d.t (v) VALUES (3)",
    ] {
        conn.query_drop(sql).unwrap();
    }
    server.shut_down().unwrap();
    let server = TestServer::start_on(binary(), &datadir, &[]).unwrap();
    let mut bob = Target { port: server.port, user: "bob".to_owned() }.connect(Some("d")).unwrap();
    assert_eq!(value(&mut bob, "SELECT COUNT(*) FROM t"), Some(2), "the open transaction was rolled back");
}

#[test]
fn a_local_file_is_loaded_through_variables() {
    let server = TestServer::start(binary(), &["--local-infile=1"]).unwrap();
    let mut conn = connect(&server, None);
    conn.query_drop("CREATE DATABASE d").unwrap();
    conn.query_drop("CREATE TABLE d.names (id INT PRIMARY KEY, name VARCHAR(20))").unwrap();
    conn.set_local_infile_handler(Some(mysql::LocalInfileHandler::new(|name, out| {
        use std::io::Write as _;
        assert_eq!(name, b"names.txt");
        (1..=20_000).try_for_each(|id| writeln!(out, "{id}\tname {id}"))
    })));
    let load = "LOAD DATA LOCAL INFILE 'names.txt' INTO TABLE d.names (id, @n) SET name = UPPER(@n)";
    conn.query_drop(load).unwrap();
    assert_eq!(conn.affected_rows(), 20_000);
    assert_eq!(
        value(&mut conn, "SELECT COUNT(*) FROM d.names WHERE BINARY name LIKE 'NAME %'"),
        Some(20_000)
    );
    // Every line is in the way of itself now: the file is read to its end all the same.
    conn.query_drop(load).unwrap();
    assert_eq!(conn.affected_rows(), 0);
    assert_eq!(value(&mut conn, "SELECT 1"), Some(1));
}
