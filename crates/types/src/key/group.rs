//! Bytes by which rows are distinguished: in DISTINCT, GROUP BY and hash joins.

use super::ordinal;
use crate::{CollationId, Value};

/// Appends bytes that are equal for two values of one type exactly if the values are, NULLs among them. No
/// key is a prefix of another, so keys of several values can be appended one after the other.
pub fn append_group(value: &Value<'_>, out: &mut Vec<u8>) {
    let tag = out.len();
    out.push(1);
    match *value {
        Value::Null => out[tag] = 0,
        Value::Int(v) => {
            // A value above i64::MAX must differ from the negative one of the same bits.
            out[tag] = if v < 0 { 2 } else { 1 };
            out.extend_from_slice(&v.to_be_bytes());
        }
        Value::UInt(v) => out.extend_from_slice(&v.to_be_bytes()),
        Value::Double(v) => out.extend_from_slice(&(v + 0.0).to_bits().to_be_bytes()),
        Value::Float(v) => out.extend_from_slice(&(v + 0.0).to_bits().to_be_bytes()),
        Value::Decimal(v) => {
            v.normalize().write_to(out);
            out.push(0);
        }
        Value::Bytes { data, collation } => match collation.collation() {
            Some(known) => known.sort_key(data, out),
            None => append_bytes(data, out),
        },
        Value::Time(v, _) => out.extend_from_slice(&v.micros().to_be_bytes()),
        _ => ordinal::append(value, out),
    }
}

fn append_bytes(data: &[u8], out: &mut Vec<u8>) {
    match CollationId::BINARY.collation() {
        Some(binary) => binary.sort_key(data, out),
        None => out.extend_from_slice(data),
    }
}
