//! Policies of passwords over restarts, and their bounds.

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
