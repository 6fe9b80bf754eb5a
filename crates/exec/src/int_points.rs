//! Lists of keys whose parts are all integer parameters, `(a, b) IN ((?, ?), ..)` and
//! `a = ? AND b IN (?, ..)`, where a key has 8 bytes at most. It is the fastest way of [`crate::intervals`],
//! which makes the same keys of any values.

use std::ops::Range;

use base::memory::Charge;
use expr::ExprKind;
use sql::plan::{KeyBox, KeySet, PartTest};
use types::Value;

use crate::error::Result;
use crate::int_code::IntCode;

/// Values of all keys of a list, at most.
const VALUES_MAX: usize = 1 << 20;

/// The keys of a [`KeySet`].
#[derive(Debug)]
pub(crate) struct IntPoints {
    numbers: Numbers,
    /// The parts of a key.
    codes: Box<[PointCode]>,
    /// What makes the key of the sum of its parts, by exclusive or.
    flip: u64,
    /// Number of keys.
    count: usize,
    /// Bytes before a key in those of its number.
    unused: usize,
}

/// Numbers of the parameters, key by key.
#[derive(Debug)]
enum Numbers {
    /// They follow one another.
    Run(Range<usize>),
    Each(Box<[u16]>),
}

impl Numbers {
    fn new(numbers: &[u16]) -> Self {
        let Some(&first) = numbers.first() else { return Numbers::Run(0..0) };
        let first = usize::from(first);
        if (first..).zip(numbers).all(|(run, number)| run == usize::from(*number)) {
            Numbers::Run(first..first + numbers.len())
        } else {
            Numbers::Each(numbers.into())
        }
    }
}

/// An integer part that cannot be NULL. The bytes of a key are the lowest ones of a number: the sum of its
/// parts, each of which is how far the value is above the smallest of its column, moved to its place. The
/// last part is at its place.
#[derive(Debug)]
struct PointCode {
    /// Smallest value of the column, and how far the greatest is above it.
    min: i64,
    extent: u64,
    /// What moves the part to its place.
    factor: u64,
}

impl PointCode {
    /// The part whose lowest bit is at `place`, and the bits that the smallest value of the column has there:
    /// by exclusive or, they make a part of the key of how far a value is above the smallest.
    fn new(code: &IntCode, place: u32) -> Option<(Self, u64)> {
        let min = i64::try_from(code.min).ok()?;
        let max = i64::try_from(code.max).unwrap_or(i64::MAX);
        let extent = max.wrapping_sub(min) as u64;
        let flip = (min as u64 & code.value_mask) ^ code.flip;
        (code.marker == 0).then_some((PointCode { min, extent, factor: 1 << place }, flip << place))
    }

    /// How far `value` is above the smallest one, and whether the column can hold it.
    #[inline(always)]
    fn above(&self, value: i64) -> (u64, bool) {
        let above = value.wrapping_sub(self.min) as u64;
        (above, above <= self.extent)
    }

    /// The part of a value that is `above` the smallest one.
    #[inline(always)]
    fn part(&self, above: u64) -> u64 {
        above.wrapping_mul(self.factor)
    }
}

impl IntPoints {
    /// `None` if a part may be NULL, keys are too wide, or a box is something else than a parameter for each
    /// part, with a list of them for one.
    pub(crate) fn new(keys: &KeySet, codes: &[IntCode]) -> Option<Self> {
        let mut place = codes.iter().map(|code| code.part_bits).sum();
        if place > u64::BITS {
            return None;
        }
        let unused = ((u64::BITS - place) / 8) as usize;
        let mut flip = 0;
        let mut code = |code: &IntCode| {
            place -= code.part_bits;
            let (code, flipped) = PointCode::new(code, place)?;
            flip |= flipped;
            Some(code)
        };
        let codes: Box<[PointCode]> = codes.iter().map(&mut code).collect::<Option<_>>()?;
        if let Some(keys) = keys.params() {
            let fits = keys.parts == codes.len() && keys.numbers.len() <= VALUES_MAX;
            return fits.then(|| IntPoints::of(&keys.numbers, codes, (flip, unused)));
        }
        let mut numbers = Vec::with_capacity(keys.len() * codes.len());
        for key_box in keys.boxes() {
            push_numbers(key_box, codes.len(), &mut numbers)?;
        }
        Some(IntPoints::of(&numbers, codes, (flip, unused)))
    }

    /// The keys of the parameters `numbers`, one for each of `codes`.
    fn of(numbers: &[u16], codes: Box<[PointCode]>, (flip, unused): (u64, usize)) -> Self {
        let count = numbers.len() / codes.len();
        IntPoints { numbers: Numbers::new(numbers), codes, flip, count, unused }
    }

    /// Calls `take` with the number of each key that the columns can hold. False: a value is no integer.
    #[inline(always)]
    fn for_each_key(&self, params: &[Value<'_>], mut take: impl FnMut(u64)) -> bool {
        let parts = self.codes.len();
        let run = match &self.numbers {
            Numbers::Run(run) => run.clone(),
            Numbers::Each(numbers) => {
                return numbers.chunks_exact(parts).all(|key| {
                    let values = key.iter().map(|number| params.get(usize::from(*number)));
                    self.take_key(values, &mut take)
                });
            }
        };
        let Some(values) = params.get(run) else { return false };
        match &self.codes[..] {
            [code] => {
                for value in values {
                    let Value::Int(value) = *value else { return false };
                    let (above, fits) = code.above(value);
                    if fits {
                        take(code.part(above) ^ self.flip);
                    }
                }
                true
            }
            [first, second] => {
                for [a, b] in values.as_chunks().0 {
                    let (&Value::Int(a), &Value::Int(b)) = (a, b) else { return false };
                    let ((a, a_fits), (b, b_fits)) = (first.above(a), second.above(b));
                    if a_fits && b_fits {
                        take(first.part(a).wrapping_add(second.part(b)) ^ self.flip);
                    }
                }
                true
            }
            _ => values.chunks_exact(parts).all(|key| self.take_key(key.iter().map(Some), &mut take)),
        }
    }
}

impl IntPoints {
    /// Calls `take` with the number of the key of `values`, if the columns can hold it. False: a value is no
    /// integer.
    #[inline(always)]
    fn take_key<'v>(
        &self,
        values: impl Iterator<Item = Option<&'v Value<'v>>>,
        take: &mut impl FnMut(u64),
    ) -> bool {
        let (mut key, mut all_fit) = (0_u64, true);
        for (code, value) in self.codes.iter().zip(values) {
            let Some(&Value::Int(value)) = value else { return false };
            let (above, fits) = code.above(value);
            key = key.wrapping_add(code.part(above));
            all_fit &= fits;
        }
        if all_fit {
            take(key ^ self.flip);
        }
        true
    }
}

/// Appends the numbers of the parameters of each key of `key_box`; `None`: it is something else.
fn push_numbers(key_box: &KeyBox, parts: usize, numbers: &mut Vec<u16>) -> Option<()> {
    let values = |test: &'_ PartTest| match test {
        PartTest::Eq(_) | PartTest::In(_) => Some(test.exprs().len()),
        _ => None,
    };
    let mut list = None;
    for (at, (part, test)) in key_box.tests.iter().enumerate() {
        let is_list = values(test)? != 1;
        if usize::from(*part) != at || (is_list && list.replace(at).is_some()) {
            return None;
        }
    }
    let count = list.map_or(1, |at| key_box.tests[at].1.exprs().len());
    if key_box.tests.len() != parts || numbers.len() + count * parts > VALUES_MAX {
        return None;
    }
    for key in 0..count {
        for (at, (_, test)) in key_box.tests.iter().enumerate() {
            let expr = test.exprs().get(if list == Some(at) { key } else { 0 })?;
            let ExprKind::Param(number) = expr.kind else { return None };
            numbers.push(number);
        }
    }
    Some(())
}

/// Most keys of a list that are made without memory of their own.
pub(crate) const FEW_KEYS_MAX: usize = 16;

/// The bytes that a key ends.
type KeyBytes = [u8; size_of::<u64>()];

/// Sorts `keys`, which are a few, and leaves each once at their start. Returns how many these are.
fn sort_few(keys: &mut [KeyBytes]) -> usize {
    let mut numbers = [0; FEW_KEYS_MAX];
    let numbers = &mut numbers[..keys.len()];
    for (number, key) in numbers.iter_mut().zip(&*keys) {
        *number = u64::from_be_bytes(*key);
    }
    numbers.sort_unstable();
    let (mut count, mut last) = (0, None);
    for &number in &*numbers {
        if last != Some(number) {
            keys[count] = number.to_be_bytes();
            count += 1;
            last = Some(number);
        }
    }
    count
}

/// Keys of integers, ascending, each once.
#[derive(Debug, Default)]
pub(crate) struct PointKeys {
    /// The keys, if they are made of few values.
    few: [KeyBytes; FEW_KEYS_MAX],
    many: Vec<KeyBytes>,
    /// The keys as numbers, while `many` is made.
    numbers: Vec<u64>,
    is_many: bool,
    count: usize,
    /// Bytes before a key.
    unused: usize,
}

impl PointKeys {
    /// Becomes the keys of `points` with the values of `params`. False: a value is no integer. Cost: about 15
    /// instructions a value, and a sort of numbers unless they ascend; memory of more than a few keys is
    /// charged to `charge`.
    #[inline]
    pub(crate) fn make(&mut self, points: &IntPoints, params: &[Value<'_>], charge: &Charge) -> Result<bool> {
        if self.put_ascending_pairs(points, params) {
            return Ok(true);
        }
        self.unused = points.unused;
        self.is_many = points.count > FEW_KEYS_MAX;
        if self.is_many { self.make_many(points, params, charge) } else { Ok(self.make_few(points, params)) }
    }

    /// Takes a few keys of two ascending parts if their parameters follow one another, the columns can hold
    /// them, and each key is above the one before: the list of a client that avoids deadlocks.
    #[inline]
    pub(crate) fn put_ascending_pairs(&mut self, points: &IntPoints, params: &[Value<'_>]) -> bool {
        let (Numbers::Run(run), [first, second], 0) = (&points.numbers, &points.codes[..], points.flip)
        else {
            return false;
        };
        let Some(values) = params.get(run.clone()) else { return false };
        let pairs = values.as_chunks().0;
        let (Some(few), mut last) = (self.few.get_mut(..pairs.len()), 0) else { return false };
        for ([a, b], bytes) in pairs.iter().zip(few) {
            let (&Value::Int(a), &Value::Int(b)) = (a, b) else { return false };
            let ((a, a_fits), (b, b_fits)) = (first.above(a), second.above(b));
            let key = first.part(a).wrapping_add(b);
            if !a_fits || !b_fits || key <= last {
                return false;
            }
            last = key;
            *bytes = key.to_be_bytes();
        }
        self.unused = points.unused;
        self.is_many = false;
        self.count = pairs.len();
        true
    }

    #[inline(never)]
    fn make_few(&mut self, points: &IntPoints, params: &[Value<'_>]) -> bool {
        let (few, mut count, mut last, mut in_order) = (&mut self.few, 0, None, true);
        let all_integers = points.for_each_key(params, |key| {
            // They are no more than a few.
            few[count % FEW_KEYS_MAX] = key.to_be_bytes();
            in_order &= last < Some(key);
            last = Some(key);
            count += 1;
        });
        self.count = if in_order { count } else { sort_few(&mut few[..count]) };
        all_integers
    }

    #[inline(never)]
    fn make_many(&mut self, points: &IntPoints, params: &[Value<'_>], charge: &Charge) -> Result<bool> {
        let PointKeys { numbers, many, .. } = self;
        numbers.clear();
        many.clear();
        charge.reserve(numbers, points.count)?;
        if !points.for_each_key(params, |key| numbers.push(key)) {
            return Ok(false);
        }
        if !numbers.is_sorted_by(|a, b| a < b) {
            numbers.sort_unstable();
            numbers.dedup();
        }
        charge.reserve(many, numbers.len())?;
        many.extend(numbers.iter().map(|number| number.to_be_bytes()));
        self.count = many.len();
        Ok(true)
    }

    /// Number of keys.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// The `at`-th key.
    #[inline]
    pub(crate) fn get(&self, at: usize) -> &[u8] {
        let all = if self.is_many { &self.many[..] } else { &self.few };
        &all[at][self.unused..]
    }
}
