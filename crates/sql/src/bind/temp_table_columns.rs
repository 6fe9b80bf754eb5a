//! Columns of tables that MySQL makes for a statement: of derived tables that it does not merge, of UNION, of
//! groups and of distinct rows. Clients see that a column comes from such a table.

use std::sync::Arc;

use expr::{AggFunc, ColumnRef, Expr, ExprKind};
use types::decimal::PRECISION_MAX;
use types::{CollationId, LobSize, SqlType, TypeKind};

use super::block::{Block, Query, Source};
use super::temp_table::{TempTable, is_constant, temp_table};
use crate::plan::{AggSpec, Column, KeptKind, Origin, OutputColumn};

/// From this width on an integer is a BIGINT.
const BIGINT_WIDTH_MIN: u32 = 10;
/// Longer texts are TEXT and BLOB.
const VARCHAR_CHARS_MAX: u32 = 512;

/// Makes the columns of a query's result those of a table: calculated values get the types of table columns,
/// and none is part of a key.
pub(super) fn keep(columns: &mut [Column], origins: &mut [Option<Origin>], query: &Query) {
    for ((column, origin), shown) in columns.iter_mut().zip(origins).zip(query.output()) {
        if !matches!(shown.expr.kind, ExprKind::Column(_)) || is_computed(&shown.expr, query) {
            keep_type(&mut column.ty);
        }
        let mut kept = origin.take().unwrap_or_default().without_keys();
        kept.is_value = false;
        if let Query::Select(block) = query
            && let Some(spec) = aggregate_of(&shown.expr, block)
        {
            kept.no_default |= extreme_of_column(spec, block) == Some(true);
        }
        *origin = Some(kept);
    }
}

/// Whether `expr`, an item of `query`, is what stands for a value that is computed once.
fn is_computed(expr: &Expr, query: &Query) -> bool {
    let Query::Select(block) = query else { return false };
    let made = block.computed.as_ref().map(|made| made.rel);
    made.is_some() && expr.as_column().map(|column| column.rel) == made
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
        TypeKind::Decimal => ty.length = ty.length.min(PRECISION_MAX),
        _ => {}
    }
}

/// Gives the columns of a UNION the types of the table that MySQL makes for it; they come from that table.
pub(super) fn keep_union(columns: &mut [Column]) -> Vec<Option<Origin>> {
    let origin = |column: &mut Column| {
        let mut origin = Origin::made(column.name.clone());
        origin.no_default = column.ty.is_temporal() && !column.nullable;
        if !column.ty.is_integer() {
            let prepared = column.ty.kind;
            keep_type(&mut column.ty);
            let run = column.ty.kind;
            origin.kept = (run != prepared).then_some(KeptKind { prepared, run });
        }
        origin
    };
    columns.iter_mut().map(|column| Some(origin(column))).collect()
}

/// Makes the items of a select list columns of the table that MySQL makes to group, to sort or to find what
/// is distinct.
pub(super) fn mark_result(block: &mut Block, is_outermost: bool) {
    let Some(temp_table) = temp_table(block, is_outermost) else { return };
    let origins: Vec<Option<Origin>> =
        block.output.iter().map(|item| kept_origin(item, temp_table, block)).collect();
    for (item, origin) in block.output.iter_mut().zip(origins) {
        item.origin = origin;
    }
}

/// Gives calculated values of the statement's result the types and digits that they have in the table that
/// gathers them. Until the statement is planned, equal expressions have equal types.
pub(super) fn send_as_kept(output: &mut Arc<[OutputColumn]>) {
    let kept = |column: &OutputColumn| Some(column.origin.as_ref()?.kept?.run);
    let lacks_digits = |column: &OutputColumn| column.origin.is_some() && column.expr.may_lack_digits();
    if !output.iter().any(|column| kept(column).is_some() || lacks_digits(column)) {
        return;
    }
    let mut columns = output.to_vec();
    for column in &mut columns {
        if let Some(kind) = kept(column) {
            column.expr.ty.kind = kind;
        }
        if lacks_digits(column) {
            column.expr = column.expr.clone().as_kept_decimal();
        }
    }
    *output = columns.into();
}

/// Has clients get the text of the branch that CASE chooses where no table keeps its number.
pub(super) fn send_branches(output: &mut Arc<[OutputColumn]>) {
    let may_be_sent = |column: &OutputColumn| {
        column.origin.is_none()
            && matches!(column.expr.ty.kind, TypeKind::Decimal | TypeKind::Bit)
            && matches!(column.expr.kind, ExprKind::Case { .. } | ExprKind::Let { .. })
    };
    if !output.iter().any(may_be_sent) {
        return;
    }
    let mut columns = output.to_vec();
    for column in columns.iter_mut().filter(|column| may_be_sent(column)) {
        column.expr = column.expr.clone().as_sent();
    }
    *output = columns.into();
}

/// Where `item` comes from once its value is in the table.
fn kept_origin(item: &OutputColumn, temp_table: TempTable, block: &Block) -> Option<Origin> {
    if let Some(origin) = &item.origin {
        let mut origin = origin.clone();
        origin.is_gathered = true;
        return Some(origin);
    }
    // The table has no columns for constants, nor for what is made of aggregates.
    let is_kept = !is_constant(&item.expr, block);
    let made = || Origin::made((*item.name).into());
    let is_sorted = match temp_table {
        TempTable::Rows => return is_kept.then(|| calculated(made(), &item.expr.ty, None)),
        TempTable::Groups => false,
        TempTable::SortedGroups => true,
    };
    let Some(spec) = aggregate_of(&item.expr, block) else {
        let is_kept = is_kept && !names_aggregate(&item.expr, block);
        return is_kept.then(|| calculated(made(), &item.expr.ty, None));
    };
    if !is_sorted && is_computed_at_end(spec.func) {
        return None;
    }
    let mut origin = if is_sorted { made() } else { Origin::default() };
    match extreme_of_column(spec, block) {
        Some(no_default) => origin.no_default = no_default,
        None => origin = calculated(origin, &item.expr.ty, Some(TypeKind::BigInt)),
    }
    Some(origin)
}

/// `origin` of a value that is calculated. The table has another integer type for it: `kind`, or one as wide
/// as the value.
fn calculated(mut origin: Origin, ty: &SqlType, kind: Option<TypeKind>) -> Origin {
    if ty.is_integer() {
        let by_width = if ty.width() < BIGINT_WIDTH_MIN { TypeKind::Int } else { TypeKind::BigInt };
        let run = kind.unwrap_or(by_width);
        origin.kept = (run != ty.kind).then_some(KeptKind { prepared: ty.kind, run });
    }
    origin
}

/// Whether the table of groups has something else than the aggregate, which MySQL computes of it for each
/// group.
fn is_computed_at_end(func: AggFunc) -> bool {
    use AggFunc::{Avg, BitAnd, BitOr, BitXor, StdPop, StdSamp, VarPop, VarSamp};
    matches!(func, Avg | BitAnd | BitOr | BitXor | StdPop | StdSamp | VarPop | VarSamp)
}

/// The aggregate that `expr`, an item above an aggregation, is.
fn aggregate_of<'b>(expr: &Expr, block: &'b Block) -> Option<&'b AggSpec> {
    match expr.kind {
        ExprKind::Column(column) => aggregate_at(column, block),
        _ => None,
    }
}

/// The aggregate of `block` that `column` is; ANY_VALUE is none.
pub(super) fn aggregate_at(column: ColumnRef, block: &Block) -> Option<&AggSpec> {
    block.aggregation.as_ref()?.spec(column).filter(|spec| spec.func != AggFunc::AnyValue)
}

/// Whether `expr` or a subquery in it names an aggregate of `block`.
fn names_aggregate(expr: &Expr, block: &Block) -> bool {
    let mut found = false;
    expr.walk(&mut |e| match e.kind {
        ExprKind::Column(column) => found |= aggregate_at(column, block).is_some(),
        ExprKind::Subquery { plan, .. } => {
            let subquery = block.subqueries.get(usize::from(plan));
            let mut outer = subquery.iter().flat_map(|subquery| &subquery.outer);
            found |= outer.any(|column| aggregate_at(*column, block).is_some());
        }
        _ => {}
    });
    found
}

/// For MIN and MAX of a column of a base table, or of a derived one that MySQL fills, which become such a
/// column: whether it has no default.
fn extreme_of_column(spec: &AggSpec, block: &Block) -> Option<bool> {
    let ([Expr { kind: ExprKind::Column(column), .. }], AggFunc::Min | AggFunc::Max) =
        (&spec.args[..], spec.func)
    else {
        return None;
    };
    match block.rels.get(usize::from(column.rel))? {
        Source::Table { def, alias, .. } => {
            let origin = Origin::of_column(Arc::clone(def), column.col, alias.clone());
            Some(origin.traits().no_default)
        }
        Source::Query { query: Some(query), origins, .. } => {
            let is_merged = query.is_merged_by_mysql();
            let origin = origins.get(usize::from(column.col)).filter(|_| !is_merged)?;
            Some(origin.as_ref()?.traits().no_default)
        }
        _ => None,
    }
}
