//! Clients that attack the login: passwords and packets that are too long. The server survives each and answers the next
//! client.

#![allow(clippy::unwrap_used, reason = "test code")]

mod support;

use support::{RawClient, TestServer, error};

const SHA2: &[u8] = b"caching_sha2_password";

/// Most that an attack may add to the server's resident memory.
const MEMORY_GROWTH_KB: u64 = 64 << 10;

/// The server's peak of resident memory, in KiB.
fn peak_kb(server: &TestServer) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.pid())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// Answers the greeting as `user` with a wrong fast answer; the server asks for the password.
fn begin_full_authentication(server: &TestServer, user: &str) -> RawClient {
    let mut client = server.raw();
    client.login_with(user, SHA2, &[7; 32]);
    assert_eq!(client.read().1, b"\x01\x04", "{user}");
    client
}

/// Runs a statement; 0 or its error.
fn query(client: &mut RawClient, sql: &str) -> (u16, String) {
    let answer = client.command(0x03, sql.as_bytes());
    if answer[0] == 0 { (0, String::new()) } else { error(&answer) }
}

#[test]
fn a_clear_password_beyond_256_bytes_is_denied_without_work() {
    let server = TestServer::start(&[]);
    let mut admin = server.root();
    assert_eq!(query(&mut admin, "CREATE USER ada IDENTIFIED BY 'right'").0, 0);
    let before = peak_kb(&server);
    for user in ["ada", "nobody"] {
        for bytes in [257, 4096, 65_000] {
            let mut client = begin_full_authentication(&server, user);
            client.send(3, &[&vec![b'x'; bytes][..], &[0]].concat());
            let denied = format!("#28000Access denied for user '{user}'@'localhost' (using password: YES)");
            assert_eq!(error(&client.read().1), (1045, denied), "{bytes} bytes");
            assert_eq!(client.try_read(), None);
        }
        let mut client = begin_full_authentication(&server, user);
        client.send_lossy(3, &vec![b'x'; 1 << 20]);
        assert_eq!(error(&client.read().1).0, 1153, "a megabyte is more than a packet may have before login");
        assert_eq!(client.try_read(), None);
    }
    assert!(peak_kb(&server) < before + MEMORY_GROWTH_KB);
    assert_eq!(server.root().command(0x0e, b"")[0], 0, "the next client is answered");
}

#[test]
fn a_change_of_user_with_a_long_password_is_denied() {
    let server = TestServer::start(&[]);
    let mut client = server.root();
    client.send(0, b"\x11nobody\0\x01x\0\x2d\0caching_sha2_password\0");
    assert_eq!(client.read().1, b"\x01\x04");
    client.send(2, &[&vec![b'x'; 4 << 20][..], &[0]].concat());
    assert_eq!(error(&client.read().1).0, 1045);
    assert_eq!(server.root().command(0x0e, b"")[0], 0);
}

#[test]
fn statements_refuse_passwords_beyond_256_bytes_with_mysqls_error() {
    let server = TestServer::start(&[]);
    let mut admin = server.root();
    assert_eq!(query(&mut admin, "CREATE USER ada IDENTIFIED BY 'right', bob").0, 0);
    let before = peak_kb(&server);
    let password = "x".repeat(400_000);
    let just_too_long = "\u{e9}".repeat(128) + "x";
    for password in [&password, &just_too_long] {
        for (sql, failed) in [
            ("SET PASSWORD = '?'", "SET PASSWORD failed for 'root'@'localhost'"),
            ("SET PASSWORD FOR ada = '?'", "SET PASSWORD failed for 'ada'@'%'"),
            ("ALTER USER USER() IDENTIFIED BY '?'", "ALTER USER failed for 'root'@'localhost'"),
            ("ALTER USER bob IDENTIFIED BY 'b', ada IDENTIFIED BY '?'", "ALTER USER failed for 'ada'@'%'"),
            ("ALTER USER IF EXISTS nobody IDENTIFIED BY '?'", "ALTER USER failed for 'nobody'@'%'"),
            ("CREATE USER cleo, dan IDENTIFIED BY '?'", "CREATE USER failed for 'dan'@'%'"),
            (
                "CREATE USER eve IDENTIFIED WITH mysql_native_password BY '?'",
                "CREATE USER failed for 'eve'@'%'",
            ),
        ] {
            let expected = format!("#HY000Operation {failed}");
            assert_eq!(query(&mut admin, &sql.replace('?', password)), (1396, expected), "{sql}");
        }
        assert_eq!(query(&mut admin, &format!("SET PASSWORD FOR nobody = '{password}'")).0, 1133);
    }
    assert!(peak_kb(&server) < before + MEMORY_GROWTH_KB);
    assert_eq!(query(&mut admin, "DROP USER cleo").0, 1396, "nothing was created");
    assert_eq!(server.root().command(0x0e, b"")[0], 0, "root still has no password");
    // 256 bytes are a password, and bob still has none.
    let longest = "\u{e9}".repeat(128);
    assert_eq!(query(&mut admin, &format!("SET PASSWORD FOR ada = '{longest}'")).0, 0);
    let mut client = begin_full_authentication(&server, "ada");
    client.send(3, &[longest.as_bytes(), &[0]].concat());
    assert_eq!(client.read().1[0], 0);
    let mut client = server.raw();
    client.login_with("bob", SHA2, b"");
    assert_eq!(client.read().1[0], 0);
}

#[test]
fn handshake_packets_are_bounded_and_attributes_as_in_mysql() {
    let server = TestServer::start(&[]);
    let attributes = |bytes: usize| {
        let mut packet = RawClient::login_packet("root", SHA2, b"", 0x0010_0000);
        packet.push(0xfd);
        packet.extend_from_slice(&(bytes as u32).to_le_bytes()[..3]);
        packet.extend_from_slice(&vec![0; bytes]);
        packet
    };
    let answer = |packet: &[u8]| {
        let mut client = server.raw();
        client.send_lossy(1, packet);
        client.read().1
    };
    assert_eq!(answer(&attributes(65_535))[0], 0);
    assert_eq!(error(&answer(&attributes(65_536))).0, 1043);
    assert_eq!(error(&answer(&attributes(70_000))).0, 1153);
    assert_eq!(error(&answer(&attributes(16 << 20))).0, 1153);
    assert_eq!(server.root().command(0x0e, b"")[0], 0);
}
