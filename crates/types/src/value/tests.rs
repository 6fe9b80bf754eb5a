//! Number text and conversions, expectations as a real server answers.

use super::*;
use crate::temporal::DateFlags;
use proptest::prelude::*;

const UTF8: CollationId = CollationId::UTF8MB4_0900_AI_CI;

fn text_of(write: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut out = Vec::new();
    write(&mut out);
    String::from_utf8(out).unwrap()
}

fn text(text: &str) -> Value<'_> {
    Value::text(text.as_bytes(), UTF8)
}

#[test]
fn doubles_show_their_shortest_digits() {
    let known = [
        (1e15, "1e15"),
        (1e14, "100000000000000"),
        (1.2345678901234568e17, "1.2345678901234568e17"),
        (1e-5, "0.00001"),
        (1e-15, "0.000000000000001"),
        (1e-16, "1e-16"),
        (0.0000123456789, "0.0000123456789"),
        (123456789012345.6, "123456789012345.6"),
        (-1.5e-20, "-1.5e-20"),
        (f64::MAX, "1.7976931348623157e308"),
        (-0.0, "-0"),
        (999999999999999.0, "999999999999999"),
        (9999999999999998.0, "9.999999999999998e15"),
        (1e-10 + 3.31432e-20, "0.0000000001000000000331432"),
        (2.5, "2.5"),
    ];
    for (value, expected) in known {
        assert_eq!(text_of(|out| write_double(value, out)), expected);
    }
}

#[test]
fn floats_show_six_digits() {
    let known = [
        (1.2345678f32, "1.23457"),
        (16777216.0, "16777200"),
        (1e10, "10000000000"),
        (1e20, "1e20"),
        (1e-10, "0.0000000001"),
        (0.1, "0.1"),
        (123456.5, "123456"),
        (1e15, "1e15"),
        (1e14, "100000000000000"),
        (3.4e38, "3.4e38"),
        (9999995.0, "10000000"),
        (-0.25, "-0.25"),
    ];
    for (value, expected) in known {
        assert_eq!(text_of(|out| number_text::write_float(value, out)), expected, "{value}");
    }
}

#[test]
fn fixed_scales_round_the_exact_value() {
    assert_eq!(text_of(|out| write_double_fixed(1.005, 2, out)), "1.00");
    assert_eq!(text_of(|out| write_double_fixed(-0.001, 2, out)), "-0.00");
    assert_eq!(
        text_of(|out| write_double_fixed(f64::MAX, 1, out)),
        format!("17976931348623157{}.0", "0".repeat(292))
    );
    assert_eq!(text_of(|out| write_double_fixed(0.0123, 6, out)), "0.012300");
    assert_eq!(text_of(|out| write_double_fixed(2.5, 0, out)), "2");
}

#[test]
fn doubles_shrink_to_the_room_there_is() {
    let within = |value, room| {
        let mut fits = false;
        (text_of(|out| fits = write_double_within(value, room, out)), fits)
    };
    assert_eq!(within(0.333333, 3), ("0.3".into(), true));
    assert_eq!(within(-1.5, 3), ("-2".into(), true));
    assert_eq!(within(12345.0, 3), ("1e4".into(), false));
}

#[test]
fn casts_to_integers_follow_the_server() {
    let cast = |value: Value<'_>| (value.to_i64().value, value.to_i64().loss);
    assert_eq!(cast(text("12.7")), (12, Loss::Truncated));
    assert_eq!(cast(text("1e3")), (1, Loss::Truncated));
    assert_eq!(cast(text(" 12 ")), (12, Loss::None));
    assert_eq!(cast(text("x")), (0, Loss::Truncated));
    assert_eq!(cast(text("99999999999999999999")), (-1, Loss::OutOfRange));
    assert_eq!(cast(Value::Double(2.5)), (2, Loss::None));
    assert_eq!(cast(Value::Double(1e30)), (i64::MAX, Loss::OutOfRange));
    assert_eq!(cast(Value::Decimal("-2.5".parse().unwrap())), (-3, Loss::None));
    let moment = DateTime::parse(b"2024-01-01 00:00:59.9", DateFlags::default()).unwrap().value;
    assert_eq!(cast(Value::DateTime(moment, 1)), (20240101000100, Loss::None));
    assert_eq!(Value::DateTime(moment, 1).to_decimal().value.to_string(), "20240101000059.9");
    assert_eq!(cast(Value::Time(Time::parse(b"-10:11:12.5").unwrap().value, 1)), (-101113, Loss::None));
    assert_eq!(text("-5").to_u64().value, (-5i64) as u64);
    assert_eq!(Value::Decimal("-1.5".parse().unwrap()).to_u64().value, (-2i64) as u64);
}

#[test]
fn text_becomes_a_double_by_its_prefix() {
    let read = |t: &str| (text(t).to_f64().value, text(t).to_f64().loss);
    assert_eq!(read("1.5e3x"), (1500.0, Loss::Truncated));
    assert_eq!(read(" -.5 "), (-0.5, Loss::None));
    assert_eq!(read("1e"), (1.0, Loss::Truncated));
    assert_eq!(read("1e400"), (f64::MAX, Loss::OutOfRange));
    assert_eq!(read("0x10"), (0.0, Loss::Truncated));
    assert_eq!(read("inf"), (0.0, Loss::Truncated));
}

#[test]
fn truth_is_not_being_zero() {
    assert_eq!(Value::Null.to_bool(), None);
    assert_eq!(text("0.0").to_bool(), Some(false));
    assert_eq!(text("0.1").to_bool(), Some(true));
    assert_eq!(text("abc").to_bool(), Some(false));
    assert_eq!(Value::Date(Date::ZERO).to_bool(), Some(false));
}

#[test]
fn enum_and_set_have_two_faces() {
    let members: Members = ["a", "b", "c"].map(|m| m.as_bytes().into()).to_vec().into();
    let choice = Value::Enum { index: 2, members: &members, collation: UTF8 };
    assert_eq!((text_of(|out| choice.write_text(out)), choice.to_i64().value), ("b".into(), 2));
    let set = Value::Set { mask: 5, members: &members, collation: UTF8 };
    assert_eq!((text_of(|out| set.write_text(out)), set.to_f64().value), ("a,c".into(), 5.0));
    assert_eq!(set.to_owned_value().as_value(), set);
    let bits = Value::Bit { value: 0x4142, bytes: 2 };
    assert_eq!((text_of(|out| bits.write_text(out)), bits.to_u64().value), ("AB".into(), 0x4142));
}

#[test]
fn values_become_dates_and_times() {
    let (flags, today) = (DateFlags::default(), Date::new(2024, 6, 1));
    let date = |value: Value<'_>| value.to_datetime(flags, today).map(|d| d.value.date().to_string());
    assert_eq!(date(Value::Int(20240102)).as_deref(), Some("2024-01-02"));
    assert_eq!(date(text("2024-02-30")), None);
    let noon = Value::Time(Time::parse(b"12:00:00").unwrap().value, 0);
    let moment = noon.to_datetime(flags, today).map(|d| d.value.to_string());
    assert_eq!(moment.as_deref(), Some("2024-06-01 12:00:00"));
    let time = Value::Decimal("-101112.5".parse().unwrap()).to_time().unwrap();
    assert_eq!(time.value.to_string(), "-10:11:12.500000");
    assert_eq!(Value::Null.to_time(), None);
}

proptest! {
    #[test]
    fn doubles_read_back(value in any::<f64>().prop_filter("finite", |v| v.is_finite())) {
        let shown = text_of(|out| write_double(value, out));
        prop_assert_eq!(shown.parse::<f64>().unwrap(), value);
        prop_assert_eq!(text(&shown).to_f64(), Converted::exact(value));
    }

    #[test]
    fn conversions_never_panic(data in prop::collection::vec(any::<u8>(), 0..40)) {
        let value = Value::binary(&data);
        let _ = (value.to_i64(), value.to_u64(), value.to_f64(), value.to_decimal(), value.to_bool());
        let _ = (value.to_datetime(DateFlags::default(), Date::ZERO), value.to_time());
    }
}
