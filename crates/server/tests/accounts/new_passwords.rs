//! Passwords that the server makes, and options of accounts that are refused.

#![allow(clippy::unwrap_used, reason = "test code")]

use std::path::Path;

use mysql::prelude::Queryable;
use mysql::{Conn, OptsBuilder};
use testkit::server::TestServer;

type Generated = (String, String, String, u32);

fn start() -> (TestServer, Conn) {
    let server = TestServer::start(Path::new(env!("CARGO_BIN_EXE_ratchetd")), &[]).unwrap();
    let conn = connect(&server, "root", "").unwrap();
    (server, conn)
}

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

#[test]
fn random_passwords_are_answered_and_log_in() {
    let (server, mut conn) = start();
    let sql = "CREATE USER a IDENTIFIED BY RANDOM PASSWORD, b IDENTIFIED BY 'b', c@localhost IDENTIFIED BY RANDOM PASSWORD";
    let made: Vec<Generated> = conn.query(sql).unwrap();
    let names: Vec<_> = made.iter().map(|made| (made.0.as_str(), made.1.as_str(), made.3)).collect();
    assert_eq!(names, [("a", "%", 1), ("c", "localhost", 1)]);
    assert!(made[0].2.len() == 20 && made[1].2.len() == 20 && made[0].2 != made[1].2, "{made:?}");
    let columns = conn.query_iter("ALTER USER a IDENTIFIED BY RANDOM PASSWORD").unwrap();
    let names: Vec<_> =
        columns.columns().as_ref().iter().map(|column| column.name_str().into_owned()).collect();
    assert_eq!(names, ["user", "host", "generated password", "auth_factor"]);
    drop(columns);
    assert!(connect(&server, "a", &made[0].2).is_err(), "it has another password");
    let mut own = connect(&server, "c", &made[1].2).unwrap();

    // One's own needs no privilege, and the current password is compared.
    assert_eq!(error_code(&mut own, "SET PASSWORD TO RANDOM REPLACE 'x'"), 3891);
    own.query_drop("SET generated_random_password_length = 3").unwrap();
    let set: Vec<Generated> = own.query("SET PASSWORD TO RANDOM").unwrap();
    assert_eq!(set[0].2.len(), 5);
    let mut own = connect(&server, "c", &set[0].2).unwrap();
    own.query_drop("SET generated_random_password_length = 300").unwrap();
    let sql = format!("ALTER USER CURRENT_USER() IDENTIFIED BY RANDOM PASSWORD REPLACE '{}'", set[0].2);
    let set: Vec<Generated> = own.query(sql).unwrap();
    assert_eq!((set[0].0.as_str(), set[0].2.len()), ("c", 255));
    // Clients encrypt none as long as that.
    own.query_drop(format!("SET PASSWORD = 'c' REPLACE '{}'", set[0].2)).unwrap();
    connect(&server, "c", "c").unwrap();

    // Nothing is made for accounts that stay as they are.
    let made: Vec<Generated> =
        conn.query("CREATE USER IF NOT EXISTS a IDENTIFIED BY RANDOM PASSWORD").unwrap();
    assert_eq!(made, []);
    assert_eq!(
        error_code(&mut conn, "CREATE USER d IDENTIFIED BY RANDOM PASSWORD, a IDENTIFIED BY 'x'"),
        1396
    );
    assert_eq!(
        conn.query_first::<u64, _>("SELECT COUNT(*) FROM mysql.user WHERE User = 'd'").unwrap(),
        Some(0)
    );
}

#[test]
fn options_of_accounts_without_their_values_are_syntax_errors() {
    let (_server, mut conn) = start();
    conn.query_drop("CREATE USER a").unwrap();
    for wrong in
        ["WITH", "MAX_USER_CONNECTIONS 1", "PASSWORD", "PASSWORD HISTORY", "PASSWORD REUSE INTERVAL 1"]
    {
        assert_eq!(error_code(&mut conn, &format!("ALTER USER a {wrong}")), 1064, "{wrong}");
    }
}
