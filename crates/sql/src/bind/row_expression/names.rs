//! What the text of a row expression names.

use crate::ast::walk::Part;
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
    any(expr, &|expr| match expr.kind {
        ExprKind::Column(column) | ExprKind::DefaultOf(column) => column.column.eq_ignore_ascii_case(name),
        _ => false,
    })
}

/// Whether a function occurs in `expr` whose value on a replica may be another.
pub(super) fn differs_between_servers(expr: &Expr<'_>) -> bool {
    any(expr, &|expr| match expr.kind {
        ExprKind::Call(call) => DIFFERING.iter().any(|name| call.name.eq_ignore_ascii_case(name)),
        _ => false,
    })
}

/// Whether `is_it` holds for a node of `expr`.
fn any(expr: &Expr<'_>, is_it: &dyn Fn(&Expr<'_>) -> bool) -> bool {
    let mut found = is_it(expr);
    expr.for_each_part(&mut |part| {
        if let Part::Expr(part) = part {
            found = found || any(part, is_it);
        }
    });
    found
}
