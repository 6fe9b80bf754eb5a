//! Every packet of every answer, decoded to its last byte: those of all scripts, and those of statements that
//! go to the limits of the protocol.

#![allow(clippy::unwrap_used, reason = "test code")]

use std::io::Read as _;
use std::net::TcpStream;
use std::path::Path;

use crate::support::{TestServer, error};
use mysql::prelude::Queryable as _;
use testkit::runner::Target;
use testkit::strict::{Answer, StrictClient, run_file};

#[test]
fn a_greeting_names_the_collation_that_the_server_was_started_with() {
    for (flags, expected) in [(&[][..], 255), (&["--collation-server=utf8mb4_general_ci"], 45)] {
        let server = TestServer::start(flags);
        let target = Target { port: server.port, user: "root".to_owned() };
        target.connect(None).unwrap().query_drop("SET GLOBAL collation_server = 'latin1_bin'").unwrap();
        let mut stream = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
        let mut head = [0; 4];
        stream.read_exact(&mut head).unwrap();
        let mut packet = vec![0; usize::from(head[0])];
        stream.read_exact(&mut packet).unwrap();
        let version_end = packet.iter().position(|&byte| byte == 0).unwrap();
        // Connection id, half of the nonce, its end, capabilities.
        assert_eq!(packet[version_end + 1 + 4 + 8 + 1 + 2], expected, "{flags:?}");
    }
}

#[test]
fn no_statement_of_a_script_has_a_malformed_answer() {
    let server = TestServer::start(&["--innodb-flush-log-at-trx-commit=2"]);
    let target = Target { port: server.port, user: "root".to_owned() };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/sql");
    let mut scripts: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    scripts.sort();
    assert!(scripts.len() > 10);
    let malformed: Vec<String> =
        scripts.iter().flat_map(|script| run_file(script, &target, false).unwrap()).collect();
    assert!(malformed.is_empty(), "{} malformed:\n{}", malformed.len(), malformed.join("\n"));
}

/// Runs `sql` as text and prepared, by clients of both forms. All answers are the same.
fn answer(clients: &mut [StrictClient], sql: &[u8]) -> Answer {
    let shown = String::from_utf8_lossy(&sql[..sql.len().min(200)]).into_owned();
    let mut answers: Vec<Answer> = clients
        .iter_mut()
        .flat_map(|client| [client.query(sql), client.prepared(sql)])
        .map(|answer| answer.unwrap_or_else(|e| panic!("{shown}: {e}")))
        .collect();
    answers.dedup();
    assert_eq!(answers.len(), 1, "{shown}: {answers:?}");
    answers[0]
}

fn clients(server: &TestServer) -> [StrictClient; 2] {
    [true, false].map(|newer| StrictClient::connect(server.port, newer).unwrap())
}

#[test]
fn rows_without_columns_are_refused() {
    let server = TestServer::start(&[]);
    let mut clients = clients(&server);
    for sql in [
        "VALUES ROW()",
        "VALUES ROW(), ROW(1)",
        "SELECT * FROM (VALUES ROW()) t",
        "SELECT 1 UNION VALUES ROW()",
    ] {
        assert_eq!(answer(&mut clients, sql.as_bytes()), Answer::Error(3942), "{sql}");
    }
    assert_eq!(answer(&mut clients, b"VALUES ROW(1), ROW()"), Answer::Error(1136));
    for sql in ["CREATE DATABASE d", "CREATE TABLE d.t (a INT DEFAULT 7)"] {
        assert_eq!(clients[0].query(sql.as_bytes()), Ok(Answer::Done));
    }
    assert_eq!(answer(&mut clients, b"INSERT INTO d.t VALUES ROW(), ROW()"), Answer::Done);
    assert_eq!(answer(&mut clients, b"INSERT INTO d.t VALUES ROW(), ROW(1)"), Answer::Error(1136));
    assert_eq!(answer(&mut clients, b"INSERT INTO d.t (a) VALUES ROW()"), Answer::Error(1136));
    assert_eq!(answer(&mut clients, b"INSERT INTO d.t SELECT * FROM (VALUES ROW()) v"), Answer::Error(3942));
    let mut client = server.root();
    client.send(0, b"\x03SELECT COUNT(*), SUM(a) FROM d.t");
    let row = std::iter::from_fn(|| client.try_read()).nth(4).unwrap().1;
    assert_eq!(row, b"\x018\x0256", "rows of default values");
}

#[test]
fn rows_around_the_length_of_a_part_are_whole() {
    const PART: usize = (1 << 24) - 1;
    let server = TestServer::start(&["--max-allowed-packet=64M"]);
    let mut clients = clients(&server);
    // A value of this length takes 4 bytes more in a text row, and 6 in a binary one.
    for bytes in [PART - 7, PART - 6, PART - 5, PART - 4, PART - 3, PART, 2 * PART - 9] {
        assert_eq!(answer(&mut clients, format!("SELECT REPEAT('x', {bytes})").as_bytes()), Answer::Done);
    }
    let sql = "SELECT REPEAT('x', 9000000), REPEAT('y', 9000000), 1 UNION ALL SELECT 'a', 'b', 2";
    assert_eq!(answer(&mut clients, sql.as_bytes()), Answer::Done);
}

#[test]
fn numbers_that_the_packets_have_no_room_for_are_errors() {
    let server = TestServer::start(&["--max-allowed-packet=64M"]);
    let mut clients = clients(&server);
    let list = |what: &str, count: usize| vec![what; count].join(",");
    for columns in [250, 251, 4096, 65_535] {
        let sql = format!("SELECT {}", list("1", columns));
        assert_eq!(answer(&mut clients, sql.as_bytes()), Answer::Done, "{columns}");
    }
    let sql = format!("SELECT {}", list("1", 65_537));
    for client in &mut clients {
        assert_eq!(client.query(sql.as_bytes()), Ok(Answer::Done));
        assert_eq!(client.prepared(sql.as_bytes()), Ok(Answer::Error(1117)));
        let sql = format!("SELECT 1 IN ({})", list("?", 65_536));
        assert_eq!(client.prepared(sql.as_bytes()), Ok(Answer::Error(1390)));
        let sql = format!("SELECT 1 IN ({})", list("?", 65_535));
        assert_eq!(client.prepared(sql.as_bytes()), Ok(Answer::Done));
    }
}

#[test]
fn placeholders_and_outer_columns_never_share_a_number() {
    let server = TestServer::start(&["--max-allowed-packet=64M"]);
    let mut clients = clients(&server);
    for sql in ["CREATE DATABASE d", "CREATE TABLE d.t (a INT, b INT, c INT, e INT)"] {
        assert_eq!(clients[0].query(sql.as_bytes()), Ok(Answer::Done));
    }
    for (placeholders, expected) in [(65_531, Answer::Done), (65_532, Answer::Error(1390))] {
        let list = vec!["?"; placeholders].join(",");
        let sql = format!("SELECT 1 IN ({list}), (SELECT t.a + t.b + t.c + t.e) FROM d.t");
        assert_eq!(clients[0].prepared(sql.as_bytes()), Ok(expected), "{placeholders}");
    }
}

#[test]
fn names_and_messages_of_any_length_and_bytes_are_well_formed() {
    let server = TestServer::start(&[]);
    let mut clients = clients(&server);
    let long = |n: usize| "\u{e9}".repeat(n);
    for sql in [
        format!("SELECT 1 AS `{}`", long(256)),
        format!("SELECT 1 AS `{}`", long(70_000)),
        format!("SELECT '{}'", long(70_000)),
        format!("SELECT `{}`", long(1000)),
        format!("SELECT {}()", "f".repeat(3000)),
        format!("SELECT 1 FROM `{}`.`{}`", long(64), long(64)),
        format!("SELECT CAST('{}' AS SIGNED)", long(5000)),
        format!("SELECT 1 FRM {}", long(5000)),
        format!("KILL '{}'", long(500)),
        format!("SET @@session.sql_mode = '{}'", long(5000)),
        format!("SET SESSION session_track_system_variables = '{}*'", "a,".repeat(40_000)),
        "SET SESSION session_track_system_variables = '*'".to_owned(),
        "SET SESSION sql_mode = 'ANSI,TRADITIONAL', autocommit = 1, time_zone = '+01:00'".to_owned(),
        format!("SET @{} = 1", "v".repeat(100)),
        "SHOW VARIABLES".to_owned(),
        "SHOW WARNINGS".to_owned(),
        "SHOW FULL PROCESSLIST".to_owned(),
        "SELECT X'ff', _binary X'fffefd' AS `x`, NULL, ''".to_owned(),
    ] {
        answer(&mut clients, sql.as_bytes());
    }
    for sql in [
        &b"SELECT '\xff\xfe'"[..],
        b"SELECT 1 AS `\xff`",
        b"SELECT `\xff\xfe` FROM `\xc3`",
        b"SELEC\xff 1",
        b"\xff",
        b"",
        b"\0",
        b";",
        b"SELECT 1 -- \xff",
    ] {
        answer(&mut clients, sql);
    }
    // It cannot be prepared, whatever it names.
    for client in &mut clients {
        assert_eq!(client.query(b"USE `\xff`"), Ok(Answer::Error(1049)));
        assert_eq!(client.prepared(b"USE `\xff`"), Ok(Answer::Error(1295)));
    }
}

#[test]
fn an_error_behind_rows_that_were_sent_ends_the_answer() {
    let server = TestServer::start(&[]);
    let mut clients = clients(&server);
    for sql in [
        "CREATE DATABASE d",
        "USE d",
        "CREATE TABLE d.t (id INT PRIMARY KEY AUTO_INCREMENT, c VARCHAR(1000))",
        "INSERT INTO d.t (c) VALUES (REPEAT('x', 900))",
    ] {
        assert_eq!(clients[0].query(sql.as_bytes()), Ok(Answer::Done), "{sql}");
    }
    for _ in 0..10 {
        assert_eq!(clients[0].query(b"INSERT INTO d.t (c) SELECT c FROM d.t"), Ok(Answer::Done));
    }
    let sql = "SELECT c, IF(id > 600, 9223372036854775807 + id, id) FROM d.t ORDER BY id";
    assert_eq!(answer(&mut clients, sql.as_bytes()), Answer::Error(1690));
    for client in &mut clients {
        assert_eq!(client.query(b"SELECT COUNT(*) FROM d.t"), Ok(Answer::Done), "the session goes on");
    }
}

#[test]
fn a_packet_that_is_too_long_is_refused_under_the_number_after_the_part_that_was_too_much() {
    const PART: usize = (1 << 24) - 1;
    let server = TestServer::start(&["--max-allowed-packet=17M"]);
    let mut client = server.root();
    client.send_bytes(&[&b"\xff\xff\xff\0\x03"[..], &vec![b' '; PART - 1]].concat());
    client.send_bytes(b"\xff\xff\xff\x01");
    let (sequence, answer) = client.read();
    assert_eq!((sequence, error(&answer).0), (2, 1153));
    assert_eq!(client.try_read(), None);
}

#[test]
fn a_ping_leaves_the_warnings_of_the_statement_before() {
    let server = TestServer::start(&[]);
    let mut client = server.root();
    client.send(0, b"\x03SELECT CAST('x' AS SIGNED)");
    assert_eq!(std::iter::from_fn(|| client.try_read()).take(5).count(), 5);
    assert_eq!(client.command(0x0e, b"")[0], 0);
    client.send(0, b"\x03SHOW WARNINGS");
    let row = std::iter::from_fn(|| client.try_read()).nth(5).unwrap().1;
    assert_eq!(row, b"\x07Warning\x041292\x26Truncated incorrect INTEGER value: 'x'");
}

#[test]
fn unknown_capabilities_are_left_out() {
    let server = TestServer::start(&[]);
    // Flags that change no packet are left out of what is agreed, as MySQL does.
    let unknown = 1 << 25 | 1 << 27 | 1 << 28 | 1 << 30;
    assert_eq!(server.root_with(unknown).command(0x0e, b"")[0], 0);
}
