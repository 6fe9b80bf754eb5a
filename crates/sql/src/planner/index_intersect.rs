//! Two conditions that different indexes serve, none of which leaves few rows: an intersection.
//!
//! ```text
//! WHERE a = 1 AND b = 2      by b: the clustered keys of all entries with b = 2
//!                            by a: of the entries with a = 1, rows are read whose key is among them
//! ```
//! Not for reads that lock: every entry that either access passes over would have to be locked.

use std::ops::ControlFlow;

use expr::{ColumnRef, Expr, ExprKind};

use super::access::{Also, Choice, Methods, Paths, Table};
use super::cost;
use super::dive::DiveBasis;
use super::index_condition;
use super::join_list::{Item, JoinList};
use super::join_order::{How, JoinPlan, Step};
use crate::plan::{Path, RelationColumns};

/// Most entries that are gathered, as a dive estimates: about 10 MiB of keys.
const GATHERED_MAX: f64 = 200_000.0;
/// Most paths that are paired with one another.
const PATHS_MAX: usize = 8;

/// Looks for intersections.
pub(super) fn allow(methods: &mut Methods) {
    methods.paths.push(add);
}

fn add(paths: &mut Paths<'_>) -> ControlFlow<()> {
    if paths.bound.is_empty() && paths.table.def.indexes.len() > 1 {
        let both = best(&paths.table, &paths.found, paths.conditions);
        paths.found.extend(both.map(Box::new));
    }
    ControlFlow::Continue(())
}

/// The cheapest intersection of two of the paths `found`.
fn best(table: &Table<'_>, found: &[Box<Choice>], conditions: &[&Expr]) -> Option<Choice> {
    let rels = table.rels;
    if rels.locked || rels.reads_lock || rels.has_limit {
        return None;
    }
    let parts = found.iter().map(|choice| &**choice).filter(|choice| is_part(choice));
    let paths: Vec<&Choice> = parts.take(PATHS_MAX).collect();
    let pairs = paths.iter().flat_map(|first| paths.iter().map(move |second| (*first, *second)));
    let useful = pairs.filter(|(first, second)| {
        let adds = |a: &Choice, b: &Choice| a.ensured.iter().any(|at| !b.ensured.contains(at));
        first.path.index() != second.path.index() && adds(first, second) && adds(second, first)
    });
    let choices = useful.filter_map(|(first, second)| intersection(table, first, second, conditions));
    choices.min_by(|a, b| a.cost.total_cmp(&b.cost))
}

/// Whether `choice` finds rows by entries of a secondary index, as many as a dive estimated.
fn is_part(choice: &Choice) -> bool {
    matches!(choice.path, Path::Range { .. } | Path::Intervals { .. })
        && choice.path.index() != 0
        && !choice.covering
        && choice.needs.is_empty()
        && choice.path.subqueries().is_empty()
        && !choice.ensured.is_empty()
        && choice.dived.as_ref().is_some_and(DiveBasis::is_of_path)
}

/// The rows of `first` that `second` finds as well.
fn intersection(table: &Table<'_>, first: &Choice, second: &Choice, conditions: &[&Expr]) -> Option<Choice> {
    if second.rows > GATHERED_MAX {
        return None;
    }
    let mut ensured = first.ensured.clone();
    ensured.extend(second.ensured.iter().filter(|at| !first.ensured.contains(at)));
    let read = columns_of_entries(table, first, &ensured, conditions);
    let entry = cost::NEXT_ROW * cost::width(true);
    let gathering = entry + cost::HASH_ROW;
    let rows = (first.rows * second.rows / table.rels.get(table.rel).rows).max(1.0);
    let lookups = if read.is_some() { 0.0 } else { rows * cost::LOOKUP };
    let starts = start(&first.path) + start(&second.path);
    let cost = starts + first.rows * (entry + cost::LIST_PROBE) + second.rows * gathering + lookups;
    let dived = DiveBasis::of_intersection(second, cost, gathering);
    let covering = read.is_some();
    let second = Choice { covering: true, ..second.clone() };
    let also = Some(Box::new(Also { choice: second, read }));
    Some(Choice { covering, ensured, rows, cost, dived, also, ..first.clone() })
}

/// Cost of finding the first entries.
fn start(path: &Path) -> f64 {
    match path {
        Path::Intervals { keys, .. } => cost::stretches(keys.len()),
        _ => cost::DESCENT,
    }
}

/// The columns that a query of this table alone reads of the entries of `first`, once the conditions
/// `ensured` hold; `None` if they do not have them all.
fn columns_of_entries(
    table: &Table<'_>,
    first: &Choice,
    ensured: &[usize],
    conditions: &[&Expr],
) -> Option<RelationColumns> {
    if table.rels.tables() > 1 {
        return None;
    }
    let mut read = table.rels.get(table.rel).shown.clone();
    let tested = conditions.iter().enumerate().filter(|(at, _)| !ensured.contains(at));
    for (_, condition) in tested {
        condition.walk(&mut |e| match e.kind {
            ExprKind::Column(ColumnRef { rel, col }) if rel == table.rel => read.insert(col),
            _ => {}
        });
    }
    let have = index_condition::entry_columns(table.def, &table.def.indexes[first.path.index()]);
    let suffices = read.is_subset(&have);
    suffices.then_some(read)
}

/// The columns that the only step of `join_plan` reads of its relation, if entries of two indexes suffice.
pub(super) fn columns_read(list: &JoinList, join_plan: &JoinPlan) -> Option<(u16, RelationColumns)> {
    let [Step { item, how: How::Access(choice), .. }] = &join_plan.steps[..] else { return None };
    let Item::Rel(rel) = list.items[*item] else { return None };
    Some((rel, choice.also.as_ref()?.read.clone()?))
}
