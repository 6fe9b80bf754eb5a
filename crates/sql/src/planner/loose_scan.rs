//! Loose index scans: DISTINCT, and MIN and MAX of the index part that follows the grouped ones, need only the ends of groups.
//!
//! ```text
//! key (a, b, c)    SELECT a, MIN(b) .. GROUP BY a                   the first row of each a
//!                  SELECT a, MAX(c) .. WHERE b = 5 GROUP BY a       the last row of each a with b = 5
//! ```
//! Where groups are large, jumping from one to the next is cheaper than reading them.

use std::ops::Range;

use expr::{AggFunc, ColumnRef, Expr, ExprKind};
use types::{IndexDef, KeyPart, SqlType};

use super::access::{self, Stretch, Table};
use super::cost;
use super::join_list::{Item, JoinList};
use super::key_boxes;
use super::ordering::{self, Ordering};
use super::relations::{RelKind, RelSet, Rels};
use super::sarg::{self, Tree};
use super::skip_scan::{self, without};
use crate::bind::block::{Aggregation, Block};
use crate::plan::{Estimate, Node, Path, Skip, Take};

/// Longest string, in characters, whose key part is whole under every collation: no two values share one.
const TEXT_CHARS_MAX: u32 = 100;

/// What a query asks of its groups.
struct Wanted {
    /// Columns whose combinations of values are the groups.
    columns: Vec<u16>,
    /// The column whose ends are asked for.
    ends: Option<u16>,
    min: bool,
    max: bool,
}

/// The ends of the groups of `block`, a query of one table, their order, and what they come to; `None` if they do not suffice for what is
/// asked, or that costs more than `other`.
pub(super) fn plan(
    block: &Block,
    list: &JoinList,
    other: f64,
    rels: &Rels<'_>,
) -> Option<(Node, Ordering, Estimate)> {
    let [Item::Rel(rel)] = list.items[..] else { return None };
    let RelKind::Table { def, indexes, .. } = &rels.get(rel).kind else { return None };
    if rels.locked || rels.get(rel).statistics.is_none() {
        return None;
    }
    let wanted = wanted(block, rel)?;
    let table = Table { rel, def, rels, wants_order: true };
    let trees: Vec<Tree<'_>> =
        list.conditions.iter().map(|c| sarg::of(c, rel, RelSet::EMPTY, rels)).collect();
    let indexes = access::index_positions(def, indexes.as_deref());
    let found = indexes.filter_map(|index| by_index(&table, index, &wanted, &trees));
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
    conditions: &[Tree<'_>],
) -> Option<(Node, Ordering, Estimate)> {
    let def = &table.def.indexes[index];
    let groups = grouped_parts(table, def, wanted)?;
    let lead = groups.start;
    let rest = without(def, groups.clone());
    let mut stretch = stretch(table, &rest, conditions)?;
    if stretch.eq.len() < lead || (index != 0 && !table.covers(def)) {
        return None;
    }
    let is_bounded = stretch.lower.is_some() || stretch.upper.is_some();
    let mut take = Take::Ends { first: !wanted.max || wanted.min, not_null: false, last: wanted.max };
    if let Some(column) = wanted.ends {
        let part = rest.parts.get(stretch.eq.len())?;
        if part.column != column || part.desc || part.prefix_len.is_some() {
            return None;
        }
        let is_null_first = table.def.columns[usize::from(column)].nullable && !is_bounded;
        take = Take::Ends { first: wanted.min, not_null: wanted.min && is_null_first, last: wanted.max };
    }
    let rel = table.rels.get(table.rel);
    let known = rel.statistics.as_deref()?.keys.get(index)?;
    let jumps = skip_scan::Estimate::new(rel.rows, known, lead, groups.len()).jumps;
    let Take::Ends { first, not_null, last } = take else { return None };
    let ends = f64::from(u8::from(first) + u8::from(not_null) + u8::from(last));
    let estimate = Estimate { rows: jumps * ends, cost: cost::DESCENT + jumps * (1.0 + ends) * cost::JUMP };
    let eq = stretch.eq.split_off(lead);
    let Stretch { eq: lead_values, null_safe, lower, upper } = stretch;
    let skip = Skip { lead: lead_values, skipped: groups.len(), eq, null_safe, lower, upper, take };
    let node = Node::Access {
        rel: table.rel,
        path: Path::Skip { index, skip: Box::new(skip) },
        filter: None,
        index_condition: None,
        covering: index != 0,
    };
    Some((node, table.order(def, || lead), estimate))
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

/// What `conditions` leave of an index without the parts of the groups, if it is one stretch that ensures them all.
fn stretch(table: &Table<'_>, rest: &IndexDef, conditions: &[Tree<'_>]) -> Option<Stretch> {
    if conditions.is_empty() {
        return Some(Stretch::default());
    }
    let parts: Vec<&KeyPart> = rest.parts.iter().collect();
    let boxes = key_boxes::of(&parts, conditions, table.rels)?;
    let ensures_all = boxes.ensured.len() == conditions.len();
    if ensures_all { table.one_stretch(&parts, &boxes) } else { None }
}
