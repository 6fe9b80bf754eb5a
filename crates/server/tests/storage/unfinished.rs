//! A server that is killed with a large transaction open: the next one serves clients while it rolls that
//! back.

#![allow(clippy::unwrap_used, reason = "test code")]

use std::path::Path;

use mysql::Conn;
use mysql::prelude::Queryable;
use testkit::runner::Target;
use testkit::server::TestServer;

const BINARY: &str = env!("CARGO_BIN_EXE_ratchetd");

/// Rows that the open transaction inserts.
const ROWS: u32 = 200_000;

fn start(datadir: &Path) -> TestServer {
    let options = ["--innodb-buffer-pool-size=64M", "--ratchet-undo-memory-size=1M"];
    TestServer::start_on(Path::new(BINARY), datadir, &options).unwrap()
}

fn connect(server: &TestServer) -> Conn {
    let mut conn = Target { port: server.port, user: "root".to_owned() }.connect(None).unwrap();
    conn.query_drop("CREATE DATABASE IF NOT EXISTS d; USE d").unwrap();
    conn
}

fn run(conn: &mut Conn, statements: &[&str]) {
    for sql in statements {
        conn.query_drop(sql).unwrap_or_else(|e| panic!("{sql}: {e}"));
    }
}

/// The transactions that are being rolled back.
fn unfinished(conn: &mut Conn) -> Vec<(u64, u64)> {
    conn.query("SELECT trx_id, trx_mysql_thread_id FROM information_schema.INNODB_TRX WHERE trx_state = 'ROLLING BACK'")
        .unwrap()
}

fn error_of(conn: &mut Conn, sql: &str) -> u16 {
    match conn.query_drop(sql) {
        Err(mysql::Error::MySqlError(error)) => error.code,
        other => panic!("{sql}: {other:?}"),
    }
}

/// What plain reads find: rows, and the sum of a column.
fn seen(conn: &mut Conn) -> (u32, Option<i64>) {
    conn.query_first("SELECT COUNT(*), CAST(SUM(n) AS SIGNED) FROM t").unwrap().unwrap()
}

/// Wants to change the row that is rolled back last, for a second.
fn wait_in_vain(writer: &mut Conn, reader: &mut Conn) {
    run(writer, &["SET innodb_lock_wait_timeout = 1"]);
    match writer.query_drop("UPDATE t SET pad = 'c' WHERE id = -1") {
        Err(mysql::Error::MySqlError(error)) => assert_eq!(error.code, 1205),
        // All had been rolled back within the second.
        other => assert!(other.is_ok() && unfinished(reader).is_empty(), "{other:?}"),
    }
}

/// Two committed rows and, after them, a transaction that changes one of them first and then inserts many.
fn leave_open(datadir: &Path) {
    let server = start(datadir);
    let (mut open, mut other) = (connect(&server), connect(&server));
    run(
        &mut other,
        &[
            "CREATE TABLE t (id INT PRIMARY KEY, n INT, pad VARCHAR(20))",
            "CREATE TABLE u (id INT PRIMARY KEY, n INT)",
            "INSERT INTO t VALUES (-1, 10, 'a'), (-2, 20, 'b')",
        ],
    );
    run(&mut open, &["BEGIN", "UPDATE t SET n = 99 WHERE id = -1", "INSERT INTO t VALUES (0, 1, 'open')"]);
    let mut rows = 1;
    while rows < ROWS {
        let more = rows.min(ROWS - rows);
        open.query_drop(format!(
            "INSERT INTO t SELECT id + {rows}, n, pad FROM t WHERE id BETWEEN 0 AND {}",
            more - 1
        ))
        .unwrap();
        rows += more;
    }
    // Makes the open transaction's log durable, too.
    run(&mut other, &["INSERT INTO u VALUES (0, 0)"]);
    server.kill().unwrap();
}

#[test]
fn clients_are_served_while_a_large_transaction_is_rolled_back_also_after_a_second_kill() {
    let folder = tempfile::tempdir().unwrap();
    let datadir = folder.path().join("data");
    leave_open(&datadir);
    let mut ids = Vec::new();
    for round in 1..=2 {
        let server = start(&datadir);
        let (mut reader, mut writer) = (connect(&server), connect(&server));
        let listed = unfinished(&mut reader);
        assert_eq!(listed.iter().map(|(_, thread)| *thread).collect::<Vec<_>>(), [0], "round {round}");
        ids.push(listed[0].0);
        // The transaction's first change is undone last.
        assert_eq!(error_of(&mut writer, "SELECT * FROM t WHERE id = -1 FOR UPDATE NOWAIT"), 3572);
        let level = if round == 1 { "READ COMMITTED" } else { "REPEATABLE READ" };
        run(&mut reader, &[&format!("SET SESSION TRANSACTION ISOLATION LEVEL {level}")]);
        assert_eq!(seen(&mut reader), (2, Some(30)));
        if round == 2 {
            wait_in_vain(&mut writer, &mut reader);
        }
        run(
            &mut writer,
            &["UPDATE t SET n = 20 WHERE id = -2", &format!("INSERT INTO u VALUES ({round}, 1)")],
        );
        assert_eq!(reader.query_first::<u32, _>("SELECT COUNT(*) FROM u").unwrap(), Some(round + 1));
        let status: (String, String, String) =
            reader.query_first("SHOW ENGINE INNODB STATUS").unwrap().unwrap();
        assert!(status.2.contains("recovered trx") || unfinished(&mut reader).is_empty(), "{}", status.2);
        server.kill().unwrap();
    }
    assert_eq!(ids[0], ids[1], "the same transaction");
    let mut server = start(&datadir);
    let mut conn = connect(&server);
    while !unfinished(&mut conn).is_empty() {
        assert_eq!(seen(&mut conn), (2, Some(30)));
    }
    assert_eq!(seen(&mut conn), (2, Some(30)));
    run(&mut conn, &["UPDATE t SET n = 11 WHERE id = -1", "INSERT INTO t VALUES (5, 0, '')"]);
    let check: (String, String, String, String) = conn.query_first("CHECK TABLE t").unwrap().unwrap();
    assert_eq!((check.3.as_str(), seen(&mut conn)), ("OK", (3, Some(31))));
    server.shut_down().unwrap();
}
