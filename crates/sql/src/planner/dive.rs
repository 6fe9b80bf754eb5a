//! Index dives: where averages predict much to read and several paths could win, the planner asks the indexes.
//!
//! Not where LIMIT may end the read early: what a whole path costs says little then. A read that locks keeps to keys: dives choose
//! among them alone, so that no wide range makes it lock the whole table.

use std::rc::Rc;
use std::sync::Arc;

use types::{IndexKind, TableDef};

use super::access::Choice;
use super::cost;
use super::join_order::{How, Route};
use super::relations::{RelKind, Rels};
use crate::dive::{Candidate, Dives, Recheck, WORTH};
use crate::plan::Path;

/// Cost of the best path by keys of a read that locks, as a part of that of a scan, at most.
const UNDER_SCAN: f64 = 0.9;

/// Corrects rows and costs of the paths `found` to table `rel` by dives, and notes on each what its choice depends on.
pub(super) fn refine(rel: u16, found: &mut [Choice], rels: &Rels<'_>) {
    let (RelKind::Table { def, .. }, Some(dives)) = (&rels.get(rel).kind, rels.dives) else { return };
    if rels.get(rel).statistics.is_none() || found.iter().any(|choice| choice.cost < WORTH) {
        return;
    }
    let keyed: Vec<usize> = (0..found.len()).filter(|&at| is_keyed(&found[at], def)).collect();
    let is_decided = match keyed[..] {
        [] => true,
        // It is cheaper than any scan, whatever it finds.
        [only] => rels.locked || found[only].path.index() == 0 || found[only].covering,
        _ => false,
    };
    if is_decided {
        return;
    }
    let mut dived: Vec<(usize, Candidate)> = Vec::with_capacity(keyed.len());
    for at in keyed {
        let choice = &mut found[at];
        let Some(rows) = dives.rows(rels.catalog, def, &choice.path) else { continue };
        let candidate = candidate(choice);
        choice.rows = rows.max(1.0);
        choice.cost = candidate.cost(choice.rows);
        dived.push((at, candidate));
    }
    if !dived.is_empty() {
        note(def, found, dived, rels.locked);
    }
    if rels.locked {
        keep_to_keys(found);
    }
}

/// Notes on each of the paths `found` what the choice among them depends on, of which `dived` were dived for.
fn note(def: &Arc<TableDef>, found: &mut [Choice], dived: Vec<(usize, Candidate)>, is_locked: bool) {
    let candidate = |at: usize| dived.iter().position(|(dived, _)| *dived == at);
    let is_other = |at: &usize| candidate(*at).is_none() && !(is_locked && is_scan(&found[*at]));
    let others = (0..found.len()).filter(is_other).map(|at| found[at].cost);
    let least_of_others = others.fold(f64::INFINITY, f64::min);
    let places: Vec<Option<usize>> = (0..found.len()).map(candidate).collect();
    let candidates: Rc<[Candidate]> = dived.into_iter().map(|(_, candidate)| candidate).collect();
    for (choice, chosen) in found.iter_mut().zip(places) {
        let (table, candidates, cost) = (Arc::clone(def), Rc::clone(&candidates), choice.cost);
        choice.dived = Some(Dived { table, candidates, chosen, least_of_others, cost });
    }
}

/// Notes what the paths of `route` to tables that are read for themselves depend on.
pub(super) fn note_route(route: &Route, dives: &Dives<'_>) {
    for step in &route.steps {
        match &step.how {
            How::Access(choice) if choice.needs.is_empty() => {
                if let Some(dived) = &choice.dived {
                    dives.note(dived.recheck());
                }
            }
            How::Left(inner) => note_route(inner, dives),
            How::Access(_) | How::Derived => {}
        }
    }
}

/// What the choice of a path depended on; see [`Recheck`].
#[derive(Clone, Debug)]
pub(super) struct Dived {
    table: Arc<TableDef>,
    candidates: Rc<[Candidate]>,
    chosen: Option<usize>,
    least_of_others: f64,
    cost: f64,
}

impl Dived {
    fn recheck(&self) -> Recheck {
        let Dived { table, candidates, chosen, least_of_others, cost } = self.clone();
        Recheck { table, candidates: candidates.to_vec(), chosen, least_of_others, cost }
    }
}

/// Makes all paths by keys cheaper than scans, in the order that they have.
fn keep_to_keys(found: &mut [Choice]) {
    let least = |is_wanted: fn(&Choice) -> bool| {
        found
            .iter()
            .filter(|choice| is_wanted(choice))
            .map(|choice| choice.cost)
            .fold(f64::INFINITY, f64::min)
    };
    let (scan, keyed) = (least(is_scan), least(|choice| !is_scan(choice)));
    if keyed >= scan {
        let factor = UNDER_SCAN * scan / keyed;
        found.iter_mut().filter(|choice| !is_scan(choice)).for_each(|choice| choice.cost *= factor);
    }
}

fn is_scan(choice: &Choice) -> bool {
    matches!(choice.path, Path::Scan { .. })
}

/// Whether an index can estimate the rows of `choice`, and averages cannot.
fn is_keyed(choice: &Choice, def: &TableDef) -> bool {
    let index = &def.indexes[choice.path.index()];
    let is_ranges = match &choice.path {
        Path::Range { .. } => true,
        Path::Intervals { keys, .. } => {
            index.kind == IndexKind::Secondary || !keys.is_points(index.parts.len())
        }
        Path::Point { .. } | Path::Scan { .. } | Path::Skip { .. } => false,
    };
    is_ranges && choice.arms.is_empty() && choice.needs.is_empty() && choice.path.subqueries().is_empty()
}

fn candidate(choice: &Choice) -> Candidate {
    let is_direct = choice.path.index() == 0 || choice.covering;
    let lookup = if is_direct { 0.0 } else { cost::LOOKUP };
    let stretches = match &choice.path {
        Path::Intervals { keys, .. } => keys.boxes.len(),
        _ => 1,
    };
    Candidate {
        path: choice.path.clone(),
        start: cost::stretches(stretches),
        per_row: cost::NEXT_ROW + lookup,
    }
}
