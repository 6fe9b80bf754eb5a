//! Keys of values that compare as equal.

use bumpalo::Bump;
use expr::{CmpDomain, Number, moment_of};
use types::key::append_group;
use types::temporal::DateFlags;
use types::{DateTime, Time, Value};

use crate::query_run::QueryRun;

/// Appends bytes that are equal for values that compare as equal in `domain`.
pub(crate) fn append_domain_key(value: &Value<'_>, domain: CmpDomain, run: &QueryRun<'_>, key: &mut Vec<u8>) {
    let converted = match domain {
        CmpDomain::Integer => match *value {
            Value::Int(_) | Value::UInt(_) => *value,
            _ if value.is_unsigned_integer() => Value::UInt(value.to_u64().value),
            _ => Value::Int(value.to_i64().value),
        },
        CmpDomain::Decimal => Value::Decimal(value.to_decimal().value),
        CmpDomain::Double => Value::Double(value.to_f64().value),
        CmpDomain::Number => Number::of(value, &run.ctx(&Bump::new())).to_value(),
        CmpDomain::DateTime => {
            let read = moment_of(value, DateFlags::default(), &run.ctx(&Bump::new()));
            Value::DateTime(read.map_or(DateTime::ZERO, |r| r.value), 6)
        }
        CmpDomain::Time => Value::Time(value.to_time().map_or(Time::ZERO, |r| r.value), 6),
        CmpDomain::String(collation) => {
            let mut scratch = Vec::new();
            let data = value.as_text(&mut scratch);
            append_group(&Value::Bytes { data, collation }, key);
            return;
        }
    };
    append_group(&converted, key);
}
