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
