//! Text that becomes a value: time zones, dates, times, intervals, numbers, character sets, LIKE patterns.

use types::collation::{Charset, Collation, convert};
use types::decimal::Decimal;
use types::temporal::{Date, DateFlags, DateTime, Interval, IntervalUnit, Time, TimeZone};
use types::value::{double_prefix, integer_prefix, round_text_to_i128};

use crate::Bytes;

/// The first byte selects the kind of value.
pub fn run(input: &[u8]) {
    let mut input = Bytes::new(input);
    match input.u8() % 6 {
        0 => read_zone(input),
        1 => read_datetime(input),
        2 => read_temporal_numbers(input),
        3 => read_decimal(input.rest()),
        4 => read_numbers(input.rest()),
        _ => compare_text(input),
    }
}

/// What a zone makes of a moment, it makes a moment of again, except for the hour that occurs twice.
fn read_zone(mut input: Bytes<'_>) {
    let seconds = i64::from_le_bytes(input.array());
    let name = String::from_utf8_lossy(input.rest());
    let Some(zone) = TimeZone::from_name(&name) else { return };
    assert!(TimeZone::from_name(zone.name()).is_some(), "{} is not found again", zone.name());
    let local = zone.to_local(seconds, 0);
    if !local.is_zero() {
        let back = zone.to_unix(local);
        assert!(!back.in_gap, "{seconds} s in {} lie in a gap", zone.name());
        assert!((seconds - back.seconds).abs() <= 86_400, "{seconds} s came back as {}", back.seconds);
    }
}

fn flags(bits: u8) -> DateFlags {
    DateFlags {
        no_zero_date: bits & 1 != 0,
        no_zero_in_date: bits & 2 != 0,
        allow_invalid_dates: bits & 4 != 0,
    }
}

/// A date and time as printed is read again as the same.
fn read_datetime(mut input: Bytes<'_>) {
    let (bits, fsp) = (input.u8(), input.u8() % 7);
    let flags = flags(bits);
    let text = input.rest();
    if let Some(parsed) = DateTime::parse(text, flags) {
        let mut shown = Vec::new();
        parsed.value.write_to(6, &mut shown);
        let again = DateTime::parse(&shown, flags).map(|parsed| parsed.value);
        assert_eq!(again, Some(parsed.value), "{}", String::from_utf8_lossy(&shown));
        parsed.to_fsp(fsp, bits & 8 != 0);
        shift(parsed.value, text, bits);
    }
    if let Some(parsed) = Time::parse(text) {
        let mut shown = Vec::new();
        parsed.value.write_to(6, &mut shown);
        let again = Time::parse(&shown).map(|parsed| parsed.value);
        assert_eq!(again, Some(parsed.value), "{}", String::from_utf8_lossy(&shown));
        parsed.to_fsp(fsp, bits & 8 != 0);
    }
}

fn shift(value: DateTime, text: &[u8], bits: u8) {
    let units = [
        IntervalUnit::Microsecond,
        IntervalUnit::Second,
        IntervalUnit::Day,
        IntervalUnit::Month,
        IntervalUnit::Year,
        IntervalUnit::DaySecond,
        IntervalUnit::YearMonth,
        IntervalUnit::DayMicrosecond,
    ];
    if let Some(interval) = Interval::parse(text, units[usize::from(bits >> 4) % units.len()]) {
        interval.add_to(value);
        interval.negate().add_to(value);
        interval.add_to_date(value.date());
    }
}

fn read_temporal_numbers(mut input: Bytes<'_>) {
    let (bits, number, micro) = (input.u8(), i64::from_le_bytes(input.array()), input.u32() % 1_000_000);
    if let Some(parsed) = DateTime::from_number(number, micro as i32, flags(bits)) {
        parsed.value.to_number();
        parsed.value.date().last_day();
        parsed.value.date().day_of_year();
    }
    let signed = if number < 0 { -(micro as i32) } else { micro as i32 };
    if let Some(parsed) = Time::from_number(number, signed) {
        parsed.value.to_number();
    }
    let date = Date::from_day_number(number);
    assert!(date.is_zero() || date.day_number() == number, "day {number} came back as {}", date.day_number());
    DateTime::from_epoch_micros(i128::from(number) * i128::from(input.u32()));
}

/// A decimal as printed is read again as the same; arithmetic returns.
fn read_decimal(text: &[u8]) {
    let parsed = Decimal::parse_prefix(text);
    assert!(parsed.consumed <= text.len(), "more was read than there is");
    let first = parsed.value;
    let mut shown = Vec::new();
    first.write_to(&mut shown);
    let again = Decimal::parse(&shown).expect("a number that was printed");
    assert_eq!(again.cmp(&first), std::cmp::Ordering::Equal, "{}", String::from_utf8_lossy(&shown));
    let second = Decimal::parse_prefix(text.get(parsed.consumed..).unwrap_or_default()).value;
    first.checked_add(second);
    first.checked_sub(second);
    first.checked_mul(second);
    // Division by zero and overflow are answers.
    let _ = first.checked_div(second, 4);
    let _ = first.checked_div_int(second);
    let _ = first.checked_rem(second);
    first.floor();
    first.ceil();
    first.round(i32::from(text.first().copied().unwrap_or_default()) - 128);
    Decimal::from_f64(first.to_f64());
}

fn read_numbers(text: &[u8]) {
    integer_prefix(text);
    let (_, consumed) = double_prefix(text);
    assert!(consumed <= text.len(), "more was read than there is");
    round_text_to_i128(text);
}

/// Conversion, sort keys and LIKE take any bytes; the order of two texts is that of their sort keys.
fn compare_text(mut input: Bytes<'_>) {
    let all = Collation::all();
    let collation = &all[usize::from(input.u8()) % all.len()];
    let other = &all[usize::from(input.u8()) % all.len()];
    let (first, second) = (input.until(b'\n'), input.rest());
    let (mut key_of_first, mut key_of_second) = (Vec::new(), Vec::new());
    collation.sort_key(first, &mut key_of_first);
    collation.sort_key(second, &mut key_of_second);
    assert_eq!(
        collation.compare(first, second) == std::cmp::Ordering::Equal,
        collation.equals(first, second),
        "{} compares and equates differently",
        collation.name
    );
    types::collation::LikePattern::new(second, Some(u32::from(b'\\')), collation).matches(first);
    let mut converted = Vec::new();
    convert(collation.charset, other.charset, first, &mut converted);
    // Bytes of no character set, or of the same, stay as they are.
    if collation.charset != Charset::Binary && collation.charset != other.charset {
        let invalid = other.charset.first_invalid(&converted);
        assert_eq!(invalid, None, "{:?} to {:?}", collation.charset, other.charset);
    }
}
