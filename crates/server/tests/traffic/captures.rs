//! What clients send on connect and to look around is answered: `data/client_connect.txt`, client by client.

#![allow(clippy::unwrap_used, reason = "test code")]

use std::path::Path;

use mysql::prelude::Queryable;
use mysql::{Conn, Row, Value};
use testkit::runner::Target;
use testkit::server::TestServer;

const CLIENTS: &str = include_str!("../data/client_connect.txt");

/// A recorded statement and the error it gets, as `number text`.
struct Sent<'a> {
    sql: &'a str,
    error: Option<&'a str>,
}

/// The clients' names and statements.
fn clients() -> Vec<(&'static str, Vec<Sent<'static>>)> {
    let mut clients: Vec<(&str, Vec<Sent<'_>>)> = Vec::new();
    for line in CLIENTS.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(name) = line.strip_prefix("== ") {
            clients.push((name, Vec::new()));
            continue;
        }
        let sent = &mut clients.last_mut().expect("a client comes first").1;
        match line.strip_prefix("-> ") {
            Some(error) => sent.last_mut().expect("a statement comes first").error = Some(error),
            None => sent.push(Sent { sql: line, error: None }),
        }
    }
    clients
}

/// What went wrong with `sent`, if anything did.
fn complaint(conn: &mut Conn, sent: &Sent<'_>) -> Option<String> {
    let rows: Vec<Row> = match (conn.query(sent.sql), sent.error) {
        (Ok(rows), None) => rows,
        (Ok(_), Some(error)) => return Some(format!("succeeds instead of {error}")),
        (Err(mysql::Error::MySqlError(e)), expected) => {
            let got = format!("{} {}", e.code, e.message);
            return (expected != Some(&got)).then_some(got);
        }
        (Err(e), _) => return Some(e.to_string()),
    };
    let is_null = |row: &Row| (0..row.len()).any(|column| row.as_ref(column) == Some(&Value::NULL));
    let reads_variables = sent.sql.contains("@@") && !sent.sql.contains("SET");
    (reads_variables && (rows.is_empty() || rows.iter().any(is_null)))
        .then(|| format!("has no value: {rows:?}"))
}

#[test]
fn what_clients_send_on_connect_is_answered() {
    let server = TestServer::start(Path::new(env!("CARGO_BIN_EXE_ratchetd")), &[]).unwrap();
    let target = Target { port: server.port, user: "root".to_owned() };
    let mut setup = target.connect(None).unwrap();
    setup.query_drop("CREATE DATABASE t").unwrap();
    setup.query_drop("CREATE TABLE t.a (id INT PRIMARY KEY, v VARCHAR(10))").unwrap();
    setup.query_drop("INSERT INTO t.a VALUES (1, 'x')").unwrap();
    let mut complaints = Vec::new();
    for (client, statements) in clients() {
        let mut conn = target.connect(Some("t")).unwrap();
        for sent in &statements {
            if let Some(complaint) = complaint(&mut conn, sent) {
                complaints.push(format!("{client}: {}\n  {complaint}", sent.sql));
            }
        }
    }
    assert!(complaints.is_empty(), "{} complaints:\n{}", complaints.len(), complaints.join("\n"));
}
