//! Partial revokes beside what the script of `tests/privileges` has: restarts, what is drawn at random, and
//! ways around them.

#![allow(clippy::unwrap_used, reason = "test code")]

use std::path::Path;

use base::prng::Prng;
use mysql::Conn;
use mysql::prelude::Queryable;
use testkit::client::{error_code as code, log_in, run_all as run};
use testkit::server::{TestServer, binary_under_test};

fn binary() -> std::path::PathBuf {
    binary_under_test(Path::new(env!("CARGO_BIN_EXE_ratchetd")))
}

fn connect(server: &TestServer, user: &str) -> Conn {
    log_in(server.port, user)
}

#[test]
fn they_survive_a_restart_and_keep_the_variable_on() {
    let folder = tempfile::tempdir().unwrap();
    let datadir = folder.path().join("data");
    let start = |options: &[&str]| TestServer::start_on(&binary(), &datadir, options).unwrap();
    let mut server = start(&["--partial-revokes=ON"]);
    let mut root = connect(&server, "root");
    let setup = [
        "CREATE DATABASE d",
        "CREATE TABLE d.t (a INT)",
        "CREATE USER u",
        "GRANT SELECT, INSERT ON *.* TO u WITH GRANT OPTION",
        "REVOKE SELECT ON d.* FROM u",
        "REVOKE INSERT ON `q\"\\\\``'`.* FROM u",
    ];
    run(&mut root, &setup);
    let seen = |root: &mut Conn| root.query::<String, _>("SHOW GRANTS FOR u").unwrap();
    let before = seen(&mut root);
    assert_eq!(before[1], "REVOKE SELECT ON `d`.* FROM `u`@`%`");
    server.shut_down().unwrap();
    let server = start(&[]);
    let mut root = connect(&server, "root");
    assert_eq!(seen(&mut root), before);
    assert_eq!(root.query_first::<u8, _>("SELECT @@partial_revokes").unwrap(), Some(1));
    let mut user = connect(&server, "u");
    assert_eq!(code(user.query_drop("SELECT * FROM d.t")), 1142);
    server.kill().unwrap();
    let server = start(&["--partial-revokes=OFF"]);
    let mut root = connect(&server, "root");
    assert_eq!(code(root.query_drop("SET GLOBAL partial_revokes = OFF")), 3896);
    run(&mut root, &["REVOKE SELECT, INSERT ON *.* FROM u", "SET GLOBAL partial_revokes = OFF"]);
}

#[test]
fn there_is_no_way_around_them() {
    let server = TestServer::start(&binary(), &["--partial-revokes=ON"]).unwrap();
    let mut root = connect(&server, "root");
    let setup = [
        "CREATE DATABASE d",
        "CREATE TABLE d.t (a INT)",
        "CREATE USER u, v",
        "GRANT SELECT, CREATE USER, INSERT ON *.* TO u WITH GRANT OPTION",
        "REVOKE SELECT, INSERT ON d.* FROM u",
    ];
    run(&mut root, &setup);
    let mut user = connect(&server, "u");
    for sql in [
        "GRANT SELECT ON d.* TO v",
        "GRANT SELECT ON d.* TO u",
        "GRANT SELECT ON d.t TO v",
        "GRANT SELECT (a) ON d.t TO v",
        "GRANT SELECT ON *.* TO v AS root@localhost",
        "SELECT 1 FROM d.t",
        "INSERT INTO d.t SELECT 1",
        "DESC d.t",
    ] {
        assert!([1044, 1142, 1235].contains(&code(user.query_drop(sql))), "{sql}");
    }
    run(&mut user, &["GRANT SELECT, INSERT ON *.* TO u", "GRANT SELECT ON *.* TO v"]);
    for name in ["u", "v"] {
        let mut conn = connect(&server, name);
        assert_eq!(code(conn.query_drop("SELECT 1 FROM d.t")), 1142, "{name}");
        assert_eq!(code(conn.query_drop("USE d")), 1044, "{name}");
    }
    let read = "SELECT * FROM d.t WHERE a = 5";
    run(&mut root, &[read]);
    assert_eq!(code(user.query_drop(read)), 1142, "of a plan made for who may");
}

#[test]
fn their_number_is_bounded() {
    let server = TestServer::start(&binary(), &["--partial-revokes=ON"]).unwrap();
    let mut root = connect(&server, "root");
    run(&mut root, &["CREATE DATABASE d", "CREATE USER u", "GRANT SELECT, INSERT ON *.* TO u"]);
    // A table counts beside its columns.
    let columns = |each: &str| (0..999).map(|n| format!("c{n}{each}")).collect::<Vec<_>>().join(",");
    for table in 0..10 {
        run(&mut root, &[&format!("CREATE TABLE d.t{table} ({})", columns(" TINYINT"))]);
        run(&mut root, &[&format!("GRANT SELECT ({}) ON d.t{table} TO u", columns(""))]);
    }
    assert_eq!(code(root.query_drop("REVOKE SELECT ON d.* FROM u")), 1041);
    assert_eq!(code(root.query_drop("REVOKE SELECT ON missing.* FROM u")), 1041);
    let full = [
        "REVOKE SELECT (c0) ON d.t0 FROM u",
        "REVOKE SELECT ON d.* FROM u",
        // It is no more of them.
        "REVOKE SELECT, INSERT ON d.* FROM u",
    ];
    run(&mut root, &full);
    assert_eq!(code(root.query_drop("REVOKE SELECT ON e.* FROM u")), 1041);
    assert_eq!(code(root.query_drop("GRANT SELECT ON e.* TO u")), 1041);
    let seen: Vec<String> = root.query("SHOW GRANTS FOR u").unwrap();
    assert_eq!(seen[1], "REVOKE SELECT, INSERT ON `d`.* FROM `u`@`%`");
    run(&mut root, &["GRANT SELECT, INSERT ON d.* TO u", "REVOKE SELECT ON e.* FROM u"]);
}

/// What is in force is decided here as well, for one privilege: on everything, restricted, on the database.
#[test]
fn any_order_of_grants_and_revokes_comes_to_what_it_says() {
    let server = TestServer::start(&binary(), &["--partial-revokes=ON"]).unwrap();
    let mut root = connect(&server, "root");
    run(&mut root, &["CREATE USER u", "CREATE DATABASE d0", "CREATE DATABASE d1", "CREATE DATABASE d2"]);
    run(&mut root, &["CREATE TABLE d0.t (a INT)", "CREATE TABLE d1.t (a INT)", "CREATE TABLE d2.t (a INT)"]);
    let prng = &mut Prng::new(5);
    let (mut global, mut restricted, mut own) = (false, [false; 3], [false; 3]);
    for step in 0..200 {
        let at = prng.below(3) as usize;
        let (sql, is_known) = match prng.below(6) {
            0 => {
                (global, restricted) = (true, [false; 3]);
                ("GRANT SELECT ON *.* TO u".to_owned(), true)
            }
            1 => {
                (global, restricted) = (false, [false; 3]);
                ("REVOKE SELECT ON *.* FROM u".to_owned(), true)
            }
            2 | 3 => {
                own[at] |= !restricted[at];
                restricted[at] = false;
                (format!("GRANT SELECT ON d{at}.* TO u"), true)
            }
            _ => {
                let is_known = global || own[at];
                restricted[at] |= global && !own[at];
                own[at] = false;
                (format!("REVOKE SELECT ON d{at}.* FROM u"), is_known)
            }
        };
        let done = root.query_drop(&sql);
        if is_known {
            done.unwrap();
        } else {
            assert_eq!(code(done), 1141, "step {step}: {sql}");
        }
        let mut user = connect(&server, "u");
        for at in 0..3 {
            let may = own[at] || global && !restricted[at];
            let read = user.query_drop(format!("SELECT * FROM d{at}.t"));
            assert_eq!(read.is_ok(), may, "step {step}: {sql}: d{at}: {read:?}");
        }
    }
}
