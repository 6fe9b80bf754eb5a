//! Definitions that are refused or taken back, and the reports on tables.

#![allow(clippy::unwrap_used, reason = "test code")]

use std::path::Path;

use mysql::Conn;
use mysql::prelude::Queryable;
use testkit::runner::Target;
use testkit::server::TestServer;

fn start() -> (TestServer, Conn) {
    let server = TestServer::start(Path::new(env!("CARGO_BIN_EXE_ratchetd")), &[]).unwrap();
    let target = Target { port: server.port, user: "root".to_owned() };
    let mut conn = target.connect(None).unwrap();
    conn.query_drop("CREATE DATABASE d").unwrap();
    conn.query_drop("USE d").unwrap();
    (server, conn)
}

/// Number and text of the error that `sql` fails with.
fn error(conn: &mut Conn, sql: &str) -> (u16, String) {
    match conn.query_drop(sql) {
        Err(mysql::Error::MySqlError(error)) => (error.code, error.message),
        other => panic!("{sql}: {other:?}"),
    }
}

fn indexes(conn: &mut Conn, table: &str) -> Vec<String> {
    let rows: Vec<mysql::Row> = conn.query(format!("SHOW INDEX FROM {table}")).unwrap();
    rows.iter().map(|row| row.get("Key_name").unwrap()).collect()
}

#[test]
fn what_is_not_supported_is_refused_by_name_and_leaves_nothing() {
    let (_server, mut conn) = start();
    conn.query_drop("CREATE TABLE t (a INT PRIMARY KEY, b INT)").unwrap();
    let cases = [
        ("CREATE TABLE n (a INT, FOREIGN KEY (a) REFERENCES t (a))", "FOREIGN KEY constraints"),
        ("CREATE TABLE n (a INT CHECK (a > 0))", "CHECK constraints"),
        ("CREATE TABLE n (a INT, CHECK (a > 0))", "CHECK constraints"),
        ("CREATE TABLE n (a INT, b INT AS (a + 1))", "generated columns"),
        ("CREATE TABLE n (a JSON)", "JSON columns"),
        ("CREATE TABLE n (a POINT)", "spatial columns"),
        ("CREATE TABLE n (a TEXT, FULLTEXT (a))", "FULLTEXT keys"),
        ("CREATE TABLE n (a INT, KEY ((a + 1)))", "functional key parts"),
        ("CREATE TABLE n (a INT) PARTITION BY HASH (a) PARTITIONS 2", "PARTITION BY"),
        ("CREATE TABLE n AS SELECT 1 AS a", "CREATE TABLE ... SELECT"),
        ("CREATE TEMPORARY TABLE n (a INT)", "CREATE TEMPORARY TABLE"),
        ("CREATE TABLE n (a INT) TABLESPACE x", "TABLESPACE"),
        ("CREATE TABLE n (a INT) ROW_FORMAT=COMPRESSED", "ROW_FORMAT=COMPRESSED"),
        ("ALTER TABLE t ADD KEY k (b), ADD CHECK (b > 0)", "CHECK constraints"),
        ("ALTER TABLE t ADD FOREIGN KEY (b) REFERENCES t (a)", "FOREIGN KEY constraints"),
        ("ALTER DATABASE d READ ONLY = 1", "READ ONLY"),
    ];
    for (sql, what) in cases {
        let expected = format!("This version of MySQL doesn't yet support '{what}'");
        assert_eq!(error(&mut conn, sql), (1235, expected), "{sql}");
    }
    for missing in ["'a' REGEXP 'b'", "'a' NOT REGEXP 'b'", "1 + REGEXP_LIKE('a', 'b')", "JSON_LENGTH('[]')"]
    {
        let sql = format!("CREATE TABLE n (a INT DEFAULT ({missing}))");
        assert_eq!(error(&mut conn, &sql).0, 3770, "{sql}");
    }
    let tables: Vec<String> = conn.query("SHOW TABLES").unwrap();
    assert_eq!(tables, ["t"]);
    assert_eq!(indexes(&mut conn, "t"), ["PRIMARY"]);
}

#[test]
fn actions_before_a_failed_one_are_taken_back() {
    let (_server, mut conn) = start();
    conn.query_drop("CREATE TABLE t (a INT PRIMARY KEY, b INT, c INT, KEY old (c))").unwrap();
    conn.query_drop("INSERT INTO t VALUES (1, 5, 1), (2, 5, 2)").unwrap();
    let sql = "ALTER TABLE t ADD KEY first (b), DROP KEY old, ADD UNIQUE second (b)";
    assert_eq!(error(&mut conn, sql), (1062, "Duplicate entry '5' for key 't.second'".to_owned()));
    assert_eq!(indexes(&mut conn, "t"), ["PRIMARY", "old"]);
    let found: Vec<i32> = conn.query("SELECT a FROM t WHERE c = 2").unwrap();
    assert_eq!(found, [2]);
    assert_eq!(error(&mut conn, "ALTER TABLE t ADD KEY k (b), RENAME TO nosuchdb.t").0, 1049);
    assert_eq!(indexes(&mut conn, "t"), ["PRIMARY", "old"]);
}

#[test]
fn tables_are_analyzed_and_checked() {
    let (_server, mut conn) = start();
    conn.query_drop("CREATE TABLE t (a INT PRIMARY KEY, b INT, KEY (b))").unwrap();
    conn.query_drop("INSERT INTO t VALUES (1, 1), (2, 2), (3, 2)").unwrap();
    for operation in ["ANALYZE", "CHECK"] {
        let report: Vec<(String, String, String, String)> =
            conn.query(format!("{operation} TABLE t")).unwrap();
        let row = |text: &str| text.to_owned();
        assert_eq!(report, [(row("d.t"), operation.to_lowercase(), row("status"), row("OK"))]);
    }
    let rows: Vec<mysql::Row> = conn.query("SHOW TABLE STATUS LIKE 't'").unwrap();
    assert_eq!(rows[0].get::<u64, _>("Rows"), Some(3));
}

#[test]
fn small_tables_are_sent_to_prepared_statements_too() {
    let (_server, mut conn) = start();
    conn.query_drop("CREATE TABLE t (a INT PRIMARY KEY AUTO_INCREMENT) AUTO_INCREMENT = 7").unwrap();
    let rows: Vec<mysql::Row> = conn.exec("SHOW TABLE STATUS", ()).unwrap();
    assert_eq!(rows[0].get::<u64, _>("Auto_increment"), Some(7));
    assert!(
        rows[0].get::<mysql::Value, _>("Create_time").is_some_and(|v| matches!(v, mysql::Value::Date(..)))
    );
    let rows: Vec<mysql::Row> = conn.exec("SHOW INDEX FROM t", ()).unwrap();
    assert_eq!(rows[0].get::<i32, _>("Seq_in_index"), Some(1));
}

#[test]
fn plans_are_explained() {
    let (_server, mut conn) = start();
    conn.query_drop("CREATE TABLE t (a INT PRIMARY KEY, b INT)").unwrap();
    let plan: Vec<String> = conn.query("EXPLAIN SELECT b FROM t WHERE a = 1").unwrap();
    assert_eq!(plan, ["-> Single-row index lookup on t using PRIMARY (a=1)\n"]);
    let plan: Vec<String> = conn.query("EXPLAIN FORMAT=TREE DELETE FROM t").unwrap();
    assert!(plan[0].starts_with("-> Delete from t"), "{plan:?}");
    assert_eq!(error(&mut conn, "EXPLAIN FORMAT=JSON SELECT 1").0, 1235);
    assert_eq!(error(&mut conn, "EXPLAIN SELECT nosuch FROM t").0, 1054);
}

#[test]
fn no_plan_uses_an_invisible_index() {
    let (_server, mut conn) = start();
    let table =
        "CREATE TABLE t (a INT PRIMARY KEY, b INT, c INT INVISIBLE, KEY k (b), UNIQUE KEY u (c) INVISIBLE)";
    conn.query_drop(table).unwrap();
    conn.query_drop("INSERT INTO t (a, b, c) VALUES (1, 1, 1), (2, 2, 2), (3, 3, 3)").unwrap();
    let mut plan = |sql: &str| conn.query_first::<String, _>(format!("EXPLAIN {sql}")).unwrap().unwrap();
    let (by_k, by_u) = ("SELECT * FROM t WHERE b = 2", "DELETE FROM t WHERE c = 2");
    assert!(plan(by_k).contains("using k"), "{}", plan(by_k));
    assert!(!plan(by_u).contains("using u"), "{}", plan(by_u));
    conn.query_drop("ALTER TABLE t ALTER INDEX k INVISIBLE, ALTER INDEX u VISIBLE").unwrap();
    let mut plan = |sql: &str| conn.query_first::<String, _>(format!("EXPLAIN {sql}")).unwrap().unwrap();
    assert!(!plan(by_k).contains("using k"), "{}", plan(by_k));
    assert!(plan(by_u).contains("using u"), "{}", plan(by_u));
    conn.query_drop("ALTER TABLE t ALTER INDEX u INVISIBLE").unwrap();
    assert_eq!(error(&mut conn, "INSERT INTO t (a, c) VALUES (4, 2)").0, 1062, "the key holds all the same");
    let found: Vec<(i32, i32)> = conn.query("SELECT * FROM t WHERE b = 3").unwrap();
    assert_eq!(found, [(3, 3)]);
}
