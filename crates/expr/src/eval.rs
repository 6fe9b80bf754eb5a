//! The interpreter's dispatch: one arm per form of expression.

use std::cmp::Ordering;

use types::Value;
use types::collation::LikePattern;
use types::value::Loss;

use crate::cast::cast;
use crate::compare::{
    Number, compare_values, double, equal_values, fail_if_cut_short, time_of, truth, warn_beside_null,
};
use crate::context::in_arena;
use crate::functions::{
    Call, known_collation as collation_of, number_of_moment, some, table, text_in_arena, warn_no_number,
};
use crate::{CmpDomain, CmpOp, EvalCtx, EvalError, Expr, ExprKind, Func, RowPart, RowSource};

impl Expr {
    /// The value of the expression for the current row.
    ///
    /// Strings that arise live in `ctx.arena`; others borrow from the row or the expression. Cost: recursion
    /// over the expression, no other allocation.
    pub fn eval<'v>(&'v self, row: &'v dyn RowSource, ctx: &'v EvalCtx<'v>) -> Result<Value<'v>, EvalError> {
        match &self.kind {
            ExprKind::Const(value) => Ok(value.as_value()),
            ExprKind::Param(n) => Ok(ctx.params[usize::from(*n)]),
            ExprKind::Column(column) => Ok(row.column(column.rel, column.col)),
            ExprKind::And(args) => connective(args, false, row, ctx),
            ExprKind::Or(args) => connective(args, true, row, ctx),
            ExprKind::Xor(args) => {
                let Some(a) = args[0].eval_bool(row, ctx)? else { return Ok(Value::Null) };
                Ok(truth(args[1].eval_bool(row, ctx)?.map(|b| a != b)))
            }
            ExprKind::Not(arg) => Ok(truth(arg.eval_bool(row, ctx)?.map(|t| !t))),
            ExprKind::Compare { op: CmpOp::NullSafeEq, domain, args } => null_safe(args, *domain, row, ctx),
            ExprKind::Compare { op, domain, args } => {
                let a = args[0].eval(row, ctx)?;
                // As in MySQL the other side is not computed then, and warns of nothing.
                if a.is_null() {
                    return Ok(Value::Null);
                }
                let b = args[1].eval(row, ctx)?;
                let is_true = compare(*op, &a, &b, *domain, ctx);
                fail_if_cut_short(*domain, [&a, &b], ctx)?;
                Ok(truth(is_true))
            }
            ExprKind::CompareRows(parts) => compare_rows(parts, row, ctx),
            ExprKind::Between { negated, domain, args } => between(args, *negated, *domain, row, ctx),
            ExprKind::In { negated, domain, needle, list } => {
                in_list((needle, list), *negated, *domain, row, ctx)
            }
            ExprKind::IsNull { negated, arg } => Ok(truth(Some(arg.eval(row, ctx)?.is_null() != *negated))),
            ExprKind::IsTruth { negated, truth, arg } => {
                let is = arg.eval_bool(row, ctx)? == Some(*truth);
                Ok(Value::Int(i64::from(is != *negated)))
            }
            ExprKind::Case { arms, otherwise } => case(arms, otherwise.as_deref(), row, ctx),
            ExprKind::Let { value, body } => {
                let held = value.eval(row, ctx)?;
                body.eval(ctx.arena.alloc(Holding { row, held }), ctx)
            }
            ExprKind::Held { .. } => Ok(row.held()),
            ExprKind::UserVar(name) => {
                let value = ctx.session.user_variable(name);
                ctx.reserve(value.as_value().heap_bytes())?;
                Ok(in_arena(&value, ctx.arena))
            }
            ExprKind::AssignUserVar { name, value } => {
                let value = value.eval(row, ctx)?;
                ctx.session.set_user_variable(name, value.to_owned_value())?;
                Ok(value)
            }
            ExprKind::SysVar { global, name } => match ctx.session.system_variable(*global, name) {
                Some(value) => Ok(in_arena(&value, ctx.arena)),
                None => Err(EvalError::SystemVariable { name: name.clone() }),
            },
            ExprKind::Subquery { .. } => ctx.subqueries.run(self, row, ctx),
            ExprKind::Like { .. } => like(self, row, ctx),
            ExprKind::Cast { arg, .. } => cast(&Call::new(self, std::slice::from_ref(arg), row, ctx)),
            ExprKind::Call { func, args } => table::eval(*func, &Call::new(self, args, row, ctx)),
        }
    }

    /// The truth of the expression: `None` for NULL.
    pub fn eval_bool<'v>(
        &'v self,
        row: &'v dyn RowSource,
        ctx: &'v EvalCtx<'v>,
    ) -> Result<Option<bool>, EvalError> {
        let value = self.eval(row, ctx)?;
        if value.is_textual() {
            let read = value.to_f64();
            if read.loss != Loss::None {
                if let Some(number) = number_of_moment(self, &value) {
                    return Ok(Some(!number.is_zero()));
                }
                warn_no_number("DOUBLE", &value, self, ctx);
            }
            return Ok(Some(read.value != 0.0));
        }
        Ok(value.to_bool())
    }
}

/// A row, and the value that is held.
struct Holding<'v> {
    row: &'v dyn RowSource,
    held: Value<'v>,
}

impl RowSource for Holding<'_> {
    fn column(&self, rel: u16, col: u16) -> Value<'_> {
        self.row.column(rel, col)
    }

    fn held(&self) -> Value<'_> {
        self.held
    }
}

/// AND (`deciding` false) and OR (`deciding` true): the first deciding term ends the evaluation.
fn connective<'v>(
    args: &'v [Expr],
    deciding: bool,
    row: &'v dyn RowSource,
    ctx: &'v EvalCtx<'v>,
) -> Result<Value<'v>, EvalError> {
    let mut result = Some(!deciding);
    for arg in args {
        match arg.eval_bool(row, ctx)? {
            Some(t) if t == deciding => return Ok(truth(Some(deciding))),
            Some(_) => {}
            None => result = None,
        }
    }
    Ok(truth(result))
}

/// Three-valued AND.
fn and3(a: Option<bool>, b: Option<bool>) -> Option<bool> {
    match (a, b) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}

fn negate_if(negated: bool, value: Option<bool>) -> Option<bool> {
    value.map(|t| t != negated)
}

/// The truth of `a op b`.
#[inline]
pub(crate) fn compare(
    op: CmpOp,
    a: &Value<'_>,
    b: &Value<'_>,
    domain: CmpDomain,
    ctx: &EvalCtx<'_>,
) -> Option<bool> {
    if op == CmpOp::NullSafeEq {
        return Some(equal_values(a, b, domain, ctx));
    }
    compare_values(a, b, domain, ctx).map(|order| op.accepts(order))
}

/// `a <=> b`. Where a side is NULL, MySQL reads both sides once more, and warns again; a constant NULL is
/// found before.
#[inline(never)]
fn null_safe<'v>(
    args: &'v [Expr; 2],
    domain: CmpDomain,
    row: &'v dyn RowSource,
    ctx: &'v EvalCtx<'v>,
) -> Result<Value<'v>, EvalError> {
    let is_quiet = |arg: &Expr| {
        arg.is_trivial()
            || matches!(
                arg.kind,
                ExprKind::Call { func: Func::KeptNumber | Func::KeptValue | Func::CachedValue, .. }
            )
    };
    let count_before = |arg: &Expr| (!is_quiet(arg)).then(|| ctx.session.warning_count());
    let mut earlier = count_before(&args[0]);
    let warn_again = |earlier: Option<u64>| {
        if let Some(earlier) = earlier.filter(|earlier| ctx.session.warning_count() > *earlier) {
            ctx.session.repeat_warnings(earlier);
        }
    };
    let a = args[0].eval(row, ctx)?;
    earlier = earlier.or_else(|| count_before(&args[1]));
    if a.is_null() {
        warn_again(earlier);
        if matches!(args[1].kind, ExprKind::Call { func: Func::KeptNumber, .. }) && !args[1].nullable {
            return Ok(truth(Some(false)));
        }
        let b = args[1].eval(row, ctx)?;
        warn_beside_null(&b, domain, ctx);
        return Ok(truth(Some(b.is_null())));
    }
    let b = args[1].eval(row, ctx)?;
    if b.is_null() {
        let is_known = matches!(args[1].kind, ExprKind::Const(_) | ExprKind::Param(_));
        let earlier = earlier.or_else(|| (!is_known).then(|| ctx.session.warning_count()));
        if is_known {
            warn_again(earlier);
        }
        warn_beside_null(&a, domain, ctx);
        if !is_known {
            warn_again(earlier);
        }
        return Ok(truth(Some(false)));
    }
    let is_equal = equal_values(&a, &b, domain, ctx);
    fail_if_cut_short(domain, [&a, &b], ctx)?;
    Ok(truth(Some(is_equal)))
}

/// The number that a text is among numbers: it is converted once, and a text that is not a number gives one
/// warning.
#[inline(never)]
fn number_of_text(text: &Value<'_>, domain: CmpDomain, ctx: &EvalCtx<'_>) -> Value<'static> {
    match domain {
        CmpDomain::Number => Number::of(text, ctx).to_value(),
        _ => Value::Double(double(text, ctx)),
    }
}

/// Items of a list that takes long enough to look first whether the statement was killed.
const LONG_LIST: usize = 256;

/// `(a, b) < (c, d)`. Parts after the first that differ, or are NULL, are not computed.
#[inline(never)]
fn compare_rows<'v>(
    parts: &'v [RowPart],
    row: &'v dyn RowSource,
    ctx: &'v EvalCtx<'v>,
) -> Result<Value<'v>, EvalError> {
    for (at, RowPart { op, domain, sides }) in (1..).zip(parts) {
        let a = sides[0].eval(row, ctx)?;
        if a.is_null() {
            break;
        }
        let b = sides[1].eval(row, ctx)?;
        let order = compare_values(&a, &b, *domain, ctx);
        fail_if_cut_short(*domain, [&a, &b], ctx)?;
        match order {
            None => break,
            Some(Ordering::Equal) if at < parts.len() => {}
            Some(order) => return Ok(truth(Some(op.accepts(order)))),
        }
    }
    Ok(Value::Null)
}

/// `value [NOT] BETWEEN low AND high`.
fn between<'v>(
    args: &'v [Expr; 3],
    negated: bool,
    domain: CmpDomain,
    row: &'v dyn RowSource,
    ctx: &'v EvalCtx<'v>,
) -> Result<Value<'v>, EvalError> {
    let mut value = args[0].eval(row, ctx)?;
    if value.is_null() {
        return Ok(Value::Null);
    }
    if matches!(domain, CmpDomain::Double | CmpDomain::Number) && value.is_textual() {
        value = number_of_text(&value, domain, ctx);
    }
    let (low, high) = (args[1].eval(row, ctx)?, args[2].eval(row, ctx)?);
    let above = compare(CmpOp::Ge, &value, &low, domain, ctx);
    let below = compare(CmpOp::Le, &value, &high, domain, ctx);
    fail_if_cut_short(domain, [&value, &low, &high], ctx)?;
    Ok(truth(negate_if(negated, and3(above, below))))
}

/// `needle [NOT] IN (list)`.
fn in_list<'v>(
    (needle, list): (&'v Expr, &'v [Expr]),
    negated: bool,
    domain: CmpDomain,
    row: &'v dyn RowSource,
    ctx: &'v EvalCtx<'v>,
) -> Result<Value<'v>, EvalError> {
    let value = needle.eval(row, ctx)?;
    if value.is_null() {
        return null_in(needle, list, domain, row, ctx);
    }
    Ok(truth(negate_if(negated, is_in(&value, list, domain, row, ctx)?)))
}

/// `NULL IN (list)`: NULL. As MySQL does unless the needle is always NULL, the items are read nevertheless,
/// and warn.
#[cold]
fn null_in<'v>(
    needle: &'v Expr,
    list: &'v [Expr],
    domain: CmpDomain,
    row: &'v dyn RowSource,
    ctx: &'v EvalCtx<'v>,
) -> Result<Value<'v>, EvalError> {
    let is_always_null = matches!(needle.kind, ExprKind::Const(_) | ExprKind::UserVar(_));
    for item in list.iter().filter(|_| !is_always_null) {
        let item = item.eval(row, ctx)?;
        if matches!(domain, CmpDomain::Double | CmpDomain::Number) && item.is_textual() {
            number_of_text(&item, domain, ctx);
        } else if domain == CmpDomain::Time && !item.is_null() {
            time_of(&item, ctx);
        }
    }
    Ok(Value::Null)
}

/// `needle IN (list)` of a needle that is not NULL: NULL if nothing matches and an item is NULL.
fn is_in<'v>(
    needle: &Value<'v>,
    list: &'v [Expr],
    domain: CmpDomain,
    row: &'v dyn RowSource,
    ctx: &'v EvalCtx<'v>,
) -> Result<Option<bool>, EvalError> {
    if list.len() > LONG_LIST && ctx.session.killed() {
        return Err(EvalError::Killed);
    }
    if domain == CmpDomain::Time {
        return is_in_times(needle, list, row, ctx);
    }
    let mut unknown = false;
    let number;
    let mut needle = needle;
    if matches!(domain, CmpDomain::Double | CmpDomain::Number) && needle.is_textual() {
        number = number_of_text(needle, domain, ctx);
        needle = &number;
    }
    for item in list {
        let item = item.eval(row, ctx)?;
        let is_equal = compare(CmpOp::Eq, needle, &item, domain, ctx);
        fail_if_cut_short(domain, [needle, &item], ctx)?;
        match is_equal {
            Some(true) => return Ok(Some(true)),
            Some(false) => {}
            None => unknown = true,
        }
    }
    Ok((!unknown).then_some(false))
}

/// `needle IN (list)` of times. The needle is read once; values that are not times equal each other and no
/// time.
#[inline(never)]
fn is_in_times<'v>(
    needle: &Value<'v>,
    list: &'v [Expr],
    row: &'v dyn RowSource,
    ctx: &'v EvalCtx<'v>,
) -> Result<Option<bool>, EvalError> {
    let needle = time_of(needle, ctx);
    let mut unknown = false;
    for item in list {
        let item = item.eval(row, ctx)?;
        if item.is_null() {
            unknown = true;
        } else if time_of(&item, ctx) == needle {
            return Ok(Some(true));
        }
    }
    Ok((!unknown).then_some(false))
}

/// LIKE: a constant pattern is compiled already, another is when its statement first meets it.
#[inline(never)]
fn like<'v>(expr: &'v Expr, row: &'v dyn RowSource, ctx: &'v EvalCtx<'v>) -> Result<Value<'v>, EvalError> {
    let ExprKind::Like { negated, collation, escape, compiled, args } = &expr.kind else {
        return Ok(Value::Null);
    };
    let text_of = |arg: &'v Expr| match arg.eval(row, ctx)? {
        Value::Null => Ok::<_, EvalError>(None),
        Value::Bytes { data, .. } => Ok(Some(data)),
        value => Ok(Some(text_in_arena(&value, arg, ctx))),
    };
    let text = some!(text_of(&args[0]));
    let matched = if let Some(pattern) = compiled {
        pattern.matches(text)
    } else {
        let pattern = some!(text_of(&args[1]));
        ctx.fail_if_killed_over(pattern)?;
        match ctx.subqueries.patterns() {
            Some(memo) => memo.matches(text, pattern, *escape, *collation),
            None => LikePattern::new(pattern, escape.map(u32::from), collation_of(*collation)).matches(text),
        }
    };
    ctx.fail_if_killed_over(text)?;
    Ok(truth(Some(matched != *negated)))
}

fn case<'v>(
    arms: &'v [(Expr, Expr)],
    otherwise: Option<&'v Expr>,
    row: &'v dyn RowSource,
    ctx: &'v EvalCtx<'v>,
) -> Result<Value<'v>, EvalError> {
    for (condition, result) in arms {
        if condition.eval_bool(row, ctx)? == Some(true) {
            return result.eval(row, ctx);
        }
    }
    otherwise.map_or(Ok(Value::Null), |e| e.eval(row, ctx))
}
