//! Kernels over page bytes against the interpreter, on seeded random rows.

use bumpalo::Bump;
use expr::{Builder, EvalCtx, Func, RowSource};
use types::{ColumnDef, IndexDef, IndexKind, SqlModes, SqlType, TableDef, TypeKind, Value};

use super::support::*;
use crate::Protocol;
use crate::int_sum::int_sum;

/// A generator of its own: the same rows in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

const KINDS: [(TypeKind, u32); 5] = [
    (TypeKind::TinyInt, 8),
    (TypeKind::SmallInt, 16),
    (TypeKind::MediumInt, 24),
    (TypeKind::Int, 32),
    (TypeKind::BigInt, 63),
];

/// A column of every integer type, signed and unsigned, nullable; keys on some.
fn bench(rows: usize) -> (Bench, Vec<String>) {
    let mut bench = Bench::new();
    let mut columns = vec![ColumnDef::new("id", int_type(), false)];
    for (i, (kind, _)) in KINDS.iter().enumerate() {
        for unsigned in [false, true] {
            let name = format!("{}{i}", if unsigned { "u" } else { "s" });
            columns.push(ColumnDef::new(&name, SqlType { unsigned, ..SqlType::new(*kind, 20) }, true));
        }
    }
    let keys =
        [("PRIMARY", IndexKind::Primary, 0), ("a", IndexKind::Secondary, 3), ("b", IndexKind::Secondary, 8)];
    let indexes = keys.map(|(name, kind, col)| IndexDef::new(name, kind, &[col])).to_vec();
    let names: Vec<String> = columns.iter().map(|column| column.name.to_string()).collect();
    bench.create(TableDef::new("s", "t", columns, indexes));
    let mut random = Random(42);
    for id in 0..rows {
        let mut values = vec![id.to_string()];
        for (_, bits) in KINDS {
            let half = 1i64 << (bits.min(40) - 1);
            let (wide, null) = (random.below(2 * half as u64) as i64, random.below(8) == 0);
            for value in [wide - half, wide] {
                values.push(if null { "NULL".to_owned() } else { value.to_string() });
            }
        }
        bench.run(&format!("INSERT INTO t VALUES ({})", values.join(",")));
    }
    (bench, names)
}

#[test]
fn integer_aggregates_are_those_of_the_interpreter() {
    let (mut bench, names) = bench(400);
    for name in &names {
        let of = |x: &str| format!("SELECT COUNT({x}), SUM({x}), MIN({x}), MAX({x}) FROM t");
        let (kernel, oracle) = (bench.select(&of(name)), bench.select(&of(&format!("{name} + 0"))));
        assert_eq!(kernel, oracle, "{name}");
    }
    assert_eq!(bench.select("SELECT COUNT(*) FROM t"), "400");
}

#[test]
fn date_aggregates_are_those_of_the_interpreter() {
    let mut bench = Bench::new();
    let date = || SqlType::new(TypeKind::Date, 10);
    let columns = vec![
        ColumnDef::new("k", date(), false),
        ColumnDef::new("n", int_type(), false),
        ColumnDef::new("d", date(), true),
    ];
    let indexes = vec![
        IndexDef::new("PRIMARY", IndexKind::Primary, &[0, 1]),
        IndexDef::new("d", IndexKind::Secondary, &[2]),
    ];
    bench.create(TableDef::new("s", "t", columns, indexes));
    let mut random = Random(3);
    for n in 0..300 {
        let mut date = || match random.below(9) {
            0 => "'0000-00-00'".to_owned(),
            _ => format!("'20{:02}-{:02}-{:02}'", random.below(100), random.below(13), random.below(29)),
        };
        let (k, d) = (date(), if n % 7 == 0 { "NULL".to_owned() } else { date() });
        bench.run(&format!("INSERT IGNORE INTO t VALUES ({k}, {n}, {d})"));
    }
    for (name, index) in [("k", "PRIMARY"), ("d", "PRIMARY"), ("d", "d")] {
        let of = |x: &str| format!("SELECT COUNT({x}), MIN({x}), MAX({x}) FROM t FORCE INDEX ({index})");
        let oracle = bench.select(&of(&format!("COALESCE({name})")));
        assert_eq!(bench.select(&of(name)), oracle, "{name} by {index}");
    }
    assert_eq!(bench.select("SELECT MIN(d), MAX(k), COUNT(d) FROM t WHERE n < 0"), "NULL NULL 0");
}

#[test]
fn integer_tests_are_those_of_the_interpreter() {
    let (mut bench, names) = bench(300);
    let mut random = Random(7);
    for name in &names {
        for op in ["=", "<>", "<", "<=", ">", ">="] {
            let value =
                bench.select(&format!("SELECT COALESCE({name}, 5) FROM t WHERE id = {}", random.below(300)));
            let kernel = bench
                .select(&format!("SELECT COUNT(*) FROM t IGNORE INDEX (a, b) WHERE {name} {op} {value}"));
            let oracle = bench.select(&format!("SELECT COUNT(*) FROM t WHERE {name} + 0 {op} {value} + 0"));
            assert_eq!(kernel, oracle, "{name} {op} {value}");
            let both =
                format!("SELECT COUNT(*) FROM t WHERE {value} {op} {name} AND id + 0 < 200 AND id < 250");
            let plain = format!("SELECT COUNT(*) FROM t WHERE {value} + 0 {op} {name} + 0 AND id + 0 < 200");
            assert_eq!(bench.select(&both), bench.select(&plain), "{both}");
        }
    }
}

#[test]
fn rows_of_plain_columns_are_those_sent_one_at_a_time() {
    let (mut bench, names) = bench(300);
    filled(&mut bench, "strings", 200);
    let columns = vec![
        ColumnDef::new("n", int_type(), false),
        ColumnDef::new("b", SqlType { length: 3, ..SqlType::new(TypeKind::Binary, 3) }, true),
        ColumnDef::new("v", text_type(300), true),
    ];
    bench.create(TableDef::new(
        "s",
        "long_strings",
        columns,
        vec![IndexDef::new("PRIMARY", IndexKind::Primary, &[0])],
    ));
    for (n, text) in ["NULL", "''", "REPEAT('x', 250)", "REPEAT('y', 251)"].iter().enumerate() {
        bench.run(&format!("INSERT INTO long_strings VALUES ({n}, 'ab', {text})"));
    }
    let simple: Vec<&str> = names.iter().map(String::as_str).filter(|name| !name.ends_with('2')).collect();
    let queries = [
        (format!("SELECT {} FROM t IGNORE INDEX (a, b)", simple.join(",")), "id"),
        (format!("SELECT {} FROM t IGNORE INDEX (a, b)", names.join(",")), "id"),
        ("SELECT u1, id, id FROM t FORCE INDEX (a)".to_owned(), "id"),
        ("SELECT * FROM strings".to_owned(), "id"),
        ("SELECT v, n, v, b FROM long_strings".to_owned(), "n"),
    ];
    for (query, key) in queries {
        for protocol in [Protocol::Text, Protocol::Binary] {
            let mut packets = |filter: &str| {
                let plan = bench.plan(&format!("{query}{filter}"));
                let (outcome, packets) = bench.run_as(protocol, plan, &[]);
                assert!(outcome.unwrap().rows_sent > 0);
                packets
            };
            let oracle = packets(&format!(" WHERE {key} + 0 >= 0"));
            assert!(packets("") == oracle, "{query} {protocol:?}");
        }
    }
}

/// A row of one column.
struct One(Value<'static>);

impl RowSource for One {
    fn column(&self, _rel: u16, _col: u16) -> Value<'_> {
        self.0
    }
}

#[test]
fn sums_of_integers_are_those_of_the_interpreter() {
    let mut random = Random(7);
    let bench = Bench::new();
    let (mut sums, mut left) = (0, 0);
    for _ in 0..4000 {
        let edge = [0, 1, i64::MAX, i64::MIN, -1][random.below(5) as usize];
        let near = edge.wrapping_add(random.below(5) as i64 - 2);
        let mut value = |unsigned: bool, wide: bool| match (random.below(9), wide) {
            (0, _) => Value::Null,
            (1, true) => Value::Double(1.5),
            (2, true) => Value::binary(b"12"),
            (3 | 4, _) => {
                if unsigned {
                    Value::UInt(near as u64)
                } else {
                    Value::Int(near)
                }
            }
            (n, _) => {
                if unsigned {
                    Value::UInt(n)
                } else {
                    Value::Int(n as i64 - 6)
                }
            }
        };
        let (column, parameter) = (value(near % 2 == 0, false), value(near % 3 == 0, true));
        let modes = if near % 5 == 0 { SqlModes::NO_UNSIGNED_SUBTRACTION } else { SqlModes::default() };
        let builder = Builder { modes, ..Builder::default() };
        let ty = |unsigned| SqlType { unsigned, ..SqlType::bigint() };
        let operands = [
            builder.column(0, 0, ty(matches!(column, Value::UInt(_))), true),
            builder.param(0, ty(matches!(parameter, Value::UInt(_)))),
            builder.int(random.below(3) as i64 - 1),
        ];
        let [a, b] = [(); 2].map(|()| operands[random.below(3) as usize].clone());
        let func = [Func::Add, Func::Sub, Func::Mul][random.below(3) as usize];
        let expr = builder.operator(func, vec![a, b]).unwrap();
        let (row, params, arena) = (One(column), [parameter], Bump::new());
        let ctx = EvalCtx::new(&arena, &params, &bench.session);
        match (int_sum(&expr, &row, &params), expr.eval(&row, &ctx)) {
            (Some(sum), value) => {
                assert_eq!(Some(sum), value.ok(), "{expr:?} of {column:?}, {params:?}");
                sums += 1;
            }
            (None, _) => left += 1,
        }
    }
    assert!(sums > 1000 && left > 1000, "{sums} sums, {left} left to the interpreter");
}
