//! Index lookups of whole batches against the loop that runs the inner access for one outer row after the
//! other.
//!
//! The loop is forced by conditions on the tables that always hold: their rows are handed on one at a time,
//! and sent so.

use engine::BeginOptions;
use sql::plan::{Node, Plan};
use types::{CollationId, ColumnDef, IndexDef, IndexKind, SqlType, TableDef, TypeKind};

use super::support::*;
use crate::Protocol;

/// A generator of its own: the same rows in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    /// A small number, sometimes one that a narrow column does not hold, sometimes NULL.
    fn number(&mut self, least: i64) -> String {
        match self.below(20) {
            0 => "NULL".to_owned(),
            1 => (200 + self.below(100)).to_string(),
            2 => (1u64 << (31 + self.below(2))).to_string(),
            3 => least.to_string(),
            _ => self.below(60).to_string(),
        }
    }

    fn date(&mut self) -> String {
        format!("'2024-0{}-{:02}'", 1 + self.below(3), 1 + self.below(9))
    }

    fn text(&mut self) -> String {
        format!("'{}{}'", ["n", "N", "name ", "é"][self.below(4) as usize], self.below(12))
    }
}

fn unsigned(kind: TypeKind) -> SqlType {
    SqlType { unsigned: true, ..SqlType::new(kind, 20) }
}

fn date_type() -> SqlType {
    SqlType::new(TypeKind::Date, 10)
}

/// `a` is joined with the others; each of those has another kind of key, and a number `n` and a text `t`.
fn tables(bench: &mut Bench) {
    let a = vec![
        ColumnDef::new("id", int_type(), false),
        ColumnDef::new("i", int_type(), true),
        ColumnDef::new("u", unsigned(TypeKind::BigInt), true),
        ColumnDef::new("s", SqlType::new(TypeKind::SmallInt, 6), true),
        ColumnDef::new("d", date_type(), true),
        ColumnDef::new("v", text_type(20), true),
    ];
    bench.create(TableDef::new("s", "a", a, vec![IndexDef::new("PRIMARY", IndexKind::Primary, &[0])]));
    let keyed = |name: &str, key: Vec<(&str, SqlType, bool)>, parts: &[u16], desc: bool| {
        let mut columns: Vec<_> =
            key.into_iter().map(|(name, ty, null)| ColumnDef::new(name, ty, null)).collect();
        columns.push(ColumnDef::new("n", int_type(), true));
        columns.push(ColumnDef::new("t", text_type(40), true));
        let mut primary = IndexDef::new("PRIMARY", IndexKind::Primary, parts);
        primary.parts.iter_mut().for_each(|part| part.desc = desc);
        bench.create(TableDef::new("s", name, columns, vec![primary]));
    };
    keyed("one", vec![("k", int_type(), false)], &[0], false);
    keyed("down", vec![("k", SqlType::new(TypeKind::BigInt, 20), false)], &[0], true);
    keyed("tiny", vec![("k", unsigned(TypeKind::TinyInt), false)], &[0], false);
    keyed("small", vec![("k", SqlType::new(TypeKind::SmallInt, 6), false)], &[0], false);
    keyed("many", vec![("k", int_type(), false), ("q", int_type(), false)], &[0, 1], false);
    keyed("days", vec![("k", date_type(), false), ("q", int_type(), false)], &[0, 1], true);
    keyed("names", vec![("k", text_type(20), false), ("q", int_type(), false)], &[0, 1], false);
    keyed("pairs", vec![("k", int_type(), false), ("q", date_type(), false)], &[0, 1], false);
    let columns = vec![
        ColumnDef::new("id", int_type(), false),
        ColumnDef::new("k", int_type(), true),
        ColumnDef::new("n", int_type(), true),
    ];
    let second = IndexDef::new("k", IndexKind::Secondary, &[1]);
    let second_def = vec![IndexDef::new("PRIMARY", IndexKind::Primary, &[0]), second];
    bench.create(TableDef::new("s", "second", columns, second_def));
    assert_eq!(text_type(20).collation, CollationId::UTF8MB4_0900_AI_CI);
}

fn fill(bench: &mut Bench, random: &mut Random) {
    for id in 0..700 {
        let values = [random.number(-7), random.number(0), random.number(-7), random.date(), random.text()]
            .map(|value| if random.below(15) == 0 { "NULL".to_owned() } else { value });
        // Keys that follow each other, and runs of one key, as well.
        let i = if id < 300 { (id / 5).to_string() } else { values[0].clone() };
        let s = if values[2].len() > 4 { "NULL" } else { &values[2] };
        let [_, u, _, d, v] = &values;
        bench.run(&format!("INSERT IGNORE INTO a VALUES ({id}, {i}, {u}, {s}, {d}, {v})"));
    }
    for k in 0..60 {
        let mut row = |table: &str, key: String| {
            if random.below(5) > 0 {
                let (n, t) = (random.number(-3), random.text());
                bench.run(&format!("INSERT IGNORE INTO {table} VALUES ({key}, {n}, {t})"));
            }
        };
        for table in ["one", "down", "tiny", "small"] {
            row(table, k.to_string());
        }
        (0..k % 7 * 30).for_each(|q| row("many", format!("{k}, {q}")));
    }
    for n in 0..400 {
        let (day, text, other) = (random.date(), random.text(), random.date());
        let n = n % 40;
        bench.run(&format!("INSERT IGNORE INTO days VALUES ({day}, {n}, {n}, 'x')"));
        bench.run(&format!("INSERT IGNORE INTO names VALUES ({text}, {n}, {n}, NULL)"));
        bench.run(&format!("INSERT IGNORE INTO pairs VALUES ({n}, {other}, NULL, 'x')"));
    }
    for id in 0..900 {
        bench.run(&format!("INSERT IGNORE INTO second VALUES ({id}, {}, {id})", random.number(-3)));
    }
    for (table, key) in [("one", -7), ("down", 1 << 31), ("tiny", 255), ("small", -7)] {
        bench.run(&format!("INSERT INTO {table} VALUES ({key}, 1, 'edge')"));
    }
}

/// Gives each table a condition that holds always.
fn by_rows(node: &mut Node) {
    match node {
        Node::Access { filter, .. } => {
            filter.get_or_insert_with(|| int(1));
        }
        Node::Join { outer, inner, .. } | Node::HashJoin { outer, inner, .. } => {
            by_rows(outer);
            by_rows(inner);
        }
        Node::Filter { input, .. } | Node::Aggregate { input, .. } | Node::Limit { input, .. } => {
            by_rows(input);
        }
        _ => panic!("not a plan of these tests: {node:?}"),
    }
}

/// The packets of a query, run in batches and by rows.
fn both(bench: &mut Bench, sql: &str, protocol: Protocol) -> [Vec<Vec<u8>>; 2] {
    let Plan::Query(plan) = bench.plan(sql) else { panic!("{sql} is no query") };
    let mut rows = plan.clone();
    by_rows(&mut rows.root);
    [plan, rows].map(|plan| {
        let (outcome, bytes) = bench.run_as(protocol, Plan::Query(plan), &[]);
        let (outcome, packets) = (outcome.unwrap(), packets(&bytes));
        assert_eq!(outcome.rows_sent as usize, packets.len() - 1 - usize::from(packets[0][0]), "{sql}");
        packets
    })
}

const ON: [(&str, &str); 14] = [
    ("one", "b.k = a.i"),
    ("one", "b.k = a.u"),
    ("one", "b.k = a.s"),
    ("one", "b.k = a.id"),
    ("down", "b.k = a.u"),
    ("down", "b.k = a.i"),
    ("tiny", "b.k = a.i"),
    ("small", "b.k = a.i"),
    ("many", "b.k = a.i"),
    ("days", "b.k = a.d"),
    ("names", "b.k = a.v"),
    ("pairs", "b.k = a.i AND b.q = a.d"),
    ("pairs", "b.k = a.s AND b.q = '2024-01-02'"),
    ("second", "b.k = a.i"),
];

const SELECT: [&str; 9] = [
    "a.*, b.*",
    "b.k, a.id, b.k, a.v",
    "a.id, a.d",
    "b.*, a.*",
    "a.v, b.*, a.d, a.id",
    "b.k",
    "COUNT(*), SUM(b.n), MAX(a.u), MIN(b.k), COUNT(b.k), SUM(a.id), COUNT(a.i)",
    "COUNT(*), MAX(a.d), MIN(a.d), COUNT(a.d), MIN(b.n), MAX(b.k)",
    "a.id + b.k, a.v",
];

fn compare_all(bench: &mut Bench, random: &mut Random, rounds: usize) {
    for round in 0..rounds {
        let (table, on) = ON[round % ON.len()];
        let select = match (table, SELECT[random.below(9) as usize]) {
            ("names", select) if select.contains("SUM") || select.contains('+') => "COUNT(*), MIN(b.k)",
            ("days", select) if select.contains('+') => "MAX(b.k), MIN(a.d)",
            ("second", select) if select.contains("b.n") => "SUM(b.k), COUNT(b.k), COUNT(b.id)",
            (_, select) => select,
        };
        let join = ["JOIN", "STRAIGHT_JOIN", "LEFT JOIN", "LEFT JOIN"][random.below(4) as usize];
        let also = ["", "", "", " AND a.id < 650", " AND b.k + 0 > 10", " AND a.id + b.k < 600"];
        let also = if matches!(table, "days" | "names") { "" } else { also[random.below(6) as usize] };
        let limit =
            ["", "", " LIMIT 3", " LIMIT 40, 300", " LIMIT 0", " LIMIT 100000"][random.below(6) as usize];
        let protocol = [Protocol::Text, Protocol::Binary][random.below(2) as usize];
        let sql = format!("SELECT STRAIGHT_JOIN {select} FROM a {join} {table} b ON {on}{also}{limit}");
        let sql = if join == "STRAIGHT_JOIN" { sql.replacen("STRAIGHT_JOIN ", "", 1) } else { sql };
        let [batches, rows] = both(bench, &sql, protocol);
        assert!(batches == rows, "{sql} {protocol:?}: {} and {} packets", batches.len(), rows.len());
    }
}

fn bench() -> (Bench, Random) {
    let (mut bench, mut random) = (Bench::new(), Random(11));
    tables(&mut bench);
    fill(&mut bench, &mut random);
    bench.engine.commit(&mut bench.trx).unwrap();
    bench.trx.restart(BeginOptions::default());
    (bench, random)
}

#[test]
fn batches_of_lookups_are_the_nested_loop() {
    let (mut bench, mut random) = bench();
    compare_all(&mut bench, &mut random, 28 * 8);
}

#[test]
fn lookups_see_what_their_view_sees() {
    let (mut bench, mut random) = bench();
    let before =
        bench.select("SELECT COUNT(*), SUM(a.id), SUM(b.n) FROM a STRAIGHT_JOIN many b ON b.k = a.i");
    let mut other = bench.engine.begin(BeginOptions::default());
    std::mem::swap(&mut bench.trx, &mut other);
    for table in ["one", "down", "small", "many", "pairs"] {
        bench.run(&format!("DELETE FROM {table} WHERE k % 5 = 1"));
        bench.run(&format!("UPDATE {table} SET n = n - 1, t = 'a longer text than before' WHERE k % 3 = 0"));
    }
    bench.run("UPDATE second SET k = k - 1 WHERE id % 4 = 0");
    bench.run("DELETE FROM a WHERE id % 11 = 0");
    compare_all(&mut bench, &mut random, 28);
    std::mem::swap(&mut bench.trx, &mut other);
    let now = bench.select("SELECT COUNT(*), SUM(a.id), SUM(b.n) FROM a STRAIGHT_JOIN many b ON b.k = a.i");
    assert_eq!(now, before);
    compare_all(&mut bench, &mut random, 28 * 2);
    bench.engine.commit(&mut other).unwrap();
    compare_all(&mut bench, &mut random, 28);
}

#[test]
fn joins_of_three_tables_are_the_nested_loop() {
    let (mut bench, _) = bench();
    for kind in ["JOIN", "LEFT JOIN"] {
        for (first, second) in [
            ("one b", "many c ON c.k = b.n"),
            ("many b", "one c ON c.k = b.n"),
            ("one b", "small c ON c.k = a.s"),
        ] {
            for select in
                ["a.id, b.*, c.*", "c.n, a.v, b.t, c.k, a.i", "COUNT(*), SUM(b.n), SUM(c.n), SUM(a.id)"]
            {
                let sql = format!(
                    "SELECT STRAIGHT_JOIN {select} FROM a {kind} {first} ON b.k = a.i {kind} {second} LIMIT 5000"
                );
                let [batches, rows] = both(&mut bench, &sql, Protocol::Text);
                assert!(
                    batches == rows && batches.len() > 2,
                    "{sql}: {} and {} packets",
                    batches.len(),
                    rows.len()
                );
            }
        }
    }
}
