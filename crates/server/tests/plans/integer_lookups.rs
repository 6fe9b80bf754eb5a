//! Integer and DECIMAL columns beside text, doubles and decimals: an index finds what a scan finds, whether
//! the value is in the text or is a parameter.

#![allow(clippy::unwrap_used, reason = "test code")]

use std::path::Path;

use base::prng::Prng;
use mysql::prelude::Queryable;
use mysql::{Conn, Value};
use testkit::runner::Target;
use testkit::server::TestServer;

/// The indexed columns and their types.
const COLUMNS: [(&str, &str); 5] = [
    ("b", "BIGINT NOT NULL"),
    ("ub", "BIGINT UNSIGNED"),
    ("i", "INT"),
    ("us", "SMALLINT UNSIGNED"),
    ("t", "TINYINT"),
];

/// Numbers around which rows and constants lie: bounds of the types, and the first integers that doubles
/// skip.
const CENTRES: [i128; 12] = [
    0,
    127,
    255,
    65_535,
    2_147_483_647,
    9_007_199_254_740_992,
    i64::MAX as i128,
    u64::MAX as i128,
    -128,
    -2_147_483_648,
    -9_007_199_254_740_992,
    i64::MIN as i128,
];

/// A server with the rows in `indexed` and, without a key that serves, in `scanned`.
fn start(seed: u64) -> (TestServer, Conn) {
    let server = TestServer::start(Path::new(env!("CARGO_BIN_EXE_ratchetd")), &[]).unwrap();
    let mut conn = Target { port: server.port, user: "root".to_owned() }.connect(None).unwrap();
    let columns = COLUMNS.map(|(name, ty)| format!("{name} {ty}")).join(", ");
    let keys = COLUMNS.map(|(name, _)| format!("KEY {name} ({name})"))[1..].join(", ");
    for sql in [
        "CREATE DATABASE d".to_owned(),
        "USE d".to_owned(),
        format!("CREATE TABLE scanned (n INT AUTO_INCREMENT PRIMARY KEY, {columns})"),
        format!("CREATE TABLE indexed ({columns}, n INT, PRIMARY KEY (b, n), {keys})"),
        // Values that a type cannot hold become its bounds.
        "SET sql_mode = ''".to_owned(),
    ] {
        conn.query_drop(sql).unwrap();
    }
    let mut prng = Prng::new(seed);
    let mut rows = Vec::new();
    for _ in 0..300 {
        let cells = COLUMNS.map(|_| near(&mut prng).to_string()).join(", ");
        rows.push(format!("({cells})"));
    }
    rows.push("(0, NULL, NULL, NULL, NULL)".to_owned());
    let names = COLUMNS.map(|(name, _)| name).join(", ");
    conn.query_drop(format!("INSERT INTO scanned ({names}) VALUES {}", rows.join(", "))).unwrap();
    conn.query_drop(format!("INSERT INTO indexed ({names}, n) SELECT {names}, n FROM scanned")).unwrap();
    (server, conn)
}

fn near(prng: &mut Prng) -> i128 {
    CENTRES[prng.below(CENTRES.len() as u64) as usize] + i128::from(prng.below(7)) - 3
}

/// A constant: as it is written in a statement, and as it is bound, if drivers have its type.
fn constant(prng: &mut Prng) -> (String, Option<Value>) {
    let number = near(prng);
    let text = match prng.below(12) {
        0 => format!(" {number} "),
        1 => format!("{number}.0"),
        2 => format!("{number}.5"),
        3 => format!("{number}x"),
        4 => format!("{number}e0"),
        5 => format!("{}e1", number / 10),
        6 => String::new(),
        7 => "x".to_owned(),
        8 => return double(number as f64),
        9 => return double(number as f64 + 0.5),
        10 => return (format!("{number}.0"), None),
        _ => number.to_string(),
    };
    (format!("'{text}'"), Some(Value::from(text)))
}

fn double(number: f64) -> (String, Option<Value>) {
    (format!("{number:e}"), Some(Value::Double(number)))
}

/// A condition with `?`, the same with its constants, and the values of the `?`, if all can be bound.
fn condition(prng: &mut Prng) -> (String, String, Option<Vec<Value>>) {
    const OPERATORS: [&str; 7] = ["=", "<", "<=", ">", ">=", "<=>", "<>"];
    let column = COLUMNS[prng.below(COLUMNS.len() as u64) as usize].0;
    let shape = match prng.below(4) {
        0 => format!("{column} BETWEEN ? AND ?"),
        1 => format!("{column} IN (?, ?, ?)"),
        _ => format!("{column} {} ?", OPERATORS[prng.below(7) as usize]),
    };
    let mut written = String::new();
    let mut values = Some(Vec::new());
    for (at, part) in shape.split('?').enumerate() {
        if at > 0 {
            let (text, value) = constant(prng);
            written.push_str(&text);
            values = values.zip(value).map(|(mut values, value)| {
                values.push(value);
                values
            });
        }
        written.push_str(part);
    }
    (shape, written, values)
}

fn rows(result: mysql::Result<Vec<i64>>, of: &str) -> Vec<i64> {
    let mut rows = result.unwrap_or_else(|error| panic!("{of}: {error}"));
    rows.sort_unstable();
    rows
}

#[test]
fn an_index_finds_what_a_scan_finds() {
    let seed = 20_261_120;
    let (_server, mut conn) = start(seed);
    let mut prng = Prng::new(seed ^ 1);
    for _ in 0..1500 {
        let (shape, written, values) = condition(&mut prng);
        let what = format!("seed {seed}: {written}, {shape} with {values:?}");
        let expected = rows(conn.query(format!("SELECT n FROM scanned WHERE (n > 0) AND {written}")), &what);
        let found = rows(conn.query(format!("SELECT n FROM indexed WHERE {written}")), &what);
        assert_eq!(found, expected, "{what}");
        let Some(values) = values else { continue };
        let [scanned, indexed] = ["scanned", "indexed"].map(|table| {
            // A statement keeps the types of the values that it was executed with.
            let prepared = conn.prep(format!("SELECT n FROM {table} WHERE {shape}")).unwrap();
            let found = rows(conn.exec(&prepared, values.clone()), &what);
            conn.close(prepared).unwrap();
            found
        });
        assert_eq!(indexed, scanned, "{what}");
        // A parameter that is no whole number becomes an integer, a constant text a double.
        if !written.contains("x'") {
            assert_eq!(scanned, expected, "{what}");
        }
    }
}

#[test]
fn text_that_is_an_integer_is_that_integer() {
    let (_server, mut conn) = start(1);
    conn.query_drop("CREATE TABLE t (id BIGINT UNSIGNED PRIMARY KEY)").unwrap();
    conn.query_drop(
        "INSERT INTO t VALUES (0), (5), (9007199254740992), (9007199254740993), (18446744073709551615)",
    )
    .unwrap();
    let cases: [(&str, &[u64]); 9] = [
        ("5", &[5]),
        (" 5 ", &[5]),
        ("5.0", &[5]),
        ("5x", &[5]),
        ("5.5", &[]),
        ("", &[0]),
        ("9007199254740993", &[9_007_199_254_740_993]),
        ("18446744073709551616", &[]),
        ("-1", &[]),
    ];
    for (text, expected) in cases {
        let literal: Vec<u64> = conn.query(format!("SELECT id FROM t WHERE id = '{text}'")).unwrap();
        let bound: Vec<u64> = conn.exec("SELECT id FROM t WHERE id = ?", (text,)).unwrap();
        assert_eq!((&literal[..], &bound[..]), (expected, expected), "{text:?}");
    }
}

#[test]
fn a_text_beside_a_decimal_column_keeps_all_its_digits() {
    let (_server, mut conn) = start(3);
    let (long, next) = ("1".repeat(65), format!("{}2", "1".repeat(64)));
    let (tiny, ten_41) = ("0.000000000000000000000000000001", format!("1{}", "0".repeat(41)));
    conn.query_drop(
        "CREATE TABLE t (id INT PRIMARY KEY, w DECIMAL(65,0), f DECIMAL(65,30), KEY (w), KEY (f))",
    )
    .unwrap();
    conn.query_drop(format!("INSERT INTO t VALUES (1, {long}, {tiny}), (2, {ten_41}, 0), (3, 7, 1.5)"))
        .unwrap();
    let cases: [(&str, &str, &[i32]); 10] = [
        ("w =", &long, &[1]),
        ("w =", &next, &[]),
        ("w <", &next, &[1, 2, 3]),
        ("w =", &ten_41, &[2]),
        ("w =", "1e41", &[2]),
        ("w <", "1e100", &[1, 2, 3]),
        ("w =", "7.0", &[3]),
        ("f =", "1e-30", &[1]),
        ("f >", "0.9e-30", &[1, 3]),
        ("f =", "1.5", &[3]),
    ];
    for (compared, text, expected) in cases {
        for condition in [format!("{compared} '{text}'"), format!("0 + {compared} '{text}'")] {
            for sql in [
                format!("SELECT id FROM t WHERE {condition} ORDER BY id"),
                format!(
                    "SELECT id FROM (SELECT id, {condition} AS found FROM t LIMIT 9) s WHERE found ORDER BY id"
                ),
            ] {
                assert_eq!(conn.query::<i32, _>(&sql).unwrap(), expected, "{sql}");
            }
        }
        let sql = format!("SELECT id FROM t WHERE {compared} ? ORDER BY id");
        assert_eq!(conn.exec::<i32, _, _>(&sql, (text,)).unwrap(), expected, "{sql} with {text}");
    }
}

#[test]
fn a_text_parameter_finds_a_row_by_one_lookup() {
    let (_server, mut conn) = start(2);
    conn.query_drop("CREATE TABLE t (id INT PRIMARY KEY, v INT)").unwrap();
    conn.query_drop("INSERT INTO t VALUES (5, 50)").unwrap();
    for value in [Value::from("5"), Value::Double(5.0)] {
        let plan: Vec<String> = conn.exec("EXPLAIN SELECT v FROM t WHERE id = ?", (value,)).unwrap();
        assert_eq!(plan[0].trim_end(), "-> Single-row index lookup on t using PRIMARY (id=?0)");
    }
}
