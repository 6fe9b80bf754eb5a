//! Functional dependencies: which columns have one value within a group.

use expr::{CmpOp, ColumnRef, Expr, ExprKind};
use types::IndexKind;

use super::block::{Block, JoinTree, Kind, Source, outer_id};

/// Columns of base tables that are determined by the group expressions: themselves, columns equal to determined values,
/// and all columns of a table one of whose unique keys is determined.
pub(super) fn determined(groups: &[Expr], block: &Block) -> Vec<ColumnRef> {
    let mut known: Vec<ColumnRef> = groups.iter().filter_map(as_column).collect();
    let mut facts = Vec::new();
    for condition in &block.filter {
        equality_facts(condition, None, &mut facts);
    }
    join_facts(&block.from, &mut facts);
    loop {
        let before = known.len();
        for fact in &facts {
            if !known.contains(&fact.column) && fact.from.iter().all(|c| known.contains(c)) {
                known.push(fact.column);
            }
        }
        for (rel, source) in block.rels.iter().enumerate() {
            close_over_keys(rel as u16, source, &mut known);
        }
        if known.len() == before {
            return known;
        }
    }
}

/// `column` has one value for each combination of values of `from`.
struct Fact {
    column: ColumnRef,
    from: Vec<ColumnRef>,
}

fn as_column(expr: &Expr) -> Option<ColumnRef> {
    match expr.kind {
        ExprKind::Column(column) => Some(column),
        _ => None,
    }
}

/// What `a = b` says. In the condition of a left join it binds columns of the inner side (`inner`) only.
fn equality_facts(condition: &Expr, inner: Option<&[u16]>, facts: &mut Vec<Fact>) {
    let ExprKind::Compare { op: CmpOp::Eq, args, .. } = &condition.kind else { return };
    for (side, other) in [(&args[0], &args[1]), (&args[1], &args[0])] {
        let Some(column) = as_column(side) else { continue };
        if inner.is_some_and(|rels| !rels.contains(&column.rel)) {
            continue;
        }
        let mut from = Vec::new();
        let mut is_plain = true;
        other.walk(&mut |e| match e.kind {
            ExprKind::Column(c) if outer_id(c.rel).is_none() => from.push(c),
            ExprKind::Subquery { .. } => is_plain = false,
            _ => {}
        });
        if is_plain {
            facts.push(Fact { column, from });
        }
    }
}

fn join_facts(tree: &JoinTree, facts: &mut Vec<Fact>) {
    let JoinTree::Join { kind, left, right, on } = tree else { return };
    let inner = right.rels();
    for condition in on {
        equality_facts(condition, (*kind == Kind::Left).then_some(&inner), facts);
    }
    join_facts(left, facts);
    join_facts(right, facts);
}

fn close_over_keys(rel: u16, source: &Source, known: &mut Vec<ColumnRef>) {
    let Source::Table { def, .. } = source else { return };
    let has_key = def.indexes.iter().any(|index| {
        index.kind != IndexKind::Secondary
            && !index.parts.is_empty()
            && index.parts.iter().all(|part| {
                part.prefix_len.is_none()
                    && !def.columns[usize::from(part.column)].nullable
                    && known.contains(&ColumnRef { rel, col: part.column })
            })
    });
    if has_key {
        for col in 0..def.columns.len() as u16 {
            let column = ColumnRef { rel, col };
            if !known.contains(&column) {
                known.push(column);
            }
        }
    }
}
