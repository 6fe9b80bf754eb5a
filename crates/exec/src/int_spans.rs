//! Intervals over integer parts of an index as pairs of numbers: what [`crate::intervals`] makes part by part
//! for any type, without bytes in between.
//!
//! A key of fixed width is the number that its bytes are, big-endian. A box leaves single values of all parts
//! but the last, and of that one values or a stretch, so each combination is one pair of numbers, both ends
//! included.

use base::memory::Charge;
use expr::{Expr, ExprKind};
use page::IntPart;
use sql::plan::{KeyBox, KeySet, PartTest};
use types::Value;

use crate::error::Result;
use crate::int_points::IntPoints;
use crate::intervals::Values;
use crate::key::KeyPart;
use crate::range_bugs::{RangeBug, is_planted};
use crate::subquery::each_value_of;

/// Bytes of the widest key that is a number here.
pub(crate) const KEY_BYTES_MAX: usize = size_of::<u128>();

/// The place and encoding of one integer part within a key's number.
#[derive(Debug)]
pub(crate) struct IntCode {
    /// Smallest and greatest value of the column.
    pub(crate) min: i128,
    pub(crate) max: i128,
    /// Bits of the part, the byte before the value included, and of the parts after it.
    pub(crate) part_bits: u32,
    bits_after: u32,
    /// Bits of the value.
    pub(crate) value_mask: u64,
    /// As in [`IntPart`].
    pub(crate) flip: u64,
    /// The byte before the value, at its place; 0 if there is none.
    pub(crate) marker: u128,
    desc: bool,
}

impl IntCode {
    fn new(part: &KeyPart) -> Option<Self> {
        let (IntPart { width, flip }, unsigned) = part.int().filter(|_| !part.prefix)?;
        let bits = 8 * u32::from(width);
        let (min, max) =
            if unsigned { (0, (1 << bits) - 1) } else { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) };
        let marker = part.marker();
        Some(IntCode {
            min,
            max,
            part_bits: bits + 8 * u32::from(marker.is_some()),
            bits_after: 0,
            value_mask: u64::MAX >> (64 - bits),
            flip,
            marker: u128::from(marker.unwrap_or(0)) << bits,
            desc: part.desc,
        })
    }

    /// The part for a value that the column can hold.
    #[inline]
    fn part(&self, value: i128) -> u128 {
        u128::from((value as u64 & self.value_mask) ^ self.flip) | self.marker
    }

    /// The part for NULL, of a column that can hold it.
    fn null(&self) -> u128 {
        if self.desc { (1 << self.part_bits) - 1 } else { 0 }
    }
}

/// How the intervals of a [`KeySet`] over integer parts are made.
#[derive(Debug)]
pub(crate) struct IntKey {
    codes: Box<[IntCode]>,
    /// Every box is one value for each part.
    pub(crate) is_points: bool,
    /// The short way to such boxes.
    pub(crate) points: Option<IntPoints>,
    /// Bytes of a whole key.
    pub(crate) width: usize,
}

impl IntKey {
    /// `None` if some part is no integer, keys are too wide, or a box has other tests than equalities, lists
    /// of integers and bounds.
    pub(crate) fn new(keys: &KeySet, parts: &[KeyPart]) -> Option<Self> {
        let is_point = |key_box: &KeyBox| {
            key_box.tests.len() == parts.len()
                && key_box.tests.iter().all(|(_, test)| matches!(test, PartTest::Eq(_)))
        };
        let is_points = match keys.params() {
            Some(keys) => keys.parts == parts.len(),
            None => keys.boxes().iter().all(is_point),
        };
        if parts.is_empty() || !(is_points || keys.boxes().iter().all(has_plain_tests)) {
            return None;
        }
        let mut codes: Box<[IntCode]> = parts.iter().map(IntCode::new).collect::<Option<_>>()?;
        let mut bits_after = 0;
        for code in codes.iter_mut().rev() {
            code.bits_after = bits_after;
            bits_after += code.part_bits;
        }
        let width = codes.iter().map(|code| code.part_bits as usize / 8).sum();
        let points = IntPoints::new(keys, &codes);
        (width <= KEY_BYTES_MAX).then_some(IntKey { codes, is_points, points, width })
    }
}

/// Whether every part but the last tested has one test that leaves single values, and the last such a one or
/// bounds.
fn has_plain_tests(key_box: &KeyBox) -> bool {
    let last = key_box.parts().wrapping_sub(1);
    let is_bound = |(_, test): &(u16, PartTest)| {
        matches!(test, PartTest::Lower(..) | PartTest::Upper(..) | PartTest::IsNotNull)
    };
    let mut by_part = key_box.tests.chunk_by(|a, b| a.0 == b.0);
    by_part.all(|tests| match tests {
        [(_, PartTest::Eq(_) | PartTest::NullSafeEq(_) | PartTest::IsNull | PartTest::In(_))] => true,
        [(_, PartTest::InSubquery(subquery))] => subquery.ty.is_integer(),
        [(part, _), ..] => usize::from(*part) == last && tests.iter().all(is_bound),
        [] => false,
    })
}

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
fn value_of(values: &Values<'_, '_>, expr: &Expr) -> Result<IntValue> {
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
    values: &Values<'_, '_>,
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
    values: &Values<'_, '_>,
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
    values: &'x Values<'x, 'r>,
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
