//! Lists of keys whose parts are all integer parameters, `(a, b) IN ((?, ?), ..)`, where a key has 8 bytes at
//! most. It is the fastest way of [`crate::int_spans`], which makes the same keys of any values.

use expr::{Expr, ExprKind};
use sql::plan::{KeySet, PartTest};
use types::Value;

use crate::int_spans::{IntCode, IntSpan};

/// The keys of a [`KeySet`].
#[derive(Debug)]
pub(crate) struct IntPoints {
    /// Numbers of the parameters, key by key.
    params: Box<[u16]>,
    /// The parts of a key.
    codes: Box<[PointCode]>,
}

/// An integer part that cannot be NULL.
#[derive(Debug)]
struct PointCode {
    /// Smallest value of the column, and how far the greatest is above it.
    min: i64,
    extent: u64,
    /// As in [`IntCode`].
    value_mask: u64,
    flip: u64,
    bits: u32,
}

impl PointCode {
    fn new(code: &IntCode) -> Option<Self> {
        let min = i64::try_from(code.min).ok()?;
        let max = i64::try_from(code.max).unwrap_or(i64::MAX);
        let extent = max.wrapping_sub(min) as u64;
        let IntCode { value_mask, flip, part_bits: bits, .. } = *code;
        (code.marker == 0).then_some(PointCode { min, extent, value_mask, flip, bits })
    }
}

impl IntPoints {
    /// `None` if a part may be NULL, keys are too wide, or a box is something else than a parameter for each
    /// part.
    pub(crate) fn new(keys: &KeySet, codes: &[IntCode]) -> Option<Self> {
        let bits: u32 = codes.iter().map(|code| code.part_bits).sum();
        if bits > u64::BITS || keys.boxes.iter().any(|key_box| key_box.tests.len() != codes.len()) {
            return None;
        }
        let mut params = Vec::with_capacity(keys.boxes.len() * codes.len());
        for (_, test) in keys.boxes.iter().flat_map(|key_box| &key_box.tests) {
            let PartTest::Eq(Expr { kind: ExprKind::Param(number), .. }) = test else { return None };
            params.push(*number);
        }
        let codes = codes.iter().map(PointCode::new).collect::<Option<_>>()?;
        Some(IntPoints { params: params.into(), codes })
    }

    /// Appends the keys with the values of `params` to `spans`, which has room for them. False: a value is no
    /// integer, and `spans` says nothing. Cost: about a dozen instructions a value.
    #[inline]
    pub(crate) fn make(&self, params: &[Value<'_>], spans: &mut Vec<IntSpan>) -> bool {
        self.for_each_key(params, |key| spans.push(IntSpan { lower: key.into(), upper: key.into() }))
    }

    /// Calls `take` with each key that the columns can hold. False: a value is no integer.
    #[inline(always)]
    fn for_each_key(&self, params: &[Value<'_>], mut take: impl FnMut(u64)) -> bool {
        let mut numbers = self.params.iter();
        while !numbers.as_slice().is_empty() {
            let (mut key, mut is_possible) = (0_u64, true);
            for code in &self.codes {
                let value = numbers.next().and_then(|number| params.get(usize::from(*number)));
                let Some(&Value::Int(value)) = value else { return false };
                is_possible &= value.wrapping_sub(code.min) as u64 <= code.extent;
                // The only part of 64 bits stands alone.
                key = key.wrapping_shl(code.bits) | ((value as u64 & code.value_mask) ^ code.flip);
            }
            if is_possible {
                take(key);
            }
        }
        true
    }
}

/// Most keys of a list that are made without memory of their own.
pub(crate) const FEW_KEYS: usize = 16;

/// The keys of a short list, ascending, each once.
#[derive(Debug, Default)]
pub(crate) struct FewKeys {
    /// Each key begins its bytes.
    bytes: [[u8; size_of::<u64>()]; FEW_KEYS],
    count: usize,
    /// Bytes of a key.
    width: usize,
}

impl FewKeys {
    /// Becomes the keys of `points`, `width` bytes each, with the values of `params`. False: they may be too
    /// many, or a value is no integer.
    #[inline]
    pub(crate) fn make(&mut self, points: &IntPoints, width: usize, params: &[Value<'_>]) -> bool {
        if points.params.len() > FEW_KEYS * points.codes.len() {
            return false;
        }
        let (mut keys, mut count) = ([0_u64; FEW_KEYS], 0);
        let all_integers = points.for_each_key(params, |key| {
            keys[count] = key;
            count += 1;
        });
        if !all_integers {
            return false;
        }
        let mut keys = &mut keys[..count];
        if !keys.is_sorted_by(|a, b| a < b) {
            keys = sorted_once(keys);
        }
        let unused_bits = u64::BITS - 8 * width as u32;
        for (bytes, key) in self.bytes.iter_mut().zip(&*keys) {
            *bytes = (key << unused_bits).to_be_bytes();
        }
        (self.count, self.width) = (keys.len(), width);
        true
    }

    /// Number of keys.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// The `at`-th key.
    #[inline]
    pub(crate) fn get(&self, at: usize) -> &[u8] {
        &self.bytes[at][..self.width]
    }
}

/// Sorts `keys`; those that differ.
fn sorted_once(keys: &mut [u64]) -> &mut [u64] {
    keys.sort_unstable();
    let mut kept = 0;
    for at in 1..keys.len() {
        if keys[at] != keys[kept] {
            kept += 1;
            keys[kept] = keys[at];
        }
    }
    &mut keys[..=kept]
}
