//! Index dives: which path is taken depends on how many rows the current values find, and a plan that was
//! made for some values is not used for others of which it would read far too much.

#![allow(clippy::unwrap_used, reason = "test code")]

use std::path::Path;

use mysql::Conn;
use mysql::prelude::Queryable;
use testkit::conditions::{Column, Dice, Kind};
use testkit::runner::Target;
use testkit::server::{TestServer, of_build};

const ROWS: u32 = 8_000;

/// A server with the table `t`: `day` rises with the rows, `grp` has 40 values, `state` one for nearly all
/// rows.
fn start() -> (TestServer, Conn) {
    let server = TestServer::start(Path::new(env!("CARGO_BIN_EXE_ratchetd")), &[]).unwrap();
    let mut conn = Target { port: server.port, user: "root".to_owned() }.connect(None).unwrap();
    let columns = "id INT PRIMARY KEY, day INT, grp INT NOT NULL, state VARCHAR(10), made DATETIME(3), price DECIMAL(9,2), \
        c VARCHAR(40), KEY day (day), KEY grp (grp), KEY state (state), KEY made (made DESC), KEY price (price)";
    for sql in ["CREATE DATABASE d", "USE d", &format!("CREATE TABLE t ({columns})")] {
        conn.query_drop(sql).unwrap();
    }
    let row = |n: u32| {
        let state = if n % 1_000 == 7 { "rare" } else { "common" };
        let made = format!("TIMESTAMP '2026-01-01 00:00:00' + INTERVAL {n} MINUTE");
        format!("({n}, {n}, {}, '{state}', {made}, {n} / 10, 'some text')", n * 7 % 40)
    };
    let rows: Vec<String> = (0..ROWS).map(row).collect();
    for some in rows.chunks(2_000) {
        conn.query_drop(format!("INSERT INTO t VALUES {}", some.join(", "))).unwrap();
    }
    (server, conn)
}

fn plan(conn: &mut Conn, condition: &str) -> String {
    let sql = format!("EXPLAIN FORMAT=TREE SELECT c FROM t WHERE {condition}");
    conn.query_first::<String, _>(sql).unwrap().unwrap()
}

#[test]
fn the_values_of_a_statement_choose_its_path() {
    let (_server, mut conn) = start();
    for (path, condition) in [
        ("using day ", "grp = 3 AND day BETWEEN 100 AND 105"),
        ("using grp ", "grp = 3 AND day BETWEEN 100 AND 7000"),
        ("using day ", "grp = 3 AND day > 7990"),
        ("using grp ", "grp = 3 AND day > 10"),
        ("using day ", "grp = 3 AND day IN (1, 2, 3)"),
        ("using state ", "state = 'rare' AND grp = 9"),
        ("using grp ", "state = 'common' AND grp = 9"),
        ("using state ", "state LIKE 'ra%' AND grp = 9"),
        ("using grp ", "state LIKE 'co%' AND grp = 9"),
        ("using made ", "grp = 3 AND made < '2026-01-01 00:09'"),
        ("using grp ", "grp = 3 AND made > '2026-01-01 00:09'"),
        ("using made ", "grp = 3 AND made >= TIMESTAMP '2026-01-01 00:00:00' + INTERVAL 7995 MINUTE"),
        ("using price ", "grp = 3 AND price BETWEEN 7 AND 8.5"),
        ("using grp ", "grp = 3 AND price BETWEEN 7 AND 650"),
        ("using day ", "day BETWEEN 5 AND 500"),
        ("Table scan", "day BETWEEN 5 AND 7500"),
        ("Table scan", "state = 'common'"),
        ("using state ", "state = 'rare'"),
        ("using state ", "state = 'none'"),
        // Without one value there is no telling.
        ("using grp ", "grp = 3 AND day > (SELECT MAX(id) FROM t AS o WHERE o.id < t.id)"),
    ] {
        let plan = plan(&mut conn, condition);
        assert!(plan.contains(path), "not {path}: {condition}\n{plan}");
    }
    // A range, however wide, does not make a change lock the whole table.
    for sql in ["UPDATE t SET c = 'x' WHERE day > 5", "SELECT c FROM t WHERE day > 5 FOR UPDATE"] {
        let plan: String = conn.query_first(format!("EXPLAIN FORMAT=TREE {sql}")).unwrap().unwrap();
        assert!(plan.contains("using day "), "{sql}\n{plan}");
    }
}

/// Each dive has its own values: a computed constant of one path was taken for that of another.
#[test]
fn computed_constants_of_one_path_are_not_those_of_another() {
    let (_server, mut conn) = start();
    conn.query_drop("SET @low = 10, @high = 7990").unwrap();
    for (path, condition) in [
        ("using price ", "day > @low + 0 AND price > @high / 10"),
        ("using price ", "price > @high / 10 AND day > @low + 0"),
        ("using day ", "day > @high + 0 AND price > @low / 10"),
        ("using day ", "day < @low + 0 AND price < @high / 10"),
        ("using price ", "day < @high + 0 AND price < @low / 10"),
    ] {
        let plan = plan(&mut conn, condition);
        assert!(plan.contains(path), "not {path}: {condition}\n{plan}");
    }
}

/// Rows that `locked` locks beyond those of the condition: by day, `day BETWEEN low AND high`; by grp,
/// `grp = 3`.
struct Locks {
    conn: Conn,
    other: Conn,
    prepared: mysql::Statement,
}

impl Locks {
    fn new(server: &TestServer) -> Self {
        let target = Target { port: server.port, user: "root".to_owned() };
        let mut conn = target.connect(Some("d")).unwrap();
        let other = target.connect(Some("d")).unwrap();
        let sql = "SELECT id FROM t WHERE grp = ? AND day BETWEEN ? AND ? FOR UPDATE";
        let prepared = conn.prep(sql).unwrap();
        Locks { conn, other, prepared }
    }

    /// How many rows of the table a read by these values locks.
    fn of(&mut self, is_prepared: bool, low: u32, high: u32) -> u32 {
        self.conn.query_drop("BEGIN").unwrap();
        let found: Vec<u32> = if is_prepared {
            self.conn.exec(&self.prepared, (3, low, high)).unwrap()
        } else {
            let sql = format!("SELECT id FROM t WHERE grp = 3 AND day BETWEEN {low} AND {high} FOR UPDATE");
            self.conn.query(sql).unwrap()
        };
        let expected = (low..=high.min(ROWS - 1)).filter(|n| n * 7 % 40 == 3).count();
        assert_eq!(found.len(), expected, "{low} to {high}");
        let free: Vec<u32> = self.other.query("SELECT id FROM t FOR UPDATE SKIP LOCKED").unwrap();
        self.conn.query_drop("COMMIT").unwrap();
        ROWS - free.len() as u32
    }
}

#[test]
fn a_plan_serves_only_values_for_which_no_other_path_is_far_cheaper() {
    let (server, mut conn) = start();
    conn.query_drop("ANALYZE TABLE t").unwrap();
    for is_prepared in [false, true] {
        let mut locks = Locks::new(&server);
        for _ in 0..3 {
            // By day: 11 rows. By grp: 200.
            for low in [500, 20, 4_000] {
                assert_eq!(locks.of(is_prepared, low, low + 10), 11, "prepared: {is_prepared}");
            }
            assert_eq!(locks.of(is_prepared, 5, 7_000), 200, "prepared: {is_prepared}");
        }
        // The next ones are wide for so long that their plan becomes the one that is kept, and is given up
        // again.
        for _ in 0..20 {
            assert_eq!(locks.of(is_prepared, 7, 7_000), 200, "prepared: {is_prepared}");
        }
        assert_eq!(locks.of(is_prepared, 6_000, 6_010), 11, "prepared: {is_prepared}");
    }
}

/// Rows that the session's statements have read.
fn examined(conn: &mut Conn) -> u64 {
    let row: (String, u64) =
        conn.query_first("SHOW SESSION STATUS LIKE 'Ratchet_rows_examined'").unwrap().unwrap();
    row.1
}

#[test]
fn the_limit_on_dives_decides_whether_lists_are_estimated_by_averages() {
    let (_server, mut conn) = start();
    let list = |count: usize| {
        let others: Vec<String> = (1..count).map(|n| format!("'none {n}'")).collect();
        format!("state IN ('rare', {}) AND grp = 9", others.join(", "))
    };
    for (limit, count, path) in [
        ("DEFAULT", 3, "using state "),
        ("4", 3, "using state "),
        ("3", 3, "using grp "),
        ("1", 3, "using grp "),
        ("0", 3, "using state "),
        // Longer lists are estimated by averages unless dives are wanted for all.
        ("DEFAULT", 60, "using grp "),
        ("0", 60, "using state "),
        ("60", 60, "using grp "),
    ] {
        conn.query_drop(format!("SET eq_range_index_dive_limit = {limit}")).unwrap();
        let plan = plan(&mut conn, &list(count));
        assert!(plan.contains(path), "{count} values with limit {limit}: not {path}\n{plan}");
    }
    // Plans made under one limit do not serve under another.
    let read = format!("SELECT c FROM t WHERE {}", list(3));
    for _ in 0..2 {
        for (limit, rows) in [("3", 200), ("200", 8)] {
            conn.query_drop(format!("SET eq_range_index_dive_limit = {limit}")).unwrap();
            let before = examined(&mut conn);
            assert_eq!(conn.query::<String, _>(&read).unwrap().len(), 8);
            assert_eq!(examined(&mut conn) - before, rows, "limit {limit}");
        }
    }
}

#[test]
fn reads_that_lock_keep_to_keys_where_these_leave_out_most_rows() {
    let (server, mut conn) = start();
    let mut other = Target { port: server.port, user: "root".to_owned() }.connect(Some("d")).unwrap();
    conn.query_drop("CREATE TABLE copied (c VARCHAR(40))").unwrap();
    let (some, most) = ("SELECT c FROM t WHERE day > 6500", "SELECT c FROM t WHERE day > 500");
    let copy = |read: &str| format!("INSERT INTO copied {read}");
    for (level, path_of_read, path_of_copy) in [
        ("READ COMMITTED", "Table scan", "Table scan"),
        ("REPEATABLE READ", "Table scan", "using day "),
        ("SERIALIZABLE", "using day ", "using day "),
    ] {
        conn.query_drop(format!("SET SESSION TRANSACTION ISOLATION LEVEL {level}")).unwrap();
        for (sql, path) in [
            (some.to_owned(), path_of_read),
            (copy(some), path_of_copy),
            (most.to_owned(), "Table scan"),
            (copy(most), "Table scan"),
        ] {
            let plan: String = conn.query_first(format!("EXPLAIN FORMAT=TREE {sql}")).unwrap().unwrap();
            assert!(plan.contains(path), "{level}: {sql}: not {path}\n{plan}");
        }
    }
    // The rows left out are free, also where the plan was made by another session.
    for (level, sql) in [("SERIALIZABLE", some.to_owned()), ("REPEATABLE READ", copy(some))] {
        for _ in 0..2 {
            conn.query_drop(format!("SET SESSION TRANSACTION ISOLATION LEVEL {level}")).unwrap();
            conn.query_drop("BEGIN").unwrap();
            conn.query_drop(&sql).unwrap();
            let free: Vec<u32> = other.query("SELECT id FROM t FOR UPDATE SKIP LOCKED").unwrap();
            assert_eq!(free.len(), 6_501, "{level}: {sql}");
            conn.query_drop("ROLLBACK").unwrap();
        }
    }
}

/// The columns of the table for the comparison.
const COLUMNS: [Column; 5] = [
    ("a", "INT", Kind::Integer),
    ("b", "SMALLINT", Kind::Integer),
    ("c", "VARCHAR(8) COLLATE utf8mb4_0900_ai_ci", Kind::Text),
    ("e", "DECIMAL(5,1)", Kind::Number),
    ("d", "DATETIME", Kind::Time),
];

#[test]
fn what_dives_choose_finds_what_a_scan_finds() {
    let seed = 20_261_125;
    let mut dice = Dice::new(seed);
    let server = TestServer::start(Path::new(env!("CARGO_BIN_EXE_ratchetd")), &[]).unwrap();
    let mut conn = Target { port: server.port, user: "root".to_owned() }.connect(None).unwrap();
    let columns: String = COLUMNS.iter().map(|(name, ty, _)| format!("{name} {ty}, ")).collect();
    for sql in [
        "CREATE DATABASE d".to_owned(),
        "USE d".to_owned(),
        format!("CREATE TABLE scanned ({columns} n INT PRIMARY KEY, z INT NOT NULL DEFAULT 0)"),
        format!(
            "CREATE TABLE indexed ({columns} n INT PRIMARY KEY, z INT NOT NULL DEFAULT 0, \
             KEY ab (a, b), KEY b (b DESC), KEY ca (c, a), KEY e (e), KEY dc (d DESC, c))"
        ),
    ] {
        conn.query_drop(sql).unwrap();
    }
    for from in [0, 2_000, 4_000] {
        let row = |n| format!("({}{n}, 0)", dice.cells(&COLUMNS));
        let rows: Vec<String> = (from..from + 2_000).map(row).collect();
        conn.query_drop(format!("INSERT INTO scanned VALUES {}", rows.join(", "))).unwrap();
    }
    conn.query_drop("INSERT INTO indexed SELECT * FROM scanned").unwrap();
    let (mut by_index, mut by_scan) = (0, 0);
    for at in 0..of_build(250, 1_500) {
        let condition = dice.condition(&COLUMNS, 3);
        let read = |table: &str| format!("SELECT n + z FROM {table} WHERE {condition}");
        let mut numbers = |table: &str| {
            let mut rows: Vec<i64> = conn.query(read(table)).unwrap();
            rows.sort_unstable();
            rows
        };
        let expected = numbers("scanned");
        assert_eq!(numbers("indexed"), expected, "seed {seed}, the {at}th: {condition}");
        let plan: String =
            conn.query_first(format!("EXPLAIN FORMAT=TREE {}", read("indexed"))).unwrap().unwrap();
        by_index += u32::from(plan.contains(" using "));
        by_scan += u32::from(plan.contains("Table scan on indexed"));
    }
    assert!(by_index > 40 && by_scan > 40, "{by_index} by an index, {by_scan} by a scan");
}
