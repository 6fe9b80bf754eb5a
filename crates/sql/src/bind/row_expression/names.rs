//! What the text of a row expression names.

use crate::ast::{Expr, ExprKind};

/// Functions whose value on a replica may be another.
const DIFFERING: &[&str] = &[
    "current_user",
    "rand",
    "random_bytes",
    "session_user",
    "sysdate",
    "system_user",
    "user",
    "uuid",
    "uuid_short",
];

/// Whether the column called `name` occurs in `expr`.
pub(super) fn reads(expr: &Expr<'_>, name: &str) -> bool {
    expr.any(&|expr| match expr.kind {
        ExprKind::Column(column) | ExprKind::DefaultOf(column) => column.column.eq_ignore_ascii_case(name),
        _ => false,
    })
}

/// Whether a function occurs in `expr` whose value on a replica may be another.
pub(super) fn differs_between_servers(expr: &Expr<'_>) -> bool {
    expr.any(&|expr| match expr.kind {
        ExprKind::Call(call) => DIFFERING.iter().any(|name| call.name.eq_ignore_ascii_case(name)),
        _ => false,
    })
}
