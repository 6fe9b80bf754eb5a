//! Conditions that leave out a part of an index, or leave it a range, but bound the next one: a stretch for
//! each of the few values that the part has.
//!
//! ```text
//! key (a, b)    b = 5                    each a, of which b = 5
//!               a > 1 AND b = 5          each a > 1, of which b = 5
//! ```
//!
//! Not for reads that lock: rows between the stretches would have to be locked as well, so that none appears
//! there.

use std::ops::ControlFlow;

use expr::Expr;
use types::{IndexDef, KeyPart, KeyStatistics};

use super::access::{Choice, Methods, Paths, Stretch, Table, index_positions};
use super::cost;
use super::key_boxes::{self, Boxes};
use super::relations::{RelSet, Rels};
use super::sarg::{Test, Tree};
use crate::plan::{KeySet, Path, Skip, Take};

/// Fewest rows that share the parts jumped over, on average: fewer are read faster than jumped over.
const GROUP_ROWS_MIN: f64 = 4.0;

/// Looks for paths that jump.
pub(super) fn allow(methods: &mut Methods) {
    methods.paths.push(add);
}

/// Adds the paths that jump, where nothing found so far costs little.
fn add(paths: &mut Paths<'_>) -> ControlFlow<()> {
    let is_cheap = |choice: &Choice| choice.cost < cost::WORTH_JUMPS;
    let Paths { table, hinted, trees, found, .. } = paths;
    if !paths.is_cheap && paths.bound.is_empty() && !found.iter().any(|choice| is_cheap(choice)) {
        let indexes = index_positions(table.def, *hinted);
        found.extend(indexes.flat_map(|index| choices(table, index, trees)).map(Box::new));
    }
    ControlFlow::Continue(())
}

/// Paths by `index` that jump over one part of it, which is not the last one that `conditions` name.
fn choices(table: &Table<'_>, index: usize, conditions: &[Tree<'_>]) -> Vec<Choice> {
    let rel = table.rels.get(table.rel);
    let known = rel.statistics.as_deref().and_then(|all| all.keys.get(index));
    let Some(known) = known.filter(|_| !table.rels.reads_lock) else { return Vec::new() };
    let parts = &table.def.indexes[index].parts[..];
    // Where conditions list the values of a part, a key goes on behind it.
    let is_of_use = |lead: &usize| {
        let [part, next] = [parts[*lead].column, parts[*lead + 1].column];
        conditions.iter().any(|condition| key_boxes::bounds(condition, next))
            && !conditions.iter().any(|condition| key_boxes::lists(condition, part))
    };
    let skipping = |lead| {
        let ways = [free, confined];
        ways.into_iter().filter_map(move |way| way(table, index, lead, known, conditions))
    };
    (0..parts.len().saturating_sub(1)).filter(is_of_use).flat_map(skipping).collect()
}

/// The path that jumps over all values of the part at `lead`, with equalities on all before it.
fn free(
    table: &Table<'_>,
    index: usize,
    lead: usize,
    known: &KeyStatistics,
    conditions: &[Tree<'_>],
) -> Option<Choice> {
    let rest = without(&table.def.indexes[index], lead..lead + 1);
    let parts: Vec<&KeyPart> = rest.parts.iter().collect();
    let boxes = key_boxes::of(&parts, conditions, table.rels)?;
    let mut stretch = table.one_stretch(&parts, &boxes)?;
    if !is_constant(&boxes, table.rels) || stretch.eq.len() < lead {
        return None;
    }
    let eq = stretch.eq.split_off(lead);
    let lead_values = std::mem::replace(&mut stretch.eq, eq);
    let estimate = Estimate::new(table.rels.get(table.rel).rows, known, lead, 1);
    let jumps = Jumps { lead: lead_values, within: None, skipped: 1, ensured: boxes.ensured.clone() };
    choice(table, index, jumps, stretch, (estimate, 1.0))
}

/// The path that jumps from one value of the part at `lead` to the next within what conditions leave of it.
fn confined(
    table: &Table<'_>,
    index: usize,
    lead: usize,
    known: &KeyStatistics,
    conditions: &[Tree<'_>],
) -> Option<Choice> {
    let def = &table.def.indexes[index];
    let (before, behind): (Vec<&KeyPart>, Vec<&KeyPart>) =
        (def.parts[..=lead].iter().collect(), def.parts[lead + 1..].iter().collect());
    let within = key_boxes::of(&before, conditions, table.rels)?;
    let boxes = key_boxes::of(&behind, conditions, table.rels)?;
    let stretch = table.one_stretch(&behind, &boxes)?;
    let is_range = within.list.iter().all(|tests| {
        tests.last().is_some_and(|last| usize::from(last.part) == lead && !last.test.is_point())
    });
    if !is_range || !is_constant(&within, table.rels) || !is_constant(&boxes, table.rels) {
        return None;
    }
    let all = table.rels.get(table.rel).rows;
    let estimate = Estimate::new(all, known, 0, lead + 1);
    let share = table.estimate(def, Some(known), &within) / all.max(1.0);
    let mut ensured = within.ensured.clone();
    ensured.extend(boxes.ensured);
    let jumps = Jumps { lead: Vec::new(), within: Some(within.to_plan()), skipped: lead + 1, ensured };
    choice(table, index, jumps, stretch, (estimate, share))
}

/// Whether the values that `boxes` name are the same in the whole query, and known without a subquery.
fn is_constant(boxes: &Boxes<'_>, rels: &Rels<'_>) -> bool {
    boxes.list.iter().flatten().all(|placed| {
        !matches!(placed.test, Test::InSubquery(..))
            && placed.test.values().iter().all(|value| rels.of(value).is_empty())
    })
}

/// The parts that are skipped.
struct Jumps {
    lead: Vec<Expr>,
    within: Option<KeySet>,
    skipped: usize,
    ensured: Vec<usize>,
}

/// The path that reads `stretch` after each value of the parts jumped over, of which there are `share` of
/// those that the estimate has.
fn choice(
    table: &Table<'_>,
    index: usize,
    jumps: Jumps,
    stretch: Stretch,
    (estimate, share): (Estimate<'_>, f64),
) -> Option<Choice> {
    let Stretch { eq, null_safe, lower, upper } = stretch;
    let is_bounded = lower.is_some() || upper.is_some();
    let covering = index != 0 && table.covers(&table.def.indexes[index]);
    let group = estimate.rows / estimate.jumps;
    // What part of the rows lies in a range is not known: reading the rows of most entries would cost more
    // than a scan.
    let is_unknown = is_bounded && index != 0 && !covering;
    if (eq.is_empty() && !is_bounded) || is_unknown || group < GROUP_ROWS_MIN {
        return None;
    }
    let share_of_stretch = match (&lower, &upper) {
        (None, None) => 1.0,
        (Some(_), Some(_)) => cost::BETWEEN_SHARE,
        _ => cost::RANGE_SHARE,
    };
    // The value asked for need not be there with each value of the part.
    let per_jump = estimate.rows_with(eq.len()) * share_of_stretch;
    let count = (estimate.jumps * share).max(1.0);
    let rows = (count * per_jump).clamp(1.0, estimate.rows.max(1.0));
    let lookups = if index == 0 || covering { 0.0 } else { rows * cost::LOOKUP };
    let Jumps { lead, within, skipped, ensured } = jumps;
    let null_safe = null_safe.to_vec();
    let skip = Skip { lead, skipped, within, eq, null_safe, lower, upper, take: Take::All };
    Some(Choice {
        path: Path::Skip { index, skip: Box::new(skip) },
        covering,
        ensured,
        rows,
        cost: cost::DESCENT + count * cost::jump(group, 1.0) + rows * cost::NEXT_ROW + lookups,
        needs: RelSet::EMPTY,
        order: super::ordering::Ordering::default(),
        dived: None,
        arms: Vec::new(),
        also: None,
    })
}

/// `index` as it were without the parts `skipped`.
pub(super) fn without(index: &IndexDef, skipped: std::ops::Range<usize>) -> IndexDef {
    let mut rest = index.clone();
    rest.parts.drain(skipped);
    rest
}

/// How many jumps it takes over some parts of an index.
pub(super) struct Estimate<'k> {
    known: &'k KeyStatistics,
    /// Parts before and with those that are jumped over.
    parts: usize,
    /// Rows that equalities on the parts before leave.
    pub(super) rows: f64,
    /// Values that the parts have in these rows.
    pub(super) jumps: f64,
}

impl<'k> Estimate<'k> {
    /// For a table of `all` rows, equalities on `lead` parts, and `skipped` parts after them.
    pub(super) fn new(all: f64, known: &'k KeyStatistics, lead: usize, skipped: usize) -> Self {
        let per_prefix = |parts: usize| match parts {
            0 => all,
            _ => known.rows_per_prefix.get(parts - 1).map_or(1.0, |&rows| rows.min(all)),
        };
        let (rows, parts) = (per_prefix(lead), lead + skipped);
        Estimate { known, parts, rows, jumps: (rows / per_prefix(parts).max(1.0)).max(1.0) }
    }

    /// Rows that share one value of the parts and of `equal` parts after them.
    fn rows_with(&self, equal: usize) -> f64 {
        match self.parts + equal {
            0 => self.rows,
            parts => self.known.rows_per_prefix.get(parts - 1).map_or(1.0, |&rows| rows),
        }
    }
}
