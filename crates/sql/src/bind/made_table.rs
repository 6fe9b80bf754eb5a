//! Columns of tables that MySQL makes for a statement: of derived tables that it does not merge, of UNION, of groups and of
//! distinct rows. Clients see that a column comes from such a table.

use expr::{AggFunc, ColumnRef, Expr, ExprKind};
use types::{CollationId, IndexKind, KeyPart, LobSize, SqlType, TypeKind};

use super::block::{Block, JoinTree, Source};
use crate::plan::{AggSpec, Column, Origin, OutputColumn};

/// From this width on an integer is a BIGINT.
const BIGINT_WIDTH_MIN: u32 = 10;
/// Longer texts are TEXT and BLOB.
const VARCHAR_CHARS_MAX: u32 = 512;

/// Makes the columns of a query's result those of a table: calculated values get the types of table columns, and none is
/// part of a key.
pub(super) fn keep(columns: &mut [Column], origins: &mut [Option<Origin>], output: &[OutputColumn]) {
    for ((column, origin), shown) in columns.iter_mut().zip(origins).zip(output) {
        if !matches!(shown.expr.kind, ExprKind::Column(_)) {
            keep_type(&mut column.ty);
        }
        let mut kept = origin.take().unwrap_or_default().without_keys();
        kept.is_value = false;
        *origin = Some(kept);
    }
}

fn keep_type(ty: &mut SqlType) {
    match ty.kind {
        TypeKind::BigInt if ty.width() < BIGINT_WIDTH_MIN => ty.kind = TypeKind::Int,
        TypeKind::VarChar | TypeKind::VarBinary if ty.length > VARCHAR_CHARS_MAX => {
            let bytes = u64::from(ty.length) * u64::from(ty.max_char_bytes());
            let size = if bytes <= LobSize::Normal.max_bytes() { LobSize::Normal } else { LobSize::Medium };
            let is_binary = ty.collation == CollationId::BINARY;
            ty.kind = if is_binary { TypeKind::Blob(size) } else { TypeKind::Text(size) };
        }
        TypeKind::VarChar | TypeKind::VarBinary => ty.unsigned = false,
        _ => {}
    }
}

/// Gives the columns of a UNION the types of the table that MySQL makes for it; they come from that table.
pub(super) fn keep_union(columns: &mut [Column]) -> Vec<Option<Origin>> {
    for column in columns.iter_mut().filter(|column| !column.ty.is_integer()) {
        keep_type(&mut column.ty);
    }
    let origin = |column: &Column| {
        let mut origin = Origin::made(column.name.clone());
        origin.no_default = column.ty.is_temporal() && !column.nullable;
        origin
    };
    columns.iter().map(|column| Some(origin(column))).collect()
}

/// What MySQL gathers in a table.
enum Gathered {
    /// Groups, of so many expressions.
    Groups(u16),
    /// Distinct rows.
    Rows,
}

/// Makes the items of a select list columns of the table that MySQL makes to group or to find what is distinct.
pub(super) fn mark_result(block: &mut Block) {
    let Some(gathered) = gathered_by_table(block) else { return };
    for item in &mut block.output {
        let origin = match (item.origin.take(), &item.expr.kind, &gathered) {
            (Some(mut origin), ..) => {
                origin.is_gathered = true;
                Some(origin)
            }
            (None, ExprKind::Column(column), Gathered::Groups(groups)) if column.col >= *groups => {
                Some(Origin::default())
            }
            // Its table has no columns for constants.
            (None, ExprKind::Const(_), _) => None,
            (None, ExprKind::Column(_), _) | (None, _, Gathered::Rows) => {
                Some(Origin::made(item.name.clone()))
            }
            (None, _, Gathered::Groups(_)) => None,
        };
        item.origin = origin;
    }
}

/// What MySQL gathers in a table to answer `block`, if it makes one.
fn gathered_by_table(block: &Block) -> Option<Gathered> {
    if let Some(made) = &block.aggregation {
        // It sorts the rows where an aggregate needs all of a group's, and groups by an index as it comes.
        let is_sorted = |spec: &AggSpec| spec.distinct || spec.func == AggFunc::GroupConcat;
        let by_table = !made.groups.is_empty() && !made.aggs.iter().any(is_sorted);
        let gathers = by_table && !follows_index(made.groups.iter(), block);
        return gathers.then_some(Gathered::Groups(made.groups.len() as u16));
    }
    let gathers = block.distinct
        && !matches!(block.from, JoinTree::Dual)
        && !follows_index(block.output.iter().map(|item| &item.expr), block);
    gathers.then_some(Gathered::Rows)
}

/// Whether `exprs`, constants aside, are the first columns of an index, or have all columns of a unique one among them.
fn follows_index<'e>(exprs: impl Iterator<Item = &'e Expr>, block: &Block) -> bool {
    let columns: Option<Vec<ColumnRef>> = exprs
        .filter(|e| !matches!(e.kind, ExprKind::Const(_)))
        .map(|e| match e.kind {
            ExprKind::Column(column) => Some(column),
            _ => None,
        })
        .collect();
    let Some(columns) = columns else { return false };
    let Some(first) = columns.first() else { return false };
    let Some(Source::Table { def, .. }) = block.rels.get(usize::from(first.rel)) else { return false };
    if columns.iter().any(|column| column.rel != first.rel) {
        return false;
    }
    def.indexes.iter().filter(|index| !index.parts.is_empty()).any(|index| {
        let named = |part: &KeyPart| columns.iter().any(|column| column.col == part.column);
        let is_prefix = columns.len() <= index.parts.len() && index.parts[..columns.len()].iter().all(named);
        let is_not_null = |part: &KeyPart| !def.columns[usize::from(part.column)].nullable;
        let is_unique = index.kind != IndexKind::Secondary && index.parts.iter().all(is_not_null);
        is_prefix || (is_unique && index.parts.iter().all(named))
    })
}
