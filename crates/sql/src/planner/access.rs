//! How the rows of one table are found: the cheapest path that its indexes offer.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::sync::Arc;

use expr::{ColumnRef, Expr, ExprKind};
use smallvec::{SmallVec, smallvec};
use types::{IndexDef, IndexKind, KeyPart, KeyStatistics, TableDef};

use super::cost;
use super::dive::DiveBasis;
use super::goal::Goal;
use super::index_condition;
use super::key_boxes::{self, Boxes, Placed};
use super::ordering::Ordering;
use super::relations::{Rel, RelKind, RelSet, Rels};
use super::sarg::{self, Test, Tree};
use crate::bind::block::HintedIndexes;
use crate::plan::{Path, RelationColumns};

/// A way to read a table.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    /// The path.
    pub(super) path: Path,
    /// The index has every column used.
    pub(super) covering: bool,
    /// Positions of conditions that the path ensures.
    pub(super) ensured: Vec<usize>,
    /// Rows that the path gives, each time.
    pub(super) rows: f64,
    /// Cost of giving them.
    pub(super) cost: f64,
    /// Relations that the path's keys name.
    pub(super) needs: RelSet,
    /// Order of the rows.
    pub(super) order: Ordering,
    /// The dives that the choice among the table's paths depended on, if any.
    pub(super) dived: Option<DiveBasis>,
    /// Not empty: the accesses that find the rows together; `path` is the first one's.
    pub(super) arms: Vec<Arm>,
    /// The access by another index that has to find a row of `path` as well.
    pub(super) also: Option<Box<Also>>,
}

impl Choice {
    /// Whether it reads rows of single values of an index, few as a rule. Others read a part of an index, or
    /// all of it.
    pub(super) fn finds_values(&self) -> bool {
        if !self.arms.is_empty() {
            return self.arms.iter().all(|arm| arm.choice.finds_values());
        }
        match &self.path {
            Path::Point { .. } => true,
            Path::Range { eq, .. } => !eq.is_empty(),
            Path::Intervals { keys, .. } => {
                keys.params().is_some() || keys.boxes().iter().all(|key_box| key_box.is_point(0))
            }
            Path::Scan { .. } | Path::Skip { .. } => false,
        }
    }
}

/// The second access of an intersection.
#[derive(Clone, Debug)]
pub(super) struct Also {
    pub(super) choice: Choice,
    /// Entries of both suffice: the columns that are read of the first ones.
    pub(super) read: Option<RelationColumns>,
}

/// One of several accesses that find rows together.
#[derive(Clone, Debug)]
pub(super) struct Arm {
    pub(super) choice: Choice,
    /// What its rows are tested for.
    pub(super) filter: Vec<Expr>,
}

/// The ways to read a table. They are large and change places.
pub(super) type Choices = SmallVec<[Box<Choice>; 4]>;

/// A rule that searches for ways to read a table, or judges those found. With a break, no other is searched
/// for, and none is judged.
pub(super) type PathRule = fn(&mut Paths<'_>) -> ControlFlow<()>;

/// The methods that the search for paths and join plans may use.
#[derive(Debug, Default)]
pub(super) struct Methods {
    /// In the order in which ways to read a table are searched for.
    pub(super) paths: SmallVec<[PathRule; 8]>,
    /// Tables may be joined in another order than that written.
    pub(super) join_order: bool,
    /// Found before the search: the way to read the only table, in the place of those that its conditions
    /// allow.
    pub(super) only: Option<Choice>,
    pub(super) hash_join: bool,
    /// Runs of a subquery share a hash table.
    pub(super) hash_lookup: bool,
    /// Conditions that follow from others are left out.
    pub(super) known: bool,
    pub(super) index_condition: bool,
}

/// The ways to read a table, as far as they are found.
pub(super) struct Paths<'p> {
    pub(super) table: Table<'p>,
    pub(super) goal: Goal<'p>,
    /// What hints say of its indexes.
    pub(super) hinted: Option<&'p HintedIndexes>,
    /// They may name `bound` and the table.
    pub(super) conditions: &'p [&'p Expr],
    pub(super) bound: RelSet,
    pub(super) trees: SmallVec<[Tree<'p>; 8]>,
    pub(super) tests: RowTests<'p>,
    pub(super) found: Choices,
    /// One of those found meets the goal and costs less than what scans and jumps cost.
    pub(super) is_cheap: bool,
}

/// The ways to read table `rel` that are worth a thought, the cheapest first. `conditions` may name `bound`
/// and `rel`. If some order serves the `goal`, the others follow by their costs; else the ways have no order.
/// Those that can be neither the cheapest nor the cheapest that meets the goal may be missing.
pub(super) fn choices(
    rel: u16,
    conditions: &[&Expr],
    bound: RelSet,
    goal: Goal<'_>,
    (rels, methods): (&Rels, &Methods),
) -> Choices {
    if let Some(only) = &methods.only {
        return smallvec![Box::new(only.clone())];
    }
    let RelKind::Table { def, indexes, .. } = &rels.get(rel).kind else { return Choices::new() };
    let wants_order = !goal.is_trivial();
    let mut paths = Paths {
        table: Table { rel, def, rels, wants_order },
        goal,
        hinted: indexes.as_ref(),
        conditions,
        bound,
        trees: conditions.iter().map(|c| sarg::of(c, rel, bound, rels)).collect(),
        tests: RowTests::new(rel, conditions, bound, rels),
        found: Choices::new(),
        is_cheap: false,
    };
    for rule in &methods.paths {
        if rule(&mut paths).is_break() {
            return paths.found;
        }
    }
    let Paths { tests, mut found, .. } = paths;
    for choice in &mut found {
        choice.cost += tests.cost(choice);
    }
    if wants_order {
        found.sort_by(|a, b| a.cost.total_cmp(&b.cost));
    } else if let Some((at, _)) = found.iter().enumerate().min_by(|(_, a), (_, b)| a.cost.total_cmp(&b.cost))
    {
        found.swap(0, at);
    }
    found
}

/// The indexes of `def` that hints leave; `None`: all.
pub(super) fn index_positions<'i>(
    def: &TableDef,
    hinted: Option<&'i HintedIndexes>,
) -> impl Iterator<Item = usize> + use<'i> {
    let all = if hinted.is_none() { 0..def.indexes.len() } else { 0..0 };
    all.chain(hinted.into_iter().flat_map(|hinted| hinted.left.iter().copied()))
}

/// The cost of testing the rows of a path for the conditions that it does not ensure.
pub(super) struct RowTests<'t> {
    rel: u16,
    conditions: &'t [&'t Expr],
    /// Cost of each condition for a row; NaN: not computed yet.
    weights: SmallVec<[Cell<f64>; 8]>,
    /// The table is read once.
    is_once: bool,
    rels: &'t Rels<'t>,
}

impl<'t> RowTests<'t> {
    fn new(rel: u16, conditions: &'t [&'t Expr], bound: RelSet, rels: &'t Rels<'t>) -> Self {
        let weights = conditions.iter().map(|_| Cell::new(f64::NAN)).collect();
        RowTests { rel, conditions, weights, is_once: bound.is_empty(), rels }
    }

    pub(super) fn cost(&self, choice: &Choice) -> f64 {
        let present = choice.rows * self.rels.get(self.rel).present;
        let subqueries = |at: usize| self.rels.subqueries.cost(self.conditions[at], present, self.is_once);
        let tested = (0..self.weights.len()).filter(|at| !choice.ensured.contains(at));
        if self.rels.subqueries.is_empty() {
            return tested.map(|at| choice.rows * self.weight(at)).sum();
        }
        tested.map(|at| choice.rows * self.weight(at) + subqueries(at)).sum()
    }

    fn weight(&self, at: usize) -> f64 {
        let weight = &self.weights[at];
        if weight.get().is_nan() {
            weight.set(cost::test(self.conditions[at]));
        }
        weight.get()
    }
}

/// One stretch of an index; see [`Path::Range`].
#[derive(Default)]
pub(super) struct Stretch {
    pub(super) eq: Vec<Expr>,
    pub(super) null_safe: SmallVec<[bool; 16]>,
    pub(super) lower: Option<(Expr, bool)>,
    pub(super) upper: Option<(Expr, bool)>,
}

/// A table whose paths are compared.
pub(super) struct Table<'r> {
    pub(super) rel: u16,
    pub(super) def: &'r TableDef,
    pub(super) rels: &'r Rels<'r>,
    /// The order of a path's rows may matter.
    pub(super) wants_order: bool,
}

impl Table<'_> {
    /// A bound below the cost of reading all rows, in any order.
    pub(super) fn least_of_scans(&self) -> f64 {
        cost::DESCENT + self.rels.get(self.rel).rows * cost::NEXT_ROW * cost::width(true)
    }

    /// All rows in the order of `index`.
    pub(super) fn scan(&self, index: usize) -> Option<Box<Choice>> {
        let def = self.def.indexes.get(index)?;
        if index != 0 && !is_whole(def) {
            return None;
        }
        let covering = index == 0 || self.covers(def);
        let rows = self.rels.get(self.rel).rows;
        let width = cost::width(index != 0 && covering);
        let lookups = if covering { 0.0 } else { rows * cost::LOOKUP };
        Some(Box::new(Choice {
            path: Path::Scan { index, reverse: false },
            covering: index != 0 && covering,
            ensured: Vec::new(),
            rows,
            cost: cost::DESCENT + rows * cost::NEXT_ROW * width + lookups,
            needs: RelSet::EMPTY,
            order: self.order(def, || 0),
            dived: None,
            arms: Vec::new(),
            also: None,
        }))
    }

    /// The rows that `conditions` leave, by keys of `index`.
    pub(super) fn keyed(&self, index: usize, conditions: &[Tree<'_>]) -> Option<Box<Choice>> {
        let def = &self.def.indexes[index];
        let parts: SmallVec<[&KeyPart; 8]> = self.def.key_parts(index).collect();
        let mut boxes = key_boxes::of(&parts, conditions, self.rels)?;
        let covering = index != 0 && self.covers(def);
        let known = self.rels.get(self.rel).statistics.as_deref().and_then(|all| all.keys.get(index));
        let rows = self.estimate(def, known, &boxes);
        let lookups = if index == 0 || covering { 0.0 } else { rows * cost::LOOKUP };
        let stretches = boxes.stretches();
        let mut cost = cost::reading(rows, covering) + lookups;
        if known.is_some() && boxes.list.iter().all(|tests| leads_with_point(tests)) {
            // An average does not show how rare the values are that will be looked up.
            let most = cost::most_for_equal(self.rels.get(self.rel).rows, rows);
            cost = cost.min(most * stretches as f64);
        }
        let mut needs = RelSet::EMPTY;
        for placed in boxes.list.iter().flatten() {
            placed.test.values().iter().for_each(|value| needs = needs.with(self.rels.of(value)));
        }
        let lists = self.cost_of_lists(&boxes);
        let is_unique = is_one_row(def, &boxes);
        let order = match is_unique {
            true if self.wants_order => Ordering::one_row(self.rel),
            true => Ordering::default(),
            false => self.order(def, || boxes.constants()),
        };
        let ensured = std::mem::take(&mut boxes.ensured);
        Some(Box::new(Choice {
            path: self.path(index, &parts, &boxes, is_unique),
            covering,
            ensured,
            rows,
            cost: cost::stretches(stretches) + cost + lists,
            needs,
            order,
            dived: None,
            arms: Vec::new(),
            also: None,
        }))
    }

    /// The rows of `count` keys of the clustered index, each of equalities with the parts that `first` has
    /// some with; the caller fills in the path. `constants`: leading parts with one value in all keys.
    pub(super) fn listed(
        &self,
        first: &Tree<'_>,
        count: usize,
        constants: impl FnOnce() -> usize,
    ) -> Option<Choice> {
        let def = self.def.clustered();
        let parts: SmallVec<[&KeyPart; 8]> = self.def.key_parts(0).collect();
        let boxes = key_boxes::of(&parts, std::slice::from_ref(first), self.rels)?;
        let [tests] = &boxes.list[..] else { return None };
        let Rel { rows: all, statistics, .. } = self.rels.get(self.rel);
        let known = statistics.as_deref().and_then(|all| all.keys.first());
        let each = self.estimate_box(def, known, tests);
        let rows = (0..count).map(|_| each).sum::<f64>().max(1.0).min(all.max(1.0));
        let mut cost = cost::reading(rows, false);
        if known.is_some() {
            cost = cost.min(cost::most_for_equal(*all, rows) * count as f64);
        }
        Some(Choice {
            path: Path::Scan { index: 0, reverse: false },
            covering: false,
            ensured: Vec::new(),
            rows,
            cost: cost::stretches(count) + cost,
            needs: RelSet::EMPTY,
            order: self.order(def, constants),
            dived: None,
            arms: Vec::new(),
            also: None,
        })
    }

    /// Cost of the subqueries that give the values of `boxes`.
    fn cost_of_lists(&self, boxes: &Boxes<'_>) -> f64 {
        let list = |placed: &Placed<'_>| match placed.test {
            Test::InSubquery(Expr { kind: ExprKind::Subquery { plan, .. }, .. }, _) => {
                self.rels.subqueries.list(*plan)
            }
            _ => None,
        };
        boxes.list.iter().flatten().filter_map(list).map(|list| list.cost()).sum()
    }

    /// The path to the keys in `boxes`: one key, one stretch, or several.
    fn path(&self, index: usize, parts: &[&KeyPart], boxes: &Boxes<'_>, is_unique: bool) -> Path {
        if let (true, [tests]) = (is_unique, &boxes.list[..])
            && tests.len() == parts.len()
        {
            let key = tests.iter().flat_map(|placed| placed.test.values()).cloned().collect();
            return Path::Point { index, key };
        }
        let Some(Stretch { eq, null_safe, lower, upper }) = self.one_stretch(parts, boxes) else {
            return Path::Intervals { index, keys: Arc::new(boxes.to_plan()), reverse: false };
        };
        let null_safe = if null_safe.contains(&true) { null_safe.to_vec() } else { Vec::new() };
        let (lower, upper) = (lower.map(Box::new), upper.map(Box::new));
        Path::Range { index, eq, null_safe, lower, upper, reverse: false }
    }

    /// The keys in `boxes` of an index of `parts` as one stretch, if they are one whatever the values.
    pub(super) fn one_stretch(&self, parts: &[&KeyPart], boxes: &Boxes<'_>) -> Option<Stretch> {
        let [tests] = &boxes.list[..] else { return None };
        let mut stretch = Stretch::default();
        stretch.eq.reserve_exact(tests.len());
        for placed in tests {
            let (is_next, is_bounded) = (
                usize::from(placed.part) == stretch.eq.len(),
                stretch.lower.is_some() || stretch.upper.is_some(),
            );
            let column = parts[usize::from(placed.part)].column;
            let nullable = self.def.columns[usize::from(column)].nullable;
            let mut equal = |value: Expr, null_safe: bool| {
                stretch.eq.push(value);
                stretch.null_safe.push(null_safe && nullable);
            };
            match placed.test {
                _ if !is_next => return None,
                Test::Eq(value) if !is_bounded => equal(value.clone(), false),
                Test::NullSafeEq(value) if !is_bounded => equal(value.clone(), true),
                Test::IsNull if !is_bounded => equal(self.rels.build.null(), true),
                Test::Lower(value, included) if stretch.lower.is_none() => {
                    stretch.lower = Some((value.clone(), included));
                }
                Test::Upper(value, included) if stretch.upper.is_none() => {
                    stretch.upper = Some((value.clone(), included));
                }
                _ => return None,
            }
        }
        Some(stretch)
    }

    pub(super) fn estimate(&self, index: &IndexDef, known: Option<&KeyStatistics>, boxes: &Boxes<'_>) -> f64 {
        let all = self.rels.get(self.rel).rows;
        let rows = boxes.sum(|tests| self.estimate_box(index, known, tests));
        rows.max(1.0).min(all.max(1.0))
    }

    /// Rows whose keys pass `tests`.
    fn estimate_box(&self, index: &IndexDef, known: Option<&KeyStatistics>, tests: &[Placed<'_>]) -> f64 {
        let all = self.rels.get(self.rel).rows;
        let is_unique = index.kind != IndexKind::Secondary;
        let mut rows = all;
        let mut keys = 1.0;
        let mut points = 0;
        for (at, part) in tests.chunk_by(|a, b| a.part == b.part).enumerate() {
            if part.iter().any(|placed| placed.test.is_point()) {
                keys *= key_boxes::values(part, part[0].part) as f64;
                let follows = points == at && usize::from(part[0].part) == at;
                points += usize::from(follows);
                let per_key = match known.filter(|_| follows) {
                    _ if is_unique && at + 1 == index.parts.len() => 1.0,
                    Some(known) if at == 0 => cost::rows_of_first(known, all, is_null_only(part)),
                    Some(known) => self.rows_of_prefix(index, known, at),
                    None => cost::rows_per_key(all) * cost::NEXT_PART_SHARE.powi(at as i32),
                };
                rows = (keys * per_key).min(if at == 0 { all } else { rows * cost::LISTED_SHARE });
                continue;
            }
            let known = known.filter(|_| points == at && usize::from(part[0].part) == at);
            let per_value = known.map(|known| match at {
                0 => cost::rows_of_first(known, all, false),
                _ => self.rows_of_prefix(index, known, at),
            });
            if let Some(known) = known.filter(|_| at == 0) {
                rows -= cost::rows_of_nulls(known, all);
            }
            let values = per_value.map(|per_value| rows / (keys * per_value));
            rows *= share_of_ranges(part, values, known.is_some() && at == 0);
        }
        rows
    }

    /// Rows that agree in the parts of `index` up to the one at position `at`. The parts that follow those
    /// declared are the clustered key's: the rows that agree in these are taken to be spread evenly.
    fn rows_of_prefix(&self, index: &IndexDef, known: &KeyStatistics, at: usize) -> f64 {
        let declared = index.parts.len();
        if at < declared {
            return known.rows_per_prefix.get(at).map_or(1.0, |&rows| rows);
        }
        let relation = self.rels.get(self.rel);
        let clustered = relation.statistics.as_deref().and_then(|all| all.keys.first());
        let tail = clustered.and_then(|clustered| clustered.rows_per_prefix.get(at - declared));
        let before = known.rows_per_prefix.last().map_or(1.0, |&rows| rows);
        tail.map_or(1.0, |&rows| (before * rows / relation.rows.max(1.0)).max(1.0))
    }

    /// Order of rows that agree in the first `equal` parts of `index`. Within equal keys of a secondary index
    /// rows are in the order of the clustered key. Nothing is said where order does not matter.
    pub(super) fn order(&self, index: &IndexDef, equal: impl FnOnce() -> usize) -> Ordering {
        if !self.wants_order {
            return Ordering::default();
        }
        let equal = equal();
        let clustered = self.def.clustered();
        let is_clustered = std::ptr::eq(index, clustered);
        let tail: &[types::KeyPart] = if is_clustered { &[] } else { &clustered.parts };
        let mut order = Ordering::default();
        for (at, part) in index.parts.iter().chain(tail).enumerate() {
            let column = ColumnRef { rel: self.rel, col: part.column };
            if at < equal {
                order.add_constant(column);
            } else if part.prefix_len.is_some() {
                break;
            } else {
                order.add(column, part.desc);
            }
        }
        if is_clustered && self.def.hidden_row_id {
            return Ordering::default();
        }
        for key in self.def.indexes.iter().filter(|i| self.is_key(i)) {
            let columns = key.parts.iter().map(|part| ColumnRef { rel: self.rel, col: part.column });
            order.add_key(columns);
        }
        order
    }

    /// Whether `index` distinguishes rows: unique, whole columns, no NULLs.
    fn is_key(&self, index: &IndexDef) -> bool {
        let is_plain = |part: &types::KeyPart| {
            part.prefix_len.is_none() && !self.def.columns[usize::from(part.column)].nullable
        };
        index.kind != IndexKind::Secondary && !index.parts.is_empty() && index.parts.iter().all(is_plain)
    }

    /// Whether every column used is in `index` or in the clustered key.
    pub(super) fn covers(&self, index: &IndexDef) -> bool {
        if self.rels.locked {
            return false;
        }
        let have = index_condition::entry_columns(self.def, index);
        self.rels.get(self.rel).used.is_subset(&have)
    }
}

/// Part of the keys that `tests` on a part, none of which leaves single values, leave. `values`: how many
/// values the part has, if that is known; `without_nulls`: the keys with NULL are left out already.
fn share_of_ranges(tests: &[Placed<'_>], values: Option<f64>, without_nulls: bool) -> f64 {
    let has = |test: fn(&Test<'_>) -> bool| tests.iter().any(|placed| test(&placed.test));
    let lower = has(|test| matches!(test, Test::Lower(..)));
    let upper = has(|test| matches!(test, Test::Upper(..)));
    let is_like = has(|test| matches!(test, Test::Like { .. }));
    if lower || upper || is_like {
        return cost::range_share(is_like || (lower && upper), values.unwrap_or(f64::INFINITY));
    }
    if without_nulls && !has(|test| matches!(test, Test::NotIn(_))) { 1.0 } else { cost::NOT_SHARE }
}

/// Whether only rows pass that have one of a few values in the first part of the key.
fn leads_with_point(tests: &[Placed<'_>]) -> bool {
    tests.iter().any(|placed| placed.part == 0 && placed.test.is_point())
}

/// Whether only NULL passes.
fn is_null_only(tests: &[Placed<'_>]) -> bool {
    tests.iter().any(|placed| matches!(placed.test, Test::IsNull))
}

/// Whether every row has an entry that orders it: all parts are whole columns.
fn is_whole(index: &IndexDef) -> bool {
    index.parts.iter().all(|part| part.prefix_len.is_none())
}

/// Whether at most one row has a key in `boxes`.
fn is_one_row(def: &IndexDef, boxes: &Boxes<'_>) -> bool {
    let [tests] = &boxes.list[..] else { return false };
    let is_equal = |part: usize| {
        let mut on_part = tests.iter().filter(|placed| usize::from(placed.part) == part);
        on_part.any(|placed| matches!(placed.test, Test::Eq(_)))
    };
    def.kind != IndexKind::Secondary
        && is_whole(def)
        && !def.parts.is_empty()
        && (0..def.parts.len()).all(is_equal)
}
