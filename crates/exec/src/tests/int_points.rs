//! Keys made of integer parameters.

use std::collections::BTreeSet;

use base::memory::{Charge, Purpose, StatementAccount};
use sql::plan::{KeyBox, KeySet, ParamKeys, ParamOrigin, PartTest};
use types::{ColumnDef, IndexDef, IndexKind, SqlType, TableDef, TypeKind, Value};

use super::support::*;
use crate::index_layout::{KeyParts, key_parts};
use crate::int_key::IntKey;
use crate::int_points::{FEW_KEYS_MAX, PointKeys};

/// The parts of the clustered key of a table with columns of these kinds; the last part descends.
fn parts_of(kinds: &[(TypeKind, bool)], is_nullable: bool) -> KeyParts {
    parts_in_order(kinds, is_nullable, true)
}

fn parts_in_order(kinds: &[(TypeKind, bool)], is_nullable: bool, last_descends: bool) -> KeyParts {
    let bench = Bench::new();
    let column = |(at, &(kind, unsigned)): (usize, &(TypeKind, bool))| {
        ColumnDef::new(&format!("c{at}"), SqlType { unsigned, ..SqlType::new(kind, 11) }, is_nullable)
    };
    let columns: Vec<ColumnDef> = kinds.iter().enumerate().map(column).collect();
    let positions: Vec<u16> = (0..kinds.len() as u16).collect();
    let mut key = IndexDef::new("k", IndexKind::Secondary, &positions);
    key.parts.last_mut().unwrap().desc = last_descends;
    let id = ColumnDef::new("id", int_type(), false);
    let primary = IndexDef::new("PRIMARY", IndexKind::Primary, &[kinds.len() as u16]);
    let columns = columns.into_iter().chain([id]).collect();
    bench.create(TableDef::new("s", "t", columns, vec![primary, key]));
    key_parts(&bench.engine.table("s", "t").unwrap(), 1, kinds.len())
}

fn param(number: u16) -> expr::Expr {
    expr::Expr { kind: expr::ExprKind::Param(number), ty: SqlType::bigint(), nullable: false }
}

/// `keys` keys of `parts` parameters each.
fn key_set(keys: usize, parts: usize) -> KeySet {
    let test = |key: usize, part: usize| (part as u16, PartTest::Eq(param((key * parts + part) as u16)));
    let key_box = |key| KeyBox { tests: (0..parts).map(|part| test(key, part)).collect() };
    KeySet::new((0..keys).map(key_box).collect())
}

/// As [`key_set`], as the planner keeps it.
fn flat_set(keys: usize, parts: usize) -> KeySet {
    let numbers = (0..(keys * parts) as u16).collect();
    KeySet::of_params(ParamKeys { origin: ParamOrigin::Literals, parts, numbers })
}

/// `first = ? AND second IN (?, ..)`: keys of the first of `1 + count` parameters with each of the others.
fn list_set(count: usize) -> KeySet {
    let list = (1..=count as u16).map(param).collect();
    let tests = [(0, PartTest::Eq(param(0))), (1, PartTest::In(list))];
    KeySet::new(vec![KeyBox { tests: tests.into_iter().collect() }])
}

/// The keys that are made of `params`; `None`: another way has to.
fn made(key: &IntKey, params: &[Value<'_>]) -> Option<Vec<Vec<u8>>> {
    let (mut keys, charge) =
        (PointKeys::default(), Charge::new(&StatementAccount::unlimited(), Purpose::Other));
    let is_made = keys.make(key.points.as_ref()?, params, &charge).unwrap();
    is_made.then(|| (0..keys.len()).map(|at| keys.get(at).to_vec()).collect())
}

/// The keys with these numbers that the columns can hold, in order, each once: part by part.
fn expected(parts: &KeyParts, keys: &[Vec<i64>]) -> Vec<Vec<u8>> {
    let bytes_of = |numbers: &Vec<i64>| {
        let mut bytes = Vec::new();
        parts.iter().zip(numbers).all(|(part, &n)| part.push_column_int(n, &mut bytes)).then_some(bytes)
    };
    keys.iter().filter_map(bytes_of).collect::<BTreeSet<_>>().into_iter().collect()
}

fn values(numbers: impl IntoIterator<Item = i64>) -> Vec<Value<'static>> {
    numbers.into_iter().map(Value::Int).collect()
}

#[test]
fn keys_of_parameters_have_the_bytes_of_their_parts() {
    use TypeKind::{BigInt, Int, SmallInt, TinyInt};
    let numbers = [0, 1, -1, 7, 127, 128, -128, 32_767, 32_768, -32_768, 1 << 31, (1 << 32) - 1, 1 << 32];
    let numbers = numbers.into_iter().chain([i64::MAX, i64::MIN]);
    for kinds in [
        &[(SmallInt, false), (Int, true)][..],
        &[(Int, false), (Int, false)],
        &[(TinyInt, true), (SmallInt, false), (Int, false)],
        &[(BigInt, false)],
        &[(BigInt, true)],
    ] {
        let parts = parts_of(kinds, false);
        let key = IntKey::new(&key_set(1, kinds.len()), &parts).unwrap();
        for first in numbers.clone() {
            for second in numbers.clone() {
                let numbers: Vec<i64> = [first, second, 5].into_iter().take(kinds.len()).collect();
                let made = made(&key, &values(numbers.clone())).expect("all are integers");
                assert_eq!(made, expected(&parts, std::slice::from_ref(&numbers)), "{kinds:?} {numbers:?}");
            }
        }
    }
}

#[test]
fn other_values_and_wide_keys_are_left_to_the_general_way() {
    let ints = [(TypeKind::Int, false); 2];
    let wide = [(TypeKind::BigInt, false); 2];
    let int = Value::Int(1);
    for set in [key_set, flat_set] {
        let key = IntKey::new(&set(2, 2), &parts_of(&ints, false)).unwrap();
        assert_eq!(made(&key, &[int, int, int, int]).map(|keys| keys.len()), Some(1));
        for other in [Value::Null, Value::UInt(1), Value::Double(1.0)] {
            assert_eq!(made(&key, &[int, int, int, other]), None, "{other:?}");
        }
        assert_eq!(made(&key, &[int, int, int]), None, "a parameter is missing");
        assert!(IntKey::new(&set(1, 2), &parts_of(&ints, true)).unwrap().points.is_none(), "NULL has a key");
        assert!(IntKey::new(&set(1, 2), &parts_of(&wide, false)).unwrap().points.is_none(), "16 bytes");
    }
    let mut two_lists = list_set(3).boxes().to_vec();
    two_lists[0].tests[0].1 = PartTest::In([param(4), param(5)].into());
    let two_lists = KeySet::new(two_lists);
    assert!(IntKey::new(&two_lists, &parts_of(&ints, false)).unwrap().points.is_none(), "two lists");
}

/// A number below 11 that seems to be drawn, or one that is too large.
fn number(at: usize, seed: usize) -> i64 {
    match (at * at * 7 + seed * 13) % 11 {
        10 => i64::MAX,
        small => small as i64 - 5,
    }
}

#[test]
fn kept_numbers_are_the_boxes_of_their_keys() {
    for (keys, parts) in [(1, 1), (1, 3), (2, 2), (16, 2)] {
        let (flat, boxes) = (flat_set(keys, parts), key_set(keys, parts));
        let values = |set: &KeySet| set.exprs().map(|e| format!("{:?}", e.kind)).collect::<Vec<_>>();
        assert_eq!((flat.len(), flat.parts(), flat.finds_nulls()), (keys, parts, false));
        assert!(flat.is_points(parts) && !flat.is_points(parts + 1));
        assert_eq!(values(&flat), values(&boxes));
        let places =
            |set: &KeySet| format!("{:?}", set.boxes().iter().map(KeyBox::parts).collect::<Vec<_>>());
        assert_eq!(places(&flat), places(&boxes));
        assert!(flat.boxes().iter().all(|b| b.tests.iter().all(|(_, test)| matches!(test, PartTest::Eq(_)))));
    }
}

#[test]
fn lists_are_in_key_order_and_have_each_key_once() {
    let one = parts_of(&[(TypeKind::Int, false)], false);
    let two = parts_of(&[(TypeKind::Int, false); 2], false);
    for count in [1, 2, 5, FEW_KEYS_MAX, FEW_KEYS_MAX + 1, 100] {
        for seed in 0..20 {
            let numbers: Vec<i64> = (0..2 * count).map(|at| number(at, seed)).collect();
            let alone: Vec<_> = numbers[..count].iter().map(|&n| vec![n]).collect();
            let pairs: Vec<_> = numbers.chunks_exact(2).map(<[i64]>::to_vec).collect();
            let behind: Vec<_> = numbers[1..count].iter().map(|&n| vec![numbers[0], n]).collect();
            for (set, parts, keys) in [
                (key_set(count, 1), &one, alone.clone()),
                (key_set(count, 2), &two, pairs.clone()),
                (flat_set(count, 1), &one, alone),
                (flat_set(count, 2), &two, pairs),
                (list_set(count - 1), &two, behind),
            ] {
                let key = IntKey::new(&set, parts).unwrap();
                let made = made(&key, &values(numbers.clone())).expect("all are integers");
                assert_eq!(made, expected(parts, &keys), "{count} keys, seed {seed}");
            }
        }
    }
}

#[test]
fn ascending_pairs_are_taken_as_they_come() {
    use TypeKind::{Int, SmallInt, TinyInt};
    let extremes = |bits: u32| {
        let (min, max) = (-(1_i64 << (bits - 1)), (1_i64 << (bits - 1)) - 1);
        [min - 1, min, min + 1, -1, 0, 1, max - 1, max, max + 1, 2 * max + 1, 2 * max + 2]
    };
    let (mut taken, mut left) = (0, 0);
    for kinds in
        [[(SmallInt, false), (Int, true)], [(Int, false), (Int, false)], [(Int, true), (TinyInt, false)]]
    {
        let parts = parts_in_order(&kinds, false, false);
        for count in [1, 2, 5, FEW_KEYS_MAX] {
            let points = IntKey::new(&flat_set(count, 2), &parts).unwrap().points.unwrap();
            for seed in 0..200 {
                let draw = |at: usize| extremes(32)[(at * at * 7 + seed * 13) % 11].min(number(at, seed));
                let mut pairs: Vec<Vec<i64>> = (0..count).map(|at| vec![draw(at), draw(at + 99)]).collect();
                pairs.sort();
                let params = values(pairs.concat());
                let mut keys = PointKeys::default();
                let list = expected(&parts, &pairs);
                let is_taken = keys.put_ascending_pairs(&points, &params);
                // A list that begins with the smallest key of all is left to the general way.
                let begins_low = list.first().is_some_and(|key| key.iter().all(|&byte| byte == 0));
                assert_eq!(is_taken, list.len() == count && !begins_low, "{kinds:?} {pairs:?}");
                if is_taken {
                    let made: Vec<_> = (0..keys.len()).map(|at| keys.get(at).to_vec()).collect();
                    assert_eq!(made, list);
                    taken += 1;
                } else {
                    left += 1;
                }
                let charge = Charge::new(&StatementAccount::unlimited(), Purpose::Other);
                assert!(keys.make(&points, &params, &charge).unwrap());
                assert_eq!((0..keys.len()).map(|at| keys.get(at).to_vec()).collect::<Vec<_>>(), list);
            }
        }
    }
    assert!(taken > 100 && left > 100, "{taken} lists were taken, {left} were not");
}
