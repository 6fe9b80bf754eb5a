//! Intervals over integer parts of an index as pairs of numbers: what [`crate::intervals`] makes part by part
//! for any type, without bytes in between.
//!
//! A key of fixed width is the number that its bytes are, big-endian. A box leaves single values of all parts
//! but the last, and of that one values or a stretch, so each combination is one pair of numbers, both ends
//! included.

use base::memory::Charge;
use expr::{Expr, ExprKind};
use sql::plan::{KeySet, PartTest};
use types::Value;

use crate::error::Result;
use crate::int_code::IntCode;
use crate::int_key::IntKey;
use crate::key_values::KeyValues;
use crate::query_values::each_value_of;
use crate::range_bugs::{RangeBug, is_planted};

/// An interval of keys, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct IntSpan {
    pub(crate) lower: u128,
    pub(crate) upper: u128,
}

/// A value as an integer part sees it.
enum IntValue {
    Integer(i128),
    Null,
    Other,
}

/// The value of `expr`; a parameter's without the evaluator.
#[inline]
fn value_of(values: &KeyValues<'_, '_>, expr: &Expr) -> Result<IntValue> {
    match expr.kind {
        ExprKind::Param(number) if usize::from(number) < values.run.params.len() => {
            Ok(int_value(&values.run.params[usize::from(number)]))
        }
        _ => Ok(int_value(&values.of(expr)?)),
    }
}

#[inline]
fn int_value(value: &Value<'_>) -> IntValue {
    match value {
        Value::Int(v) => IntValue::Integer(i128::from(*v)),
        Value::UInt(v) => IntValue::Integer(i128::from(*v)),
        Value::Null => IntValue::Null,
        _ => IntValue::Other,
    }
}

/// Makes `spans` the disjoint intervals of `keys`, in key order; false: a value is no integer, and `spans`
/// says nothing.
pub(crate) fn make(
    key: &IntKey,
    keys: &KeySet,
    values: &KeyValues<'_, '_>,
    charge: &Charge,
    spans: &mut Vec<IntSpan>,
) -> Result<bool> {
    spans.clear();
    charge.reserve(spans, keys.len())?;
    if !make_of_boxes(key, keys, values, charge, spans)? {
        return Ok(false);
    }
    if !spans.is_sorted_by(|a, b| a.upper < b.lower) {
        join_up(spans);
    }
    #[cfg(test)]
    SETS_MADE.set(SETS_MADE.get() + 1);
    Ok(true)
}

/// As [`make`], of any tests and in the order of the boxes.
#[inline(never)]
fn make_of_boxes(
    key: &IntKey,
    keys: &KeySet,
    values: &KeyValues<'_, '_>,
    charge: &Charge,
    spans: &mut Vec<IntSpan>,
) -> Result<bool> {
    spans.clear();
    let mut maker = SpanMaker { codes: &key.codes, values, charge, spans };
    for key_box in keys.boxes() {
        let goes_on =
            if key.is_points { maker.add_point(&key_box.tests)? } else { maker.add(&key_box.tests, 0, 0)? };
        if !goes_on {
            return Ok(false);
        }
    }
    Ok(true)
}

#[cfg(test)]
thread_local! {
    /// How often [`make`] served.
    pub(crate) static SETS_MADE: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Sorts, and joins what overlaps.
fn join_up(spans: &mut Vec<IntSpan>) {
    spans.sort_unstable();
    spans.dedup_by(|next, last| {
        let overlaps = next.lower <= last.upper;
        if overlaps {
            last.upper = last.upper.max(next.upper);
        }
        overlaps
    });
}

struct SpanMaker<'x, 'r> {
    codes: &'x [IntCode],
    values: &'x KeyValues<'x, 'r>,
    charge: &'x Charge,
    spans: &'x mut Vec<IntSpan>,
}

impl SpanMaker<'_, '_> {
    /// Adds the key of one value for each part, as [`SpanMaker::add`] does. Cost: about 25 instructions a
    /// value.
    #[inline]
    fn add_point(&mut self, tests: &[(u16, PartTest)]) -> Result<bool> {
        let mut key = 0;
        for ((_, test), code) in tests.iter().zip(self.codes) {
            let PartTest::Eq(expr) = test else { return Ok(false) };
            match value_of(self.values, expr)? {
                IntValue::Integer(value) if (code.min..=code.max).contains(&value) => {
                    key = with_part(code, key, code.part(value));
                }
                IntValue::Null if is_planted(RangeBug::NullInRow) && code.marker != 0 => {
                    key = with_part(code, key, code.null());
                }
                IntValue::Integer(_) | IntValue::Null => return Ok(true),
                IntValue::Other => return Ok(false),
            }
        }
        self.push(key, key, 0)?;
        Ok(true)
    }

    /// Adds the intervals of keys that start with `before`, the number of the parts before `part`, and pass
    /// `tests`, which begin with those on `part`. False: a value is no integer.
    fn add(&mut self, tests: &[(u16, PartTest)], part: usize, before: u128) -> Result<bool> {
        let Some((first, rest)) = tests.split_first() else { return Ok(true) };
        match &first.1 {
            PartTest::Eq(expr) => self.add_value(value_of(self.values, expr)?, rest, part, before),
            PartTest::NullSafeEq(expr) => match value_of(self.values, expr)? {
                IntValue::Null => self.add_null(rest, part, before),
                value => self.add_value(value, rest, part, before),
            },
            PartTest::IsNull => self.add_null(rest, part, before),
            PartTest::In(list) => {
                for expr in list {
                    if !self.add_value(value_of(self.values, expr)?, rest, part, before)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            PartTest::InSubquery(subquery) => {
                let mut are_integers = true;
                each_value_of(self.values.run, subquery, |value| {
                    are_integers &= self.add_value(int_value(value), rest, part, before)?;
                    Ok(())
                })?;
                Ok(are_integers)
            }
            _ => self.add_stretch(tests, part, before),
        }
    }

    /// Continues with `value` in `part`, if a row can have it.
    #[inline]
    fn add_value(
        &mut self,
        value: IntValue,
        rest: &[(u16, PartTest)],
        part: usize,
        before: u128,
    ) -> Result<bool> {
        let code = &self.codes[part];
        let number = match value {
            IntValue::Integer(value) if (code.min..=code.max).contains(&value) => code.part(value),
            IntValue::Null if is_planted(RangeBug::NullInRow) && code.marker != 0 => code.null(),
            IntValue::Integer(_) | IntValue::Null => return Ok(true),
            IntValue::Other => return Ok(false),
        };
        self.add_part(number, rest, part, before)
    }

    /// Continues with NULL in `part`, if the column can hold it.
    fn add_null(&mut self, rest: &[(u16, PartTest)], part: usize, before: u128) -> Result<bool> {
        let code = &self.codes[part];
        if code.marker == 0 { Ok(true) } else { self.add_part(code.null(), rest, part, before) }
    }

    #[inline]
    fn add_part(
        &mut self,
        number: u128,
        rest: &[(u16, PartTest)],
        part: usize,
        before: u128,
    ) -> Result<bool> {
        let code = &self.codes[part];
        let key = with_part(code, before, number);
        if rest.is_empty() {
            self.push(key, key, code.bits_after)?;
            return Ok(true);
        }
        self.add(rest, part + 1, key)
    }

    /// Adds what the bounds in `tests` leave of the last part.
    fn add_stretch(&mut self, tests: &[(u16, PartTest)], part: usize, before: u128) -> Result<bool> {
        let code = &self.codes[part];
        let (mut low, mut high) = (code.min, code.max);
        for (_, test) in tests {
            let (PartTest::Lower(expr, included) | PartTest::Upper(expr, included)) = test else {
                return Ok(false);
            };
            let value = match value_of(self.values, expr)? {
                IntValue::Integer(value) => value,
                IntValue::Null => return Ok(true),
                IntValue::Other => return Ok(false),
            };
            let beyond = i128::from(!(*included || is_planted(RangeBug::ClosedEnd)));
            match test {
                PartTest::Lower(..) => low = low.max(value + beyond),
                _ => high = high.min(value - beyond),
            }
        }
        if low > high {
            return Ok(true);
        }
        let ends = if code.desc { (high, low) } else { (low, high) };
        let [lower, upper] = [ends.0, ends.1].map(|end| with_part(code, before, code.part(end)));
        self.push(lower, upper, code.bits_after)?;
        Ok(true)
    }

    /// Adds the keys that start with the numbers `lower` to `upper`, whatever follows in `bits_after` more
    /// bits.
    #[inline]
    fn push(&mut self, lower: u128, upper: u128, bits_after: u32) -> Result<()> {
        self.charge.reserve(self.spans, 1)?;
        self.spans.push(IntSpan { lower: lower << bits_after, upper: !(!upper << bits_after) });
        Ok(())
    }
}

/// The number of a key's parts up to one that is the number `part`, after `before`, the number of those
/// before it.
#[inline]
fn with_part(code: &IntCode, before: u128, part: u128) -> u128 {
    before << code.part_bits | part
}
