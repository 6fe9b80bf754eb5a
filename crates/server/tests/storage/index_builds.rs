//! Building indexes as clients meet it: in the memory of `innodb_ddl_buffer_size`, with runs in `tmp/`.

#![allow(clippy::unwrap_used, reason = "test code")]

use std::fs;
use std::path::Path;

use mysql::Conn;
use mysql::prelude::Queryable;
use testkit::runner::Target;
use testkit::server::TestServer;

const BINARY: &str = env!("CARGO_BIN_EXE_ratchetd");

/// Keys sorted, sorts, runs written and merges of runs since the start.
fn totals(conn: &mut Conn) -> [u64; 4] {
    [
        "Ratchet_index_keys_sorted",
        "Ratchet_index_sorts",
        "Ratchet_index_sort_runs",
        "Ratchet_index_sort_merge_passes",
    ]
    .map(|name| {
        let query = format!("SHOW GLOBAL STATUS LIKE '{name}'");
        conn.query_first::<(String, u64), _>(query).unwrap().unwrap().1
    })
}

fn check(conn: &mut Conn, rows: u64) {
    let report: (String, String, String, String) =
        conn.query_first("CHECK TABLE t EXTENDED").unwrap().unwrap();
    assert_eq!(report.3, "OK");
    for index in ["c", "kc"] {
        let query = format!("SELECT COUNT(*) FROM t FORCE INDEX ({index}) WHERE c > ''");
        assert_eq!(conn.query_first::<u64, _>(query).unwrap(), Some(rows), "{index}");
    }
}

#[test]
fn an_index_is_built_in_the_memory_that_the_session_gives() {
    let folder = tempfile::tempdir().unwrap();
    let datadir = folder.path().join("data");
    let server = TestServer::start_on(Path::new(BINARY), &datadir, &[]).unwrap();
    let files = || fs::read_dir(datadir.join("tmp")).unwrap().count();
    let mut conn = Target { port: server.port, user: "root".to_owned() }.connect(None).unwrap();
    conn.query_drop("CREATE DATABASE d; USE d").unwrap();
    conn.query_drop("CREATE TABLE t (id INT PRIMARY KEY, k INT, c VARCHAR(100))").unwrap();
    conn.query_drop("INSERT INTO t VALUES (0, 0, CONCAT(MD5(0), MD5('0')))").unwrap();
    for bit in 0..15 {
        let insert =
            format!("INSERT INTO t SELECT id + {0}, k + {0}, CONCAT(MD5(id + {0}), MD5(k)) FROM t", 1 << bit);
        conn.query_drop(insert).unwrap();
    }
    let add = "ALTER TABLE t ADD INDEX c (c), ADD UNIQUE kc (k DESC, c(10))";
    let rows = 1 << 15;
    let mut before = [0; 4];
    for (buffer, writes, merges) in
        [("16777216", false, false), ("DEFAULT", true, false), ("65536", true, true)]
    {
        conn.query_drop(format!("SET innodb_ddl_buffer_size = {buffer}")).unwrap();
        conn.query_drop(add).unwrap();
        let [keys, sorts, runs, passes] = totals(&mut conn);
        assert_eq!(keys - before[0], 2 * rows, "one scan, two entries of each row");
        assert_eq!(
            (runs > before[2], passes > before[3]),
            (writes, merges),
            "{buffer}: {runs} runs, {passes} merges"
        );
        // Each sort makes a run, except the last ones, which may stay in memory.
        let (sorts, runs) = (sorts - before[1], runs - before[2]);
        assert!((runs..=runs + 2).contains(&sorts) && sorts > 0, "{buffer}: {sorts} sorts, {runs} runs");
        assert_eq!(files(), 0);
        check(&mut conn, rows);
        conn.query_drop("ALTER TABLE t DROP INDEX c, DROP INDEX kc").unwrap();
        before = totals(&mut conn);
    }
    // Rows are copied in the order in which they are read.
    conn.query_drop("ALTER TABLE t FORCE").unwrap();
    assert_eq!(totals(&mut conn), before);

    // The buffer is the least one.
    conn.query_drop("UPDATE t SET c = (SELECT c FROM (SELECT c FROM t WHERE id = 7) one) WHERE id = 30007")
        .unwrap();
    let error = conn.query_drop("CREATE UNIQUE INDEX c ON t (c)").unwrap_err().to_string();
    let value: String = conn.query_first("SELECT c FROM t WHERE id = 7").unwrap().unwrap();
    assert_eq!(
        error,
        format!("MySqlError {{ ERROR 1062 (23000): Duplicate entry '{value}' for key 't.c' }}")
    );

    // No file can be made where the folder was.
    fs::remove_dir(datadir.join("tmp")).unwrap();
    fs::write(datadir.join("tmp"), "").unwrap();
    let error = conn.query_drop("CREATE INDEX c ON t (c)").unwrap_err().to_string();
    assert!(error.contains("ERROR 1878 (HY000): Temporary file write failure."), "{error}");
    fs::remove_file(datadir.join("tmp")).unwrap();
    fs::create_dir(datadir.join("tmp")).unwrap();
    conn.query_drop("ALTER TABLE t ADD INDEX c (c), ADD INDEX kc (k, c)").unwrap();
    check(&mut conn, rows);
    assert_eq!(files(), 0);
}
