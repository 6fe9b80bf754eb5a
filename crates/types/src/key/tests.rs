//! Keys sort as values compare, delimit themselves, and give back what they promise to.

use std::cmp::Ordering;

use proptest::collection::vec;
use proptest::prelude::*;

use super::encoder::KEY_PART_BYTES_MAX;
use super::*;
use crate::{Charset, Collation, CollationId, LobSize, TypeKind};

/// Characters at the edges of the key formats and of the weight tables.
const CHARACTERS: &[char] = &[
    '\0',
    '\x01',
    '\x02',
    '\x03',
    '\t',
    '\x1d',
    '\x1e',
    '\x1f',
    ' ',
    ' ',
    '!',
    '0',
    '9',
    'A',
    'B',
    'Z',
    'a',
    'b',
    'z',
    '~',
    '\x7f',
    '\u{80}',
    '\u{a0}',
    '\u{c4}',
    '\u{d8}',
    '\u{df}',
    '\u{e4}',
    '\u{e6}',
    '\u{e9}',
    '\u{fe}',
    '\u{ff}',
    '\u{131}',
    '\u{17f}',
    '\u{301}',
    '\u{3b1}',
    '\u{391}',
    '\u{430}',
    '\u{410}',
    '\u{d55}',
    '\u{200d}',
    '\u{3042}',
    '\u{30a2}',
    '\u{3400}',
    '\u{4e00}',
    '\u{9fff}',
    '\u{ac00}',
    '\u{d7a3}',
    '\u{1100}',
    '\u{fb03}',
    '\u{fdfa}',
    '\u{ffff}',
    '\u{10000}',
    '\u{17000}',
    '\u{1f600}',
    '\u{20000}',
    '\u{2f800}',
    '\u{e0100}',
    '\u{10ffff}',
];

fn texts_of(charset: Charset) -> BoxedStrategy<Vec<u8>> {
    let utf8 = vec(proptest::sample::select(CHARACTERS), 0..8)
        .prop_map(|c| c.into_iter().collect::<String>().into_bytes());
    let edge_bytes = || proptest::sample::select(&b"\0\x01\x02\x03\x1d\x1e\x1f  !Aab\x7f"[..]);
    match charset {
        Charset::Utf8mb4 => utf8.boxed(),
        Charset::Utf8mb3 => utf8.prop_filter("basic plane", |text| text.iter().all(|b| *b < 0xF0)).boxed(),
        Charset::Ascii => vec(edge_bytes(), 0..8).boxed(),
        Charset::Latin1 | Charset::Binary => vec(prop_oneof![edge_bytes(), any::<u8>()], 0..8).boxed(),
    }
}

fn text_type(kind: TypeKind, length: u32, collation: &Collation) -> SqlType {
    SqlType { collation: collation.id, ..SqlType::new(kind, length) }
}

fn encode(column: &KeyColumn, storage: Option<&[u8]>) -> Vec<u8> {
    let mut key = Vec::new();
    let encoder = column.encoder().unwrap();
    assert_eq!(encoder.append(storage, &mut key), Extent::Whole);
    assert!(key.len() <= encoder.max_len());
    key
}

/// Checks two values of one column in all four forms of the column: order of keys, boundaries, and reading
/// back.
fn check_pair(ty: &SqlType, a: &[u8], b: &[u8], expected: Ordering) {
    for (nullable, desc) in [(false, false), (true, false), (false, true), (true, true)] {
        let column = KeyColumn { ty: ty.clone(), nullable, desc, prefix_len: None };
        let encoder = column.encoder().unwrap();
        let (x, y) = (encode(&column, Some(a)), encode(&column, Some(b)));
        let expected = if desc { expected.reverse() } else { expected };
        assert_eq!(x.cmp(&y), expected, "{a:x?} {b:x?} as {x:x?} {y:x?} of {ty:?}");
        if expected != Ordering::Equal {
            assert!(!x.starts_with(&y) && !y.starts_with(&x));
        }
        let joined = [x.as_slice(), &y].concat();
        assert_eq!(encoder.skip(&joined), x.len());
        if encoder.is_reversible() {
            let mut out = Vec::new();
            assert_eq!(encoder.decode(&joined, &mut out), (x.len(), false));
            assert_eq!(out, a);
        }
        if nullable {
            let null = encode(&column, None);
            assert_eq!(null.cmp(&x), if desc { Ordering::Greater } else { Ordering::Less });
            assert!(encoder.is_null(&null) && !encoder.is_null(&x));
            assert_eq!(encoder.skip(&[null.as_slice(), &x].concat()), null.len());
            assert_eq!(encoder.decode_int(&null), None);
        }
    }
}

fn collation_and_texts() -> impl Strategy<Value = (&'static Collation, Vec<u8>, Vec<u8>)> {
    proptest::sample::select((0..Collation::all().len()).collect::<Vec<_>>()).prop_flat_map(|i| {
        let collation = &Collation::all()[i];
        (Just(collation), texts_of(collation.charset), texts_of(collation.charset))
    })
}

/// The order by its definition: weights of each character, padded with those of spaces where spaces are
/// padded.
fn compare_by_weights(collation: &Collation, a: &[u8], b: &[u8]) -> Ordering {
    let [mut x, mut y, mut space] = [a, b, b" "].map(|text| {
        let mut weights = Vec::new();
        collation.weight_string(text, &mut weights);
        weights
    });
    if collation.pad == crate::collation::PadAttribute::NoPad {
        space.clear();
    }
    let longest = x.len().max(y.len());
    for weights in [&mut x, &mut y] {
        while weights.len() < longest && !space.is_empty() {
            weights.extend_from_slice(&space);
        }
    }
    x.cmp(&y)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn strings_compare_by_weights((collation, a, b) in collation_and_texts()) {
        let expected = compare_by_weights(collation, &a, &b);
        prop_assert_eq!(collation.compare(&a, &b), expected, "{}", collation.name);
        prop_assert_eq!(collation.equals(&a, &b), expected == Ordering::Equal);
    }

    #[test]
    fn keys_of_strings_sort_as_strings_compare((collation, a, b) in collation_and_texts()) {
        let order = collation.compare(&a, &b);
        check_pair(&text_type(TypeKind::VarChar, 255, collation), &a, &b, order);
        let trimmed = |text: &[u8]| crate::collation::byte_key::trim_spaces(text).to_vec();
        let (a, b) = (trimmed(&a), trimmed(&b));
        check_pair(&text_type(TypeKind::Char, 255, collation), &a, &b, collation.compare(&a, &b));
    }

    #[test]
    fn keys_of_integers_sort_as_integers(a: i64, b: i64, shift in 0_u32..64) {
        let kinds = [TypeKind::TinyInt, TypeKind::SmallInt, TypeKind::MediumInt, TypeKind::Int, TypeKind::BigInt];
        for (kind, width) in kinds.into_iter().zip([1, 2, 3, 4, 8]) {
            let unused = 64 - 8 * width;
            let (a, b) = ((a >> shift << unused) >> unused, (b >> shift << unused) >> unused);
            let (x, y) = (&a.to_le_bytes()[..width as usize], &b.to_le_bytes()[..width as usize]);
            let ty = SqlType::new(kind, 20);
            check_pair(&ty, x, y, a.cmp(&b));
            let unsigned = SqlType { unsigned: true, ..ty.clone() };
            let (u, v) = ((a as u64) << unused >> unused, (b as u64) << unused >> unused);
            check_pair(&unsigned, x, y, u.cmp(&v));
            for (ty, value) in [(ty, a), (unsigned, u as i64)] {
                for (nullable, desc) in [(false, false), (true, true), (false, true)] {
                    let column = KeyColumn { ty: ty.clone(), nullable, desc, prefix_len: None };
                    prop_assert_eq!(column.encoder().unwrap().decode_int(&encode(&column, Some(x))), Some(value));
                }
            }
        }
    }

    #[test]
    fn keys_of_doubles_sort_as_doubles(a in any::<f64>(), b in any::<f64>()) {
        prop_assume!(!a.is_nan() && !b.is_nan());
        let order = a.partial_cmp(&b).unwrap();
        check_pair(&SqlType::double(), &a.to_le_bytes(), &b.to_le_bytes(), order);
        let (a, b) = (a as f32, b as f32);
        let order = a.partial_cmp(&b).unwrap();
        check_pair(&SqlType::new(TypeKind::Float, 12), &a.to_le_bytes(), &b.to_le_bytes(), order);
    }

    #[test]
    fn keys_of_decimals_sort_as_their_digits(a: i128, b: i128, shift in 0_u32..127) {
        let (a, b) = (a >> shift, b >> shift);
        check_pair(&SqlType::decimal(38, 4), &a.to_le_bytes(), &b.to_le_bytes(), a.cmp(&b));
    }

    #[test]
    fn keys_of_binary_columns_sort_as_if_padded_with_zeros(a in texts_of(Charset::Binary), b in texts_of(Charset::Binary)) {
        let padded = |text: &[u8]| { let mut t = text.to_vec(); t.resize(8, 0); t };
        check_pair(&SqlType::new(TypeKind::Binary, 8), &padded(&a), &padded(&b), padded(&a).cmp(&padded(&b)));
    }

    #[test]
    fn keys_sort_as_strings_compare_even_if_invalid(
        a in vec(proptest::sample::select(&b"\x00\x1f a\x80\xa9\xc3\xe4\xb8\xad\xf0\x9f\xed\xff"[..]), 0..8),
        b in vec(proptest::sample::select(&b"\x00\x1f a\x80\xa9\xc3\xe4\xb8\xad\xf0\x9f\xed\xff"[..]), 0..8),
        shared in 0_usize..8,
    ) {
        let b = [&a[..shared.min(a.len())], &b].concat();
        for collation in Collation::all() {
            let (mut x, mut y) = (Vec::new(), Vec::new());
            collation.sort_key(&a, &mut x);
            collation.sort_key(&b, &mut y);
            prop_assert_eq!(x.cmp(&y), collation.compare(&a, &b), "{}", collation.name);
        }
    }

    #[test]
    fn the_range_of_a_prefix_holds_all_that_start_with_it(
        (collation, a, b) in collation_and_texts(), nullable: bool, desc: bool,
    ) {
        for kind in [TypeKind::VarChar, TypeKind::Char] {
            let column = KeyColumn { nullable, desc, ..KeyColumn::new(text_type(kind, 50, collation)) };
            let mut low = Vec::new();
            column.encoder().unwrap().append_prefix(&a, &mut low);
            let key = encode(&column, Some(&[a.as_slice(), &b].concat()));
            prop_assert!(key.starts_with(&low));
            let mut high = low.clone();
            prop_assert!(!successor(&mut high) || key < high);
            prop_assert!(low <= key);
        }
    }

    #[test]
    fn composite_keys_sort_part_by_part(
        (collation, a, b) in collation_and_texts(), i in -2_i16..3, j in -2_i16..3, desc in vec(any::<bool>(), 2),
        nulls in vec(any::<bool>(), 2),
    ) {
        let text = KeyColumn {
            nullable: true, desc: desc[0], ..KeyColumn::new(text_type(TypeKind::VarChar, 20, collation))
        };
        let number = KeyColumn { desc: desc[1], ..KeyColumn::new(SqlType::new(TypeKind::SmallInt, 6)) };
        let key = |null: bool, text_value: &[u8], value: i16| {
            [encode(&text, (!null).then_some(text_value)), encode(&number, Some(&value.to_le_bytes()))].concat()
        };
        let directed = |order: Ordering, desc: bool| if desc { order.reverse() } else { order };
        let text_order = match (nulls[0], nulls[1]) {
            (false, false) => collation.compare(&a, &b),
            (x, y) => y.cmp(&x),
        };
        let expected = directed(text_order, desc[0]).then(directed(i.cmp(&j), desc[1]));
        prop_assert_eq!(key(nulls[0], &a, i).cmp(&key(nulls[1], &b, j)), expected);
    }
}

#[test]
fn seconds_sort_before_their_fraction() {
    let datetime = SqlType { decimals: 3, ..SqlType::new(TypeKind::DateTime, 23) };
    let values: [[u8; 7]; 4] =
        [[0, 0, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0xFF, 1], [1, 0, 0, 0, 0, 0, 2], [0, 1, 0, 0, 0, 0, 0]];
    let time = SqlType { decimals: 1, ..SqlType::new(TypeKind::Time, 12) };
    let times = [-600, -1, 0, 77_i32].map(i32::to_le_bytes);
    for (x, y) in (0..4).flat_map(|x| (0..4).map(move |y| (x, y))) {
        check_pair(&datetime, &values[x], &values[y], x.cmp(&y));
        check_pair(&time, &times[x], &times[y], x.cmp(&y));
    }
    let timestamp = SqlType { decimals: 6, ..SqlType::new(TypeKind::Timestamp, 26) };
    assert_eq!(KeyColumn::new(timestamp).encoder().unwrap().fixed_len(), Some(7));
}

#[test]
fn widths_follow_the_type() {
    let members = |count: usize| Some(vec![b"m".to_vec().into_boxed_slice(); count].into());
    let fixed = |ty: SqlType| KeyColumn::new(ty).encoder().unwrap().fixed_len();
    let with_members = |kind, count| SqlType { members: members(count), ..SqlType::new(kind, 1) };
    assert_eq!(fixed(with_members(TypeKind::Enum, 255)), Some(1));
    assert_eq!(fixed(with_members(TypeKind::Enum, 256)), Some(2));
    assert_eq!(
        [1, 8, 9, 24, 32, 33, 64].map(|n| fixed(with_members(TypeKind::Set, n)).unwrap()),
        [1, 1, 2, 3, 4, 8, 8]
    );
    assert_eq!([1, 8, 9, 64].map(|bits| fixed(SqlType::new(TypeKind::Bit, bits)).unwrap()), [1, 1, 2, 8]);
    assert_eq!(
        [1, 2, 3, 4, 5, 18, 19, 38, 39, 65].map(|p| fixed(SqlType::decimal(p, 0)).unwrap()),
        [1, 1, 2, 2, 3, 8, 9, 16, 17, 28]
    );
    assert_eq!(fixed(SqlType::new(TypeKind::VarBinary, 4)), None);
    let nullable = KeyColumn { nullable: true, ..KeyColumn::new(SqlType::bigint()) };
    assert_eq!(nullable.encoder().unwrap().fixed_len(), Some(9));
    assert!(KeyColumn::new(SqlType::null()).encoder().is_none());
    assert!(KeyColumn::new(SqlType::varchar(1, CollationId(21))).encoder().is_none());
}

#[test]
fn the_successor_ends_the_range_of_a_prefix() {
    let next = |bytes: &[u8]| {
        let mut key = bytes.to_vec();
        successor(&mut key).then_some(key)
    };
    assert_eq!(next(b"ab"), Some(b"ac".to_vec()));
    assert_eq!(next(b"a\xFF\xFF"), Some(b"b".to_vec()));
    assert_eq!(next(b"\xFF"), None);
}

#[test]
fn a_prefix_counts_characters() {
    let collation = CollationId::UTF8MB4_BIN.collation().unwrap();
    let column =
        KeyColumn { prefix_len: Some(2), ..KeyColumn::new(text_type(TypeKind::Char, 10, collation)) };
    assert_eq!(
        encode(&column, Some("\u{e9}\u{4e2d}x".as_bytes())),
        encode(&column, Some("\u{e9}\u{4e2d}".as_bytes()))
    );
    assert!(!column.encoder().unwrap().is_reversible());
    let whole = KeyColumn { prefix_len: Some(10), ..column.clone() };
    assert!(whole.encoder().unwrap().is_reversible());
    let blob = KeyColumn {
        prefix_len: Some(3),
        ..KeyColumn::new(SqlType::new(TypeKind::Blob(LobSize::Normal), 65535))
    };
    assert_eq!(encode(&blob, Some(b"abcd")), b"abc\0");
}

#[test]
fn only_keys_that_hold_every_byte_are_reversible() {
    let reversible = |kind, id: CollationId| {
        KeyColumn::new(text_type(kind, 10, id.collation().unwrap())).encoder().unwrap().is_reversible()
    };
    assert!(reversible(TypeKind::Char, CollationId::UTF8MB4_BIN));
    assert!(reversible(TypeKind::Char, CollationId::LATIN1_BIN));
    assert!(reversible(TypeKind::VarChar, CollationId::UTF8MB4_0900_BIN));
    assert!(reversible(TypeKind::VarBinary, CollationId::BINARY));
    assert!(!reversible(TypeKind::VarChar, CollationId::UTF8MB4_BIN));
    assert!(!reversible(TypeKind::Char, CollationId::UTF8MB4_0900_AI_CI));
    assert!(!reversible(TypeKind::Char, CollationId::LATIN1_SWEDISH_CI));
    assert!(!KeyColumn::new(SqlType::double()).encoder().unwrap().is_reversible());
}

#[test]
fn a_long_part_is_cut_and_says_so() {
    let collation = CollationId::UTF8MB4_0900_AI_CI.collation().unwrap();
    let column = KeyColumn::new(text_type(TypeKind::VarChar, 5000, collation));
    let encoder = column.encoder().unwrap();
    let mut whole = Vec::new();
    assert_eq!(encoder.append(Some(&[b'a'; KEY_PART_BYTES_MAX]), &mut whole), Extent::Whole);
    let mut cut = Vec::new();
    assert_eq!(encoder.append(Some(&[b'a'; KEY_PART_BYTES_MAX + 1]), &mut cut), Extent::Cut);
    assert_eq!(whole, cut);
    assert_eq!(encoder.skip(&cut), cut.len());
    assert_eq!(cut.len(), encoder.max_len());
}

#[test]
fn ascii_text_takes_a_byte_per_character_or_two() {
    for collation in Collation::all() {
        let column = KeyColumn::new(text_type(TypeKind::VarChar, 50, collation));
        let bytes = if collation.name.contains("_unicode_") { 45 } else { 25 };
        assert_eq!(encode(&column, Some(b"The quick brown fox (2).")).len(), bytes, "{}", collation.name);
    }
}
