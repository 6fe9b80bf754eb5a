//! Constants that are compared with a YEAR column.

use types::Value;
use types::value::round_text_to_i128;

/// The year that a YEAR column would store of `value`, which is compared with it: one or two digits are a
/// year of 1970 to 2069, decimals and texts are rounded, doubles cut. What follows the number of a text does
/// not count. Only the number 0 and a text of 0 in four bytes are no year of a century.
pub fn stored_year(value: &Value<'_>) -> Option<i64> {
    let (number, is_zero) = match *value {
        Value::Bytes { data, .. } => {
            let (number, consumed) = round_text_to_i128(data);
            if consumed == 0 {
                return None;
            }
            (i64::try_from(number).ok()?, data.len() == 4)
        }
        Value::Int(v) => (v, true),
        Value::UInt(v) => (i64::try_from(v).ok()?, true),
        Value::Decimal(v) => (v.to_i64().ok()?, true),
        Value::Double(v) => (v.trunc() as i64, true),
        Value::Date(v) => (i64::from(v.year()), true),
        Value::DateTime(v, _) => (i64::from(v.date().year()), true),
        _ => return None,
    };
    match number {
        0 if is_zero => Some(0),
        0..=69 => Some(number + 2000),
        70..=99 => Some(number + 1900),
        1901..=2155 => Some(number),
        _ => None,
    }
}
