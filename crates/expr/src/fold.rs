//! Constant folding: subtrees whose value is the same in every session and statement become constants.

use std::cell::Cell;

use bumpalo::Bump;
use types::{CollationId, OwnedValue, SqlModes, TimeZone};

use crate::func::Func;
use crate::{EvalCtx, Expr, ExprKind, SessionInfo, Warning, eval};

/// `expr` with its constant subtrees evaluated. What warns, fails, or asks the session anything stays as it is.
/// Explicit collations stay too: they tell how hard an operand holds on to its collation.
pub fn fold(mut expr: Expr) -> Expr {
    expr.for_each_child_mut(&mut |child| {
        let taken = std::mem::replace(child, Expr::constant(OwnedValue::Null, types::SqlType::null()));
        *child = fold(taken);
    });
    match value_of(&expr) {
        Some(value) => {
            let nullable = value.is_null();
            Expr { kind: ExprKind::Const(value), nullable, ty: expr.ty }
        }
        None => expr,
    }
}

/// The value of an operation on constants.
fn value_of(expr: &Expr) -> Option<OwnedValue> {
    let is_operation = !matches!(
        expr.kind,
        ExprKind::Const(_)
            | ExprKind::Param(_)
            | ExprKind::Column(_)
            | ExprKind::UserVar(_)
            | ExprKind::AssignUserVar { .. }
            | ExprKind::SysVar { .. }
            | ExprKind::Subquery { .. }
            | ExprKind::Call {
                func: Func::Collate | Func::Rand | Func::Uuid | Func::Sleep | Func::Benchmark,
                ..
            }
    );
    let mut constant = is_operation;
    expr.for_each_child(&mut |child| constant &= matches!(child.kind, ExprKind::Const(_)));
    if !constant {
        return None;
    }
    let (arena, session) = (Bump::new(), NoSession::new());
    let ctx = EvalCtx::new(&arena, &[], &session);
    let value = eval(expr, &(), &ctx).ok()?.to_owned_value();
    (!session.asked.get()).then_some(value)
}

/// A session that has no answers and remembers that it was asked.
struct NoSession {
    asked: Cell<bool>,
    zone: TimeZone,
}

impl NoSession {
    fn new() -> NoSession {
        NoSession { asked: Cell::new(false), zone: TimeZone::utc() }
    }

    fn note<T>(&self, answer: T) -> T {
        self.asked.set(true);
        answer
    }
}

impl SessionInfo for NoSession {
    fn statement_time_micros(&self) -> i64 {
        self.note(0)
    }
    fn clock_micros(&self) -> i64 {
        self.note(0)
    }
    fn time_zone(&self) -> &TimeZone {
        self.note(&self.zone)
    }
    fn modes(&self) -> SqlModes {
        self.note(SqlModes::DEFAULT)
    }
    fn connection_id(&self) -> u64 {
        self.note(0)
    }
    fn user(&self) -> &str {
        self.note("")
    }
    fn current_user(&self) -> &str {
        self.note("")
    }
    fn database(&self) -> Option<&str> {
        self.note(None)
    }
    fn last_insert_id(&self) -> u64 {
        self.note(0)
    }
    fn set_last_insert_id(&self, _: u64) {
        self.note(());
    }
    fn row_count(&self) -> i64 {
        self.note(0)
    }
    fn found_rows(&self) -> u64 {
        self.note(0)
    }
    fn user_variable(&self, _: &str) -> OwnedValue {
        self.note(OwnedValue::Null)
    }
    fn set_user_variable(&self, _: &str, _: OwnedValue) {
        self.note(());
    }
    fn system_variable(&self, _: Option<bool>, _: &str) -> Option<OwnedValue> {
        self.note(None)
    }
    fn group_concat_max_len(&self) -> u64 {
        self.note(0)
    }
    fn div_precision_increment(&self) -> u8 {
        self.note(4)
    }
    fn max_allowed_packet(&self) -> u64 {
        self.note(0)
    }
    fn version(&self) -> &str {
        self.note("")
    }
    fn connection_collation(&self) -> CollationId {
        self.note(CollationId::BINARY)
    }
    fn warn(&self, _: Warning) {
        self.note(());
    }
    fn killed(&self) -> bool {
        false
    }
}
