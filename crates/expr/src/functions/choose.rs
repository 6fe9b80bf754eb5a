//! Functions that choose among their arguments.

use std::cmp::Ordering;

use types::temporal::{Date, DateFlags, DateTime};
use types::value::{Converted, Loss};
use types::{TypeKind, Value};

use super::{Call, some};
use crate::build::{Class, class_of};
use crate::compare::compare_values;
use crate::eval::fail_if_cut_short;
use crate::{CmpDomain, EvalError, moment_of};

/// COALESCE, IFNULL: the first argument that is not NULL.
pub(crate) fn coalesce<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    for i in 0..call.args.len() {
        let value = call.value(i)?;
        if !value.is_null() {
            return Ok(value);
        }
    }
    Ok(Value::Null)
}

/// Functions that the builder expresses by others and that no bound expression holds.
pub(crate) fn rewritten<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    Err(EvalError::NotSupported(call.name()))
}

/// GREATEST
pub(crate) fn greatest<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    extreme(call, Ordering::Greater)
}

/// LEAST
pub(crate) fn least<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    extreme(call, Ordering::Less)
}

fn extreme<'v>(call: &Call<'v>, wanted: Ordering) -> Result<Value<'v>, EvalError> {
    let domain = match call.ty().kind {
        TypeKind::Decimal => CmpDomain::Decimal,
        TypeKind::Double | TypeKind::Float => CmpDomain::Double,
        TypeKind::Date | TypeKind::DateTime | TypeKind::Timestamp => CmpDomain::DateTime,
        TypeKind::Time => CmpDomain::Time,
        _ if call.ty().is_string() => CmpDomain::String(call.ty().collation),
        _ => CmpDomain::Integer,
    };
    let is_dated = domain == CmpDomain::DateTime;
    let argument = |i| if is_dated { dated(call, call.value(i)?) } else { call.value(i) };
    let mut best = argument(0)?;
    for i in 1..call.args.len() {
        let value = argument(i)?;
        if best.is_null() || value.is_null() {
            return Ok(Value::Null);
        }
        if ordered(call, &value, &best, domain)? == Some(wanted) {
            best = value;
        }
    }
    Ok(best)
}

/// An argument as a date of the call's type, whose parts may be zero; NULL, with a warning, if it is none.
fn dated<'v>(call: &Call<'v>, value: Value<'v>) -> Result<Value<'v>, EvalError> {
    if value.is_null() {
        return Ok(value);
    }
    let is_date = call.ty().kind == TypeKind::Date;
    let read = day_of_no_month(&value).or_else(|| moment_of(&value, DateFlags::default(), call.ctx));
    if read.is_none_or(|read| read.loss != Loss::None) {
        call.truncated(if is_date { "date" } else { "datetime" }, &value);
    }
    Ok(match read {
        None => Value::Null,
        Some(read) if is_date => Value::Date(read.value.date()),
        Some(read) => Value::DateTime(read.value, call.ty().decimals),
    })
}

/// What a number up to 31 is beside a date: a day of the year 2000 whose month is zero.
fn day_of_no_month(value: &Value<'_>) -> Option<Converted<DateTime>> {
    let day = match value {
        Value::Int(_) | Value::UInt(_) | Value::Decimal(_) => value.to_i64().value,
        _ => return None,
    };
    let day = u8::try_from(day).ok().filter(|day| (1..=31).contains(day))?;
    Some(Converted::exact(DateTime::from_date(Date::new(2000, 0, day))))
}

/// The order of two values, unless the statement was killed while long ones were compared.
fn ordered(
    call: &Call<'_>,
    a: &Value<'_>,
    b: &Value<'_>,
    domain: CmpDomain,
) -> Result<Option<Ordering>, EvalError> {
    let order = compare_values(a, b, domain, call.ctx);
    fail_if_cut_short(domain, [a, b], call.ctx)?;
    Ok(order)
}

/// INTERVAL(n, a, b, ..): how many of the ascending numbers are not above n; -1 for NULL.
pub(crate) fn interval<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let exact = call.args.iter().all(|e| matches!(class_of(e), Class::Int | Class::Decimal));
    let domain = if exact { CmpDomain::Decimal } else { CmpDomain::Double };
    let needle = call.value(0)?;
    if needle.is_null() {
        return Ok(Value::Int(-1));
    }
    let mut count = 0;
    for i in 1..call.args.len() {
        let value = call.value(i)?;
        if !value.is_null() && compare_values(&value, &needle, domain, call.ctx) == Some(Ordering::Greater) {
            break;
        }
        count = i as i64;
    }
    Ok(Value::Int(count))
}

/// ELT(n, a, b, ..): the n-th text.
pub(crate) fn elt<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let n = some!(call.int(0));
    match usize::try_from(n) {
        Ok(n) if (1..call.args.len()).contains(&n) => Ok(call.text_value(some!(call.text(n)))),
        _ => Ok(Value::Null),
    }
}

/// FIELD(x, a, b, ..): the place of x in the list, 0 without one.
pub(crate) fn field<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let all = |classes: &[Class]| call.args.iter().all(|e| classes.contains(&class_of(e)));
    let domain = if all(&[Class::Text, Class::Null]) {
        CmpDomain::String(call.args[0].ty.collation)
    } else if all(&[Class::Int]) {
        CmpDomain::Integer
    } else if all(&[Class::Int, Class::Decimal]) {
        CmpDomain::Decimal
    } else {
        CmpDomain::Double
    };
    let needle = call.value(0)?;
    for i in 1..call.args.len() {
        if ordered(call, &needle, &call.value(i)?, domain)? == Some(Ordering::Equal) {
            return Ok(Value::Int(i as i64));
        }
    }
    Ok(Value::Int(0))
}
