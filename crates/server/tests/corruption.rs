//! A bit that changed on disk while the server was down is told, not served, and costs its own table or index.

#![allow(clippy::unwrap_used, reason = "test code")]

use std::path::{Path, PathBuf};

use mysql::Conn;
use mysql::prelude::Queryable;
use tempfile::TempDir;
use testkit::runner::Target;
use testkit::server::TestServer;

const BINARY: &str = env!("CARGO_BIN_EXE_ratchetd");
const PAGE_BYTES: usize = 16 * 1024;
/// Types of pages.
const TREE: u8 = 3;
const VALUE: u8 = 4;

/// A data directory that servers come and go on.
struct Place {
    _folder: TempDir,
    datadir: PathBuf,
}

impl Place {
    /// A directory that a server has closed after these statements.
    fn closed(statements: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let datadir = folder.path().join("data");
        let place = Place { _folder: folder, datadir };
        let mut server = place.start(&[]);
        run(&mut connect(&server), statements);
        server.shut_down().unwrap();
        place
    }

    fn start(&self, options: &[&str]) -> TestServer {
        TestServer::start_on(Path::new(BINARY), &self.datadir, options).unwrap()
    }

    fn pages(&self) -> Vec<u8> {
        std::fs::read(self.datadir.join("data.pages")).unwrap()
    }

    /// Changes a bit in the middle of what is used of a page.
    fn damage(&self, page: usize) {
        let mut bytes = self.pages();
        bytes[page * PAGE_BYTES + PAGE_BYTES - 100] ^= 1;
        std::fs::write(self.datadir.join("data.pages"), bytes).unwrap();
    }

    /// The page that `text` stands on, the first of that type.
    fn page_with(&self, text: &str, kind: u8) -> usize {
        let bytes = self.pages();
        let has = |page: &&[u8]| page[16] == kind && page.windows(text.len()).any(|at| at == text.as_bytes());
        bytes.chunks(PAGE_BYTES).position(|page| has(&page)).unwrap()
    }

    /// The leaves of a tree.
    fn leaves(&self, index: u32) -> Vec<usize> {
        let bytes = self.pages();
        let is_leaf = |page: &[u8]| page[16] == TREE && page[17] == 0 && index_of(page) == index;
        (0..).zip(bytes.chunks(PAGE_BYTES)).filter(|(_, page)| is_leaf(page)).map(|(at, _)| at).collect()
    }

    /// The index id that a page names.
    fn index_on(&self, page: usize) -> u32 {
        index_of(&self.pages()[page * PAGE_BYTES..])
    }
}

fn index_of(page: &[u8]) -> u32 {
    u32::from_le_bytes(page[20..24].try_into().unwrap())
}

fn connect(server: &TestServer) -> Conn {
    Target { port: server.port, user: "root".to_owned() }.connect(None).unwrap()
}

fn run(conn: &mut Conn, statements: &[&str]) {
    for sql in statements {
        conn.query_drop(sql).unwrap_or_else(|e| panic!("{sql}: {e}"));
    }
}

/// The statement's error, which has this number and names the page.
fn refused(conn: &mut Conn, sql: &str, code: u16, page: usize) {
    let Err(mysql::Error::MySqlError(error)) = conn.query_drop(sql) else { panic!("{sql} succeeds") };
    assert_eq!(error.code, code, "{sql}: {error}");
    let named = error.message.contains("data.pages") && error.message.contains(&format!("page {page} "));
    assert!(named, "{sql}: {error}");
}

fn number(conn: &mut Conn, sql: &str) -> u64 {
    conn.query_first(sql).unwrap_or_else(|e| panic!("{sql}: {e}")).unwrap()
}

/// The lines of CHECK TABLE: type and text.
fn check(conn: &mut Conn, table: &str) -> Vec<(String, String)> {
    let lines: Vec<(String, String, String, String)> = conn.query(format!("CHECK TABLE {table}")).unwrap();
    assert!(lines.iter().all(|line| line.0 == table && line.1 == "check"), "{lines:?}");
    lines.into_iter().map(|line| (line.2, line.3)).collect()
}

fn is_ok(conn: &mut Conn, table: &str) -> bool {
    check(conn, table) == [("status".to_owned(), "OK".to_owned())]
}

fn assert_corrupt(conn: &mut Conn, table: &str, index: &str) {
    let lines = check(conn, table);
    assert!(lines[0].0 == "Warning" && lines[0].1.contains(&format!("index {index}")), "{lines:?}");
    assert_eq!(lines.last().unwrap(), &("error".to_owned(), "Corrupt".to_owned()));
}

/// Two tables of 900 rows, each of several pages, of which `bad` has been damaged, or will be.
const TABLES: [&str; 10] = [
    "CREATE DATABASE shop",
    "CREATE TABLE shop.good (id INT PRIMARY KEY, k INT, body VARCHAR(300), KEY k (k))",
    "CREATE TABLE shop.bad (id INT PRIMARY KEY, k INT, body VARCHAR(300), big TEXT, KEY k (k))",
    "CREATE TABLE shop.digit (d INT)",
    "INSERT INTO shop.digit VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)",
    "INSERT INTO shop.good SELECT i, i DIV 3, CONCAT('good row ', i, REPEAT('-', 90)) FROM \
     (SELECT a.d + 10 * b.d + 100 * c.d + 1000 * e.d AS i FROM shop.digit a, shop.digit b, shop.digit c, shop.digit e \
     WHERE e.d = 0 AND c.d < 9) n ORDER BY i",
    "INSERT INTO shop.bad (id, k, body) SELECT id, k, REPLACE(body, 'good', 'bad') FROM shop.good",
    "UPDATE shop.bad SET big = CONCAT('a long value ', REPEAT('v', 40000)) WHERE id = 800",
    "CREATE TABLE shop.empty (id INT)",
    "CREATE USER ada@localhost",
];

/// All but the bad table serves.
fn assert_others_serve(conn: &mut Conn) {
    assert_eq!(number(conn, "SELECT COUNT(*) FROM shop.good WHERE body LIKE 'good row %'"), 900);
    assert_eq!(number(conn, "SELECT COUNT(*) FROM shop.good FORCE INDEX (k) WHERE k >= 0"), 900);
    run(
        conn,
        &["UPDATE shop.good SET k = k + 1", "INSERT INTO shop.empty VALUES (1)", "DELETE FROM shop.empty"],
    );
    run(conn, &["CREATE TABLE shop.other (a INT)", "DROP TABLE shop.other"]);
}

#[test]
fn a_flipped_bit_in_a_row_costs_its_table_until_that_is_dropped() {
    let place = Place::closed(&TABLES);
    let page = place.page_with("bad row 450", TREE);
    place.damage(page);
    let mut server = place.start(&[]);
    let mut conn = connect(&server);
    assert_eq!(number(&mut conn, "SELECT COUNT(*) FROM shop.bad WHERE id = 3"), 1, "nobody has met the page");
    run(&mut conn, &["BEGIN", "INSERT INTO shop.good VALUES (-1, 1, 'in a transaction')"]);
    run(&mut conn, &["UPDATE shop.bad SET k = 7 WHERE id = 1"]);
    refused(&mut conn, "UPDATE shop.bad SET k = 8", 1877, page);
    // The statement was undone, the transaction stands.
    run(&mut conn, &["ROLLBACK"]);
    for sql in [
        "SELECT * FROM shop.bad",
        "SELECT body FROM shop.bad WHERE id = 3",
        "SELECT k FROM shop.bad FORCE INDEX (k)",
        "INSERT INTO shop.bad (id) VALUES (9999)",
        "DELETE FROM shop.bad WHERE id = 450",
        "SELECT * FROM shop.good JOIN shop.bad USING (id)",
        "INSERT INTO shop.empty SELECT id FROM shop.bad",
    ] {
        refused(&mut conn, sql, 1877, page);
    }
    assert_eq!(number(&mut conn, "SELECT COUNT(*) FROM shop.empty"), 0);
    assert_others_serve(&mut conn);
    assert_corrupt(&mut conn, "shop.bad", "PRIMARY");
    run(&mut conn, &["SHOW CREATE TABLE shop.bad"]);
    // Found again after a restart, by the first who needs the page.
    server.shut_down().unwrap();
    let server = place.start(&[]);
    let mut conn = connect(&server);
    assert_eq!(number(&mut conn, "SELECT k FROM shop.bad WHERE id = 1"), 0, "rolled back");
    refused(&mut conn, "SELECT COUNT(*) FROM shop.bad IGNORE INDEX (k)", 1877, page);
    run(&mut conn, &["DROP TABLE shop.bad", TABLES[2], "INSERT INTO shop.bad (id) VALUES (1)"]);
    assert!(is_ok(&mut conn, "shop.bad"));
    run(&mut conn, &["UPDATE shop.good SET k = k - 1"]);
    assert_others_serve(&mut conn);
}

#[test]
fn a_flipped_bit_in_a_secondary_index_costs_that_index_and_changes_until_it_is_dropped() {
    let place = Place::closed(&TABLES);
    let index = place.index_on(place.page_with("bad row 450", TREE)) + 1;
    let leaves = place.leaves(index);
    let page = leaves[leaves.len() / 2];
    place.damage(page);
    let server = place.start(&[]);
    let mut conn = connect(&server);
    refused(&mut conn, "SELECT COUNT(*) FROM shop.bad FORCE INDEX (k) WHERE k >= 0", 1712, page);
    assert_others_serve(&mut conn);
    // By other ways, whatever the hints.
    for hint in ["", "FORCE INDEX (k)", "USE INDEX (k)"] {
        let sql = format!("SELECT COUNT(*) FROM shop.bad {hint} WHERE k >= 0");
        assert_eq!(number(&mut conn, &sql), 900);
        let sql = format!("SELECT COUNT(*) FROM shop.bad {hint} WHERE k = 100");
        assert_eq!(number(&mut conn, &sql), 3);
    }
    assert_eq!(number(&mut conn, "SELECT MAX(k) FROM shop.bad"), 299);
    for sql in [
        "INSERT INTO shop.bad (id) VALUES (9999)",
        "UPDATE shop.bad SET k = 1 WHERE id = 3",
        "DELETE FROM shop.bad WHERE id = 4",
    ] {
        refused(&mut conn, sql, 1712, page);
    }
    assert_corrupt(&mut conn, "shop.bad", "k");
    run(&mut conn, &["ALTER TABLE shop.bad DROP INDEX k", "INSERT INTO shop.bad (id) VALUES (9999)"]);
    run(&mut conn, &["CREATE INDEX k ON shop.bad (k)", "UPDATE shop.bad SET k = 5 WHERE id = 3"]);
    assert_eq!(number(&mut conn, "SELECT COUNT(*) FROM shop.bad FORCE INDEX (k) WHERE k = 5"), 4);
    assert!(is_ok(&mut conn, "shop.bad"));
}

#[test]
fn a_flipped_bit_in_a_long_value_costs_its_table_until_that_is_truncated() {
    let place = Place::closed(&TABLES);
    let page = place.page_with("a long value", VALUE);
    place.damage(page);
    let mut server = place.start(&[]);
    let mut conn = connect(&server);
    assert_eq!(number(&mut conn, "SELECT COUNT(*) FROM shop.bad WHERE body LIKE 'bad row %'"), 900);
    refused(&mut conn, "SELECT LENGTH(big) FROM shop.bad WHERE id = 800", 1877, page);
    refused(&mut conn, "SELECT id FROM shop.bad WHERE id = 1", 1877, page);
    assert_others_serve(&mut conn);
    assert_corrupt(&mut conn, "shop.bad", "PRIMARY");
    run(&mut conn, &["TRUNCATE shop.bad", "INSERT INTO shop.bad (id) VALUES (1)"]);
    assert!(is_ok(&mut conn, "shop.bad"));
    drop(conn);
    server.shut_down().unwrap();
}

#[test]
fn a_page_that_was_mended_is_in_use_again_after_a_check() {
    let place = Place::closed(&TABLES);
    let page = place.page_with("bad row 450", TREE);
    place.damage(page);
    let server = place.start(&["--innodb-buffer-pool-size=5M"]);
    let mut conn = connect(&server);
    refused(&mut conn, "SELECT COUNT(*) FROM shop.bad IGNORE INDEX (k)", 1877, page);
    // Nobody has changed a page meanwhile.
    place.damage(page);
    refused(&mut conn, "SELECT COUNT(*) FROM shop.bad IGNORE INDEX (k)", 1877, page);
    assert!(is_ok(&mut conn, "shop.bad"));
    assert_eq!(number(&mut conn, "SELECT COUNT(*) FROM shop.bad IGNORE INDEX (k)"), 900);
    run(&mut conn, &["UPDATE shop.bad SET k = 1 WHERE id = 450"]);
}
