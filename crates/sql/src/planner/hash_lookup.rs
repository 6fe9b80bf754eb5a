//! Hash tables that the runs of a correlated subquery share: rows that no key leads to are read once, and
//! each run looks up those that an equality with outer columns asks for.
//!
//! ```text
//! EXISTS (SELECT 1 FROM t WHERE t.a = outer.a AND t.b > outer.b AND t.c = 1)
//!                               key               tested          whose rows are read: own
//! ```
//! Whether a statement has enough runs is seen when it runs: the first ones read the table.

use expr::{CmpDomain, CmpOp, Expr, ExprKind};

use super::access::{self, Methods};
use super::cost;
use super::draft::Draft;
use super::goal::Goal;
use super::join_list::Item;
use super::join_order::{How, JoinPlan, Step};
use super::relations::{Rel, RelKind, RelSet, Rels};
use crate::bind::rewrite;
use crate::bind::volatile::is_volatile;
use crate::plan::SharedCost;

/// Looking a key up, beside the rows that it finds.
const PROBE: f64 = 0.3;
/// Reading a row of the hash table.
const FOUND_ROW: f64 = 0.05;
/// A run by the table must cost this many times a run by the hash table, which takes memory, and no less
/// than this.
const WORTH: f64 = 2.0;
const COST_MIN: f64 = 10.0;

/// Allows them.
pub(super) fn allow(methods: &mut Methods) {
    methods.hash_lookup = true;
}

/// How rows of the first relation of a join plan are found by a hash table.
pub(super) struct Lookup {
    /// How the rows are read for all runs.
    pub(super) how: How,
    /// Conditions on these that `how` does not ensure.
    pub(super) own: Vec<Expr>,
    /// Outer value, value of the row, domain of their comparison.
    pub(super) keys: Vec<(Expr, Expr, CmpDomain)>,
    /// Other conditions on the relation, without those that run subqueries.
    pub(super) on: Vec<Expr>,
    /// Rows that runs without the hash table have read before it is made. `None`: the first run makes it.
    pub(super) after: Option<u64>,
    /// The cost of runs.
    pub(super) cost: SharedCost,
}

/// How the hash table of the first step of `join_plan` is made, if that promises to save work where a run
/// costs `cost`.
pub(super) fn find(join_plan: &JoinPlan, cost: f64, draft: &Draft<'_>) -> Option<Box<Lookup>> {
    let (list, rels) = (&draft.list, &draft.rels);
    if !draft.params.is_inside() || !draft.methods.hash_lookup || rels.locked || cost < COST_MIN {
        return None;
    }
    let step = join_plan.steps.first()?;
    let Item::Rel(rel) = list.items[step.item] else { return None };
    if !is_replaceable(&step.how) {
        return None;
    }
    let here = RelSet::of(rel);
    let (mut keys, mut own, mut on) = (Vec::new(), Vec::new(), Vec::new());
    let places = (0..list.conditions.len()).filter(|&at| list.named[at].within(here));
    for condition in places.map(|at| &list.conditions[at]) {
        if is_volatile(condition) {
            return None;
        }
        if rewrite::has_subquery(condition) {
            continue;
        }
        match key(condition, here, rels) {
            Some(key) => keys.push(key),
            None if is_shared(condition, rels) && !rels.of(condition).is_empty() => own.push(condition),
            None => on.push(condition.clone()),
        }
    }
    if keys.is_empty() {
        return None;
    }
    let Reading { how, rest, rows, cost: reading, after } = reading(rel, &own, draft)?;
    let found = rows * cost::EQUAL_SHARE.powi(keys.len() as i32);
    let run = PROBE + found * FOUND_ROW + cost_of_others(join_plan).min(cost);
    let runs = SharedCost { once: (reading + rows * cost::HASH_ROW) as f32, run: run as f32 };
    (run * WORTH < cost).then(|| Box::new(Lookup { how, own: rest, keys, on, after, cost: runs }))
}

/// Whether rows that are found by `how` may be found in another way.
fn is_replaceable(how: &How) -> bool {
    match how {
        How::Access(choice) => {
            choice.arms.is_empty() && choice.also.is_none() && choice.path.subqueries().is_empty()
        }
        How::Derived => true,
        How::Left(_) => false,
    }
}

/// The cost of the steps after the first one.
fn cost_of_others(join_plan: &JoinPlan) -> f64 {
    let first = match join_plan.steps.first() {
        Some(Step { how: How::Access(choice), .. }) => choice.cost,
        Some(step) => step.given * cost::NEXT_ROW,
        None => 0.0,
    };
    (join_plan.cost - first).max(0.0)
}

/// How all rows that a hash table needs are read.
struct Reading {
    how: How,
    /// Conditions to be tested.
    rest: Vec<Expr>,
    rows: f64,
    cost: f64,
    after: Option<u64>,
}

/// How the rows of relation `rel` that satisfy the conditions `own` are read.
fn reading(rel: u16, own: &[&Expr], draft: &Draft<'_>) -> Option<Reading> {
    let rels = &draft.rels;
    let Rel { kind, rows, present, .. } = rels.get(rel);
    match kind {
        RelKind::Table { .. } => {
            let of = (rels, &draft.methods);
            let choice = access::choices(rel, own, RelSet::EMPTY, Goal::default(), of).swap_remove(0);
            let is_left = |at: &usize| !choice.ensured.contains(at);
            let rest = (0..own.len()).filter(is_left).map(|at| own[at].clone()).collect();
            let (rows, cost) = (choice.rows, choice.cost);
            Some(Reading { how: How::Access(choice), rest, rows, cost, after: Some((rows * present) as u64) })
        }
        RelKind::Derived { plan: Some(plan), .. } => {
            let is_shared = !plan.reads_params(&rels.fixed.outer_columns()) && !plan.any_expr(&is_volatile);
            let rest = own.iter().map(|&condition| condition.clone()).collect();
            // They are kept from run to run in any case.
            is_shared.then_some(Reading { how: How::Derived, rest, rows: *rows, cost: 0.0, after: None })
        }
        _ => None,
    }
}

/// Those of `conditions` that run subqueries.
pub(super) fn with_subqueries(conditions: &[Expr]) -> Vec<Expr> {
    conditions.iter().filter(|condition| rewrite::has_subquery(condition)).cloned().collect()
}

/// Whether runs that share a hash table of relation `rel` may find its rows by `condition`.
pub(super) fn is_key(condition: &Expr, rel: u16, rels: &Rels, methods: &Methods) -> bool {
    methods.hash_lookup && key(condition, RelSet::of(rel), rels).is_some()
}

/// The sides of an equality of something outside with a value of the rows of `here`, and its domain.
fn key(condition: &Expr, here: RelSet, rels: &Rels) -> Option<(Expr, Expr, CmpDomain)> {
    let ExprKind::Compare { op: CmpOp::Eq, domain, args } = &condition.kind else { return None };
    let sides = [(&args[0], &args[1]), (&args[1], &args[0])];
    let is_key = |(a, b): &(&Expr, &Expr)| rels.of(a).is_empty() && rels.of(b) == here && is_shared(b, rels);
    sides
        .into_iter()
        .find(is_key)
        .filter(|(a, _)| !is_shared(a, rels))
        .map(|(a, b)| (a.clone(), b.clone(), *domain))
}

/// Whether `expr` has the same value for a row in all runs: it reads no outer column, and no variable.
fn is_shared(expr: &Expr, rels: &Rels) -> bool {
    let mut shared = true;
    expr.walk(&mut |e| {
        shared &= match e.kind {
            ExprKind::Param(number) => rels.fixed.param(number),
            ExprKind::UserVar(_) | ExprKind::SysVar { .. } => false,
            _ => true,
        };
    });
    shared
}
