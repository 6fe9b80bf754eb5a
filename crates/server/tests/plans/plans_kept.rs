//! Plans serve as long as their own tables stay what they were, whatever happens to others.

#![allow(clippy::unwrap_used, reason = "test code")]

use std::path::Path;

use mysql::Conn;
use mysql::prelude::Queryable;
use testkit::runner::Target;
use testkit::server::TestServer;

fn start() -> (TestServer, Conn, Conn) {
    let server = TestServer::start(Path::new(env!("CARGO_BIN_EXE_ratchetd")), &[]).unwrap();
    let target = Target { port: server.port, user: "root".to_owned() };
    let (mut conn, mut other) = (target.connect(None).unwrap(), target.connect(None).unwrap());
    for sql in [
        "CREATE DATABASE d",
        "USE d",
        "CREATE TABLE a (id INT PRIMARY KEY, v INT)",
        "CREATE TABLE b (id INT PRIMARY KEY, v INT)",
        "INSERT INTO a VALUES (1, 10), (2, 20)",
        "INSERT INTO b VALUES (1, 100), (2, 200)",
    ] {
        conn.query_drop(sql).unwrap();
    }
    other.query_drop("USE d").unwrap();
    (server, conn, other)
}

/// Plans that the server has made.
fn made(conn: &mut Conn) -> u64 {
    let row: (String, u64) =
        conn.query_first("SHOW GLOBAL STATUS LIKE 'Ratchet_plans_made'").unwrap().unwrap();
    row.1
}

#[test]
fn definitions_of_other_tables_make_no_new_plan() {
    let (_server, mut conn, mut other) = start();
    let statement = conn.prep("SELECT v FROM a WHERE id = ?").unwrap();
    let read = |conn: &mut Conn| {
        let by_text: Vec<i64> = conn.query("SELECT v + 1 FROM a WHERE id = 2").unwrap();
        let prepared: Vec<i64> = conn.exec(&statement, (1,)).unwrap();
        (by_text, prepared)
    };
    assert_eq!(read(&mut conn), (vec![21], vec![10]));
    let known = made(&mut other);
    for sql in [
        "CREATE TABLE c (id INT)",
        "CREATE INDEX v ON b (v)",
        "RENAME TABLE b TO e",
        "TRUNCATE TABLE e",
        "ANALYZE TABLE e",
        "DROP TABLE c",
        "CREATE DATABASE f",
        "DROP DATABASE f",
        "CREATE USER somebody IDENTIFIED BY 'x'",
        "GRANT SELECT ON d.* TO somebody",
    ] {
        other.query_drop(sql).unwrap();
        assert_eq!(read(&mut conn), (vec![21], vec![10]), "{sql}");
        assert_eq!(made(&mut other), known, "{sql}");
    }
}

#[test]
fn definitions_of_its_own_table_end_a_plan() {
    let (_server, mut conn, mut other) = start();
    let statement = conn.prep("SELECT v FROM a WHERE id = ?").unwrap();
    let read = |conn: &mut Conn| {
        let by_text = conn.query::<i64, _>("SELECT v FROM a WHERE id = 2");
        let prepared = conn.exec::<i64, _, _>(&statement, (2,));
        let never = conn.query::<i64, _>("SELECT v FROM a WHERE 1 = 0");
        match (by_text, prepared, never) {
            (Ok(a), Ok(b), Ok(c)) if a == b && c.is_empty() => Ok(a),
            (Err(mysql::Error::MySqlError(a)), Err(mysql::Error::MySqlError(b)), Err(_))
                if a.code == b.code =>
            {
                Err(a.code)
            }
            (a, b, c) => panic!("{a:?}, {b:?}, {c:?}"),
        }
    };
    assert_eq!(read(&mut conn), Ok(vec![20]));
    for (sql, expected) in [
        ("RENAME TABLE a TO kept, b TO a", Ok(vec![200])),
        ("DROP TABLE a", Err(1146)),
        ("CREATE TABLE a (v VARCHAR(10), id BIGINT PRIMARY KEY)", Ok(vec![])),
        ("INSERT INTO a VALUES ('7', 2)", Ok(vec![7])),
        ("TRUNCATE TABLE a", Ok(vec![])),
        ("RENAME TABLE a TO gone, kept TO a", Ok(vec![20])),
        ("CREATE INDEX v ON a (v)", Ok(vec![20])),
        ("DROP INDEX v ON a", Ok(vec![20])),
        ("DROP DATABASE d", Err(1146)),
    ] {
        other.query_drop(sql).unwrap();
        let found = read(&mut conn);
        if sql.starts_with("DROP DATABASE") {
            assert!(found.is_err(), "{sql}");
        } else {
            assert_eq!(found, expected, "{sql}");
        }
    }
}

#[test]
fn subqueries_of_select_lists_share_plans_whatever_their_literals() {
    let (_server, mut conn, mut other) = start();
    let read = |conn: &mut Conn, id: i64| {
        let text = format!(
            "SELECT EXISTS(SELECT 1 FROM a WHERE id = {id}) AS found, (SELECT v FROM a WHERE id = {id}) AS v"
        );
        let rows = conn.query_iter(text).unwrap();
        let names: Vec<String> = rows.columns().as_ref().iter().map(|c| c.name_str().into_owned()).collect();
        let rows: Vec<(bool, Option<i64>)> = rows.map(|row| mysql::from_row(row.unwrap())).collect();
        (names, rows)
    };
    let names = || vec!["found".to_owned(), "v".to_owned()];
    assert_eq!(read(&mut conn, 1), (names(), vec![(true, Some(10))]));
    let known = made(&mut other);
    assert_eq!(read(&mut conn, 2), (names(), vec![(true, Some(20))]));
    assert_eq!(read(&mut other, 33), (names(), vec![(false, None)]));
    assert_eq!(made(&mut other), known);
    let grouped = "SELECT (SELECT v FROM b WHERE id = 1) AS x FROM a GROUP BY (SELECT v FROM b WHERE id = 1)";
    assert_eq!(conn.query::<i64, _>(grouped).unwrap(), [100]);
}

/// The names of an answer's columns, and its rows.
fn named(conn: &mut Conn, sql: &str) -> (Vec<String>, Vec<Vec<mysql::Value>>) {
    let rows = conn.query_iter(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    let names = rows.columns().as_ref().iter().map(|c| c.name_str().into_owned()).collect();
    (names, rows.map(|row| row.unwrap().unwrap()).collect())
}

#[test]
fn subqueries_without_an_alias_share_plans_and_keep_their_names() {
    let (_server, mut conn, mut other) = start();
    let shapes: [(&str, &[&str], [i64; 2]); 6] = [
        ("SELECT EXISTS(SELECT 1 FROM a WHERE id = @)", &["EXISTS(SELECT 1 FROM a WHERE id = @)"], [1, 33]),
        (
            "SELECT 7, exists ( select v from a where id in (@, 9) and v < '@') , 8",
            &["7", "exists ( select v from a where id in (@, 9) and v < '@')", "8"],
            [1, 2],
        ),
        (
            "SELECT (SELECT v FROM a WHERE id=@)+1 AS x, (SELECT 5 LIMIT 1)",
            &["x", "(SELECT 5 LIMIT 1)"],
            [1, 2],
        ),
        (
            "SELECT NOT EXISTS(SELECT 1 FROM a WHERE id = @) FROM b WHERE id = @",
            &["NOT EXISTS(SELECT 1 FROM a WHERE id = @)"],
            [1, 2],
        ),
        (
            "SELECT id, (SELECT v FROM b WHERE b.id = a.id AND v > @) FROM a",
            &["id", "(SELECT v FROM b WHERE b.id = a.id AND v > @)"],
            [1, 150],
        ),
        ("SELECT EXISTS(SELECT 1 FROM a WHERE id = @) found", &["found"], [1, 33]),
    ];
    for (shape, names, values) in shapes {
        let read = |conn: &mut Conn, value: i64| {
            let with = |text: &str| text.replace('@', &value.to_string());
            let found = named(conn, &with(shape));
            assert_eq!(found.0, names.iter().map(|name| with(name)).collect::<Vec<_>>(), "{shape}");
            // Without literals to lift.
            let expected = named(conn, &format!("{} -- not kept\n", with(shape).replace("= ", "= 0 + ")));
            assert_eq!(found.1, expected.1, "{shape} with {value}");
            found.1
        };
        let first = read(&mut conn, values[0]);
        read(&mut conn, values[1]);
        let known = made(&mut other);
        for conn in [&mut conn, &mut other] {
            for (at, value) in values.into_iter().enumerate() {
                let text = shape.replace('@', &value.to_string());
                let found = named(conn, &text);
                assert_eq!(
                    found.0,
                    names.iter().map(|n| n.replace('@', &value.to_string())).collect::<Vec<_>>()
                );
                assert!(at > 0 || found.1 == first, "{text}");
            }
        }
        assert_eq!(made(&mut other), known, "{shape}");
    }
    // What a column is called decides what a name means.
    assert_eq!(
        conn.query::<i64, _>(
            "SELECT (SELECT v FROM b WHERE id = 2) FROM a ORDER BY `(SELECT v FROM b WHERE id = 2)`"
        )
        .unwrap(),
        [200, 200]
    );
    conn.query_drop("SELECT (SELECT v FROM b WHERE id = 1) FROM a ORDER BY `(SELECT v FROM b WHERE id = 2)`")
        .unwrap_err();
    let arms = |id| format!("SELECT (SELECT v FROM b WHERE id = {id}) UNION ALL SELECT 3");
    for id in [1, 2, 1] {
        assert_eq!(named(&mut conn, &arms(id)).0, [format!("(SELECT v FROM b WHERE id = {id})")]);
    }
    let derived = |id| format!("SELECT * FROM (SELECT (SELECT v FROM b WHERE id = {id})) d");
    for id in [1, 2] {
        assert_eq!(named(&mut conn, &derived(id)).0, [format!("(SELECT v FROM b WHERE id = {id})")]);
    }
}

#[test]
fn plans_for_a_small_table_end_when_it_has_grown() {
    let (_server, mut conn, mut other) = start();
    let read = "SELECT COUNT(*) FROM a WHERE v > 5";
    assert_eq!(conn.query_first::<u64, _>(read).unwrap(), Some(2));
    let known = made(&mut other);
    let rows: Vec<String> = (10..1_500).map(|n| format!("({n}, {n})")).collect();
    other.query_drop(format!("INSERT INTO b VALUES {}", rows.join(", "))).unwrap();
    assert_eq!(conn.query_first::<u64, _>(read).unwrap(), Some(2));
    assert_eq!(made(&mut other), known + 1, "of INSERT alone");
    other.query_drop(format!("INSERT INTO a VALUES {}", rows.join(", "))).unwrap();
    let known = made(&mut other);
    assert_eq!(conn.query_first::<u64, _>(read).unwrap(), Some(1_492));
    assert_eq!(made(&mut other), known + 1, "a plan for the larger table");
}

#[test]
fn plans_made_for_one_text_say_of_other_texts_what_their_own_plans_say() {
    const SHAPES: [&str; 26] = [
        "v = '@'",
        "v <> '@' AND v",
        "d > '@'",
        "n = '@'",
        "n + 0.5 = '@'",
        "r < '@'",
        "y = '@'",
        "t = '@'",
        "t < '@'",
        "m <=> '@'",
        "v IN ('@', '7')",
        "n IN ('7', '@')",
        "t IN ('@', '7')",
        "v BETWEEN '@' AND '7'",
        "t BETWEEN '@' AND '7'",
        "(v, id) IN (('@', 1), (2, 2))",
        "CASE v WHEN '@' THEN 1 END",
        "NULLIF(v, '@')",
        "IF('@', v, 2)",
        "v + '@'",
        "LEFT(w, '@')",
        "LPAD(w, 3, '@')",
        "SUBSTRING(w, 1, '@')",
        "ROUND(n, '@')",
        "SHA2(w, '@')",
        "FORMAT(v, 1, '@')",
    ];
    const TEXTS: [&str; 8] = ["1", "1x", "a", "10:11:12", "2024-02-29", "", "1e400", "99999999999999999999"];
    let (_server, mut conn, _other) = start();
    for sql in [
        "SET sql_mode = ''",
        "CREATE TABLE t (id INT PRIMARY KEY, v INT, d DATE, n DECIMAL(5,1), r DOUBLE, y YEAR, t TIME, m DATETIME, w VARCHAR(9))",
        "INSERT INTO t VALUES (1, 1, '2024-02-29', 1, 1, 2001, '10:11:12', '2024-02-29', 'abc')",
        "INSERT INTO t VALUES (2, 0, '2001-01-01', 0, 0, 2000, '00:00:01', '2001-01-01', '')",
    ] {
        conn.query_drop(sql).unwrap();
    }
    let mut said = |sql: String| {
        let rows: Result<Vec<mysql::Row>, mysql::Error> = conn.query(sql);
        let rows = rows.map(|rows| rows.into_iter().map(mysql::Row::unwrap).collect::<Vec<_>>());
        let warnings: Vec<(String, u32, String)> = conn.query("SHOW WARNINGS").unwrap();
        (rows.map_err(|error| error.to_string()), warnings)
    };
    for (shape, place) in SHAPES.into_iter().flat_map(|shape| [(shape, "item"), (shape, "condition")]) {
        let text_of = |text: &str, name: &str| match place {
            "item" => format!("SELECT {} AS {name} FROM t", shape.replace('@', text)),
            _ => format!("SELECT id AS {name} FROM t WHERE {}", shape.replace('@', text)),
        };
        for (at, text) in TEXTS.into_iter().chain(TEXTS.into_iter().rev()).enumerate() {
            let (shared, own) = (said(text_of(text, "x")), said(text_of(text, &format!("x{at}"))));
            assert_eq!(format!("{shared:?}"), format!("{own:?}"), "{}", text_of(text, "x"));
        }
    }
}
