//! The limit of undo as clients meet it: the connection that keeps undo from being freed is named.

#![allow(clippy::unwrap_used, reason = "test code")]

use std::path::Path;

use mysql::Conn;
use mysql::prelude::Queryable;
use testkit::runner::Target;
use testkit::server::TestServer;

const BINARY: &str = env!("CARGO_BIN_EXE_ratchetd");

fn update(conn: &mut Conn) -> Result<(), mysql::Error> {
    conn.query_drop("UPDATE t SET n = n + 1, body = CONCAT(REPEAT('b', 4000 + n % 7), n)")
}

fn refused(conn: &mut Conn) -> String {
    (0..3000).find_map(|_| update(conn).err()).unwrap().to_string()
}

#[test]
fn a_reader_that_keeps_too_much_undo_is_named_until_it_commits_or_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let options = ["--ratchet-undo-max-size=1M"];
    let server = TestServer::start_on(Path::new(BINARY), &folder.path().join("data"), &options).unwrap();
    let connect = || Target { port: server.port, user: "root".to_owned() }.connect(None).unwrap();
    let mut writer = connect();
    writer.query_drop("CREATE DATABASE d; USE d; CREATE TABLE t (n INT, body TEXT)").unwrap();
    writer.query_drop("INSERT INTO t VALUES (1, '')").unwrap();
    for killed in [false, true] {
        let mut reader = connect();
        let id = reader.connection_id();
        reader.query_drop("USE d; START TRANSACTION WITH CONSISTENT SNAPSHOT").unwrap();
        let before: Option<i32> = reader.query_first("SELECT n FROM t").unwrap();
        let text = refused(&mut writer);
        assert!(text.contains("ERROR 1114 (HY000)"), "{text}");
        let named = format!("a read view of connection {id} (root@");
        assert!(text.contains(&named) && text.contains("ratchet_undo_max_size"), "{text}");
        assert_eq!(reader.query_first::<i32, _>("SELECT n FROM t").unwrap(), before);
        if killed {
            writer.query_drop(format!("KILL {id}")).unwrap();
        } else {
            reader.query_drop("COMMIT").unwrap();
        }
        // The end of a connection that is killed takes a moment.
        let freed = (0..20).any(|_| update(&mut writer).is_ok());
        assert!(freed);
    }
    let mut reader = connect();
    reader.query_drop("USE d; START TRANSACTION WITH CONSISTENT SNAPSHOT").unwrap();
    refused(&mut writer);
    writer.query_drop("SET GLOBAL ratchet_undo_max_size = 0").unwrap();
    update(&mut writer).unwrap();
}

/// Resident memory of a server.
fn rss_bytes(server: &TestServer) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.pid())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
}

#[test]
fn a_transaction_of_much_undo_takes_no_more_memory_than_it_may() {
    let folder = tempfile::tempdir().unwrap();
    let options = [
        "--ratchet-undo-memory-size=4M",
        "--innodb-buffer-pool-size=16M",
        // The rest of the default's 64 MiB would be touched for the first time while undo grows.
        "--innodb-log-buffer-size=1M",
    ];
    let server = TestServer::start_on(Path::new(BINARY), &folder.path().join("data"), &options).unwrap();
    let connect = || Target { port: server.port, user: "root".to_owned() }.connect(None).unwrap();
    let (mut writer, mut reader) = (connect(), connect());
    writer.query_drop("CREATE DATABASE d; USE d; CREATE TABLE t (id INT PRIMARY KEY, pad TEXT)").unwrap();
    writer.query_drop("INSERT INTO t VALUES (0, REPEAT('a', 4000))").unwrap();
    for bit in 0..14 {
        writer.query_drop(format!("INSERT INTO t SELECT id + {}, pad FROM t", 1 << bit)).unwrap();
    }
    let sum = "SELECT COUNT(*), SUM(pad = REPEAT('a', 4000)) FROM t";
    let all = Some((1 << 14, Some(1 << 14)));
    reader.query_drop("USE d; START TRANSACTION WITH CONSISTENT SNAPSHOT").unwrap();
    assert_eq!(reader.query_first::<(u32, Option<u32>), _>(sum).unwrap(), all);
    let before = rss_bytes(&server);
    writer.query_drop("START TRANSACTION").unwrap();
    // A statement collects its rows in memory: few at once.
    for from in (0..1 << 14).step_by(256) {
        let rows = format!("id BETWEEN {from} AND {}", from + 255);
        writer.query_drop(format!("UPDATE t SET pad = REPEAT('b', 4000) WHERE {rows}")).unwrap();
    }
    // 64 MB of undo.
    let grown = rss_bytes(&server).saturating_sub(before);
    assert!(grown < 16 << 20, "{grown} bytes more than before");
    assert!(std::fs::metadata(server.datadir.join("undo/swap.undo")).unwrap().len() > 48 << 20);
    assert_eq!(reader.query_first::<(u32, Option<u32>), _>(sum).unwrap(), all);
    writer.query_drop("ROLLBACK").unwrap();
    assert_eq!(writer.query_first::<(u32, Option<u32>), _>(sum).unwrap(), all);
    let grown = rss_bytes(&server).saturating_sub(before);
    assert!(grown < 16 << 20, "{grown} bytes more than before, after the rollback");
}

#[test]
fn memory_for_undo_follows_the_buffer_pool_unless_it_is_given() {
    let server = TestServer::start(Path::new(BINARY), &["--innodb-buffer-pool-size=64M"]).unwrap();
    let mut conn = Target { port: server.port, user: "root".to_owned() }.connect(None).unwrap();
    let mut shown = |set: &str| {
        conn.query_drop(format!("SET GLOBAL ratchet_undo_memory_size = {set}")).unwrap();
        conn.query_first::<u64, _>("SELECT @@ratchet_undo_memory_size").unwrap()
    };
    assert_eq!(shown("DEFAULT"), Some(32 << 20));
    assert_eq!(shown("1048576"), Some(1 << 20));
    assert_eq!(shown("0"), Some(0));
}
