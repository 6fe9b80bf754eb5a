//! Resource limits of accounts: logins, connections at the same time, and which commands count as queries.
//! That an hour ends is a test of `resource_use`.

#![allow(clippy::unwrap_used, reason = "test code")]

use crate::support::{RawClient, TestServer, error, eventually};

const QUERY: u8 = 0x03;
const INIT_DB: u8 = 0x02;
const PING: u8 = 0x0e;
const CHANGE_USER: u8 = 0x11;
const PREPARE: u8 = 0x16;
const EXECUTE: u8 = 0x17;
const RESET: u8 = 0x1f;

/// COM_CHANGE_USER to the account u, which has no password.
const TO_U: &[u8] = b"u\0\0\0\x2d\0mysql_native_password\0";

/// Logs in over TCP; the error that refuses the login.
fn login(server: &TestServer, user: &str) -> Result<RawClient, (u16, String)> {
    let mut client = server.raw();
    client.login(user, b"");
    let (_, answer) = client.read();
    if answer[0] == 0 { Ok(client) } else { Err(error(&answer)) }
}

fn refused(server: &TestServer, user: &str) -> String {
    match login(server, user) {
        Ok(_) => panic!("{user} is let in"),
        Err((code, message)) => format!("{code} {}", message.trim_start_matches("#42000")),
    }
}

/// Runs a statement that answers OK.
fn run(client: &mut RawClient, sql: &str) {
    let answer = client.command(QUERY, sql.as_bytes());
    assert_eq!(answer[0], 0, "{sql}: {}", String::from_utf8_lossy(&answer));
}

/// The error's number of a command, 0 for OK.
fn code(client: &mut RawClient, command: u8, args: &[u8]) -> u16 {
    let answer = client.command(command, args);
    if answer[0] == 0 { 0 } else { error(&answer).0 }
}

fn do_codes(client: &mut RawClient, times: usize) -> Vec<u16> {
    (0..times).map(|_| code(client, QUERY, b"DO 1")).collect()
}

#[test]
fn logins_are_limited_by_the_hour() {
    const REACHED: &str =
        "1226 User 'u' has exceeded the 'max_connections_per_hour' resource (current value: 2)";
    let server = TestServer::start(&[]);
    let mut root = server.root();
    run(&mut root, "CREATE USER u WITH MAX_CONNECTIONS_PER_HOUR 2");
    let kept: Vec<_> = (0..2).map(|_| login(&server, "u").unwrap()).collect();
    assert_eq!(refused(&server, "u"), REACHED);
    drop(kept);
    assert_eq!(refused(&server, "u"), REACHED, "those that have ended count, too");
    run(&mut root, "ALTER USER u ACCOUNT UNLOCK");
    assert_eq!(refused(&server, "u"), REACHED, "the limit was not named");
    for sql in ["FLUSH USER_RESOURCES", "FLUSH PRIVILEGES", "ALTER USER u WITH MAX_CONNECTIONS_PER_HOUR 2"] {
        run(&mut root, sql);
        (0..2).for_each(|_| drop(login(&server, "u").unwrap()));
        assert_eq!(refused(&server, "u"), REACHED, "{sql}");
    }
    run(&mut root, "FLUSH USER_RESOURCES");
    let mut client = login(&server, "u").unwrap();
    assert_eq!(code(&mut client, CHANGE_USER, TO_U), 0);
    assert_eq!(code(&mut client, CHANGE_USER, TO_U), 1226, "COM_CHANGE_USER is a login");
    run(&mut root, "ALTER USER u WITH MAX_CONNECTIONS_PER_HOUR 1 ACCOUNT LOCK");
    assert!(refused(&server, "u").starts_with("3118"));
    run(&mut root, "ALTER USER u ACCOUNT UNLOCK");
    assert!(login(&server, "u").is_ok(), "a login that fails before does not count");
}

#[test]
fn connections_at_the_same_time_are_limited() {
    const REACHED: &str = "1226 User 'u' has exceeded the 'max_user_connections' resource (current value: 1)";
    let server = TestServer::start(&[]);
    let mut root = server.root();
    run(&mut root, "CREATE USER u WITH MAX_USER_CONNECTIONS 1");
    run(&mut root, "CREATE USER v");
    let first = login(&server, "u").unwrap();
    assert_eq!(refused(&server, "u"), REACHED);
    let mut other = login(&server, "v").unwrap();
    assert_eq!(code(&mut other, CHANGE_USER, TO_U), 1226);
    drop(first);
    let mut first = None;
    eventually("the end of the first", || {
        first = login(&server, "u").ok();
        first.is_some()
    });
    let mut first = first.unwrap();
    run(&mut root, "ALTER USER u WITH MAX_USER_CONNECTIONS 2");
    let mut second = login(&server, "u").unwrap();
    assert!(refused(&server, "u").starts_with("1226"));
    assert_eq!(code(&mut second, CHANGE_USER, TO_U), 1226, "both count until the change is done");
    run(&mut root, "ALTER USER u WITH MAX_USER_CONNECTIONS 0");
    let more: Vec<_> = (0..3).map(|_| login(&server, "u").unwrap()).collect();
    drop(more);
    run(&mut first, "DO 1");
    // The limit of all accounts, for those without their own.
    run(&mut root, "SET GLOBAL max_user_connections = 1");
    let mut kept = None;
    eventually("the end of all sessions of v", || {
        kept = login(&server, "v").ok();
        kept.is_some()
    });
    let all = "1203 User v already has more than 'max_user_connections' active connections";
    assert_eq!(refused(&server, "v"), all);
    run(&mut root, "ALTER USER v WITH MAX_USER_CONNECTIONS 2");
    let own = login(&server, "v").unwrap();
    assert!(refused(&server, "v").starts_with("1226"));
    run(&mut root, "SET GLOBAL max_user_connections = 0");
    run(&mut root, "ALTER USER v WITH MAX_USER_CONNECTIONS 0");
    drop((kept, own, login(&server, "v").unwrap()));
}

#[test]
fn a_query_is_a_statement_that_can_be_parsed() {
    let server = TestServer::start(&[]);
    let mut root = server.root();
    run(&mut root, "CREATE USER u WITH MAX_QUERIES_PER_HOUR 2");
    let mut client = login(&server, "u").unwrap();
    // They do not count.
    for _ in 0..3 {
        assert_eq!(code(&mut client, PING, b""), 0);
        assert_eq!(code(&mut client, INIT_DB, b"information_schema"), 0);
        assert_eq!(code(&mut client, RESET, b""), 0);
        assert_eq!(code(&mut client, QUERY, b"SELEC 1"), 1064);
        assert_eq!(code(&mut client, QUERY, b""), 1065);
    }
    assert_eq!(client.command(PREPARE, b"DO 1")[0], 0);
    for _ in 0..3 {
        assert_eq!(code(&mut client, EXECUTE, &[1, 0, 0, 0, 0, 1, 0, 0, 0]), 0);
    }
    // They do, whether they are known or fail.
    for sql in ["DO 1", "DO 2", "SET @a = 1", "DROP USER root@localhost", "DO nope", "/* nothing */"] {
        run(&mut root, "ALTER USER u WITH MAX_QUERIES_PER_HOUR 2");
        let codes: Vec<_> = (0..3).map(|_| code(&mut client, QUERY, sql.as_bytes())).collect();
        assert!(codes[..2].iter().all(|&code| code != 1226) && codes[2] == 1226, "{sql}: {codes:?}");
    }
    // Another session of the account counts for the same hour, one from before there was a limit does not.
    run(&mut root, "CREATE USER v");
    let mut unlimited = login(&server, "v").unwrap();
    assert_eq!(do_codes(&mut unlimited, 3), [0, 0, 0]);
    run(&mut root, "ALTER USER v WITH MAX_QUERIES_PER_HOUR 2");
    assert_eq!(do_codes(&mut unlimited, 3), [0, 0, 0]);
    let (mut one, mut two) = (login(&server, "v").unwrap(), login(&server, "v").unwrap());
    assert_eq!((do_codes(&mut one, 1), do_codes(&mut two, 2)), (vec![0], vec![0, 1226]));
    run(&mut root, "ALTER USER v WITH MAX_QUERIES_PER_HOUR 0");
    assert_eq!(do_codes(&mut one, 4), [0; 4]);
    // COM_CHANGE_USER of a session whose plans are known: nothing runs uncounted.
    run(&mut root, "FLUSH USER_RESOURCES");
    assert_eq!(code(&mut unlimited, CHANGE_USER, TO_U), 0);
    assert_eq!(do_codes(&mut unlimited, 3), [0, 0, 1226]);
}

#[test]
fn an_account_takes_its_counts_with_it() {
    let server = TestServer::start(&[]);
    let mut root = server.root();
    run(&mut root, "CREATE USER u WITH MAX_QUERIES_PER_HOUR 2");
    let mut old = login(&server, "u").unwrap();
    assert_eq!(do_codes(&mut old, 3), [0, 0, 1226]);
    run(&mut root, "CREATE USER IF NOT EXISTS u WITH MAX_QUERIES_PER_HOUR 9");
    assert_eq!(do_codes(&mut old, 1), [1226], "nothing has changed");
    // The old session keeps the old counts to itself.
    run(&mut root, "DROP USER u");
    run(&mut root, "CREATE USER u");
    assert_eq!(do_codes(&mut login(&server, "u").unwrap(), 4), [0; 4]);
    run(&mut root, "ALTER USER u WITH MAX_QUERIES_PER_HOUR 3");
    let mut new = login(&server, "u").unwrap();
    assert_eq!((do_codes(&mut old, 1), do_codes(&mut new, 4)), (vec![1226], vec![0, 0, 0, 1226]));
    // So does one of an account that is renamed, and another account begins with no counts.
    run(&mut root, "RENAME USER u TO v");
    run(&mut root, "CREATE USER u WITH MAX_QUERIES_PER_HOUR 1");
    let (mut u, mut v) = (login(&server, "u").unwrap(), login(&server, "v").unwrap());
    assert_eq!((do_codes(&mut u, 2), do_codes(&mut v, 4)), (vec![0, 1226], vec![0, 0, 0, 1226]));
    drop(old);
    assert_eq!(
        do_codes(&mut login(&server, "u").unwrap(), 1),
        [1226],
        "the end of another's changes nothing"
    );
}

/// Plans that the server has made.
fn plans_made(root: &mut RawClient) -> u64 {
    assert_eq!(root.command(QUERY, b"SHOW GLOBAL STATUS LIKE 'Ratchet_plans_made'"), [2], "two columns");
    let packets: Vec<_> = (0..5).map(|_| root.read().1).collect();
    let text = String::from_utf8_lossy(&packets[3]).into_owned();
    text.trim_start_matches(|c: char| !c.is_ascii_digit()).parse().unwrap_or_else(|_| panic!("{text:?}"))
}

#[test]
fn plans_are_found_before_parsing_until_statements_are_counted() {
    let server = TestServer::start(&[]);
    let mut root = server.root();
    for sql in ["CREATE DATABASE d", "CREATE TABLE d.t (a INT, b INT, c INT)", "CREATE USER u"] {
        run(&mut root, sql);
    }
    run(&mut root, "GRANT ALL ON d.* TO u");
    run(&mut root, "SET GLOBAL max_user_connections = 5");
    let mut client = login(&server, "u").unwrap();
    // Statements that are alike except for a literal; the plans that they take.
    let mut inserts = |root: &mut RawClient, column: &str, times: u64| {
        let before = plans_made(root);
        let insert =
            |n| code(&mut client, QUERY, format!("INSERT INTO d.t ({column}) VALUES ({n})").as_bytes());
        let codes: Vec<_> = (0..times).map(insert).collect();
        (codes, plans_made(root) - before)
    };
    // A statement that is parsed makes a plan here.
    assert_eq!(inserts(&mut root, "a", 3), (vec![0; 3], 1), "the account has no limit");
    for limit in ["MAX_CONNECTIONS_PER_HOUR 9", "MAX_USER_CONNECTIONS 9"] {
        run(&mut root, &format!("ALTER USER u WITH {limit}"));
        assert_eq!(inserts(&mut root, "a", 3), (vec![0; 3], 0), "{limit}");
    }
    for (column, plans) in [("a", 0), ("b", 1)] {
        for limit in ["MAX_QUERIES_PER_HOUR", "MAX_UPDATES_PER_HOUR"] {
            run(&mut root, &format!("ALTER USER u WITH {limit} 2"));
            let (codes, made) = inserts(&mut root, column, 3);
            assert_eq!(codes, [0, 0, 1226], "{limit}: no plan runs uncounted");
            assert!(made <= plans, "{limit}: {made}");
            run(&mut root, &format!("ALTER USER u WITH {limit} 0"));
            assert_eq!(inserts(&mut root, column, 3), (vec![0; 3], 0), "{limit}: it is gone");
        }
    }
}

#[test]
fn limits_survive_a_restart_and_counts_do_not() {
    let mut server = TestServer::start(&[]);
    let mut root = server.root();
    run(&mut root, "CREATE USER u WITH MAX_QUERIES_PER_HOUR 1");
    let mut client = login(&server, "u").unwrap();
    assert_eq!(do_codes(&mut client, 2), [0, 1226]);
    assert!(server.terminate());
    let server = TestServer::start_in(server.into_dir(), &[]);
    let mut client = login(&server, "u").unwrap();
    assert_eq!(do_codes(&mut client, 2), [0, 1226]);
}
