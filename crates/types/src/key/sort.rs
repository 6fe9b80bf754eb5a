//! Byte strings whose order is the order of values: what rows are sorted by.

use base::memory::append_in_pieces;

use super::ordinal;
use crate::{Decimal, Value};

/// Appends a part whose `memcmp` order is that of ORDER BY: NULL first, or last and all reversed if `desc`.
/// Parts of one expression's values delimit themselves.
pub fn append_sort(value: &Value<'_>, desc: bool, out: &mut Vec<u8>) {
    let start = out.len();
    append_ascending(value, out);
    if desc {
        out[start..].iter_mut().for_each(|byte| *byte = !*byte);
    }
}

fn append_ascending(value: &Value<'_>, out: &mut Vec<u8>) {
    out.push(u8::from(!value.is_null()));
    match *value {
        Value::Null => {}
        // Negative numbers come before all unsigned ones.
        Value::Int(v) => append_integer(v >= 0, v as u64, out),
        Value::UInt(v) => append_integer(true, v, out),
        Value::Double(v) => append_double(v, out),
        Value::Float(v) => append_double(f64::from(v), out),
        Value::Decimal(v) => append_decimal(v, out),
        Value::Bytes { data, collation } => match collation.collation() {
            Some(known) => known.sort_key(data, out),
            // A key that the interrupt cut short is noticed where long keys are.
            None => _ = append_in_pieces(data, out),
        },
        Value::Time(v, _) => append_integer(!v.is_negative(), v.micros() as u64, out),
        _ => ordinal::append(value, out),
    }
}

fn append_integer(positive: bool, bits: u64, out: &mut Vec<u8>) {
    out.push(u8::from(positive));
    out.extend_from_slice(&bits.to_be_bytes());
}

fn append_double(value: f64, out: &mut Vec<u8>) {
    // Adding zero turns -0 to 0.
    let bits = (value + 0.0).to_bits();
    let key = if bits >> 63 == 1 { !bits } else { bits | 1 << 63 };
    out.extend_from_slice(&key.to_be_bytes());
}

/// Sign, number of integer digits, all digits without trailing zeros, an end; inverted for negative numbers.
fn append_decimal(value: Decimal, out: &mut Vec<u8>) {
    let start = out.len();
    let mut text = Vec::new();
    value.abs().normalize().write_to(&mut text);
    let whole = text.iter().position(|&b| b == b'.').unwrap_or(text.len());
    let integer_digits = if text[..whole] == *b"0" { 0 } else { whole };
    out.push(0x80);
    out.push(integer_digits as u8);
    let digits = text[whole - integer_digits..].iter().filter(|b| b.is_ascii_digit());
    out.extend(digits);
    while integer_digits > 0 && out.len() > start + 2 && out.last() == Some(&b'0') {
        out.pop();
    }
    out.push(0);
    if value.is_negative() {
        out[start..].iter_mut().for_each(|byte| *byte = !*byte);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CollationId;

    fn key(value: Value<'_>, desc: bool) -> Vec<u8> {
        let mut out = Vec::new();
        append_sort(&value, desc, &mut out);
        out
    }

    fn assert_ascending(values: &[Value<'_>]) {
        for pair in values.windows(2) {
            assert!(key(pair[0], false) < key(pair[1], false), "{pair:?}");
            assert!(key(pair[0], true) > key(pair[1], true), "{pair:?} descending");
        }
    }

    #[test]
    fn keys_sort_as_values() {
        assert_ascending(&[
            Value::Null,
            Value::Int(i64::MIN),
            Value::Int(-1),
            Value::Int(0),
            Value::UInt(u64::MAX),
        ]);
        assert_ascending(&[
            Value::Double(-1e300),
            Value::Double(-0.5),
            Value::Double(-0.0),
            Value::Double(1e-9),
        ]);
        let text = |s: &'static str| Value::text(s.as_bytes(), CollationId::UTF8MB4_0900_AI_CI);
        assert_ascending(&[text(""), text("a"), text("B"), text("ba")]);
        let decimals =
            ["-100", "-99.5", "-0.05", "0", "0.005", "0.05", "0.5", "5", "10", "10.01", "99", "100"];
        let decimals: Vec<_> =
            decimals.iter().map(|s| Value::Decimal(Decimal::parse(s.as_bytes()).unwrap())).collect();
        assert_ascending(&decimals);
    }
}
