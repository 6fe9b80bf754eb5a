//! Roles beside what the scripts of `tests/privileges` have: other commands of the protocol, restarts, and
//! many of them.

#![allow(clippy::unwrap_used, reason = "test code")]

use std::path::Path;

use mysql::prelude::Queryable;
use mysql::{ChangeUserOpts, Conn, OptsBuilder};
use testkit::client::{error_code as code, log_in, run_all as run};
use testkit::server::{TestServer, binary_under_test};

fn binary() -> std::path::PathBuf {
    binary_under_test(Path::new(env!("CARGO_BIN_EXE_ratchetd")))
}

fn connect(server: &TestServer, user: &str) -> Conn {
    log_in(server.port, user)
}

fn current_role(conn: &mut Conn) -> String {
    conn.query_first("SELECT CURRENT_ROLE()").unwrap().unwrap()
}

fn start() -> (TestServer, Conn) {
    let server = TestServer::start(&binary(), &[]).unwrap();
    let mut root = connect(&server, "root");
    let setup = [
        "CREATE DATABASE d",
        "CREATE TABLE d.t (a INT PRIMARY KEY, b INT)",
        "INSERT INTO d.t VALUES (1, 10), (2, 20)",
        "CREATE ROLE reader, writer",
        "CREATE USER u, v",
        "GRANT SELECT ON d.t TO reader",
        "GRANT reader, writer TO u",
    ];
    run(&mut root, &setup);
    (server, root)
}

#[test]
fn statements_prepared_and_cached_obey_the_active_roles_at_each_execution() {
    let (server, mut root) = start();
    let mut user = connect(&server, "u");
    assert_eq!(code(user.prep("SELECT b FROM d.t WHERE a = ?")), 1142);
    user.query_drop("SET ROLE reader").unwrap();
    let read = user.prep("SELECT b FROM d.t WHERE a = ?").unwrap();
    let by_text = "SELECT b FROM d.t WHERE a = 2";
    // Whether the user does it, what takes the privilege, and what gives it back.
    let changes = [
        (true, "SET ROLE NONE", "SET ROLE ALL"),
        (true, "SET ROLE writer", "SET ROLE reader"),
        (false, "REVOKE reader FROM u", "GRANT reader TO u"),
        (false, "REVOKE SELECT ON d.t FROM reader", "GRANT SELECT ON d.t TO reader"),
        (false, "DROP ROLE reader", "CREATE ROLE reader"),
    ];
    for (is_own, takes, gives) in changes {
        for _ in 0..2 {
            assert_eq!(user.exec_first::<i64, _, _>(&read, (2,)).unwrap(), Some(20));
            assert_eq!(user.query_first::<i64, _>(by_text).unwrap(), Some(20));
        }
        if is_own { &mut user } else { &mut root }.query_drop(takes).unwrap();
        for _ in 0..2 {
            assert_eq!(code(user.exec_drop(&read, (2,))), 1142, "{takes}");
            assert_eq!(code(user.query_drop(by_text)), 1142, "{takes}");
        }
        if is_own { &mut user } else { &mut root }.query_drop(gives).unwrap();
    }
    // It has the dropped role's name, and nothing else.
    assert_eq!(code(user.exec_drop(&read, (2,))), 1142);
    run(&mut root, &["GRANT SELECT ON d.t TO reader", "GRANT reader TO u"]);
    assert_eq!(user.exec_first::<i64, _, _>(&read, (2,)).unwrap(), Some(20));
    assert_eq!(user.query_first::<i64, _>(by_text).unwrap(), Some(20));
}

#[test]
fn a_plan_made_for_who_may_do_everything_is_checked_for_a_role() {
    let (server, mut root) = start();
    run(&mut root, &["GRANT ALL ON *.* TO writer", "GRANT writer TO v"]);
    let by_text = "SELECT b FROM d.t WHERE a = 1";
    assert_eq!(root.query_first::<i64, _>(by_text).unwrap(), Some(10));
    let mut user = connect(&server, "v");
    user.query_drop("SET ROLE writer").unwrap();
    assert_eq!(user.query_first::<i64, _>(by_text).unwrap(), Some(10));
    user.query_drop("CREATE TABLE d.made (a INT)").unwrap();
    root.query_drop("REVOKE ALL ON *.* FROM writer").unwrap();
    assert_eq!(code(user.query_drop(by_text)), 1142);
    assert_eq!(code(user.query_drop("CREATE TABLE d.more (a INT)")), 1142);
    root.query_drop("GRANT ALL ON *.* TO writer").unwrap();
    user.query_drop("CREATE TABLE d.more (a INT)").unwrap();
}

#[test]
fn another_user_on_the_connection_has_the_roles_of_a_login_and_a_reset_keeps_them() {
    let (server, mut root) = start();
    root.query_drop("SET DEFAULT ROLE writer TO u").unwrap();
    let mut conn = connect(&server, "u");
    assert_eq!(current_role(&mut conn), "`writer`@`%`");
    conn.query_drop("SET ROLE reader").unwrap();
    conn.reset().unwrap();
    assert_eq!(current_role(&mut conn), "`reader`@`%`");
    assert_eq!(conn.query_first::<i64, _>("SELECT b FROM d.t WHERE a = 1").unwrap(), Some(10));
    let change = |user: &str| ChangeUserOpts::default().with_user(Some(user.to_owned())).with_db_name(None);
    conn.change_user(change("v")).unwrap();
    assert_eq!(current_role(&mut conn), "NONE");
    assert_eq!(code(conn.query_drop("SELECT b FROM d.t WHERE a = 1")), 1142);
    conn.change_user(change("u")).unwrap();
    assert_eq!(current_role(&mut conn), "`writer`@`%`");
}

#[test]
fn a_login_enters_a_database_with_its_default_roles() {
    let (server, mut root) = start();
    let enter = |user: &str| {
        let opts = OptsBuilder::new().ip_or_hostname(Some("127.0.0.1")).tcp_port(server.port);
        Conn::new(opts.prefer_socket(false).user(Some(user)).db_name(Some("d")))
    };
    assert_eq!(code(enter("u")), 1044);
    root.query_drop("SET DEFAULT ROLE reader TO u").unwrap();
    let mut conn = enter("u").unwrap();
    assert_eq!(conn.query_first::<u64, _>("SELECT COUNT(*) FROM t").unwrap(), Some(2));
}

#[test]
fn a_role_cannot_log_in_until_it_is_made_a_user() {
    let (server, mut root) = start();
    let opts = || {
        let opts = OptsBuilder::new().ip_or_hostname(Some("127.0.0.1")).tcp_port(server.port);
        opts.prefer_socket(false).user(Some("reader"))
    };
    assert_eq!(code(Conn::new(opts())), 3118);
    root.query_drop("ALTER USER reader IDENTIFIED BY '' ACCOUNT UNLOCK").unwrap();
    let mut reader = Conn::new(opts()).unwrap();
    assert_eq!(reader.query_first::<i64, _>("SELECT b FROM d.t WHERE a = 1").unwrap(), Some(10));
    let mut user = connect(&server, "u");
    user.query_drop("SET ROLE reader").unwrap();
    assert_eq!(user.query_first::<i64, _>("SELECT b FROM d.t WHERE a = 1").unwrap(), Some(10));
}

#[test]
fn roles_survive_a_restart_and_a_crash() {
    let folder = tempfile::tempdir().unwrap();
    let datadir = folder.path().join("data");
    let start = |options: &[&str]| TestServer::start_on(&binary(), &datadir, options).unwrap();
    let mut server = start(&[]);
    let mut root = connect(&server, "root");
    let setup = [
        "CREATE ROLE a, b@localhost, `c``'d`",
        "CREATE USER u, v",
        "GRANT a TO `c``'d`",
        "GRANT `c``'d`, b@localhost TO u WITH ADMIN OPTION",
        "GRANT a TO u",
        "SET DEFAULT ROLE b@localhost, a TO u",
        "GRANT u TO v",
        "REVOKE u FROM v",
    ];
    run(&mut root, &setup);
    let seen = |root: &mut Conn| -> Vec<String> {
        let mut lines = Vec::new();
        for sql in ["SHOW GRANTS FOR u", "SHOW CREATE USER u", "SHOW GRANTS FOR v", "SHOW GRANTS FOR `c``'d`"]
        {
            lines.extend(root.query::<String, _>(sql).unwrap());
        }
        lines
    };
    let before = seen(&mut root);
    assert!(before.iter().any(|line| line.contains("`b`@`localhost`,`c``'d`@`%` TO `u`@`%` WITH ADMIN")));
    drop(root);
    server.shut_down().unwrap();
    let server = start(&["--mandatory-roles=a, missing"]);
    let mut root = connect(&server, "root");
    assert_eq!(seen(&mut root), before);
    let mut user = connect(&server, "v");
    assert_eq!(current_role(&mut user), "NONE", "mandatory roles are granted, not active");
    user.query_drop("SET ROLE ALL").unwrap();
    assert_eq!(current_role(&mut user), "`a`@`%`");
    drop(user);
    assert_eq!(current_role(&mut connect(&server, "u")), "`a`@`%`,`b`@`localhost`");
    run(&mut root, &["SET GLOBAL mandatory_roles = ''", "DROP ROLE a"]);
    let before = seen(&mut root);
    server.kill().unwrap();
    let server = start(&["--activate-all-roles-on-login=ON"]);
    let mut root = connect(&server, "root");
    assert_eq!(seen(&mut root), before);
    assert_eq!(current_role(&mut connect(&server, "u")), "`b`@`localhost`,`c``'d`@`%`");
    drop(server);
    let said = TestServer::refuse(&binary(), &datadir, &["--mandatory-roles=a,,b"]).unwrap();
    assert!(said.contains("mandatory_roles"), "{said}");
}

#[test]
fn many_roles_in_long_chains_are_bounded() {
    let (server, mut root) = start();
    let names = |from: usize, to: usize| (from..to).map(|n| format!("r{n}")).collect::<Vec<_>>().join(", ");
    root.query_drop(format!("CREATE ROLE {}", names(0, 1500))).unwrap();
    root.query_drop(format!("GRANT {} TO u", names(0, 998))).unwrap();
    assert_eq!(code(root.query_drop("GRANT r998 TO u")), 1041, "1000 with reader and writer");
    assert_eq!(code(root.query_drop(format!("GRANT {} TO v", names(0, 1001)))), 1041);
    assert_eq!(root.query_first::<u64, _>("SELECT COUNT(*) FROM mysql.role_edges").unwrap(), Some(1000));
    assert_eq!(code(root.query_drop(format!("GRANT {} TO {}", names(0, 999), names(1000, 1150)))), 1041);
    // One long chain, to whose end a table is granted.
    for n in 1000..1499 {
        root.query_drop(format!("GRANT r{} TO r{n}", n + 1)).unwrap();
    }
    assert_eq!(code(root.query_drop("GRANT r1000 TO r1499")), 4027);
    run(&mut root, &["GRANT SELECT ON d.t TO r1499", "GRANT r1000 TO v"]);
    let mut user = connect(&server, "v");
    user.query_drop("SET ROLE ALL").unwrap();
    assert_eq!(user.query_first::<u64, _>("SELECT COUNT(*) FROM d.t").unwrap(), Some(2));
    let applicable = "SELECT COUNT(*) FROM information_schema.applicable_roles";
    assert_eq!(user.query_first::<u64, _>(applicable).unwrap(), Some(500));
    root.query_drop("DROP ROLE r1200").unwrap();
    assert_eq!(code(user.query_drop("SELECT COUNT(*) FROM d.t")), 1142);
    assert_eq!(user.query_first::<u64, _>(applicable).unwrap(), Some(200));
    let mut many = connect(&server, "u");
    many.query_drop("SET ROLE ALL").unwrap();
    assert_eq!(current_role(&mut many).split(',').count(), 1000);
    root.query_drop(format!("DROP ROLE {}", names(0, 900))).unwrap();
    assert_eq!(many.query_first::<u64, _>("SELECT COUNT(*) FROM d.t").unwrap(), Some(2));
    many.query_drop("SET ROLE ALL").unwrap();
    assert_eq!(current_role(&mut many).split(',').count(), 100);
}

#[test]
fn names_that_accounts_cannot_keep_are_refused() {
    let (_server, mut root) = start();
    assert_eq!(code(root.query_drop("CREATE ROLE 'a\\0b'")), 1300);
    assert_eq!(code(root.query_drop("CREATE USER u@'a\\0b'")), 1300);
    assert_eq!(code(root.query_drop("CREATE ROLE ''")), 1396);
    assert_eq!(code(root.query_drop("GRANT '' TO u")), 3523);
    let long = "é".repeat(32);
    root.query_drop(format!("CREATE ROLE `{long}`")).unwrap();
    root.query_drop(format!("GRANT `{long}` TO u")).unwrap();
    assert_eq!(code(root.query_drop(format!("GRANT `{long}é` TO u"))), 1470);
    assert_eq!(code(root.query_drop("CREATE USER w DEFAULT ROLE w")), 3162, "it would be its own role");
    assert_eq!(code(root.query_drop("CREATE USER reader")), 1396);
    assert_eq!(code(root.query_drop("CREATE ROLE u, w")), 1396);
    assert_eq!(
        root.query_first::<u64, _>("SELECT COUNT(*) FROM mysql.user WHERE user = 'w'").unwrap(),
        Some(0)
    );
}

#[test]
fn changes_logins_and_statements_run_beside_each_other() {
    const ROUNDS: usize = 60;
    let (server, mut root) = start();
    // What is mandatory cannot be revoked: `m` is nothing else.
    run(&mut root, &["CREATE ROLE a, b, c, m", "GRANT a TO reader", "GRANT SELECT ON d.* TO c, m"]);
    let server = &server;
    let repeat = |statements: &'static [&'static str]| {
        move || {
            let mut root = connect(server, "root");
            for sql in statements.iter().cycle().take(ROUNDS) {
                root.query_drop(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
            }
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(repeat(&["GRANT b TO a", "REVOKE b FROM a", "GRANT c TO v", "REVOKE c FROM v"]));
        scope.spawn(repeat(&["SET GLOBAL mandatory_roles = 'm'", "SET GLOBAL mandatory_roles = ''"]));
        scope.spawn(repeat(&["CREATE ROLE e, f", "GRANT e TO u, v", "DROP ROLE e, f"]));
        scope.spawn(repeat(&["SET DEFAULT ROLE reader TO u", "SET DEFAULT ROLE ALL TO u, v"]));
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..ROUNDS {
                    let mut user = connect(server, "u");
                    user.query_drop("SET ROLE ALL").unwrap();
                    // It has `reader` all the time.
                    assert_eq!(user.query_first("SELECT COUNT(*) FROM d.t").unwrap(), Some(2));
                    user.query_drop("SHOW GRANTS").unwrap();
                    user.query_drop("SELECT * FROM information_schema.applicable_roles").unwrap();
                }
            });
        }
    });
    assert_eq!(root.query_first::<u64, _>("SELECT COUNT(*) FROM mysql.role_edges").unwrap(), Some(3));
}
