//! Accounts that may not do everything: what commands of the protocol let them do, beside statements, which
//! the scripts of `tests/privileges` have.

#![allow(clippy::unwrap_used, reason = "test code")]

use std::path::Path;

use mysql::prelude::Queryable;
use mysql::{Conn, OptsBuilder};
use testkit::server::{TestServer, binary_under_test};

fn start() -> (TestServer, Conn) {
    let built = Path::new(env!("CARGO_BIN_EXE_ratchetd"));
    let server = TestServer::start(&binary_under_test(built), &[]).unwrap();
    let mut root = connect(&server, "root", None).unwrap();
    for sql in [
        "CREATE DATABASE d",
        "CREATE DATABASE e",
        "CREATE TABLE d.t (a INT PRIMARY KEY, b INT)",
        "INSERT INTO d.t VALUES (1, 10), (2, 20)",
        "CREATE USER u, v",
        "GRANT SELECT ON d.t TO u",
    ] {
        root.query_drop(sql).unwrap();
    }
    (server, root)
}

fn connect(server: &TestServer, user: &str, database: Option<&str>) -> mysql::Result<Conn> {
    let opts = OptsBuilder::new().ip_or_hostname(Some("127.0.0.1")).tcp_port(server.port);
    Conn::new(opts.prefer_socket(false).user(Some(user)).db_name(database))
}

fn code<T: std::fmt::Debug>(result: mysql::Result<T>) -> u16 {
    match result {
        Err(mysql::Error::MySqlError(error)) => error.code,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_database_is_entered_by_who_may_do_something_in_it() {
    let (server, mut root) = start();
    let mut user = connect(&server, "u", Some("d")).unwrap();
    assert_eq!(user.query_first::<u64, _>("SELECT COUNT(*) FROM t").unwrap(), Some(2));
    assert_eq!(code(connect(&server, "u", Some("e"))), 1044);
    assert_eq!(code(connect(&server, "u", Some("missing"))), 1044);
    assert!(!user.select_db("e").is_ok_and(|()| true), "COM_INIT_DB");
    root.query_drop("GRANT CREATE ON e.* TO u").unwrap();
    user.select_db("e").unwrap();
    user.query_drop("CREATE TABLE made (a INT)").unwrap();
    assert_eq!(code(user.query_drop("SELECT * FROM made")), 1142);
}

#[test]
fn a_prepared_statement_obeys_what_is_granted_when_it_runs() {
    let (server, mut root) = start();
    let mut user = connect(&server, "u", None).unwrap();
    let read = user.prep("SELECT b FROM d.t WHERE a = ?").unwrap();
    let count = user.prep("SELECT COUNT(*) FROM d.t").unwrap();
    for _ in 0..3 {
        assert_eq!(user.exec_first::<i64, _, _>(&read, (2,)).unwrap(), Some(20));
        assert_eq!(user.exec_first::<u64, _, _>(&count, ()).unwrap(), Some(2));
        root.query_drop("REVOKE SELECT ON d.t FROM u").unwrap();
        assert_eq!(code(user.exec_drop(&read, (2,))), 1142);
        assert_eq!(code(user.exec_drop(&count, ())), 1142);
        assert_eq!(code(user.prep("SELECT * FROM d.t WHERE a = ?")), 1142, "its columns would tell");
        // The same plan, made by who may.
        assert_eq!(root.exec_first::<i64, _, _>("SELECT b FROM d.t WHERE a = ?", (1,)).unwrap(), Some(10));
        assert_eq!(code(user.exec_drop(&read, (1,))), 1142);
        root.query_drop("GRANT SELECT ON d.t TO u").unwrap();
    }
    let change = user.prep("UPDATE d.t SET b = ? WHERE a = 1");
    assert_eq!(code(change), 1142);
}

#[test]
fn another_user_on_the_same_connection_has_other_privileges() {
    let (server, _root) = start();
    let mut conn = connect(&server, "u", Some("d")).unwrap();
    assert_eq!(conn.query_first::<i64, _>("SELECT b FROM t WHERE a = 1").unwrap(), Some(10));
    let opts = mysql::ChangeUserOpts::default().with_user(Some("v".to_owned())).with_db_name(None);
    conn.change_user(opts).unwrap();
    assert_eq!(code(conn.query_drop("SELECT b FROM d.t WHERE a = 1")), 1142);
    let opts = mysql::ChangeUserOpts::default().with_user(Some("u".to_owned())).with_db_name(None);
    conn.change_user(opts).unwrap();
    assert_eq!(conn.query_first::<i64, _>("SELECT b FROM d.t WHERE a = 1").unwrap(), Some(10));
}

#[test]
fn connections_of_others_are_neither_seen_nor_ended() {
    let (server, mut root) = start();
    let mut user = connect(&server, "u", None).unwrap();
    let roots: u64 = root.query_first("SELECT CONNECTION_ID()").unwrap().unwrap();
    assert_eq!(code(user.query_drop(format!("KILL {roots}"))), 1095);
    let seen = |conn: &mut Conn| conn.query::<mysql::Row, _>("SHOW PROCESSLIST").unwrap().len();
    assert_eq!((seen(&mut user), seen(&mut root)), (1, 2));
    root.query_drop("GRANT PROCESS, CONNECTION_ADMIN ON *.* TO u").unwrap();
    assert_eq!(seen(&mut user), 1, "from the next login on");
    let mut again = connect(&server, "u", None).unwrap();
    assert_eq!(seen(&mut again), 3);
    again.query_drop(format!("KILL {roots}")).unwrap();
    assert!(root.query_drop("DO 1").is_err());
}

#[test]
fn one_plan_serves_all_accounts() {
    let (server, mut root) = start();
    root.query_drop("GRANT SELECT ON d.* TO v").unwrap();
    let mut users = [connect(&server, "u", None).unwrap(), connect(&server, "v", None).unwrap()];
    let made = |root: &mut Conn| {
        let row: (String, u64) =
            root.query_first("SHOW GLOBAL STATUS LIKE 'Ratchet_plans_made'").unwrap().unwrap();
        row.1
    };
    let by_text =
        |conn: &mut Conn, a: i64| conn.query_first::<i64, _>(format!("SELECT b FROM d.t WHERE a = {a}"));
    let prepared =
        |conn: &mut Conn, a: i64| conn.exec_first::<i64, _, _>("SELECT b FROM d.t WHERE a = ?", (a,));
    // Made for who may do everything, then once more with what it wants.
    assert_eq!(by_text(&mut root, 1).unwrap(), Some(10));
    assert_eq!(prepared(&mut root, 1).unwrap(), Some(10));
    for user in &mut users {
        assert_eq!(by_text(user, 1).unwrap(), Some(10));
        assert_eq!(prepared(user, 1).unwrap(), Some(10));
    }
    let known = made(&mut root);
    for _ in 0..3 {
        for conn in users.iter_mut().chain([&mut root]) {
            assert_eq!(by_text(conn, 2).unwrap(), Some(20));
            assert_eq!(prepared(conn, 2).unwrap(), Some(20));
        }
    }
    assert_eq!(made(&mut root), known);
}
