//! Rows sent by compiled projections against rows sent a value at a time, on seeded random tables.

use base::prng::Prng;
use engine::BeginOptions;
use types::{CollationId, ColumnDef, IndexDef, IndexKind, SqlType, TableDef, TypeKind};

use super::support::*;
use crate::Protocol;
use crate::record_projection::{KEY_PARTS_STORED, KEY_TEXTS_STORED};

const MOMENTS: [&str; 3] = ["'2024-02-29 23:59:58.123456'", "'1970-01-02 03:04:05'", "'2000-10-10'"];

/// A column type and how to draw a literal of it.
pub(super) type Drawn = (SqlType, fn(&mut Prng) -> String);

fn integer(kind: TypeKind, unsigned: bool) -> SqlType {
    SqlType { unsigned, ..SqlType::new(kind, 20) }
}

fn any(prng: &mut Prng, of: &[&str]) -> String {
    of[prng.below(of.len() as u64) as usize].to_owned()
}

/// A number of up to `bits` bits, small ones as often as large ones.
fn number(prng: &mut Prng, bits: u64) -> u64 {
    prng.below(1 << 62) >> (62 - prng.below(bits + 1).min(62))
}

fn signed(prng: &mut Prng, bits: u64) -> String {
    let number = number(prng, bits - 1);
    if prng.below(2) == 0 { format!("{number}") } else { format!("-{number}") }
}

fn quoted(prng: &mut Prng, longest: u64) -> String {
    format!("REPEAT('{}', {})", char::from(b'a' + prng.below(26) as u8), prng.below(longest + 1))
}

fn members(kind: TypeKind) -> SqlType {
    SqlType {
        members: Some(
            [b"one".as_slice().into(), b"two".as_slice().into(), "drei\u{e4}".as_bytes().into()].into(),
        ),
        collation: CollationId::UTF8MB4_0900_AI_CI,
        ..SqlType::new(kind, 10)
    }
}

fn fraction(kind: TypeKind, decimals: u8) -> SqlType {
    SqlType { decimals, ..SqlType::new(kind, 26) }
}

pub(super) fn kinds() -> Vec<Drawn> {
    let mut kinds: Vec<Drawn> = vec![
        (integer(TypeKind::TinyInt, false), |r| signed(r, 8)),
        (integer(TypeKind::SmallInt, false), |r| signed(r, 16)),
        (integer(TypeKind::MediumInt, false), |r| signed(r, 24)),
        (integer(TypeKind::Int, false), |r| signed(r, 32)),
        (integer(TypeKind::BigInt, false), |r| signed(r, 62)),
        (integer(TypeKind::TinyInt, true), |r| number(r, 8).to_string()),
        (integer(TypeKind::SmallInt, true), |r| number(r, 16).to_string()),
        (integer(TypeKind::MediumInt, true), |r| number(r, 24).to_string()),
        (integer(TypeKind::Int, true), |r| number(r, 32).to_string()),
        (integer(TypeKind::BigInt, true), |r| number(r, 62).to_string()),
        (SqlType { zerofill: true, length: 7, ..integer(TypeKind::Int, true) }, |r| {
            number(r, 20).to_string()
        }),
        (SqlType::decimal(12, 3), |r| format!("{}.{}", signed(r, 29), r.below(1000))),
        (SqlType::decimal(40, 0), |r| format!("{}0000000000000", signed(r, 62))),
        (SqlType::double(), |r| format!("{}e{}", signed(r, 50), r.below(200))),
        (SqlType { kind: TypeKind::Float, ..SqlType::double() }, |r| format!("{}e-3", signed(r, 20))),
        (fraction(TypeKind::Double, 2), |r| format!("{}.25", signed(r, 40))),
    ];
    kinds.extend(others());
    kinds
}

fn others() -> Vec<Drawn> {
    let text = CollationId::UTF8MB4_0900_AI_CI;
    vec![
        (SqlType::new(TypeKind::Date, 10), |r| any(r, &["'2024-02-29'", "'1000-01-01'", "'9999-12-31'"])),
        (fraction(TypeKind::DateTime, 0), |r| any(r, &MOMENTS)),
        (fraction(TypeKind::DateTime, 6), |r| any(r, &MOMENTS)),
        (fraction(TypeKind::Timestamp, 3), |r| any(r, &MOMENTS)),
        (fraction(TypeKind::Time, 2), |r| any(r, &["'-838:59:59'", "'00:00:00.25'", "'12:34:56'"])),
        (SqlType::new(TypeKind::Year, 4), |r| any(r, &["1901", "2155", "2024"])),
        (members(TypeKind::Enum), |r| any(r, &["'one'", "'drei\u{e4}'"])),
        (members(TypeKind::Set), |r| any(r, &["''", "'one,two'", "'two,drei\u{e4}'"])),
        (SqlType::new(TypeKind::Bit, 13), |r| r.below(1 << 13).to_string()),
        (SqlType::new(TypeKind::Binary, 5), |r| quoted(r, 5)),
        (SqlType::new(TypeKind::VarBinary, 90), |r| quoted(r, 90)),
        (SqlType { collation: text, ..SqlType::new(TypeKind::Char, 30) }, |r| quoted(r, 30)),
        (SqlType::varchar(300, text), |r| quoted(r, 300)),
        (SqlType::varchar(20, text), |r| quoted(r, 20)),
    ]
}

/// Creates `name`, of random columns after the key (a, b), with `rows` rows; its column names.
pub(super) fn create(bench: &mut Bench, prng: &mut Prng, name: &str, rows: u64) -> Vec<String> {
    let kinds = kinds();
    let mut columns = vec![
        ColumnDef::new("a", integer(TypeKind::BigInt, true), false),
        ColumnDef::new("b", int_type(), false),
    ];
    let drawn: Vec<&Drawn> =
        (0..=prng.below(10)).map(|_| &kinds[prng.below(kinds.len() as u64) as usize]).collect();
    let nullable: Vec<bool> = drawn.iter().map(|_| prng.below(2) == 0).collect();
    for (i, (ty, _)) in drawn.iter().enumerate() {
        columns.push(ColumnDef::new(&format!("c{i}"), ty.clone(), nullable[i]));
    }
    let names = columns.iter().map(|column| column.name.to_string()).collect();
    bench.create(TableDef::new(
        "s",
        name,
        columns,
        vec![IndexDef::new("PRIMARY", IndexKind::Primary, &[0, 1])],
    ));
    for a in 0..rows {
        let mut values =
            vec![(a << prng.below(40)).to_string(), (prng.below(2000) as i64 - 1000).to_string()];
        for ((_, draw), nullable) in drawn.iter().zip(&nullable) {
            let null = *nullable && prng.below(4) == 0;
            values.push(if null { "NULL".to_owned() } else { draw(prng) });
        }
        bench.run(&format!("INSERT IGNORE INTO {name} VALUES ({})", values.join(",")));
    }
    names
}

/// The rows of random columns of a table, in both protocols, compiled and a value at a time.
fn compare_answers(bench: &mut Bench, prng: &mut Prng, table: &str, names: &[String]) {
    let columns: Vec<_> =
        (0..=prng.below(8)).map(|_| &names[prng.below(names.len() as u64) as usize][..]).collect();
    let order = ["", " ORDER BY a DESC, b DESC"][prng.below(2) as usize];
    let list = columns.join(",");
    for protocol in [Protocol::Text, Protocol::Binary] {
        let mut answer = |filter: &str| {
            let plan = bench.plan(&format!("SELECT {list} FROM {table}{filter}{order}"));
            let (outcome, packets) = bench.run_as(protocol, plan, &[]);
            outcome.unwrap();
            packets
        };
        let (compiled, oracle) = (answer(""), answer(" WHERE a + 0 >= 0"));
        assert!(compiled == oracle, "{list} of {table}{order}, {protocol:?}");
        let (compiled, oracle) = (answer(" WHERE a < 300"), answer(" WHERE a < 300 AND b + 0 > -5000"));
        assert!(compiled == oracle, "{list} of a range of {table}{order}, {protocol:?}");
    }
}

#[test]
fn compiled_projections_send_what_is_sent_a_value_at_a_time() {
    for seed in 1..=12 {
        let mut prng = Prng::new(seed);
        let mut bench = Bench::new();
        let rows = [0, 1, 30, 250][prng.below(4) as usize];
        let names = create(&mut bench, &mut prng, "t", rows);
        for _ in 0..6 {
            compare_answers(&mut bench, &mut prng, "t", &names);
        }
    }
}

#[test]
fn older_versions_are_projected_like_records() {
    let mut prng = Prng::new(77);
    let mut bench = Bench::new();
    let names = create(&mut bench, &mut prng, "t", 120);
    bench.engine.commit(&mut bench.trx).unwrap();
    bench.trx = bench.engine.begin(BeginOptions::default());
    let before = bench.select("SELECT COUNT(*), SUM(b), MIN(a), MAX(b) FROM t");
    // The writer's changes are not in the reader's view.
    let reader = std::mem::replace(&mut bench.trx, bench.engine.begin(BeginOptions::default()));
    for modulus in [3, 5] {
        bench.run(&format!("UPDATE t SET b = b + 3000 WHERE b % {modulus} = 0"));
    }
    bench.run("DELETE FROM t WHERE b % 7 = 0");
    compare_answers(&mut bench, &mut prng, "t", &names);
    bench.trx = reader;
    assert_eq!(bench.select("SELECT COUNT(*), SUM(b), MIN(a), MAX(b) FROM t"), before);
    for _ in 0..6 {
        compare_answers(&mut bench, &mut prng, "t", &names);
    }
}

/// A text of any case, some of them of other characters too, or long.
fn worded(prng: &mut Prng) -> String {
    let words = ["anna", "Bob", "CEE", "d\u{e9}j\u{e0}", "E-4 [x]", "\t", " "];
    let count = if prng.below(20) == 0 { 60 } else { prng.below(5) };
    let text: String = (0..count).map(|_| words[prng.below(7) as usize]).collect();
    format!("'{text}{}'", prng.below(200))
}

/// The contents of packets, sorted.
fn sorted_rows(mut packets: &[u8]) -> Vec<Vec<u8>> {
    let mut rows = Vec::new();
    while let [low, middle, high, _, rest @ ..] = packets {
        let row;
        (row, packets) = rest.split_at(u32::from_le_bytes([*low, *middle, *high, 0]) as usize);
        rows.push(row.to_vec());
    }
    rows.sort_unstable();
    rows
}

#[test]
fn texts_of_an_index_are_those_of_the_rows() {
    let mut bench = Bench::new();
    let mut prng = Prng::new(71);
    let text = |length| SqlType::varchar(length, CollationId::UTF8MB4_0900_AI_CI);
    bench.create(TableDef::new(
        "s",
        "t",
        vec![
            ColumnDef::new("id", int_type(), false),
            ColumnDef::new("v", text(500), true),
            ColumnDef::new("w", SqlType { kind: TypeKind::Char, ..text(250) }, false),
        ],
        vec![
            IndexDef::new("PRIMARY", IndexKind::Primary, &[0]),
            IndexDef::new("v", IndexKind::Secondary, &[1]),
            IndexDef::new("wv", IndexKind::Secondary, &[2, 1]),
        ],
    ));
    for id in 0..1500 {
        let v = if prng.below(6) == 0 { "NULL".to_owned() } else { worded(&mut prng) };
        bench.run(&format!("INSERT INTO t VALUES ({id}, {v}, {})", worded(&mut prng)));
    }
    bench.run("UPDATE t SET v = UPPER(v) WHERE id % 3 = 0");
    bench.run("UPDATE t SET w = LOWER(w), v = CONCAT('a', v) WHERE id % 7 = 0");
    for list in ["v", "id, v", "w, v, id", "v, w, v", "w"] {
        let (texts, parts) = compare_index(&mut bench, if list.contains('w') { "wv" } else { "v" }, list);
        assert!(texts > 500, "{texts} texts of {list}");
        // The key's integer has no constant place after a text.
        assert!(parts.1 >= 1500 || !list.contains("id"), "{parts:?} parts of keys in {list}");
    }
}

/// Compares the answers of an index with those of the rows, in both protocols; returns how many texts each
/// has shown at least, and how many parts of keys the text protocol and the binary one.
fn compare_index(bench: &mut Bench, index: &str, list: &str) -> (usize, (usize, usize)) {
    let (mut texts, mut parts) = (usize::MAX, Vec::new());
    for protocol in [Protocol::Text, Protocol::Binary] {
        let mut answer = |from: &str| {
            let plan = bench.plan(&format!("SELECT {list} FROM t {from}"));
            let (outcome, packets) = bench.run_as(protocol, plan, &[]);
            outcome.unwrap();
            sorted_rows(&packets)
        };
        let of_rows = answer("FORCE INDEX (PRIMARY) WHERE id >= 0 OR v > ''");
        assert!(of_rows.len() > 1500, "rows and what is around them");
        let before = (KEY_TEXTS_STORED.get(), KEY_PARTS_STORED.get());
        assert_eq!(answer(&format!("FORCE INDEX ({index})")), of_rows, "{list}");
        texts = texts.min(KEY_TEXTS_STORED.get() - before.0);
        parts.push(KEY_PARTS_STORED.get() - before.1);
        // A value at a time.
        assert_eq!(answer(&format!("FORCE INDEX ({index}) WHERE id + 1 > 0")), of_rows, "{list}");
    }
    (texts, (parts[0], parts[1]))
}

#[test]
fn numbers_of_an_index_are_those_of_the_rows() {
    let (mut bench, mut prng) = (Bench::new(), Prng::new(72));
    let drawn = [
        ("a", integer(TypeKind::Int, false), true),
        ("b", integer(TypeKind::SmallInt, true), true),
        ("c", integer(TypeKind::BigInt, false), false),
        ("d", SqlType::new(TypeKind::Date, 10), true),
        ("e", SqlType::new(TypeKind::Year, 4), false),
        ("f", SqlType { zerofill: true, ..integer(TypeKind::MediumInt, true) }, true),
    ];
    let mut columns = vec![ColumnDef::new("id", int_type(), false), ColumnDef::new("v", text_type(40), true)];
    columns.extend(drawn.map(|(name, ty, nullable)| ColumnDef::new(name, ty, nullable)));
    let mut indexes = vec![
        IndexDef::new("PRIMARY", IndexKind::Primary, &[0]),
        IndexDef::new("abc", IndexKind::Secondary, &[2, 3, 4]),
        IndexDef::new("vdef", IndexKind::Secondary, &[1, 5, 6, 7]),
        IndexDef::new("va", IndexKind::Secondary, &[1, 2]),
    ];
    indexes[3].parts[1].desc = true;
    bench.create(TableDef::new("s", "t", columns, indexes));
    for id in 0..1500 {
        let mut or_null = |value: String| if prng.below(6) == 0 { "NULL".to_owned() } else { value };
        let (a, b, f) = (
            or_null(format!("{id} * 1000 - 700000")),
            or_null(format!("{}", id * 40)),
            or_null(id.to_string()),
        );
        let (v, d) = (
            or_null(format!("'Name {}'", id % 300)),
            or_null(format!("'20{:02}-0{}-11'", id % 90, 1 + id % 9)),
        );
        let c = format!("{id} * -6000000000000000");
        bench.run(&format!("INSERT INTO t VALUES ({id}, {v}, {a}, {b}, {c}, {d}, {}, {f})", 1990 + id % 50));
    }
    for (index, lists) in [
        ("abc", ["a", "b, c", "id, c, a, b"]),
        ("vdef", ["d, f", "id, e", "v, d, e, f, id"]),
        ("va", ["a", "id", "a, v"]),
    ] {
        for list in lists {
            let (_, (text, binary)) = compare_index(&mut bench, index, list);
            assert!(text >= 1500, "{text} parts of keys in {list}");
            assert!(binary >= 1500 || !["id", "id, e"].contains(&list), "{binary} parts of keys in {list}");
        }
    }
}
