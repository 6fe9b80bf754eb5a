//! The component validate_password over restarts, its dictionary, and hostile input.

#![allow(clippy::unwrap_used, reason = "test code")]

use std::path::Path;

use mysql::Conn;
use mysql::prelude::Queryable;
use testkit::runner::Target;
use testkit::server::TestServer;

const BINARY: &str = env!("CARGO_BIN_EXE_ratchetd");
const INSTALL: &str = "INSTALL COMPONENT 'file://component_validate_password'";
const UNINSTALL: &str = "UNINSTALL COMPONENT 'file://component_validate_password'";

fn connect(server: &TestServer) -> Conn {
    Target { port: server.port, user: "root".to_owned() }.connect(None).unwrap()
}

fn error_code(conn: &mut Conn, sql: &str) -> u16 {
    match conn.query_drop(sql) {
        Err(mysql::Error::MySqlError(error)) => error.code,
        other => panic!("{sql}: {other:?}"),
    }
}

fn strength(conn: &mut Conn, text: &str) -> u64 {
    conn.exec_first("SELECT VALIDATE_PASSWORD_STRENGTH(?)", (text,)).unwrap().unwrap()
}

#[test]
fn the_component_stays_installed_over_restarts() {
    let folder = tempfile::tempdir().unwrap();
    let datadir = folder.path().join("data");
    let option = "--validate_password.policy=LOW";
    let mut server = TestServer::start_on(Path::new(BINARY), &datadir, &[option]).unwrap();
    let mut conn = connect(&server);
    assert_eq!(error_code(&mut conn, "SELECT @@validate_password.policy"), 1193);
    conn.query_drop(INSTALL).unwrap();
    conn.query_drop("SET GLOBAL validate_password.length = 20").unwrap();
    assert_eq!(error_code(&mut conn, "CREATE USER a IDENTIFIED BY 'longenough'"), 1819);
    server.shut_down().unwrap();

    let mut server = TestServer::start_on(Path::new(BINARY), &datadir, &[option]).unwrap();
    let mut conn = connect(&server);
    let policy = conn.query_first("SELECT @@validate_password.policy, @@validate_password.length").unwrap();
    assert_eq!(policy, Some(("LOW".to_owned(), 8)));
    assert_eq!(error_code(&mut conn, "CREATE USER a IDENTIFIED BY 'short'"), 1819);
    conn.query_drop("CREATE USER a IDENTIFIED BY 'longenough'").unwrap();
    conn.query_drop(UNINSTALL).unwrap();
    server.shut_down().unwrap();

    let server = TestServer::start_on(Path::new(BINARY), &datadir, &[]).unwrap();
    let mut conn = connect(&server);
    assert_eq!(error_code(&mut conn, "SELECT @@validate_password.policy"), 1193);
    conn.query_drop("CREATE USER b IDENTIFIED BY 'short'").unwrap();
}

#[test]
fn words_of_the_dictionary_are_no_part_of_strong_passwords() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(path("words"), "Horse\nabc\nbattery\n").unwrap();
    std::fs::write(path("long"), vec![b'a'; 2 << 20]).unwrap();
    let server = TestServer::start(Path::new(BINARY), &[]).unwrap();
    let mut conn = connect(&server);
    conn.query_drop(INSTALL).unwrap();
    conn.query_drop("SET GLOBAL validate_password.policy = STRONG").unwrap();
    conn.query_drop("CREATE USER a IDENTIFIED BY '1!HORSEabc'").unwrap();
    conn.query_drop(format!("SET GLOBAL validate_password.dictionary_file = '{}'", path("words"))).unwrap();
    for (password, is_strong) in [("1!MyHORSE", false), ("1!bAtTeRyX", false), ("1!Myabcdef", true)] {
        assert_eq!(strength(&mut conn, password), if is_strong { 100 } else { 75 }, "{password}");
        let sql = format!("ALTER USER a IDENTIFIED BY '{password}'");
        if is_strong {
            conn.query_drop(sql).unwrap();
        } else {
            assert_eq!(error_code(&mut conn, &sql), 1819, "{password}");
        }
    }
    // A file that cannot be read refuses no word, and blocks nothing.
    for file in [path("missing"), path("long"), path(""), "/dev/zero".to_owned(), "\u{1}".to_owned()] {
        conn.query_drop(format!("SET GLOBAL validate_password.dictionary_file = '{file}'")).unwrap();
        assert_eq!(strength(&mut conn, "1!MyHORSE"), 100, "{file}");
    }
}

#[test]
fn long_and_odd_texts_are_rated() {
    let server = TestServer::start(Path::new(BINARY), &[]).unwrap();
    let mut conn = connect(&server);
    conn.query_drop(INSTALL).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("words");
    let words: String = (0..9_000).map(|i| format!("word{i}{}\n", "x".repeat(90))).collect();
    std::fs::write(&path, words).unwrap();
    conn.query_drop(format!("SET GLOBAL validate_password.dictionary_file = '{}'", path.display())).unwrap();
    let long = "aA1!".repeat(1 << 20);
    assert_eq!(strength(&mut conn, &long), 100);
    assert_eq!(strength(&mut conn, "\0\0\0\0aA1!"), 100);
    let binary = "SELECT VALIDATE_PASSWORD_STRENGTH(x'ff41fe61fd31fc21')";
    assert_eq!(conn.query_first::<u64, _>(binary).unwrap(), Some(100));
    let of_rows =
        "SELECT SUM(VALIDATE_PASSWORD_STRENGTH(a)) FROM (SELECT 'abcd' AS a UNION SELECT 'aA1!aA1!') t";
    assert_eq!(conn.query_first::<u64, _>(of_rows).unwrap(), Some(125));
    for (sql, code) in [
        ("INSTALL COMPONENT ''", 3527),
        ("INSTALL COMPONENT '://'", 3528),
        ("INSTALL COMPONENT 'file://../../etc/passwd'", 1126),
        ("UNINSTALL COMPONENT 'file://component_validate_password\\0'", 3537),
        (
            "INSTALL COMPONENT 'file://component_validate_password' SET GLOBAL validate_password.length = 9",
            1235,
        ),
        ("INSTALL PLUGIN p SONAME 'p.so'", 1235),
        ("UNINSTALL PLUGIN p", 1235),
        ("SELECT @@validate_password.nothing", 1193),
        ("SET GLOBAL validate_password.nothing = 1", 1193),
    ] {
        assert_eq!(error_code(&mut conn, sql), code, "{sql}");
    }
    conn.query_drop(UNINSTALL).unwrap();
    let prepared = conn.prep("SELECT VALIDATE_PASSWORD_STRENGTH('aA1!aA1!')");
    let prepared = prepared.unwrap();
    assert_eq!(conn.exec_first::<u64, _, _>(&prepared, ()).unwrap(), Some(0));
    conn.query_drop(INSTALL).unwrap();
    assert_eq!(conn.exec_first::<u64, _, _>(&prepared, ()).unwrap(), Some(100));
}

#[test]
fn an_account_that_loses_its_password_has_to_set_a_strong_one() {
    let server = TestServer::start(Path::new(BINARY), &[]).unwrap();
    let mut root = connect(&server);
    root.query_drop(INSTALL).unwrap();
    root.query_drop("CREATE USER a IDENTIFIED BY 'aA1!aA1!'").unwrap();
    let mut is_expired = |sql: &str| {
        root.query_drop(sql).unwrap();
        let flag: Option<String> =
            root.query_first("SELECT password_expired FROM mysql.user WHERE user = 'a'").unwrap();
        flag.unwrap() == "Y"
    };
    for plugin in ["mysql_native_password", "caching_sha2_password"] {
        assert!(is_expired(&format!("ALTER USER a IDENTIFIED WITH {plugin}")), "{plugin}");
        assert!(!is_expired("ALTER USER a IDENTIFIED BY 'aA1!aA1!'"), "{plugin}");
        assert!(!is_expired(&format!("ALTER USER a IDENTIFIED WITH {plugin} AS ''")), "{plugin}");
    }
    assert!(is_expired("ALTER USER a IDENTIFIED WITH caching_sha2_password"));
    let refused = Target { port: server.port, user: "a".to_owned() }.connect(None).unwrap_err();
    assert!(refused.contains("ERROR 1862 (HY000)"), "{refused}");
    assert_eq!(error_code(&mut root, "ALTER USER a IDENTIFIED BY ''"), 1819);
}
