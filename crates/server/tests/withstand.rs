//! What transactions must withstand: crowds, hot rows, clients that vanish, deadlocks, a huge
//! rollback.

#![allow(clippy::unwrap_used, reason = "test code")]

use std::io::Write;
use std::path::Path;
use std::sync::Barrier;
use std::time::{Duration, Instant};

use mysql::Conn;
use mysql::prelude::Queryable;
use testkit::runner::Target;
use testkit::server::{TestServer, of_build};

fn binary() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_ratchetd"))
}

/// A server with a table `t (id, v)` of `rows` rows, all `v` 0.
fn start(options: &[&str], rows: u32) -> TestServer {
    let server = TestServer::start(binary(), options).unwrap();
    fill(&server, rows);
    server
}

fn fill(server: &TestServer, rows: u32) {
    let mut conn = Target { port: server.port, user: "root".to_owned() }.connect(None).unwrap();
    conn.query_drop("CREATE DATABASE d").unwrap();
    conn.query_drop("CREATE TABLE d.t (id INT PRIMARY KEY, v INT NOT NULL)").unwrap();
    let ids: Vec<u32> = (1..=rows).collect();
    for ids in ids.chunks(1000) {
        let values: Vec<String> = ids.iter().map(|id| format!("({id}, 0)")).collect();
        conn.query_drop(format!("INSERT INTO d.t VALUES {}", values.join(","))).unwrap();
    }
}

fn connect(server: &TestServer) -> Conn {
    Target { port: server.port, user: "root".to_owned() }.connect(Some("d")).unwrap()
}

fn number(conn: &mut Conn, sql: &str) -> i64 {
    conn.query_first(sql).unwrap().unwrap()
}

fn code(result: mysql::Result<()>) -> u16 {
    match result {
        Ok(()) => 0,
        Err(mysql::Error::MySqlError(error)) => error.code,
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn of_a_thousand_connections_fifty_work_and_the_others_are_still_there() {
    const IDLE: usize = 950;
    const BUSY: usize = 50;
    const CHANGES: u32 = 40;
    let server = start(&["--max-connections=1010"], 100);
    let mut idle: Vec<Conn> = (0..IDLE).map(|_| connect(&server)).collect();
    std::thread::scope(|scope| {
        for worker in 0..BUSY as u32 {
            let mut conn = connect(&server);
            scope.spawn(move || {
                for change in 0..CHANGES {
                    let id = 1 + (worker * 7 + change) % 100;
                    conn.query_drop(format!("UPDATE t SET v = v + 1 WHERE id = {id}")).unwrap();
                }
            });
        }
    });
    for conn in &mut idle {
        assert_eq!(number(conn, "SELECT SUM(v) FROM t"), i64::from(CHANGES) * BUSY as i64);
    }
}

#[test]
fn a_hot_row_loses_no_change_of_64_writers() {
    const WRITERS: usize = 64;
    const CHANGES: usize = 25;
    let server = start(&[], 3);
    let together = Barrier::new(WRITERS);
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (mut conn, together) = (connect(&server), &together);
            scope.spawn(move || {
                together.wait();
                for change in 0..CHANGES {
                    // Half of them as transactions of several statements, which hold the row longer.
                    if (writer + change) % 2 == 0 {
                        conn.query_drop("UPDATE t SET v = v + 1 WHERE id = 2").unwrap();
                    } else {
                        conn.query_drop("BEGIN").unwrap();
                        conn.query_drop("UPDATE t SET v = v + 2 WHERE id = 2").unwrap();
                        conn.query_drop("UPDATE t SET v = v - 1 WHERE id = 2").unwrap();
                        conn.query_drop("COMMIT").unwrap();
                    }
                }
            });
        }
    });
    assert_eq!(number(&mut connect(&server), "SELECT v FROM t WHERE id = 2"), (WRITERS * CHANGES) as i64);
}

/// A client that only knows how to log in without a password and to send statements; it vanishes when
/// dropped.
struct Vanishing(std::net::TcpStream);

impl Vanishing {
    fn connect(server: &TestServer) -> Self {
        let mut stream = std::net::TcpStream::connect(("127.0.0.1", server.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        let mut client = Vanishing(stream.try_clone().unwrap());
        client.packet();
        // CLIENT_PROTOCOL_41 | SECURE_CONNECTION | PLUGIN_AUTH, 16 MiB, utf8mb4, "root", no password.
        let mut login = vec![0x00, 0x82, 0x08, 0x00, 0, 0, 0, 1, 45];
        login.extend([0; 23]);
        login.extend(b"root\0\0mysql_native_password\0");
        send(&mut stream, 1, &login);
        while client.packet()[0] != 0 {
            // An authentication switch or its fast path: the password is empty.
            send(&mut stream, 3, &[]);
        }
        client
    }

    fn packet(&mut self) -> Vec<u8> {
        use std::io::Read;
        let mut head = [0; 4];
        self.0.read_exact(&mut head).unwrap();
        let mut body = vec![0; usize::from(head[0]) | usize::from(head[1]) << 8 | usize::from(head[2]) << 16];
        self.0.read_exact(&mut body).unwrap();
        body
    }

    /// Sends a statement without waiting for its answer.
    fn send(&mut self, sql: &str) {
        let mut body = vec![3];
        body.extend(sql.as_bytes());
        send(&mut self.0, 0, &body);
    }

    fn query(&mut self, sql: &str) {
        self.send(sql);
        assert_eq!(self.packet()[0], 0, "{sql}");
    }
}

fn send(stream: &mut std::net::TcpStream, sequence: u8, body: &[u8]) {
    let mut packet = vec![body.len() as u8, (body.len() >> 8) as u8, 0, sequence];
    packet.extend(body);
    stream.write_all(&packet).unwrap();
}

/// Changes the row as soon as it is free; how long that took.
fn take_row(conn: &mut Conn, id: u32) -> Duration {
    let began = Instant::now();
    conn.query_drop(format!("UPDATE t SET v = v + 1 WHERE id = {id}")).unwrap();
    began.elapsed()
}

#[test]
fn the_transaction_of_a_client_that_vanishes_is_rolled_back_within_a_second() {
    let server = start(&[], 10);
    let mut other = connect(&server);
    let mut gone = Vanishing::connect(&server);
    gone.query("BEGIN");
    gone.query("UPDATE d.t SET v = 100 WHERE id = 1");
    drop(gone);
    let waited = take_row(&mut other, 1);
    assert!(waited < Duration::from_secs(1), "{waited:?}");
    assert_eq!(number(&mut other, "SELECT v FROM t WHERE id = 1"), 1);
}

#[test]
fn a_client_that_vanishes_while_it_waits_gives_its_locks_back_within_a_second() {
    let server = start(&[], 10);
    let (mut holder, mut other) = (connect(&server), connect(&server));
    holder.query_drop("BEGIN").unwrap();
    holder.query_drop("UPDATE t SET v = 7 WHERE id = 2").unwrap();
    let mut gone = Vanishing::connect(&server);
    gone.query("BEGIN");
    gone.query("UPDATE d.t SET v = 100 WHERE id = 1");
    gone.send("UPDATE d.t SET v = 100 WHERE id = 2");
    let waiting = "SELECT COUNT(*) FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'";
    while number(&mut other, waiting) == 0 {}
    drop(gone);
    let waited = take_row(&mut other, 1);
    assert!(waited < Duration::from_secs(1), "{waited:?}");
    holder.query_drop("COMMIT").unwrap();
    assert_eq!(number(&mut other, "SELECT v FROM t WHERE id = 2"), 7);
    assert_eq!(number(&mut other, "SELECT v FROM t WHERE id = 1"), 1);
}

#[test]
fn of_a_cycle_of_five_one_gives_up_and_the_others_continue() {
    const MEMBERS: u32 = 5;
    let server = start(&[], MEMBERS);
    let together = Barrier::new(MEMBERS as usize);
    let codes: Vec<u16> = std::thread::scope(|scope| {
        let members: Vec<_> = (0..MEMBERS)
            .map(|member| {
                let (mut conn, together) = (connect(&server), &together);
                scope.spawn(move || {
                    conn.query_drop("BEGIN").unwrap();
                    conn.query_drop(format!("UPDATE t SET v = v + 1 WHERE id = {}", member + 1)).unwrap();
                    together.wait();
                    let next = (member + 1) % MEMBERS + 1;
                    let code = code(conn.query_drop(format!("UPDATE t SET v = v + 1 WHERE id = {next}")));
                    conn.query_drop("COMMIT").unwrap();
                    code
                })
            })
            .collect();
        members.into_iter().map(|m| m.join().unwrap()).collect()
    });
    let victims = codes.iter().filter(|&&code| code == 1213).count();
    assert_eq!((victims, codes.iter().filter(|&&code| code == 0).count()), (1, 4), "{codes:?}");
    let sum = number(&mut connect(&server), "SELECT SUM(v) FROM t");
    assert_eq!(sum, 2 * i64::from(MEMBERS - 1));
}

/// Rows of the huge transaction: a million where the code is optimised.
fn huge() -> u32 {
    of_build(30_000, 1_000_000)
}

#[test]
fn a_huge_transaction_is_rolled_back_and_a_kill_in_the_middle_of_that_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let datadir = folder.path().join("data");
    let open = || TestServer::start_on(binary(), &datadir, &["--innodb-flush-log-at-trx-commit=2"]).unwrap();
    let server = open();
    fill(&server, huge());
    let mut conn = connect(&server);
    let untouched = format!("SELECT COUNT(*) = {} AND SUM(v) = 0 AND MAX(v) = 0 FROM t", huge());
    conn.query_drop("BEGIN").unwrap();
    conn.query_drop("UPDATE t SET v = v + 1").unwrap();
    let began = Instant::now();
    conn.query_drop("ROLLBACK").unwrap();
    let whole = began.elapsed();
    assert_eq!(number(&mut conn, &untouched), 1);

    drop((conn, server));

    // How fast a rollback is differs from one to the next: the kill comes earlier until it meets one.
    let cut_short = (1..=10).any(|attempt| {
        let server = open();
        let mut conn = connect(&server);
        conn.query_drop("BEGIN").unwrap();
        conn.query_drop("UPDATE t SET v = v + 1").unwrap();
        let rollback = std::thread::spawn(move || conn.query_drop("ROLLBACK").is_err());
        std::thread::sleep(whole / (attempt + 1));
        server.kill().unwrap();
        rollback.join().unwrap()
    });
    assert!(cut_short, "ten rollbacks were over before the kill");
    let server = open();
    let mut conn = connect(&server);
    assert_eq!(number(&mut conn, &untouched), 1);
    let checked: Vec<(String, String, String, String)> = conn.query("CHECK TABLE t").unwrap();
    assert_eq!(checked.last().unwrap().3, "OK", "{checked:?}");
}
