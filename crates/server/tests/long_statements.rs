//! Statements that repeat one construct very often. What the server does for each construct must not grow
//! with the number of the others. It did: the binder compared each deprecated construct with all that it had
//! noted, and each item of a list with all groups before it; the planner read the whole text for each
//! variable; and each digit of a literal in a message copied those before it.

#![allow(clippy::unwrap_used, reason = "test code")]

use std::path::Path;
use std::time::{Duration, Instant};

use mysql::Conn;
use mysql::prelude::Queryable;
use testkit::runner::Target;
use testkit::server::TestServer;

/// A statement with a construct `count` times.
type Shape = fn(count: usize) -> String;

const COUNT: usize = 3_000;
/// How often as many there are then.
const FACTOR: usize = 8;
/// Statements that take less say nothing.
const SHORT: Duration = Duration::from_secs(1);

fn list(count: usize, item: impl Fn(usize) -> String) -> String {
    (0..count).map(item).collect::<Vec<_>>().join(", ")
}

const SHAPES: [(&str, Shape); 6] = [
    ("types that alternate in a list", |count| {
        format!("SELECT COUNT(*) FROM t WHERE n IN ({})", list(count, |n| format!("{n}, 'x{n}'")))
    }),
    ("deprecated operators", |count| {
        format!("SELECT COUNT(*) FROM t WHERE n IN ({})", list(count, |_| "(1 || 0)".to_owned()))
    }),
    ("deprecated casts", |count| {
        format!("SELECT COUNT(*) FROM t WHERE a IN ({})", list(count, |n| format!("BINARY 'a{n}'")))
    }),
    ("variables", |count| {
        format!("SELECT COUNT(*) FROM t WHERE n IN ({})", list(count, |n| format!("@n + {n}")))
    }),
    ("digits of a literal that is no number", |count| {
        format!("SELECT X'{}' + 0 FROM t", "61".repeat(count * 16))
    }),
    ("digits of a literal in an error", |count| {
        format!("SELECT -9223372036854775808 - (X'{}' IS NOT NULL) FROM t", "61".repeat(count * 16))
    }),
];

/// The least time of three that the statement takes, whether it fails or not.
fn time(conn: &mut Conn, sql: &str) -> Duration {
    let times = (0..3).map(|_| {
        let start = Instant::now();
        drop(conn.query::<mysql::Row, _>(sql));
        start.elapsed()
    });
    times.min().unwrap()
}

#[test]
fn the_time_of_a_statement_grows_with_its_length_and_no_faster() {
    let server = TestServer::start(Path::new(env!("CARGO_BIN_EXE_ratchetd")), &[]).unwrap();
    let mut conn = Target { port: server.port, user: "root".to_owned() }.connect(None).unwrap();
    for sql in [
        "CREATE DATABASE d",
        "USE d",
        "CREATE TABLE t (n INT PRIMARY KEY, a VARCHAR(10))",
        "INSERT INTO t VALUES (1, 'a')",
        "SET @n = 1",
    ] {
        conn.query_drop(sql).unwrap();
    }
    for (name, shape) in SHAPES {
        let short = time(&mut conn, &shape(COUNT));
        let long = time(&mut conn, &shape(COUNT * FACTOR));
        let is_linear = long < SHORT || long < short * (FACTOR * 3) as u32;
        assert!(is_linear, "{name}: {short:?} for {COUNT}, {long:?} for {FACTOR} times as many");
    }
}
