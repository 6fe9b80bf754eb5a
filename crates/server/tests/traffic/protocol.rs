//! The server process as clients meet it: start, handshake, commands, limits, malformed packets, end.

#![allow(clippy::unwrap_used, reason = "test code")]

use crate::support::{TestServer, error, eventually};

fn statistics(client: &mut crate::support::RawClient) -> String {
    String::from_utf8(client.command(0x09, b"")).unwrap()
}

#[test]
fn a_server_starts_answers_and_ends_cleanly() {
    let mut server = TestServer::start(&[]);
    let pid = std::fs::read_to_string(server.pid_file()).unwrap();
    assert_eq!(pid.trim(), server.pid().to_string());
    assert!(server.socket().exists());
    let mut client = server.root();
    assert!(client.greeting.starts_with(b"\x0a8.4.6-ratchet-"));
    assert_eq!(client.command(0x0e, b"")[0], 0, "ping");
    assert!(statistics(&mut client).starts_with("Uptime: "));
    assert!(server.terminate());
    assert!(!server.pid_file().exists() && !server.socket().exists());
    assert_eq!(client.try_read(), None, "the connection was ended");
}

/// A figure of the answer to COM_STATISTICS.
fn figure(client: &mut crate::support::RawClient, name: &str) -> u64 {
    let text = statistics(client);
    let (_, rest) = text.split_once(&format!("{name}: ")).unwrap();
    rest.split_whitespace().next().unwrap().parse().unwrap()
}

#[test]
fn statistics_count_tables_and_slow_statements() {
    let server = TestServer::start(&[]);
    let mut client = server.root();
    let (open, opened) = (figure(&mut client, "Open tables"), figure(&mut client, "Opens"));
    let statements = ["CREATE DATABASE d", "CREATE TABLE d.t (a INT)", "CREATE TABLE d.u (a INT)"];
    for sql in statements.into_iter().chain(["ALTER TABLE d.t ADD b INT", "DROP TABLE d.u"]) {
        assert_eq!(client.command(0x03, sql.as_bytes())[0], 0, "{sql}");
    }
    assert_eq!(figure(&mut client, "Open tables"), open + 1);
    assert_eq!(figure(&mut client, "Opens"), opened + 3);
    assert_eq!(figure(&mut client, "Slow queries"), 0);
    client.command(0x03, b"SET long_query_time = 0.05");
    client.command(0x03, b"DO SLEEP(0.2)");
    assert_eq!(figure(&mut client, "Slow queries"), 1);
}

#[test]
fn every_command_without_sql_is_answered() {
    let server = TestServer::start(&[]);
    let mut client = server.root();
    let code = |packet: Vec<u8>| error(&packet).0;
    assert_eq!(client.command(0x1f, b"")[0], 0, "reset connection");
    assert_eq!(client.command(0x1b, b"\0\0")[0], 0xfe, "set option");
    assert_eq!(code(client.command(0x1b, b"\x07\0")), 1047);
    assert_eq!(code(client.command(0x0d, b"")), 1047);
    assert_eq!(code(client.command(0x77, b"abc")), 1047);
    assert_eq!(code(client.command(0x17, b"\x09\0\0\0\0\x01\0\0\0")), 1243);
    assert_eq!(code(client.command(0x1a, b"\x09\0\0\0")), 1243);
    assert_eq!(code(client.command(0x1c, b"\x09\0\0\0\x01\0\0\0")), 1421);
    // No answer to these two, so the next answer is the ping's.
    client.send(0, b"\x18\x01\0\0\0\0\0data");
    client.send(0, b"\x19\x01\0\0\0");
    assert_eq!(client.command(0x0e, b"")[0], 0);
    assert_eq!(code(client.command(0x0c, &77u32.to_le_bytes())), 1094);
    client.send(0, b"\x01");
    assert_eq!(client.try_read(), None, "quit");
}

#[test]
fn pipelined_commands_are_answered_in_order() {
    let server = TestServer::start(&[]);
    let mut client = server.root();
    client.send_bytes(b"\x01\0\0\0\x0e\x01\0\0\0\x77\x01\0\0\0\x0e");
    assert_eq!(client.read().1[0], 0);
    assert_eq!(client.read().1[0], 0xff);
    assert_eq!(client.read().1[0], 0);
}

#[test]
fn a_wrong_password_and_an_unknown_user_are_told_the_same() {
    let server = TestServer::start(&[]);
    let mut client = server.raw();
    client.login("root", &[7; 20]);
    // The account's plugin is another one: answer its challenge wrongly.
    let (sequence, switch) = client.read();
    assert!(switch.starts_with(b"\xfecaching_sha2_password\0"));
    client.send(sequence + 1, &[7; 32]);
    // It has no password, and still asks for one as every other account does.
    let (sequence, full) = client.read();
    assert_eq!(full, b"\x01\x04");
    client.send(sequence + 1, b"wrong\0");
    let (code, message) = error(&client.read().1);
    assert_eq!(code, 1045);
    assert_eq!(message, "#28000Access denied for user 'root'@'localhost' (using password: YES)");
    let mut client = server.raw();
    client.login("nobody", b"");
    let (sequence, _) = client.read();
    client.send(sequence + 1, b"");
    let (_, message) = error(&client.read().1);
    assert_eq!(message, "#28000Access denied for user 'nobody'@'localhost' (using password: NO)");
}

#[test]
fn malformed_packets_cost_only_their_own_connection() {
    let server = TestServer::start(&["--max-allowed-packet=1M"]);
    let mut bystander = server.root();
    let mut client = server.raw();
    client.send(1, b"\0");
    assert_eq!(error(&client.read().1).0, 1043);
    assert_eq!(client.try_read(), None);
    let mut client = server.raw();
    client.send(9, b"x");
    assert_eq!(error(&client.read().1).0, 1156);
    let mut client = server.root();
    client.send(7, b"\x0e");
    let (sequence, answer) = client.read();
    assert_eq!((sequence, error(&answer).0), (0, 1156));
    let mut client = server.root();
    client.send_bytes(b"\xff\xff\xff\0\x03");
    assert_eq!(error(&client.read().1).0, 1153);
    assert_eq!(client.try_read(), None);
    for noise in [&b"GET / HTTP/1.1\r\n\r\n"[..], &[0xff; 300], &[0; 64]] {
        let mut client = server.raw();
        client.send_bytes(noise);
        client.half_close();
        while client.try_read().is_some() {}
    }
    assert_eq!(bystander.command(0x0e, b"")[0], 0);
}

#[test]
fn names_and_members_of_a_latin1_client_are_latin1() {
    let server = TestServer::start(&[]);
    let mut client = server.root();
    for sql in [
        &b"CREATE DATABASE d"[..],
        b"USE d",
        b"SET NAMES latin1",
        b"CREATE TABLE d.`t\xe4` (`\xf6` ENUM('\xe4', '\xc3\xa4') COMMENT '\xfc')",
        b"INSERT INTO `t\xe4` (`\xf6`) VALUES ('\xe4'), ('\xc3\xa4')",
        b"SET NAMES utf8mb4",
    ] {
        assert_eq!(client.command(3, sql)[0], 0, "{}", String::from_utf8_lossy(sql));
    }
    let sql = "SELECT CONCAT(HEX(`\u{f6}`), '.', `\u{f6}` + 0) FROM `t\u{e4}`";
    client.send(0, &[b"\x03", sql.as_bytes()].concat());
    let packets: Vec<_> =
        std::iter::from_fn(|| client.try_read()).take(6).map(|(_, packet)| packet).collect();
    assert_eq!(packets[3..5], [b"\x06C3A4.1".to_vec(), b"\x0aC383C2A4.2".to_vec()]);
}

#[test]
fn half_open_connections_are_cleaned_up() {
    let server = TestServer::start(&["--connect-timeout=2"]);
    let mut watcher = server.root();
    let silent: Vec<_> = (0..3).map(|_| server.raw()).collect();
    assert!(statistics(&mut watcher).contains("Threads: 4"));
    eventually("the end of silent connections", || statistics(&mut watcher).contains("Threads: 1"));
    drop(silent);
    drop(server.root());
    eventually("the end of a closed connection", || statistics(&mut watcher).contains("Threads: 1"));
}

#[test]
fn the_user_can_be_changed() {
    let server = TestServer::start(&[]);
    let mut client = server.root();
    let answer = client.command(0x11, b"root\0\0\0\x2d\0mysql_native_password\0");
    assert_eq!(answer[0], 0);
    client.send(0, b"\x11nobody\0\0\0\x2d\0caching_sha2_password\0");
    assert_eq!(error(&client.read().1).0, 1045);
    assert_eq!(client.try_read(), None, "a failed change of user ends the connection");
}

#[test]
fn mistakes_at_start_up_are_one_clear_line() {
    assert_eq!(
        TestServer::refuse(&["--frobnicate"]),
        "ratchetd: unknown option '--frobnicate' (command line)\n"
    );
    let open = TestServer::refuse(&["--bind-address=0.0.0.0"]);
    assert!(open.contains("account 'root'@'localhost' has no password"), "{open}");
}
