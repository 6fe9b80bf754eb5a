//! Index dives: where averages predict much to read and several paths could win, the planner asks the
//! indexes.
//!
//! Not where LIMIT may end the read early: what a whole path costs says little then. A read that locks keeps
//! to keys: dives choose among them alone, so that no wide range makes it lock the whole table.

use std::ops::ControlFlow;
use std::rc::Rc;
use std::sync::Arc;

use types::{IndexKind, TableDef};

use super::access::{Choice, Methods, Paths};
use super::cost;
use super::join_order::{How, JoinPlan, Step};
use super::relations::{RelKind, Rels};
use crate::dive::{Candidate, Dives, Limits, Recheck, WORTH};
use crate::plan::Path;

/// Cost of the best path by keys of a read that locks, as a part of that of a scan, at most.
const UNDER_SCAN: f64 = 0.9;
/// How many scans a path by keys may cost that is taken so that no scan locks the whole table: where rows are
/// only read, and where a clause or a change is about them.
const SCANS_MAX: [f64; 2] = [3.0, 6.0];

/// Allows index dives.
pub(super) fn allow(methods: &mut Methods) {
    methods.paths.push(refine_found);
}

fn refine_found(paths: &mut Paths<'_>) -> ControlFlow<()> {
    refine(paths.table.rel, &mut paths.found, paths.table.rels);
    ControlFlow::Continue(())
}

/// Corrects rows and costs of the paths `found` to table `rel` by dives, and notes on each what its choice
/// depends on.
fn refine(rel: u16, found: &mut [Box<Choice>], rels: &Rels<'_>) {
    let (RelKind::Table { def, .. }, Some(dives)) = (&rels.get(rel).kind, rels.dives) else { return };
    if rels.get(rel).statistics.is_none() {
        return;
    }
    let mut dived = counted_lists(found, rels);
    let has_lists = !dived.is_empty();
    let is_worth = found.iter().all(|choice| expense(choice, rels) >= WORTH);
    if !is_worth && !has_lists {
        return;
    }
    let keyed: Vec<usize> = (0..found.len()).filter(|&at| is_keyed(&found[at], def)).collect();
    let is_decided = match keyed[..] {
        [] => true,
        // It is cheaper than any scan, whatever it finds.
        [only] => rels.locked || found[only].path.index() == 0 || found[only].covering,
        _ => false,
    };
    if is_worth && (!is_decided || rels.is_counted) {
        for at in keyed {
            let choice = &mut found[at];
            let Some(rows) = dives.rows(rels.catalog, def, &choice.path) else { continue };
            let candidate = candidate(choice, def);
            choice.rows = rows.max(1.0);
            choice.cost = candidate.cost(choice.rows);
            dived.push((at, candidate));
        }
    }
    let is_never_scanned = rels.locked && !is_decided;
    if !dived.is_empty() {
        let is_open = !is_decided || has_lists;
        note(found, dived, is_open, (is_never_scanned, dives.limits()));
    }
    if is_worth && rels.reads_lock {
        keep_to_keys(found, is_never_scanned, (rels.get(rel).rows, rels.locked));
    }
}

/// What choosing `choice` may come to; if another query looks up what it finds, with the cost of that.
fn expense(choice: &Choice, rels: &Rels<'_>) -> f64 {
    if rels.is_counted { choice.cost.max(choice.rows * cost::LOOKUP) } else { choice.cost }
}

/// Those of the paths `found` whose values a subquery gives of which a dive estimated the rows: their cost
/// follows from these.
fn counted_lists(found: &[Box<Choice>], rels: &Rels<'_>) -> Vec<(usize, Candidate)> {
    let candidate = |choice: &Choice| {
        let [subquery] = choice.path.subqueries()[..] else { return None };
        let list = rels.subqueries.list(subquery)?;
        let Candidate { table, path, per_row, .. } = list.counted?.clone();
        let per_row = per_row * choice.cost / list.estimate.rows.max(1.0);
        Some(Candidate { table, path, start: 0.0, per_row })
    };
    found.iter().enumerate().filter_map(|(at, choice)| Some((at, candidate(choice)?))).collect()
}

/// Notes on each of the paths `found` what the choice among them depends on, of which `dived` were dived for.
fn note(
    found: &mut [Box<Choice>],
    dived: Vec<(usize, Candidate)>,
    is_open: bool,
    (is_never_scanned, limits): (bool, Limits),
) {
    let candidate = |at: usize| dived.iter().position(|(dived, _)| *dived == at);
    let is_other = |at: &usize| candidate(*at).is_none() && !(is_never_scanned && is_scan(&found[*at]));
    let others = (0..found.len()).filter(is_other).map(|at| found[at].cost);
    let least_of_others = others.fold(f64::INFINITY, f64::min);
    let places: Vec<Option<usize>> = (0..found.len()).map(candidate).collect();
    let candidates: Rc<[Candidate]> = dived.into_iter().map(|(_, candidate)| candidate).collect();
    for (choice, chosen) in found.iter_mut().zip(places) {
        let (candidates, cost) = (Rc::clone(&candidates), choice.cost);
        choice.dived = Some(DiveBasis { candidates, chosen, least_of_others, cost, is_open, limits });
    }
}

/// The path of the only step of `join_plan`, if a dive estimated its rows; its cost is the rows of
/// `join_plan`.
pub(super) fn counted(join_plan: &JoinPlan) -> Option<Candidate> {
    let [Step { how: How::Access(choice), .. }] = &join_plan.steps[..] else { return None };
    if choice.also.is_some() {
        return None;
    }
    let dived = choice.dived.as_ref()?;
    let Candidate { table, path, .. } = dived.candidates[dived.chosen?].clone();
    Some(Candidate { table, path, start: 0.0, per_row: join_plan.rows / choice.rows })
}

/// Notes what the paths of `join_plan` to tables that are read for themselves depend on.
pub(super) fn note_join_plan(join_plan: &JoinPlan, dives: &Dives<'_>) {
    for step in &join_plan.steps {
        match &step.how {
            How::Access(choice) if choice.needs.is_empty() => {
                if let Some(dived) = choice.dived.as_ref().filter(|dived| dived.is_open) {
                    dives.note(dived.recheck());
                }
            }
            How::Left(inner) => note_join_plan(inner, dives),
            How::Access(_) | How::Derived => {}
        }
    }
}

/// The dives that the choice of a path depended on; see [`Recheck`].
#[derive(Clone, Debug)]
pub(super) struct DiveBasis {
    candidates: Rc<[Candidate]>,
    chosen: Option<usize>,
    least_of_others: f64,
    cost: f64,
    /// Other values may make another path the best.
    is_open: bool,
    limits: Limits,
}

impl DiveBasis {
    /// Whether a dive estimated the rows of the path that it is noted on.
    pub(super) fn is_of_path(&self) -> bool {
        self.chosen.is_some()
    }

    /// What an intersection depends on that costs `cost`: the entries that `gathered`, one of the paths dived
    /// for, finds are gathered for `per_row` each. `None` if no dive estimated their rows.
    pub(super) fn of_intersection(gathered: &Choice, cost: f64, per_row: f64) -> Option<DiveBasis> {
        let dived = gathered.dived.as_ref()?;
        let Candidate { table, path, .. } = dived.candidates[dived.chosen?].clone();
        let start = (cost - gathered.rows * per_row).max(0.0);
        let mut candidates = dived.candidates.to_vec();
        candidates.push(Candidate { table, path, start, per_row });
        let chosen = Some(candidates.len() - 1);
        Some(DiveBasis { candidates: candidates.into(), chosen, cost, ..dived.clone() })
    }

    fn recheck(&self) -> Recheck {
        let DiveBasis { candidates, chosen, least_of_others, cost, limits, .. } = self.clone();
        Recheck { candidates: candidates.to_vec(), chosen, least_of_others, cost, limits }
    }
}

/// Makes paths by keys cheaper than scans, in the order that they have: all of them (`is_all`), or those that
/// are expected to leave out half of the `rows` rows and to cost no more than a few scans.
fn keep_to_keys(found: &mut [Box<Choice>], is_all: bool, (rows, is_clause): (f64, bool)) {
    let least = |choices: &[Box<Choice>], is_wanted: &dyn Fn(&Choice) -> bool| {
        let costs = choices.iter().filter(|choice| is_wanted(choice)).map(|choice| choice.cost);
        costs.fold(f64::INFINITY, f64::min)
    };
    let scan = least(found, &is_scan);
    let cost_max = SCANS_MAX[usize::from(is_clause)] * scan;
    let is_sane = |choice: &Choice| choice.rows <= rows / 2.0 && choice.cost <= cost_max;
    let is_kept_to = |choice: &Choice| !is_scan(choice) && (is_all || is_sane(choice));
    let keyed = least(found, &is_kept_to);
    if keyed >= scan && keyed.is_finite() {
        let factor = UNDER_SCAN * scan / keyed;
        found.iter_mut().filter(|choice| is_kept_to(choice)).for_each(|choice| choice.cost *= factor);
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
    is_ranges
        && choice.arms.is_empty()
        && choice.also.is_none()
        && choice.needs.is_empty()
        && choice.path.subqueries().is_empty()
}

fn candidate(choice: &Choice, table: &Arc<TableDef>) -> Candidate {
    let is_direct = choice.path.index() == 0 || choice.covering;
    let lookup = if is_direct { 0.0 } else { cost::LOOKUP };
    let stretches = match &choice.path {
        Path::Intervals { keys, .. } => keys.len(),
        _ => 1,
    };
    Candidate {
        table: Arc::clone(table),
        path: choice.path.clone(),
        start: cost::stretches(stretches) + cost::reading(0.0, choice.covering),
        per_row: cost::NEXT_ROW * cost::width(choice.covering) + lookup,
    }
}
