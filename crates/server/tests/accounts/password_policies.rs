//! Policies of passwords and second passwords over restarts, and their bounds.

#![allow(clippy::unwrap_used, reason = "test code")]

use std::path::Path;

use mysql::prelude::Queryable;
use mysql::{Conn, OptsBuilder};
use testkit::server::TestServer;

const BINARY: &str = env!("CARGO_BIN_EXE_ratchetd");
/// Most passwords that an account keeps.
const KEPT_MAX: u64 = 1024;

fn connect(server: &TestServer, user: &str, password: &str) -> mysql::Result<Conn> {
    let options = OptsBuilder::new().ip_or_hostname(Some("127.0.0.1")).tcp_port(server.port);
    Conn::new(options.user(Some(user)).pass(Some(password)))
}

fn error_code(conn: &mut Conn, sql: &str) -> u16 {
    match conn.query_drop(sql) {
        Err(mysql::Error::MySqlError(error)) => error.code,
        other => panic!("{sql}: {other:?}"),
    }
}

fn kept(conn: &mut Conn) -> u64 {
    conn.query_first("SELECT COUNT(*) FROM mysql.password_history").unwrap().unwrap()
}

#[test]
fn histories_and_policies_survive_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let datadir = folder.path().join("data");
    let mut server = TestServer::start_on(Path::new(BINARY), &datadir, &[]).unwrap();
    let mut root = connect(&server, "root", "").unwrap();
    root.query_drop("CREATE USER a IDENTIFIED BY 'one' PASSWORD HISTORY 2 PASSWORD REQUIRE CURRENT").unwrap();
    root.query_drop("ALTER USER a IDENTIFIED BY 'two'").unwrap();
    let rows = "SELECT * FROM mysql.password_history ORDER BY password_timestamp";
    let before: Vec<(String, String, String, String)> = root.query(rows).unwrap();
    assert_eq!(before.len(), 2);
    server.shut_down().unwrap();

    let server = TestServer::start_on(Path::new(BINARY), &datadir, &[]).unwrap();
    let mut root = connect(&server, "root", "").unwrap();
    assert_eq!(root.query::<(String, String, String, String), _>(rows).unwrap(), before);
    for password in ["one", "two"] {
        assert_eq!(error_code(&mut root, &format!("ALTER USER a IDENTIFIED BY '{password}'")), 3638);
    }
    let mut own = connect(&server, "a", "two").unwrap();
    assert_eq!(error_code(&mut own, "SET PASSWORD = 'three'"), 3892);
    assert_eq!(error_code(&mut own, "SET PASSWORD = 'two' REPLACE 'two'"), 3638);
    own.query_drop("SET PASSWORD = 'three' REPLACE 'two'").unwrap();
    own.query_drop("SET PASSWORD = 'one' REPLACE 'three'").unwrap();
}

#[test]
fn a_session_without_the_current_password_does_not_find_out_former_ones() {
    let server = TestServer::start(Path::new(BINARY), &[]).unwrap();
    let mut root = connect(&server, "root", "").unwrap();
    root.query_drop("CREATE USER a IDENTIFIED BY 'one' PASSWORD HISTORY 2 PASSWORD REQUIRE CURRENT").unwrap();
    let mut own = connect(&server, "a", "one").unwrap();
    for guess in ["one", "two"] {
        assert_eq!(error_code(&mut own, &format!("SET PASSWORD = '{guess}'")), 3892);
        assert_eq!(error_code(&mut own, &format!("SET PASSWORD = '{guess}' REPLACE 'x'")), 3891);
        assert_eq!(error_code(&mut own, &format!("ALTER USER a IDENTIFIED BY '{guess}' REPLACE 'x'")), 3891);
    }
}

#[test]
fn histories_are_bounded_and_a_statement_adds_one_password_to_an_account() {
    let server = TestServer::start(Path::new(BINARY), &[]).unwrap();
    let mut root = connect(&server, "root", "").unwrap();
    root.query_drop("CREATE USER a IDENTIFIED WITH mysql_native_password PASSWORD HISTORY 4294967295")
        .unwrap();
    root.query_drop("ALTER USER a PASSWORD REUSE INTERVAL 18446744073709551615 DAY").unwrap();
    for i in 0..KEPT_MAX + 3 {
        root.query_drop(format!("ALTER USER a IDENTIFIED BY 'p{i}'")).unwrap();
    }
    assert_eq!(kept(&mut root), KEPT_MAX);
    assert_eq!(error_code(&mut root, "ALTER USER a IDENTIFIED BY 'p3'"), 3638);
    root.query_drop("ALTER USER a IDENTIFIED BY 'p2'").unwrap();
    let twice = "ALTER USER a IDENTIFIED BY 'x', a IDENTIFIED BY 'y'";
    assert_eq!(error_code(&mut root, twice), 1062);
    root.query_drop("ALTER USER a PASSWORD HISTORY 0 PASSWORD REUSE INTERVAL 0 DAY").unwrap();
    root.query_drop(twice).unwrap();
    connect(&server, "a", "y").unwrap();
    assert_eq!(kept(&mut root), 0);
}

fn may_log_in(server: &TestServer, user: &str, passwords: [&str; 3]) -> [bool; 3] {
    // The second time a caching plugin answers at once.
    let once = || passwords.map(|password| connect(server, user, password).is_ok());
    let first = once();
    assert_eq!(once(), first);
    first
}

#[test]
fn two_passwords_log_in_over_restarts_until_one_is_discarded() {
    let folder = tempfile::tempdir().unwrap();
    let datadir = folder.path().join("data");
    let mut server = TestServer::start_on(Path::new(BINARY), &datadir, &[]).unwrap();
    let mut root = connect(&server, "root", "").unwrap();
    let plugins = ["caching_sha2_password", "mysql_native_password"];
    for (user, plugin) in ["a", "b"].into_iter().zip(plugins) {
        root.query_drop(format!("CREATE USER {user} IDENTIFIED WITH {plugin} BY 'one'")).unwrap();
        assert_eq!(may_log_in(&server, user, ["one", "two", ""]), [true, false, false]);
        root.query_drop(format!("ALTER USER {user} IDENTIFIED BY 'two' RETAIN CURRENT PASSWORD")).unwrap();
        assert_eq!(may_log_in(&server, user, ["one", "two", ""]), [true, true, false]);
    }
    server.shut_down().unwrap();

    let server = TestServer::start_on(Path::new(BINARY), &datadir, &[]).unwrap();
    let mut root = connect(&server, "root", "").unwrap();
    for user in ["a", "b"] {
        assert_eq!(may_log_in(&server, user, ["one", "two", "x"]), [true, true, false]);
        root.query_drop(format!("ALTER USER {user} IDENTIFIED BY 'three'")).unwrap();
        assert_eq!(may_log_in(&server, user, ["one", "two", "three"]), [true, false, true]);
        root.query_drop(format!("RENAME USER {user} TO c")).unwrap();
        assert_eq!(may_log_in(&server, "c", ["one", "two", "three"]), [true, false, true]);
        root.query_drop("SET PASSWORD FOR c = 'four' RETAIN CURRENT PASSWORD").unwrap();
        assert_eq!(may_log_in(&server, "c", ["one", "three", "four"]), [false, true, true]);
        root.query_drop("ALTER USER c DISCARD OLD PASSWORD").unwrap();
        assert_eq!(may_log_in(&server, "c", ["one", "three", "four"]), [false, false, true]);
        root.query_drop("ALTER USER c IDENTIFIED BY 'five' RETAIN CURRENT PASSWORD").unwrap();
        // Another plugin discards it, and no password, too.
        root.query_drop("ALTER USER c IDENTIFIED WITH auth_socket").unwrap();
        assert_eq!(may_log_in(&server, "c", ["one", "four", "five"]), [false; 3]);
        root.query_drop("DROP USER c").unwrap();
    }
    assert_eq!(
        error_code(&mut root, "ALTER USER root@localhost IDENTIFIED BY 'x' RETAIN CURRENT PASSWORD"),
        3878
    );
    root.query_drop("CREATE USER d IDENTIFIED WITH auth_socket, e IDENTIFIED BY 'one'").unwrap();
    for (sql, code) in [
        ("ALTER USER d IDENTIFIED WITH caching_sha2_password BY 'x' RETAIN CURRENT PASSWORD", 3894),
        ("ALTER USER d IDENTIFIED WITH auth_socket AS 'x' RETAIN CURRENT PASSWORD", 3878),
        ("ALTER USER e IDENTIFIED WITH mysql_native_password BY 'x' RETAIN CURRENT PASSWORD", 3894),
        ("ALTER USER e IDENTIFIED WITH caching_sha2_password AS '' RETAIN CURRENT PASSWORD", 3895),
        ("ALTER USER e IDENTIFIED BY 'x' AND IDENTIFIED BY 'y'", 1235),
    ] {
        assert_eq!(error_code(&mut root, sql), code, "{sql}");
    }
    assert_eq!(may_log_in(&server, "e", ["one", "x", ""]), [true, false, false]);
}
