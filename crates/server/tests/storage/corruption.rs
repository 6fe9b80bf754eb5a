//! The server reports a bit that changed on disk while it was down, never serves it, and loses its table or
//! index alone. A start that damage refuses names it in one line, with the option that serves the rest.

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
/// The dictionary's index id.
const DICTIONARY: u32 = 1;

/// A data directory that servers come and continue.
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

    /// The one line with which a start is refused.
    fn refusal(&self) -> String {
        let said = TestServer::refuse(Path::new(BINARY), &self.datadir, &[]).unwrap();
        let lines: Vec<&str> = said.lines().filter(|line| !line.contains(" recovery: ")).collect();
        assert_eq!(lines.len(), 1, "{said}");
        lines[0].to_owned()
    }

    fn pages(&self) -> Vec<u8> {
        std::fs::read(self.datadir.join("data.pages")).unwrap()
    }

    /// Removes the copies of pages from which a start would mend them.
    fn remove_copies(&self) {
        for name in ["0", "1"] {
            std::fs::remove_file(self.datadir.join("doublewrite").join(name)).unwrap();
        }
    }

    /// Changes a bit in the middle of what is used of a page.
    fn damage(&self, page: usize) {
        let mut bytes = self.pages();
        bytes[page * PAGE_BYTES + PAGE_BYTES - 100] ^= 1;
        std::fs::write(self.datadir.join("data.pages"), bytes).unwrap();
    }

    /// The page that `text` is on, the first of that type.
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

fn code_of(conn: &mut Conn, sql: &str) -> u16 {
    match conn.query_drop(sql) {
        Err(mysql::Error::MySqlError(error)) => error.code,
        other => panic!("{sql}: {other:?}"),
    }
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

/// Changes of rows and definitions are refused, everything is read but `missing`.
fn assert_read_only(conn: &mut Conn) {
    assert_eq!(code_of(conn, "INSERT INTO shop.good VALUES (-1, 1, '')"), 1881);
    assert_eq!(code_of(conn, "UPDATE shop.good SET k = 1"), 1881);
    assert_eq!(code_of(conn, "DELETE FROM shop.good"), 1881);
    assert_eq!(code_of(conn, "CREATE TABLE shop.other (a INT)"), 1874);
    assert_eq!(code_of(conn, "DROP TABLE shop.good"), 1874);
    assert_eq!(code_of(conn, "CREATE USER bob@localhost"), 1874);
    assert_eq!(number(conn, "SELECT COUNT(*) FROM shop.good WHERE body LIKE 'good row %'"), 900);
    assert_eq!(number(conn, "SELECT COUNT(*) FROM shop.good FORCE INDEX (k) WHERE k >= 0"), 900);
}

#[test]
fn a_flipped_bit_in_the_extent_map_refuses_the_start_and_force_recovery_1_reads_everything() {
    let place = Place::closed(&TABLES);
    place.damage(1);
    let line = place.refusal();
    assert!(line.contains("data.pages") && line.contains("page 1 "), "{line}");
    assert!(line.contains("--innodb-force-recovery=1"), "{line}");
    let mut server = place.start(&["--innodb-force-recovery=1"]);
    let mut conn = connect(&server);
    assert_read_only(&mut conn);
    assert_eq!(number(&mut conn, "SELECT LENGTH(big) FROM shop.bad WHERE id = 800"), 40_013);
    drop(conn);
    server.shut_down().unwrap();
    assert!(place.refusal().contains("page 1 "));
}

#[test]
fn a_flipped_bit_in_the_dictionary_refuses_the_start_and_force_recovery_1_reads_the_tables_that_are_left() {
    let mut statements: Vec<String> = TABLES.map(str::to_owned).to_vec();
    // Long definitions, which take several pages.
    let columns: Vec<String> =
        (0..60).map(|n| format!("column_{n} INT COMMENT '{}'", "c".repeat(60))).collect();
    statements.extend((0..20).map(|n| format!("CREATE TABLE shop.wide{n} ({})", columns.join(", "))));
    let place = Place::closed(&statements.iter().map(String::as_str).collect::<Vec<_>>());
    let leaves = place.leaves(DICTIONARY);
    assert!(leaves.len() > 4, "{leaves:?}");
    let page = place.page_with("column_3", TREE);
    let page = *leaves.iter().filter(|leaf| **leaf >= page).nth(2).unwrap();
    place.damage(page);
    let line = place.refusal();
    assert!(line.contains("data.pages") && line.contains(&format!("page {page} ")), "{line}");
    assert!(line.contains("--innodb-force-recovery=1"), "{line}");
    let server = place.start(&["--innodb-force-recovery=1"]);
    let mut conn = connect(&server);
    let left: Vec<String> = conn.query("SHOW TABLES FROM shop LIKE 'wide%'").unwrap();
    assert!((5..20).contains(&left.len()), "{left:?} of 20 tables");
    for table in left {
        assert_eq!(number(&mut conn, &format!("SELECT COUNT(*) FROM shop.{table}")), 0);
    }
    assert_read_only(&mut conn);
}

#[test]
fn a_flipped_bit_in_the_file_header_refuses_the_start_and_forced_ones_read_everything() {
    let place = Place::closed(&TABLES);
    place.damage(0);
    // A copy mends it.
    let mut server = place.start(&[]);
    assert!(server.startup_log.iter().any(|line| line.contains("1 torn pages restored")));
    server.shut_down().unwrap();
    place.remove_copies();
    place.damage(0);
    let line = place.refusal();
    assert!(line.contains("data.pages") && line.contains("page 0 "), "{line}");
    assert!(line.contains("--innodb-force-recovery=1"), "{line}");
    for level in ["1", "6"] {
        let mut server = place.start(&[&format!("--innodb-force-recovery={level}")]);
        let told =
            |line: &String| line.contains("the file header cannot be read") && line.contains("page 0 ");
        assert!(server.startup_log.iter().any(told), "{:?}", server.startup_log);
        let mut conn = connect(&server);
        assert_read_only(&mut conn);
        assert_eq!(number(&mut conn, "SELECT LENGTH(big) FROM shop.bad WHERE id = 800"), 40_013);
        drop(conn);
        server.shut_down().unwrap();
        assert!(place.refusal().contains("page 0 "));
    }
}

#[test]
fn a_flipped_bit_in_the_dictionary_of_a_server_that_is_up_costs_the_statements_that_need_the_page() {
    let mut statements: Vec<String> = TABLES.map(str::to_owned).to_vec();
    let columns: Vec<String> =
        (0..60).map(|n| format!("column_{n} INT COMMENT '{}'", "c".repeat(60))).collect();
    statements.extend((0..20).map(|n| format!("CREATE TABLE shop.wide{n} ({})", columns.join(", "))));
    statements.push("CREATE TABLE shop.much (d INT, body LONGTEXT)".to_owned());
    statements.push("INSERT INTO shop.much SELECT d, REPEAT('m', 800000) FROM shop.digit".to_owned());
    let place = Place::closed(&statements.iter().map(String::as_str).collect::<Vec<_>>());
    let page = place.leaves(DICTIONARY)[2];
    let log = place.datadir.with_extension("err");
    let options = ["--innodb-buffer-pool-size=5M", &format!("--log-error={}", log.display())];
    let mut server = place.start(&options);
    let mut conn = connect(&server);
    // Pages of the dictionary leave the pool.
    assert_eq!(number(&mut conn, "SELECT SUM(LENGTH(CONCAT(body, d))) FROM shop.much"), 8_000_010);
    place.damage(page);
    let mut refused = 0;
    for n in 0..20 {
        if let Err(error) = conn.query_drop(format!("ALTER TABLE shop.wide{n} COMMENT 'new'")) {
            let error = error.to_string();
            assert!(error.contains("data.pages") && error.contains(&format!("page {page} ")), "{error}");
            refused += 1;
        }
    }
    assert!((1..20).contains(&refused), "{refused}");
    let left: Vec<String> = conn.query("SHOW TABLES FROM shop LIKE 'wide%'").unwrap();
    assert_eq!(left.len(), 20);
    for table in left {
        run(&mut conn, &[&format!("INSERT INTO shop.{table} (column_1) VALUES (1)")]);
    }
    run(&mut conn, &["UPDATE shop.good SET k = k + 1"]);
    drop(conn);
    server.shut_down().unwrap();
    let said = std::fs::read_to_string(&log).unwrap();
    let told =
        |line: &&str| line.contains(&format!("page {page} ")) && line.contains("a page of the dictionary");
    assert_eq!(said.lines().filter(told).count(), 1, "{said}");
    let line = place.refusal();
    assert!(line.contains(&format!("page {page} ")) && line.contains("--innodb-force-recovery=1"), "{line}");
}

/// Every file below a data directory with its content, except for those of the server itself.
fn files(datadir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let (mut files, mut folders) = (Vec::new(), vec![datadir.to_path_buf()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if !path.ends_with("LOCK") && !path.ends_with("ratchetd.pid") {
                files.push((path.clone(), std::fs::read(path).unwrap()));
            }
        }
    }
    files.sort();
    files
}

#[test]
fn a_flipped_bit_in_the_redo_log_refuses_the_start_and_force_recovery_6_reads_the_pages_as_they_lie() {
    let place = Place::closed(&TABLES);
    let server = place.start(&[]);
    let mut conn = connect(&server);
    for n in 0..50 {
        run(&mut conn, &[&format!("INSERT INTO shop.empty VALUES ({n})")]);
    }
    drop(conn);
    server.kill().unwrap();
    let redo: PathBuf = std::fs::read_dir(place.datadir.join("redo"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|name| name == "redo"))
        .max_by_key(|path| {
            let bytes = std::fs::read(path).unwrap();
            bytes[4096..].iter().any(|byte| *byte != 0).then(|| path.clone())
        })
        .unwrap();
    let mut bytes = std::fs::read(&redo).unwrap();
    let last = bytes.iter().rposition(|byte| *byte != 0).unwrap();
    bytes[last - 2000] ^= 1;
    std::fs::write(&redo, bytes).unwrap();
    let line = place.refusal();
    assert!(line.contains(redo.to_str().unwrap()) && line.contains("offset"), "{line}");
    assert!(line.contains("--innodb-force-recovery=6"), "{line}");
    let before = files(&place.datadir);
    let mut server = place.start(&["--innodb-force-recovery=6"]);
    let mut conn = connect(&server);
    assert_read_only(&mut conn);
    assert!(number(&mut conn, "SELECT COUNT(*) FROM shop.empty") < 50);
    drop(conn);
    server.shut_down().unwrap();
    let after = files(&place.datadir);
    let names = |files: &[(PathBuf, Vec<u8>)]| files.iter().map(|file| file.0.clone()).collect::<Vec<_>>();
    assert_eq!(names(&before), names(&after));
    assert!(before == after, "nothing is written");
}

#[test]
fn force_recovery_3_leaves_open_transactions_open_and_unseen() {
    let place = Place::closed(&TABLES);
    let server = place.start(&[]);
    let mut open = connect(&server);
    run(
        &mut open,
        &[
            "BEGIN",
            "UPDATE shop.good SET body = 'open' WHERE id < 100",
            "DELETE FROM shop.good WHERE id = 200",
        ],
    );
    // Makes the open transaction's log durable.
    run(&mut connect(&server), &["INSERT INTO shop.empty VALUES (1)"]);
    server.kill().unwrap();
    for level in ["3", "4", "5"] {
        let mut server = place.start(&[&format!("--innodb-force-recovery={level}")]);
        let acts = server.startup_log.iter().any(|line| line.contains("which acts as 4"));
        assert_eq!(acts, level == "5", "{:?}", server.startup_log);
        let mut conn = connect(&server);
        assert_eq!(number(&mut conn, "SELECT COUNT(*) FROM shop.good WHERE body LIKE 'good row %'"), 900);
        assert_eq!(number(&mut conn, "SELECT COUNT(*) FROM information_schema.INNODB_TRX"), 1);
        assert_eq!(code_of(&mut conn, "INSERT INTO shop.empty VALUES (2)"), 1881);
        if level == "3" {
            run(&mut conn, &["CREATE TABLE shop.other (a INT)", "DROP TABLE shop.other"]);
        } else {
            assert_eq!(code_of(&mut conn, "CREATE TABLE shop.other (a INT)"), 1874);
        }
        drop(conn);
        server.shut_down().unwrap();
    }
    let server = place.start(&[]);
    let mut conn = connect(&server);
    // Waits for the rollback.
    run(&mut conn, &["UPDATE shop.good SET k = k + 1"]);
    assert_eq!(number(&mut conn, "SELECT COUNT(*) FROM shop.good WHERE body LIKE 'good row %'"), 900);
    assert!(is_ok(&mut conn, "shop.good"));
}
