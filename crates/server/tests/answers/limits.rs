//! Values that do not fit and texts, rows, keys and packets at their limits: MySQL's errors, and nothing cut
//! silently.

#![allow(clippy::unwrap_used, reason = "test code")]

use std::path::Path;

use mysql::prelude::Queryable;
use mysql::{Conn, OptsBuilder};
use testkit::server::TestServer;

fn start(options: &[&str]) -> TestServer {
    TestServer::start(Path::new(env!("CARGO_BIN_EXE_ratchetd")), options).unwrap()
}

/// A connection whose own packets may have up to 64 MB.
fn connect(server: &TestServer) -> Conn {
    let options = OptsBuilder::new()
        .ip_or_hostname(Some("127.0.0.1"))
        .tcp_port(server.port)
        .user(Some("root"))
        .prefer_socket(false)
        .max_allowed_packet(Some(64 << 20));
    let mut conn = Conn::new(options).unwrap();
    conn.query_drop("CREATE DATABASE IF NOT EXISTS shop").unwrap();
    conn.query_drop("USE shop").unwrap();
    conn
}

/// Number and text of the error that `sql` gets.
fn error(conn: &mut Conn, sql: &str) -> (u16, String) {
    match conn.query_drop(sql) {
        Err(mysql::Error::MySqlError(e)) => (e.code, e.message),
        other => panic!("{sql:.200}: {other:?}"),
    }
}

#[test]
fn values_that_do_not_fit_are_refused() {
    let server = start(&[]);
    let mut conn = connect(&server);
    conn.query_drop(
        "CREATE TABLE v (id INT PRIMARY KEY, tiny TINYINT, small SMALLINT UNSIGNED, big BIGINT, price DECIMAL(4,2), \
         name VARCHAR(3), raw BINARY(2), day DATE, at DATETIME, kind ENUM('a','b'), needed INT NOT NULL DEFAULT 1)",
    )
    .unwrap();
    conn.query_drop("CREATE TABLE n (id INT PRIMARY KEY, needed INT NOT NULL)").unwrap();
    conn.query_drop("INSERT INTO v (id) VALUES (1)").unwrap();
    for (sql, number, text) in [
        ("INSERT INTO v (id, tiny) VALUES (2, 128)", 1264, "Out of range value for column 'tiny' at row 1"),
        ("INSERT INTO v (id, small) VALUES (2, -1)", 1264, "Out of range value for column 'small' at row 1"),
        (
            "INSERT INTO v (id, big) VALUES (2, 9223372036854775808)",
            1264,
            "Out of range value for column 'big' at row 1",
        ),
        (
            "INSERT INTO v (id, price) VALUES (2, 1), (3, 100)",
            1264,
            "Out of range value for column 'price' at row 2",
        ),
        (
            "INSERT INTO v (id, tiny) VALUES (2, 'x')",
            1366,
            "Incorrect integer value: 'x' for column 'tiny' at row 1",
        ),
        (
            "INSERT INTO v (id, price) VALUES (2, 'x')",
            1366,
            "Incorrect decimal value: 'x' for column 'price' at row 1",
        ),
        ("INSERT INTO v (id, name) VALUES (2, 'abcd')", 1406, "Data too long for column 'name' at row 1"),
        ("INSERT INTO v (id, raw) VALUES (2, 'abc')", 1406, "Data too long for column 'raw' at row 1"),
        (
            "INSERT INTO v (id, day) VALUES (2, '2026-02-30')",
            1292,
            "Incorrect date value: '2026-02-30' for column 'day' at row 1",
        ),
        (
            "INSERT INTO v (id, at) VALUES (2, 'soon')",
            1292,
            "Incorrect datetime value: 'soon' for column 'at' at row 1",
        ),
        ("INSERT INTO v (id, kind) VALUES (2, 'c')", 1265, "Data truncated for column 'kind' at row 1"),
        ("INSERT INTO v (id) VALUES (1)", 1062, "Duplicate entry '1' for key 'v.PRIMARY'"),
        ("INSERT INTO v (id, needed) VALUES (2, NULL)", 1048, "Column 'needed' cannot be null"),
        ("INSERT INTO n (id) VALUES (2)", 1364, "Field 'needed' doesn't have a default value"),
        ("UPDATE v SET tiny = 200", 1264, "Out of range value for column 'tiny' at row 1"),
        ("UPDATE v SET needed = NULL", 1048, "Column 'needed' cannot be null"),
        (
            "SELECT 9223372036854775807 + 1",
            1690,
            "BIGINT value is out of range in '(9223372036854775807 + 1)'",
        ),
        ("INSERT INTO v VALUES (2)", 1136, "Column count doesn't match value count at row 1"),
    ] {
        assert_eq!(error(&mut conn, sql), (number, text.to_owned()), "{sql}");
    }
    let rows: Option<u32> = conn.query_first("SELECT COUNT(*) FROM v").unwrap();
    assert_eq!(rows, Some(1), "a refused statement leaves nothing");
}

#[test]
fn without_strict_mode_values_are_adjusted_and_told() {
    let server = start(&["--sql-mode="]);
    let mut conn = connect(&server);
    conn.query_drop("CREATE TABLE v (tiny TINYINT, name VARCHAR(3), day DATE)").unwrap();
    conn.query_drop("INSERT INTO v VALUES (1000, 'abcdef', '2026-02-30')").unwrap();
    let told: Vec<(String, u16, String)> = conn.query("SHOW WARNINGS").unwrap();
    assert_eq!(told.iter().map(|(_, code, _)| *code).collect::<Vec<_>>(), [1264, 1265, 1264]);
    let row: Option<(i8, String, String)> =
        conn.query_first("SELECT tiny, name, CAST(day AS CHAR) FROM v").unwrap();
    assert_eq!(row, Some((127, "abc".to_owned(), "0000-00-00".to_owned())));
}

#[test]
fn definitions_have_limits() {
    let server = start(&[]);
    let mut conn = connect(&server);
    let row_size = "Row size too large. The maximum row size for the used table type, not counting BLOBs, is 65535. \
        This includes storage overhead, check the manual. You have to change some columns to TEXT or BLOBs";
    let wide = "CREATE TABLE w (a VARCHAR(40000), b VARCHAR(40000)) CHARSET latin1";
    assert_eq!(error(&mut conn, wide), (1118, row_size.to_owned()));
    let key = "CREATE TABLE k (a VARCHAR(800) CHARSET utf8mb4, KEY (a))";
    let too_long = "Specified key was too long; max key length is 3072 bytes";
    assert_eq!(error(&mut conn, key), (1071, too_long.to_owned()));
    conn.query_drop("CREATE TABLE k (a VARCHAR(768) CHARSET utf8mb4, KEY (a))").unwrap();
    let columns = |count: usize| (0..count).map(|i| format!("c{i} INT")).collect::<Vec<_>>().join(", ");
    assert_eq!(error(&mut conn, &format!("CREATE TABLE m ({})", columns(1018))).0, 1117);
    let parts = (0..17).map(|i| format!("c{i}")).collect::<Vec<_>>().join(", ");
    let sql = format!("CREATE TABLE p ({}, KEY ({parts}))", columns(17));
    assert_eq!(
        error(&mut conn, &sql),
        (1070, "Too many key parts specified; max 16 parts allowed".to_owned())
    );
    let name = "n".repeat(65);
    let sql = format!("CREATE TABLE {name} (a INT)");
    assert_eq!(error(&mut conn, &sql), (1059, format!("Identifier name '{name}' is too long")));
}

#[test]
fn a_table_of_a_thousand_columns_works() {
    let server = start(&[]);
    let mut conn = connect(&server);
    let list = |text: &dyn Fn(usize) -> String| (0..1000).map(text).collect::<Vec<_>>().join(", ");
    conn.query_drop(format!("CREATE TABLE wide ({}, PRIMARY KEY (c0))", list(&|i| format!("c{i} INT"))))
        .unwrap();
    for row in 0..3 {
        conn.query_drop(format!("INSERT INTO wide VALUES ({})", list(&|i| (row * 1000 + i).to_string())))
            .unwrap();
    }
    conn.query_drop("UPDATE wide SET c999 = -1, c1 = NULL WHERE c0 = 1000").unwrap();
    let rows: Vec<mysql::Row> = conn.query("SELECT * FROM wide ORDER BY c0").unwrap();
    assert_eq!(rows.len(), 3);
    assert_eq!(rows[1].get::<i32, _>(999), Some(-1));
    assert_eq!(rows[1].get::<Option<i32>, _>(1), Some(None));
    assert_eq!(rows[2].get::<i32, _>(500), Some(2500));
}

#[test]
fn a_row_of_twenty_megabytes_travels_both_ways() {
    let server = start(&["--max-allowed-packet=64M"]);
    let mut conn = connect(&server);
    conn.query_drop("CREATE TABLE big (id INT PRIMARY KEY, body LONGBLOB)").unwrap();
    let body: Vec<u8> = (0..20_000_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    conn.exec_drop("INSERT INTO big VALUES (1, ?)", (&body,)).unwrap();
    let text = "y".repeat(20_000_000);
    conn.query_drop(format!("INSERT INTO big VALUES (2, '{text}')")).unwrap();
    let back: Option<Vec<u8>> = conn.query_first("SELECT body FROM big WHERE id = 1").unwrap();
    assert!(back.as_deref() == Some(&body[..]), "the text protocol changed the row");
    let back: Option<Vec<u8>> = conn.exec_first("SELECT body FROM big WHERE id = ?", (2,)).unwrap();
    assert!(back.as_deref() == Some(text.as_bytes()), "the binary protocol changed the row");
}

/// Packets of 16 MB less one byte and more go in several parts, the last of which may be empty.
#[test]
fn packets_at_the_edge_of_a_part_are_read_whole() {
    let server = start(&["--max-allowed-packet=64M"]);
    let mut conn = connect(&server);
    let edge = (1 << 24) - 1;
    for packet in [edge - 1, edge, edge + 1, 2 * edge] {
        // The packet is a command byte and this text.
        let around = "SELECT LENGTH('') AS length".len() + 1;
        let sql = format!("SELECT LENGTH('{}') AS length", "z".repeat(packet - around));
        assert_eq!(conn.query_first(&sql).unwrap(), Some(packet - around));
    }
}

#[test]
fn packets_beyond_the_limit_are_refused() {
    let server = start(&["--max-allowed-packet=1M"]);
    let mut conn = connect(&server);
    let sql = format!("SELECT LENGTH('{}')", "x".repeat(2 << 20));
    match conn.query_drop(&sql) {
        Err(mysql::Error::MySqlError(e)) => {
            assert_eq!(
                (e.code, e.message.as_str()),
                (1153, "Got a packet bigger than 'max_allowed_packet' bytes")
            );
        }
        // The server closes the connection after its answer, which may come before all has been sent.
        Err(mysql::Error::IoError(_)) => {}
        other => panic!("{other:?}"),
    }
    let length: Option<u32> = connect(&server).query_first("SELECT LENGTH('x')").unwrap();
    assert_eq!(length, Some(1));
}
