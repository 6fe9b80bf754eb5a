//! Constant folding: subtrees whose value is the same in every session and statement become constants.

use std::cell::{Cell, RefCell};

use bumpalo::Bump;
use types::temporal::MICROS_PER_SECOND;
use types::value::Loss;
use types::{CollationId, Locale, OwnedValue, SqlModes, TimeZone, Value};

use crate::func::Func;
use crate::functions::{is_calculated_moment, is_signed_by_width};
use crate::{EvalCtx, Expr, ExprKind, SessionInfo, Warning};

/// `expr` with its constant subtrees evaluated. What warns, fails, or asks the session anything stays as it
/// is. Explicit collations stay too: they decide the coercibility of an operand. So do names of character
/// sets and collations, which are texts of the system. Operands of what fails or warns stay as well: messages
/// quote them as they are written, and MySQL says other things of computed texts than of literals.
pub fn fold(expr: Expr) -> Expr {
    if has_constant_operation(&expr) { fold_node(expr).expr } else { expr }
}

/// [`fold`] in place: most expressions have nothing to fold, and stay where they are.
pub fn fold_in_place(expr: &mut Expr) {
    if has_constant_operation(expr) {
        let whole = std::mem::replace(expr, Expr::constant(OwnedValue::Null, types::SqlType::null()));
        *expr = fold_node(whole).expr;
    }
}

/// Whether `expr` or an expression below it may be an operation on constants.
fn has_constant_operation(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Const(_) | ExprKind::Param(_) | ExprKind::Column(_) => return false,
        ExprKind::Held { .. } => return true,
        ExprKind::And(terms) | ExprKind::Or(terms) => return any_constant_operation(terms),
        ExprKind::Compare { args, .. } => {
            let is_leaf = |e: &Expr| matches!(e.kind, ExprKind::Param(_) | ExprKind::Column(_));
            // Long lists of rows are disjunctions of such comparisons.
            return !args.iter().all(is_leaf) && any_constant_operation(&args[..]);
        }
        _ => {}
    }
    let (mut found, mut all_constant) = (false, true);
    expr.for_each_child(&mut |child| {
        all_constant &= matches!(child.kind, ExprKind::Const(_));
        found = found || has_constant_operation(child);
    });
    found || all_constant
}

/// Whether one of `operands` may be an operation on constants, or all of them are constants.
fn any_constant_operation(operands: &[Expr]) -> bool {
    let is_constant = |operand: &Expr| matches!(operand.kind, ExprKind::Const(_));
    operands.iter().all(is_constant) || operands.iter().any(has_constant_operation)
}

/// A folded expression.
struct Folded {
    expr: Expr,
    /// What became the constant `expr`; `None` if nothing did.
    written: Option<Expr>,
}

fn fold_node(mut expr: Expr) -> Folded {
    // Its operand's own digits would be those of the constant's type.
    if matches!(expr.kind, ExprKind::Call { func: Func::OwnDigits, .. }) {
        return Folded { expr, written: None };
    }
    let mut written = Vec::new();
    expr.for_each_child_mut(&mut |child| {
        let taken = std::mem::replace(child, Expr::constant(OwnedValue::Null, types::SqlType::null()));
        let folded = fold_node(taken);
        *child = folded.expr;
        written.push(folded.written);
    });
    let outcome = outcome_of(&expr);
    let varies = matches!(outcome, Outcome::Varies);
    let func = match expr.kind {
        ExprKind::Call { func, .. } => Some(func),
        _ => None,
    };
    if varies && func.is_none() {
        return Folded { expr, written: None };
    }
    let mut operands = written.into_iter().enumerate();
    expr.for_each_child_mut(&mut |child| {
        if let Some((at, Some(operand))) = operands.next()
            && (!varies || func.is_some_and(|func| func.takes_number(at)) && is_no_number(child))
        {
            *child = operand;
        }
    });
    let Outcome::Value(value) = outcome else { return Folded { expr, written: None } };
    let constant = Expr { nullable: value.is_null(), ty: expr.ty.clone(), kind: ExprKind::Const(value) };
    Folded { expr: constant, written: Some(expr) }
}

/// Whether `expr` is a text that is no number.
fn is_no_number(expr: &Expr) -> bool {
    let ExprKind::Const(value) = &expr.kind else { return false };
    let value = value.as_value();
    value.is_textual() && value.to_f64().loss != Loss::None
}

/// From here on doubles are past every BIGINT.
const BIGINT_END: f64 = 9_223_372_036_854_775_808.0;

/// Constant folding: the value of an operation before any row is read.
enum Outcome {
    Value(OwnedValue),
    /// It fails or warns.
    Speaks,
    /// It is no operation on constants, or depends on the session.
    Varies,
}

fn outcome_of(expr: &Expr) -> Outcome {
    if let ExprKind::Held { shown, .. } = &expr.kind {
        return match shown.as_ref().map(|value| &value.kind) {
            Some(ExprKind::Const(value)) => Outcome::Value(value.clone()),
            _ => Outcome::Varies,
        };
    }
    let is_operation = match expr.kind {
        ExprKind::Const(_)
        | ExprKind::Param(_)
        | ExprKind::Column(_)
        | ExprKind::UserVar(_)
        | ExprKind::AssignUserVar { .. }
        | ExprKind::SysVar { .. }
        | ExprKind::Subquery { .. }
        | ExprKind::Call { func: Func::Collate | Func::Charset | Func::Collation, .. } => false,
        ExprKind::Call { func, .. } => !func.is_volatile(),
        _ => true,
    };
    // The text of a calculated date or time is a number, too, which it would lose.
    let is_moment_text = expr.ty.is_string()
        && match expr.kind {
            ExprKind::Call { func, .. } => {
                matches!(func, Func::AddTime | Func::SubTime | Func::DateAdd(_) | Func::DateSub(_))
            }
            _ => false,
        };
    let mut constant = is_operation && !is_moment_text;
    expr.for_each_child(&mut |child| constant &= matches!(child.kind, ExprKind::Const(_)));
    if !constant {
        return Outcome::Varies;
    }
    let (arena, session) = (Bump::new(), NoSession::new(None));
    let ctx = EvalCtx::new(&arena, &[], &session);
    match expr.eval(&(), &ctx) {
        Err(_) => Outcome::Speaks,
        Ok(_) if !session.warnings.borrow().is_empty() => Outcome::Speaks,
        Ok(_) if session.asked.get() => Outcome::Varies,
        // Where an integer is wanted, such a number is an error only if it is computed.
        Ok(Value::Double(value)) if value.abs() >= BIGINT_END => Outcome::Varies,
        // The number of a calculated time with a fraction is another than that of a literal.
        Ok(value) if has_fraction(&value) && is_calculated_moment(expr) => Outcome::Varies,
        // A calculated text of such an integer warns where a literal does not.
        Ok(value) if is_signed_by_width(&value) => Outcome::Varies,
        Ok(value) => Outcome::Value(value.to_owned_value()),
    }
}

fn has_fraction(value: &Value<'_>) -> bool {
    match value {
        Value::Time(time, _) => time.micros() % MICROS_PER_SECOND != 0,
        Value::DateTime(moment, _) => moment.micro() != 0,
        _ => false,
    }
}

/// The warnings of the computation of `expr` in a session with `modes`. Nothing, if that fails, depends on a
/// row, or needs more of the session than its modes.
pub fn warnings_of(expr: &Expr, modes: SqlModes) -> Vec<Warning> {
    at_bind_time(expr, modes).map_or_else(Vec::new, |(_, warnings)| warnings)
}

/// The value of `expr` for a type that depends on it, whatever it warns of; `None` as in [`warnings_of`].
pub(crate) fn constant_value(expr: &Expr, modes: SqlModes) -> Option<OwnedValue> {
    match &expr.kind {
        ExprKind::Const(value) => Some(value.clone()),
        _ => at_bind_time(expr, modes).map(|(value, _)| value),
    }
}

/// The value of `expr` if it is constant and nothing warns of it.
pub(crate) fn quiet_value(expr: &Expr, modes: SqlModes) -> Option<OwnedValue> {
    match &expr.kind {
        ExprKind::Const(value) => Some(value.clone()),
        _ => at_bind_time(expr, modes).filter(|(_, warnings)| warnings.is_empty()).map(|(value, _)| value),
    }
}

/// The value of a constant expression, and what it warns of.
fn at_bind_time(expr: &Expr, modes: SqlModes) -> Option<(OwnedValue, Vec<Warning>)> {
    let mut is_constant = true;
    expr.walk(&mut |e| {
        is_constant &= match &e.kind {
            ExprKind::Param(_)
            | ExprKind::Column(_)
            | ExprKind::UserVar(_)
            | ExprKind::AssignUserVar { .. }
            | ExprKind::SysVar { .. }
            | ExprKind::Subquery { .. }
            | ExprKind::Held { shown: None, .. } => false,
            ExprKind::Call { func, .. } => !func.is_volatile(),
            _ => true,
        };
    });
    if !is_constant {
        return None;
    }
    let (arena, session) = (Bump::new(), NoSession::new(Some(modes)));
    let value = expr.eval(&(), &EvalCtx::new(&arena, &[], &session)).ok()?.to_owned_value();
    if session.asked.get() { None } else { Some((value, session.warnings.into_inner())) }
}

/// Warnings of a constant from which on none is repeated: nested calls double them.
const REPEATED_WARNINGS_MAX: usize = 64;

/// A session that has no answers but perhaps its modes. It remembers that it was asked, and what it was
/// warned of.
struct NoSession {
    asked: Cell<bool>,
    zone: TimeZone,
    modes: Option<SqlModes>,
    warnings: RefCell<Vec<Warning>>,
}

impl NoSession {
    fn new(modes: Option<SqlModes>) -> NoSession {
        let warnings = RefCell::default();
        NoSession { asked: Cell::new(false), zone: TimeZone::utc(), modes, warnings }
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
        self.modes.unwrap_or_else(|| self.note(SqlModes::DEFAULT))
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
    fn current_role(&self) -> &str {
        self.note("")
    }
    fn password_strength(&self, _password: &str) -> u64 {
        self.note(0)
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
    fn set_user_variable(&self, _: &str, _: OwnedValue) -> Result<(), crate::EvalError> {
        self.note(());
        Ok(())
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
    fn locale(&self) -> &'static Locale {
        self.note(Locale::english())
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
    fn warn(&self, warning: Warning) {
        self.warnings.borrow_mut().push(warning);
    }
    fn warning_count(&self) -> u64 {
        self.warnings.borrow().len() as u64
    }
    fn repeat_warnings(&self, count: u64) {
        let mut warnings = self.warnings.borrow_mut();
        let repeated = warnings.get(count as usize..).unwrap_or_default();
        let room = REPEATED_WARNINGS_MAX.saturating_sub(warnings.len());
        let repeated = repeated.iter().take(room).cloned().collect::<Vec<_>>();
        warnings.extend(repeated);
    }
    fn killed(&self) -> bool {
        base::sync::interrupt::is_requested()
    }
}
