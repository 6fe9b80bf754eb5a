//! Settings and counters of the redo log, as a client sees them.

#![allow(clippy::unwrap_used, reason = "test code")]

use std::path::Path;

use mysql::Conn;
use mysql::prelude::Queryable;
use testkit::runner::Target;
use testkit::server::TestServer;

const BINARY: &str = env!("CARGO_BIN_EXE_ratchetd");

fn counter(conn: &mut Conn, name: &str) -> u64 {
    let row: Option<(String, String)> =
        conn.query_first(format!("SHOW GLOBAL STATUS LIKE '{name}'")).unwrap();
    row.unwrap().1.parse().unwrap()
}

#[test]
fn commits_wait_for_what_innodb_flush_log_at_trx_commit_says() {
    let folder = tempfile::tempdir().unwrap();
    // No flush but those of commits falls into the test.
    let options = ["--innodb-flush-log-at-timeout=2700"];
    let server = TestServer::start_on(Path::new(BINARY), &folder.path().join("data"), &options).unwrap();
    let mut conn = Target { port: server.port, user: "root".to_owned() }.connect(None).unwrap();
    conn.query_drop("CREATE DATABASE d; USE d; CREATE TABLE t (a INT PRIMARY KEY)").unwrap();
    for (id, setting, writes, syncs) in [(1, 1, 1, 1), (2, 2, 1, 0), (3, 0, 0, 0)] {
        conn.query_drop(format!("SET GLOBAL innodb_flush_log_at_trx_commit = {setting}")).unwrap();
        let names = ["Innodb_log_writes", "Innodb_os_log_fsyncs", "Innodb_log_write_requests"];
        let before = names.map(|name| counter(&mut conn, name));
        conn.query_drop(format!("INSERT INTO t VALUES ({id})")).unwrap();
        let after = names.map(|name| counter(&mut conn, name));
        assert_eq!([after[0] - before[0], after[1] - before[1]], [writes, syncs], "{setting}");
        assert!(after[2] > before[2]);
    }
    assert!(counter(&mut conn, "Innodb_os_log_written") > 0);
    let (now, durable) = ("Innodb_redo_log_current_lsn", "Innodb_redo_log_flushed_to_disk_lsn");
    assert!(counter(&mut conn, now) > counter(&mut conn, durable));
    conn.query_drop("SET GLOBAL innodb_flush_log_at_trx_commit = 1; INSERT INTO t VALUES (4)").unwrap();
    assert_eq!(counter(&mut conn, now), counter(&mut conn, durable));
}

#[test]
fn the_capacity_is_dynamic() {
    let folder = tempfile::tempdir().unwrap();
    let options = ["--innodb-redo-log-capacity=16M", "--innodb-log-buffer-size=1M"];
    let server = TestServer::start_on(Path::new(BINARY), &folder.path().join("data"), &options).unwrap();
    let mut conn = Target { port: server.port, user: "root".to_owned() }.connect(None).unwrap();
    assert_eq!(counter(&mut conn, "Innodb_redo_log_capacity_resized"), 16 << 20);
    conn.query_drop("SET GLOBAL innodb_redo_log_capacity = 33554432").unwrap();
    assert_eq!(counter(&mut conn, "Innodb_redo_log_capacity_resized"), 32 << 20);
    let refused = conn.query_drop("SET GLOBAL innodb_log_buffer_size = 33554432").unwrap_err();
    assert!(refused.to_string().contains("read only variable"), "{refused}");
}
