//! KILL QUERY ends every kind of long loop in time, and its connection stays usable.

#![allow(clippy::unwrap_used, reason = "test code")]

use std::io::Write as _;
use std::path::Path;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use mysql::Conn;
use mysql::prelude::Queryable;
use testkit::runner::Target;
use testkit::server::{TestServer, of_build};

/// Upper bound on the time between KILL and the end of a statement that has nothing to roll back. The builds
/// without optimisation, whose statements are some twenty times slower, get five times as much.
fn end_time() -> Duration {
    Duration::from_millis(of_build(500, 100))
}
/// How often a statement is killed, if other work of the machine delays its end.
const TRIES: u32 = 4;
const INTERRUPTED: u16 = 1317;

struct House {
    target: Target,
    watcher: Conn,
    _server: TestServer,
}

impl House {
    fn open(arguments: &[&str]) -> Self {
        let server = TestServer::start(Path::new(env!("CARGO_BIN_EXE_ratchetd")), arguments).unwrap();
        let target = Target { port: server.port, user: "root".to_owned() };
        let mut watcher = target.connect(None).unwrap();
        watcher.query_drop("CREATE DATABASE d").unwrap();
        watcher.query_drop("USE d").unwrap();
        House { target, watcher, _server: server }
    }

    fn connect(&self) -> Conn {
        self.target.connect(Some("d")).unwrap()
    }

    /// Waits until connection `id` is at work.
    fn await_work(&mut self, id: u32) {
        let deadline = Instant::now() + Duration::from_secs(30);
        loop {
            let list: Vec<mysql::Row> = self.watcher.query("SHOW PROCESSLIST").unwrap();
            let is_at_work = |row: &mysql::Row| {
                row.get::<u32, _>("Id") == Some(id)
                    && row.get::<String, _>("Command").as_deref() == Some("Query")
            };
            if list.iter().any(is_at_work) {
                return;
            }
            assert!(Instant::now() < deadline, "connection {id} never began");
        }
    }

    /// Kills `sql` after `delay` of work; how long it took to end, and its error's number.
    fn kill(&mut self, conn: &mut Conn, sql: &str, delay: Duration) -> (Duration, Option<u16>) {
        let id = conn.connection_id();
        let (sender, receiver) = mpsc::channel();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                let result = conn.query_drop(sql);
                sender.send((Instant::now(), result)).unwrap();
            });
            self.await_work(id);
            std::thread::sleep(delay);
            let asked = Instant::now();
            self.watcher.query_drop(format!("KILL QUERY {id}")).unwrap();
            let (ended, result) = receiver.recv().unwrap();
            (ended.saturating_duration_since(asked), result.err().map(|error| code(&error)))
        })
    }

    /// Kills `sql`, which runs for longer than the test waits; asserts that it ends in time and that its
    /// connection stays usable.
    fn expect_end(&mut self, sql: &str) {
        let mut conn = self.connect();
        let mut times = Vec::new();
        for _ in 0..TRIES {
            let (time, error) = self.kill(&mut conn, sql, Duration::from_millis(60));
            assert_eq!(error, Some(INTERRUPTED), "{sql}");
            assert_eq!(conn.query_first::<u32, _>("SELECT 7").unwrap(), Some(7));
            if time <= end_time() {
                return;
            }
            times.push(time);
        }
        panic!("{sql} took {times:?} to end");
    }
}

fn code(error: &mysql::Error) -> u16 {
    match error {
        mysql::Error::MySqlError(error) => error.code,
        other => panic!("{other}"),
    }
}

/// `SELECT 1 AS n UNION ALL SELECT 2 ..` of `count` rows.
fn numbers(count: u32) -> String {
    let arms: Vec<String> = (1..=count).map(|n| format!("SELECT {n} AS n")).collect();
    arms.join(" UNION ALL ")
}

#[test]
fn loops_over_rows_that_are_in_no_table_end() {
    let mut house = House::open(&[]);
    let n = numbers(60);
    let five = |what: &str, rest: &str| {
        format!("SELECT {what} FROM ({n}) a, ({n}) b, ({n}) c, ({n}) d, ({n}) e {rest}")
    };
    for sql in [
        five("COUNT(*)", ""),
        five("SUM(a.n)", "WHERE a.n + b.n + c.n + d.n + e.n < 0"),
        five("COUNT(*)", "WHERE a.n = b.n AND b.n = c.n AND c.n + d.n * e.n + a.n < 0 OR a.n < 0"),
        format!(
            "SELECT COUNT(*) FROM ({n}) a JOIN ({n}) b ON a.n > 0 LEFT JOIN ({n}) c ON c.n < 0, ({n}) d, ({n}) e"
        ),
        five("a.n, COUNT(*)", "GROUP BY a.n"),
        five("DISTINCT a.n", "WHERE e.n < 61"),
        five("1", "UNION SELECT 2"),
        format!("SELECT (SELECT COUNT(*) FROM ({n}) a, ({n}) b, ({n}) c, ({n}) d, ({n}) e)"),
        five("COUNT(*)", "WHERE a.n IN (SELECT b.n + c.n FROM (SELECT 1 n) b, (SELECT 2 n) c)"),
    ] {
        house.expect_end(&sql);
    }
}

#[test]
fn sorts_end() {
    let mut house = House::open(&[]);
    let n = numbers(60);
    // The sort alone takes seconds: the kill meets the gathering, the runs or the merge.
    let mut conn = house.connect();
    let sql = format!(
        "SELECT a.n FROM ({n}) a, ({n}) b, ({n}) c, (SELECT 1 UNION ALL SELECT 2) d ORDER BY RAND(7), a.n LIMIT 400000, 1"
    );
    conn.query_drop(&sql).unwrap();
    let mut late = Vec::new();
    for step in 1..=8 {
        for _ in 0..TRIES {
            let (time, error) = house.kill(&mut conn, &sql, Duration::from_millis(step * of_build(500, 40)));
            assert!(matches!(error, None | Some(INTERRUPTED)), "{error:?}");
            late.push(time);
            if time <= end_time() {
                late.clear();
                break;
            }
        }
        assert!(late.is_empty(), "{late:?} after step {step}");
    }
}

#[test]
fn changes_of_definitions_end_and_leave_nothing() {
    let mut house = House::open(&[]);
    for sql in [
        "CREATE TABLE t (id INT PRIMARY KEY, k INT, c VARCHAR(100), KEY k (k))",
        "INSERT INTO t VALUES (0, 0, MD5(0))",
    ] {
        house.watcher.query_drop(sql).unwrap();
    }
    for bit in 0..of_build(15, 19) {
        let more = format!("INSERT INTO t SELECT id + {0}, k + {0}, MD5(id + {0}) FROM t", 1 << bit);
        house.watcher.query_drop(more).unwrap();
    }
    let definition = |conn: &mut Conn| {
        let (_, text): (String, String) = conn.query_first("SHOW CREATE TABLE t").unwrap().unwrap();
        text
    };
    let before = definition(&mut house.watcher);
    let mut conn = house.connect();
    for (sql, back) in [
        ("ALTER TABLE t FORCE", ""),
        ("ALTER TABLE t ADD COLUMN y INT FIRST, FORCE", "ALTER TABLE t DROP COLUMN y"),
        (
            "ALTER TABLE t DROP PRIMARY KEY, ADD PRIMARY KEY (c)",
            "ALTER TABLE t DROP PRIMARY KEY, ADD PRIMARY KEY (id), MODIFY c VARCHAR(100)",
        ),
        ("ALTER TABLE t ADD INDEX c (c), ADD UNIQUE kc (k, c)", "ALTER TABLE t DROP INDEX c, DROP INDEX kc"),
    ] {
        let mut killed = 0;
        for step in 0..6 {
            let mut times = Vec::new();
            while times.last().is_none_or(|time| *time > end_time()) {
                assert!(times.len() < TRIES as usize, "{sql} took {times:?} to end");
                let (time, error) = house.kill(&mut conn, sql, Duration::from_millis(10 + 150 * step));
                let Some(error) = error else {
                    // It was decided, and waited for the disk.
                    if !back.is_empty() {
                        conn.query_drop(back).unwrap();
                    }
                    break;
                };
                assert_eq!(error, INTERRUPTED, "{sql}");
                times.push(time);
                killed += 1;
                assert_eq!(definition(&mut conn), before, "{sql}");
            }
        }
        assert!(killed > 0, "{sql} was never killed");
        let report: (String, String, String, String) =
            house.watcher.query_first("CHECK TABLE t EXTENDED").unwrap().unwrap();
        assert_eq!(report.3, "OK", "{sql}");
    }
}

#[test]
fn functions_over_long_texts_end() {
    let mut house = House::open(&[]);
    let text = "REPEAT('ab', 16000000)";
    let wanted = "REPEAT('ab', 2000), 'c'";
    for sql in [
        format!("SELECT {text} LIKE CONCAT('%', {wanted}, '%')"),
        format!("SELECT {text} LIKE CONCAT('%', {wanted}, '%', 'b')"),
        // One search may end before it is killed.
        format!("SELECT {}", vec![format!("LOCATE(CONCAT({wanted}), {text})"); 6].join(" + ")),
        format!("SELECT COUNT(*) FROM ({}) n WHERE INSTR({text}, CONCAT({wanted})) = n", numbers(3)),
    ] {
        house.expect_end(&sql);
    }
}

#[test]
fn a_rollback_is_shown_as_such_and_a_killed_connection_too() {
    let mut house = House::open(&[]);
    house
        .watcher
        .query_drop("CREATE TABLE t (a INT PRIMARY KEY AUTO_INCREMENT, b VARCHAR(200), KEY (b))")
        .unwrap();
    let mut conn = house.connect();
    conn.query_drop(format!("INSERT INTO t (b) SELECT a.n FROM ({}) a", numbers(100))).unwrap();
    conn.query_drop("BEGIN").unwrap();
    let rows = of_build(8, 64);
    for _ in 0..rows {
        conn.query_drop("INSERT INTO t (b) SELECT CONCAT(LEFT(b.b, 20), RAND()) FROM t b LIMIT 3000")
            .unwrap();
    }
    let id = conn.connection_id();
    house.watcher.query_drop(format!("KILL {id}")).unwrap();
    let mut seen = Vec::new();
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        let list: Vec<mysql::Row> = house.watcher.query("SHOW PROCESSLIST").unwrap();
        let Some(row) = list.iter().find(|row| row.get::<u32, _>("Id") == Some(id)) else { break };
        let shown =
            (row.get::<String, _>("Command").unwrap(), row.get::<String, _>("State").unwrap_or_default());
        if !seen.contains(&shown) {
            seen.push(shown);
        }
        assert!(Instant::now() < deadline, "{seen:?}");
    }
    assert!(seen.contains(&("Killed".to_owned(), "rolling back".to_owned())), "{seen:?}");
    assert_eq!(house.watcher.query_first::<u32, _>("SELECT COUNT(*) FROM t").unwrap(), Some(100));
}

#[test]
fn a_load_ends_and_is_undone_while_its_client_says_nothing() {
    let mut house = House::open(&["--local-infile=1"]);
    house.watcher.query_drop("CREATE TABLE t (a INT PRIMARY KEY)").unwrap();
    let mut conn = house.connect();
    let id = conn.connection_id();
    let (go_on, told) = mpsc::channel::<()>();
    let told = std::sync::Mutex::new(told);
    conn.set_local_infile_handler(Some(mysql::LocalInfileHandler::new(move |_, out| {
        (1..=100_000).try_for_each(|a| writeln!(out, "{a}"))?;
        out.flush()?;
        told.lock().unwrap().recv().unwrap();
        writeln!(out, "100001")
    })));
    std::thread::scope(|scope| {
        let load = scope.spawn(|| conn.query_drop("LOAD DATA LOCAL INFILE 'numbers' INTO TABLE t"));
        let deadline = Instant::now() + Duration::from_secs(30);
        house.watcher.query_drop("SET SESSION TRANSACTION ISOLATION LEVEL READ UNCOMMITTED").unwrap();
        while house.watcher.query_first::<u32, _>("SELECT COUNT(*) FROM t").unwrap() < Some(50_000) {
            assert!(Instant::now() < deadline, "nothing is loaded");
        }
        house.watcher.query_drop(format!("KILL QUERY {id}")).unwrap();
        house.watcher.query_drop("SET innodb_lock_wait_timeout = 20").unwrap();
        house.watcher.query_drop("INSERT INTO t VALUES (1)").unwrap();
        assert!(!load.is_finished());
        go_on.send(()).unwrap();
        assert_eq!(code(&load.join().unwrap().unwrap_err()), INTERRUPTED);
    });
    assert_eq!(conn.query_first::<u32, _>("SELECT COUNT(*) FROM t").unwrap(), Some(1));
}
