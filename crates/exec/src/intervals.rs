//! The intervals of an index that a [`KeySet`] comes to: disjoint, in key order, from the values of one run.
//!
//! A *boundary* is a place between keys: before or after all keys that start with some bytes. An interval
//! lies between two boundaries. Each box is made by itself, part by part: the tests on a part leave spans of
//! its values, and single values continue with the next part. The intervals of all boxes are then sorted, and
//! joined where they meet.

use std::cmp::Ordering;
use std::ops::Bound;
use std::rc::Rc;

use base::memory::{Charge, Purpose, StatementAccount};
use base::sync::interrupt;
use bumpalo::Bump;
use expr::Expr;
use sql::plan::{KeyBox, KeySet, PartTest};
use types::Value;

use crate::error::Result;
use crate::frame::{Frame, row_source};
use crate::int_key::{IntKey, KEY_BYTES_MAX};
use crate::int_points::PointKeys;
use crate::int_spans::{self, IntSpan};
use crate::key::Fit;
use crate::key_part::KeyPart;
use crate::key_values::KeyValues;
use crate::query_run::QueryRun;
use crate::query_values::each_value_of;
use crate::range_bugs::{RangeBug, is_planted};

/// Intervals between two checks of the kill flag.
const KILL_CHECK_INTERVALS: usize = 1024;

/// A place between keys; the bytes are in the list's or the builder's store.
#[derive(Clone, Copy, Debug)]
struct Boundary {
    at: u32,
    len: u32,
    /// Behind all keys that start with the bytes; else before them.
    after: bool,
}

impl Boundary {
    /// Before all keys.
    const START: Boundary = Boundary { at: 0, len: 0, after: false };
    /// Behind all keys.
    const END: Boundary = Boundary { at: 0, len: 0, after: true };

    fn bytes(self, store: &[u8]) -> &[u8] {
        &store[self.at as usize..(self.at + self.len) as usize]
    }

    /// The order of places.
    fn cmp(self, other: Boundary, store: &[u8]) -> Ordering {
        let (a, b) = (self.bytes(store), other.bytes(store));
        let shared = a.len().min(b.len());
        let side = |after: bool| if after { Ordering::Greater } else { Ordering::Less };
        a[..shared].cmp(&b[..shared]).then_with(|| match a.len().cmp(&b.len()) {
            Ordering::Equal => self.after.cmp(&other.after),
            // Keys that start with the longer bytes are among those that start with the shorter ones.
            Ordering::Less => side(self.after),
            Ordering::Greater => side(other.after).reverse(),
        })
    }
}

/// The keys between two boundaries.
#[derive(Clone, Copy, Debug)]
struct Span {
    lower: Boundary,
    upper: Boundary,
    /// One value: the ends name the same bytes, which are a whole part.
    point: bool,
}

impl Span {
    /// Everything.
    const WHOLE: Span = Span { lower: Boundary::START, upper: Boundary::END, point: false };

    /// The keys that start with the bytes.
    fn starting_with((at, len): (u32, u32), point: bool) -> Span {
        Span { lower: Boundary { at, len, after: false }, upper: Boundary { at, len, after: true }, point }
    }
}

/// An interval as a scan takes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Interval<'x> {
    pub(crate) lower: Bound<&'x [u8]>,
    pub(crate) upper: Bound<&'x [u8]>,
    /// One value in each part of the path's keys.
    pub(crate) point: bool,
}

/// Disjoint intervals in key order. Memory: 28 bytes and the key bytes each, charged to the statement.
#[derive(Debug)]
pub(crate) struct Intervals {
    bytes: Vec<u8>,
    list: Vec<Span>,
    charge: Charge,
    /// The key under construction.
    key: Vec<u8>,
    /// Spans of single parts while a box is made.
    parts: PartSpans,
    /// The intervals, if they are single keys made of integer parameters (`are_points`); else they are in
    /// `ints` or in `list`.
    points: PointKeys,
    are_points: bool,
    /// Intervals over integers, and the bytes of each end of one in `bytes`; 0: the intervals are in `list`.
    ints: Vec<IntSpan>,
    int_width: usize,
}

impl Intervals {
    pub(crate) fn new(account: &Rc<StatementAccount>) -> Self {
        Intervals {
            bytes: Vec::new(),
            list: Vec::new(),
            charge: Charge::new(account, Purpose::Other),
            key: Vec::new(),
            parts: PartSpans::new(account),
            points: PointKeys::default(),
            are_points: false,
            ints: Vec::new(),
            int_width: 0,
        }
    }

    /// Number of intervals.
    pub(crate) fn len(&self) -> usize {
        if self.are_points {
            return self.points.len();
        }
        if self.int_width > 0 { self.ints.len() } else { self.list.len() }
    }

    /// The `at`-th interval.
    #[inline(always)]
    pub(crate) fn get(&self, at: usize) -> Interval<'_> {
        if !self.are_points {
            return self.get_of_any_kind(at);
        }
        let key = Bound::Included(self.points.get(at));
        Interval { lower: key, upper: key, point: true }
    }

    #[inline(never)]
    fn get_of_any_kind(&self, at: usize) -> Interval<'_> {
        if self.int_width > 0 {
            let ends = &self.bytes[at * 2 * self.int_width..][..2 * self.int_width];
            let (lower, upper) = ends.split_at(self.int_width);
            let IntSpan { lower: first, upper: last } = self.ints[at];
            let point = first == last;
            return Interval { lower: Bound::Included(lower), upper: Bound::Included(upper), point };
        }
        let Span { lower, upper, point } = self.list[at];
        let lower = match lower.bytes(&self.bytes) {
            [] => Bound::Unbounded,
            key if lower.after => Bound::Excluded(key),
            key => Bound::Included(key),
        };
        let upper = match upper.bytes(&self.bytes) {
            [] => Bound::Unbounded,
            key if upper.after => Bound::Included(key),
            key => Bound::Excluded(key),
        };
        Interval { lower, upper, point }
    }

    /// Becomes the intervals of `keys`, with the values that the rows of `parent` give. `int_key`: how they
    /// are made of integers.
    pub(crate) fn make(
        &mut self,
        (keys, int_key): (&KeySet, Option<&IntKey>),
        parts: &[KeyPart],
        run: &QueryRun<'_>,
        parent: Option<&Frame<'_>>,
        arena: &Bump,
    ) -> Result<()> {
        let points = int_key.and_then(|key| key.points.as_ref());
        self.are_points = match points {
            Some(points) => self.points.make(points, run.params, &self.charge)?,
            None => false,
        };
        if self.are_points {
            return Ok(());
        }
        self.make_many((keys, int_key), parts, run, parent, arena)
    }

    /// As [`Intervals::make`], of any keys.
    #[inline(never)]
    fn make_many(
        &mut self,
        (keys, int_key): (&KeySet, Option<&IntKey>),
        parts: &[KeyPart],
        run: &QueryRun<'_>,
        parent: Option<&Frame<'_>>,
        arena: &Bump,
    ) -> Result<()> {
        self.bytes.clear();
        let ctx = run.ctx(arena);
        let values = KeyValues { run, row: row_source(parent), ctx: &ctx };
        self.int_width = 0;
        if let Some(key) = int_key
            && int_spans::make(key, keys, &values, &self.charge, &mut self.ints)?
        {
            self.store_ints(key)?;
        } else {
            self.make_of_parts(keys, parts, &values)?;
        }
        run.st.check()?;
        run.st.fail_if_killed()
    }

    /// Writes the ends of each interval over integers.
    fn store_ints(&mut self, key: &IntKey) -> Result<()> {
        let width = key.width;
        self.int_width = width;
        // Each end is stored with as many bytes as the widest has: the next one lies over those that it does
        // not have.
        let bytes = 2 * width * self.ints.len() + KEY_BYTES_MAX;
        self.charge.reserve(&mut self.bytes, bytes)?;
        self.bytes.resize(bytes, 0);
        let unused_bits = 8 * (KEY_BYTES_MAX - width) as u32;
        let mut rest = &mut self.bytes[..];
        for span in &self.ints {
            for end in [span.lower, span.upper] {
                if let Some(place) = rest.first_chunk_mut::<KEY_BYTES_MAX>() {
                    *place = (end << unused_bits).to_be_bytes();
                }
                rest = &mut rest[width..];
            }
        }
        Ok(())
    }

    /// Makes the intervals of parts of any type.
    #[inline(never)]
    fn make_of_parts(&mut self, keys: &KeySet, parts: &[KeyPart], values: &KeyValues<'_, '_>) -> Result<()> {
        self.list.clear();
        for (at, key_box) in keys.boxes().iter().enumerate() {
            self.add_box(key_box, parts, values)?;
            if at.is_multiple_of(KILL_CHECK_INTERVALS) {
                values.run.st.fail_if_killed()?;
            }
        }
        if keys.len() > 1 {
            self.join_up();
        }
        debug_assert!(
            self.list.windows(2).all(|w| w[0].upper.cmp(w[1].lower, &self.bytes) == Ordering::Less)
        );
        Ok(())
    }

    /// Sorts, and joins what overlaps or meets.
    fn join_up(&mut self) {
        let Intervals { bytes, list, .. } = self;
        let in_order = |a: &Span, b: &Span| a.upper.cmp(b.lower, bytes) == Ordering::Less;
        if list.windows(2).all(|w| in_order(&w[0], &w[1])) {
            return;
        }
        list.sort_unstable_by(|a, b| a.lower.cmp(b.lower, bytes));
        list.dedup_by(|next, last| {
            if last.upper.cmp(next.lower, bytes) == Ordering::Less {
                return false;
            }
            if last.upper.cmp(next.upper, bytes) == Ordering::Less {
                last.upper = next.upper;
                last.point = false;
            }
            true
        });
    }

    /// Appends the intervals of one box, in order.
    fn add_box(&mut self, key_box: &KeyBox, parts: &[KeyPart], values: &KeyValues<'_, '_>) -> Result<()> {
        if key_box.tests.iter().all(|(_, test)| matches!(test, PartTest::Eq(_)))
            && key_box.tests.len() == key_box.parts()
        {
            return self.add_point(key_box, parts, values);
        }
        self.parts.clear();
        if self.parts.make(key_box, parts, values)? {
            self.key.clear();
            self.add_from(0, key_box.parts() == parts.len())?;
        }
        Ok(())
    }

    /// Appends what equals one value in each part.
    fn add_point(&mut self, key_box: &KeyBox, parts: &[KeyPart], values: &KeyValues<'_, '_>) -> Result<()> {
        self.key.clear();
        for (part, test) in &key_box.tests {
            let (part, [value]) = (&parts[usize::from(*part)], test.exprs()) else { return Ok(()) };
            let fit = part.push(&values.of(value)?, values.run, &mut self.key)?;
            if is_planted(RangeBug::NullInRow) && fit == Fit::Null && part.nullable {
                part.push_null(&mut self.key);
            } else if !is_found(fit, part) {
                return Ok(());
            }
        }
        let place = self.store_key()?;
        self.push(Span::starting_with(place, key_box.parts() == parts.len()))
    }

    /// Appends the intervals of keys that start with `key`, the values of the parts before `part`. `all`: the
    /// box tests all parts.
    fn add_from(&mut self, part: usize, all: bool) -> Result<()> {
        let spans = self.parts.starts[part]..self.parts.starts[part + 1];
        let is_last = part + 2 == self.parts.starts.len();
        let before = self.key.len();
        for at in spans {
            if (at + 1).is_multiple_of(KILL_CHECK_INTERVALS) && interrupt::is_requested() {
                return Ok(());
            }
            let span = self.parts.spans[at];
            if span.point {
                self.key.extend_from_slice(span.lower.bytes(&self.parts.bytes));
                if is_last {
                    let place = self.store_key()?;
                    self.push(Span::starting_with(place, all))?;
                } else {
                    self.add_from(part + 1, all)?;
                }
                self.key.truncate(before);
            } else {
                let (lower, upper) = (self.whole_boundary(span.lower)?, self.whole_boundary(span.upper)?);
                self.push(Span { lower, upper, point: false })?;
            }
        }
        Ok(())
    }

    /// `boundary` of a part, after the parts before it, which are in `key`.
    fn whole_boundary(&mut self, boundary: Boundary) -> Result<Boundary> {
        let before = self.key.len();
        self.key.extend_from_slice(boundary.bytes(&self.parts.bytes));
        let (at, len) = self.store_key()?;
        self.key.truncate(before);
        Ok(Boundary { at, len, after: boundary.after })
    }

    fn store_key(&mut self) -> Result<(u32, u32)> {
        store(&self.key, &mut self.bytes, &self.charge)
    }

    fn push(&mut self, span: Span) -> Result<()> {
        self.charge.reserve(&mut self.list, 1)?;
        self.list.push(span);
        Ok(())
    }
}

/// Appends `key` to `bytes`; its place and length.
fn store(key: &[u8], bytes: &mut Vec<u8>, charge: &Charge) -> Result<(u32, u32)> {
    charge.reserve(bytes, key.len())?;
    let at = bytes.len();
    let end = u32::try_from(at + key.len()).map_err(|_| charge.too_large())?;
    bytes.extend_from_slice(key);
    Ok((at as u32, end - at as u32))
}

/// Whether rows with the key of a value may equal it. A cut key finds what shares its first characters; the
/// filter decides.
fn is_found(fit: Fit, part: &KeyPart) -> bool {
    match fit {
        Fit::Exact => true,
        Fit::Null => false,
        Fit::Below | Fit::Above => part.prefix,
    }
}

/// The spans of each part of a box.
#[derive(Debug)]
struct PartSpans {
    bytes: Vec<u8>,
    spans: Vec<Span>,
    /// Where the spans of each part start; one more at the end.
    starts: Vec<usize>,
    /// Spans of another test on the part.
    other: Vec<Span>,
    /// Spans of all tests on the part.
    shared: Vec<Span>,
    /// Bytes of one value.
    value: Vec<u8>,
    charge: Charge,
}

impl PartSpans {
    fn new(account: &Rc<StatementAccount>) -> Self {
        PartSpans {
            bytes: Vec::new(),
            spans: Vec::new(),
            starts: Vec::new(),
            other: Vec::new(),
            shared: Vec::new(),
            value: Vec::new(),
            charge: Charge::new(account, Purpose::Other),
        }
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.spans.clear();
        self.starts.clear();
        self.starts.push(0);
    }

    /// Makes the spans of all parts of a box; false if those of one are empty.
    fn make(&mut self, key_box: &KeyBox, parts: &[KeyPart], values: &KeyValues<'_, '_>) -> Result<bool> {
        for tests in key_box.tests.chunk_by(|a, b| a.0 == b.0) {
            let part = &parts[usize::from(tests[0].0)];
            let from = self.spans.len();
            for (at, (_, test)) in tests.iter().enumerate() {
                self.other.clear();
                self.test(test, part, values)?;
                if at > 0 {
                    self.intersect(from)?;
                }
                self.spans.truncate(from);
                self.charge.reserve(&mut self.spans, self.other.len())?;
                self.spans.extend_from_slice(&self.other);
            }
            if self.spans.len() == from {
                return Ok(false);
            }
            self.starts.push(self.spans.len());
        }
        Ok(true)
    }

    /// Leaves of the spans in `other` what those from `from` on have too. Both are in order.
    fn intersect(&mut self, from: usize) -> Result<()> {
        self.shared.clear();
        let (mut a, mut b) = (from, 0);
        while a < self.spans.len() && b < self.other.len() {
            let (x, y) = (self.spans[a], self.other[b]);
            let is_before = |p: Boundary, q: Boundary| p.cmp(q, &self.bytes) == Ordering::Less;
            let lower = if is_before(x.lower, y.lower) { y.lower } else { x.lower };
            let upper = if is_before(x.upper, y.upper) { x.upper } else { y.upper };
            // No end of a span lies within a single value.
            let both = match (x.point, y.point) {
                (true, _) => x,
                (_, true) => y,
                _ => Span { lower, upper, point: false },
            };
            let is_empty = !is_before(lower, upper);
            if is_before(x.upper, y.upper) {
                a += 1;
            } else {
                b += 1;
            }
            if !is_empty {
                self.charge.reserve(&mut self.shared, 1)?;
                self.shared.push(both);
            }
        }
        std::mem::swap(&mut self.other, &mut self.shared);
        Ok(())
    }

    /// Makes `other` the spans that a test leaves of a part, in order.
    fn test(&mut self, test: &PartTest, part: &KeyPart, values: &KeyValues<'_, '_>) -> Result<()> {
        match test {
            PartTest::Eq(expr) => self.point(&values.of(expr)?, part, values),
            PartTest::NullSafeEq(expr) => match values.of(expr)? {
                value if value.is_null() => self.test(&PartTest::IsNull, part, values),
                value => self.point(&value, part, values),
            },
            PartTest::IsNull if part.nullable => {
                let null = self.null(part)?;
                self.push(null)
            }
            PartTest::IsNull => Ok(()),
            PartTest::IsNotNull => {
                let span = self.not_null(part)?;
                self.push(span)
            }
            PartTest::In(list) => {
                for expr in list {
                    self.point(&values.of(expr)?, part, values)?;
                }
                self.sort_points();
                Ok(())
            }
            PartTest::InSubquery(subquery) => {
                each_value_of(values.run, subquery, |value| self.point(value, part, values))?;
                self.sort_points();
                Ok(())
            }
            PartTest::NotIn(list) => self.gaps(list, part, values),
            PartTest::Lower(expr, included) => self.bounded(&values.of(expr)?, *included, true, part, values),
            PartTest::Upper(expr, included) => {
                self.bounded(&values.of(expr)?, *included, false, part, values)
            }
            PartTest::Like { pattern, escape } => {
                let pattern = values.of(pattern)?;
                if pattern.is_null() {
                    return Ok(());
                }
                self.value.clear();
                let span = if part.push_like_prefix(&pattern, *escape, &mut self.value) {
                    Span::starting_with(self.store_value()?, false)
                } else {
                    self.not_null(part)?
                };
                self.push(span)
            }
        }
    }

    fn push(&mut self, span: Span) -> Result<()> {
        self.charge.reserve(&mut self.other, 1)?;
        self.other.push(span);
        Ok(())
    }

    fn store_value(&mut self) -> Result<(u32, u32)> {
        store(&self.value, &mut self.bytes, &self.charge)
    }

    /// The place of the bytes for `value`, and how they compare with it.
    fn encode(
        &mut self,
        value: &Value<'_>,
        part: &KeyPart,
        values: &KeyValues<'_, '_>,
    ) -> Result<((u32, u32), Fit)> {
        self.value.clear();
        let fit = part.push(value, values.run, &mut self.value)?;
        Ok((self.store_value()?, fit))
    }

    /// Adds what equals `value`.
    fn point(&mut self, value: &Value<'_>, part: &KeyPart, values: &KeyValues<'_, '_>) -> Result<()> {
        let (place, fit) = self.encode(value, part, values)?;
        if is_found(fit, part) { self.push(Span::starting_with(place, true)) } else { Ok(()) }
    }

    /// NULL, which the column can hold.
    fn null(&mut self, part: &KeyPart) -> Result<Span> {
        self.value.clear();
        part.push_null(&mut self.value);
        Ok(Span::starting_with(self.store_value()?, true))
    }

    /// All values but NULL, which comes before them, or after them where the part descends.
    fn not_null(&mut self, part: &KeyPart) -> Result<Span> {
        if !part.nullable {
            return Ok(Span::WHOLE);
        }
        let null = self.null(part)?;
        Ok(if part.desc {
            Span { upper: null.lower, ..Span::WHOLE }
        } else {
            Span { lower: null.upper, ..Span::WHOLE }
        })
    }

    /// Adds what is above `value` (`is_lower`) or below it.
    fn bounded(
        &mut self,
        value: &Value<'_>,
        included: bool,
        is_lower: bool,
        part: &KeyPart,
        values: &KeyValues<'_, '_>,
    ) -> Result<()> {
        let ((at, len), fit) = self.encode(value, part, values)?;
        let included = match fit {
            Fit::Null => return Ok(()),
            _ if part.prefix || is_planted(RangeBug::ClosedEnd) => true,
            Fit::Exact => included,
            // The neighbour below the bound is inside an upper one and outside a lower one.
            Fit::Below => !is_lower,
            Fit::Above => is_lower,
        };
        let whole = self.not_null(part)?;
        // Descending parts have their greatest value first.
        let span = if is_lower == part.desc {
            Span { upper: Boundary { at, len, after: included }, ..whole }
        } else {
            Span { lower: Boundary { at, len, after: !included }, ..whole }
        };
        self.push(span)
    }

    /// Adds what equals none of `list`.
    fn gaps(&mut self, list: &[Expr], part: &KeyPart, values: &KeyValues<'_, '_>) -> Result<()> {
        for expr in list {
            let (place, fit) = self.encode(&values.of(expr)?, part, values)?;
            match fit {
                Fit::Null => {
                    self.other.clear();
                    return Ok(());
                }
                Fit::Exact if !part.prefix => self.push(Span::starting_with(place, true))?,
                // A value that the column cannot hold equals none of its values.
                _ => {}
            }
        }
        self.sort_points();
        let whole = self.not_null(part)?;
        let mut lower = whole.lower;
        for span in &mut self.other {
            let gap = Span { lower, upper: span.lower, point: false };
            lower = span.upper;
            *span = gap;
        }
        self.push(Span { lower, upper: whole.upper, point: false })
    }

    fn sort_points(&mut self) {
        let PartSpans { other, bytes, .. } = self;
        other.sort_unstable_by(|a, b| a.lower.bytes(bytes).cmp(b.lower.bytes(bytes)));
        other.dedup_by(|a, b| a.lower.bytes(bytes) == b.lower.bytes(bytes));
    }
}
