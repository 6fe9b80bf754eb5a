//! Correlated subqueries find the same rows by a hash table that their runs share as without it.

use std::sync::atomic::Ordering;

use sql::plan::{Node, Plan, QueryPlan};
use types::{CollationId, ColumnDef, IndexDef, IndexKind, SqlType, TableDef, TypeKind};

use super::page_filters::account_of;
use super::support::*;
use crate::Protocol;

/// Rows of the inner table.
const INNER: u64 = 300;
const OUTER: u64 = 120;

fn filled() -> Bench {
    let mut bench = Bench::new();
    let text = SqlType { collation: CollationId::UTF8MB4_0900_AI_CI, ..text_type(8) };
    let columns = [
        ("k", int_type()),
        ("j", SqlType::bigint()),
        ("p", SqlType { decimals: 1, ..SqlType::new(TypeKind::Decimal, 6) }),
        ("s", text),
        ("d", SqlType::new(TypeKind::Date, 10)),
        ("f", SqlType::new(TypeKind::Double, 22)),
    ];
    for (table, rows, step) in [("o", OUTER, 7), ("i", INNER, 11)] {
        let mut defs = vec![ColumnDef::new("id", int_type(), false)];
        defs.extend(columns.iter().map(|(name, ty)| ColumnDef::new(name, ty.clone(), true)));
        bench.create(TableDef::new(
            "s",
            table,
            defs,
            vec![IndexDef::new("PRIMARY", IndexKind::Primary, &[0])],
        ));
        for id in 0..rows {
            let value = |at: u64, of: &dyn Fn(u64) -> String| {
                let n = (id * step + at * 5) % 23;
                if n == 7 { "NULL".to_owned() } else { of(n % (8 + at)) }
            };
            let values = [
                value(0, &|n| n.to_string()),
                value(1, &|n| (n + 1).to_string()),
                value(2, &|n| format!("{n}.{}", n % 2 * 5)),
                value(3, &|n| format!("'{}{}'", if id % 2 == 0 { "x" } else { "X" }, n)),
                value(4, &|n| format!("'2024-01-{:02}'", n + 1)),
                value(5, &|n| format!("{n}e0")),
            ];
            bench.run(&format!("INSERT INTO {table} VALUES ({id}, {})", values.join(", ")));
        }
    }
    bench
}

/// Takes the hash tables out of `plan`; how many there were.
fn without_hash(plan: &mut QueryPlan) -> usize {
    let inside: usize = plan.subqueries.iter_mut().map(|sub| without_hash(&mut sub.query)).sum();
    inside + of_node(&mut plan.root)
}

fn of_node(node: &mut Node) -> usize {
    match node {
        Node::HashLookup { each, .. } => {
            let each = std::mem::replace(&mut **each, Node::Empty);
            *node = each;
            1 + of_node(node)
        }
        Node::Join { outer, inner, .. } => of_node(outer) + of_node(inner),
        Node::Filter { input, .. }
        | Node::Aggregate { input, .. }
        | Node::Sort { input, .. }
        | Node::Distinct { input, .. }
        | Node::Limit { input, .. } => of_node(input),
        Node::Derived { query, .. } => without_hash(query),
        _ => 0,
    }
}

/// The packets of `sql`, with and without hash tables, and the rows that were read; `None` if its plan has no
/// hash table.
fn both(bench: &mut Bench, sql: &str) -> Option<[(Vec<Vec<u8>>, u64); 2]> {
    let Plan::Query(plan) = bench.plan(sql) else { panic!("{sql} is no query") };
    let mut plain = plan.clone();
    if without_hash(&mut plain) == 0 {
        return None;
    }
    Some([plan, plain].map(|plan| {
        let before = bench.rows_examined.load(Ordering::Relaxed);
        let (outcome, bytes) = bench.run_as(Protocol::Text, Plan::Query(plan), &[]);
        outcome.unwrap();
        (packets(&bytes), bench.rows_examined.load(Ordering::Relaxed) - before)
    }))
}

/// Conditions that lead to the rows.
const KEYS: [&str; 9] = [
    "i.k = o.k",
    "i.j = o.k AND i.k = o.j",
    "i.p = o.k",
    "i.s = o.s",
    "i.d = o.d AND i.s = o.s",
    "i.f = o.p",
    "i.k + 1 = o.j + o.id",
    "i.s = CONCAT('x', o.k)",
    "o.d = i.d AND i.id < 200",
];
/// What is tested beside.
const ALSO: [&str; 5] =
    ["1 = 1", "i.id <> o.id", "i.j > o.j", "i.p IS NOT NULL AND i.f <= o.f + 2", "(i.k > 3 OR i.j < o.k)"];

#[test]
fn shared_hash_tables_find_what_runs_find_by_themselves() {
    let (mut bench, mut compared) = (filled(), 0);
    for key in KEYS {
        for also in ALSO {
            let condition = format!("{key} AND {also}");
            for sql in [
                format!("SELECT id FROM o WHERE EXISTS (SELECT 1 FROM i WHERE {condition})"),
                format!("SELECT id FROM o WHERE NOT EXISTS (SELECT 1 FROM i WHERE {condition})"),
                format!("SELECT id, (SELECT COUNT(*) FROM i WHERE {condition}) FROM o"),
                format!(
                    "SELECT id, (SELECT SUM(i.k) FROM i JOIN o b ON b.id = i.k WHERE {condition}) FROM o"
                ),
                format!(
                    "SELECT id, (SELECT i.id FROM i WHERE {condition} ORDER BY i.j, i.id LIMIT 1) FROM o"
                ),
                format!("SELECT id, k NOT IN (SELECT i.j FROM i WHERE {condition}) FROM o"),
                format!("SELECT id, k >= ANY (SELECT i.j FROM i WHERE {condition}) FROM o"),
            ] {
                // A list of the values may do as well.
                let Some([(hashed, read), (plain, _)]) = both(&mut bench, &sql) else { continue };
                compared += 1;
                assert!(hashed == plain, "{sql}");
                // The outer rows, what the first runs read, a run more, and the table once. A table that is
                // joined is read by its key for each row found.
                let joined = if sql.contains("JOIN") { 30 * OUTER } else { 0 };
                let read_max = OUTER + 3 * INNER + joined;
                assert!(read <= read_max, "{sql}: {read} rows");
            }
        }
    }
    assert!(compared > 250, "{compared} queries");
}

#[test]
fn without_memory_for_a_hash_table_runs_read_the_table() {
    let mut bench = filled();
    let sql = "SELECT id FROM o WHERE NOT EXISTS (SELECT 1 FROM i WHERE i.s = o.s AND i.id <> o.id + 1000)";
    let [(hashed, read), (plain, read_plainly)] = both(&mut bench, sql).unwrap();
    assert_eq!(hashed, plain);
    assert!(read < read_plainly / 2, "{read} of {read_plainly} rows");
    bench.memory = account_of(Some(8 << 10));
    let [(without, read_without), _] = both(&mut bench, sql).unwrap();
    assert_eq!(without, plain);
    assert!(read_without > read, "{read_without} rows");
}
