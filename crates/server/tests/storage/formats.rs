//! Data directories that earlier builds have written: this server opens them and finds their rows.
//!
//! `tests/formats/FORMAT-STATE.dir` is such a directory without the zeros in its files (`archive`). With
//! `RATCHET_FORMATS_RECORD=1` this makes those that are missing, with the server under test; a directory that
//! is there stays as it is.

#![allow(clippy::unwrap_used, reason = "test code")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use mysql::Conn;
use mysql::prelude::Queryable;
use testkit::runner::Target;
use testkit::server::TestServer;

#[path = "../support/archive.rs"]
mod archive;

const BINARY: &str = env!("CARGO_BIN_EXE_ratchetd");

/// What is committed in every directory.
const STATEMENTS: [&str; 9] = [
    "CREATE DATABASE shop CHARACTER SET utf8mb4",
    "CREATE TABLE shop.item (id INT AUTO_INCREMENT PRIMARY KEY, name TEXT, n INT, price DECIMAL(9, 2), \
     made DATETIME(3) DEFAULT '2026-11-25 09:00:00.125', KEY n (n), UNIQUE KEY name (name(20)))",
    "INSERT INTO shop.item (name, n, price) VALUES ('a', 1, 1.5), ('b', NULL, -2), ('c', 3, 3.25), ('d', 4, NULL), \
     ('e', 5, 0), ('f', 6, 6), ('g', 7, 7.75), ('h', 8, 8)",
    "INSERT INTO shop.item (name, n) VALUES (CONCAT('off the page ', REPEAT('x', 9000)), 9)",
    "CREATE TABLE shop.note (t VARCHAR(30))",
    "INSERT INTO shop.note VALUES ('without a key'), (NULL)",
    "UPDATE shop.item SET n = n + 100, name = CONCAT(name, ', changed') WHERE id IN (2, 3)",
    "DELETE FROM shop.item WHERE id IN (5, 6)",
    "CREATE USER ada@localhost",
];

/// What is not.
const OPEN: [&str; 5] = [
    "BEGIN",
    "INSERT INTO shop.item (name, n) VALUES ('open', 10)",
    "UPDATE shop.item SET n = 0, name = CONCAT(name, ' and not committed') WHERE id < 4",
    "UPDATE shop.item SET price = 99 WHERE id = 8",
    "DELETE FROM shop.item WHERE id = 7",
];

/// What is committed beside that in a directory whose server is killed once columns have changed: hints,
/// marks, and a history of rows.
const ALTERED: [&str; 5] = [
    "CREATE TABLE shop.altered (id INT PRIMARY KEY, n SMALLINT, m MEDIUMINT NOT NULL, gone VARCHAR(20), \
     c VARCHAR(20) COLLATE utf8mb4_bin, KEY c (c) USING BTREE INVISIBLE) ROW_FORMAT=DYNAMIC",
    "INSERT INTO shop.altered VALUES (1, -32768, -8388608, 'gone', 'a'), (2, 32767, 8388607, NULL, 'B'), \
     (3, NULL, 0, '', NULL)",
    "ALTER TABLE shop.altered ADD a INT NOT NULL DEFAULT 7 FIRST, DROP gone",
    "ALTER TABLE shop.altered MODIFY n BIGINT, MODIFY m INT, ALGORITHM=INSTANT",
    "INSERT INTO shop.altered VALUES (8, 4, -9000000000, NULL, 'new')",
];

/// What is committed beside that in a directory whose server is killed once an entry has tagged fields.
const COMPUTED: [&str; 3] = [
    "CREATE TABLE shop.computed (id INT PRIMARY KEY, n INT DEFAULT (id + 1), m TEXT DEFAULT (CONCAT('n is ', n)))",
    "INSERT INTO shop.computed (id) VALUES (1), (2)",
    "ALTER TABLE shop.computed ADD o INT NOT NULL DEFAULT (id * n), MODIFY n BIGINT DEFAULT (id + 2)",
];

/// What is committed beside that in a directory whose server is killed while texts in indexes that ignore
/// case are being changed.
const INDEXED: [&str; 4] = [
    "CREATE TABLE shop.indexed (id INT PRIMARY KEY, t VARCHAR(60), d VARCHAR(60), code CHAR(9) NOT NULL, \
     KEY t (t), UNIQUE KEY d (d DESC), KEY pair (code, t))",
    "INSERT INTO shop.indexed VALUES (1, 'small letters', 'One', 'a-1'), (2, 'Some Capitals', 'TWO', 'B-2'), \
     (3, 'z\u{e4}hlt nicht', 'three', '\u{c4}'), (4, NULL, NULL, ''), (5, '', '', 'c'), (6, 'spaces  ', 'six ', 'D')",
    "UPDATE shop.indexed SET t = UPPER(t) WHERE id = 1",
    "UPDATE shop.indexed SET code = LOWER(code), d = REVERSE(d) WHERE id = 2",
];

/// What is not.
const INDEXED_OPEN: [&str; 4] = [
    "BEGIN",
    "UPDATE shop.indexed SET t = LOWER(t), code = UPPER(code)",
    "UPDATE shop.indexed SET t = UPPER(t) WHERE id IN (2, 6)",
    "DELETE FROM shop.indexed WHERE id = 5",
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/formats")
}

/// A server that makes no keys of certificates, which would be kept.
fn start(datadir: &Path) -> TestServer {
    TestServer::start_on(Path::new(BINARY), datadir, &["--innodb-buffer-pool-size=8M", "--skip-ssl"]).unwrap()
}

fn connect(server: &TestServer) -> Conn {
    connect_as(server, "root")
}

fn connect_as(server: &TestServer, user: &str) -> Conn {
    Target { port: server.port, user: user.to_owned() }.connect(None).unwrap()
}

fn run(conn: &mut Conn, statements: &[&str]) {
    for sql in statements {
        conn.query_drop(sql).unwrap_or_else(|e| panic!("{sql}: {e}"));
    }
}

/// All rows, through each index.
fn content(conn: &mut Conn) -> Vec<Vec<mysql::Row>> {
    [
        "SELECT * FROM shop.item ORDER BY id",
        "SELECT id, n FROM shop.item FORCE INDEX (n) WHERE n >= 0 ORDER BY n",
        "SELECT id, LENGTH(name) FROM shop.item FORCE INDEX (name) WHERE name > '' ORDER BY name",
        "SELECT * FROM shop.note ORDER BY t",
    ]
    .map(|sql| conn.query(sql).unwrap_or_else(|e| panic!("{sql}: {e}")))
    .to_vec()
}

/// The altered table's rows by the clustered index and the definition.
fn altered(conn: &mut Conn) -> (Vec<mysql::Row>, String) {
    let rows = conn.query("SELECT * FROM shop.altered ORDER BY id").unwrap();
    let (_, definition): (String, String) =
        conn.query_first("SHOW CREATE TABLE shop.altered").unwrap().unwrap();
    (rows, definition)
}

/// The rows of the table with computed defaults, another one among them, and its definition.
fn computed(conn: &mut Conn) -> (Vec<mysql::Row>, String) {
    run(conn, &["INSERT INTO shop.computed (id) VALUES (7)"]);
    let rows = conn.query("SELECT * FROM shop.computed ORDER BY id").unwrap();
    let (_, definition): (String, String) =
        conn.query_first("SHOW CREATE TABLE shop.computed").unwrap().unwrap();
    (rows, definition)
}

/// The rows with indexed texts, through each index, before and after changes.
fn indexed(conn: &mut Conn) -> Vec<Vec<mysql::Row>> {
    let mut content = Vec::new();
    let changes = [
        "DO 0",
        "UPDATE shop.indexed SET t = CONCAT(UPPER(t), LOWER(code)) WHERE id > 2",
        "UPDATE shop.indexed SET d = LOWER(d), code = UPPER(code)",
        "INSERT INTO shop.indexed VALUES (7, 'New', 'seven', 'N')",
    ];
    for change in changes {
        run(conn, &[change]);
        for sql in [
            "SELECT * FROM shop.indexed ORDER BY id",
            "SELECT id, t FROM shop.indexed FORCE INDEX (t) WHERE t >= '' ORDER BY t",
            "SELECT id, d FROM shop.indexed FORCE INDEX (d) WHERE d >= '' ORDER BY d",
            "SELECT t, code FROM shop.indexed FORCE INDEX (pair) WHERE code >= '' ORDER BY code",
        ] {
            content.push(conn.query(sql).unwrap_or_else(|e| panic!("{sql}: {e}")));
        }
    }
    let twice = conn.query_drop("INSERT INTO shop.indexed VALUES (8, '', 'THREE', '')").unwrap_err();
    assert!(twice.to_string().contains("Duplicate entry 'THREE' for key 'indexed.d'"), "{twice}");
    content
}

/// A directory with the rows: closed, killed with a transaction open, with or without indexed texts, or
/// killed after columns have changed or have got computed defaults.
fn make(datadir: &Path, state: &str) {
    let mut server = start(datadir);
    let mut conn = connect(&server);
    run(&mut conn, &STATEMENTS);
    if state == "closed" {
        drop(conn);
        return server.shut_down().unwrap();
    }
    if state == "altered" {
        run(&mut conn, &ALTERED);
        return server.kill().unwrap();
    }
    if state == "computed" {
        run(&mut conn, &COMPUTED);
        return server.kill().unwrap();
    }
    if state == "indexed" {
        run(&mut conn, &INDEXED);
        run(&mut conn, &INDEXED_OPEN);
    } else {
        run(&mut conn, &OPEN);
    }
    // Makes the open transaction's log durable, too.
    run(
        &mut connect(&server),
        &["INSERT INTO shop.note VALUES ('last')", "DELETE FROM shop.note WHERE t = 'last'"],
    );
    server.kill().unwrap();
}

/// Makes the directories of this format that are missing.
fn record() {
    for state in ["closed", "killed", "altered", "computed", "indexed"] {
        let path = folder().join(format!("{}-{state}.dir", engine::FORMAT_VERSION));
        if !path.exists() {
            let place = tempfile::tempdir().unwrap();
            let datadir = place.path().join("data");
            make(&datadir, state);
            std::fs::write(path, archive::pack(&datadir)).unwrap();
        }
    }
}

#[test]
fn directories_of_earlier_builds_are_opened_and_have_their_rows() {
    if std::env::var_os("RATCHET_FORMATS_RECORD").is_some() {
        record();
    }
    let place = tempfile::tempdir().unwrap();
    let fresh = start(&place.path().join("fresh"));
    let mut conn = connect(&fresh);
    run(&mut conn, &STATEMENTS);
    let expected = content(&mut conn);
    run(&mut conn, &ALTERED);
    let expected_altered = altered(&mut conn);
    run(&mut conn, &COMPUTED);
    let expected_computed = computed(&mut conn);
    run(&mut conn, &INDEXED);
    let expected_indexed = indexed(&mut conn);
    let mut names: Vec<PathBuf> =
        std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.sort();
    assert!(names.len() >= 10, "{names:?}");
    for name in names {
        let datadir = place.path().join(name.file_stem().unwrap());
        archive::unpack(&std::fs::read(&name).unwrap(), &datadir);
        let mut server = start(&datadir);
        let mut conn = connect(&server);
        let is_altered = name.to_string_lossy().contains("-altered");
        let is_computed = name.to_string_lossy().contains("-computed");
        let is_indexed = name.to_string_lossy().contains("-indexed");
        // Accounts from before privileges have all of them.
        let mut ada = connect_as(&server, "ada");
        let is_from_before =
            ["2-closed.dir", "2-killed.dir"].map(Path::new).iter().any(|old| name.ends_with(old));
        assert_eq!(
            content(if is_from_before { &mut ada } else { &mut conn }),
            expected,
            "{}",
            name.display()
        );
        if is_altered {
            assert_eq!(altered(&mut conn), expected_altered);
            let check: (String, String, String, String) =
                conn.query_first("CHECK TABLE shop.altered").unwrap().unwrap();
            assert_eq!(check.3, "OK");
        }
        if is_computed {
            assert_eq!(computed(&mut conn), expected_computed);
        }
        if is_indexed {
            assert_eq!(indexed(&mut conn), expected_indexed, "{}", name.display());
            let check: (String, String, String, String) =
                conn.query_first("CHECK TABLE shop.indexed").unwrap().unwrap();
            assert_eq!(check.3, "OK");
        }
        // The page file was called data.rdb when the first of these were written.
        let has = |file: &str| datadir.join(file).exists();
        assert!(has("data.pages") && !has("data.rdb"), "{}", name.display());
        // Waits for what the open transaction has changed.
        run(&mut conn, &["UPDATE shop.item SET n = n + 1", "DELETE FROM shop.item WHERE name LIKE 'off%'"]);
        let check: (String, String, String, String) =
            conn.query_first("CHECK TABLE shop.item").unwrap().unwrap();
        assert_eq!(check.3, "OK");
        drop(conn);
        server.shut_down().unwrap();
        // An older directory has become one of this version, which earlier servers refuse.
        let format = std::fs::read_to_string(datadir.join("FORMAT")).unwrap();
        assert!(format.starts_with(&format!("ratchet {}\n", engine::FORMAT_VERSION)), "{format}");
        let report =
            engine::check::check_datadir(Arc::new(env::RealDisk), &datadir, 8 << 20, &mut |_| {}).unwrap();
        assert_eq!(report.findings, [], "{}", name.display());
    }
}

#[test]
fn a_directory_of_a_newer_format_is_refused_in_one_line_and_not_touched() {
    let place = tempfile::tempdir().unwrap();
    let datadir = place.path().join("data");
    let closed = folder().join(format!("{}-closed.dir", engine::FORMAT_VERSION));
    archive::unpack(&std::fs::read(closed).unwrap(), &datadir);
    let newer = engine::FORMAT_VERSION + 1;
    let format = std::fs::read_to_string(datadir.join("FORMAT")).unwrap();
    let (_, identity) = format.split_once('\n').unwrap();
    std::fs::write(datadir.join("FORMAT"), format!("ratchet {newer}\n{identity}")).unwrap();
    let before = archive::pack(&datadir);
    let said = TestServer::refuse(Path::new(BINARY), &datadir, &[]).unwrap();
    assert_eq!(said.lines().count(), 1, "{said}");
    let known = engine::FORMAT_VERSION;
    let what = format!("has format 'ratchet {newer}', this server knows format {known}");
    assert!(said.contains(&what) && said.contains(&datadir.display().to_string()), "{said}");
    assert_eq!(archive::pack(&datadir), before);
}
