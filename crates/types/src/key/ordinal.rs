//! Values that are numbers without a sign underneath: sort keys and group keys have the same bytes of them.

use crate::Value;

/// Appends the number that `value` is, in a fixed width, so that bytes are in the order of values. Nothing of
/// values of other kinds.
#[inline]
pub(super) fn append(value: &Value<'_>, out: &mut Vec<u8>) {
    match *value {
        Value::Date(v) => out.extend_from_slice(&v.packed().to_be_bytes()),
        Value::DateTime(v, _) => {
            out.extend_from_slice(&v.packed_seconds().to_be_bytes());
            out.extend_from_slice(&v.micro().to_be_bytes());
        }
        Value::Year(v) => out.extend_from_slice(&v.to_be_bytes()),
        Value::Bit { value, .. } => out.extend_from_slice(&value.to_be_bytes()),
        Value::Enum { index, .. } => out.extend_from_slice(&index.to_be_bytes()),
        Value::Set { mask, .. } => out.extend_from_slice(&mask.to_be_bytes()),
        _ => debug_assert!(false, "{value:?} is no plain number"),
    }
}
