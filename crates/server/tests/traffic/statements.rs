//! Statements that the server itself runs, through the `mysql` crate and the stock client.

#![allow(clippy::unwrap_used, reason = "test code")]

use std::process::Command;

use mysql::prelude::Queryable;
use mysql::{Conn, Opts, OptsBuilder, Row};

use crate::support::TestServer;

/// Options that send no queries at connection time.
fn options(server: &TestServer, user: &str, password: &str) -> OptsBuilder {
    OptsBuilder::from_opts(Opts::default())
        .ip_or_hostname(Some("127.0.0.1"))
        .tcp_port(server.port)
        .prefer_socket(false)
        .max_allowed_packet(Some(1 << 20))
        .user(Some(user))
        .pass(Some(password).filter(|password| !password.is_empty()))
}

fn root(server: &TestServer) -> Conn {
    Conn::new(options(server, "root", "")).unwrap()
}

fn code(error: mysql::Error) -> u16 {
    match error {
        mysql::Error::MySqlError(error) => error.code,
        other => panic!("{other}"),
    }
}

fn variable(conn: &mut Conn, name: &str) -> String {
    let row: Option<(String, String)> = conn.query_first(format!("SHOW VARIABLES LIKE '{name}'")).unwrap();
    row.unwrap_or_else(|| panic!("no variable {name}")).1
}

#[test]
fn variables_are_set_and_shown() {
    let server = TestServer::start(&[]);
    let mut conn = root(&server);
    conn.query_drop("SET NAMES latin1, autocommit = 0, @@session.sql_mode = ''").unwrap();
    assert_eq!(variable(&mut conn, "character\\_set\\_client"), "latin1");
    assert_eq!(variable(&mut conn, "collation_connection"), "latin1_swedish_ci");
    assert_eq!(variable(&mut conn, "autocommit"), "OFF");
    assert_eq!(variable(&mut conn, "sql_mode"), "");
    conn.query_drop("SET @a = 'ANSI_QUOTES', sql_mode = @a, wait_timeout = DEFAULT, time_zone = '+02:00'")
        .unwrap();
    assert_eq!(variable(&mut conn, "SQL_MODE"), "ANSI_QUOTES");
    assert_eq!(variable(&mut conn, "time_zone"), "+02:00");
    conn.query_drop("SET @@sql_mode := DEFAULT, @old := @@sql_mode").unwrap();
    assert!(variable(&mut conn, "sql_mode").contains("STRICT_TRANS_TABLES"));
    conn.query_drop("SET GLOBAL max_connections = 7").unwrap();
    conn.query_drop("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED").unwrap();
    assert_eq!(variable(&mut conn, "transaction_isolation"), "READ-COMMITTED");
    assert_eq!(variable(&mut conn, "max_connections"), "7");
    conn.reset().unwrap();
    assert_eq!(variable(&mut conn, "autocommit"), "ON");
}

#[test]
fn wrong_assignments_are_mysqls_errors() {
    let server = TestServer::start(&[]);
    let mut conn = root(&server);
    for (sql, expected) in [
        ("SET tx_isolation = 'SERIALIZABLE'", 1193),
        ("SET version = '1'", 1238),
        ("SET max_connections = 5", 1229),
        ("SET GLOBAL sql_log_bin = 1", 1228),
        ("SET autocommit = 5", 1231),
        ("SET wait_timeout = 'x'", 1232),
        ("SET sql_mode = 'NONSENSE'", 1231),
        ("SET time_zone = 'Nowhere/Land'", 1298),
        ("SET NAMES klingon", 1115),
        ("SET NAMES utf8mb4 COLLATE latin1_swedish_ci", 1253),
        ("SET max_allowed_packet = 1024", 1621),
        ("SET @a = @@nonsense", 1193),
        ("SET @a = @@session.max_connections", 1238),
        ("KILL 4711", 1094),
        ("USE ``", 1046),
        ("FROBNICATE", 1064),
        ("", 1065),
        (" ;", 1065),
        ("/*", 1064),
    ] {
        assert_eq!(code(conn.query_drop(sql).unwrap_err()), expected, "{sql}");
    }
}

#[test]
fn conditions_stay_until_the_next_statement() {
    let server = TestServer::start(&[]);
    let mut conn = root(&server);
    conn.query_drop("SET wait_timeout = 0").unwrap();
    assert_eq!(conn.warnings(), 1);
    let expected = ("Warning".to_owned(), 1292u16, "Truncated incorrect wait_timeout value: '0'".to_owned());
    for _ in 0..2 {
        let shown: Vec<(String, u16, String)> = conn.query("SHOW WARNINGS").unwrap();
        assert_eq!(shown, std::slice::from_ref(&expected));
    }
    conn.query_drop("SET autocommit = 2").unwrap_err();
    let count: Option<u64> = conn.query_first("SHOW COUNT(*) ERRORS").unwrap();
    assert_eq!(count, Some(1));
    conn.query_drop("SET autocommit = 1").unwrap();
    assert!(conn.query::<Row, _>("SHOW WARNINGS").unwrap().is_empty());
}

#[test]
fn transactions_show_in_the_status_flags() {
    let server = TestServer::start(&[]);
    let mut conn = root(&server);
    for sql in ["BEGIN", "COMMIT", "START TRANSACTION READ ONLY", "ROLLBACK", "COMMIT"] {
        conn.query_drop(sql).unwrap();
    }
    conn.query_drop("BEGIN").unwrap();
    let error = conn.query_drop("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE").unwrap_err();
    assert_eq!(code(error), 1568);
}

#[test]
fn release_ends_the_connection_once_the_transaction_is_kept() {
    let server = TestServer::start(&[]);
    let mut conn = root(&server);
    conn.query_drop("CREATE DATABASE d; CREATE TABLE d.t (a INT PRIMARY KEY)").unwrap();
    conn.query_drop("BEGIN; INSERT INTO d.t VALUES (1)").unwrap();
    conn.query_drop("COMMIT RELEASE").unwrap();
    assert!(conn.query_drop("SELECT 1").is_err());
    let mut conn = root(&server);
    conn.query_drop("SET completion_type = 'RELEASE'").unwrap();
    conn.query_drop("COMMIT NO RELEASE").unwrap();
    conn.query_drop("BEGIN; INSERT INTO d.t VALUES (2)").unwrap();
    conn.query_drop("ROLLBACK").unwrap();
    assert!(conn.query_drop("SELECT 1").is_err());
    assert_eq!(root(&server).query::<i32, _>("SELECT a FROM d.t").unwrap(), [1]);
}

#[test]
fn variables_refuse_values_that_would_have_no_effect() {
    let server = TestServer::start(&[]);
    let mut conn = root(&server);
    for set in [
        "GLOBAL read_only = ON",
        "auto_increment_increment = 2",
        "profiling = 1",
        "GLOBAL init_connect = 'x'",
    ] {
        assert_eq!(code(conn.query_drop(format!("SET {set}")).unwrap_err()), 1231, "{set}");
    }
    conn.query_drop("SET auto_increment_increment = 1, profiling = OFF, GLOBAL read_only = DEFAULT").unwrap();
}

#[test]
fn lists_are_shown() {
    let server = TestServer::start(&[]);
    let mut conn = root(&server);
    let rows = |conn: &mut Conn, sql: &str| conn.query::<Row, _>(sql).unwrap().len();
    assert_eq!(rows(&mut conn, "SHOW ENGINES"), 1);
    conn.query_drop("SET wait_timeout = 0, net_read_timeout = 0, FLUSH = 1").unwrap_err();
    assert_eq!(rows(&mut conn, "SHOW WARNINGS LIMIT 1, 1"), 1);
    assert_eq!(rows(&mut conn, "SHOW WARNINGS LIMIT 0"), 0);
    conn.query_drop("FLUSH PRIVILEGES").unwrap();
    assert_eq!(rows(&mut conn, "SHOW CHARACTER SET LIKE 'utf8mb4'"), 1);
    assert!(rows(&mut conn, "SHOW COLLATION") >= 9);
    assert!(rows(&mut conn, "SHOW GLOBAL STATUS LIKE 'Com\\_%'") > 40);
    let line: Option<Row> = conn.query_first("SHOW FULL PROCESSLIST").unwrap();
    let line = line.unwrap();
    assert_eq!(line.get::<String, _>("User").unwrap(), "root");
    assert_eq!(line.get::<String, _>("Info").unwrap(), "SHOW FULL PROCESSLIST");
}

#[test]
fn statements_are_prepared_and_executed() {
    let server = TestServer::start(&[]);
    let mut conn = root(&server);
    conn.exec_drop("SET @a = ?, @b = ?", (42, "text")).unwrap();
    conn.exec_drop("SET @@sql_mode = ?", ("ANSI",)).unwrap();
    assert!(variable(&mut conn, "sql_mode").ends_with(",ANSI"));
    let shown: Vec<(String, String)> = conn.exec("SHOW VARIABLES LIKE 'autocommit'", ()).unwrap();
    assert_eq!(shown, [("autocommit".to_owned(), "ON".to_owned())]);
    assert_eq!(code(conn.prep("FROBNICATE ?").unwrap_err()), 1064);
}

#[test]
fn both_plugins_authenticate_with_passwords() {
    let server = TestServer::start(&[]);
    let mut conn = root(&server);
    conn.query_drop("CREATE USER n@'%' IDENTIFIED WITH mysql_native_password BY 'native'").unwrap();
    conn.query_drop("CREATE USER s@localhost IDENTIFIED BY 'sha2'").unwrap();
    for (user, password) in [("n", "native"), ("s", "sha2"), ("s", "sha2")] {
        Conn::new(options(&server, user, password)).unwrap();
        let error = Conn::new(options(&server, user, "wrong")).unwrap_err();
        assert_eq!(code(error), 1045, "{user}");
    }
    conn.query_drop("ALTER USER s@localhost IDENTIFIED BY 'changed'").unwrap();
    assert!(Conn::new(options(&server, "s", "sha2")).is_err());
    let mut changed = Conn::new(options(&server, "s", "changed")).unwrap();
    assert_eq!(code(changed.query_drop("SET GLOBAL max_connections = 9").unwrap_err()), 1227);
    changed.query_drop("SET PASSWORD = 'again'").unwrap();
    Conn::new(options(&server, "s", "again")).unwrap();
    conn.query_drop("ALTER USER s@localhost ACCOUNT LOCK").unwrap();
    assert!(Conn::new(options(&server, "s", "again")).is_err());
    conn.query_drop("DROP USER s@localhost").unwrap();
    assert_eq!(code(conn.query_drop("DROP USER s@localhost").unwrap_err()), 1396);
    conn.query_drop("DROP USER IF EXISTS s@localhost").unwrap();
}

#[test]
fn a_statement_on_several_accounts_changes_all_of_them_or_none() {
    let server = TestServer::start(&[]);
    let mut conn = root(&server);
    conn.query_drop("CREATE USER a@localhost, b@localhost").unwrap();
    for refused in [
        "CREATE USER c@localhost, a@localhost",
        "CREATE USER c@localhost, c@localhost",
        "DROP USER a@localhost, c@localhost",
        "DROP USER a@localhost, a@localhost",
        "RENAME USER a@localhost TO c@localhost, nobody@localhost TO d@localhost",
        "RENAME USER a@localhost TO c@localhost, b@localhost TO c@localhost",
        "ALTER USER a@localhost ACCOUNT LOCK, c@localhost ACCOUNT LOCK",
    ] {
        assert!(conn.query_drop(refused).is_err(), "{refused}");
        conn.query_drop("ALTER USER a@localhost, b@localhost ACCOUNT UNLOCK").unwrap();
        assert_eq!(code(conn.query_drop("ALTER USER c@localhost ACCOUNT UNLOCK").unwrap_err()), 1396);
    }
    let swapped =
        "RENAME USER a@localhost TO t@localhost, b@localhost TO a@localhost, t@localhost TO b@localhost";
    conn.query_drop(swapped).unwrap();
    conn.query_drop("DROP USER IF EXISTS a@localhost, a@localhost, b@localhost").unwrap();
    let notes: Vec<(String, u16, String)> = conn.query("SHOW WARNINGS").unwrap();
    let expected = "Authorization ID 'a'@'localhost' does not exist.".to_owned();
    assert_eq!(notes, [("Note".to_owned(), 3162, expected)]);
}

#[test]
fn a_killed_connection_ends() {
    let server = TestServer::start(&[]);
    let mut conn = root(&server);
    let mut victim = root(&server);
    conn.query_drop(format!("KILL {}", victim.connection_id())).unwrap();
    assert!(victim.ping().is_err());
    let own = conn.connection_id();
    assert_eq!(code(conn.query_drop(format!("KILL QUERY {own}")).unwrap_err()), 1317);
    conn.ping().unwrap();
}

#[test]
fn statements_beyond_one_packet_are_read_whole() {
    let server = TestServer::start(&["--max-allowed-packet=64M"]);
    let mut conn = Conn::new(options(&server, "root", "").max_allowed_packet(Some(64 << 20))).unwrap();
    let long = "x".repeat(17 << 20);
    conn.query_drop(format!("SET @a = '{long}'")).unwrap();
    let error = conn.query_drop(format!("SET sql_mode = '{long}'")).unwrap_err();
    assert_eq!(code(error), 1231);
    conn.exec_drop("SET @b = ?", (long,)).unwrap();
    conn.ping().unwrap();
}

#[test]
fn several_statements_are_answered_one_by_one() {
    let server = TestServer::start(&[]);
    let mut conn = root(&server);
    let mut result = conn.query_iter("SET @a = 1; SHOW ENGINES; SET autocommit = 7; SET @b = 2").unwrap();
    let mut rows = Vec::new();
    let mut failed = None;
    while failed.is_none() {
        match result.iter() {
            Some(set) => rows.push(set.count()),
            None => break,
        }
        failed = result.next().and_then(Result::err).map(code);
    }
    assert_eq!(rows.iter().sum::<usize>() + usize::from(failed.is_some()), 1);
    drop(result);
    conn.ping().unwrap();
}

#[test]
fn the_stock_client_authenticates_and_runs_statements() {
    let server = TestServer::start(&[]);
    root(&server).query_drop("CREATE USER s@localhost IDENTIFIED BY 'sha2'").unwrap();
    let run = |args: &[&str]| {
        let output = Command::new("mariadb")
            .args(["--no-defaults", "--batch", "--execute=SET @a = 1; SHOW VARIABLES LIKE 'version'"])
            .args(args)
            .output()
            .expect("the mariadb client must be installed to run this test");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains("version\t8.4.6-ratchet"), "{said}{complaint}");
    };
    let port = format!("--port={}", server.port);
    let socket = format!("--socket={}", server.socket().display());
    run(&["--user=root", "--host=127.0.0.1", &port]);
    run(&["--user=root", &socket]);
    run(&["--user=s", "--password=sha2", "--host=127.0.0.1", &port]);
    run(&["--user=s", "--password=sha2", "--host=127.0.0.1", &port]);
    run(&["--user=s", "--password=sha2", &socket]);
}
