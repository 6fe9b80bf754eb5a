//! What a data directory keeps over a shutdown, and which starts are refused, each with one line.

#![allow(clippy::unwrap_used, reason = "test code")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use mysql::Conn;
use mysql::prelude::Queryable;
use tempfile::TempDir;
use testkit::runner::Target;
use testkit::server::TestServer;

const BINARY: &str = env!("CARGO_BIN_EXE_ratchetd");

struct Place {
    _folder: TempDir,
    datadir: PathBuf,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let datadir = folder.path().join("data");
        Place { _folder: folder, datadir }
    }

    fn start(&self) -> TestServer {
        TestServer::start_on(Path::new(BINARY), &self.datadir, &[]).unwrap()
    }

    /// The one line with which a start is refused.
    fn refusal(&self, options: &[&str]) -> String {
        let said = TestServer::refuse(Path::new(BINARY), &self.datadir, options).unwrap();
        assert_eq!(said.lines().count(), 1, "{said}");
        said.trim_end().to_owned()
    }

    /// Every file below the data directory with its content.
    fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut files = BTreeMap::new();
        let mut folders = vec![self.datadir.clone()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    files.insert(path.clone(), std::fs::read(path).unwrap());
                }
            }
        }
        files
    }
}

fn connect(server: &TestServer, user: &str) -> Conn {
    Target { port: server.port, user: user.to_owned() }.connect(None).unwrap()
}

fn run(conn: &mut Conn, statements: &[&str]) {
    for sql in statements {
        conn.query_drop(sql).unwrap_or_else(|e| panic!("{sql}: {e}"));
    }
}

/// A row of the table that is read.
type Item = (u32, String, Option<u32>);

/// The table that is read.
const CREATE_ITEM: &str = "CREATE TABLE shop.item (id INT AUTO_INCREMENT PRIMARY KEY, name TEXT, n INT, KEY n (n), UNIQUE KEY name (name(20)))";

/// Inserts `count` rows, one by one. Every fiftieth name is too long for its page.
fn insert_items(conn: &mut Conn, count: u32) {
    for n in 0..count {
        let name = format!("{n}-{}", "x".repeat(if n % 50 == 0 { 30_000 } else { 30 }));
        conn.exec_drop("INSERT INTO shop.item (name, n) VALUES (?, ?)", (name, n)).unwrap();
    }
}

/// All rows, read by the clustered index and by a secondary one, and the report of CHECK TABLE.
fn content(conn: &mut Conn) -> (Vec<Item>, u64, String) {
    let rows = conn.query("SELECT id, name, n FROM shop.item ORDER BY id").unwrap();
    let by_index = conn.query_first("SELECT COUNT(*) FROM shop.item FORCE INDEX (n) WHERE n >= 0").unwrap();
    let check: (String, String, String, String) = conn.query_first("CHECK TABLE shop.item").unwrap().unwrap();
    (rows, by_index.unwrap(), check.3)
}

#[test]
fn rows_accounts_and_numbers_survive_a_shutdown() {
    let place = Place::new();
    let mut server = place.start();
    let mut conn = connect(&server, "root");
    run(
        &mut conn,
        &[
            "CREATE DATABASE shop CHARACTER SET latin1",
            CREATE_ITEM,
            "CREATE USER ada@localhost, bob@localhost IDENTIFIED BY 'secret'",
            "GRANT SELECT, INSERT ON shop.* TO ada@localhost",
            "CREATE TABLE shop.gone (a INT)",
            "DROP TABLE shop.gone",
        ],
    );
    insert_items(&mut conn, 2000);
    run(
        &mut conn,
        &[
            "UPDATE shop.item SET n = NULL WHERE n % 7 = 0",
            "DELETE FROM shop.item WHERE n % 5 = 1 OR id = 2000",
            "UPDATE shop.item SET id = id + 5000 WHERE id < 20",
            "INSERT INTO shop.item VALUES (10000, 'far', NULL)",
        ],
    );
    let before = content(&mut conn);
    assert_eq!(before.2, "OK");
    let definition: Option<(String, String)> = conn.query_first("SHOW CREATE TABLE shop.item").unwrap();
    for _ in 0..2 {
        drop(conn);
        server.shut_down().unwrap();
        let disk = std::sync::Arc::new(env::RealDisk);
        let report = engine::check::check_datadir(disk, &server.datadir, 16 << 20, &mut |_| {}).unwrap();
        assert_eq!(report.findings, []);
        server = place.start();
        conn = connect(&server, "ada");
        assert_eq!(content(&mut conn), before);
        assert_eq!(conn.query_first("SHOW CREATE TABLE shop.item").unwrap(), definition);
    }
    run(&mut conn, &["INSERT INTO shop.item (name, n) VALUES ('next', 1)"]);
    assert_eq!(conn.last_insert_id(), 10_001);
    let missing = conn.query_drop("SELECT * FROM shop.gone").unwrap_err().to_string();
    assert!(missing.contains("1146"), "{missing}");
    let denied = Target { port: server.port, user: "bob".to_owned() }.connect(None).err().unwrap();
    assert!(denied.contains("1045"), "{denied}");
}

#[test]
fn a_shutdown_rolls_open_transactions_back() {
    let place = Place::new();
    let mut server = place.start();
    let mut conn = connect(&server, "root");
    run(
        &mut conn,
        &[
            "CREATE DATABASE shop",
            "CREATE TABLE shop.item (id INT PRIMARY KEY, name TEXT, n INT, KEY n (n))",
            "INSERT INTO shop.item VALUES (1, 'a', 1), (2, 'b', 2)",
        ],
    );
    let before = content(&mut conn);
    run(
        &mut conn,
        &[
            "BEGIN",
            "INSERT INTO shop.item VALUES (3, 'c', 3)",
            "UPDATE shop.item SET n = 10, name = 'z' WHERE id = 1",
            "DELETE FROM shop.item WHERE id = 2",
        ],
    );
    server.shut_down().unwrap();
    let server = place.start();
    assert_eq!(content(&mut connect(&server, "root")), before);
}

#[test]
fn an_administrator_ends_the_server_by_a_statement() {
    let place = Place::new();
    let mut server = place.start();
    let mut root = connect(&server, "root");
    run(&mut root, &["CREATE DATABASE shop", CREATE_ITEM, "CREATE USER clerk"]);
    insert_items(&mut root, 10);
    let refused = connect(&server, "clerk").query_drop("SHUTDOWN").unwrap_err();
    assert!(refused.to_string().contains("1227") && refused.to_string().contains("SHUTDOWN"), "{refused}");
    let before = content(&mut root);
    root.query_drop("SHUTDOWN").unwrap();
    server.wait_for_end().unwrap();
    let server = place.start();
    assert!(!server.startup_log.join("\n").contains("was not shut down cleanly"));
    assert_eq!(content(&mut connect(&server, "root")), before);
}

#[test]
fn every_mode_of_shutdown_keeps_what_was_committed() {
    let place = Place::new();
    let mut server = place.start();
    run(&mut connect(&server, "root"), &["CREATE DATABASE shop", CREATE_ITEM]);
    insert_items(&mut connect(&server, "root"), 300);
    for (mode, recovers) in [("0", false), ("1", false), ("2", true)] {
        let mut conn = connect(&server, "root");
        let change = format!("DELETE FROM shop.item WHERE id % 7 = {mode}");
        run(&mut conn, &[&format!("SET GLOBAL innodb_fast_shutdown = {mode}"), &change]);
        let before = content(&mut conn);
        assert_eq!(before.2, "OK");
        run(&mut conn, &["BEGIN", "DELETE FROM shop.item"]);
        server.shut_down().unwrap();
        server = place.start();
        let log = server.startup_log.join("\n");
        assert_eq!(log.contains("was not shut down cleanly"), recovers, "mode {mode}: {log}");
        assert_eq!(content(&mut connect(&server, "root")), before, "mode {mode}");
    }
}

#[test]
fn what_was_committed_survives_a_kill_and_nothing_else_does() {
    let place = Place::new();
    let mut server = place.start();
    let mut conn = connect(&server, "root");
    let grant = "GRANT ALL ON shop.* TO ada@localhost";
    run(&mut conn, &["CREATE DATABASE shop", CREATE_ITEM, "CREATE USER ada@localhost", grant]);
    insert_items(&mut conn, 300);
    run(
        &mut conn,
        &["DELETE FROM shop.item WHERE id > 290", "UPDATE shop.item SET n = n + 1000 WHERE id % 3 = 0"],
    );
    for round in 0..3 {
        let before = content(&mut conn);
        assert_eq!(before.2, "OK");
        let mut open = connect(&server, "root");
        run(
            &mut open,
            &[
                "BEGIN",
                "INSERT INTO shop.item (name, n) VALUES ('open', 3)",
                "UPDATE shop.item SET n = 10, name = CONCAT('z', id) WHERE id < 50",
                "DELETE FROM shop.item WHERE id BETWEEN 100 AND 150",
            ],
        );
        // Makes the open transaction's log durable, too.
        run(&mut conn, &[&format!("CREATE DATABASE after_{round}")]);
        server.kill().unwrap();
        server = place.start();
        conn = connect(&server, if round == 0 { "ada" } else { "root" });
        conn = if round == 0 { connect(&server, "root") } else { conn };
        assert_eq!(content(&mut conn), before);
        run(&mut conn, &["INSERT INTO shop.item (name, n) VALUES (UUID(), 1)"]);
        // 300 numbers and those of open transactions were given out.
        assert!(conn.last_insert_id() > 301 + round, "{}", conn.last_insert_id());
    }
}

#[test]
fn a_second_server_on_a_directory_is_refused() {
    let place = Place::new();
    let mut first = place.start();
    let said = place.refusal(&[]);
    assert_eq!(
        said,
        format!("ratchetd: data directory {} is in use by another server", place.datadir.display())
    );
    run(&mut connect(&first, "root"), &["CREATE DATABASE still_there"]);
    first.shut_down().unwrap();
}

#[test]
fn a_directory_of_another_format_is_refused_and_not_touched() {
    let place = Place::new();
    place.start().shut_down().unwrap();
    for format in ["ratchet 99\n", "", "something else\nentirely\n"] {
        std::fs::write(place.datadir.join("FORMAT"), format).unwrap();
        let before = place.files();
        let said = place.refusal(&[]);
        let found = format.lines().next().unwrap_or_default();
        let what = format!("has format '{found}', this server knows format {}", engine::FORMAT_VERSION);
        assert!(said.contains(&what), "{said}");
        assert!(said.contains(&place.datadir.display().to_string()), "{said}");
        assert!(place.files() == before, "files changed after {said}");
    }
}

#[test]
fn a_folder_of_other_things_is_refused_and_not_touched() {
    let place = Place::new();
    std::fs::create_dir(&place.datadir).unwrap();
    std::fs::write(place.datadir.join("letter.txt"), "Dear Ada").unwrap();
    let before = place.files();
    let said = place.refusal(&[]);
    assert!(said.ends_with("is not empty and is not a data directory"), "{said}");
    assert_eq!(place.files(), before);
}

#[test]
fn a_directory_that_cannot_be_written_is_named() {
    let place = Place { datadir: PathBuf::from("/proc/ratchet-data"), ..Place::new() };
    let said = place.refusal(&["--socket=/tmp/unused.sock"]);
    assert!(said.starts_with("ratchetd: ") && said.contains("/proc/ratchet-data"), "{said}");
}

#[test]
fn wrong_options_are_named() {
    let place = Place::new();
    for (option, expected) in [
        ("--frobnicate", "unknown option '--frobnicate' (command line)"),
        ("--frobnicate=1", "unknown option '--frobnicate' (command line)"),
        ("--port=x", "bad value 'x' for option '--port' (command line)"),
        ("--max-connections=many", "bad value 'many' for option '--max-connections' (command line)"),
        ("--sql-mode=NONSENSE", "bad value 'NONSENSE' for option '--sql-mode' (command line)"),
        ("--innodb-buffer-pool-size", "option '--innodb-buffer-pool-size' needs a value (command line)"),
        ("frobnicate", "unexpected argument 'frobnicate'"),
    ] {
        assert_eq!(place.refusal(&[option]), format!("ratchetd: {expected}"));
        assert!(!place.datadir.exists());
    }
}
