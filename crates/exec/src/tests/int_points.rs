//! Keys made of integer parameters.

use sql::plan::{KeyBox, KeySet, PartTest};
use types::{ColumnDef, IndexDef, IndexKind, SqlType, TableDef, TypeKind, Value};

use super::support::*;
use crate::int_points::{FEW_KEYS, FewKeys};
use crate::int_spans::{IntKey, IntSpan, KEY_BYTES_MAX};
use crate::kept_index::{KeyParts, key_parts};

/// The parts of the clustered key of a table with columns of these kinds; the last part descends.
fn parts_of(kinds: &[(TypeKind, bool)], is_nullable: bool) -> KeyParts {
    let bench = Bench::new();
    let column = |(at, &(kind, unsigned)): (usize, &(TypeKind, bool))| {
        ColumnDef::new(&format!("c{at}"), SqlType { unsigned, ..SqlType::new(kind, 11) }, is_nullable)
    };
    let columns: Vec<ColumnDef> = kinds.iter().enumerate().map(column).collect();
    let positions: Vec<u16> = (0..kinds.len() as u16).collect();
    let mut key = IndexDef::new("k", IndexKind::Secondary, &positions);
    key.parts.last_mut().unwrap().desc = true;
    let id = ColumnDef::new("id", int_type(), false);
    let primary = IndexDef::new("PRIMARY", IndexKind::Primary, &[kinds.len() as u16]);
    let columns = columns.into_iter().chain([id]).collect();
    bench.create(TableDef::new("s", "t", columns, vec![primary, key]));
    key_parts(&bench.engine.table("s", "t").unwrap(), 1, kinds.len())
}

/// `keys` keys of `parts` parameters each.
fn key_set(keys: usize, parts: usize) -> KeySet {
    let test = |key: usize, part: usize| {
        let number = (key * parts + part) as u16;
        let kind = expr::ExprKind::Param(number);
        (part as u16, PartTest::Eq(expr::Expr { kind, ty: SqlType::bigint(), nullable: false }))
    };
    let key_box = |key| KeyBox { tests: (0..parts).map(|part| test(key, part)).collect() };
    KeySet { boxes: (0..keys).map(key_box).collect() }
}

/// What is made of `params`; `None`: another way has to.
fn spans(key: &IntKey, params: &[Value<'_>]) -> Option<Vec<IntSpan>> {
    let mut spans = Vec::new();
    key.points.as_ref()?.make(params, &mut spans).then_some(spans)
}

#[test]
fn keys_of_parameters_have_the_bytes_of_their_parts() {
    use TypeKind::{BigInt, Int, SmallInt, TinyInt};
    let values = [0, 1, -1, 7, 127, 128, -128, 32_767, 32_768, -32_768, 1 << 31, (1 << 32) - 1, 1 << 32];
    let values = values.into_iter().chain([i64::MAX, i64::MIN]);
    for kinds in [
        &[(SmallInt, false), (Int, true)][..],
        &[(Int, false), (Int, false)],
        &[(TinyInt, true), (SmallInt, false), (Int, false)],
        &[(BigInt, false)],
        &[(BigInt, true)],
    ] {
        let parts = parts_of(kinds, false);
        for first in values.clone() {
            for second in values.clone() {
                let numbers: Vec<i64> = [first, second, 5].into_iter().take(kinds.len()).collect();
                let key = IntKey::new(&key_set(1, kinds.len()), &parts).unwrap();
                let params: Vec<Value<'_>> = numbers.iter().map(|&n| Value::Int(n)).collect();
                let made = spans(&key, &params).expect("all are integers");
                let mut bytes = Vec::new();
                let fits = parts.iter().zip(&numbers).all(|(part, &n)| part.push_column_int(n, &mut bytes));
                let expected = if fits { vec![bytes] } else { Vec::new() };
                let bytes_of =
                    |span: &IntSpan| span.lower.to_be_bytes()[KEY_BYTES_MAX - key.width..].to_vec();
                let made: Vec<_> = made.iter().map(bytes_of).collect();
                assert_eq!(made, expected, "{kinds:?} {numbers:?}");
            }
        }
    }
}

#[test]
fn other_values_and_wide_keys_are_left_to_the_general_way() {
    let ints = [(TypeKind::Int, false); 2];
    let key = IntKey::new(&key_set(2, 2), &parts_of(&ints, false)).unwrap();
    let int = Value::Int(1);
    assert_eq!(spans(&key, &[int, int, int, int]).map(|spans| spans.len()), Some(2));
    for other in [Value::Null, Value::UInt(1), Value::Double(1.0)] {
        assert_eq!(spans(&key, &[int, int, int, other]), None, "{other:?}");
    }
    assert_eq!(spans(&key, &[int, int, int]), None, "a parameter is missing");
    assert!(IntKey::new(&key_set(1, 2), &parts_of(&ints, true)).unwrap().points.is_none(), "NULL has a key");
    let wide = [(TypeKind::BigInt, false); 2];
    assert!(IntKey::new(&key_set(1, 2), &parts_of(&wide, false)).unwrap().points.is_none(), "16 bytes");
}

#[test]
fn a_short_list_is_in_key_order_and_has_each_key_once() {
    let kinds = [(TypeKind::Int, false); 2];
    let parts = parts_of(&kinds, false);
    for keys in [1, 2, 5, FEW_KEYS, FEW_KEYS + 1] {
        for seed in 0..20 {
            let key = IntKey::new(&key_set(keys, 2), &parts).unwrap();
            let number = |at: usize| match (at * 7 + seed * 13) % 11 {
                10 => i64::MAX,
                small => small as i64 - 5,
            };
            let params: Vec<Value<'_>> = (0..2 * keys).map(|at| Value::Int(number(at * at))).collect();
            let mut few = FewKeys::default();
            let is_made = few.make(key.points.as_ref().unwrap(), key.width, &params);
            assert_eq!(is_made, keys <= FEW_KEYS, "{keys} keys");
            if !is_made {
                continue;
            }
            let mut expected = spans(&key, &params).unwrap();
            expected.sort_unstable();
            expected.dedup();
            let bytes_of = |span: &IntSpan| span.lower.to_be_bytes()[KEY_BYTES_MAX - key.width..].to_vec();
            let expected: Vec<_> = expected.iter().map(bytes_of).collect();
            let made: Vec<_> = (0..few.len()).map(|at| few.get(at).to_vec()).collect();
            assert_eq!(made, expected, "{keys} keys, seed {seed}");
        }
    }
}
