//! Expressions that have another value each time, like RAND() and `@n := @n + 1`. A row has one value of each
//! item of the select list nevertheless, whichever clauses read it.

use expr::{ColumnRef, Expr, ExprKind};

use super::block::{Block, Computation, Source};
use super::kept_type::kept_type;
use super::same;
use super::temp_table::is_constant;
use crate::plan::{Column, OutputColumn};

/// Relation of the select list, where HAVING and ORDER BY name volatile items of it.
const SELECTED: u16 = 0x7ffe;

/// Whether `expr` may have another value each time it is evaluated, or does something.
pub(crate) fn is_volatile(expr: &Expr) -> bool {
    let mut found = false;
    expr.walk(&mut |e| {
        found |= match &e.kind {
            ExprKind::AssignUserVar { .. } => true,
            ExprKind::Call { func, .. } => func.is_volatile(),
            _ => false,
        };
    });
    found
}

/// Whether `expr` calls a function that may have another value each time. MySQL computes such a condition for
/// each row of all tables together; an assignment alone is computed for those that it names.
pub(crate) fn calls_volatile(expr: &Expr) -> bool {
    let mut found = false;
    expr.walk(&mut |e| found |= matches!(e.kind, ExprKind::Call { func, .. } if func.is_volatile()));
    found
}

/// The item of the select list at position `at`, as another clause names it: itself, or what stands for its
/// value.
pub(super) fn item(output: &[OutputColumn], at: usize) -> Expr {
    let expr = &output[at].expr;
    if is_volatile(expr) { shown(expr, at) } else { expr.clone() }
}

/// What stands for the value of `expr`, the item of the select list at position `at`.
pub(super) fn shown(expr: &Expr, at: usize) -> Expr {
    Expr::column(SELECTED, at as u16, expr.ty.clone(), expr.nullable)
}

/// Whether `column` stands for an item of the select list.
pub(super) fn is_item(column: ColumnRef) -> bool {
    column.rel == SELECTED
}

/// Puts the items themselves in the place of what stands for their values.
pub(super) fn expand(expr: &mut Expr, output: &[OutputColumn]) {
    match expr.kind {
        ExprKind::Column(column) if is_item(column) => *expr = output[usize::from(column.col)].expr.clone(),
        _ => expr.for_each_child_mut(&mut |child| expand(child, output)),
    }
}

/// Makes the plan compute each volatile item that a clause reads once a row, below DISTINCT, HAVING and ORDER
/// BY. Grouping, which keeps the values that it computes, is bound already.
pub(super) fn compute_once(block: &mut Block, build: &expr::Builder) {
    let Block { having, order, subqueries, distinct, .. } = &*block;
    if having.is_none() && order.is_empty() && subqueries.is_empty() && !distinct {
        return;
    }
    let named = named_items(block);
    if named.is_empty() && !block.distinct {
        return;
    }
    let rel = block.rels.len() as u16;
    let (mut columns, mut exprs) = (Vec::new(), Vec::new());
    for (at, OutputColumn { name, expr, .. }) in block.output.iter_mut().enumerate() {
        let is_column = matches!(expr.kind, ExprKind::Column(_));
        if is_column || !(named.contains(&at) || is_volatile(expr)) {
            continue;
        }
        let (ty, nullable) = (kept_type(expr), expr.nullable);
        let column = Expr::column(rel, columns.len() as u16, ty.clone(), nullable);
        exprs.push(build.coerce(std::mem::replace(expr, column), &ty));
        columns.push(Column { name: (**name).into(), ty, nullable });
    }
    let Block { output, having, order, subqueries, .. } = block;
    for expr in having.iter_mut().chain(order.iter_mut().map(|key| &mut key.expr)) {
        expand(expr, output);
    }
    for column in subqueries.iter_mut().flat_map(|sub| &mut sub.outer).filter(|column| is_item(**column)) {
        if let ExprKind::Column(shown) = output[usize::from(column.col)].expr.kind {
            *column = shown;
        }
    }
    if !exprs.is_empty() {
        block.rels.push(Source::Made { columns });
        block.computed = Some(Computation { rel, exprs });
    }
}

/// Makes the plan compute each item of a DISTINCT list once a row: to find the distinct rows, to sort them
/// and to show them. MySQL warns once of what an item says.
pub(super) fn compute_distinct(block: &mut Block, build: &expr::Builder) {
    let rel = block.computed.as_ref().map_or(block.rels.len() as u16, |made| made.rel);
    let mut made = block.computed.take().unwrap_or(Computation { rel, exprs: Vec::new() });
    let mut columns = Vec::new();
    // MySQL keeps no constants, which so have the digits that they are written with.
    let is_kept = |item: &OutputColumn| item.expr.as_column().is_none() && !is_constant(&item.expr, block);
    let kept: Vec<bool> = block.output.iter().map(is_kept).collect();
    for (OutputColumn { name, expr, .. }, _) in block.output.iter_mut().zip(kept).filter(|(_, kept)| *kept) {
        let (ty, nullable) = (kept_type(expr), expr.nullable);
        let column = Expr::column(rel, made.exprs.len() as u16, ty.clone(), nullable);
        let item = std::mem::replace(expr, column.clone());
        for key in block.order.iter_mut().filter(|key| same::same(&key.expr, &item)) {
            key.expr = column.clone();
        }
        made.exprs.push(build.coerce(item, &ty));
        columns.push(Column { name: (**name).into(), ty, nullable });
    }
    if made.exprs.is_empty() {
        return;
    }
    match block.rels.get_mut(usize::from(rel)) {
        Some(Source::Made { columns: known }) => known.append(&mut columns),
        _ => block.rels.push(Source::Made { columns }),
    }
    block.computed = Some(made);
}

/// Positions of the items that HAVING, ORDER BY or subqueries in them name.
fn named_items(block: &Block) -> Vec<usize> {
    let mut named = Vec::new();
    let mut note = |column: ColumnRef| {
        if is_item(column) {
            named.push(usize::from(column.col));
        }
    };
    for expr in block.having.iter().chain(block.order.iter().map(|key| &key.expr)) {
        expr.walk(&mut |e| {
            if let ExprKind::Column(column) = e.kind {
                note(column);
            }
        });
    }
    for sub in &block.subqueries {
        for column in &sub.outer {
            note(*column);
        }
    }
    named
}
