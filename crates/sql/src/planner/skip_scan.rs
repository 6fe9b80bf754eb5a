//! Conditions that leave out a part of an index: a stretch for each of the few values that the part has.
//!
//! Not for reads that lock: rows between the stretches would have to be locked as well, so that none appears there.

use types::{IndexDef, KeyPart, KeyStatistics};

use super::access::{Choice, Table};
use super::cost;
use super::key_boxes;
use super::relations::RelSet;
use super::sarg::Tree;
use crate::plan::{Path, Skip, Take};

/// Paths by `index` that jump over one part of it, which is not the last one that `conditions` name.
pub(super) fn choices(table: &Table<'_>, index: usize, conditions: &[Tree<'_>]) -> Vec<Choice> {
    let rel = table.rels.get(table.rel);
    let known = rel.statistics.as_deref().and_then(|all| all.keys.get(index));
    let Some(known) = known.filter(|_| !table.rels.locked) else { return Vec::new() };
    let parts = table.def.indexes[index].parts.len();
    (0..parts.saturating_sub(1)).filter_map(|lead| skipping(table, index, lead, known, conditions)).collect()
}

/// The path that jumps over the part at `lead`, with equalities on all before it.
fn skipping(
    table: &Table<'_>,
    index: usize,
    lead: usize,
    known: &KeyStatistics,
    conditions: &[Tree<'_>],
) -> Option<Choice> {
    let def = &table.def.indexes[index];
    let rest = without(def, lead..lead + 1);
    let parts: Vec<&KeyPart> = rest.parts.iter().collect();
    let boxes = key_boxes::of(&parts, conditions, table.rels)?;
    let mut stretch = table.one_stretch(&parts, &boxes)?;
    let values = boxes.list.iter().flatten().flat_map(|placed| placed.test.values());
    let is_constant = values.fold(RelSet::EMPTY, |set, e| set.with(table.rels.of(e))).is_empty();
    let is_bounded = stretch.lower.is_some() || stretch.upper.is_some();
    if !is_constant || stretch.eq.len() < lead || (stretch.eq.len() == lead && !is_bounded) {
        return None;
    }
    let covering = index != 0 && table.covers(def);
    // What part of the rows lies in a range is not known: reading the rows of most entries would cost more than a scan.
    if is_bounded && index != 0 && !covering {
        return None;
    }
    let estimate = Estimate::new(table.rels.get(table.rel).rows, known, lead, 1);
    let share = match (&stretch.lower, &stretch.upper) {
        (None, None) => 1.0,
        (Some(_), Some(_)) => cost::BETWEEN_SHARE,
        _ => cost::RANGE_SHARE,
    };
    let equal = stretch.eq.len() - lead;
    // The value asked for need not be there with each value of the part.
    let per_jump = estimate.rows_with(equal) * share;
    let rows = (estimate.jumps * per_jump).clamp(1.0, estimate.rows.max(1.0));
    let lookups = if index == 0 || covering { 0.0 } else { rows * cost::LOOKUP };
    let eq = stretch.eq.split_off(lead);
    let (lead, null_safe) = (stretch.eq, stretch.null_safe);
    let skip =
        Skip { lead, skipped: 1, eq, null_safe, lower: stretch.lower, upper: stretch.upper, take: Take::All };
    Some(Choice {
        path: Path::Skip { index, skip: Box::new(skip) },
        covering,
        ensured: boxes.ensured.clone(),
        rows,
        cost: cost::DESCENT + 2.0 * estimate.jumps * cost::JUMP + rows * cost::NEXT_ROW + lookups,
        needs: RelSet::EMPTY,
        order: super::ordering::Ordering::default(),
        dived: None,
        arms: Vec::new(),
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
    /// For a table of `all` rows, equalities on `lead` parts, and `skipped` parts behind them.
    pub(super) fn new(all: f64, known: &'k KeyStatistics, lead: usize, skipped: usize) -> Self {
        let per_prefix = |parts: usize| match parts {
            0 => all,
            _ => known.rows_per_prefix.get(parts - 1).map_or(1.0, |&rows| rows.min(all)),
        };
        let (rows, parts) = (per_prefix(lead), lead + skipped);
        Estimate { known, parts, rows, jumps: (rows / per_prefix(parts).max(1.0)).max(1.0) }
    }

    /// Rows that share one value of the parts and of `equal` parts behind them.
    fn rows_with(&self, equal: usize) -> f64 {
        match self.parts + equal {
            0 => self.rows,
            parts => self.known.rows_per_prefix.get(parts - 1).map_or(1.0, |&rows| rows),
        }
    }
}
