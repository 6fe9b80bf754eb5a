//! Logins after failed ones are delayed as MySQL's connection_control plugin delays them, and cost the server
//! little meanwhile.

#![allow(clippy::unwrap_used, reason = "test code")]

mod support;

use std::time::{Duration, Instant};

use support::{RawClient, TestServer, error, eventually};

const SHA2: &[u8] = b"caching_sha2_password";
const SECOND: Duration = Duration::from_secs(1);
/// Logins that the server delays at a time.
const DELAYED_MAX: usize = 100;

/// Runs a statement; 0 or the number of its error.
fn query(client: &mut RawClient, sql: &str) -> u16 {
    let answer = client.command(0x03, sql.as_bytes());
    if answer[0] == 0 { 0 } else { error(&answer).0 }
}

/// A server with account `ada`, who has a password, and an administrator's connection. `more` are further
/// statements.
fn start(options: &[&str], more: &[&str]) -> (TestServer, RawClient) {
    let server = TestServer::start(options);
    let mut admin = server.root();
    for sql in [&["CREATE USER ada IDENTIFIED WITH mysql_native_password BY 'right'"], more].concat() {
        assert_eq!(query(&mut admin, sql), 0, "{sql}");
    }
    (server, admin)
}

/// Sends a wrong answer for `user`, whose plugin is the native one.
fn send_wrong(server: &TestServer, user: &str) -> RawClient {
    let mut client = server.raw();
    client.login(user, &[7; 20]);
    client
}

/// Reads on to the end of a login: 0 or the number of its error.
fn outcome(mut client: RawClient) -> u16 {
    loop {
        let (sequence, packet) = client.read();
        match packet[0] {
            0xff => return error(&packet).0,
            0 => return 0,
            // Asked for another plugin's answer, then for the password.
            0xfe => client.send(sequence + 1, &[7; 32]),
            _ => client.send(sequence + 1, b"wrong\0"),
        }
    }
}

fn timed<T>(run: impl FnOnce() -> T) -> (T, Duration) {
    let began = Instant::now();
    (run(), began.elapsed())
}

/// A status variable's value, read over one connection.
fn status(client: &mut RawClient, name: &str) -> u64 {
    client.send(0, format!("\x03SHOW GLOBAL STATUS LIKE '{name}'").as_bytes());
    let mut value = None;
    let mut ends = 0;
    client.read();
    while ends < 2 {
        let packet = client.read().1;
        if packet[0] == 0xfe && packet.len() < 9 {
            ends += 1;
        } else if ends == 1 {
            let text = &packet[2 + usize::from(packet[0])..];
            value = Some(std::str::from_utf8(text).unwrap().parse().unwrap());
        }
    }
    value.expect("a row")
}

fn delays(admin: &mut RawClient) -> u64 {
    status(admin, "Connection_control_delay_generated")
}

/// The right answer of `ada`.
fn send_right(server: &TestServer) -> RawClient {
    let mut client = server.raw();
    let nonce: [u8; 20] = client.nonce().try_into().unwrap();
    client.login("ada", &wire::auth::native::answer(b"right", &nonce));
    client
}

#[test]
fn the_fourth_login_waits_and_a_success_forgets_the_failures() {
    let (server, mut admin) = start(&[], &[]);
    for _ in 0..3 {
        assert_eq!(outcome(send_wrong(&server, "ada")), 1045);
    }
    assert_eq!(delays(&mut admin), 0);
    // The right password waits as well, and only this name does.
    let waiting = send_right(&server);
    let (other, undelayed) = timed(|| outcome(send_wrong(&server, "bob")));
    let (code, waited) = timed(|| outcome(waiting));
    assert_eq!((code, other, delays(&mut admin)), (0, 1045, 1));
    assert!(waited + undelayed >= SECOND, "{waited:?}");
    assert_eq!(outcome(send_wrong(&server, "ada")), 1045);
    assert_eq!(outcome(send_right(&server)), 0);
    assert_eq!(delays(&mut admin), 1, "the count began anew");
}

#[test]
fn each_further_failure_adds_a_second_whether_the_account_exists_or_not() {
    let (server, mut admin) = start(
        &["--connection-control-failed-connections-threshold=1"],
        &["CREATE USER cleo IDENTIFIED BY 'x'"],
    );
    let names = ["ada", "cleo", "missing"];
    for failures in 0..3u32 {
        let started: Vec<_> = names.map(|name| (Instant::now(), send_wrong(&server, name))).into();
        for (began, client) in started {
            assert_eq!(outcome(client), 1045);
            let waited = began.elapsed();
            assert!(waited >= failures * SECOND, "{waited:?} after {failures} failures");
        }
    }
    assert_eq!(delays(&mut admin), 6);
}

#[test]
fn a_client_that_leaves_after_a_wrong_fast_answer_has_failed() {
    let (server, mut admin) = start(&["--connection-control-failed-connections-threshold=2"], &[]);
    for _ in 0..2 {
        let mut client = server.raw();
        client.login_with("root", SHA2, &[7; 32]);
        assert_eq!(client.read().1, b"\x01\x04");
    }
    // The server notices the leave a moment later.
    eventually("a delay", || {
        let mut client = server.raw();
        client.login_with("root", SHA2, &[7; 32]);
        let (packet, waited) = timed(|| client.read().1);
        assert_eq!(packet, b"\x01\x04");
        let delayed = delays(&mut admin) == 1;
        assert!(!delayed || waited >= SECOND, "the answer came before the delay: {waited:?}");
        delayed
    });
}

#[test]
fn a_delayed_login_holds_no_place() {
    let (server, mut admin) = start(&["--max-connections=2"], &[]);
    for _ in 0..3 {
        assert_eq!(outcome(send_wrong(&server, "ada")), 1045);
    }
    // The second of two places is free while the login waits, and taken when its time is over.
    assert_eq!(query(&mut admin, "CREATE USER bob IDENTIFIED WITH mysql_native_password"), 0);
    let waiting = send_right(&server);
    eventually("the delay", || delays(&mut admin) == 1);
    let mut bob = server.raw();
    bob.login("bob", b"");
    assert_eq!(bob.read().1[0], 0);
    assert_eq!(outcome(waiting), 1040);
    assert_eq!(bob.command(0x0e, b"")[0], 0);
}

#[test]
fn delays_are_bounded_in_number_and_end_with_their_clients() {
    let (server, mut admin) = start(&[], &["SET GLOBAL connection_control_min_connection_delay = 600000"]);
    for _ in 0..3 {
        assert_eq!(outcome(send_wrong(&server, "ada")), 1045);
    }
    let waiting: Vec<_> = (0..DELAYED_MAX).map(|_| send_wrong(&server, "ada")).collect();
    eventually("all delays", || delays(&mut admin) == DELAYED_MAX as u64);
    // One more is refused at once, with the right password too, and others are not concerned.
    assert_eq!(outcome(send_wrong(&server, "ada")), 1040);
    assert_eq!(outcome(send_right(&server)), 1040);
    assert_eq!(outcome(send_wrong(&server, "bob")), 1045);
    assert_eq!(server.root().command(0x0e, b"")[0], 0);
    drop(waiting);
    eventually("the end of all delays", || status(&mut admin, "Threads_connected") == 1);
    // They have waited in vain and learned nothing: that does not count as failures.
    assert_eq!(query(&mut admin, "SET GLOBAL connection_control_min_connection_delay = 1000"), 0);
    let (code, waited) = timed(|| outcome(send_right(&server)));
    assert_eq!(code, 0);
    assert!(waited < 5 * SECOND, "{waited:?}");
}

#[test]
fn a_server_that_stops_does_not_wait_for_delays() {
    let (mut server, mut admin) =
        start(&[], &["SET GLOBAL connection_control_min_connection_delay = 600000"]);
    for _ in 0..3 {
        assert_eq!(outcome(send_wrong(&server, "ada")), 1045);
    }
    let mut waiting = send_wrong(&server, "ada");
    eventually("the delay", || delays(&mut admin) == 1);
    admin.send(0, b"\x03SHOW PROCESSLIST");
    let mut packets = Vec::new();
    while packets.iter().filter(|packet: &&Vec<u8>| packet[0] == 0xfe).count() < 2 {
        packets.push(admin.read().1);
    }
    let state = b"Waiting in connection_control plugin";
    assert!(packets.iter().any(|packet| packet.windows(state.len()).any(|window| window == state)));
    let (ended, waited) = timed(|| server.terminate());
    assert!(ended && waited < 8 * SECOND, "{waited:?}");
    assert_eq!(waiting.try_read(), None);
}

#[test]
fn a_change_of_user_is_delayed_and_keeps_its_place() {
    let (server, mut admin) = start(&[], &[]);
    for _ in 0..3 {
        assert_eq!(outcome(send_wrong(&server, "ada")), 1045);
    }
    let mut client = server.root();
    let nonce: [u8; 20] = client.nonce().try_into().unwrap();
    let answer = wire::auth::native::answer(b"right", &nonce);
    let change = [b"\x11ada\0\x14".as_slice(), &answer, b"\0\x2d\0mysql_native_password\0"].concat();
    let (packet, waited) = timed(|| {
        client.send(0, &change);
        client.read().1
    });
    assert_eq!((packet[0], delays(&mut admin)), (0, 1));
    assert!(waited >= SECOND, "{waited:?}");
    assert_eq!(client.command(0x0e, b"")[0], 0);
    drop(client);
    eventually("the place is given back", || status(&mut admin, "Threads_connected") == 1);
}

#[test]
fn settings_out_of_range_are_refused_and_a_new_threshold_forgets_failures() {
    let (server, mut admin) = start(&[], &["SET sql_mode = ''"]);
    for (name, value, code) in [
        ("failed_connections_threshold", "-1", 1231),
        ("failed_connections_threshold", "2147483648", 1231),
        ("failed_connections_threshold", "'x'", 1232),
        ("min_connection_delay", "999", 1231),
        ("min_connection_delay", "5000", 0),
        ("max_connection_delay", "4999", 1231),
        ("max_connection_delay", "6000", 0),
        ("min_connection_delay", "6001", 1231),
        ("min_connection_delay", "DEFAULT", 0),
    ] {
        let sql = format!("SET GLOBAL connection_control_{name} = {value}");
        assert_eq!(query(&mut admin, &sql), code, "{sql}");
    }
    for _ in 0..3 {
        assert_eq!(outcome(send_wrong(&server, "ada")), 1045);
    }
    assert_eq!(outcome(send_wrong(&server, "ada")), 1045);
    assert_eq!(delays(&mut admin), 1);
    assert_eq!(query(&mut admin, "SET GLOBAL connection_control_failed_connections_threshold = 3"), 0);
    assert_eq!(outcome(send_wrong(&server, "ada")), 1045);
    assert_eq!(delays(&mut admin), 0);
}

#[test]
fn failed_logins_lock_an_account_that_says_so() {
    let more = [
        "SET GLOBAL connection_control_failed_connections_threshold = 0",
        "CREATE USER lia IDENTIFIED WITH mysql_native_password BY 'right' FAILED_LOGIN_ATTEMPTS 2 PASSWORD_LOCK_TIME 3",
    ];
    let (server, mut admin) = start(&[], &more);
    let wrong = |user: &str| {
        let mut client = server.raw();
        client.login_with(user, b"mysql_native_password", &[7; 20]);
        let refused = client.read().1;
        error(&if refused[0] == 0xff { refused } else { client.command(0, b"") })
    };
    let right = |user: &str| {
        let mut client = server.raw();
        let nonce: [u8; 20] = client.nonce().try_into().unwrap();
        client.login(user, &wire::auth::native::answer(b"right", &nonce));
        let answer = client.read().1;
        if answer[0] == 0 { Ok(()) } else { Err(error(&answer)) }
    };
    let blocked = |user: &str| {
        let text = format!(
            "#HY000Access denied for user '{user}'@'localhost'. Account is blocked for 3 day(s) (3 day(s) remaining) due to 2 consecutive failed logins."
        );
        (3955, text)
    };
    assert_eq!(wrong("lia").0, 1045);
    assert_eq!(right("lia"), Ok(()));
    assert_eq!(wrong("lia").0, 1045);
    assert_eq!(wrong("lia"), blocked("lia"));
    assert_eq!(right("lia"), Err(blocked("lia")));
    for (sql, user) in [
        ("ALTER USER lia COMMENT 'c'", "lia"),
        ("GRANT SELECT ON *.* TO lia", "lia"),
        ("ALTER USER lia IDENTIFIED WITH mysql_native_password BY 'right'", "lia"),
        ("RENAME USER lia TO lea", "lea"),
    ] {
        assert_eq!(query(&mut admin, sql), 0, "{sql}");
        assert_eq!(right(user), Err(blocked(user)), "{sql}");
    }
    for sql in [
        "ALTER USER lea ACCOUNT UNLOCK",
        "ALTER USER lea PASSWORD_LOCK_TIME 3",
        "ALTER USER lea FAILED_LOGIN_ATTEMPTS 2",
        "FLUSH PRIVILEGES",
    ] {
        assert_eq!(query(&mut admin, sql), 0, "{sql}");
        assert_eq!(right("lea"), Ok(()), "{sql}");
        assert_eq!((wrong("lea").0, wrong("lea").0), (1045, 3955), "{sql}");
    }
    // Others, and names without an account, are not.
    assert!((0..5).all(|_| wrong("ada").0 == 1045));
}

#[test]
fn an_account_locked_by_failed_logins_hides_whether_a_password_is_right() {
    let more = [
        "SET GLOBAL connection_control_failed_connections_threshold = 0",
        "CREATE USER mia IDENTIFIED BY 'right' FAILED_LOGIN_ATTEMPTS 2 PASSWORD_LOCK_TIME 3",
    ];
    let (server, mut admin) = start(&[], &more);
    let begin = |answer: &dyn Fn(&[u8; 20]) -> Vec<u8>| {
        let mut client = server.raw();
        let nonce: [u8; 20] = client.nonce().try_into().unwrap();
        client.login_with("mia", SHA2, &answer(&nonce));
        let (sequence, packet) = client.read();
        (client, sequence, packet)
    };
    let wrong = |_: &[u8; 20]| vec![7; 32];
    let right = |nonce: &[u8; 20]| wire::auth::sha2::answer(b"right", nonce).to_vec();
    let (mut client, sequence, packet) = begin(&wrong);
    assert_eq!(packet, b"\x01\x04");
    client.send(sequence + 1, b"right\0");
    assert_eq!(client.read().1[0], 0, "and the hash is cached");
    assert_eq!(begin(&right).2, b"\x01\x03");

    // Clients that leave once they know that their guess is wrong.
    let aborted = status(&mut admin, "Aborted_connects");
    (0..2).for_each(|_| assert_eq!(begin(&wrong).2, b"\x01\x04"));
    eventually("the failures to be counted", || status(&mut admin, "Aborted_connects") == aborted + 2);
    let (mut client, sequence, packet) = begin(&right);
    assert_eq!(packet, b"\x01\x04", "as for a wrong one");
    client.send(sequence + 1, b"right\0");
    assert_eq!(error(&client.read().1).0, 3955);
}
