//! A disjunction whose terms different indexes serve: an access for each term, one after the other.
//!
//! ```text
//! WHERE (a = 1 OR b = 2) AND c > 3      by a: a = 1, of which c > 3
//!                                       by b: b = 2, of which c > 3 AND (a = 1) IS NOT TRUE
//! ```
//! A read of a snapshot leaves out in each access what those before it find, so it keeps no keys of returned
//! rows. A locking read sees each row as it is at that moment: another transaction may change a row between
//! two accesses so that either leaves it to the other. There each access returns all its rows, and the
//! clustered keys of those returned are kept.

use std::ops::ControlFlow;

use expr::{Expr, ExprKind};
use types::{KeyPart, TableDef};

use super::access::{Arm, Choice, Methods, Paths, index_positions};
use super::cost;
use super::ordering::Ordering;
use super::relations::{RelKind, RelSet, Rels};
use super::sarg::{self, Tree};
use crate::bind::volatile::is_volatile;
use crate::bind::{conjuncts, rewrite};
use crate::plan::Node;

/// Most terms that are looked up one by one: the last one's rows are tested for all others.
const ARMS_MAX: usize = 16;

/// Looks for merges.
pub(super) fn allow(methods: &mut Methods) {
    methods.paths.push(add);
}

/// Adds the merges that disjunctions among the conditions allow. An index that ensures a disjunction finds
/// its rows and no others.
fn add(paths: &mut Paths<'_>) -> ControlFlow<()> {
    let Paths { table, hinted, conditions, bound, found, .. } = paths;
    let best = |conditions: &[&Expr]| {
        let trees: Vec<Tree<'_>> =
            conditions.iter().map(|c| sarg::of(c, table.rel, *bound, table.rels)).collect();
        let keyed = index_positions(table.def, *hinted).filter_map(|index| table.keyed(index, &trees));
        keyed.min_by(|a, b| a.cost.total_cmp(&b.cost)).map(|choice| *choice)
    };
    let single = found.len();
    for at in 0..conditions.len() {
        let is_or = matches!(conditions[at].kind, ExprKind::Or(_));
        let is_ensured = || found[..single].iter().any(|choice| choice.ensured.contains(&at));
        if is_or
            && !is_ensured()
            && let Some(choice) = merge(table.def, conditions, at, table.rels, &best)
        {
            found.push(Box::new(choice));
        }
    }
    ControlFlow::Continue(())
}

/// The node that returns the rows of `arms`, accesses of relation `rel`, each once.
pub(super) fn node(rel: u16, arms: Vec<Node>, rels: &Rels) -> Node {
    let merge = Node::Merge { arms };
    let RelKind::Table { def, .. } = &rels.get(rel).kind else { return merge };
    if !rels.locked {
        return merge;
    }
    let column = |part: &KeyPart| {
        let column = &def.columns[usize::from(part.column)];
        rels.build.column(rel, part.column, column.ty.clone(), column.nullable)
    };
    Node::Distinct { input: Box::new(merge), exprs: def.clustered().parts.iter().map(column).collect() }
}

fn merge(
    def: &TableDef,
    conditions: &[&Expr],
    at: usize,
    rels: &Rels,
    best: &impl Fn(&[&Expr]) -> Option<Choice>,
) -> Option<Choice> {
    let ExprKind::Or(terms) = &conditions[at].kind else { return None };
    let is_free = |e: &Expr| !rewrite::has_subquery(e) && !is_volatile(e);
    if terms.len() > ARMS_MAX || !is_free(conditions[at]) || (rels.locked && !has_whole_key(def)) {
        return None;
    }
    let beside: Vec<usize> = (0..conditions.len()).filter(|&n| n != at && is_free(conditions[n])).collect();
    let mut arms: Vec<Arm> = Vec::with_capacity(terms.len());
    let mut cost = 0.0;
    for (n, term) in terms.iter().enumerate() {
        let mut split = Vec::new();
        conjuncts::split(term.clone(), &mut split);
        let own: Vec<&Expr> = beside.iter().map(|&n| conditions[n]).chain(&split).collect();
        let choice = best(&own)?;
        let mut filter: Vec<Expr> =
            (0..own.len()).filter(|at| !choice.ensured.contains(at)).map(|at| own[at].clone()).collect();
        if !rels.locked {
            filter.extend(terms[..n].iter().map(|before| rels.build.is_truth(before.clone(), true, true)));
        }
        cost += choice.cost + choice.rows * filter.iter().map(cost::test).sum::<f64>();
        arms.push(Arm { choice, filter });
    }
    let first = &arms.first()?.choice;
    if arms.iter().all(|arm| arm.choice.path.index() == first.path.index()) {
        return None;
    }
    let rows = arms.iter().map(|arm| arm.choice.rows).sum();
    let needs = arms.iter().fold(RelSet::EMPTY, |set, arm| set.with(arm.choice.needs));
    let mut ensured = beside;
    ensured.push(at);
    let path = first.path.clone();
    let order = Ordering::default();
    Some(Choice { path, covering: false, ensured, rows, cost, needs, order, dived: None, arms, also: None })
}

/// Whether columns alone identify each row of the table.
fn has_whole_key(def: &TableDef) -> bool {
    !def.hidden_row_id && def.clustered().parts.iter().all(|part| part.prefix_len.is_none())
}
