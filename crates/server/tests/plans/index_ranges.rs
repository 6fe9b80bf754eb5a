//! Conditions of every form over indexes of every form: what is found by ranges of an index is what a scan
//! finds, in plain and in locking reads.

#![allow(clippy::unwrap_used, reason = "test code")]

use std::path::Path;

use mysql::Conn;
use mysql::prelude::Queryable;
use testkit::conditions::{Column, Dice, Kind};
use testkit::runner::Target;
use testkit::server::{TestServer, of_build};

/// Conditions that are tried; `RATCHET_INDEX_RANGES` asks for another number.
fn conditions() -> u64 {
    of_build(2000, 8000)
}

/// The columns but the last, the row's number.
const COLUMNS: [Column; 10] = [
    ("a", "INT", Kind::Integer),
    ("b", "SMALLINT", Kind::Integer),
    ("u", "INT UNSIGNED NOT NULL", Kind::Integer),
    ("c", "VARCHAR(8) COLLATE utf8mb4_0900_ai_ci", Kind::Text),
    ("p", "CHAR(6) COLLATE utf8mb4_general_ci", Kind::Text),
    ("k", "VARCHAR(8) COLLATE utf8mb4_bin NOT NULL", Kind::Text),
    ("e", "DECIMAL(5,1)", Kind::Number),
    ("f", "DOUBLE", Kind::Number),
    ("d", "DATETIME", Kind::Time),
    ("g", "DATE", Kind::Time),
];

/// The keys, one after another in `USE INDEX`.
const KEYS: [(&str, &str); 14] = [
    ("PRIMARY", "u, b0, n"),
    ("ab", "a, b"),
    ("ba", "b DESC, a"),
    ("abc", "a, b, c DESC"),
    ("ca", "c, a"),
    ("kp", "k(2), a"),
    ("pa", "p, a DESC"),
    ("pp", "p(1)"),
    ("ka", "k, a"),
    ("ef", "e, f"),
    ("fe", "f DESC, e DESC"),
    ("da", "d, a"),
    ("ga", "g DESC, u"),
    ("un", "b, a, n"),
];

/// A server with the rows in `indexed` and, without a key that serves, in `scanned`.
fn start(dice: &mut Dice) -> (TestServer, Conn) {
    let server = TestServer::start(Path::new(env!("CARGO_BIN_EXE_ratchetd")), &[]).unwrap();
    let mut conn = Target { port: server.port, user: "root".to_owned() }.connect(None).unwrap();
    let columns: String = COLUMNS.iter().map(|(name, ty, _)| format!("{name} {ty}, ")).collect();
    let keys: String = KEYS[1..].iter().map(|(name, parts)| format!(", KEY {name} ({parts})")).collect();
    for sql in [
        "CREATE DATABASE d".to_owned(),
        "USE d".to_owned(),
        format!(
            "CREATE TABLE scanned ({columns} b0 INT NOT NULL, n INT PRIMARY KEY, z INT NOT NULL DEFAULT 0)"
        ),
        format!(
            "CREATE TABLE indexed ({columns} b0 INT NOT NULL, n INT, z INT NOT NULL DEFAULT 0, PRIMARY KEY ({}){keys})",
            KEYS[0].1
        ),
    ] {
        conn.query_drop(sql).unwrap();
    }
    let mut rows = Vec::new();
    for n in 0..400 {
        let cells = dice.cells(&COLUMNS);
        rows.push(format!("({cells}{}, {n}, 0)", n % 3));
    }
    conn.query_drop(format!("INSERT INTO scanned VALUES {}", rows.join(", "))).unwrap();
    conn.query_drop("INSERT INTO indexed SELECT * FROM scanned").unwrap();
    (server, conn)
}

fn numbers(conn: &mut Conn, sql: &str) -> Vec<i64> {
    let mut rows: Vec<i64> = conn.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    rows.sort_unstable();
    rows
}

/// Reads the parts of a key in its order, or the other way round.
fn ordered(table: &str, condition: &str, parts: &str, reverse: bool) -> String {
    let (mut shown, mut order) = (Vec::new(), Vec::new());
    for part in parts.split(", ") {
        let column = part.split([' ', '(']).next().unwrap();
        let direction = if part.ends_with(" DESC") == reverse { "ASC" } else { "DESC" };
        shown.push(format!("IFNULL({column}, '-')"));
        order.push(format!("{column} {direction}"));
    }
    let (shown, order) = (shown.join(", "), order.join(", "));
    format!("SELECT CONCAT_WS('|', {shown}) FROM {table} WHERE {condition} ORDER BY {order}")
}

/// A text that is longer than the column still has its place among the column's values: letters that weigh as
/// much as two, and characters that weigh nothing, make shorter texts equal to it or greater than its
/// beginning.
#[test]
fn texts_longer_than_their_column_find_what_a_scan_finds() {
    let (_server, mut conn) = start(&mut Dice::new(1));
    for sql in [
        "CREATE TABLE short (c VARCHAR(4) COLLATE utf8mb4_0900_ai_ci, p CHAR(4) COLLATE utf8mb4_general_ci, KEY (c), KEY (p))",
        "INSERT INTO short VALUES ('ßßßß', 'ab'), ('ssss', 'abcd'), ('abab', 'abce'), ('abac', 'z'), ('\u{1}ab', 'ss'), (NULL, NULL)",
    ] {
        conn.query_drop(sql).unwrap();
    }
    let mut found = 0;
    for text in
        ["ssssssss", "ss\u{1}ssssss", "sssssssst", "\u{1}\u{1}\u{1}abab", "abab  ", "abcd\u{1}", "abcdd"]
    {
        for (column, op) in
            ["c", "p"].into_iter().flat_map(|c| ["=", "<", "<=", ">", ">=", "<=>"].map(|op| (c, op)))
        {
            let read = |hint: &str| {
                format!(
                    "SELECT HEX({column}) FROM short {hint} INDEX ({column}) WHERE {column} {op} '{text}'"
                )
            };
            let mut rows = |hint: &str| {
                let mut rows: Vec<String> = conn.query(read(hint)).unwrap();
                rows.sort_unstable();
                rows
            };
            let scanned = rows("IGNORE");
            assert_eq!(rows("FORCE"), scanned, "{column} {op} {text:?}");
            found += scanned.len();
        }
    }
    assert!(found > 100, "{found} rows");
}

#[test]
fn ranges_of_an_index_are_what_a_scan_finds() {
    let seed = 20_261_124;
    let mut dice = Dice::new(seed);
    let (_server, mut conn) = start(&mut dice);
    let asked = std::env::var("RATCHET_INDEX_RANGES").ok().map(|count| count.parse().unwrap());
    let (mut by_ranges, mut by_entries, mut found_rows) = (0, 0, 0);
    let count = asked.unwrap_or(conditions());
    for at in 0..count {
        let (key, parts) = *dice.pick(&KEYS);
        let columns = dice.columns_for(parts, &COLUMNS);
        let condition = dice.condition(&columns, 3);
        let what = format!("seed {seed}, the {at}th: USE INDEX ({key}) WHERE {condition}");
        let expected = numbers(&mut conn, &format!("SELECT n FROM scanned WHERE {condition}"));
        // No key has the column z: entries are tested before their rows are read.
        let shown = if at % 2 == 0 { "n + z" } else { "n" };
        let read = format!("SELECT {shown} FROM indexed USE INDEX ({key}) WHERE {condition}");
        assert_eq!(numbers(&mut conn, &read), expected, "{what}");
        if at % 4 == 0 {
            conn.query_drop("BEGIN").unwrap();
            assert_eq!(numbers(&mut conn, &format!("{read} FOR UPDATE")), expected, "locking, {what}");
            conn.query_drop("ROLLBACK").unwrap();
            let plan: Vec<String> = conn.query(format!("EXPLAIN FORMAT=TREE {read}")).unwrap();
            by_ranges += u64::from(plan[0].contains("range scan on indexed"));
            by_entries += u64::from(plan[0].contains("with index condition"));
        }
        if at % 4 == 1 && columns.iter().all(|(.., kind)| *kind != Kind::Text) {
            let reverse = dice.one_in(2);
            let ordered = |table: &str| ordered(table, &condition, parts, reverse);
            let expected: Vec<String> = conn.query(ordered("scanned")).unwrap();
            let found: Vec<String> = conn.query(ordered(&format!("indexed USE INDEX ({key})"))).unwrap();
            assert_eq!(found, expected, "ordered, {what}");
        }
        found_rows += expected.len();
    }
    // Most conditions leave a range of the key, and rows.
    assert!(by_ranges * 4 > count / 4, "{by_ranges} of {} by ranges", count / 4);
    assert!(by_entries * 20 > count / 4, "{by_entries} of {} with a condition on entries", count / 4);
    assert!(found_rows as u64 > count * 20, "{found_rows} rows");
}

/// Entries of a secondary index continue with the clustered key: `u, b0, n`.
#[test]
fn ranges_go_on_in_the_clustered_key_behind_the_declared_parts() {
    let seed = 20_261_127;
    let mut dice = Dice::new(seed);
    let (_server, mut conn) = start(&mut dice);
    let (mut by_tail, mut found_rows) = (0, 0);
    for at in 0..conditions() {
        let (key, parts) = *dice.pick(&KEYS[1..]);
        let is_part = |name: &str| parts.split(", ").any(|part| part.split([' ', '(']).next() == Some(name));
        let mut terms: Vec<String> = COLUMNS
            .iter()
            .filter(|(name, ..)| is_part(name))
            .map(|column| match column {
                (name, _, Kind::Integer) if dice.one_in(2) => format!("{name} IN (1, 2, 5, NULL)"),
                (name, ..) if dice.one_in(4) => format!("{name} IS NULL"),
                column => dice.condition(&[*column], 0),
            })
            .collect();
        terms.push(dice.condition(&COLUMNS[2..3], 0));
        terms.extend(dice.one_in(2).then(|| format!("b0 IN (0, {})", dice.below(3))));
        terms.extend(dice.one_in(2).then(|| format!("n < {}", dice.below(400))));
        let condition = terms.join(" AND ");
        let what = format!("seed {seed}, the {at}th: USE INDEX ({key}) WHERE {condition}");
        let expected = numbers(&mut conn, &format!("SELECT n FROM scanned WHERE {condition}"));
        let shown = if at % 2 == 0 { "n + z" } else { "n" };
        let read = format!("SELECT {shown} FROM indexed USE INDEX ({key}) WHERE {condition}");
        assert_eq!(numbers(&mut conn, &read), expected, "{what}");
        conn.query_drop("BEGIN").unwrap();
        assert_eq!(numbers(&mut conn, &format!("{read} FOR UPDATE")), expected, "locking, {what}");
        conn.query_drop("ROLLBACK").unwrap();
        let plan: String = conn.query_first(format!("EXPLAIN FORMAT=TREE {read}")).unwrap().unwrap();
        let over = plan.split_once(&format!("using {key} ")).map_or("", |(_, rest)| rest);
        let keys = over.split("with index condition").next().unwrap_or_default();
        by_tail += u64::from(!is_part("u") && [" u", "(u", "u="].iter().any(|name| keys.contains(name)));
        found_rows += expected.len() as u64;
    }
    assert!(by_tail * 5 > conditions(), "{by_tail} of {} by parts of the clustered key", conditions());
    assert!(found_rows > conditions(), "{found_rows} rows");
}
