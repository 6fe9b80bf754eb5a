//! Statements nested to the limits and beyond: an answer or MySQL's error, never a thread out of stack. The
//! server runs as a process of its own, so that a stack overflow is seen as a dead server.

#![allow(clippy::unwrap_used, reason = "test code")]

use std::path::Path;
use std::time::{Duration, Instant};

use mysql::prelude::Queryable;
use mysql::{Conn, OptsBuilder, Value};
use server::connection::STACK_BYTES;
use sql::parser::{HEIGHT_MAX, QUERY_HEIGHT};
use testkit::server::{TestServer, is_released};

/// MySQL's errors for statements that are too deep, or come to too much.
const REFUSALS: [u16; 3] = [1436, 1473, 4169];

fn start() -> TestServer {
    let server = TestServer::start(Path::new(env!("CARGO_BIN_EXE_ratchetd")), &[]).unwrap();
    let mut conn = connect(&server);
    conn.query_drop("CREATE DATABASE d").unwrap();
    conn.query_drop("CREATE TABLE d.t (id INT PRIMARY KEY, v INT NOT NULL)").unwrap();
    conn.query_drop("INSERT INTO d.t VALUES (1, 1)").unwrap();
    server
}

fn connect(server: &TestServer) -> Conn {
    let options = OptsBuilder::new()
        .ip_or_hostname(Some("127.0.0.1"))
        .tcp_port(server.port)
        .user(Some("root"))
        .prefer_socket(false)
        .max_allowed_packet(Some(64 << 20));
    let mut conn = Conn::new(options).unwrap();
    let _ = conn.query_drop("USE d");
    conn
}

/// The first value of the answer, or the number of the error.
fn outcome(result: mysql::Result<Option<mysql::Row>>, sql: &str) -> Result<Option<String>, u16> {
    match result {
        Ok(row) => Ok(row.and_then(|row| row.as_ref(0).map(text))),
        Err(mysql::Error::MySqlError(error)) => Err(error.code),
        Err(error) => panic!("the server is gone after {sql:.300}: {error}"),
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Value::Int(n) => n.to_string(),
        Value::UInt(n) => n.to_string(),
        Value::Double(n) => n.to_string(),
        other => format!("{other:?}"),
    }
}

fn run(conn: &mut Conn, sql: &str) -> Result<Option<String>, u16> {
    let result = conn.query_first(sql);
    outcome(result, sql)
}

/// As [`run`], by COM_STMT_PREPARE and COM_STMT_EXECUTE.
fn run_prepared(conn: &mut Conn, sql: &str) -> Result<Option<String>, u16> {
    let result = conn.prep(sql).and_then(|statement| {
        let row = conn.exec_first(&statement, ());
        conn.close(statement)?;
        row
    });
    outcome(result, sql)
}

/// As [`run`], by PREPARE and EXECUTE.
fn run_named(conn: &mut Conn, sql: &str) -> Result<Option<String>, u16> {
    let quoted = sql.replace('\\', "\\\\").replace('\'', "''");
    let result = conn
        .query_drop(format!("PREPARE named FROM '{quoted}'"))
        .and_then(|()| conn.query_first("EXECUTE named"));
    outcome(result, sql)
}

/// What surrounds an expression whose value is 1, so that its value is 1 again.
const FORMS: [(&str, &str); 45] = [
    ("(", ")"),
    ("", "+0"),
    ("", "-0"),
    ("0+(", ")"),
    ("1*", ""),
    ("(", " DIV 1)"),
    ("", "|0"),
    ("- - ", ""),
    ("~ ~ ", ""),
    ("(NOT NOT ", ")"),
    ("! ! ", ""),
    ("BINARY ", ""),
    ("(", " COLLATE utf8mb4_bin)"),
    ("(", "=1)"),
    ("(1<=>", ")"),
    ("(", " AND 1)"),
    ("(0 OR ", ")"),
    ("(", " XOR 0)"),
    ("(", " IS TRUE)"),
    ("(", " IS NOT NULL)"),
    ("(", " BETWEEN 1 AND 1)"),
    ("(", " IN (1,2))"),
    ("(1 IN (0,", "))"),
    ("(", " LIKE '1')"),
    ("((", ",1)=(1,1))"),
    ("((1,", ")<(1,2))"),
    ("ABS(", ")"),
    ("CONCAT(", ",'')"),
    ("REPLACE(", ",'b','c')"),
    ("GREATEST(", ",0)"),
    ("IFNULL(", ",0)"),
    ("NULLIF(", ",7)"),
    ("IF(1,", ",0)"),
    ("CASE WHEN 1 THEN ", " END"),
    ("CASE ", " WHEN 1 THEN 1 END"),
    ("CAST(", " AS SIGNED)"),
    ("(@a:=", ")"),
    ("DAY('2020-01-01' + INTERVAL ((", ")-1) DAY)"),
    ("(SELECT ", ")"),
    ("EXISTS(SELECT 1 FROM t WHERE ", ")"),
    ("(1 IN (SELECT ", "))"),
    ("(SELECT a FROM (SELECT ", " a) d)"),
    ("(SELECT ", " UNION SELECT 1)"),
    ("(WITH c AS (SELECT ", " a) SELECT a FROM c)"),
    ("(SELECT x.v FROM t x JOIN t y ON x.id=", " GROUP BY x.v HAVING x.v=1 ORDER BY x.v+1 LIMIT 1)"),
];

/// Statements around an expression, and whether their answer is its value.
const PLACES: [(&str, &str, bool); 15] = [
    ("SELECT ", "", true),
    ("SELECT v FROM t WHERE ", "", true),
    ("SELECT v FROM t GROUP BY v HAVING ", "", true),
    ("SELECT v FROM t ORDER BY ", "", true),
    ("SELECT SUM(", ") FROM t", true),
    ("SELECT x.v FROM t x LEFT JOIN t y ON x.id=", " LIMIT 1", true),
    ("SELECT v FROM t GROUP BY v,", "", true),
    ("SELECT MAX(a) FROM (SELECT DISTINCT ", " a FROM t) d WHERE a=1", true),
    ("UPDATE t SET v=", "", false),
    ("INSERT INTO t VALUES (1,1) ON DUPLICATE KEY UPDATE v=", "", false),
    ("REPLACE INTO t VALUES (1,", ")", false),
    ("SET @x=", "", false),
    ("DO ", "", false),
    ("EXPLAIN FORMAT=TREE SELECT * FROM t WHERE ", "", false),
    ("SHOW DATABASES WHERE 'd'=`Database` AND ", "", false),
];

fn nested(forms: &[(&str, &str)], levels: usize) -> String {
    let open: String = forms.iter().map(|form| form.0).collect();
    let close: String = forms.iter().rev().map(|form| form.1).collect();
    format!("{}1{}", open.repeat(levels), close.repeat(levels))
}

/// What became of a statement.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    run: usize,
    /// With one of [`REFUSALS`].
    refused: usize,
    /// The place, or the other form, does not take the form: no subquery, no use of the table, no COLLATE of
    /// bytes.
    misplaced: usize,
}

/// Runs `expression` in one of the places, in one of the ways of running a statement.
fn try_one(conn: &mut Conn, expression: &str, number: usize, counts: &mut Counts) {
    let (before, after, is_value) = PLACES[number % PLACES.len()];
    let sql = format!("{before}{expression}{after}");
    let answer = match number % 4 {
        0 => run_prepared(conn, &sql),
        2 if is_value => run_named(conn, &sql),
        _ => run(conn, &sql),
    };
    counts.run += 1;
    match answer {
        Ok(Some(answer)) if is_value => {
            assert!(matches!(answer.parse(), Ok(1.0)), "{answer} is not the answer of {sql:.700}");
        }
        Ok(None) if is_value => panic!("no answer to {sql:.300}"),
        Ok(_) => {}
        Err(1093 | 1235 | 1253 | 1295) => counts.misplaced += 1,
        // SHOW has no rows in its conditions.
        Err(1241) if before.starts_with("SHOW") => counts.misplaced += 1,
        Err(code) => {
            assert!(REFUSALS.contains(&code), "error {code} of {sql:.300}");
            counts.refused += 1;
        }
    }
}

/// Bytes of the largest touched stack among the server's connections.
fn touched_stack(server: &TestServer) -> usize {
    let maps = std::fs::read_to_string(format!("/proc/{}/smaps", server.pid())).unwrap();
    let number = |line: &str| line.split_whitespace().nth(1).and_then(|n| n.parse::<usize>().ok()).unwrap();
    let (mut size, mut touched) = (0, 0);
    for line in maps.lines() {
        if line.starts_with("Size:") {
            size = number(line) << 10;
        } else if line.starts_with("Rss:") && size.abs_diff(stack_bytes()) <= 64 << 10 {
            touched = touched.max(number(line) << 10);
        }
    }
    touched
}

/// Size of a connection's stack: with debug assertions, which this test may have, it is four times that of
/// the released server (`server::stack`).
fn stack_bytes() -> usize {
    if cfg!(debug_assertions) && is_released() { STACK_BYTES / 4 } else { STACK_BYTES }
}

/// Runs the statements `from`, `from + step`, .. of the generated set on one connection.
fn run_set(server: &TestServer, from: usize, step: usize) -> Counts {
    let mut conn = connect(server);
    let (mut number, mut counts) = (0, Counts::default());
    let mut next = |forms: &[(&str, &str)], levels: usize| {
        if number % step == from {
            try_one(&mut conn, &nested(forms, levels), number / step, &mut counts);
        }
        number += 1;
    };
    for (at, first) in FORMS.iter().enumerate() {
        for levels in [1, 8, 31, 61, 64, 248, 332, 499, 660, 990, 1001, 1970, 2001] {
            next(&[*first], levels);
        }
        for (other, second) in FORMS.iter().enumerate().filter(|(other, _)| *other != at) {
            next(&[*first, *second], if (at + other) % 2 == 0 { 240 } else { 15 });
        }
    }
    // The connection still works, and its stack was not used up.
    assert_eq!(point_read(&mut conn), Ok(Some("1".to_owned())));
    let touched = touched_stack(server);
    let size = stack_bytes();
    assert!(touched > 0 && touched < size / 4 * 3, "{touched} of {size} bytes of stack");
    counts
}

fn point_read(conn: &mut Conn) -> Result<Option<String>, u16> {
    run(conn, "SELECT v FROM t WHERE id = 1")
}

#[test]
fn every_form_of_nesting_and_every_pair_of_forms_is_answered_or_refused() {
    let mut server = start();
    let counts = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..2)
            .map(|at| {
                scope.spawn({
                    let server = &server;
                    move || run_set(server, at, 2)
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    });
    let sum = |part: fn(&Counts) -> usize| counts.iter().map(part).sum::<usize>();
    let (run, refused, misplaced) = (sum(|c| c.run), sum(|c| c.refused), sum(|c| c.misplaced));
    assert!(run >= 2_000, "{run} statements");
    assert!((run / 10..run / 10 * 7).contains(&refused), "{refused} of {run} statements were refused");
    assert!(misplaced < run / 4, "{misplaced} of {run} statements have a form that does not fit its place");
    // Cached and prepared plans are dropped.
    server.shut_down().unwrap();
}

#[test]
fn defaults_of_any_depth_are_kept_and_computed_or_refused() {
    let mut server = start();
    let mut conn = connect(&server);
    let (mut kept, mut refused) = (0, 0);
    for form in FORMS {
        for levels in [1, 8, 64, 332, 499, 990, 1001, 1970, 2001] {
            let expression = nested(&[form], levels);
            let create = format!("CREATE TABLE c (a INT, b VARCHAR(20) DEFAULT ({expression}))");
            match run(&mut conn, &create) {
                Ok(_) => {
                    kept += 1;
                    assert_eq!(run(&mut conn, "INSERT INTO c (a) VALUES (1)"), Ok(None), "{create:.300}");
                    let add = "ALTER TABLE c ADD d INT DEFAULT (b), ALTER a SET DEFAULT (7)";
                    assert_eq!(run(&mut conn, add), Ok(None), "{create:.300}");
                    let value = run(&mut conn, "SELECT b + d - 1 FROM c");
                    assert_eq!(value, Ok(Some("1".to_owned())), "{create:.300}");
                    assert_eq!(run(&mut conn, "SHOW CREATE TABLE c"), Ok(Some("c".to_owned())));
                    assert_eq!(run(&mut conn, "DROP TABLE c"), Ok(None));
                }
                // Subqueries, variables, and COLLATE of bytes.
                Err(3769 | 3772 | 1253) => {}
                Err(code) => {
                    assert!(REFUSALS.contains(&code), "error {code} of {create:.300}");
                    refused += 1;
                }
            }
        }
    }
    assert!(kept > 150 && refused > 50, "{kept} kept, {refused} refused");
    let touched = touched_stack(&server);
    let size = stack_bytes();
    assert!(touched > 0 && touched < size / 4 * 3, "{touched} of {size} bytes of stack");
    server.shut_down().unwrap();
}

/// `levels` subqueries within each other, each before a chain of `terms` times `+1`.
fn nested_chains(levels: usize, terms: usize) -> String {
    format!("SELECT {}1{}", "(SELECT ".repeat(levels), format!("{})", "+1".repeat(terms)).repeat(levels))
}

#[test]
fn subqueries_with_long_chains_within_each_other_do_not_end_the_server() {
    let server = start();
    let mut conn = connect(&server);
    for (levels, terms) in [
        (5, 990),
        (5, 380),
        (5, 389),
        (1, 1970),
        (1, 1990),
        (2, 970),
        (63, 20),
        (63, 24),
        (63, 990),
        (64, 1),
        (20, 90),
        (200, 990),
    ] {
        let height = levels * (terms + usize::from(QUERY_HEIGHT) + 1) + 1 + usize::from(QUERY_HEIGHT);
        let expected = match () {
            () if levels > 63 => Err(1473),
            () if height > usize::from(HEIGHT_MAX) => Err(1436),
            () => Ok(Some((1 + levels * terms).to_string())),
        };
        let sql = nested_chains(levels, terms);
        assert_eq!(run(&mut conn, &sql), expected, "{levels} levels of {terms} terms");
        assert_eq!(run_prepared(&mut conn, &sql), expected, "{levels} levels of {terms} terms, prepared");
    }
    assert_eq!(point_read(&mut connect(&server)), Ok(Some("1".to_owned())));
}

#[test]
fn long_statements_of_ordinary_shape_are_answered() {
    let server = start();
    let mut conn = connect(&server);
    let chain = |item: &str, link: &str, count: usize| vec![item; count].join(link);
    let numbers = |count: usize| (0..count).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
    let joins: String = (1..61).map(|n| format!(" JOIN t t{n} ON t{n}.id = t{}.id", n - 1)).collect();
    let whens: String = (2..500).map(|n| format!(" WHEN {n} THEN {n}")).collect();
    let cases = [
        (format!("SELECT v FROM t WHERE {}", chain("v = 1", " OR ", 5000)), "1"),
        (format!("SELECT v FROM t WHERE {} OR v = 1", chain("v = 2", " OR ", 5000)), "1"),
        (format!("SELECT v FROM t WHERE {}", chain("v < 2", " AND ", 5000)), "1"),
        (format!("SELECT v FROM t WHERE id IN ({})", numbers(20_000)), "1"),
        (format!("SELECT v FROM t WHERE v + 1 IN ({})", numbers(20_000)), "1"),
        (format!("SELECT COUNT(*) FROM ({}) u", chain("SELECT v FROM t", " UNION ALL ", 500)), "500"),
        (format!("SELECT CASE v{whens} ELSE 7 END FROM t"), "7"),
        (format!("SELECT LENGTH(CONCAT({})) FROM t", chain("v", ",", 2000)), "2000"),
        (format!("SELECT {} FROM t", chain("v", "+", 1900)), "1900"),
        (format!("SELECT {} FROM t", chain("v", " * ", 1900)), "1"),
        (format!("SELECT COUNT(*) FROM t t0{joins}"), "1"),
        (format!("SELECT {}v{} FROM t", "REPLACE(".repeat(300), ",'a','b')".repeat(300)), "1"),
        (format!("SELECT {}v{} FROM t", "(".repeat(900), ")".repeat(900)), "1"),
        (format!("SELECT {}1{}", "(SELECT ".repeat(63), ")".repeat(63)), "1"),
    ];
    for (sql, answer) in &cases {
        let expected = Ok(Some((*answer).to_owned()));
        assert_eq!(run(&mut conn, sql), expected, "{sql:.100}");
        assert_eq!(run_prepared(&mut conn, sql), expected, "{sql:.100}, prepared");
    }
    let too_many = format!("SELECT COUNT(*) FROM t t0{joins} JOIN t t61 ON t61.id = t0.id");
    assert_eq!(run(&mut conn, &too_many), Err(1116));
    assert_eq!(run(&mut conn, &format!("SELECT 1 FROM t{}", ",t".repeat(400))), Err(1066));
}

#[test]
fn short_texts_that_come_to_exponential_work_are_answered_or_refused_soon() {
    let server = start();
    let mut conn = connect(&server);
    let wrapped = |open: &str, base: &str, close: &str, levels: usize| {
        format!("SELECT {}{base}{} FROM t", open.repeat(levels), close.repeat(levels))
    };
    let doubled = |levels: usize| {
        let links: String = (1..levels)
            .map(|n| format!(", c{n} AS (SELECT x.a FROM c{} x JOIN c{} y)", n - 1, n - 1))
            .collect();
        format!("WITH c0 AS (SELECT 1 a){links} SELECT a FROM c{}", levels - 1)
    };
    let sums: String =
        (1..60).fold("SELECT v a FROM t".to_owned(), |inner, _| format!("SELECT a+a a FROM ({inner}) d"));
    let ones = |n: usize| vec!["a"; n].join("+");
    let cases = [
        (doubled(8), Ok("1")),
        (doubled(30), Err(4169)),
        (doubled(62), Err(4169)),
        (wrapped("NULLIF(", "v", ",7)", 60), Ok("1")),
        (wrapped("CASE ", "v", " WHEN 1 THEN 1 WHEN 2 THEN 2 END", 60), Ok("1")),
        (wrapped("(", "v", " IN (1,'1',2.5))", 60), Ok("1")),
        (format!("SELECT '2020-01-01'{} FROM t", " + INTERVAL v DAY".repeat(60)), Ok("2020-03-01")),
        (wrapped("BIN(", "v", ")", 60), Ok("1")),
        (wrapped("((", "v", ",1)<(1,2))", 10), Ok("1")),
        (wrapped("((", "v", ",1)<(1,2))", 60), Ok("1")),
        (format!("SELECT MOD(a,1000) FROM ({sums}) d WHERE a = 1"), Ok("")),
        (format!("SELECT {} a FROM t HAVING {} > 0", vec!["v"; 900].join("+"), ones(900)), Err(1436)),
    ];
    for (sql, expected) in &cases {
        let began = Instant::now();
        let answer = run(&mut conn, sql);
        // An empty text stands for no rows.
        let expected = expected.map(|text| (!text.is_empty()).then(|| text.to_owned()));
        assert_eq!(answer, expected, "{sql:.100}");
        assert!(began.elapsed() < Duration::from_secs(10), "{:?} for {sql:.100}", began.elapsed());
    }
}
