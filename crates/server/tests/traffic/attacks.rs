//! Attacks on the server process over the wire: it survives each, answers the next client, and its heap is as
//! before once the attacker is gone.

#![allow(clippy::unwrap_used, reason = "test code")]

use std::io::Write as _;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use mysql::Conn;
use mysql::prelude::Queryable;

use crate::support::{RawClient, TestServer, error, eventually};

/// Most that an attack may leave in the server's heap.
const HEAP_GROWTH_MAX: u64 = 64 << 20;
const SHA2: &[u8] = b"caching_sha2_password";

fn connect(server: &TestServer) -> Conn {
    let options = mysql::OptsBuilder::new()
        .ip_or_hostname(Some("127.0.0.1"))
        .tcp_port(server.port)
        .user(Some("root"))
        .prefer_socket(false);
    Conn::new(options).unwrap()
}

fn status(conn: &mut Conn, name: &str) -> u64 {
    let row: (String, u64) = conn.query_first(format!("SHOW GLOBAL STATUS LIKE '{name}'")).unwrap().unwrap();
    row.1
}

/// Runs `attack` on a server of its own, which then answers a new client and has given back what the attack
/// took.
fn withstand(options: &[&str], attack: impl FnOnce(&TestServer)) {
    let server = TestServer::start(options);
    let mut watcher = connect(&server);
    let before = status(&mut watcher, "Ratchet_heap_bytes");
    attack(&server);
    assert_eq!(connect(&server).query_first::<u32, _>("SELECT 7").unwrap(), Some(7), "the next client");
    eventually("the end of the attacker's connections", || status(&mut watcher, "Threads_connected") == 1);
    let mut after = 0;
    eventually("the return of memory", || {
        after = status(&mut watcher, "Ratchet_heap_bytes");
        after < before + HEAP_GROWTH_MAX
    });
}

/// The number of a statement's error; 0 if it has none.
fn code(client: &mut RawClient, sql: &str) -> u16 {
    let answer = client.command(0x03, sql.as_bytes());
    if answer[0] == 0xff { error(&answer).0 } else { 0 }
}

#[test]
fn long_clear_passwords_before_login() {
    withstand(&["--connection-control-failed-connections-threshold=0"], |server| {
        for (user, bytes) in [("root", 65_000), ("nobody", 257), ("nobody", 65_000), ("nobody", 1 << 20)] {
            let mut client = server.raw();
            client.login_with(user, SHA2, &[7; 32]);
            if client.read().1 == b"\x01\x04" {
                client.send_lossy(3, &[&vec![b'x'; bytes][..], &[0]].concat());
                assert!(matches!(error(&client.read().1).0, 1045 | 1153));
            }
        }
    });
}

#[test]
fn long_passwords_of_accounts() {
    withstand(&[], |server| {
        let mut client = server.root();
        let password = "x".repeat(400_000);
        assert_eq!(code(&mut client, &format!("SET PASSWORD = '{password}'")), 1396);
        assert_eq!(code(&mut client, &format!("CREATE USER ada IDENTIFIED BY '{password}'")), 1396);
        assert_eq!(code(&mut client, &format!("ALTER USER USER() IDENTIFIED BY '{password}'")), 1396);
    });
}

#[test]
fn subqueries_around_long_chains() {
    withstand(&[], |server| {
        let chain = "+1".repeat(990);
        for levels in [5, 60, 200] {
            let mut client = server.root();
            let sql = (0..levels).fold("1".to_owned(), |inner, _| format!("(SELECT {inner}{chain})"));
            let expected = if levels > 60 { 1473 } else { 1436 };
            let got = code(&mut client, &format!("SELECT {sql}"));
            assert!(got == expected || got == 1436, "{levels} levels end with {got}");
            assert_eq!(code(&mut server.root(), &format!("PREPARE p FROM 'SELECT {sql}'")), got);
        }
    });
}

/// A client that sends the first bytes of a login.
fn slow_client(server: &TestServer) -> TcpStream {
    let mut socket = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
    socket.write_all(&[200, 0, 0, 1, 5]).unwrap();
    socket
}

#[test]
fn slow_clients_in_all_places() {
    withstand(&["--max-connections=100", "--connect-timeout=2"], |server| {
        let slow: Vec<_> = (0..300).map(|_| slow_client(server)).collect();
        // A place is free again once the handshakes have timed out.
        let deadline = Instant::now() + Duration::from_secs(15);
        loop {
            let mut client = server.raw();
            if client.greeting[0] != 0xff {
                client.login("root", b"");
                if client.try_read().is_some_and(|(_, answer)| answer[0] == 0) {
                    break;
                }
            }
            assert!(Instant::now() < deadline, "slow clients keep others out");
        }
        drop(slow);
    });
}

#[test]
fn probes_for_accounts() {
    withstand(&["--connection-control-failed-connections-threshold=0"], |server| {
        for i in 0..300 {
            let mut client = server.raw();
            client.login_with(&format!("user{i}"), SHA2, &[i as u8; 32]);
            while let Some((sequence, packet)) = client.try_read() {
                match packet[0] {
                    0xfe => client.send_lossy(sequence + 1, &[7; 32]),
                    1 => client.send_lossy(sequence + 1, b"wrong\0"),
                    _ => assert_eq!(error(&packet).0, 1045),
                }
            }
        }
    });
}

#[test]
fn memory_by_every_way() {
    withstand(&["--max-allowed-packet=64M"], |server| {
        let mut client = server.root();
        let run = |client: &mut RawClient, sql: &str| assert_eq!(code(client, sql), 0, "{sql:.100}");
        run(&mut client, "SET SESSION group_concat_max_len = 4000000000");
        run(&mut client, "SET SESSION ratchet_statement_memory_limit = 268435456");
        run(&mut client, "CREATE DATABASE d");
        run(&mut client, "CREATE TABLE d.n (id INT PRIMARY KEY)");
        let rows: Vec<String> = (0..300).map(|i| format!("({i})")).collect();
        run(&mut client, &format!("INSERT INTO d.n VALUES {}", rows.join(",")));
        let long = "CONCAT(a.id, '-', b.id, REPEAT('x', 8000))";
        for sql in [
            format!("SELECT LENGTH(GROUP_CONCAT({long} ORDER BY 1)) FROM d.n a, d.n b"),
            format!("SELECT COUNT(DISTINCT {long}) FROM d.n a, d.n b"),
        ] {
            client.send(0, &[b"\x03", sql.as_bytes()].concat());
            let mut packet = client.read().1;
            // The error may come after the columns.
            while packet[0] != 0xff {
                packet = client.read().1;
            }
            assert_eq!(error(&packet).0, 1041, "{sql:.100}");
        }
        let kept = (0..100).find(|i| code(&mut client, &format!("SET @v{i} = REPEAT('x', 10000000)")) != 0);
        assert!(matches!(kept, Some(20..27)), "{kept:?} variables of 10 MB in 256 MiB");
        for i in 0..2000 {
            run(&mut client, &format!("SET div_precision_increment = {}", i % 31));
            run(&mut client, &format!("SET @w = {i}"));
            run(&mut client, &format!("DO (SELECT id + {i} AS c{i} FROM d.n WHERE id = {i})"));
        }
        let many = vec!["(1)"; 4_000_000].join(",");
        client.send_bytes(&long_packet(format!("\x03INSERT INTO d.n VALUES (1+0),{many}").as_bytes()));
        assert_eq!(error(&client.read().1).0, 1041);
    });
}

/// A packet of less than 16 MiB with its header.
fn long_packet(body: &[u8]) -> Vec<u8> {
    assert!(body.len() < 0xff_ffff);
    [&(body.len() as u32).to_le_bytes()[..3], &[0], body].concat()
}
