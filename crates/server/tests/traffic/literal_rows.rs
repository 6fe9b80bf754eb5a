//! INSERTs of many rows of literals, whose rows are read without parsing them, beside the same statements
//! with an expression in their first row, which are parsed.

#![allow(clippy::unwrap_used, reason = "test code")]

use std::fmt::Write as _;

use base::prng::Prng;
use mysql::prelude::Queryable;
use mysql::{Conn, Row, Value};
use testkit::runner::Target;

use crate::support::TestServer;

const COLUMNS: &str = "id INT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, n INT NOT NULL, t TINYINT UNSIGNED, \
    v VARCHAR(12), c CHAR(5) NOT NULL, d DECIMAL(8,2), f DOUBLE, day DATE, at DATETIME(3), h TIME, y YEAR, \
    e ENUM('a', 'b', 'it''s'), b BIT(10), x TEXT, w BLOB, z INT NOT NULL DEFAULT 7, UNIQUE KEY v (v, n)";
/// Columns that get values, `z` does not.
const NAMES: &str = "id, n, t, v, c, d, f, day, at, h, y, e, b, x, w";
const ROWS: usize = 400;

/// What a cell of the column may be. The first ones are ordinary.
fn cell(column: usize, row: usize, prng: &mut Prng, wild: u64) -> String {
    let numbers =
        ["0", "1", "-1", "200", "70000", "-2147483648", "2147483648", "1.5", "-0.5", "1e2", "-1.25e-3"];
    let numbers = numbers.iter().chain(&[
        "9223372036854775807",
        "007",
        "12.",
        ".5",
        "'12'",
        "' 3 '",
        "'x'",
        "''",
        "NULL",
        "TRUE",
        "false",
        "DEFAULT",
        "0x21",
        "x''",
        "0xffffffffffffffffff",
        "b'1000'",
        "_binary '5'",
        "_binary 0x07",
    ]);
    let texts = [
        "'abc'",
        "''",
        "'it''s'",
        r"'a\nb\\'",
        r"'\''",
        "\"dq\"",
        "'ends '",
        "'größe'",
        "'日本'",
        "5",
        "NULL",
        "DEFAULT",
        "0x4142C3A4",
        "X'00ff27'",
        "b'0100000101000010'",
        r"_binary 'a\0\'\\'",
        "_BINARY'abc'",
        "_binary x'414243'",
    ];
    let days = [
        "'2020-02-29'",
        "'2021-02-29'",
        "'2020-1-2'",
        "20200102",
        "'0000-00-00'",
        "'2020-01-02 03:04:05'",
        "'nope'",
        "NULL",
        "0x323032302D30322D3039",
        "_binary '2020-02-09'",
        "DEFAULT",
    ];
    let pick = |list: &[&str], prng: &mut Prng| list[prng.below(list.len() as u64) as usize].to_owned();
    let is_wild = prng.below(1000) < wild;
    if is_wild {
        let mut all: Vec<&str> = numbers.copied().collect();
        all.extend(texts);
        all.extend(days);
        return pick(&all, prng);
    }
    match column {
        0 => (row + 1).to_string(),
        1 => (prng.below(2000) as i64 - 1000).to_string(),
        2 => prng.below(256).to_string(),
        3 => format!("'v{row}'"),
        4 => pick(&["'abc'", "'it''s'", r"'a\tb'", "''"], prng),
        5 => format!("{}.{:02}", prng.below(1000) as i64 - 500, prng.below(100)),
        6 => pick(&["1.5", "-2e3", "0", "3.25E-2"], prng),
        7 => format!("'20{:02}-0{}-1{}'", prng.below(100), 1 + prng.below(9), prng.below(10)),
        8 => pick(&["'2020-01-02 03:04:05.678'", "'1999-12-31 23:59:59'", "NULL"], prng),
        9 => pick(&["'10:20:30'", "'-1:02:03'", "NULL"], prng),
        10 => pick(&["2020", "'1999'", "0", "NULL"], prng),
        11 => pick(&["'a'", "'it''s'", "2", "NULL"], prng),
        12 => pick(&["1", "1023", "NULL", "b'101'", r"_binary '\0'", "0x03FF", "TRUE"], prng),
        _ => pick(&texts, prng),
    }
}

/// `INSERT .. VALUES` with rows for both ways: the text without its first cell, which begins it.
fn rows(prng: &mut Prng, wild: u64, generated: bool) -> (String, String) {
    let separators = [",", ", ", " ,\n", ", /* x */ "];
    let mut text = String::new();
    let mut first = String::new();
    for row in 0..ROWS {
        let between = separators[prng.below(separators.len() as u64) as usize];
        if row > 0 {
            write!(text, "{between}(").unwrap();
        }
        for column in 0..NAMES.split(',').count() {
            let cell = match column {
                0 if generated => "NULL".to_owned(),
                _ => cell(column, row, prng, wild),
            };
            if row == 0 && column == 0 {
                first = cell;
                continue;
            }
            if column > 0 {
                text.push_str(if prng.below(4) == 0 { " , " } else { "," });
            }
            text.push_str(&cell);
        }
        text.push(')');
    }
    (first, text)
}

/// Affected rows, the insert id and the message of a statement, or its error.
type Answer = Result<(u64, u64, String), String>;

/// All that a client sees of a statement, its warnings too.
fn seen(conn: &mut Conn, sql: &str) -> (Answer, Vec<Row>) {
    let result = match conn.query_iter(sql) {
        Ok(result) => {
            Ok((result.affected_rows(), result.last_insert_id().unwrap_or(0), result.info_str().into_owned()))
        }
        Err(error) => Err(error.to_string()),
    };
    (result, conn.query("SHOW WARNINGS").unwrap())
}

fn unparsed(conn: &mut Conn) -> u64 {
    let row: Option<(String, u64)> = conn.query_first("SHOW STATUS LIKE 'Ratchet_unparsed_inserts'").unwrap();
    row.unwrap().1
}

/// The table's rows and its next AUTO_INCREMENT number.
fn table(conn: &mut Conn, name: &str) -> (Vec<Vec<Value>>, u64) {
    let rows: Vec<Row> = conn.query(format!("SELECT * FROM {name} ORDER BY id")).unwrap();
    let rows = rows.into_iter().map(Row::unwrap).collect();
    let status: Option<Row> = conn.query_first(format!("SHOW TABLE STATUS LIKE '{name}'")).unwrap();
    (rows, status.unwrap().get("Auto_increment").unwrap())
}

#[test]
fn rows_that_are_not_parsed_are_inserted_as_parsed_ones() {
    let server = TestServer::start(&["--innodb-flush-log-at-trx-commit=2"]);
    let target = Target { port: server.port, user: "root".to_owned() };
    let mut conn = target.connect(None).unwrap();
    for sql in ["CREATE DATABASE d", "USE d", "SET max_error_count = 1000"] {
        conn.query_drop(sql).unwrap();
    }
    for name in ["one", "other"] {
        conn.query_drop(format!("CREATE TABLE {name} ({COLUMNS})")).unwrap();
    }
    let mut prng = Prng::new(11);
    let (mut failed, mut warned) = (0, 0);
    for round in 0..60 {
        let mode =
            ["'STRICT_TRANS_TABLES'", "''", "'STRICT_TRANS_TABLES,NO_BACKSLASH_ESCAPES'", "'ANSI_QUOTES'"]
                [round % 4];
        conn.query_drop(format!("SET sql_mode = {mode}")).unwrap();
        let verb = ["INSERT", "INSERT IGNORE", "REPLACE", "INSERT LOW_PRIORITY"][round / 4 % 4];
        let wild = [0, 0, 1, 20][prng.below(4) as usize];
        let (first, text) = rows(&mut prng, wild, round % 5 == 0);
        let before = unparsed(&mut conn);
        let statement =
            |name: &str, first: &str| format!("{verb} INTO {name} ({NAMES}) VALUES ({first}{text}");
        let one = seen(&mut conn, &statement("one", &first));
        // Quoted texts are names under ANSI_QUOTES, and NO_BACKSLASH_ESCAPES ends some elsewhere.
        let is_syntax = one.0.as_ref().is_err_and(|error| error.contains("1064") || error.contains("1054"));
        let other = seen(&mut conn, &statement("other", &format!("({first})")));
        if is_syntax {
            assert!(other.0.is_err());
        } else {
            assert_eq!(unparsed(&mut conn), before + 1, "round {round}: {one:?}");
            let named = |text: String| text.replace("'other.", "'one.").replace("`other`", "`one`");
            assert_eq!(one.0, other.0.map_err(named), "round {round}");
            assert_eq!(format!("{:?}", one.1), named(format!("{:?}", other.1)), "round {round}");
        }
        assert_eq!(table(&mut conn, "one"), table(&mut conn, "other"), "round {round}");
        failed += usize::from(one.0.is_err() && !is_syntax);
        warned += usize::from(!one.1.is_empty());
        if round % 7 == 6 {
            for name in ["one", "other"] {
                conn.query_drop(format!("TRUNCATE {name}")).unwrap();
            }
        }
    }
    assert!(failed > 3 && warned > 10, "{failed} statements failed, {warned} warned");
}

#[test]
fn defaults_that_are_expressions_are_computed_for_each_row() {
    let server = TestServer::start(&["--innodb-flush-log-at-trx-commit=2"]);
    let target = Target { port: server.port, user: "root".to_owned() };
    let mut conn = target.connect(None).unwrap();
    for sql in ["CREATE DATABASE d", "USE d", "CREATE TABLE t (a INT PRIMARY KEY, b INT DEFAULT (a + 1))"] {
        conn.query_drop(sql).unwrap();
    }
    let row =
        |n: u32| if n.is_multiple_of(2) { format!("({n},DEFAULT)") } else { format!("({n},{})", n + 1) };
    let rows: Vec<String> = (0..5_000).map(row).collect();
    conn.query_drop(format!("INSERT INTO t VALUES {}", rows.join(","))).unwrap();
    let wrong: Option<u64> = conn.query_first("SELECT COUNT(*) FROM t WHERE b <> a + 1").unwrap();
    let all: Option<u64> = conn.query_first("SELECT COUNT(*) FROM t").unwrap();
    assert_eq!((all, wrong), (Some(5_000), Some(0)));
}

#[test]
fn what_is_wrong_behind_many_rows_is_said_and_nothing_is_inserted() {
    let server = TestServer::start(&["--innodb-flush-log-at-trx-commit=2"]);
    let target = Target { port: server.port, user: "root".to_owned() };
    let mut conn = target.connect(None).unwrap();
    for sql in ["CREATE DATABASE d", "USE d", "CREATE TABLE t (a INT PRIMARY KEY, b INT)"] {
        conn.query_drop(sql).unwrap();
    }
    let rows: Vec<String> = (0..5_000).map(|n| format!("({n},{n})")).collect();
    let rows = rows.join(",");
    let before = unparsed(&mut conn);
    for (end, code) in [
        (",(1,2,3)", 1136),
        (",(5001)", 1136),
        (",(5001,x)", 1054),
        (",(5001,5)x", 1064),
        (",(5001,5", 1064),
        (",", 1064),
        (" FROM", 1064),
        (",(5001,'5", 1064),
    ] {
        let failed = conn.query_drop(format!("INSERT INTO t VALUES {rows}{end}")).unwrap_err();
        let mysql::Error::MySqlError(error) = failed else { panic!("{failed}") };
        assert_eq!(error.code, code, "{end}");
        let count: Option<u64> = conn.query_first("SELECT COUNT(*) FROM t").unwrap();
        assert_eq!(count, Some(0), "{end}");
    }
    assert_eq!(unparsed(&mut conn), before);
    for (table, code) in [("missing", 1146), ("t (a)", 1136), ("t (a, c)", 1054), ("t (a, a)", 1110)] {
        let failed = conn.query_drop(format!("INSERT INTO {table} VALUES {rows}")).unwrap_err();
        let mysql::Error::MySqlError(error) = failed else { panic!("{failed}") };
        assert_eq!(error.code, code, "{table}");
    }
    assert_eq!(unparsed(&mut conn), before);
    for end in ["", ";", " ; \n", " /* end */", " -- end"] {
        conn.query_drop(format!("INSERT INTO t VALUES {rows}{end}")).unwrap();
        assert_eq!(conn.affected_rows(), 5_000, "{end}");
        conn.query_drop("TRUNCATE t").unwrap();
    }
    assert_eq!(unparsed(&mut conn), before + 5);
    // A clash takes all rows back.
    conn.query_drop("INSERT INTO t VALUES (4321, 0)").unwrap();
    let failed = conn.query_drop(format!("INSERT INTO t VALUES {rows}")).unwrap_err();
    assert!(failed.to_string().contains("Duplicate entry '4321' for key 't.PRIMARY'"), "{failed}");
    let count: Option<u64> = conn.query_first("SELECT COUNT(*) FROM t").unwrap();
    assert_eq!(count, Some(1));
}
