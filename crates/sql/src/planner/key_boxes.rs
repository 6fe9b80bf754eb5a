//! The keys of one index that a list of conditions leaves: a union of boxes, each a conjunction of tests on
//! its first parts.
//!
//! ```text
//! w = 1 AND (i = 5 OR i > 7)   on (w, i)   ->   [w = 1, i = 5]  [w = 1, i > 7]
//! ```
//! A disjunction with an arm that says nothing about the index says nothing about it as a whole. Behind a
//! part that may have more than single values the next parts bound no stretch of the index: what is said of
//! them is left out.

use std::cell::Cell;

use expr::Expr;
use smallvec::{SmallVec, smallvec};
use types::KeyPart;

use super::relations::Rels;
use super::sarg::{Sarg, Test, Tree};
use crate::bind::{RangeMemory, same};
use crate::plan::{KeyBox, KeySet};

/// Most boxes that two disjunctions may make together; beyond, only the first is used.
const PRODUCT_MAX: usize = 4096;
/// Most tests in a box, and in all boxes together; beyond, conditions are left out.
const BOX_TESTS_MAX: usize = 128;
const TESTS_MAX: usize = 1 << 21;
/// Most boxes that each arm of a disjunction may have beside [`PRODUCT_MAX`] of all arms together; beyond, it
/// says nothing.
const ARM_BOXES_MAX: usize = 4;
/// Most stretches that lists on two or more parts may make together; beyond, only the first parts are used.
const STRETCHES_MAX: usize = 1 << 17;

/// Bytes of a test, about.
pub(super) const TEST_BYTES: usize = 40;
/// Bytes of an interval when the statement runs, beside its key, and of a part of the key, about: those of a
/// BIGINT.
const INTERVAL_BYTES: usize = 28;
const PART_BYTES: usize = 9;

/// Bytes that `keys` keys of `parts` values take, and their intervals when the statement runs.
pub(super) fn bytes_of_keys(keys: usize, parts: usize) -> usize {
    keys * (parts * (TEST_BYTES + PART_BYTES) + INTERVAL_BYTES)
}

/// As [`bytes_of_keys`], of keys of one part that are the items of a list.
pub(super) fn bytes_of_items(keys: usize) -> usize {
    TEST_BYTES + keys * (INTERVAL_BYTES + PART_BYTES)
}

/// Tests of a box that need no allocation.
const INLINE_TESTS: usize = 3;

/// The tests of one box.
pub(super) type Tests<'e> = SmallVec<[Placed<'e>; INLINE_TESTS]>;
/// Boxes: most conditions make one.
type List<'e> = SmallVec<[Tests<'e>; 1]>;

/// What conditions leave of an index.
#[derive(Debug)]
pub(super) struct Boxes<'e> {
    /// For each box its tests, ascending by part, at least one on each of its first parts.
    pub(super) list: List<'e>,
    /// Positions of the conditions that hold for every row whose key is in a box.
    pub(super) ensured: Vec<usize>,
    /// Every box has one equality on each of the same parts, as those of a list of keys have.
    is_key_list: bool,
}

/// A test on a part of the index.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed<'e> {
    pub(super) part: u16,
    /// The condition that it comes from.
    condition: u32,
    pub(super) test: Test<'e>,
}

/// Keys as one condition leaves them.
struct Arms<'e> {
    boxes: List<'e>,
    /// They are just the keys of rows for which it holds.
    exact: bool,
}

/// The limit on memory while the boxes of one index are made.
struct Limit<'m> {
    memory: &'m RangeMemory,
    is_exceeded: Cell<bool>,
}

impl Limit<'_> {
    /// Whether `bytes` are allowed, and all before were.
    fn allows(&self, bytes: usize) -> bool {
        if !self.memory.allows(bytes) {
            self.is_exceeded.set(true);
        }
        !self.is_exceeded.get()
    }
}

/// What `conditions` leave of an index with these parts; `None`: they do not bound the first.
pub(super) fn of<'e>(parts: &[&KeyPart], conditions: &[Tree<'e>], rels: &Rels) -> Option<Boxes<'e>> {
    let first = parts.first()?.column;
    if !conditions.iter().any(|condition| bounds(condition, first)) {
        return None;
    }
    let limit = Limit { memory: rels.range_memory, is_exceeded: Cell::new(false) };
    let mut exact: SmallVec<[bool; 8]> = smallvec![false; conditions.len()];
    let mut list: List<'e> = match conjunction(parts, conditions, rels, &mut exact) {
        Some(tests) => smallvec![tests],
        None => product(parts, conditions, &limit, &mut exact),
    };
    let parts_equal = list[0].len();
    let is_key_list = list.iter().all(|tests| tests.len() == parts_equal && is_key(tests));
    if !is_key_list {
        let mut trim = Trim { rels, exact: &mut exact };
        list.iter_mut().for_each(|tests| trim.trim(tests));
    }
    if list.iter().any(SmallVec::is_empty) {
        return None;
    }
    let ensured = exact.iter().enumerate().filter(|(_, exact)| **exact).map(|(at, _)| at).collect();
    let boxes = Boxes { list, ensured, is_key_list };
    (boxes.is_lookup() || limit.allows(boxes.bytes())).then_some(boxes)
}

/// The boxes of `conditions`, and which of them they are exact for.
fn product<'e>(
    parts: &[&KeyPart],
    conditions: &[Tree<'e>],
    limit: &Limit<'_>,
    exact: &mut [bool],
) -> List<'e> {
    let mut list: List<'e> = smallvec![Tests::new()];
    for (at, condition) in conditions.iter().enumerate() {
        let arms = arms(parts, condition, at, limit);
        exact[at] = arms.is_some_and(|arms| multiply(&mut list, arms.boxes, limit) && arms.exact);
    }
    list
}

/// As [`product`], the one box of `conditions` without disjunctions. `None`: they have some, or are too many.
fn conjunction<'e>(
    parts: &[&KeyPart],
    conditions: &[Tree<'e>],
    rels: &Rels,
    exact: &mut [bool],
) -> Option<Tests<'e>> {
    #[cfg(test)]
    if NO_CONJUNCTIONS.get() {
        return None;
    }
    let mut tests = Tests::new();
    for (at, condition) in conditions.iter().enumerate() {
        let terms = match condition {
            Tree::Leaf(_) => std::slice::from_ref(condition),
            Tree::All(terms) => &terms[..],
            Tree::Other => continue,
            Tree::Any(_) => return None,
        };
        let before = tests.len();
        exact[at] = place_all(parts, terms, at, &mut tests)? && tests.len() > before;
    }
    #[cfg(test)]
    CONJUNCTIONS.set(CONJUNCTIONS.get() + 1);
    let is_allowed = tests.len() <= BOX_TESTS_MAX && rels.range_memory.allows(tests.len() * TEST_BYTES);
    is_allowed.then_some(tests)
}

#[cfg(test)]
thread_local! {
    /// Whether [`conjunction`] leaves all conditions of this thread to the general way, and how many boxes it
    /// has made.
    pub(in crate::planner) static NO_CONJUNCTIONS: Cell<bool> = const { Cell::new(false) };
    pub(in crate::planner) static CONJUNCTIONS: Cell<usize> = const { Cell::new(0) };
}

/// Whether every box that `condition` makes has a test on the part `column`. Boxes of several conditions have
/// one if those of one condition have.
pub(super) fn bounds(condition: &Tree<'_>, column: u16) -> bool {
    has_in_all(condition, &|sarg| sarg.col == column)
}

/// Whether every box that `condition` makes leaves the part `column` values that the condition names.
pub(super) fn lists(condition: &Tree<'_>, column: u16) -> bool {
    let is_listed = |test: Test<'_>| test.is_point() && !matches!(test, Test::InSubquery(..));
    has_in_all(condition, &|sarg| sarg.col == column && is_listed(sarg.test))
}

/// Whether every box that `condition` makes has a test that is `wanted`.
fn has_in_all(condition: &Tree<'_>, wanted: &impl Fn(&Sarg<'_>) -> bool) -> bool {
    match condition {
        Tree::Leaf(sarg) => wanted(sarg),
        Tree::All(terms) => terms.iter().any(|term| has_in_all(term, wanted)),
        Tree::Any(terms) => terms.iter().all(|term| has_in_all(term, wanted)),
        Tree::Other => false,
    }
}

impl Boxes<'_> {
    /// Number of stretches, at most.
    pub(super) fn stretches(&self) -> usize {
        let is_one =
            |placed: &Placed<'_>| !matches!(placed.test, Test::In(_) | Test::NotIn(_) | Test::InSubquery(..));
        if self.is_key_list || matches!(&self.list[..], [tests] if tests.iter().all(is_one)) {
            return self.list.len();
        }
        let of_box = |tests: &Tests<'_>| {
            let parts = tests.last().map_or(0, |last| last.part + 1);
            (0..parts).fold(1, |n: usize, part| n.saturating_mul(values(tests, part)))
        };
        self.list.iter().map(of_box).fold(0, usize::saturating_add)
    }

    /// The sum of `estimate` for each box.
    pub(super) fn sum(&self, estimate: impl Fn(&[Placed<'_>]) -> f64) -> f64 {
        if self.is_key_list {
            // The boxes differ in their values alone.
            let each = estimate(&self.list[0]);
            return self.list.iter().map(|_| each).sum();
        }
        self.list.iter().map(|tests| estimate(tests)).sum()
    }

    /// Whether the keys are one stretch that equalities bound.
    fn is_lookup(&self) -> bool {
        let is_equal =
            |placed: &Placed<'_>| matches!(placed.test, Test::Eq(_) | Test::NullSafeEq(_) | Test::IsNull);
        matches!(&self.list[..], [tests] if tests.iter().all(is_equal))
    }

    /// Bytes that the boxes take now, and their intervals when the statement runs.
    fn bytes(&self) -> usize {
        let tests: usize = self.list.iter().map(SmallVec::len).sum();
        let parts = self.list.iter().filter_map(|tests| tests.last()).map(|last| last.part + 1).max();
        let key = usize::from(parts.unwrap_or(0)) * PART_BYTES;
        let intervals = self.stretches().saturating_mul(INTERVAL_BYTES + key);
        (tests * TEST_BYTES).saturating_add(intervals)
    }

    /// Leading parts that have one value, the same in all boxes.
    pub(super) fn constants(&self) -> usize {
        let Some((first, rest)) = self.list.split_first() else { return 0 };
        let is_one = |part: &u16| {
            value_of(first, *part).is_some_and(|value| {
                rest.iter().all(|tests| value_of(tests, *part).is_some_and(|other| same::same(other, value)))
            })
        };
        let parts = first.last().map_or(0, |last| last.part + 1);
        (0..parts).take_while(is_one).count()
    }

    /// As a plan has it.
    pub(super) fn to_plan(&self) -> KeySet {
        let key_box = |tests: &Tests<'_>| KeyBox {
            tests: tests.iter().map(|placed| (placed.part, placed.test.to_plan())).collect(),
        };
        KeySet::new(self.list.iter().map(key_box).collect())
    }
}

/// The value that an equality among `tests` gives `part`.
fn value_of<'e>(tests: &[Placed<'e>], part: u16) -> Option<&'e Expr> {
    tests.iter().filter(|placed| placed.part == part).find_map(|placed| match placed.test {
        Test::Eq(value) | Test::NullSafeEq(value) => Some(value),
        _ => None,
    })
}

/// Single values that `tests` leave `part`, or stretches.
pub(super) fn values(tests: &[Placed<'_>], part: u16) -> usize {
    let on_part = || tests.iter().filter(|placed| placed.part == part);
    let listed = on_part().filter(|placed| placed.test.is_point()).map(|placed| match placed.test {
        Test::In(values) => values.len(),
        Test::InSubquery(_, values) => values,
        _ => 1,
    });
    listed.min().unwrap_or_else(|| {
        let gaps = on_part().map(|placed| match placed.test {
            Test::NotIn(values) => values.len(),
            _ => 0,
        });
        1 + gaps.sum::<usize>()
    })
}

/// Whether the tests are one equality on each of the first parts, in their order.
fn is_key(tests: &[Placed<'_>]) -> bool {
    let is_equal = |(at, placed): (usize, &Placed<'_>)| {
        usize::from(placed.part) == at && matches!(placed.test, Test::Eq(_))
    };
    tests.iter().enumerate().all(is_equal)
}

/// Whether no test makes another one needless: each is the only one on its part, or one of its two ends.
fn is_simple(tests: &[Placed<'_>]) -> bool {
    tests.chunk_by(|a, b| a.part == b.part).all(|on_part| match on_part {
        [_] => true,
        [a, b] => matches!(
            (a.test, b.test),
            (Test::Lower(..), Test::Upper(..)) | (Test::Upper(..), Test::Lower(..))
        ),
        _ => false,
    })
}

/// The keys of rows for which `condition`, the `at`-th, may hold; `None`: any.
fn arms<'e>(parts: &[&KeyPart], condition: &Tree<'e>, at: usize, limit: &Limit<'_>) -> Option<Arms<'e>> {
    if let Some((tests, exact)) = one_box(parts, condition, at) {
        let is_told = !tests.is_empty() && limit.allows(tests.len() * TEST_BYTES);
        return is_told.then(|| Arms { boxes: smallvec![tests], exact });
    }
    match condition {
        Tree::Other | Tree::Leaf(_) => None,
        Tree::All(terms) => {
            let mut whole = Arms { boxes: smallvec![Tests::new()], exact: true };
            for term in terms {
                let joined = arms(parts, term, at, limit)
                    .is_some_and(|arms| multiply(&mut whole.boxes, arms.boxes, limit) && arms.exact);
                whole.exact &= joined;
            }
            whole.boxes.iter().all(|tests| !tests.is_empty()).then_some(whole)
        }
        Tree::Any(terms) => {
            let mut whole = Arms { boxes: List::with_capacity(terms.len()), exact: true };
            for term in terms {
                match one_box(parts, term, at) {
                    Some((tests, exact)) if !tests.is_empty() && limit.allows(tests.len() * TEST_BYTES) => {
                        whole.boxes.push(tests);
                        whole.exact &= exact;
                    }
                    Some(_) => return None,
                    None => {
                        let arms = arms(parts, term, at, limit)?;
                        whole.boxes.extend(arms.boxes);
                        whole.exact &= arms.exact;
                    }
                }
                if whole.boxes.len() > PRODUCT_MAX + ARM_BOXES_MAX * terms.len() {
                    return None;
                }
            }
            Some(whole)
        }
    }
}

/// The box, perhaps without tests, of a conjunction of conditions on single columns, and whether its keys are
/// just those of rows for which it holds. `None`: it is no such conjunction.
fn one_box<'e>(parts: &[&KeyPart], condition: &Tree<'e>, at: usize) -> Option<(Tests<'e>, bool)> {
    let terms = match condition {
        Tree::All(terms) if terms.len() <= BOX_TESTS_MAX => &terms[..],
        Tree::Leaf(_) => std::slice::from_ref(condition),
        _ => return None,
    };
    let mut tests = Tests::new();
    let exact = place_all(parts, terms, at, &mut tests)?;
    Some((tests, exact))
}

/// Adds the tests that `terms` of the condition `at` are on parts, and says whether they find just the rows
/// that pass. `None`: one is no condition on a single column.
#[inline]
fn place_all<'e>(parts: &[&KeyPart], terms: &[Tree<'e>], at: usize, tests: &mut Tests<'e>) -> Option<bool> {
    let mut exact = true;
    for term in terms {
        let Tree::Leaf(sarg) = term else { return None };
        match place(parts, sarg, at) {
            Some((placed, is_exact)) => {
                tests.push(placed);
                exact &= is_exact;
            }
            None => exact = false,
        }
    }
    Some(exact)
}

/// The test that `sarg` is on a part, and whether it finds just the rows that pass.
fn place<'e>(parts: &[&KeyPart], sarg: &Sarg<'e>, condition: usize) -> Option<(Placed<'e>, bool)> {
    let place = parts.iter().position(|part| part.column == sarg.col)?;
    let is_whole = parts[place].prefix_len.is_none();
    let placed = Placed { part: place as u16, condition: condition as u32, test: sarg.test };
    Some((placed, sarg.exact && is_whole))
}

/// Makes `left` the boxes of keys that are in a box of either side. False, and nothing changed: they are too
/// many.
fn multiply<'e>(left: &mut List<'e>, right: List<'e>, limit: &Limit<'_>) -> bool {
    let Some(count) = left.len().checked_mul(right.len()) else { return false };
    let longest = |boxes: &List<'e>| boxes.iter().map(SmallVec::len).max().unwrap_or(0);
    let tests = longest(left) + longest(&right);
    // A subquery in several boxes would be run for each.
    if (right.len() > 1 && runs_subquery(left)) || (left.len() > 1 && runs_subquery(&right)) {
        return false;
    }
    let is_too_large = (left.len() > 1 && right.len() > 1 && count > PRODUCT_MAX)
        || tests > BOX_TESTS_MAX
        || count.saturating_mul(tests) > TESTS_MAX;
    if is_too_large || !limit.allows(count * tests * TEST_BYTES) {
        return false;
    }
    if left.len() == 1 && left[0].is_empty() {
        *left = right;
    } else if let [more] = &right[..] {
        left.iter_mut().for_each(|tests| tests.extend_from_slice(more));
    } else {
        let mut product = List::with_capacity(count);
        for tests in left.iter() {
            product.extend(right.iter().map(|more| tests.iter().chain(more).copied().collect::<Tests<'e>>()));
        }
        *left = product;
    }
    true
}

fn runs_subquery(boxes: &List<'_>) -> bool {
    boxes.iter().flatten().any(|placed| matches!(placed.test, Test::InSubquery(..)))
}

/// Takes from a box what is of no use.
struct Trim<'r> {
    rels: &'r Rels<'r>,
    /// Which conditions the boxes still ensure.
    exact: &'r mut [bool],
}

impl Trim<'_> {
    /// Orders the tests of a box by their parts, and leaves out those that are of no use.
    fn trim(&mut self, tests: &mut Tests<'_>) {
        if !is_key(tests) {
            tests.sort_by_key(|placed| placed.part);
            self.cut(tests);
            if !is_simple(tests) {
                self.simplify(tests);
            }
        }
    }

    /// Leaves out tests that others on the same part make needless. Where a part equals one value, what names
    /// other relations beside is tested with the row.
    fn simplify(&mut self, tests: &mut Tests<'_>) {
        let mut kept = Tests::with_capacity(tests.len());
        for part in tests.chunk_by(|a, b| a.part == b.part) {
            let is_constant = part.iter().all(|p| p.test.values().iter().all(|v| self.rels.of(v).is_empty()));
            let only = if is_constant { None } else { self.equality(part) };
            let chosen = |at: &usize| only.is_none_or(|only| only == *at);
            let rejects_null = (0..part.len())
                .filter(chosen)
                .any(|at| part[at].test.rejects_null() && !matches!(part[at].test, Test::IsNotNull));
            for (at, placed) in part.iter().enumerate() {
                let is_needless = matches!(placed.test, Test::IsNotNull) && rejects_null;
                let is_repeated = (0..at).filter(chosen).any(|at| is_same(part[at].test, placed.test));
                if is_needless || is_repeated {
                    continue;
                }
                if chosen(&at) {
                    kept.push(*placed);
                } else {
                    self.exact[placed.condition as usize] = false;
                }
            }
        }
        *tests = kept;
    }

    /// The place of an equality among the tests on a part, one with a constant before others.
    fn equality(&self, part: &[Placed<'_>]) -> Option<usize> {
        let is_equal = |p: &Placed<'_>| matches!(p.test, Test::Eq(_) | Test::NullSafeEq(_));
        let is_constant = |p: &Placed<'_>| p.test.values().iter().all(|v| self.rels.of(v).is_empty());
        let constant = part.iter().position(|p| is_equal(p) && is_constant(p));
        constant.or_else(|| part.iter().position(is_equal))
    }

    /// Leaves out tests after the first part that has other than single values, or too many.
    fn cut(&mut self, tests: &mut Tests<'_>) {
        let mut stretches = 1_usize;
        let mut part = 0;
        let mut reached = 0;
        let mut has_subquery = false;
        while tests.iter().any(|placed| placed.part == part) {
            let values = values(tests, part);
            let is_subquery = tests.iter().any(|p| p.part == part && matches!(p.test, Test::InSubquery(..)));
            // How many values a subquery gives is not known: it is not multiplied with others.
            if (is_subquery && stretches > 1) || (has_subquery && (values > 1 || is_subquery)) {
                break;
            }
            has_subquery |= is_subquery;
            stretches = stretches.saturating_mul(values);
            if part > 0 && stretches > STRETCHES_MAX {
                break;
            }
            reached = part + 1;
            if !tests.iter().any(|placed| placed.part == part && placed.test.is_point()) {
                break;
            }
            part += 1;
        }
        for beyond in tests.iter().filter(|placed| placed.part >= reached) {
            self.exact[beyond.condition as usize] = false;
        }
        tests.retain(|placed: &mut Placed<'_>| placed.part < reached);
    }
}

/// Whether the tests are one: a condition may appear twice.
fn is_same(a: Test<'_>, b: Test<'_>) -> bool {
    match (a, b) {
        (Test::Eq(a), Test::Eq(b)) => same::same(a, b),
        (Test::IsNull, Test::IsNull) | (Test::IsNotNull, Test::IsNotNull) => true,
        _ => false,
    }
}
