//! A page that changed on disk while the server was down is told, not served, and costs nothing but its own table.

#![allow(clippy::unwrap_used, reason = "test code")]

use std::path::Path;

use mysql::Conn;
use mysql::prelude::Queryable;
use testkit::runner::Target;
use testkit::server::TestServer;

const PAGE_BYTES: usize = 16 * 1024;

fn connect(server: &TestServer) -> Conn {
    Target { port: server.port, user: "root".to_owned() }.connect(None).unwrap()
}

#[test]
fn a_flipped_bit_is_told_by_file_and_page() {
    let binary = Path::new(env!("CARGO_BIN_EXE_ratchetd"));
    let folder = tempfile::tempdir().unwrap();
    let datadir = folder.path().join("data");
    let mut server = TestServer::start_on(binary, &datadir, &[]).unwrap();
    let mut conn = connect(&server);
    conn.query_drop("CREATE DATABASE shop").unwrap();
    for table in ["good", "bad"] {
        conn.query_drop(format!("CREATE TABLE shop.{table} (id INT PRIMARY KEY, body VARCHAR(200))"))
            .unwrap();
        for id in 0..500 {
            conn.exec_drop(
                format!("INSERT INTO shop.{table} VALUES (?, ?)"),
                (id, format!("{table} row {id} {}", "-".repeat(100))),
            )
            .unwrap();
        }
    }
    drop(conn);
    server.shut_down().unwrap();

    let file = datadir.join("data.pages");
    let mut bytes = std::fs::read(&file).unwrap();
    let victim = b"bad row 250";
    let at = bytes.windows(victim.len()).position(|window| window == victim).unwrap();
    bytes[at] ^= 1;
    std::fs::write(&file, bytes).unwrap();
    let page = at / PAGE_BYTES;

    let server = TestServer::start_on(binary, &datadir, &[]).unwrap();
    let mut conn = connect(&server);
    for sql in
        ["SELECT * FROM shop.bad", "SELECT * FROM shop.bad WHERE id = 250", "SELECT COUNT(*) FROM shop.bad"]
    {
        let error = conn.query_drop(sql).unwrap_err().to_string();
        assert!(error.contains("data.pages") && error.contains(&format!("page {page}")), "{sql}: {error}");
    }
    let first: Option<String> = conn.query_first("SELECT body FROM shop.bad WHERE id = 0").unwrap();
    assert!(first.unwrap().starts_with("bad row 0 "));
    let rest: Option<u32> =
        conn.query_first("SELECT COUNT(*) FROM shop.good WHERE body LIKE 'good row %'").unwrap();
    assert_eq!(rest, Some(500));
    conn.query_drop("UPDATE shop.good SET body = 'changed'").unwrap();
    let check: Vec<(String, String, String, String)> = conn.query("CHECK TABLE shop.good, shop.bad").unwrap();
    assert_eq!(check[0].3, "OK");
    let found = ("shop.bad".to_owned(), "check".to_owned(), "Warning".to_owned());
    let told: Vec<&str> = check[1..]
        .iter()
        .filter(|line| (&line.0, &line.1, &line.2) == (&found.0, &found.1, &found.2))
        .map(|line| &line.3[..])
        .collect();
    assert!(told[0].starts_with(&format!("index PRIMARY, data.pages page {page} ")), "{check:?}");
    let last = check.last().unwrap();
    assert_eq!((&last.0[..], &last.2[..], &last.3[..]), ("shop.bad", "error", "Corrupt"));
}
