//! GET_LOCK and SLEEP: how their waits end but by what they wait for, and when locks are given back without
//! being asked for. What they answer: `tests/isolation/user_locks.test`.

#![allow(clippy::unwrap_used, reason = "test code")]

use std::path::Path;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use mysql::Conn;
use mysql::prelude::Queryable;
use testkit::runner::Target;
use testkit::server::TestServer;

struct House {
    target: Target,
    watcher: Conn,
    _server: TestServer,
}

impl House {
    fn open() -> Self {
        let server = TestServer::start(Path::new(env!("CARGO_BIN_EXE_ratchetd")), &[]).unwrap();
        let target = Target { port: server.port, user: "root".to_owned() };
        let watcher = target.connect(None).unwrap();
        House { target, watcher, _server: server }
    }

    fn connect(&self) -> Conn {
        self.target.connect(None).unwrap()
    }

    /// Waits until connection `id` has been at work on `sql` for a while.
    fn await_statement(&mut self, id: u32, sql: &str) {
        self.until(|watcher| {
            let list: Vec<mysql::Row> = watcher.query("SHOW FULL PROCESSLIST").unwrap();
            list.iter().any(|row| {
                row.get::<u32, _>("Id") == Some(id)
                    && row.get::<Option<String>, _>("Info").flatten().as_deref() == Some(sql)
            })
        });
    }

    fn until(&mut self, mut holds: impl FnMut(&mut Conn) -> bool) {
        let deadline = Instant::now() + Duration::from_secs(30);
        while !holds(&mut self.watcher) {
            assert!(Instant::now() < deadline, "it never came to that");
        }
    }
}

fn get(conn: &mut Conn, sql: &str) -> Option<i64> {
    conn.query_first::<Option<i64>, _>(sql).unwrap().unwrap()
}

/// A session that a thread waits in, and what came of it.
type Waiting = JoinHandle<(Conn, Result<Option<i64>, u16>)>;

/// Runs `sql` on a thread of its own: its value, or the number of its error.
fn begin(mut conn: Conn, sql: &'static str) -> Waiting {
    std::thread::spawn(move || match conn.query_first::<Option<i64>, _>(sql) {
        Ok(value) => (conn, Ok(value.unwrap())),
        Err(mysql::Error::MySqlError(error)) => (conn, Err(error.code)),
        Err(_) => (conn, Err(0)),
    })
}

const WAIT: &str = "SELECT GET_LOCK('l', 60)";

/// A new session that waits for the lock behind those that wait already, and its id.
fn line_up(house: &mut House) -> (u32, Waiting) {
    let conn = house.connect();
    let id = conn.connection_id();
    let waiting = begin(conn, WAIT);
    house.await_statement(id, WAIT);
    (id, waiting)
}

#[test]
fn kill_ends_a_wait_and_the_next_in_line_is_not_forgotten() {
    let mut house = House::open();
    let mut holder = house.connect();
    assert_eq!(get(&mut holder, WAIT), Some(1));
    let [(second_id, second), (third_id, third)] = [(); 2].map(|()| line_up(&mut house));
    house.watcher.query_drop(format!("KILL QUERY {second_id}")).unwrap();
    let (mut second, ended) = second.join().unwrap();
    assert_eq!(ended, Err(1317));
    assert_eq!(get(&mut second, "SELECT GET_LOCK('l', 0)"), Some(0));
    assert_eq!(get(&mut holder, "SELECT RELEASE_LOCK('l')"), Some(1));
    let (mut third, got) = third.join().unwrap();
    assert_eq!(got, Ok(Some(1)));
    assert_eq!(get(&mut second, "SELECT IS_USED_LOCK('l')"), Some(i64::from(third_id)));
    assert_eq!(get(&mut third, "SELECT RELEASE_LOCK('l')"), Some(1));
}

#[test]
fn locks_go_with_their_session() {
    let mut house = House::open();
    for how in ["quit", "kill", "reset", "change user"] {
        let mut holder = house.connect();
        assert_eq!(get(&mut holder, WAIT), Some(1));
        assert_eq!(get(&mut holder, WAIT), Some(1));
        let (_, waiter) = line_up(&mut house);
        let id = holder.connection_id();
        let mut kept = None;
        match how {
            "quit" => drop(holder),
            "kill" => house.watcher.query_drop(format!("KILL {id}")).unwrap(),
            "reset" => {
                holder.reset().unwrap();
                kept = Some(holder);
            }
            _ => {
                holder.change_user(mysql::ChangeUserOpts::new()).unwrap();
                kept = Some(holder);
            }
        }
        let (waiter, got) = waiter.join().unwrap();
        assert_eq!(got, Ok(Some(1)), "{how}");
        drop((waiter, kept));
        house.until(|watcher| get(watcher, "SELECT IS_FREE_LOCK('l')") == Some(1));
    }
}

#[test]
fn a_waiter_that_is_gone_is_passed_over() {
    let mut house = House::open();
    let mut holder = house.connect();
    assert_eq!(get(&mut holder, WAIT), Some(1));
    let [(second_id, second), (_, third)] = [(); 2].map(|()| line_up(&mut house));
    house.watcher.query_drop(format!("KILL {second_id}")).unwrap();
    assert!(second.join().unwrap().1.is_err());
    drop(holder);
    assert_eq!(third.join().unwrap().1, Ok(Some(1)));
}

#[test]
fn nobody_waits_for_a_lock_with_a_page_in_his_hands() {
    let mut house = House::open();
    for sql in [
        "CREATE DATABASE d",
        "CREATE TABLE d.t (id INT PRIMARY KEY, name VARCHAR(10))",
        "INSERT INTO d.t VALUES (1, 'l'), (2, 'm')",
    ] {
        house.watcher.query_drop(sql).unwrap();
    }
    for (n, sql) in [
        "SELECT GET_LOCK(name, 60) FROM d.t WHERE id = 1",
        "SELECT id FROM d.t WHERE GET_LOCK(name, 60) = 1 LIMIT 1",
        "SELECT MAX(GET_LOCK(name, 60)) FROM d.t",
        "SELECT id FROM d.t ORDER BY GET_LOCK(name, 60) LIMIT 1",
    ]
    .into_iter()
    .enumerate()
    {
        let [mut holder, waiter] = [(); 2].map(|()| house.connect());
        assert_eq!(get(&mut holder, WAIT), Some(1));
        let id = waiter.connection_id();
        let waiter = begin(waiter, sql);
        house.await_statement(id, sql);
        // The only leaf of the table is changed meanwhile.
        let change = format!("INSERT INTO d.t VALUES ({}, 'm')", 3 + n);
        house.watcher.query_drop(change).unwrap();
        assert!(!waiter.is_finished());
        assert_eq!(get(&mut holder, "SELECT RELEASE_LOCK('l')"), Some(1));
        assert_eq!(waiter.join().unwrap().1, Ok(Some(1)), "{sql}");
    }
}

#[test]
fn no_statement_has_anything_latched_while_it_waits() {
    // The server under test asserts that itself.
    let mut house = House::open();
    for sql in [
        "CREATE DATABASE d",
        "USE d",
        "CREATE TABLE t (id INT PRIMARY KEY, k INT, v INT, KEY (k))",
        "CREATE TABLE u (id INT PRIMARY KEY, v INT)",
        "INSERT INTO u VALUES (1, 1), (2, 2)",
        "INSERT INTO t VALUES (1, SLEEP(0.001), 1), (2, 2, 2)",
        "INSERT INTO t SELECT id + 10, id, SLEEP(0.001) FROM u",
        "INSERT INTO t VALUES (1, 1, 1) ON DUPLICATE KEY UPDATE v = SLEEP(0.001) + 7",
        "INSERT INTO t SELECT id, 5, 5 FROM u ON DUPLICATE KEY UPDATE v = SLEEP(0.001) + t.v",
        "REPLACE INTO t VALUES (2, SLEEP(0.001), 2)",
        "UPDATE t SET v = SLEEP(0.001) WHERE id = 1",
        "UPDATE t SET v = v + SLEEP(0.001), k = SLEEP(0.001) WHERE k < 100",
        "UPDATE t SET v = 3 WHERE id = 1 AND SLEEP(0.001) = 0",
        "UPDATE t SET v = 3 WHERE SLEEP(0.001) = 0 ORDER BY SLEEP(0.001) LIMIT 1",
        "UPDATE t JOIN u ON u.id = t.id SET t.v = SLEEP(0.001), u.v = SLEEP(0.001)",
        "SELECT SLEEP(0.001), id FROM t WHERE id = 1",
        "SELECT id FROM t WHERE id = 1 AND SLEEP(v * 0) = 0",
        "SELECT id FROM t WHERE k = SLEEP(0.001)",
        "SELECT id FROM t WHERE id IN (1, SLEEP(0.001))",
        "SELECT k FROM t WHERE k >= 0 AND SLEEP(0.001 + k * 0) = 0 FOR UPDATE",
        "SELECT SUM(SLEEP(0.001)) FROM t GROUP BY k",
        "SELECT COUNT(*) FROM t GROUP BY SLEEP(0.001) HAVING SLEEP(0.001) = 0",
        "SELECT DISTINCT SLEEP(0.001 + v * 0) FROM t",
        "SELECT t.id FROM t LEFT JOIN u ON u.id = t.id AND SLEEP(0.001) = 0",
        "SELECT t.id FROM t JOIN u ON u.v = t.v + SLEEP(0.001)",
        "SELECT t.id FROM t JOIN u ON u.id = t.id + SLEEP(0.001) WHERE SLEEP(u.v * 0) = 0",
        "SELECT id FROM t ORDER BY k + SLEEP(0.001) DESC",
        "SELECT x.s FROM (SELECT SLEEP(0.001) s FROM t) x WHERE x.s = 0",
        "SELECT SLEEP(0.001) FROM t UNION SELECT SLEEP(0.001) FROM u",
        "SELECT id FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.id = t.id AND SLEEP(0.001) = 0)",
        "DELETE FROM t WHERE id = 11 AND SLEEP(0.001) = 0",
        "DELETE FROM t WHERE SLEEP(0.001) = 0",
    ] {
        house.watcher.query_drop(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
}

#[test]
fn sleep_ends_by_itself_or_by_kill() {
    const SLEEP: &str = "SELECT SLEEP(60)";
    let mut house = House::open();
    let mut conn = house.connect();
    let start = Instant::now();
    assert_eq!(get(&mut conn, "SELECT SLEEP(0.05)"), Some(0));
    assert!(start.elapsed() >= Duration::from_millis(50));
    let id = conn.connection_id();
    let asleep = begin(conn, SLEEP);
    house.await_statement(id, SLEEP);
    house.watcher.query_drop(format!("KILL QUERY {id}")).unwrap();
    let (mut conn, ended) = asleep.join().unwrap();
    assert_eq!(ended, Ok(Some(1)));
    assert_eq!(get(&mut conn, "SELECT 5"), Some(5));
    let asleep = begin(conn, SLEEP);
    house.await_statement(id, SLEEP);
    house.watcher.query_drop(format!("KILL {id}")).unwrap();
    assert!(asleep.join().unwrap().1.is_err());
}
