//! Conditions decided on page bytes are what the interpreter decides.

use std::rc::Rc;
use std::sync::Arc;

use base::memory::{ConnectionAccount, ConnectionLimits, ServerAccount, StatementAccount};
use types::{CollationId, ColumnDef, IndexDef, IndexKind, SqlType, TableDef, TypeKind};

use super::support::*;
use crate::column_term::LIST_ITEMS_MAX;
use crate::table_filter::FILTERS_BOUND;

/// Columns beside the key, with the texts of their values and of constants beside them, and whether these
/// are decided on page bytes.
fn columns() -> Vec<(&'static str, SqlType, &'static [&'static str], &'static [&'static str])> {
    let of = |kind, length, decimals| SqlType { decimals, ..SqlType::new(kind, length) };
    let unsigned = |ty| SqlType { unsigned: true, ..ty };
    let text = |kind, collation| SqlType { collation, kind, ..text_type(8) };
    let numbers: &[&str] = &["-3", "-2.5", "-0.01", "0", "0.004", "1", "1.25", "2", "99.99", "1e30", "'1'"];
    let days: &[&str] =
        &["'2023-12-31'", "'2024-02-29'", "'2024-02-29 00:00:01'", "'24-3-1'", "'9999-12-31'"];
    let moments: &[&str] = &[
        "'2024-02-29'",
        "'2024-02-29 12:00:00'",
        "'2024-02-29 12:00:00.5'",
        "'2024-02-29 12:00:00.123456'",
        "'2024-02-29 12:00:00.12'",
        "TIMESTAMP'2024-02-29 12:00:01'",
    ];
    let clocks: &[&str] = &["'-00:00:01'", "'00:00:00'", "'12:00:00.5'", "TIME'12:00:00.123'", "'838:59:59'"];
    let texts: &[&str] = &["''", "'a'", "'A'", "'ab'", "'ß'", "'b '", "'z'"];
    let stored_moments: &[&str] = &["'2024-02-28'", "'2024-02-29 12:00:00'", "'2024-02-29 12:00:00.123456'"];
    let stored_texts: &[&str] = &["''", "'a'", "'A'", "'ss'", "'b'", "'b '", "'é'"];
    vec![
        ("i", int_type(), &["-3", "0", "1", "2"], numbers),
        ("u", unsigned(SqlType::bigint()), &["0", "1", "18446744073709551615"], numbers),
        ("p", of(TypeKind::Decimal, 10, 2), &["-2.50", "-0.01", "0", "1.25", "99.99"], numbers),
        ("q", of(TypeKind::Decimal, 18, 0), &["-3", "0", "2"], numbers),
        ("w", of(TypeKind::Decimal, 30, 3), &["-2.5", "0.004", "99.99"], numbers),
        ("d", of(TypeKind::Date, 10, 0), &["'2023-12-31'", "'2024-02-29'", "'2024-03-01'"], days),
        ("m", of(TypeKind::DateTime, 19, 0), stored_moments, moments),
        ("m2", of(TypeKind::DateTime, 22, 2), stored_moments, moments),
        ("m6", of(TypeKind::DateTime, 26, 6), stored_moments, moments),
        ("s", of(TypeKind::Timestamp, 19, 0), stored_moments, moments),
        ("t", of(TypeKind::Time, 10, 0), &["'-00:00:01'", "'00:00:00'", "'12:00:01'"], clocks),
        ("t3", of(TypeKind::Time, 14, 3), &["'-00:00:00.5'", "'12:00:00.123'", "'838:59:59'"], clocks),
        (
            "f",
            of(TypeKind::Double, 22, 31),
            &["-2.5", "-0.01", "-0e0", "0", "1.25", "99.99", "1e300"],
            numbers,
        ),
        ("e", of(TypeKind::Float, 12, 31), &["-2.5", "-0.01", "-0e0", "0", "1.25", "99.99", "1e30"], numbers),
        ("a", text(TypeKind::VarChar, CollationId::UTF8MB4_0900_AI_CI), stored_texts, texts),
        ("b", text(TypeKind::Char, CollationId::UTF8MB4_BIN), stored_texts, texts),
        ("g", text(TypeKind::VarChar, CollationId::UTF8MB4_GENERAL_CI), stored_texts, texts),
    ]
}

fn filled_table() -> Bench {
    let mut bench = Bench::new();
    let all = columns();
    let mut defs = vec![ColumnDef::new("n", int_type(), false)];
    defs.extend(all.iter().map(|(name, ty, ..)| ColumnDef::new(name, ty.clone(), true)));
    let mut indexes = vec![IndexDef::new("PRIMARY", IndexKind::Primary, &[0])];
    indexes.extend((1..defs.len() as u16).map(|at| IndexDef::new("k", IndexKind::Secondary, &[at])));
    for (at, index) in indexes.iter_mut().enumerate().skip(1) {
        index.name = format!("k{at}").into();
    }
    bench.create(TableDef::new("s", "t", defs, indexes));
    for n in 0..40 {
        let values = all.iter().enumerate().map(|(at, (_, _, stored, _))| {
            // One in six is NULL; the columns are in step nowhere.
            let turn = n * (at + 3) + n / 5 + at;
            if turn % 6 == 0 { "NULL" } else { stored[turn % stored.len()] }
        });
        let values: Vec<&str> = values.collect();
        bench.run(&format!("INSERT INTO t VALUES ({n}, {})", values.join(", ")));
    }
    bench
}

/// Asserts that `condition` finds the same rows on page bytes and in the interpreter, in the table and in the
/// index of column `at`; the number of rows.
fn check(bench: &mut Bench, condition: &str, (at, column): (usize, &str)) -> usize {
    let value = bench.select(&format!("SELECT n FROM t IGNORE INDEX (k{at}) WHERE ({condition}) + 0 = 1"));
    let bytes = bench.select(&format!("SELECT n FROM t IGNORE INDEX (k{at}) WHERE {condition}"));
    assert_eq!(bytes, value, "{condition}");
    // Neither way takes an interval of the index.
    let entries =
        bench.select(&format!("SELECT COUNT(*), MIN({column}) FROM t FORCE INDEX (k{at}) WHERE {condition}"));
    let rows = bench.select(&format!("SELECT COUNT(*), MIN({column}) FROM t WHERE ({condition}) + 0 = 1"));
    assert_eq!(entries, rows, "{condition} by index");
    value.len()
}

#[test]
fn comparisons_with_constants_find_the_same_rows_on_page_bytes_and_in_the_interpreter() {
    let mut bench = filled_table();
    for (at, (column, _, _, constants)) in (1..).zip(columns()) {
        let (mut found, bound) = (0, FILTERS_BOUND.get());
        let place = (at, column);
        for (i, constant) in constants.iter().enumerate() {
            for op in ["=", "<>", "<", "<=", ">", ">="] {
                found += check(&mut bench, &format!("{column} {op} {constant}"), place);
                found += check(&mut bench, &format!("{constant} {op} {column}"), place);
                found += check(&mut bench, &format!("NOT {column} {op} {constant}"), place);
            }
            for other in [constants[0], constants[(i + 1) % constants.len()]] {
                for not in ["", "NOT "] {
                    found +=
                        check(&mut bench, &format!("{column} {not}BETWEEN {constant} AND {other}"), place);
                    found += check(&mut bench, &format!("{column} {not}IN ({other}, {constant})"), place);
                    found += check(&mut bench, &format!("NOT ({column} {not}IN ({other}))"), place);
                }
                found += check(&mut bench, &format!("{column} < {constant} OR {column} = {other}"), place);
                found += check(
                    &mut bench,
                    &format!("{column} < {constant} AND n < 20 OR {column} > {other}"),
                    place,
                );
            }
            found += check(&mut bench, &format!("{column} IN ({constant}, NULL)"), place);
            found += check(&mut bench, &format!("{column} NOT IN ({constant}, NULL)"), place);
        }
        let list = constants.join(", ");
        found += check(&mut bench, &format!("{column} IN ({list})"), place);
        found += check(&mut bench, &format!("{column} IS NULL"), place);
        found += check(&mut bench, &format!("{column} IS NOT NULL AND n > 20"), place);
        found +=
            check(&mut bench, &format!("{column} IS NULL OR {column} < {} AND n > 5", constants[1]), place);
        assert!(found > 200, "{found} rows by {column}");
        let bound = FILTERS_BOUND.get() - bound;
        // A wide decimal is no number of 8 bytes.
        let least = if column == "w" { 3 } else { 50 };
        assert!(bound >= least, "{bound} conditions on {column} were decided on page bytes");
    }
}

#[test]
fn comparisons_with_outer_rows_find_the_same_pairs_on_page_bytes_and_in_the_interpreter() {
    let mut bench = filled_table();
    for (at, (column, ..)) in (1..).zip(columns()) {
        let (mut found, bound) = (0, FILTERS_BOUND.get());
        // Texts of two collations do not mix.
        let text = if matches!(column, "b" | "g") { column } else { "a" };
        for other in [column, "i", "p", "f", "m6", text] {
            let mut conditions = vec![
                format!("b.{column} BETWEEN a.{other} AND a.{column}"),
                format!("a.{other} BETWEEN b.{column} AND b.{column}"),
                format!("a.n BETWEEN b.i AND b.n AND a.{column} <> b.{column}"),
                format!("b.{column} = a.{other} OR b.n = a.i + 1"),
                format!("b.{column} IN (a.{other}, a.{column}) AND b.n - a.n <> 3"),
            ];
            conditions.extend(["=", "<>", "<", ">="].map(|op| format!("b.{column} {op} a.{other}")));
            conditions.push(format!("a.{other} < b.{column} AND b.n <> a.n - 1"));
            for condition in conditions {
                let mut pairs = |condition: &str| {
                    let from = format!("FROM t a STRAIGHT_JOIN t b IGNORE INDEX (k{at})");
                    bench.select(&format!("SELECT a.n, b.n {from} WHERE {condition} AND a.n < 12"))
                };
                let (bytes, values) =
                    (pairs(&format!("({condition})")), pairs(&format!("({condition}) + 0 = 1")));
                assert_eq!(bytes, values, "{condition}");
                found += bytes.len();
            }
        }
        assert!(found > 200, "{found} pairs by {column}");
        let bound = FILTERS_BOUND.get() - bound;
        // A wide decimal is no number of 8 bytes.
        let least = if column == "w" { 0 } else { 40 };
        assert!(bound >= least, "{bound} times conditions on {column} were decided on page bytes");
    }
}

#[test]
fn terms_behind_one_that_may_warn_are_decided_behind_it() {
    let mut bench = filled_table();
    let mut warnings = |condition: &str| {
        bench.session.conditions.borrow_mut().clear();
        bench.select(&format!("SELECT n FROM t IGNORE INDEX (k15) WHERE {condition}"));
        bench.session.conditions.borrow().len()
    };
    let (before, behind) = (warnings("a = 'b' AND a + 1 > 0"), warnings("a + 1 > 0 AND a = 'b'"));
    assert!(before > 0 && behind > before, "{before} and {behind} warnings");
}

#[test]
fn lists_that_are_long_or_that_memory_has_no_room_for_are_the_interpreters() {
    let mut bench = filled_table();
    let list = |items: usize| (1..=items).map(|n| n.to_string()).collect::<Vec<_>>().join(", ");
    let texts = |items: usize| format!("'b', {}", vec!["'zz'"; items - 1].join(", "));
    for (column, list) in [("i", list(LIST_ITEMS_MAX)), ("a", texts(LIST_ITEMS_MAX))] {
        let (item, at) = if column == "i" { ("7", 1) } else { ("'y'", 15) };
        let index = format!("IGNORE INDEX (k{at})");
        let mut select = |list: &str, bytes: Option<u64>| {
            let before = FILTERS_BOUND.get();
            bench.memory = account_of(bytes);
            let found = bench.select(&format!("SELECT n FROM t {index} WHERE {column} IN ({list})"));
            (found, FILTERS_BOUND.get() - before)
        };
        let (found, bound) = select(&list, None);
        assert!(!found.is_empty() && bound == 1, "{column}");
        assert_eq!(select(&format!("{list}, {item}"), None), (found.clone(), 0), "a longer list of {column}");
        assert_eq!(select(&list, Some(16)), (found, 0), "{column} with little memory");
    }
}

pub(super) fn account_of(bytes: Option<u64>) -> Rc<StatementAccount> {
    let Some(statement_bytes) = bytes else { return StatementAccount::unlimited() };
    let connection = ConnectionAccount::new(Arc::new(ServerAccount::default()));
    connection.set_limits(ConnectionLimits { statement_bytes, ..ConnectionLimits::default() });
    StatementAccount::new(connection)
}
