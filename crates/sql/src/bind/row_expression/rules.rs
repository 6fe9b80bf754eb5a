//! What MySQL refuses in an expression of a definition.

use super::RowExpressionError as Refusal;
use crate::ast::walk::Part;
use crate::ast::{Aggregate, BinaryOp, Expr, ExprKind, FunctionCall};
use crate::bind::BindError;
use crate::print::sql_name;

/// The function that REGEXP is.
const REGEXP: &str = "`regexp_like`";

/// Functions that read or change what is not in the row, under the names by which MySQL refuses them.
const FUNCTIONS: &[(&str, &str)] = &[
    ("benchmark", "benchmark"),
    ("found_rows", "found_rows"),
    ("get_lock", "get_lock"),
    ("icu_version", "icu_version()"),
    ("is_free_lock", "is_free_lock"),
    ("is_used_lock", "is_used_lock"),
    ("last_insert_id", "last_insert_id"),
    ("load_file", "load_file"),
    ("master_pos_wait", "source_pos_wait"),
    // It is missing, and a statement with it fails only when it is computed.
    ("regexp_like", REGEXP),
    ("release_all_locks", "release_all_locks"),
    ("release_lock", "release_lock"),
    ("row_count", "row_count"),
    ("sleep", "sleep"),
    ("source_pos_wait", "source_pos_wait"),
    ("updatexml", "updatexml"),
    ("version", "version()"),
    ("wait_for_executed_gtid_set", "wait_for_executed_gtid_set"),
];

/// Refuses what depends on more than the row, or has no value.
///
/// # Errors
/// The first refusal, in text order.
pub(super) fn ensure_allowed(expr: &Expr<'_>) -> Result<(), Refusal> {
    if matches!(expr.kind, ExprKind::Row(_)) {
        return Err(Refusal::Row);
    }
    ensure(expr)
}

fn ensure(expr: &Expr<'_>) -> Result<(), Refusal> {
    let mut found = own(expr);
    expr.for_each_part(&mut |part| {
        if found.is_ok() {
            found = match part {
                Part::Expr(part) => ensure(part),
                Part::Query(_) => Err(Refusal::Construct),
            };
        }
    });
    found
}

/// Refuses the node by itself.
fn own(expr: &Expr<'_>) -> Result<(), Refusal> {
    match expr.kind {
        ExprKind::UserVar(_) | ExprKind::SystemVar(_) | ExprKind::Assign(_) => Err(Refusal::Variable),
        ExprKind::Param(_) => Err(Refusal::Parameter(expr.pos)),
        ExprKind::Aggregate(call) => Err(aggregate(call)),
        ExprKind::Match(_) => Err(Refusal::Function("match".to_owned())),
        ExprKind::ValuesOf(_) => Err(Refusal::Function("values".to_owned())),
        ExprKind::Call(call) => function(call),
        ExprKind::Binary(BinaryOp::Regexp | BinaryOp::NotRegexp, ..) => {
            Err(Refusal::Function(REGEXP.to_owned()))
        }
        ExprKind::Star | ExprKind::Default => Err(Refusal::Construct),
        _ => Ok(()),
    }
}

fn aggregate(call: &Aggregate<'_>) -> Refusal {
    if call.over.is_none() {
        return Refusal::Bind(BindError::InvalidGroupFunction);
    }
    Refusal::Window(sql_name(call.func).to_ascii_lowercase())
}

fn function(call: &FunctionCall<'_>) -> Result<(), Refusal> {
    if let Some(schema) = call.schema {
        return Err(Refusal::Function(format!("`{schema}`.`{}`", call.name)));
    }
    if call.name.eq_ignore_ascii_case("name_const") {
        return Err(Refusal::Construct);
    }
    if call.name.eq_ignore_ascii_case("grouping") {
        return Err(Refusal::Bind(BindError::InvalidGroupFunction));
    }
    let refused = FUNCTIONS.iter().find(|(name, _)| call.name.eq_ignore_ascii_case(name));
    match refused {
        Some((_, shown)) => Err(Refusal::Function((*shown).to_owned())),
        None => Ok(()),
    }
}
