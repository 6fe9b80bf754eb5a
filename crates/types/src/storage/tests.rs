//! Assignment against the answers of a real server, and round trips of every storage form.

use super::*;
use crate::{CollationId, Date, DateTime, Decimal, Time, TimeZone, Value, text};
use proptest::prelude::*;

const UTF8: CollationId = CollationId::UTF8MB4_0900_AI_CI;
const TODAY: Date = Date::new(2024, 6, 1);

fn member_type(kind: TypeKind, members: &[&str]) -> SqlType {
    let members = members.iter().map(|m| m.as_bytes().into()).collect::<Vec<Box<[u8]>>>();
    SqlType { members: Some(members.into()), collation: UTF8, ..SqlType::new(kind, 1) }
}

fn column(name: &str) -> SqlType {
    use TypeKind::*;
    let with =
        |kind, length, decimals, unsigned| SqlType { unsigned, decimals, ..SqlType::new(kind, length) };
    let text = |kind, length| SqlType { collation: UTF8, ..SqlType::new(kind, length) };
    match name {
        "ti" => with(TinyInt, 4, 0, false),
        "ub" => SqlType::bigint_unsigned(),
        "de" => SqlType::decimal(6, 2),
        "ud" => with(Decimal, 4, 1, true),
        "f" => with(Float, 12, SqlType::NOT_FIXED_DECIMALS, false),
        "d" => SqlType::double(),
        "du" => SqlType { unsigned: true, ..SqlType::double() },
        "b" => with(Bit, 5, 0, true),
        "c" => text(Char, 3),
        "vc" => text(VarChar, 3),
        "bi" => with(Binary, 3, 0, false),
        "vb" => with(VarBinary, 3, 0, false),
        "da" => with(Date, 10, 0, false),
        "t" => with(Time, 12, 1, false),
        "dt" => with(DateTime, 22, 2, false),
        "d0" => with(DateTime, 19, 0, false),
        "bl" => with(BigInt, 20, 0, false),
        "ts" => with(Timestamp, 19, 0, false),
        "y" => with(Year, 4, 0, true),
        "e" => member_type(Enum, &["a", "b", "1"]),
        "st" => member_type(Set, &["x", "y", "z"]),
        _ => panic!("no column {name}"),
    }
}

fn quoted<'t>(literal: &'t str, prefix: &str) -> Option<&'t str> {
    literal.strip_prefix(prefix)?.strip_prefix('\'')?.strip_suffix('\'')
}

fn binary(literal: &str) -> Option<Vec<u8>> {
    if let Some(hex) = quoted(literal, "x") {
        return Some(
            (0..hex.len() / 2).map(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).unwrap()).collect(),
        );
    }
    quoted(literal, "b").map(|bits| vec![u8::from_str_radix(bits, 2).unwrap()])
}

fn value_of<'t>(literal: &'t str, bytes: &'t mut Vec<u8>) -> Value<'t> {
    let lenient = crate::temporal::DateFlags::default();
    if let Some(text) = quoted(literal, "") {
        return Value::text(text.as_bytes(), UTF8);
    }
    if let Some(text) = quoted(literal, "date") {
        return Value::Date(DateTime::parse(text.as_bytes(), lenient).unwrap().value.date());
    }
    if let Some(text) = quoted(literal, "timestamp") {
        let parsed = DateTime::parse(text.as_bytes(), lenient).unwrap();
        return Value::DateTime(parsed.value, parsed.fsp);
    }
    if let Some(text) = quoted(literal, "time") {
        let parsed = Time::parse(text.as_bytes()).unwrap();
        return Value::Time(parsed.value, parsed.fsp);
    }
    if let Some(found) = binary(literal) {
        *bytes = found;
        return Value::binary(bytes);
    }
    if let Ok(number) = literal.parse() {
        return Value::Int(number);
    }
    if let Ok(number) = literal.parse() {
        return Value::UInt(number);
    }
    if literal.contains('e') {
        return Value::Double(literal.parse().unwrap());
    }
    Value::Decimal(literal.parse().unwrap())
}

fn show_problem(problem: &Problem) -> String {
    match problem {
        Problem::OutOfRange => "1264".into(),
        Problem::Truncated => "1265".into(),
        Problem::TooLong => "1406".into(),
        Problem::IncorrectValue { type_name, value } => format!("1366 {type_name} {value}"),
        Problem::IncorrectTemporal { type_name, value } => format!("1292 {type_name} {value}"),
        Problem::DateTimeOverflow => "1441".into(),
        Problem::ZoneGap => "1299".into(),
        Problem::Null => "1048".into(),
        Problem::OddDelimiter { odd, .. } => format!("4095 {}", odd.position),
    }
}

fn show(ty: &SqlType, value: &Value<'_>, ctx: &StoreContext<'_>) -> String {
    let mut bytes = Vec::new();
    let note = match store(ty, value, ctx, &mut bytes) {
        Err(error) => {
            assert!(bytes.is_empty(), "a refused value leaves no bytes");
            return format!("E{}", show_problem(&error.0));
        }
        Ok(note) => note,
    };
    if let Some(width) = fixed_width(ty) {
        assert_eq!(bytes.len(), width, "{ty:?} from {value:?}");
    }
    assert!(ValueRule::of(ty).is_kept_by(&bytes), "{ty:?} from {value:?} breaks its rule");
    let mut shown = Vec::new();
    text::write_text(ty, &bytes, ctx.zone, &mut shown);
    let mut by_value = Vec::new();
    read(ty, &bytes, ctx.zone).write_text(&mut by_value);
    assert_eq!(shown, by_value, "text of {ty:?}");
    let text = match ty.kind {
        TypeKind::Bit => format!("{:X}", shown[0]),
        _ => String::from_utf8(shown).unwrap(),
    };
    match note {
        StoreNote::Exact => text,
        StoreNote::Note(problem) => format!("{text} ; N{}", show_problem(&problem)),
        StoreNote::Warning(problem) => format!("{text} ; W{}", show_problem(&problem)),
        // The recorded list has the first of several.
        StoreNote::Warnings(problems) => {
            let level = if problems[0] == Problem::Truncated { "N" } else { "W" };
            format!("{text} ; {level}{}", show_problem(&problems[0]))
        }
    }
}

#[test]
fn assignment_agrees_with_the_recorded_server() {
    let zone = TimeZone::utc();
    let modes = |list: &str| crate::SqlModes::parse(list).unwrap();
    let strict = StoreContext::new(modes("STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE"), &zone, TODAY);
    let permissive = StoreContext::new(modes(""), &zone, TODAY);
    let mut wrong = Vec::new();
    for line in include_str!("../../testdata/assignment.tsv").lines().filter(|l| !l.starts_with('#')) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [name, literal, in_strict, otherwise] = fields[..] else { panic!("malformed line {line}") };
        let (ty, mut bytes) = (column(name), Vec::new());
        let value = value_of(literal, &mut bytes);
        for (expected, ctx) in [(in_strict, &strict), (otherwise, &permissive)] {
            let got = show(&ty, &value, ctx);
            if got != expected.replace("\\0", "\0") {
                wrong.push(format!(
                    "{name} <- {literal} (strict {}): {got:?}, server {expected:?}",
                    ctx.strict
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn decimal_widths_are_the_fewest_that_hold_the_digits() {
    let steps = [(2, 1), (4, 2), (6, 3), (9, 4), (11, 5), (14, 6), (16, 7), (18, 8), (65, 28)];
    for (precision, width) in steps {
        assert_eq!(decimal_width(precision), width);
        if precision < 65 {
            assert_eq!(decimal_width(precision + 1), width + 1);
        }
    }
}

#[test]
fn null_is_refused_in_every_mode() {
    let zone = TimeZone::utc();
    let ctx = StoreContext::new(crate::SqlModes::default(), &zone, TODAY);
    let error = store(&SqlType::bigint(), &Value::Null, &ctx, &mut Vec::new()).unwrap_err();
    assert_eq!(*error.0, Problem::Null);
}

fn round_trip(ty: &SqlType, value: &Value<'_>) -> Result<(), TestCaseError> {
    let zone = TimeZone::utc();
    let ctx = StoreContext::new(crate::SqlModes::STRICT_TRANS_TABLES, &zone, TODAY);
    let mut bytes = Vec::new();
    prop_assert_eq!(store(ty, value, &ctx, &mut bytes), Ok(StoreNote::Exact));
    prop_assert_eq!(read(ty, &bytes, &zone), *value);
    prop_assert!(ValueRule::of(ty).is_kept_by(&bytes));
    let (mut direct, mut by_value) = (Vec::new(), Vec::new());
    text::write_text(ty, &bytes, &zone, &mut direct);
    value.write_text(&mut by_value);
    prop_assert_eq!(direct, by_value);
    Ok(())
}

/// How many types [`any_type`] distinguishes.
const TYPES: usize = 20;

fn any_type(which: usize, precision: u32, fsp: u8) -> SqlType {
    let names =
        ["ti", "ub", "ud", "f", "d", "du", "b", "c", "vc", "bi", "vb", "da", "t", "dt", "ts", "y", "e", "st"];
    match names.get(which) {
        Some(name) if column(name).is_temporal() => SqlType { decimals: fsp, ..column(name) },
        Some(name) => column(name),
        None if which.is_multiple_of(2) => SqlType::decimal(precision, precision.min(30) as u8),
        None => SqlType { decimals: 0, ..SqlType::decimal(precision, 0) },
    }
}

#[test]
fn bytes_that_no_assignment_stores_break_their_rule() {
    let bytes_of = |n: u64, width: usize| n.to_le_bytes()[..width].to_vec();
    let moment = |ym: u64, hour: u64, minute: u64, second: u64| {
        [bytes_of(ym << 22 | 1 << 17 | hour << 12 | minute << 6 | second, 5), vec![0]].concat()
    };
    for (name, bytes) in [
        ("e", vec![4]),
        ("st", vec![8]),
        ("b", vec![32]),
        ("de", bytes_of(1_000_000, 3)),
        ("da", bytes_of(2024 << 9 | 13 << 5 | 1, 3)),
        ("da", bytes_of(10_000 << 9 | 12 << 5 | 1, 3)),
        ("t", bytes_of(30_203_991, 4)),
        ("dt", moment(10_000 * 13, 0, 0, 0)),
        ("dt", moment(2024 * 13, 24, 0, 0)),
        ("dt", moment(2024 * 13, 0, 60, 0)),
        ("dt", moment(2024 * 13, 0, 0, 60)),
        ("dt", [bytes_of(0, 5), vec![100]].concat()),
        ("ts", bytes_of(1 << 31, 4)),
    ] {
        assert!(!ValueRule::of(&column(name)).is_kept_by(&bytes), "{name} {bytes:?}");
    }
    let wide = [[0xff; 27].as_slice(), &[0x7f]].concat();
    assert!(!ValueRule::of(&SqlType::decimal(65, 30)).is_kept_by(&wide));
}

/// Texts that look like values of all kinds.
fn plain_text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[ -~]{0,5}é?",
        "[-+]?[0-9]{0,20}",
        "-?[0-9]{1,3}",
        "[0-2][0-9]{3}[-/][01][0-9]-[0-3][0-9]",
        "[0-2][0-9]{3}-[01][0-9]-[0-3][0-9][ T][0-2][0-9]:[0-6][0-9]:[0-6][0-9](\\.[0-9])?",
    ]
}

#[test]
fn the_usual_texts_are_stored_plainly() {
    let stored = |name: &str, text: &str| {
        let mut out = Vec::new();
        store_plain(&column(name), &Value::text(text.as_bytes(), UTF8), &mut out).then_some(out)
    };
    for (name, text) in [
        ("ti", "-128"),
        ("ub", "999999999999999999"),
        ("bl", "-999999999999999999"),
        ("ti", "007"),
        ("vc", "abc"),
        ("da", "2024-02-29"),
        ("da", "0001-12-31"),
        ("d0", "9999-12-31 23:59:59"),
    ] {
        assert!(stored(name, text).is_some(), "{name} {text}");
    }
    for (name, text) in [
        ("ti", "128"),
        ("ti", ""),
        ("ti", "-"),
        ("ti", " 1"),
        ("ti", "1e1"),
        ("ub", "-1"),
        ("ub", "-0"),
        ("ub", "1000000000000000000"),
        ("da", "2023-02-29"),
        ("da", "2024-2-29"),
        ("da", "2024-00-01"),
        ("da", "0000-01-01"),
        ("d0", "2024-01-01 24:00:00"),
        ("d0", "2024-01-01T00:00:00"),
        ("dt", "2024-01-01 00:00:00"),
        ("y", "2024"),
    ] {
        assert_eq!(stored(name, text), None, "{name} {text}");
    }
}

proptest! {
    #[test]
    fn what_is_stored_plainly_is_stored_so_by_the_rules(
        number: i64, shift in 0u32..64, text in plain_text(), collations: [bool; 2], of_number: bool, modes_of in 0usize..3
    ) {
        let collation = |latin| if latin { CollationId::LATIN1_SWEDISH_CI } else { UTF8 };
        let number = Value::Int(number >> shift);
        let text = Value::Bytes { data: text.as_bytes(), collation: collation(collations[0]) };
        let value = if of_number { number } else { text };
        let zone = TimeZone::utc();
        let strict = crate::SqlModes::STRICT_TRANS_TABLES;
        let modes = [crate::SqlModes::default(), strict, strict.with(crate::SqlModes::ALLOW_INVALID_DATES)];
        let ctx = StoreContext::new(modes[modes_of], &zone, TODAY);
        for name in ["ti", "ub", "bl", "de", "d", "b", "c", "vc", "bi", "vb", "da", "d0", "dt", "y", "e", "st"] {
            let ty = SqlType { collation: collation(collations[1]), ..column(name) };
            let (mut plain, mut ruled) = (Vec::new(), Vec::new());
            if store_plain(&ty, &value, &mut plain) {
                prop_assert_eq!(store(&ty, &value, &ctx, &mut ruled), Ok(StoreNote::Exact));
                prop_assert_eq!(plain, ruled);
            } else {
                prop_assert!(plain.is_empty());
            }
        }
    }

    #[test]
    fn integers_come_back(value: i64, kind in 0..5usize) {
        use TypeKind::*;
        let (kind, bits) = [(TinyInt, 8), (SmallInt, 16), (MediumInt, 24), (Int, 32), (BigInt, 64)][kind];
        round_trip(&SqlType::new(kind, 20), &Value::Int(value >> (64 - bits)))?;
        let unsigned = SqlType { unsigned: true, ..SqlType::new(kind, 20) };
        round_trip(&unsigned, &Value::UInt(value as u64 >> (64 - bits)))?;
    }

    #[test]
    fn decimals_come_back(units: i128, precision in 1u32..=38, scale in 0u8..=30) {
        let scale = scale.min(precision as u8);
        let value = Decimal::from_i128(units % 10i128.pow(precision), scale);
        round_trip(&SqlType::decimal(precision, scale), &Value::Decimal(value))?;
    }

    #[test]
    fn long_decimals_come_back(digits in "-?[1-9][0-9]{34}\\.[0-9]{30}") {
        let value: Decimal = digits.parse().unwrap();
        round_trip(&SqlType::decimal(65, 30), &Value::Decimal(value))?;
    }

    #[test]
    fn times_come_back(micros in -3_020_399_000_000i64..=3_020_399_000_000, fsp in 0u8..=6) {
        let time = Time::from_micros(micros).unwrap().truncate(fsp);
        round_trip(&SqlType { decimals: fsp, ..SqlType::new(TypeKind::Time, 10) }, &Value::Time(time, fsp))?;
    }

    #[test]
    fn moments_come_back(day in 366i64..=3_652_424, micros in 0i64..86_400_000_000, fsp in 0u8..=6) {
        let date = Date::from_day_number(day);
        round_trip(&SqlType::new(TypeKind::Date, 10), &Value::Date(date))?;
        let time = Time::from_micros(micros).unwrap();
        let moment = DateTime::from_date_and_time(date, time).unwrap().truncate(fsp);
        let value = Value::DateTime(moment, fsp);
        round_trip(&SqlType { decimals: fsp, ..SqlType::new(TypeKind::DateTime, 19) }, &value)?;
        if (1971..2038).contains(&date.year()) {
            round_trip(&SqlType { decimals: fsp, ..SqlType::new(TypeKind::Timestamp, 19) }, &value)?;
        }
    }

    #[test]
    fn assignment_never_panics(text in ".{0,30}", number: i64, real: f64, which in 0..19usize) {
        let names = ["ti", "ub", "de", "ud", "f", "d", "du", "b", "c", "vc", "bi", "vb", "da", "t", "dt", "ts", "y", "e", "st"];
        let (ty, zone) = (column(names[which]), TimeZone::utc());
        let ctx = StoreContext::new(crate::SqlModes::default(), &zone, TODAY);
        let decimal = Value::Decimal(Decimal::from_i128(i128::from(number) << 60, 20));
        for value in [Value::text(text.as_bytes(), UTF8), Value::Int(number), Value::Double(real), decimal] {
            let mut bytes = Vec::new();
            prop_assert!(store(&ty, &value, &ctx, &mut bytes).is_ok());
            if let Some(width) = fixed_width(&ty) {
                prop_assert_eq!(bytes.len(), width);
            }
            prop_assert!(ValueRule::of(&ty).is_kept_by(&bytes));
        }
    }

    #[test]
    fn widened_integers_keep_their_values(value: i64, width in 1usize..=8) {
        let unused = 64 - 8 * width as u32;
        let (signed, bits) = (value << unused >> unused, (value as u64) << unused >> unused);
        let narrow = &value.to_le_bytes()[..width];
        prop_assert_eq!(i64::from_le_bytes(widened(narrow, true)), signed);
        prop_assert_eq!(u64::from_le_bytes(widened(narrow, false)), bits);
    }

    #[test]
    fn bytes_that_keep_their_rule_can_be_read(raw: [u8; 28], which in 0..TYPES, precision in 1u32..=65, fsp in 0u8..=6) {
        let (ty, zone) = (any_type(which, precision, fsp), TimeZone::utc());
        let bytes = &raw[..fixed_width(&ty).unwrap_or(3).min(raw.len())];
        if ValueRule::of(&ty).is_kept_by(bytes) {
            let (mut shown, mut by_value) = (Vec::new(), Vec::new());
            text::write_text(&ty, bytes, &zone, &mut shown);
            read(&ty, bytes, &zone).write_text(&mut by_value);
            prop_assert_eq!(shown, by_value);
        }
    }
}
