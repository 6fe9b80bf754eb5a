//! Groups found by the keys of an index are those found by values.

use std::sync::atomic::Ordering;

use base::prng::Prng;
use engine::BeginOptions;
use types::{ColumnDef, IndexDef, IndexKind, TableDef};

use super::support::*;
use crate::key_runs::RUNS_FOUND;

const TEXTS: [&str; 9] = ["'a'", "'A'", "'b'", "'B'", "''", "'ab'", "'Abc'", "'abc '", "NULL"];
const INDEXES: &str = "a, ba, c, d, cda";
/// What is grouped by, and the rows' filter.
const GROUPS: [(&str, &str); 12] = [
    ("a", ""),
    ("b", ""),
    ("a, b", ""),
    ("b, a", ""),
    ("c", ""),
    ("d", ""),
    ("c, d", ""),
    ("d", "WHERE c = 3"),
    ("a", "WHERE c = 3 AND d IN (1, 2)"),
    ("a", "WHERE id % 5 > 1"),
    ("c", "WHERE d > 4"),
    ("b", "WHERE b IS NOT NULL AND CHAR_LENGTH(a) > 0"),
];
const AGGREGATES: [&str; 4] = [
    "COUNT(*)",
    "COUNT(*), COUNT(b), SUM(b), MIN(b), MAX(b), SUM(id)",
    "COUNT(a), SUM(id), GROUP_CONCAT(id ORDER BY id)",
    "COUNT(DISTINCT id % 7), MAX(id)",
];

fn definition() -> TableDef {
    let columns = vec![
        ColumnDef::new("id", int_type(), false),
        ColumnDef::new("a", text_type(8), true),
        ColumnDef::new("b", int_type(), true),
        ColumnDef::new("c", int_type(), false),
        ColumnDef::new("d", int_type(), false),
    ];
    let mut indexes = vec![
        IndexDef::new("PRIMARY", IndexKind::Primary, &[0]),
        IndexDef::new("a", IndexKind::Secondary, &[1]),
        IndexDef::new("ba", IndexKind::Secondary, &[2, 1]),
        IndexDef::new("c", IndexKind::Secondary, &[3]),
        IndexDef::new("d", IndexKind::Secondary, &[4]),
        IndexDef::new("cda", IndexKind::Secondary, &[3, 4, 1]),
    ];
    indexes[4].parts[0].desc = true;
    TableDef::new("s", "t", columns, indexes)
}

/// Rows `from..to`: `distinct` values of `b`, ten of `c`, and as many of `d`.
fn insert(bench: &mut Bench, prng: &mut Prng, (from, to): (u64, u64), distinct: u64) {
    for id in from..to {
        let text = TEXTS[prng.below(TEXTS.len() as u64) as usize];
        let b = if prng.below(9) == 0 { "NULL".to_owned() } else { prng.below(distinct).to_string() };
        let (c, d) = (prng.below(10), prng.below(10));
        bench.run(&format!("INSERT INTO t VALUES ({id}, {text}, {b}, {c}, {d})"));
    }
}

/// Every query, and that without indexes.
fn queries() -> impl Iterator<Item = (String, String)> {
    GROUPS.iter().flat_map(|(by, filter)| AGGREGATES.iter().map(move |aggs| (by, filter, aggs))).map(
        |(by, filter, aggs)| {
            let shown: Vec<_> = by.split(", ").map(|column| format!("LOWER({column})")).collect();
            let query = |ignored| {
                format!(
                    "SELECT {}, {aggs} FROM t {ignored} {filter} GROUP BY {by} ORDER BY {by}",
                    shown.join(", ")
                )
            };
            (query(""), query(&format!("IGNORE INDEX ({INDEXES})")))
        },
    )
}

/// Compares all queries; returns their answers.
fn compare_all(bench: &mut Bench) -> Vec<String> {
    let compared = queries().map(|(by_keys, by_values)| {
        let answer = bench.select(&by_keys);
        assert_eq!(answer, bench.select(&by_values), "{by_keys}");
        answer
    });
    compared.collect()
}

#[test]
fn groups_by_keys_are_groups_by_values() {
    let (mut bench, mut prng) = (Bench::new(), Prng::new(7));
    bench.create(definition());
    assert_eq!(compare_all(&mut bench).concat(), "");
    insert(&mut bench, &mut prng, (0, 1500), 20);
    compare_all(&mut bench);
    insert(&mut bench, &mut prng, (1500, 4000), 100_000);
    let before = RUNS_FOUND.get();
    let seen = compare_all(&mut bench);
    assert!(RUNS_FOUND.get() > before + 10_000, "{} runs", RUNS_FOUND.get() - before);
    bench.engine.commit(&mut bench.trx).unwrap();
    bench.trx = bench.engine.begin(BeginOptions::default());
    assert_eq!(compare_all(&mut bench), seen);
    // A view from before others' changes sees other versions of the rows, and none of the new ones.
    let newer = bench.engine.begin(BeginOptions::default());
    let view = std::mem::replace(&mut bench.trx, newer);
    insert(&mut bench, &mut prng, (4000, 4500), 1000);
    bench.run("DELETE FROM t WHERE id % 11 = 0");
    bench.run("UPDATE t SET b = b + 1, d = (d + 3) % 10 WHERE id % 7 = 0");
    let changed = compare_all(&mut bench);
    bench.engine.commit(&mut bench.trx).unwrap();
    bench.trx = view;
    assert_eq!(compare_all(&mut bench), seen);
    bench.engine.commit(&mut bench.trx).unwrap();
    bench.trx = bench.engine.begin(BeginOptions::default());
    assert_eq!(compare_all(&mut bench), changed);
}

#[test]
fn values_are_counted_in_every_index() {
    let (mut bench, mut prng) = (Bench::new(), Prng::new(10));
    bench.create(definition());
    insert(&mut bench, &mut prng, (0, 1200), 300);
    for filter in ["", "WHERE c > 3", "WHERE d = 4", "WHERE CHAR_LENGTH(a) = 1", "WHERE id < 0"] {
        for index in ["PRIMARY", "ba", "cda"] {
            let from = format!("FROM t FORCE INDEX ({index}) {filter}");
            let counted =
                bench.select(&format!("SELECT COUNT(a), COUNT(b), COUNT(c), COUNT(id), COUNT(1) {from}"));
            let is_value = |column: &str| format!("COUNT(IF({column} IS NULL, NULL, 1))");
            let lists = ["a", "b", "c", "id", "id"].map(is_value).join(", ");
            assert_eq!(counted, bench.select(&format!("SELECT {lists} {from}")), "{from}");
        }
    }
    // A row of the outer table for many of the inner one, and the other way round.
    for on in ["u.id = t.c", "t.id = u.c"] {
        let query = |counted: &str| format!("SELECT {counted} FROM t STRAIGHT_JOIN t u ON {on}");
        let counted = bench.select(&query("COUNT(t.a), COUNT(u.a), COUNT(t.b), COUNT(u.b)"));
        let oracle =
            ["t.a", "u.a", "t.b", "u.b"].map(|column| format!("COUNT(IF({column} IS NULL, NULL, 1))"));
        assert_eq!(counted, bench.select(&query(&oracle.join(", "))), "{on}");
    }
}

#[test]
fn distinct_rows_by_keys_are_those_by_values() {
    let (mut bench, mut prng) = (Bench::new(), Prng::new(9));
    bench.create(definition());
    insert(&mut bench, &mut prng, (0, 2000), 300);
    let before = RUNS_FOUND.get();
    for columns in ["b", "c", "d", "c, d", "d, c"] {
        for filter in ["", "WHERE c = 3", "WHERE c + d > 4", "WHERE CHAR_LENGTH(a) = 1"] {
            let query = |ignored: &str| {
                format!("SELECT DISTINCT {columns} FROM t {ignored} {filter} ORDER BY {columns}")
            };
            let by_values = bench.select(&query(&format!("IGNORE INDEX ({INDEXES})")));
            for forced in ["", "FORCE INDEX (ba)", "FORCE INDEX (c)", "FORCE INDEX (d)", "FORCE INDEX (cda)"]
            {
                assert_eq!(bench.select(&query(forced)), by_values, "{}", query(forced));
            }
        }
    }
    assert!(RUNS_FOUND.get() > before + 500, "{} runs", RUNS_FOUND.get() - before);
}

#[test]
fn a_limit_ends_the_reading() {
    let (mut bench, mut prng) = (Bench::new(), Prng::new(8));
    bench.create(definition());
    insert(&mut bench, &mut prng, (0, 2000), 100_000);
    for sql in
        ["SELECT b, COUNT(*) FROM t GROUP BY b ORDER BY b", "SELECT c, SUM(d) FROM t GROUP BY c ORDER BY c"]
    {
        let all = bench.select(sql);
        for limit in [1, 2, 9] {
            let examined = bench.rows_examined.load(Ordering::Relaxed);
            let some = bench.select(&format!("{sql} LIMIT {limit}"));
            assert_eq!(some.split(',').collect::<Vec<_>>(), all.split(',').take(limit).collect::<Vec<_>>());
            let examined = bench.rows_examined.load(Ordering::Relaxed) - examined;
            assert!(examined < 2000, "{examined} rows");
        }
    }
}
