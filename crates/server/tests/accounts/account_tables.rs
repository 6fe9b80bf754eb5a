//! The schema `mysql`: its tables are changed by statements about accounts alone, and what an old data
//! directory has under this name can be moved out.

#![allow(clippy::unwrap_used, reason = "test code")]

use std::path::Path;
use std::sync::Arc;

use engine::{Engine, EngineConfig};
use env::RealDisk;
use mysql::prelude::Queryable;
use mysql::{Conn, OptsBuilder};
use testkit::server::TestServer;
use types::{CollationId, ColumnDef, IndexDef, IndexKind, SqlType, TableDef, TypeKind};

fn start() -> (TestServer, Conn) {
    let server = TestServer::start(Path::new(env!("CARGO_BIN_EXE_ratchetd")), &[]).unwrap();
    let conn = connect(&server, "root");
    (server, conn)
}

fn connect(server: &TestServer, user: &str) -> Conn {
    let options = OptsBuilder::new().ip_or_hostname(Some("127.0.0.1")).tcp_port(server.port).user(Some(user));
    Conn::new(options).unwrap()
}

fn error(conn: &mut Conn, sql: &str) -> (u16, String) {
    match conn.query_drop(sql) {
        Err(mysql::Error::MySqlError(error)) => (error.code, error.message),
        other => panic!("{sql}: {other:?}"),
    }
}

#[test]
fn nothing_changes_the_tables_of_accounts() {
    let (_server, mut conn) = start();
    conn.query_drop("CREATE DATABASE d").unwrap();
    conn.query_drop("CREATE TABLE d.t (a INT)").unwrap();
    let host = "'root'@'localhost'";
    for (sql, command, table) in [
        ("INSERT INTO mysql.user (User) VALUES ('x')", "INSERT", "user"),
        ("REPLACE mysql.db (User) VALUES ('x')", "INSERT", "db"),
        ("UPDATE mysql.user SET Super_priv = 'Y'", "UPDATE", "user"),
        ("DELETE FROM mysql.user", "DELETE", "user"),
        ("DELETE mysql.user FROM mysql.user JOIN d.t", "DELETE", "user"),
        ("TRUNCATE mysql.tables_priv", "DROP", "tables_priv"),
        ("DROP TABLE d.t, mysql.user", "DROP", "user"),
        ("ALTER TABLE mysql.user ADD a INT", "ALTER", "user"),
        ("CREATE INDEX i ON mysql.user (User)", "INDEX", "user"),
        ("DROP INDEX User ON mysql.db", "INDEX", "db"),
        ("RENAME TABLE mysql.user TO d.user", "DROP, ALTER", "user"),
        ("LOCK TABLES d.t READ, mysql.user WRITE", "SELECT, LOCK TABLES", "user"),
    ] {
        let said = format!("{command} command denied to user {host} for table '{table}'");
        assert_eq!(error(&mut conn, sql), (1142, said), "{sql}");
    }
    let said = format!("Access denied for user {host} to database 'mysql'");
    for sql in [
        "CREATE TABLE mysql.x (a INT)",
        "CREATE TABLE mysql.x SELECT 1",
        "RENAME TABLE d.t TO mysql.x",
        "ALTER TABLE d.t RENAME mysql.x",
    ] {
        assert_eq!(error(&mut conn, sql), (1044, said.clone()), "{sql}");
    }
    // Rows of a join.
    assert_eq!(error(&mut conn, "UPDATE mysql.user u JOIN d.t SET u.User = 'x'").0, 1288);
    let users: Vec<String> = conn.query("SELECT User FROM mysql.user").unwrap();
    assert_eq!(users, ["root"]);
    conn.query_drop("SELECT * FROM d.t").unwrap();
}

#[test]
fn tables_of_an_old_database_of_that_name_can_be_moved_out() {
    let folder = tempfile::tempdir().unwrap();
    let datadir = folder.path().join("data");
    let config = EngineConfig::new(Arc::new(RealDisk), &datadir);
    let engine = Engine::open(EngineConfig { pool_bytes: 8 << 20, ..config }).unwrap();
    engine.create_schema("mysql", CollationId::UTF8MB4_0900_AI_CI).unwrap();
    let column = ColumnDef::new("a", SqlType::new(TypeKind::Int, 11), false);
    let key = IndexDef::new("PRIMARY", IndexKind::Primary, &[0]);
    engine.create_table(TableDef::new("mysql", "old", vec![column], vec![key])).unwrap();
    engine.shutdown().unwrap();
    drop(engine);

    let server = TestServer::start_on(Path::new(env!("CARGO_BIN_EXE_ratchetd")), &datadir, &[]).unwrap();
    let mut conn = connect(&server, "root");
    let tables: Vec<String> = conn.query("SHOW TABLES FROM mysql LIKE 'o%'").unwrap();
    assert!(tables.is_empty(), "{tables:?}");
    conn.query_drop("CREATE DATABASE d").unwrap();
    conn.query_drop("RENAME TABLE mysql.old TO d.old").unwrap();
    assert_eq!(conn.query_first::<u64, _>("SELECT COUNT(*) FROM d.old").unwrap(), Some(0));
    assert_eq!(error(&mut conn, "SELECT * FROM mysql.old").0, 1146);
}
