//! Privileges on columns beside what the scripts of `tests/privileges` have: what is drawn at random, plans
//! that several accounts share, restarts, and many of them.

#![allow(clippy::unwrap_used, reason = "test code")]

use std::path::Path;

use base::prng::Prng;
use mysql::Conn;
use mysql::prelude::Queryable;
use testkit::client::{error_code as code, log_in, run_all as run};
use testkit::server::{TestServer, binary_under_test};

const COLUMNS: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

fn binary() -> std::path::PathBuf {
    binary_under_test(Path::new(env!("CARGO_BIN_EXE_ratchetd")))
}

fn connect(server: &TestServer, user: &str) -> Conn {
    log_in(server.port, user)
}

fn start() -> (TestServer, Conn) {
    let server = TestServer::start(&binary(), &[]).unwrap();
    let mut root = connect(&server, "root");
    let setup = [
        "CREATE DATABASE d",
        "CREATE TABLE d.t (a INT PRIMARY KEY, b INT, c INT, d INT, e INT, f INT, KEY (b), KEY (c, d))",
        "INSERT INTO d.t VALUES (1, 1, 1, 1, 1, 1), (2, 2, 2, 2, 2, 2)",
        "CREATE USER u, v",
    ];
    run(&mut root, &setup);
    (server, root)
}

/// Statements: `$[table]` is an expression of columns of the table called so, `NAME` a column that gets a
/// value, `COMMON` a column of both sides of a join.
const FORMS: [&str; 27] = [
    "SELECT $[] FROM d.t",
    "SELECT 1 FROM d.t WHERE $[t.]",
    "SELECT $[] FROM d.t ORDER BY $[]",
    "SELECT COUNT(*) FROM d.t GROUP BY $[]",
    "SELECT COUNT(*) FROM d.t HAVING MAX($[]) > 0",
    "SELECT 1 FROM d.t x JOIN d.t y ON $[x.] = $[y.]",
    "SELECT z FROM (SELECT $[] AS z FROM d.t) q",
    "WITH q AS (SELECT $[] AS z FROM d.t WHERE $[]) SELECT z FROM q",
    "SELECT (SELECT MAX($[y.]) FROM d.t y WHERE $[y.] = $[x.]) FROM d.t x",
    "SELECT 1 FROM d.t WHERE $[] IN (SELECT $[t.] FROM d.t)",
    "SELECT $[] FROM d.t UNION SELECT $[] FROM d.t",
    "DO (SELECT $[] FROM d.t LIMIT 1)",
    "SELECT GROUP_CONCAT($[] ORDER BY $[]) FROM d.t",
    "SELECT z FROM (SELECT $[] AS z, $[] AS w FROM d.t) q ORDER BY w",
    "SELECT q.z FROM (SELECT $[] AS z FROM d.t) q, d.t y WHERE z = $[y.]",
    "SELECT 1 FROM d.t x WHERE NOT EXISTS (SELECT 1 FROM d.t y WHERE $[y.] = $[x.])",
    "SELECT 1 FROM d.t x JOIN d.t y USING (COMMON)",
    "SELECT $[y.] FROM d.t x LEFT JOIN d.t y USING (COMMON) WHERE $[x.]",
    "SELECT DISTINCT $[] FROM d.t LIMIT 1 FOR SHARE",
    "SELECT MAX(DEFAULT(COMMON)) FROM d.t",
    "DELETE FROM d.t WHERE $[] > 100 ORDER BY $[] LIMIT 1",
    "DELETE x FROM d.t x JOIN d.t y ON $[x.] = $[y.] + 100",
    "UPDATE d.t SET NAME = $[] WHERE $[] > 100",
    "UPDATE d.t SET NAME = 1 WHERE $[] > 100 ORDER BY $[] LIMIT 1",
    "UPDATE d.t x JOIN d.t y ON $[x.] = $[y.] + 100 SET x.NAME = 1",
    "INSERT INTO d.t (NAME) SELECT $[] FROM d.t WHERE 100 < $[]",
    "INSERT INTO d.t (NAME) SELECT 1 FROM d.t WHERE $[] > 100",
];

/// A statement with the columns that it reads, and the one that it gives a value.
struct Drawn {
    sql: String,
    reads: Vec<&'static str>,
    sets: Option<&'static str>,
}

fn column(prng: &mut Prng) -> &'static str {
    COLUMNS[prng.below(COLUMNS.len() as u64) as usize]
}

/// An expression that reads columns of the table called `of`.
fn expression(prng: &mut Prng, of: &str, reads: &mut Vec<&'static str>) -> String {
    let mut next = || {
        let name = column(prng);
        reads.push(name);
        format!("{of}{name}")
    };
    let (x, y) = (next(), next());
    match prng.below(5) {
        0 => format!("({x} + {y})"),
        1 => format!("CASE WHEN {x} = 1 THEN {y} ELSE 0 END"),
        _ => {
            reads.pop();
            [format!("IFNULL({x}, 1)"), format!("({x} IN (1, 2))"), x][prng.below(3) as usize].clone()
        }
    }
}

fn drawn(prng: &mut Prng) -> Drawn {
    let form = FORMS[prng.below(FORMS.len() as u64) as usize];
    let mut parts = form.split("$[");
    let (mut sql, mut reads) = (parts.next().unwrap().to_owned(), Vec::new());
    for part in parts {
        let (of, rest) = part.split_once(']').unwrap();
        sql.push_str(&expression(prng, of, &mut reads));
        sql.push_str(rest);
    }
    let target = column(prng);
    let sets = form.contains("NAME").then_some(target);
    let common = column(prng);
    if form.contains("COMMON") {
        reads.push(common);
    }
    Drawn { sql: sql.replace("NAME", target).replace("COMMON", common), reads, sets }
}

/// What is granted is decided here as well: whether a statement runs depends on the columns that it was made
/// of, and on nothing else.
#[test]
fn a_statement_runs_if_all_of_its_columns_are_granted() {
    let (server, mut root) = start();
    let mut user = connect(&server, "u");
    let prng = &mut Prng::new(11);
    let (mut allowed, mut denied) = (0, 0);
    for round in 0..60 {
        run(&mut root, &["REVOKE ALL PRIVILEGES, GRANT OPTION FROM u"]);
        run(&mut root, &["GRANT DELETE ON d.t TO u"]);
        run(&mut user, &["USE d"]);
        let mut granted: Vec<(&str, &str)> = Vec::new();
        for privilege in ["SELECT", "INSERT", "UPDATE"] {
            let share = 1 + prng.below(6);
            let names: Vec<_> = COLUMNS.into_iter().filter(|_| prng.below(6) < share).collect();
            // Without any, the table as a whole is denied.
            if !names.is_empty() {
                root.query_drop(format!("GRANT {privilege} ({}) ON d.t TO u", names.join(", "))).unwrap();
            }
            granted.extend(names.into_iter().map(|name| (privilege, name)));
        }
        for _ in 0..40 {
            let Drawn { sql, reads, sets } = drawn(prng);
            let set_by = if sql.starts_with("INSERT") { "INSERT" } else { "UPDATE" };
            let may = reads.iter().all(|&name| granted.contains(&("SELECT", name)))
                && sets.is_none_or(|name| granted.contains(&(set_by, name)));
            let answer = if prng.below(2) == 0 { user.query_drop(&sql) } else { user.exec_drop(&sql, ()) };
            match answer {
                Ok(()) => assert!(may, "round {round}: {sql} with {granted:?}"),
                Err(mysql::Error::MySqlError(error)) if [1142, 1143].contains(&error.code) => {
                    assert!(!may, "round {round}: {error}: {sql} with {granted:?}");
                }
                // It ran into something else: it was allowed.
                Err(error) => assert!(may, "round {round}: {error}: {sql} with {granted:?}"),
            }
            if may { allowed += 1 } else { denied += 1 }
        }
    }
    assert!(allowed > 300 && denied > 300, "{allowed} and {denied}");
}

#[test]
fn one_plan_serves_accounts_with_different_columns() {
    let (server, mut root) = start();
    run(&mut root, &["GRANT SELECT (a, b) ON d.t TO u", "GRANT SELECT ON d.t TO v"]);
    let (mut user, mut other) = (connect(&server, "u"), connect(&server, "v"));
    let by_text = "SELECT b FROM d.t WHERE a = 1";
    let prepared = user.prep("SELECT b FROM d.t WHERE a = ?").unwrap();
    for _ in 0..3 {
        for conn in [&mut root, &mut other, &mut user] {
            assert_eq!(conn.query_first::<i64, _>(by_text).unwrap(), Some(1));
        }
        assert_eq!(user.exec_first::<i64, _, _>(&prepared, (2,)).unwrap(), Some(2));
        run(&mut root, &["REVOKE SELECT (b) ON d.t FROM u"]);
        for _ in 0..2 {
            assert_eq!(code(user.query_drop(by_text)), 1143);
            assert_eq!(code(user.exec_drop(&prepared, (2,))), 1143);
            assert_eq!(other.query_first::<i64, _>(by_text).unwrap(), Some(1));
        }
        assert_eq!(code(user.prep("SELECT b FROM d.t WHERE a = ? LIMIT 9")), 1143);
        run(&mut root, &["GRANT SELECT (b) ON d.t TO u"]);
    }
    // What the name means is looked up again.
    run(&mut root, &["ALTER TABLE d.t RENAME COLUMN b TO x, RENAME COLUMN c TO b"]);
    assert_eq!(user.exec_first::<i64, _, _>(&prepared, (2,)).unwrap(), Some(2));
    run(&mut root, &["ALTER TABLE d.t RENAME COLUMN b TO c"]);
    assert_eq!(code(user.exec_drop(&prepared, (2,))), 1054);
    assert_eq!(code(user.query_drop("SELECT x FROM d.t")), 1143);
}

#[test]
fn they_survive_a_restart_and_a_crash_under_any_name() {
    let folder = tempfile::tempdir().unwrap();
    let datadir = folder.path().join("data");
    let mut server = TestServer::start_on(&binary(), &datadir, &[]).unwrap();
    let mut root = connect(&server, "root");
    let long = "l".repeat(64);
    let setup = [
        "CREATE DATABASE d",
        &format!("CREATE TABLE d.t (`a``b` INT, `c'd` INT, `\u{e4}\u{1f3}` INT, `SELECT` INT, `{long}` INT)"),
        "CREATE USER u",
        &format!("GRANT SELECT (`a``b`, `c'd`, `\u{e4}\u{1f3}`, `SELECT`, `{long}`) ON d.t TO u"),
        "GRANT INSERT (`SELECT`), UPDATE (`C'D`), DELETE ON d.t TO u WITH GRANT OPTION",
    ];
    run(&mut root, &setup);
    let seen = |root: &mut Conn| root.query::<String, _>("SHOW GRANTS FOR u").unwrap();
    let before = seen(&mut root);
    assert!(before[1].contains("`a``b`") && before[1].contains("INSERT (`SELECT`)"), "{before:?}");
    // The lines grant what they show.
    run(&mut root, &["REVOKE ALL PRIVILEGES, GRANT OPTION FROM u", &before[1]]);
    assert_eq!(seen(&mut root), before);
    server.shut_down().unwrap();
    let server = TestServer::start_on(&binary(), &datadir, &[]).unwrap();
    let mut root = connect(&server, "root");
    assert_eq!(seen(&mut root), before);
    run(&mut root, &["REVOKE SELECT (`a``b`) ON d.t FROM u"]);
    let before = seen(&mut root);
    server.kill().unwrap();
    let server = TestServer::start_on(&binary(), &datadir, &[]).unwrap();
    assert_eq!(seen(&mut connect(&server, "root")), before);
    let mut user = connect(&server, "u");
    assert_eq!(code(user.query_drop("SELECT `a``b` FROM d.t")), 1143);
    user.query_drop("SELECT `c'd`, `SELECT` FROM d.t").unwrap();
}

#[test]
fn the_number_of_columns_is_bounded() {
    let (server, mut root) = start();
    let names: Vec<_> = (0..1017).map(|n| format!("c{n}")).collect();
    let columns = names.iter().map(|name| format!("{name} TINYINT")).collect::<Vec<_>>().join(", ");
    let listed = names.join(", ");
    for table in 0..9 {
        root.query_drop(format!("CREATE TABLE d.w{table} ({columns})")).unwrap();
        root.query_drop(format!("GRANT SELECT ({listed}), INSERT ({listed}) ON d.w{table} TO u")).unwrap();
    }
    root.query_drop(format!("CREATE TABLE d.w9 ({columns})")).unwrap();
    let before = root.query::<String, _>("SHOW GRANTS FOR u").unwrap();
    assert_eq!(code(root.query_drop(format!("GRANT SELECT ({listed}) ON d.w9 TO u"))), 1041);
    assert_eq!(root.query::<String, _>("SHOW GRANTS FOR u").unwrap(), before);
    let mut user = connect(&server, "u");
    user.query_drop("SELECT * FROM d.w3").unwrap();
    user.query_drop(format!("SELECT {listed} FROM d.w8")).unwrap();
    assert_eq!(code(user.query_drop("SELECT c0 FROM d.w9")), 1142);
    // A column that is not there ends a list, however long it is.
    let missing = (0..200_000).map(|n| format!("x{n}")).collect::<Vec<_>>().join(", ");
    assert_eq!(code(root.query_drop(format!("GRANT SELECT ({missing}) ON d.t TO u"))), 1054);
    assert_eq!(code(root.query_drop(format!("REVOKE SELECT ({missing}) ON d.t FROM u"))), 1147);
    let again = vec!["a"; 200_000].join(", ");
    run(
        &mut root,
        &["REVOKE ALL PRIVILEGES, GRANT OPTION FROM u", &format!("GRANT SELECT ({again}) ON d.t TO u")],
    );
    assert_eq!(
        root.query::<String, _>("SHOW GRANTS FOR u").unwrap()[1],
        "GRANT SELECT (`a`) ON `d`.`t` TO `u`@`%`"
    );
}

/// MySQL does not check these: COMPAT.md says so.
#[test]
fn columns_that_are_compared_or_selected_for_nobody_are_read() {
    let (server, mut root) = start();
    run(&mut root, &["CREATE TABLE d.s (b INT, c INT, z INT)", "GRANT SELECT ON d.s TO u"]);
    run(&mut root, &["GRANT SELECT (a, b) ON d.t TO u"]);
    let mut user = connect(&server, "u");
    for (sql, may) in [
        ("SELECT a FROM d.t JOIN d.s USING (b)", true),
        ("SELECT a FROM d.t JOIN d.s USING (c)", false),
        ("SELECT a FROM d.t NATURAL JOIN d.s", false),
        ("SELECT a FROM d.t NATURAL LEFT JOIN (SELECT b FROM d.s) q", true),
        ("SELECT a FROM (SELECT a, b FROM d.t) q", true),
        ("SELECT a FROM (SELECT a, c FROM d.t) q", false),
        ("WITH q AS (SELECT a, c FROM d.t) SELECT a FROM q", false),
        ("UPDATE d.s JOIN d.t USING (c) SET z = 1", false),
    ] {
        let answer = user.query_drop(sql);
        if may { answer.unwrap_or_else(|e| panic!("{sql}: {e}")) } else { assert!(answer.is_err(), "{sql}") }
    }
    assert_eq!(code(user.query_drop("SELECT a FROM d.t JOIN d.s USING (c)")), 1143);
}

#[test]
fn com_field_list_has_the_columns_that_are_granted() {
    const COM_INIT_DB: u8 = 2;
    const COM_FIELD_LIST: u8 = 4;
    let server = crate::support::TestServer::start(&[]);
    let mut root = server.root();
    for sql in [
        "CREATE DATABASE d",
        "CREATE TABLE d.t (shown INT, hidden INT)",
        "CREATE USER u IDENTIFIED WITH mysql_native_password",
        "GRANT INSERT (shown) ON d.t TO u",
    ] {
        assert_eq!(root.command(3, sql.as_bytes())[0], 0, "{sql}");
    }
    let mut user = server.raw();
    user.login("u", b"");
    assert_eq!(user.read().1[0], 0);
    assert_eq!(user.command(COM_INIT_DB, b"d")[0], 0);
    let column = user.command(COM_FIELD_LIST, b"t\0");
    assert!(column.windows(5).any(|part| part == b"shown"), "{column:?}");
    assert_eq!(user.read().1[0], 0xfe, "there is no other");
}
