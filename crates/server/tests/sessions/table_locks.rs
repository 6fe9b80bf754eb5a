//! LOCK TABLES: when locks are given back without being asked for, that nobody waits in a cycle, and what a
//! dump does with them. What it answers: `tests/isolation/lock_tables.test`.

#![allow(clippy::unwrap_used, reason = "test code")]

use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use mysql::Conn;
use mysql::prelude::Queryable;
use testkit::runner::Target;
use testkit::server::TestServer;

struct House {
    target: Target,
    _server: TestServer,
}

impl House {
    fn open() -> Self {
        let server = TestServer::start(Path::new(env!("CARGO_BIN_EXE_ratchetd")), &[]).unwrap();
        let target = Target { port: server.port, user: "root".to_owned() };
        let mut conn = target.connect(None).unwrap();
        for sql in [
            "CREATE DATABASE d",
            "CREATE TABLE d.t (id INT PRIMARY KEY, v INT)",
            "CREATE TABLE d.u (id INT PRIMARY KEY, v INT)",
            "INSERT INTO d.t VALUES (1, 1)",
        ] {
            conn.query_drop(sql).unwrap();
        }
        House { target, _server: server }
    }

    fn connect(&self) -> Conn {
        self.target.connect(Some("d")).unwrap()
    }
}

fn code(conn: &mut Conn, sql: &str) -> u16 {
    match conn.query_drop(sql) {
        Ok(()) => 0,
        Err(mysql::Error::MySqlError(error)) => error.code,
        Err(error) => panic!("{sql}: {error}"),
    }
}

/// Runs `sql` on a thread of its own, which is still at it when this returns.
fn wait_for(mut conn: Conn, sql: &'static str) -> JoinHandle<(Conn, u16)> {
    let (done, is_done) = channel();
    let thread = std::thread::spawn(move || {
        let code = code(&mut conn, sql);
        let _ = done.send(());
        (conn, code)
    });
    assert_eq!(is_done.recv_timeout(Duration::from_millis(200)), Err(RecvTimeoutError::Timeout), "{sql}");
    thread
}

#[test]
fn locks_go_with_their_session() {
    let house = House::open();
    for how in ["quit", "reset", "change user", "begin"] {
        let mut holder = house.connect();
        assert_eq!(code(&mut holder, "LOCK TABLES t WRITE, u READ"), 0);
        let waiter = wait_for(house.connect(), "UPDATE u SET v = 1 WHERE id = (SELECT MAX(id) FROM t)");
        let mut kept = None;
        match how {
            "quit" => drop(holder),
            "reset" => {
                holder.reset().unwrap();
                kept = Some(holder);
            }
            "change user" => {
                holder.change_user(mysql::ChangeUserOpts::new()).unwrap();
                kept = Some(holder);
            }
            _ => {
                holder.query_drop("BEGIN").unwrap();
                kept = Some(holder);
            }
        }
        assert_eq!(waiter.join().unwrap().1, 0, "{how}");
        drop(kept);
    }
}

#[test]
fn a_transaction_and_lock_tables_do_not_wait_for_each_other_in_a_cycle() {
    let house = House::open();
    let [mut trx, locker] = [(); 2].map(|()| house.connect());
    trx.query_drop("BEGIN").unwrap();
    trx.query_drop("INSERT INTO u VALUES (7, 7)").unwrap();
    let locker = wait_for(locker, "LOCK TABLES t WRITE, u WRITE");
    // The one that waits for u does not have t.
    assert_eq!(code(&mut trx, "UPDATE t SET v = 2"), 0);
    trx.query_drop("COMMIT").unwrap();
    let (mut locker, locked) = locker.join().unwrap();
    assert_eq!((locked, code(&mut locker, "DELETE FROM u")), (0, 0));
}

#[test]
fn a_session_does_not_wait_behind_those_that_wait_for_it() {
    let house = House::open();
    let mut reader = house.connect();
    assert_eq!(code(&mut reader, "LOCK TABLES t READ"), 0);
    let locker = wait_for(house.connect(), "LOCK TABLES t WRITE");
    let newcomer = wait_for(house.connect(), "SELECT * FROM t");
    assert_eq!(code(&mut reader, "SELECT * FROM t"), 0);
    assert_eq!(code(&mut reader, "UNLOCK TABLES"), 0);
    let (mut locker, locked) = locker.join().unwrap();
    assert_eq!((locked, code(&mut locker, "UNLOCK TABLES"), newcomer.join().unwrap().1), (0, 0, 0));
}

#[test]
fn newcomers_wait_behind_a_definition_change_for_moments_only() {
    let house = House::open();
    let mut reader = house.connect();
    assert_eq!(code(&mut reader, "LOCK TABLES t READ"), 0);
    let definer = wait_for(house.connect(), "ALTER TABLE t COMMENT = 'new'");
    for _ in 0..20 {
        assert_eq!(code(&mut house.connect(), "SELECT * FROM t"), 0);
    }
    assert!(!definer.is_finished());
    assert_eq!(code(&mut reader, "UNLOCK TABLES"), 0);
    assert_eq!(definer.join().unwrap().1, 0);
}

#[test]
fn kill_ends_a_wait_for_a_locked_table() {
    let house = House::open();
    let [mut holder, mut watcher, waiter, mut upgrader] = [(); 4].map(|()| house.connect());
    upgrader.query_drop("BEGIN").unwrap();
    upgrader.query_drop("SELECT * FROM u").unwrap();
    assert_eq!(code(&mut holder, "LOCK TABLES t WRITE, u READ"), 0);
    for (conn, sql) in [(waiter, "SELECT * FROM t"), (upgrader, "INSERT INTO u VALUES (9, 9)")] {
        let id = conn.connection_id();
        let waiter = wait_for(conn, sql);
        watcher.query_drop(format!("KILL QUERY {id}")).unwrap();
        let (mut conn, ended) = waiter.join().unwrap();
        assert_eq!((ended, code(&mut conn, "SELECT 1")), (1317, 0));
        conn.query_drop("COMMIT").unwrap();
    }
    assert_eq!(code(&mut holder, "UNLOCK TABLES"), 0);
    // Nothing of what was given up is left.
    assert_eq!(code(&mut watcher, "LOCK TABLES t WRITE, u WRITE"), 0);
}

#[test]
fn kill_ends_a_wait_for_tables_in_use() {
    let house = House::open();
    let [mut user, mut watcher] = [(); 2].map(|()| house.connect());
    assert_eq!(code(&mut user, "BEGIN"), 0);
    assert_eq!(code(&mut user, "INSERT INTO t VALUES (2, 2)"), 0);
    for sql in [
        "LOCK TABLES u WRITE, t WRITE",
        "LOCK TABLES t READ",
        "ALTER TABLE t COMMENT 'x', ADD KEY (v)",
        "DROP TABLE t",
        "RENAME TABLE t TO w",
        "TRUNCATE t",
    ] {
        let conn = house.connect();
        let id = conn.connection_id();
        let waiter = wait_for(conn, sql);
        watcher.query_drop(format!("KILL QUERY {id}")).unwrap();
        let (mut conn, said) = waiter.join().unwrap();
        assert_eq!((said, code(&mut conn, "SELECT * FROM t")), (1317, 0), "{sql}");
        assert_eq!(
            code(&mut watcher, "INSERT INTO u VALUES (1, 1) ON DUPLICATE KEY UPDATE v = v + 1"),
            0,
            "{sql}"
        );
    }
    assert_eq!(code(&mut user, "COMMIT"), 0);
    let shown: (String, String) = watcher.query_first("SHOW CREATE TABLE t").unwrap().unwrap();
    assert!(!shown.1.contains("COMMENT") && !shown.1.contains("KEY `v`"), "{shown:?}");
    let rows: Vec<i32> = watcher.query("SELECT id FROM t").unwrap();
    assert_eq!(rows, [1, 2]);
}

#[test]
fn prepared_statements_and_kept_plans_are_looked_at_too() {
    let house = House::open();
    let mut conn = house.connect();
    let select = conn.prep("SELECT v FROM t WHERE id = ?").unwrap();
    let update = conn.prep("UPDATE t SET v = ? WHERE id = 1").unwrap();
    let run = |conn: &mut Conn, of: &mysql::Statement| match conn.exec_drop(of, (1,)) {
        Ok(()) => 0,
        Err(mysql::Error::MySqlError(error)) => error.code,
        Err(error) => panic!("{error}"),
    };
    for sql in ["SELECT v FROM t WHERE id = 5", "UPDATE t SET v = 5 WHERE id = 5"] {
        assert_eq!(code(&mut conn, sql), 0);
    }
    for (lock, reads, writes) in
        [("LOCK TABLES u WRITE", 1100, 1100), ("LOCK TABLES t READ", 0, 1099), ("UNLOCK TABLES", 0, 0)]
    {
        assert_eq!(code(&mut conn, lock), 0);
        assert_eq!((run(&mut conn, &select), run(&mut conn, &update)), (reads, writes), "{lock}");
        assert_eq!(code(&mut conn, "SELECT v FROM t WHERE id = 6"), reads, "{lock}");
        assert_eq!(code(&mut conn, "UPDATE t SET v = 6 WHERE id = 6"), writes, "{lock}");
    }
}

#[test]
fn the_statements_of_a_dump_get_through() {
    let house = House::open();
    let mut conn = house.connect();
    for sql in [
        "LOCK TABLES `t` READ /*!32311 LOCAL */,`u` READ /*!32311 LOCAL */",
        "SELECT /*!40001 SQL_NO_CACHE */ `id`, `v` FROM `t`",
        "SHOW CREATE TABLE `u`",
        "UNLOCK TABLES",
        "DROP TABLE IF EXISTS `t`",
        "CREATE TABLE `t` (`id` int NOT NULL, `v` int, PRIMARY KEY (`id`))",
        "LOCK TABLES `t` WRITE",
        "/*!40000 ALTER TABLE `t` DISABLE KEYS */",
        "INSERT INTO `t` VALUES (1,1),(2,2)",
        "/*!40000 ALTER TABLE `t` ENABLE KEYS */",
        "TRUNCATE `t`",
        "ALTER TABLE `t` ADD KEY `k` (`v`), COMMENT 'x'",
        "INSERT INTO `t` VALUES (3,3)",
        "DROP TABLE `t`",
        "UNLOCK TABLES",
    ] {
        assert_eq!(code(&mut conn, sql), 0, "{sql}");
    }
    assert_eq!(code(&mut conn, "LOCK TABLES u WRITE"), 0);
    assert_eq!(code(&mut conn, "CREATE DATABASE other"), 1192);
}
