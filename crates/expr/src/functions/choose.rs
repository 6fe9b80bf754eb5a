//! Functions that choose among their arguments.

use std::cmp::Ordering;

use types::temporal::DateFlags;
use types::{DateTime, TypeKind, Value};

use super::{Call, some};
use crate::build::fsp::temporal_fsp;
use crate::build::{Class, class_of, is_text};
use crate::compare::{compare_values, fail_if_cut_short};
use crate::{CmpDomain, EvalError, Expr};

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

/// A date, or a date and time, as one with the fraction digits of the call's type.
pub(crate) fn as_moment<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let fsp = call.ty().decimals;
    Ok(match call.value(0)? {
        Value::Date(date) => Value::DateTime(DateTime::from_date(date), fsp),
        Value::DateTime(moment, _) => Value::DateTime(moment, fsp),
        other => other,
    })
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
    let mut best = Value::Null;
    for i in 0..call.args.len() {
        let mut value = call.value(i)?;
        if value.is_null() {
            return Ok(Value::Null);
        }
        if is_dated {
            match dated(call, value) {
                Some(date) => value = date,
                None if call.ty().kind != TypeKind::Date => {
                    value = Value::DateTime(DateTime::ZERO, call.ty().decimals);
                }
                // A value that is not a date counts as past every date, and MySQL shows a date that does not
                // exist. Beside a date with a time it is the zero date.
                None if wanted == Ordering::Greater => return Ok(Value::Null),
                None => continue,
            }
        }
        // Of texts that are alike GREATEST is the last, LEAST the first.
        let is_better = |order: Option<Ordering>| {
            order == Some(wanted) || (order == Some(Ordering::Equal) && wanted == Ordering::Greater)
        };
        if best.is_null() || is_better(ordered(call, &value, &best, domain)?) {
            best = value;
        }
    }
    Ok(best)
}

/// An argument as a date of the call's type, whose parts may be zero; `None`, with a warning, if it is
/// invalid.
fn dated<'v>(call: &Call<'v>, value: Value<'v>) -> Option<Value<'v>> {
    match (call.ty().kind, value) {
        (TypeKind::Date, Value::Date(_)) => return Some(value),
        (TypeKind::Date, _) => return call.fuzzy_date(&value).map(Value::Date),
        (_, Value::DateTime(moment, _)) => return Some(Value::DateTime(moment, call.ty().decimals)),
        _ => {}
    }
    call.read_datetime(&value, DateFlags::default()).map(|m| Value::DateTime(m, call.ty().decimals))
}

/// GREATEST of dates with a time, beside numbers or texts.
pub(crate) fn greatest_moment<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    extreme_moment(call, Ordering::Greater)
}

/// LEAST of dates with a time, beside numbers or texts.
pub(crate) fn least_moment<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    extreme_moment(call, Ordering::Less)
}

/// The argument of the latest or earliest moment as a text. Arguments that are no moment are before all
/// others. Where one of them, or the zero date, is the answer, texts are compared instead.
fn extreme_moment<'v>(call: &Call<'v>, wanted: Ordering) -> Result<Value<'v>, EvalError> {
    let mut best: Option<(Option<DateTime>, usize)> = None;
    for i in 0..call.args.len() {
        let value = call.value(i)?;
        let moment = match value {
            Value::Null => return Ok(Value::Null),
            Value::DateTime(moment, _) => Some(moment),
            Value::Date(date) => Some(DateTime::from_date(date)),
            _ => call.read_datetime(&value, DateFlags::default()),
        };
        // GREATEST shows a date rather than a number that is the same moment.
        let is_wanted = wanted == Ordering::Greater && class_of(&call.args[i]) == Class::DateTime;
        let is_date = |known: Option<DateTime>| moment == known && is_wanted;
        if best.is_none_or(|(known, _)| moment.cmp(&known) == wanted || is_date(known)) {
            best = Some((moment, i));
        }
    }
    match best {
        Some((Some(moment), _)) if !moment.is_zero() => {
            let fsp = call.args.iter().map(temporal_fsp).max().unwrap_or(0);
            let mut out = Vec::new();
            moment.write_to(fsp, &mut out);
            call.copied(&out)
        }
        _ => extreme_text(call, wanted),
    }
}

/// The argument whose text is the greatest, the last of those that are alike, or the least, the first one.
#[cold]
fn extreme_text<'v>(call: &Call<'v>, wanted: Ordering) -> Result<Value<'v>, EvalError> {
    let domain = CmpDomain::String(call.ty().collation);
    let mut best = call.text_value(some!(call.text(0)));
    for i in 1..call.args.len() {
        let text = call.text_value(some!(call.text(i)));
        let order = ordered(call, &text, &best, domain)?;
        if order == Some(wanted) || order == Some(Ordering::Equal) && wanted == Ordering::Greater {
            best = text;
        }
    }
    Ok(best)
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
    let argument = |i| match domain {
        CmpDomain::Double => Ok(call.double(i)?.map_or(Value::Null, Value::Double)),
        _ => call.value(i),
    };
    let needle = argument(0)?;
    if needle.is_null() {
        return Ok(Value::Int(-1));
    }
    let mut count = 0;
    for i in 1..call.args.len() {
        let value = argument(i)?;
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
    let is_shown_as_text =
        |e: &Expr| is_text(e) || matches!(class_of(e), Class::Null | Class::DateTime | Class::Time);
    let domain = if call.args.iter().all(is_shown_as_text) {
        let text = call.args.iter().position(is_text);
        CmpDomain::String(call.args[text.unwrap_or(0)].ty.collation)
    } else if all(&[Class::Int]) {
        CmpDomain::Integer
    } else if all(&[Class::Int, Class::Decimal]) {
        CmpDomain::Decimal
    } else {
        CmpDomain::Double
    };
    let needle = call.value(0)?;
    if needle.is_null() {
        return Ok(Value::Int(0));
    }
    // Texts are read as numbers once, and warn as operands of other operators do.
    let read = |i: usize| match domain {
        CmpDomain::Double => Ok(call.double(i)?.map_or(Value::Null, Value::Double)),
        _ => call.value(i),
    };
    let needle = if domain == CmpDomain::Double { read(0)? } else { needle };
    for i in 1..call.args.len() {
        if ordered(call, &needle, &read(i)?, domain)? == Some(Ordering::Equal) {
            return Ok(Value::Int(i as i64));
        }
    }
    Ok(Value::Int(0))
}
