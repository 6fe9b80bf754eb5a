//! Loose index scans: DISTINCT, and MIN and MAX of the index part that follows the grouped ones, need only
//! the ends of groups.
//!
//! ```text
//! key (a, b, c)    SELECT a, MIN(b) .. GROUP BY a                     the first row of each a
//!                  SELECT a, MAX(c) .. WHERE b = 5 GROUP BY a         the last row of each a with b = 5
//!                  SELECT a, MAX(b) .. WHERE a IN (1, 2) GROUP BY a   the last row of these two
//! ```
//! Where groups are large, jumping from one to the next is cheaper than reading them. Conditions on the
//! groups' own columns that the index does not decide are tested on the rows taken.

use std::ops::Range;

use expr::{AggFunc, ColumnRef, Expr, ExprKind};
use types::{ColumnDef, IndexDef, KeyColumn, KeyPart, SqlType};

use super::access::{self, Stretch, Table};
use super::cost;
use super::draft::Draft;
use super::join_list::{Item, JoinList};
use super::join_node;
use super::join_order;
use super::key_boxes::{self, Boxes};
use super::ordering::{self, Ordering};
use super::relations::{RelKind, RelSet, Rels};
use super::sarg::{self, Test, Tree};
use super::skip_scan;
use crate::bind::block::{Aggregation, Block};
use crate::bind::rewrite;
use crate::bind::volatile::is_volatile;
use crate::plan::{Estimate, Node, Path, Skip, Take};

/// Longest string, in characters, whose key part is whole under every collation: no two values share one.
const TEXT_CHARS_MAX: u32 = 100;

/// The values that a query needs of its groups.
struct Wanted {
    /// Columns whose combinations of values are the groups.
    columns: Vec<u16>,
    /// The column whose ends are asked for.
    ends: Option<u16>,
    min: bool,
    max: bool,
}

/// Takes the ends of groups in the place of a join plan that costs more.
pub(super) fn apply(draft: &mut Draft<'_>) {
    let Some(join_plan) = &draft.join_plan else { return };
    if draft.methods.only.is_some() {
        return;
    }
    let price = join_order::cost_for_goal(join_plan, draft.goal());
    if let Some((node, order, estimate)) = plan(draft.block, &draft.list, price, &draft.rels) {
        draft.join_plan = None;
        draft.set_rows(node, order, estimate);
    }
}

/// The ends of the groups of `block`, a query of one table, their order, and what they come to; `None` if
/// they do not suffice for what is asked, or that costs more than `other`.
fn plan(block: &Block, list: &JoinList, other: f64, rels: &Rels<'_>) -> Option<(Node, Ordering, Estimate)> {
    let [Item::Rel(rel)] = list.items[..] else { return None };
    let RelKind::Table { def, indexes, .. } = &rels.get(rel).kind else { return None };
    if rels.locked || rels.get(rel).statistics.is_none() {
        return None;
    }
    let wanted = wanted(block, rel)?;
    let table = Table { rel, def, rels, wants_order: true };
    let trees: Vec<Tree<'_>> =
        list.conditions.iter().map(|c| sarg::of(c, rel, RelSet::EMPTY, rels)).collect();
    let indexes = access::index_positions(def, indexes.as_ref());
    let found = indexes.filter_map(|index| by_index(&table, index, &wanted, (&list.conditions, &trees)));
    let best = found.min_by(|a, b| a.2.cost.total_cmp(&b.2.cost));
    best.filter(|(.., estimate)| estimate.cost < other)
}

/// What `block` asks of the groups of relation `rel`, if it is no more than their ends.
fn wanted(block: &Block, rel: u16) -> Option<Wanted> {
    let column = |e: &Expr| match e.kind {
        ExprKind::Column(ColumnRef { rel: of, col }) if of == rel => Some(col),
        _ => None,
    };
    let mut wanted = Wanted { columns: Vec::new(), ends: None, min: false, max: false };
    let groups: Vec<&Expr> = match &block.aggregation {
        Some(Aggregation { groups, aggs, .. }) => {
            for spec in aggs {
                let [arg] = &spec.args[..] else { return None };
                let of = column(arg)?;
                match spec.func {
                    AggFunc::Min => wanted.min = true,
                    AggFunc::Max => wanted.max = true,
                    _ => return None,
                }
                if *wanted.ends.get_or_insert(of) != of {
                    return None;
                }
            }
            groups.iter().collect()
        }
        None if block.distinct && block.computed.is_none() => {
            block.output.iter().map(|item| &item.expr).filter(|e| !ordering::is_constant(e)).collect()
        }
        None => return None,
    };
    for group in groups {
        let column = column(group)?;
        if !wanted.columns.contains(&column) {
            wanted.columns.push(column);
        }
    }
    (!wanted.columns.is_empty()).then_some(wanted)
}

fn by_index(
    table: &Table<'_>,
    index: usize,
    wanted: &Wanted,
    (conditions, trees): (&[Expr], &[Tree<'_>]),
) -> Option<(Node, Ordering, Estimate)> {
    let def = &table.def.indexes[index];
    if index != 0 && !table.covers(def) {
        return None;
    }
    let groups = grouped_parts(table, def, wanted)?;
    let is_of_groups = |&at: &usize| is_of_groups(&conditions[at], table, &def.parts[groups.clone()]);
    let (of_groups, rest): (Vec<usize>, Vec<usize>) = (0..conditions.len()).partition(is_of_groups);
    let Left { lead, within, stretch } = left_of_groups(table, def, &groups, (trees, &rest))?;
    let take = ends(table, def.parts.get(groups.end + stretch.eq.len()), wanted, &stretch)?;
    let estimate = estimate(table, index, &groups, (within.as_ref(), take))?;
    let is_untested = |at: &&usize| !within.as_ref().is_some_and(|within| within.ensured.contains(at));
    let untested = of_groups.iter().filter(is_untested).map(|&at| conditions[at].clone()).collect();
    let order = table.order(def, || within.as_ref().map_or(lead.len(), Boxes::constants));
    let skipped = if within.is_some() { groups.end } else { groups.len() };
    let within = within.map(|within| within.to_plan());
    let Stretch { eq, null_safe, lower, upper } = stretch;
    let null_safe = null_safe.to_vec();
    let skip = Skip { lead, skipped, within, eq, null_safe, lower, upper, take };
    let node = Node::Access {
        rel: table.rel,
        path: Path::Skip { index, skip: Box::new(skip) },
        filter: join_node::all(untested, table.rels),
        index_condition: None,
        covering: index != 0,
    };
    Some((node, order, estimate))
}

/// What conditions leave of an index.
struct Left<'c> {
    /// Equal parts before those of the groups; none if there is `within`.
    lead: Vec<Expr>,
    /// Keys that the parts up to the last one of the groups are confined to, if conditions are about those of
    /// the groups.
    within: Option<Boxes<'c>>,
    /// The stretch of each group. Its `null_safe` begin with those of `lead`.
    stretch: Stretch,
}

/// What the conditions `trees` leave of `index`, if that ensures those at the positions `rest`.
fn left_of_groups<'c>(
    table: &Table<'_>,
    index: &IndexDef,
    groups: &Range<usize>,
    (trees, rest): (&[Tree<'c>], &[usize]),
) -> Option<Left<'c>> {
    let (before, behind) = index.parts.split_at(groups.end);
    let within = within(table, before, groups.start, trees);
    let lead = if within.is_some() { 0 } else { groups.start };
    let parts: Vec<&KeyPart> = before[..lead].iter().chain(behind).collect();
    let mut ensured = within.as_ref().map_or_else(Vec::new, |within| within.ensured.clone());
    let mut stretch = Stretch::default();
    if let Some(boxes) = key_boxes::of(&parts, trees, table.rels) {
        stretch = table.one_stretch(&parts, &boxes)?;
        ensured.extend(boxes.ensured);
    }
    if stretch.eq.len() < lead || !rest.iter().all(|at| ensured.contains(at)) {
        return None;
    }
    let behind_lead = stretch.eq.split_off(lead);
    let lead = std::mem::replace(&mut stretch.eq, behind_lead);
    Some(Left { lead, within, stretch })
}

/// The keys of `parts`, of which the first `lead` are before those of the groups, that `trees` leave, if they
/// have one value in each of those first parts and say something about the others.
fn within<'c>(table: &Table<'_>, parts: &[KeyPart], lead: usize, trees: &[Tree<'c>]) -> Option<Boxes<'c>> {
    let parts: Vec<&KeyPart> = parts.iter().collect();
    let boxes = key_boxes::of(&parts, trees, table.rels)?;
    let tests = || boxes.list.iter().flatten();
    let is_of_use = boxes.constants() >= lead && tests().any(|placed| usize::from(placed.part) >= lead);
    let runs_subquery = tests().any(|placed| matches!(placed.test, Test::InSubquery(..)));
    (is_of_use && !runs_subquery).then_some(boxes)
}

/// The rows of a group's `stretch` that decide its result; `next`: the part after the equal ones.
fn ends(table: &Table<'_>, next: Option<&KeyPart>, wanted: &Wanted, stretch: &Stretch) -> Option<Take> {
    let Some(column) = wanted.ends else {
        return Some(Take::Ends { first: true, not_null: false, last: false });
    };
    let part = next.filter(|part| part.column == column && part.prefix_len.is_none())?;
    let is_bounded = stretch.lower.is_some() || stretch.upper.is_some();
    let has_nulls = table.def.columns[usize::from(column)].nullable && !is_bounded;
    match part.desc {
        false => Some(Take::Ends { first: wanted.min, not_null: wanted.min && has_nulls, last: wanted.max }),
        // The last rows may be NULLs, which do not count.
        true if wanted.min && has_nulls => None,
        true => Some(Take::Ends { first: wanted.max, not_null: false, last: wanted.min }),
    }
}

/// What it comes to to take `take` of each group.
fn estimate(
    table: &Table<'_>,
    index: usize,
    groups: &Range<usize>,
    (within, take): (Option<&Boxes<'_>>, Take),
) -> Option<Estimate> {
    let Take::Ends { first, not_null, last } = take else { return None };
    let rel = table.rels.get(table.rel);
    let known = rel.statistics.as_deref()?.keys.get(index)?;
    let (lead, skipped) = if within.is_some() { (0, groups.end) } else { (groups.start, groups.len()) };
    let all = skip_scan::Estimate::new(rel.rows, known, lead, skipped);
    let share = within.map_or(1.0, |within| {
        table.estimate(&table.def.indexes[index], Some(known), within) / rel.rows.max(1.0)
    });
    let jumps = (all.jumps * share).max(1.0);
    let ends = f64::from(u8::from(first) + u8::from(not_null) + u8::from(last));
    let areas = cost::stretches(within.map_or(1, Boxes::stretches));
    Some(Estimate::new(jumps * ends, areas + jumps * cost::jump(all.rows / all.jumps, ends)))
}

/// Whether all rows of a group agree in whether `condition` holds: it names columns of `parts` alone, whose
/// keys are their values.
fn is_of_groups(condition: &Expr, table: &Table<'_>, parts: &[KeyPart]) -> bool {
    let mut is_of_groups = !rewrite::has_subquery(condition) && !is_volatile(condition);
    condition.walk(&mut |e| {
        if let ExprKind::Column(ColumnRef { rel, col }) = e.kind {
            let part = parts.iter().find(|part| rel == table.rel && part.column == col);
            is_of_groups &= part.is_some_and(|part| is_value(table, part));
        }
    });
    is_of_groups
}

/// Whether the key of `part` gives its value back.
fn is_value(table: &Table<'_>, part: &KeyPart) -> bool {
    let ColumnDef { ty, nullable, .. } = &table.def.columns[usize::from(part.column)];
    let column =
        KeyColumn { ty: ty.clone(), nullable: *nullable, desc: part.desc, prefix_len: part.prefix_len };
    column.encoder().is_some_and(|encoder| encoder.is_reversible())
}

/// The parts of `index` that are the columns of the groups: next to one another, in any order.
fn grouped_parts(table: &Table<'_>, index: &IndexDef, wanted: &Wanted) -> Option<Range<usize>> {
    let is_grouped = |part: &KeyPart| wanted.columns.contains(&part.column);
    let start = index.parts.iter().position(is_grouped)?;
    let end = start + wanted.columns.len();
    let parts = index.parts.get(start..end)?;
    let is_whole = |part: &KeyPart| {
        is_grouped(part)
            && part.prefix_len.is_none()
            && has_whole_keys(&table.def.columns[usize::from(part.column)].ty)
    };
    parts.iter().all(is_whole).then_some(start..end)
}

/// Whether different values have different key bytes.
fn has_whole_keys(ty: &SqlType) -> bool {
    !ty.is_string() || ty.length <= TEXT_CHARS_MAX
}
