//! LIKE decided on page bytes is what the interpreter decides.

use types::{CollationId, ColumnDef, IndexDef, IndexKind, SqlType, TableDef, TypeKind};

use super::support::*;
use crate::filter_like::{PATTERNS_BOUND, STARTS_IN_KEYS};

const TEXTS: [&str; 12] = ["", "a", "A", "ab", "aB", "á", "ßa", "a%", "a_b", "ab  ", "abcabc", "zab"];
const PATTERNS: [&str; 14] =
    ["%", "", "a%", "A%", "%b", "_", "a_%", "%ab%", "á%", "ss%", "a|%", "a|_b", "%c%c", "ab"];

fn definition() -> TableDef {
    let of = |collation, kind| SqlType { collation, ..SqlType { kind, ..text_type(8) } };
    let columns = vec![
        ColumnDef::new("n", int_type(), false),
        ColumnDef::new("a", of(CollationId::UTF8MB4_0900_AI_CI, TypeKind::VarChar), true),
        ColumnDef::new("b", of(CollationId::UTF8MB4_BIN, TypeKind::VarChar), true),
        ColumnDef::new("c", of(CollationId::UTF8MB4_GENERAL_CI, TypeKind::Char), true),
    ];
    let indexes = vec![
        IndexDef::new("PRIMARY", IndexKind::Primary, &[0]),
        IndexDef::new("a", IndexKind::Secondary, &[1]),
    ];
    TableDef::new("s", "t", columns, indexes)
}

#[test]
fn patterns_find_the_same_rows_on_page_bytes_and_in_the_interpreter() {
    let mut bench = Bench::new();
    bench.create(definition());
    let row = |(n, text): (usize, &&str)| format!("({n}, '{text}', '{text}', '{text}')");
    let mut rows: Vec<String> = TEXTS.iter().enumerate().map(row).collect();
    rows.push("(99, NULL, NULL, NULL)".to_owned());
    bench.run(&format!("INSERT INTO t VALUES {}", rows.join(", ")));
    let (mut found, bound, in_keys) = (0, PATTERNS_BOUND.get(), STARTS_IN_KEYS.get());
    for pattern in PATTERNS {
        for column in ["a", "b", "c"] {
            for (not, escape) in [("", ""), ("NOT ", ""), ("", " ESCAPE '|'"), ("NOT ", " ESCAPE '|'")] {
                let test = format!("{column} {not}LIKE '{pattern}'{escape}");
                let bytes = bench.select(&format!("SELECT n, {column} FROM t WHERE {test}"));
                let value = bench.select(&format!("SELECT n, {column} FROM t WHERE ({test}) + 0 = 1"));
                assert_eq!(bytes, value, "{test}");
                found += bytes.len();
                if column == "a" {
                    let texts =
                        bench.select(&format!("SELECT a FROM t FORCE INDEX (a) WHERE {test} ORDER BY n"));
                    let value = bench.select(&format!("SELECT a FROM t WHERE ({test}) + 0 = 1 ORDER BY n"));
                    assert_eq!(texts, value, "{test} by index");
                }
            }
        }
    }
    assert!(found > 1000, "{found}");
    assert!(STARTS_IN_KEYS.get() > in_keys + 20, "{} decided by keys", STARTS_IN_KEYS.get() - in_keys);
    assert!(PATTERNS_BOUND.get() > bound + 100, "{} tests on page bytes", PATTERNS_BOUND.get() - bound);
    assert_eq!(bench.select("SELECT n FROM t WHERE a LIKE NULL OR a NOT LIKE NULL"), "");
}
