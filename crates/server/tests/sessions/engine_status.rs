//! SHOW ENGINE INNODB STATUS, `innodb_print_all_deadlocks`, `innodb_deadlock_detect`: who waits for whom, and
//! what became of those who waited in a cycle.

#![allow(clippy::unwrap_used, reason = "test code")]

use std::path::Path;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use mysql::Conn;
use mysql::prelude::Queryable;
use testkit::runner::Target;
use testkit::server::TestServer;

/// A server with a table of three rows, and three sessions.
struct House {
    server: TestServer,
    watcher: Conn,
    first: Conn,
    second: Conn,
    log: tempfile::TempDir,
}

impl House {
    fn open() -> Self {
        let log = tempfile::tempdir().unwrap();
        let option = format!("--log-error={}", log.path().join("log").display());
        let server = TestServer::start(Path::new(env!("CARGO_BIN_EXE_ratchetd")), &[&option]).unwrap();
        let target = Target { port: server.port, user: "root".to_owned() };
        let mut watcher = target.connect(None).unwrap();
        for sql in [
            "CREATE DATABASE d",
            "USE d",
            "CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20))",
            "INSERT INTO t VALUES (1, 'a'), (2, 'b'), (5, 'e')",
        ] {
            watcher.query_drop(sql).unwrap();
        }
        let [first, second] = [(); 2].map(|()| target.connect(Some("d")).unwrap());
        House { server, watcher, first, second, log }
    }

    fn status(&mut self) -> String {
        let mut rows: Vec<(String, String, String)> =
            self.watcher.query("SHOW ENGINE INNODB STATUS").unwrap();
        let (kind, name, status) = rows.pop().unwrap();
        assert_eq!((kind.as_str(), name.as_str(), rows.len()), ("InnoDB", "", 0));
        status
    }

    /// The status once it has `text`.
    fn status_with(&mut self, text: &str) -> String {
        let deadline = Instant::now() + Duration::from_secs(30);
        loop {
            let status = self.status();
            if status.contains(text) {
                return status;
            }
            assert!(Instant::now() < deadline, "no '{text}' in\n{status}");
        }
    }
}

/// Runs `sql` on a thread of its own; the code of its error, or 0, comes with the connection.
fn begin(mut conn: Conn, sql: &'static str) -> JoinHandle<(Conn, u16)> {
    std::thread::spawn(move || match conn.query_drop(sql) {
        Ok(()) => (conn, 0),
        Err(mysql::Error::MySqlError(error)) => (conn, error.code),
        Err(error) => panic!("{sql}: {error}"),
    })
}

#[test]
fn a_transaction_that_waits_is_shown_with_what_it_waits_for() {
    let mut house = House::open();
    house.first.query_drop("BEGIN").unwrap();
    house.first.query_drop("UPDATE t SET v = 'x' WHERE id = 2").unwrap();
    let other = Conn::new(opts(&house)).unwrap();
    let second = std::mem::replace(&mut house.second, other);
    let (holder, waiter) = (house.first.connection_id(), second.connection_id());
    let waiting = begin(second, "UPDATE t SET v = 'y' WHERE id = 2");
    let status = house.status_with("LOCK WAIT 1 row lock(s), 0 gap lock(s)");
    for line in [
        "TRANSACTIONS",
        "Trx id counter ",
        "History list length ",
        "1 row lock(s), 0 gap lock(s), undo log entries 1",
        &format!("MySQL thread id {holder}, "),
        &format!("MySQL thread id {waiter}, "),
        "UPDATE t SET v = 'y' WHERE id = 2",
        "SEC FOR THIS LOCK TO BE GRANTED:",
        "RECORD LOCKS index PRIMARY of table `d`.`t` trx id ",
        "lock_mode X locks rec but not gap waiting\nRecord lock, key: 2\n",
        "END OF INNODB MONITOR OUTPUT",
    ] {
        assert!(status.contains(line), "no '{line}' in\n{status}");
    }
    assert!(!status.contains("LATEST DETECTED DEADLOCK"));
    house.first.query_drop("COMMIT").unwrap();
    assert_eq!(waiting.join().unwrap().1, 0);
    assert!(!house.status().contains("ACTIVE"), "{}", house.status());
}

fn opts(house: &House) -> mysql::Opts {
    let builder = mysql::OptsBuilder::new().ip_or_hostname(Some("127.0.0.1")).tcp_port(house.server.port);
    builder.user(Some("root")).db_name(Some("d")).into()
}

/// Two transactions that change a row each and then want the other's; what the two second statements came to.
fn cross(house: &mut House) -> [u16; 2] {
    for (conn, id) in [(&mut house.first, 1), (&mut house.second, 2)] {
        conn.query_drop("SET innodb_lock_wait_timeout = 2").unwrap();
        conn.query_drop("BEGIN").unwrap();
        conn.query_drop(format!("UPDATE t SET v = 'x' WHERE id = {id}")).unwrap();
    }
    let other = Conn::new(opts(house)).unwrap();
    let first = begin(std::mem::replace(&mut house.first, other), "UPDATE t SET v = 'first' WHERE id = 2");
    house.status_with("LOCK WAIT 1 row lock(s)");
    let second = match house.second.query_drop("UPDATE t SET v = 'second' WHERE id = 1") {
        Ok(()) => 0,
        Err(mysql::Error::MySqlError(error)) => error.code,
        Err(error) => panic!("{error}"),
    };
    let (conn, first) = first.join().unwrap();
    house.first = conn;
    [first, second]
}

#[test]
fn a_deadlock_is_told_with_the_statements_of_its_members() {
    let mut house = House::open();
    house.watcher.query_drop("SET GLOBAL innodb_print_all_deadlocks = ON").unwrap();
    assert_eq!(cross(&mut house), [0, 1213]);
    let status = house.status();
    let log = std::fs::read_to_string(house.log.path().join("log")).unwrap();
    let ids = [house.first.connection_id(), house.second.connection_id()];
    for line in [
        &format!("MySQL thread id {}, ", ids[0])[..],
        &format!("MySQL thread id {}, ", ids[1]),
        "*** (1) TRANSACTION:\nTRANSACTION ",
        "UPDATE t SET v = 'first' WHERE id = 2\n\n*** (1) HOLDS THE LOCK(S):\nRECORD LOCKS index PRIMARY of table `d`.`t`",
        "locks rec but not gap\nRecord lock, key: 1\n\n*** (1) WAITING FOR THIS LOCK TO BE GRANTED:",
        "locks rec but not gap waiting\nRecord lock, key: 2\n\n*** (2) TRANSACTION:",
        "UPDATE t SET v = 'second' WHERE id = 1\n\n*** (2) HOLDS THE LOCK(S):",
        "*** WE ROLL BACK TRANSACTION (2)\n",
    ] {
        assert!(status.contains(line), "no '{line}' in\n{status}");
        assert!(log.contains(line), "no '{line}' in the log\n{log}");
    }
    assert!(status.contains("LATEST DETECTED DEADLOCK"));
    // Asked for no longer, the next one is not written, nor this one later.
    house.watcher.query_drop("SET GLOBAL innodb_print_all_deadlocks = OFF").unwrap();
    house.first.query_drop("ROLLBACK").unwrap();
    house.second.query_drop("ROLLBACK").unwrap();
    assert_eq!(cross(&mut house), [0, 1213]);
    assert_eq!(std::fs::read_to_string(house.log.path().join("log")).unwrap(), log);
}

#[test]
fn without_detection_a_deadlock_ends_by_timeout() {
    let mut house = House::open();
    house.watcher.query_drop("SET GLOBAL innodb_deadlock_detect = OFF").unwrap();
    let [first, second] = cross(&mut house);
    assert!(first == 1205 || second == 1205, "{first}, {second}");
    assert!(first != 1213 && second != 1213);
    assert!(!house.status().contains("LATEST DETECTED DEADLOCK"));
}

#[test]
fn gaps_and_the_wish_to_insert_into_them_are_told() {
    let mut house = House::open();
    house.first.query_drop("BEGIN").unwrap();
    house.first.query_drop("SELECT * FROM t WHERE id > 2 AND id < 5 FOR UPDATE").unwrap();
    let other = Conn::new(opts(&house)).unwrap();
    let waiting = begin(std::mem::replace(&mut house.second, other), "INSERT INTO t VALUES (4, 'd')");
    let status = house.status_with("insert intention waiting\nRecord lock, key: 4\n");
    assert!(status.contains("1 gap lock(s)"), "{status}");
    house.first.query_drop("COMMIT").unwrap();
    assert_eq!(waiting.join().unwrap().1, 0);
}

#[test]
fn only_administrators_see_it_and_only_one_engine_is_there() {
    let mut house = House::open();
    let code = |result: mysql::Result<()>| match result {
        Err(mysql::Error::MySqlError(error)) => error.code,
        other => panic!("{other:?}"),
    };
    assert_eq!(code(house.first.query_drop("SHOW ENGINE foo STATUS")), 1286);
    house.first.query_drop("SHOW ENGINE ALL STATUS").unwrap();
    assert!(house.first.query::<mysql::Row, _>("SHOW ENGINE INNODB MUTEX").unwrap().is_empty());
    house.first.query_drop("CREATE USER u").unwrap();
    let mut user =
        Conn::new(mysql::OptsBuilder::from_opts(opts(&house)).user(Some("u")).db_name(None::<&str>)).unwrap();
    assert_eq!(code(user.query_drop("SHOW ENGINE INNODB STATUS")), 1227);
}
