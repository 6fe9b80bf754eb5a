//! Variables that are kept and shown without effect, or whose default alone is allowed. The words of their
//! rows say how that is seen.

use mysql::Conn;
use testkit::runner::Target;

use super::effects::{ask, prepared};
use super::rows::Row;

const WITHOUT_EFFECT: &str = "partly: kept and shown, without effect";
const DEFAULT_ALONE: &str = "partly: its default alone, another value is 1231";

/// Values that some variable takes, whatever it is about.
const TEXTS: [&str; 9] =
    ["''", "'OFF'", "'ON'", "'x'", "'latin1'", "'utf8mb4_bin'", "'FILE'", "'SYSTEM'", "'0-0-0'"];
/// Errors of SET that say: not at all (1238), not at this level (1228, 1229, 1621), not to this (1231, 1232,
/// 1115).
const REFUSALS: [&str; 7] =
    ["error 1115 ", "error 1228 ", "error 1229 ", "error 1231 ", "error 1232 ", "error 1238 ", "error 1621 "];

/// What a variable with an effect on statements changes something of.
const PROBES: [&str; 34] = [
    "SELECT * FROM t ORDER BY s DESC",
    "SELECT 1 / 7, 7 DIV 2, 1 / 0, 'a' + 1, '1x' + 0",
    "SELECT GROUP_CONCAT(s ORDER BY id DESC SEPARATOR '--'), REPEAT('ab', 3) FROM t",
    "SELECT 'a' = 'A', 'a' LIKE 'A', 'a' 'b', \"c\", 'x' || 'y', 'a\\\\b', _latin1'x', CHARSET('x'), COLLATION('x')",
    "SELECT WEEK('2008-01-01'), DATE_FORMAT('2009-03-04', '%W %M'), DAYNAME('2009-03-04'), MONTHNAME('2009-03-04')",
    "SELECT CAST('2020-01-02 03:04:05.678' AS DATETIME), CAST('23:59:59.9' AS TIME), FROM_UNIXTIME(0)",
    "SELECT a, COUNT(*) FROM t GROUP BY a",
    "SELECT a, s FROM t GROUP BY s",
    "SELECT DISTINCT a FROM t UNION ALL SELECT id FROM t",
    "SELECT SQL_CALC_FOUND_ROWS id FROM t LIMIT 1",
    "SELECT FOUND_ROWS()",
    "SELECT x.id, y.a FROM t x JOIN t y ON y.id = x.a WHERE x.id IN (SELECT id FROM t)",
    "WITH c AS (SELECT id FROM t) SELECT COUNT(*) FROM c",
    "INSERT INTO t (a, s) VALUES (3, 'c')",
    "SELECT LAST_INSERT_ID(), ROW_COUNT()",
    "INSERT INTO t VALUES (0, 4, 'd')",
    "INSERT INTO t VALUES (NULL, 'x', 'too long for this column of t')",
    "INSERT IGNORE INTO t VALUES (1, 'x', 'too long for this column of t')",
    "SHOW WARNINGS",
    "UPDATE t SET s = 'u' WHERE a = 1",
    "UPDATE t SET a = a + 1",
    "DELETE FROM t WHERE s = 'd'",
    "SELECT * FROM t",
    "BEGIN",
    "INSERT INTO t VALUES (50, 50, 'r')",
    "ROLLBACK",
    "SELECT COUNT(*) FROM t",
    "CREATE TABLE p (d DATE, ts TIMESTAMP, n INT UNSIGNED)",
    "INSERT INTO p VALUES ('2020-02-30', '2020-01-01', -1)",
    "SHOW CREATE TABLE p",
    "SHOW TABLES",
    "EXPLAIN SELECT * FROM t WHERE id = 1",
    "ANALYZE TABLE t",
    "SHOW COLUMNS FROM t",
];

/// Whether the row's words say how it is shown.
pub(super) fn is_shown(row: &Row) -> bool {
    row.section == "System variables" && (is_without_effect(row) || row.status.starts_with(DEFAULT_ALONE))
}

fn is_without_effect(row: &Row) -> bool {
    row.status.starts_with(WITHOUT_EFFECT) || row.status.starts_with("partly: kept and shown; there are no")
}

/// What was seen of rows.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// What is not as a row says.
    pub(super) wrong: Vec<String>,
    /// How many variables took another value, without effect.
    pub(super) kept: usize,
    /// How many can only be read.
    pub(super) read_only: usize,
    /// How many refused another value than their default.
    pub(super) refused: usize,
}

/// Tries the variables of `rows` that [`is_shown`] is about.
pub(super) fn tried(rows: &[Row], target: &Target) -> Seen {
    let plain = probed(&mut prepared(target));
    assert_eq!(plain, probed(&mut prepared(target)), "the probes' answers vary");
    let mut seen = Seen::default();
    for row in rows.iter().filter(|row| is_shown(row)) {
        for name in &row.names[..1] {
            if is_without_effect(row) {
                try_effect(name, &plain, target, &mut seen);
            } else {
                try_default(name, target, &mut seen);
            }
        }
    }
    seen
}

fn probed(conn: &mut Conn) -> Vec<Vec<String>> {
    PROBES.iter().map(|sql| ask(conn, sql)).collect()
}

/// The value of a variable; `None` if it is not shown.
fn value(conn: &mut Conn, name: &str) -> Option<String> {
    let answer = ask(conn, &format!("SELECT @@{name}"));
    if answer.first()?.starts_with("error ") { None } else { answer.last().cloned() }
}

/// Other values to set, as literals.
fn others(value: &str) -> Vec<String> {
    match value.parse::<u64>() {
        Ok(0) => ["1", "2", "1024"].map(str::to_owned).to_vec(),
        Ok(1) => ["0", "2", "1024"].map(str::to_owned).to_vec(),
        Ok(number) => {
            [number / 2, number.saturating_mul(2), number - 1, 0, 1].map(|n| n.to_string()).to_vec()
        }
        Err(_) => TEXTS.map(str::to_owned).to_vec(),
    }
}

/// It is shown; where it takes another value, it shows that one, and nothing else changes.
fn try_effect(name: &str, plain: &[Vec<String>], target: &Target, seen: &mut Seen) {
    let mut conn = prepared(target);
    let Some(before) = value(&mut conn, name) else {
        seen.wrong.push(format!("{name}: is not shown"));
        return;
    };
    let mut was_kept = false;
    for (level, other) in
        ["SESSION", "GLOBAL"].iter().flat_map(|l| others(&before).into_iter().map(move |o| (l, o)))
    {
        let answer = ask(&mut conn, &format!("SET {level} {name} = {other}"));
        let first = answer.first().map_or("", String::as_str);
        if first.starts_with("error ") {
            if !REFUSALS.iter().any(|refusal| first.starts_with(refusal)) {
                seen.wrong.push(format!("{name} = {other}: {first}"));
            }
            continue;
        }
        // Others that connect now have the global value.
        let mut later = prepared(target);
        let holder = if *level == "SESSION" { &mut conn } else { &mut later };
        if value(holder, name).is_some_and(|value| value != before) {
            was_kept = true;
            ask(holder, "DROP TABLE IF EXISTS p");
            let with = probed(holder);
            if let Some(at) = (0..plain.len()).find(|&at| plain[at] != with[at]) {
                seen.wrong.push(format!("{name} = {other}: {}: {:?}", PROBES[at], with[at]));
            }
        }
        ask(&mut conn, &format!("SET {level} {name} = DEFAULT"));
        if was_kept {
            break;
        }
    }
    if was_kept { seen.kept += 1 } else { seen.read_only += 1 }
}

/// Every other value is refused with 1231, or it cannot be set.
fn try_default(name: &str, target: &Target, seen: &mut Seen) {
    let mut conn = prepared(target);
    let Some(before) = value(&mut conn, name) else {
        seen.wrong.push(format!("{name}: is not shown"));
        return;
    };
    let mut was_refused = false;
    for other in others(&before) {
        let answer = ask(&mut conn, &format!("SET GLOBAL {name} = {other}"));
        let answer = answer.first().map_or("", String::as_str);
        let now = value(&mut conn, name);
        was_refused |= answer.starts_with("error 1231 ");
        if now.is_some_and(|now| now != before) {
            ask(&mut conn, &format!("SET GLOBAL {name} = DEFAULT"));
            seen.wrong.push(format!("{name} = {other}: is taken"));
        }
    }
    if was_refused { seen.refused += 1 } else { seen.wrong.push(format!("{name}: nothing is 1231")) }
}
