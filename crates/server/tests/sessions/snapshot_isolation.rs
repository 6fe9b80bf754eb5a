//! `innodb_snapshot_isolation`: what a transaction's view does not see is neither locked nor changed. What
//! MariaDB 11.8 answers, case by case, except for the text of the error, which is MySQL's.

#![allow(clippy::unwrap_used, reason = "test code")]

use std::path::Path;

use mysql::Conn;
use mysql::prelude::Queryable;
use testkit::runner::Target;
use testkit::server::TestServer;

const REPEATABLE_READ: &str = "REPEATABLE READ";
const VIEW: &str = "SELECT COUNT(*) FROM t";

struct Sessions {
    _server: TestServer,
    own: Conn,
    other: Conn,
}

impl Sessions {
    fn start() -> Self {
        let server = TestServer::start(Path::new(env!("CARGO_BIN_EXE_ratchetd")), &[]).unwrap();
        let target = Target { port: server.port, user: "root".to_owned() };
        let mut other = target.connect(None).unwrap();
        other.query_drop("CREATE DATABASE d").unwrap();
        other.query_drop("USE d").unwrap();
        other
            .query_drop("CREATE TABLE t (id INT PRIMARY KEY, k INT, v INT, KEY (k), UNIQUE KEY u (v))")
            .unwrap();
        let mut own = target.connect(Some("d")).unwrap();
        own.query_drop("SET innodb_snapshot_isolation = ON, innodb_lock_wait_timeout = 1").unwrap();
        Sessions { _server: server, own, other }
    }

    /// Begins at `level` with three rows in the table, runs `first`, lets the other session change something,
    /// and runs `statement`: the number and text of its error, if it has one.
    fn run(&mut self, level: &str, first: &str, change: &str, statement: &str) -> Option<(u16, String)> {
        self.own.query_drop("ROLLBACK").unwrap();
        self.other.query_drop("DELETE FROM t").unwrap();
        self.other.query_drop("INSERT INTO t VALUES (1, 1, 10), (2, 2, 20), (3, 3, 30)").unwrap();
        self.own.query_drop(format!("SET SESSION TRANSACTION ISOLATION LEVEL {level}")).unwrap();
        self.own.query_drop("BEGIN").unwrap();
        self.own.query_drop("SAVEPOINT s").unwrap();
        self.own.query_drop(first).unwrap();
        self.other.query_drop(change).unwrap();
        match self.own.query_drop(statement) {
            Ok(()) => None,
            Err(mysql::Error::MySqlError(error)) => Some((error.code, error.message)),
            Err(error) => panic!("{statement}: {error}"),
        }
    }

    fn code(&mut self, level: &str, first: &str, change: &str, statement: &str) -> u16 {
        self.run(level, first, change, statement).map_or(0, |(code, _)| code)
    }
}

const CHANGE: &str = "UPDATE t SET v = 11 WHERE id = 1";
const NEW: &str = "INSERT INTO t VALUES (4, 4, 40)";
const GONE: &str = "DELETE FROM t WHERE id = 1";
const MOVED: &str = "UPDATE t SET k = 5 WHERE id = 1";

/// What another changed since the view, what is asked for, and the error.
const CASES: [(&str, &str, u16); 24] = [
    (CHANGE, "UPDATE t SET v = 12 WHERE id = 1", 1020),
    (CHANGE, "UPDATE t SET v = CONCAT(v, 1) WHERE id = 1", 1020),
    (CHANGE, "UPDATE t SET v = 11 WHERE id = 1", 1020),
    (CHANGE, "DELETE FROM t WHERE id = 1", 1020),
    (CHANGE, "SELECT * FROM t WHERE id = 1 FOR SHARE", 1020),
    (CHANGE, "SELECT * FROM t FOR UPDATE SKIP LOCKED", 1020),
    (CHANGE, "UPDATE t SET k = k + 100 WHERE v + 0 = 20", 1020),
    (CHANGE, "UPDATE t SET v = v + 100 WHERE k = 1", 1020),
    (CHANGE, "INSERT INTO t SELECT id + 10, k, v + 100 FROM t WHERE id = 1", 1020),
    (CHANGE, "INSERT INTO t VALUES (1, 4, 41) ON DUPLICATE KEY UPDATE k = 9", 1020),
    (CHANGE, "REPLACE INTO t VALUES (1, 4, 41)", 1020),
    (CHANGE, "UPDATE t SET v = 22 WHERE id = 2", 0),
    (GONE, "UPDATE t SET v = 12 WHERE id = 1", 1020),
    (GONE, "SELECT * FROM t WHERE id = 1 FOR UPDATE", 1020),
    (GONE, "INSERT INTO t VALUES (1, 4, 41)", 1020),
    (NEW, "UPDATE t SET v = v + 100 WHERE id >= 3", 1020),
    (NEW, "SELECT * FROM t WHERE id = 4 FOR UPDATE", 1020),
    (NEW, "INSERT INTO t VALUES (4, 4, 41)", 1020),
    (NEW, "INSERT IGNORE INTO t VALUES (4, 4, 41)", 1020),
    (NEW, "INSERT INTO t VALUES (5, 5, 40)", 1062),
    (NEW, "SELECT * FROM t", 0),
    (MOVED, "UPDATE t SET v = v + 100 WHERE k = 5", 1020),
    (MOVED, "UPDATE t SET v = v + 100 WHERE k = 1", 0),
    ("UPDATE t SET v = 10 WHERE id = 1", "UPDATE t SET v = 12 WHERE id = 1", 0),
];

#[test]
fn what_the_view_does_not_see_is_refused() {
    let mut sessions = Sessions::start();
    for (change, statement, expected) in CASES {
        assert_eq!(
            sessions.code(REPEATABLE_READ, VIEW, change, statement),
            expected,
            "{change}; {statement}"
        );
    }
}

#[test]
fn the_whole_transaction_is_rolled_back() {
    let mut sessions = Sessions::start();
    let own = "INSERT INTO t SELECT 9, 9, COUNT(*) FROM (SELECT 1 AS n) AS one";
    sessions.run(REPEATABLE_READ, own, "SELECT 1", VIEW);
    sessions.other.query_drop(CHANGE).unwrap();
    let error = sessions.own.query_drop("UPDATE t SET v = 12 WHERE id = 1").unwrap_err().to_string();
    assert!(error.contains("1020 (HY000): Record has changed since last read in table 't'"), "{error}");
    let lost = sessions.own.query_drop("ROLLBACK TO SAVEPOINT s").unwrap_err().to_string();
    assert!(lost.contains("1305"), "{lost}");
    let rows: Vec<(i32, i32)> = sessions.own.query("SELECT id, v FROM t ORDER BY id").unwrap();
    assert_eq!(rows, [(1, 11), (2, 20), (3, 30)]);
}

#[test]
fn only_views_of_transactions_count() {
    let mut sessions = Sessions::start();
    let update = "UPDATE t SET v = 12 WHERE id = 1";
    for level in ["READ UNCOMMITTED", "READ COMMITTED"] {
        assert_eq!(sessions.code(level, VIEW, CHANGE, update), 0, "{level}");
    }
    for first in ["SELECT 1", "SELECT * FROM t WHERE id = 2 FOR UPDATE", "UPDATE t SET v = 21 WHERE id = 2"] {
        assert_eq!(sessions.code(REPEATABLE_READ, first, CHANGE, update), 0, "no view yet after {first}");
    }
    let snapshot = "START TRANSACTION WITH CONSISTENT SNAPSHOT";
    for level in [REPEATABLE_READ, "SERIALIZABLE"] {
        assert_eq!(sessions.code(level, snapshot, CHANGE, update), 1020, "{level}");
        assert_eq!(sessions.code(level, "SELECT * FROM t WHERE id = 2", CHANGE, update), 1020, "{level}");
    }
    assert_eq!(sessions.code("SERIALIZABLE", snapshot, CHANGE, "SELECT * FROM t"), 1020);
    sessions.own.query_drop("SET innodb_snapshot_isolation = OFF").unwrap();
    assert_eq!(sessions.code(REPEATABLE_READ, VIEW, CHANGE, update), 0);
}

#[test]
fn a_change_that_is_rolled_back_is_none() {
    let mut sessions = Sessions::start();
    let update = "UPDATE t SET v = 12 WHERE id = 1";
    sessions.run(REPEATABLE_READ, VIEW, "BEGIN", "SELECT 1");
    sessions.other.query_drop(CHANGE).unwrap();
    let waited = sessions.own.query_drop(update).unwrap_err().to_string();
    assert!(waited.contains("1205"), "{waited}");
    sessions.other.query_drop("ROLLBACK").unwrap();
    sessions.own.query_drop(update).unwrap();
    sessions.own.query_drop("UPDATE t SET v = 13 WHERE id = 1").unwrap();
}
