//! Which index a statement uses where several would serve: the one that leaves the fewest rows, as the data
//! says.

#![allow(clippy::unwrap_used, reason = "test code")]

use std::path::Path;

use mysql::Conn;
use mysql::prelude::Queryable;
use testkit::runner::Target;
use testkit::server::TestServer;

const ROWS: u32 = 8_000;

/// `coarse` has 5 values, `fine` 2,000, `both` 10 for each of 200 groups; three quarters of `part` are NULL,
/// the rest differ.
fn row(n: u32) -> String {
    let part = if n.is_multiple_of(4) { n.to_string() } else { "NULL".to_owned() };
    format!("({n}, {}, {}, {}, {part}, 'some text {n}')", n % 5, n % 2_000, n % 200)
}

fn insert(conn: &mut Conn, table: &str, numbers: impl Iterator<Item = u32>) {
    let rows: Vec<String> = numbers.map(row).collect();
    for some in rows.chunks(1_000) {
        conn.query_drop(format!("INSERT INTO {table} VALUES {}", some.join(", "))).unwrap();
    }
}

fn create(conn: &mut Conn, table: &str, keys: &str) {
    let columns = "id INT PRIMARY KEY, coarse INT, fine INT, grp INT, part INT, c VARCHAR(40)";
    conn.query_drop(format!("CREATE TABLE {table} ({columns}, {keys})")).unwrap();
}

fn start() -> (TestServer, Conn) {
    let server = TestServer::start(Path::new(env!("CARGO_BIN_EXE_ratchetd")), &[]).unwrap();
    let target = Target { port: server.port, user: "root".to_owned() };
    let mut conn = target.connect(None).unwrap();
    conn.query_drop("CREATE DATABASE d").unwrap();
    conn.query_drop("USE d").unwrap();
    (server, conn)
}

fn plan(conn: &mut Conn, sql: &str) -> String {
    conn.query_first::<String, _>(format!("EXPLAIN FORMAT=TREE {sql}")).unwrap().unwrap()
}

/// Whether the plan of `sql` reads index `key` of `table`.
fn assert_uses(conn: &mut Conn, key: &str, sql: &str) {
    let plan = plan(conn, sql);
    assert!(plan.contains(&format!("using {key} ")), "not by {key}: {sql}\n{plan}");
}

#[test]
fn neither_declarations_nor_the_order_of_rows_decide() {
    let (_server, mut conn) = start();
    create(&mut conn, "a", "KEY coarse (coarse), KEY fine (fine), KEY pair (grp, coarse), KEY part (part)");
    create(&mut conn, "b", "KEY part (part), KEY pair (grp, coarse), KEY fine (fine), KEY coarse (coarse)");
    insert(&mut conn, "a", 0..ROWS);
    insert(&mut conn, "b", (0..ROWS).rev().map(|n| n * 4_801 % ROWS));
    for table in ["a", "b"] {
        for (key, condition) in [
            ("fine", "coarse = 1 AND fine = 1"),
            ("fine", "fine IN (1, 6, 11) AND coarse IN (1, 2)"),
            ("fine", "grp = 11 AND fine = 11"),
            ("pair", "coarse = 1 AND grp = 11"),
            ("part", "coarse = 0 AND grp = 100 AND part = 100"),
            ("coarse", "coarse = 7"),
        ] {
            assert_uses(&mut conn, key, &format!("SELECT c FROM {table} WHERE {condition}"));
            assert_uses(&mut conn, key, &format!("UPDATE {table} SET c = 'x' WHERE {condition}"));
        }
        // No index leaves few rows: a change goes by the best one all the same and locks only those rows.
        let few = "coarse = 1 AND part IS NULL";
        assert_uses(&mut conn, "coarse", &format!("UPDATE {table} SET c = 'x' WHERE {few}"));
        let all = plan(&mut conn, &format!("SELECT c FROM {table} WHERE {few}"));
        assert!(all.contains("Table scan"), "{all}");
        let most = plan(&mut conn, &format!("SELECT c FROM {table} WHERE coarse IN (0, 1, 2, 3)"));
        assert!(most.contains("Table scan"), "{most}");
        let join = format!(
            "SELECT t.c FROM {table} o JOIN {table} t ON t.coarse = o.coarse AND t.fine = o.id WHERE o.id < 9"
        );
        assert_uses(&mut conn, "fine", &join);
    }
}

#[test]
fn plans_are_made_again_when_tables_have_grown() {
    let (server, mut conn) = start();
    let mut other = Target { port: server.port, user: "root".to_owned() }.connect(Some("d")).unwrap();
    create(&mut conn, "t", "KEY coarse (coarse), KEY fine (fine)");
    let prepared = conn.prep("SELECT id FROM t WHERE coarse = ? AND fine = ? FOR UPDATE").unwrap();
    let text = "SELECT id FROM t WHERE coarse = 2 AND fine = 2 FOR UPDATE";
    for _ in 0..2 {
        assert!(conn.exec::<u32, _, _>(&prepared, (2, 2)).unwrap().is_empty());
        assert!(conn.query::<u32, _>(text).unwrap().is_empty());
    }
    insert(&mut conn, "t", 0..ROWS);
    for is_prepared in [true, false] {
        conn.query_drop("BEGIN").unwrap();
        let found: Vec<u32> =
            if is_prepared { conn.exec(&prepared, (2, 2)) } else { conn.query(text) }.unwrap();
        assert_eq!(found, [2, 2_002, 4_002, 6_002]);
        // By the other index all rows with that value would be locked.
        let free: u32 = other
            .query::<u32, _>("SELECT id FROM t FOR UPDATE SKIP LOCKED")
            .unwrap()
            .len()
            .try_into()
            .unwrap();
        assert_eq!(free, ROWS - 4, "prepared: {is_prepared}");
        conn.query_drop("COMMIT").unwrap();
    }
}

#[test]
fn analyze_reads_the_values_again() {
    let (_server, mut conn) = start();
    create(&mut conn, "t", "KEY coarse (coarse), KEY fine (fine), KEY part (part)");
    insert(&mut conn, "t", 0..ROWS);
    let sql = "SELECT c FROM t WHERE coarse = 1 AND fine = 1";
    assert_uses(&mut conn, "fine", sql);
    let cardinality = |conn: &mut Conn, key: &str| {
        let rows: Vec<mysql::Row> = conn.query("SHOW INDEX FROM t").unwrap();
        let row = rows.into_iter().find(|row| row.get::<String, _>("Key_name").unwrap() == key).unwrap();
        row.get::<u32, _>("Cardinality").unwrap()
    };
    for (key, low, high) in
        [("PRIMARY", ROWS, ROWS), ("coarse", 3, 30), ("fine", 1_600, 2_400), ("part", 1_200, 2_800)]
    {
        let found = cardinality(&mut conn, key);
        assert!((low..=high).contains(&found), "{key}: {found}");
    }
    conn.query_drop("UPDATE t SET coarse = id, fine = 1").unwrap();
    conn.query_drop("ANALYZE TABLE t").unwrap();
    assert_uses(&mut conn, "coarse", sql);
    assert_eq!(cardinality(&mut conn, "fine").clamp(1, 50), cardinality(&mut conn, "fine"));
    assert!(cardinality(&mut conn, "coarse") > ROWS * 4 / 5);
}

#[test]
fn a_limit_on_memory_for_ranges_leaves_indexes_out_with_a_warning() {
    let (_server, mut conn) = start();
    create(&mut conn, "t", "KEY fine (fine)");
    insert(&mut conn, "t", 0..ROWS);
    let list: Vec<String> = (0..100).map(|n| n.to_string()).collect();
    let sql = format!("SELECT COUNT(c) FROM t WHERE fine IN ({})", list.join(", "));
    let warnings = |conn: &mut Conn| conn.query::<(String, u16, String), _>("SHOW WARNINGS").unwrap();
    let text = "Memory capacity of 2000 bytes for 'range_optimizer_max_mem_size' exceeded. \
        Range optimization was not done for this query.";
    let expected = [("Warning".to_owned(), 3170, text.to_owned())];
    let prepared = conn.prep(&sql).unwrap();
    for is_limited in [false, true, false] {
        let limit = if is_limited { "2000" } else { "DEFAULT" };
        conn.query_drop(format!("SET range_optimizer_max_mem_size = {limit}")).unwrap();
        let expected = if is_limited { &expected[..] } else { &[] };
        for is_prepared in [false, false, true, true] {
            let found: Option<u32> =
                if is_prepared { conn.exec_first(&prepared, ()) } else { conn.query_first(&sql) }.unwrap();
            assert_eq!(found, Some(400));
            assert_eq!(warnings(&mut conn), expected, "prepared: {is_prepared}");
        }
        let plan = plan(&mut conn, &sql);
        assert_eq!(plan.contains("using fine "), !is_limited, "{plan}");
        assert_eq!(warnings(&mut conn), expected);
        // One equality needs no memory to speak of.
        assert_uses(&mut conn, "fine", "SELECT c FROM t WHERE fine = 7");
        assert_eq!(warnings(&mut conn), []);
    }
    conn.query_drop("SET range_optimizer_max_mem_size = 0").unwrap();
    assert_uses(&mut conn, "fine", &sql);
}
