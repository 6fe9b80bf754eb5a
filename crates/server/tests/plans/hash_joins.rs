//! Joins by a hash table where an index would find many rows for each row: the same rows as by nested loops.

#![allow(clippy::unwrap_used, reason = "test code")]

use std::path::Path;

use mysql::Conn;
use mysql::prelude::Queryable;
use testkit::runner::Target;
use testkit::server::TestServer;

/// Conditions beside `a.k = b.j`, and whether the plan is a hash join. Index `g` has four values, `s` as many
/// as there are rows.
const BESIDE: [(&str, bool); 9] = [
    ("b.id <> a.id", true),
    ("b.id > a.id", true),
    ("b.id NOT IN (a.id, a.k)", true),
    ("(b.id < a.k OR b.id > a.id)", true),
    ("b.s <> a.id", true),
    ("b.g = a.g", true),
    ("b.g IN (a.g, 3)", true),
    ("b.s = a.id", false),
    ("b.id IN (a.k, a.id)", false),
];

fn start() -> (TestServer, Conn) {
    let server = TestServer::start(Path::new(env!("CARGO_BIN_EXE_ratchetd")), &[]).unwrap();
    let mut conn = Target { port: server.port, user: "root".to_owned() }.connect(None).unwrap();
    for sql in ["CREATE DATABASE d", "USE d"] {
        conn.query_drop(sql).unwrap();
    }
    for (table, step, count) in [("a", 7, 100), ("b", 11, 2000)] {
        conn.query_drop(format!(
            "CREATE TABLE {table} (id INT PRIMARY KEY, k INT, j INT, g INT, s INT NOT NULL, KEY g (g), KEY s (s))"
        ))
        .unwrap();
        let row = |n: i32| {
            let nullable = |value: i32| if n % 13 == 0 { "NULL".to_owned() } else { value.to_string() };
            let (k, j, g) = (nullable(n * step % 90), nullable(n * step % 70), nullable(n % 4));
            format!("({n}, {k}, {j}, {g}, {})", n * 3 % count)
        };
        let rows: Vec<String> = (0..count).map(row).collect();
        conn.query_drop(format!("INSERT INTO {table} VALUES {}", rows.join(", "))).unwrap();
        conn.query_drop(format!("ANALYZE TABLE {table}")).unwrap();
    }
    (server, conn)
}

fn pairs(conn: &mut Conn, sql: &str) -> Vec<(i32, Option<i32>)> {
    let mut pairs = conn.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    pairs.sort_unstable();
    pairs
}

#[test]
fn where_an_index_finds_many_rows_a_hash_table_finds_the_same() {
    let (_server, mut conn) = start();
    for join in ["JOIN", "LEFT JOIN"] {
        for (beside, is_hashed) in BESIDE {
            let query = |on: &str| format!("SELECT a.id, b.id FROM a {join} b ON {on}");
            let by_hash = query(&format!("a.k = b.j AND {beside}"));
            let plan: String = conn.query_first(format!("EXPLAIN FORMAT=TREE {by_hash}")).unwrap().unwrap();
            assert_eq!(plan.contains("hash join"), is_hashed, "{by_hash}\n{plan}");
            let nested = query(&format!("IF(a.k = b.j AND {beside}, 1, 0)"));
            let plan: String = conn.query_first(format!("EXPLAIN FORMAT=TREE {nested}")).unwrap().unwrap();
            assert!(plan.contains("Nested loop"), "{nested}\n{plan}");
            let found = pairs(&mut conn, &by_hash);
            assert!(found.iter().any(|pair| pair.1.is_some()), "{by_hash}");
            assert_eq!(found, pairs(&mut conn, &nested), "{by_hash}");
        }
    }
}
