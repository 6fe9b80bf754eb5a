//! Clients that attack the login: passwords and packets that are too long. The server survives each and
//! answers the next client.

#![allow(clippy::unwrap_used, reason = "test code")]

use crate::support::{RawClient, TestServer, error};

const SHA2: &[u8] = b"caching_sha2_password";

/// Failed logins are not delayed.
const NO_DELAYS: &[&str] = &["--connection-control-failed-connections-threshold=0"];

/// Most that an attack may add to the server's resident memory.
const MEMORY_GROWTH_KB_MAX: u64 = 64 << 10;

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
    let server = TestServer::start(NO_DELAYS);
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
    assert!(peak_kb(&server) < before + MEMORY_GROWTH_KB_MAX);
    assert_eq!(server.root().command(0x0e, b"")[0], 0, "the next client is answered");
}

#[test]
fn a_change_of_user_with_a_long_password_is_denied() {
    let server = TestServer::start(NO_DELAYS);
    let mut client = server.root();
    client.send(0, b"\x11nobody\0\x01x\0\x2d\0caching_sha2_password\0");
    assert_eq!(client.read().1, b"\x01\x04");
    client.send(2, &[&vec![b'x'; 4 << 20][..], &[0]].concat());
    assert_eq!(error(&client.read().1).0, 1045);
    assert_eq!(server.root().command(0x0e, b"")[0], 0);
}

#[test]
fn statements_refuse_passwords_beyond_256_bytes_with_mysqls_error() {
    let server = TestServer::start(NO_DELAYS);
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
    assert!(peak_kb(&server) < before + MEMORY_GROWTH_KB_MAX);
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
    let server = TestServer::start(NO_DELAYS);
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

/// Everything that the server sends to a client without the password, with the user name removed.
fn probe(server: &TestServer, user: &str, plugin: &[u8], answer: &[u8]) -> Vec<(u8, Vec<u8>)> {
    let mut client = server.raw();
    let nonce = client.nonce();
    client.login_with(user, plugin, answer);
    let mut seen = Vec::new();
    while let Some((sequence, packet)) = client.try_read() {
        match packet[0] {
            0xfe => client.send(sequence + 1, &[7; 32]),
            1 => client.send(sequence + 1, b"wrong\0"),
            _ => {}
        }
        let without_name = replace(&packet, format!("'{user}'").as_bytes(), b"'?'");
        seen.push((sequence, replace(&without_name, &nonce, b"nonce")));
    }
    seen
}

fn replace(text: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    match text.windows(from.len()).position(|window| window == from) {
        Some(at) => [&text[..at], to, &text[at + from.len()..]].concat(),
        None => text.to_vec(),
    }
}

#[test]
fn an_account_of_any_kind_looks_like_a_name_without_one() {
    let server = TestServer::start(NO_DELAYS);
    let mut admin = server.root();
    for sql in [
        "CREATE USER sha2 IDENTIFIED BY 'secret', sha2_locked IDENTIFIED BY 'secret' ACCOUNT LOCK",
        "CREATE USER sha2_cached IDENTIFIED BY 'secret', sha2_elsewhere@192.0.2.1 IDENTIFIED BY 'secret'",
        "CREATE USER native IDENTIFIED WITH mysql_native_password BY 'secret'",
        "CREATE USER native_locked IDENTIFIED WITH mysql_native_password BY 'secret' ACCOUNT LOCK",
        "CREATE USER native_open IDENTIFIED WITH mysql_native_password",
    ] {
        assert_eq!(query(&mut admin, sql).0, 0, "{sql}");
    }
    let mut cached = begin_full_authentication(&server, "sha2_cached");
    cached.send(3, b"secret\0");
    assert_eq!(cached.read().1[0], 0);
    let plugins: [&[u8]; 3] = [SHA2, b"mysql_native_password", b"dialog"];
    let profile = |user: &str, answers: &[&[u8]]| -> Vec<_> {
        let tries = plugins.iter().flat_map(|plugin| answers.iter().map(move |answer| (plugin, answer)));
        tries.map(|(plugin, answer)| probe(&server, user, plugin, answer)).collect()
    };
    let guesses: [&[u8]; 3] = [b"", &[7; 20], &[7; 32]];
    // Which of two plugins such a name seems to have is chosen by its hash.
    let missing_names = |answers: &[&[u8]]| {
        let mut seen = Vec::new();
        for name in (0..200).map(|i| format!("missing{i}")) {
            let profile = profile(&name, answers);
            if !seen.contains(&profile) {
                seen.push(profile);
            }
            if seen.len() == 2 {
                break;
            }
        }
        seen
    };
    let missing = missing_names(&guesses);
    for user in ["sha2", "sha2_locked", "sha2_cached", "sha2_elsewhere", "native", "native_locked"] {
        assert!(missing.contains(&profile(user, &guesses)), "{user}");
    }
    // An account without a password shows itself to a client that gives none, and to no other.
    let missing = missing_names(&guesses[1..]);
    for user in ["root", "native_open"] {
        assert!(missing.contains(&profile(user, &guesses[1..])), "{user}");
    }
}

#[test]
fn a_locked_account_says_so_to_those_who_know_its_password() {
    let server = TestServer::start(NO_DELAYS);
    let mut admin = server.root();
    assert_eq!(query(&mut admin, "CREATE USER ada IDENTIFIED BY 'right' ACCOUNT LOCK").0, 0);
    let answer = |password: &[u8]| {
        let mut client = begin_full_authentication(&server, "ada");
        client.send(3, password);
        error(&client.read().1)
    };
    let locked = "#HY000Access denied for user 'ada'@'localhost'. Account is locked.".to_owned();
    assert_eq!(answer(b"right\0"), (3118, locked));
    assert_eq!(answer(b"wrong\0").0, 1045);
}

#[test]
fn a_statement_that_hashes_many_passwords_can_be_killed() {
    let server = TestServer::start(NO_DELAYS);
    let (mut admin, mut other) = (server.root(), server.root());
    // Half a minute of hashing.
    let accounts: Vec<String> = (0..10_000).map(|i| format!("u{i} IDENTIFIED BY 'x'")).collect();
    let id = u32::from_le_bytes(admin.greeting[connection_id_at(&admin)..][..4].try_into().unwrap());
    admin.send(0, [b"\x03CREATE USER ", accounts.join(",").as_bytes()].concat().as_slice());
    // A KILL that comes before the statement does not meet it.
    crate::support::eventually("the kill", || {
        assert_eq!(query(&mut other, &format!("KILL QUERY {id}")).0, 0);
        admin.has_answer()
    });
    assert_eq!(error(&admin.read().1).0, 1317);
    assert_eq!(query(&mut admin, "DROP USER u0").0, 1396, "no account was created");
}

fn connection_id_at(client: &RawClient) -> usize {
    client.greeting.iter().position(|&byte| byte == 0).unwrap() + 1
}
