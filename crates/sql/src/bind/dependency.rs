//! Functional dependencies: which columns have one value within a group.

use expr::{CmpOp, ColumnRef, Expr, ExprKind};
use types::IndexKind;

use super::block::{Block, JoinTree, Kind, Source, outer_id};

/// Columns of base tables that are determined by the group expressions: themselves, columns equal to determined values,
/// and all columns of a table one of whose unique keys is determined and has no NULL: its columns are declared so, or a
/// condition refuses NULL.
pub(super) fn determined(groups: &[Expr], block: &Block) -> Vec<ColumnRef> {
    let mut known: Vec<ColumnRef> = groups.iter().filter_map(as_column).collect();
    let mut facts = Facts::default();
    for condition in &block.filter {
        facts.add(condition, None);
    }
    join_facts(&block.from, &mut facts);
    loop {
        let before = known.len();
        for fact in &facts.equalities {
            if !known.contains(&fact.column) && fact.from.iter().all(|c| known.contains(c)) {
                known.push(fact.column);
            }
        }
        for (rel, source) in block.rels.iter().enumerate() {
            close_over_keys(rel as u16, source, &facts.not_null, &mut known);
        }
        if known.len() == before {
            return known;
        }
    }
}

/// What the conditions say of all rows. In the condition of a left join (`inner`: its inner side) that is said of the inner
/// side's columns alone, and not of the rows without a partner, where all of these are NULL.
#[derive(Default)]
struct Facts {
    equalities: Vec<Fact>,
    /// Columns for which NULL fails a condition.
    not_null: Vec<ColumnRef>,
}

impl Facts {
    fn add(&mut self, condition: &Expr, inner: Option<&[u16]>) {
        equality_facts(condition, inner, &mut self.equalities);
        refused_nulls(condition, &mut |column| {
            if inner.is_none_or(|rels| rels.contains(&column.rel)) {
                self.not_null.push(column);
            }
        });
    }
}

/// Calls `found` with each column that is an operand of `condition` itself, where it is not true for NULL.
fn refused_nulls(condition: &Expr, found: &mut dyn FnMut(ColumnRef)) {
    let operands = match &condition.kind {
        ExprKind::Column(column) => return found(*column),
        // NOT keeps the NULL that these have for NULL.
        ExprKind::Not(term)
            if matches!(
                term.kind,
                ExprKind::Compare { .. } | ExprKind::In { .. } | ExprKind::Like { .. }
            ) =>
        {
            return refused_nulls(term, found);
        }
        ExprKind::Compare { op, args, .. } if *op != CmpOp::NullSafeEq => &args[..],
        ExprKind::Between { negated: false, args, .. } => &args[..],
        ExprKind::In { needle, .. } => std::slice::from_ref(&**needle),
        ExprKind::Like { args, .. } => return args.iter().filter_map(as_text_column).for_each(found),
        ExprKind::IsNull { negated: true, arg } => std::slice::from_ref(&**arg),
        _ => return,
    };
    operands.iter().filter_map(as_column).for_each(found);
}

/// The column that an operand of LIKE is, converted to text where it is none.
fn as_text_column(expr: &Expr) -> Option<ColumnRef> {
    match &expr.kind {
        ExprKind::Cast { arg, name: None } => as_column(arg),
        _ => as_column(expr),
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

fn join_facts(tree: &JoinTree, facts: &mut Facts) {
    let JoinTree::Join { kind, left, right, on } = tree else { return };
    let inner = right.rels();
    for condition in on {
        facts.add(condition, (*kind == Kind::Left).then_some(&inner));
    }
    join_facts(left, facts);
    join_facts(right, facts);
}

fn close_over_keys(rel: u16, source: &Source, not_null: &[ColumnRef], known: &mut Vec<ColumnRef>) {
    let Source::Table { def, .. } = source else { return };
    let has_key = def.indexes.iter().any(|index| {
        index.kind != IndexKind::Secondary
            && !index.parts.is_empty()
            && index.parts.iter().all(|part| {
                let column = ColumnRef { rel, col: part.column };
                part.prefix_len.is_none()
                    && known.contains(&column)
                    && (!def.columns[usize::from(part.column)].nullable || not_null.contains(&column))
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
