//! Short ways to build and evaluate expressions in tests.

use bumpalo::Bump;
use types::value::write_double_fixed;
use types::{CollationId, Decimal, SqlType, TypeKind, Value};

pub(crate) use crate::test_support::TestSession;
use crate::{BindError, Builder, EvalCtx, EvalError, Expr, Warning};

/// The builder of a connection with the collation under which the answers were recorded.
pub(crate) fn builder() -> Builder {
    Builder { collation: CollationId::UTF8MB4_GENERAL_CI, ..Builder::default() }
}

/// What stands for an operand in tests: texts and numbers as they are.
pub(crate) trait Operand {
    fn expr(self) -> Expr;
}

impl Operand for Expr {
    fn expr(self) -> Expr {
        self
    }
}

impl Operand for &str {
    fn expr(self) -> Expr {
        builder().string(self.as_bytes(), CollationId::UTF8MB4_GENERAL_CI)
    }
}

impl Operand for i32 {
    fn expr(self) -> Expr {
        builder().int(i64::from(self))
    }
}

impl Operand for i64 {
    fn expr(self) -> Expr {
        builder().int(self)
    }
}

impl Operand for u64 {
    fn expr(self) -> Expr {
        builder().uint(self)
    }
}

impl Operand for f64 {
    fn expr(self) -> Expr {
        builder().double(self)
    }
}

impl Operand for Decimal {
    fn expr(self) -> Expr {
        builder().decimal(self)
    }
}

/// NULL.
pub(crate) struct Nil;

impl Operand for Nil {
    fn expr(self) -> Expr {
        builder().null()
    }
}

/// A decimal.
pub(crate) fn dec(text: &str) -> Decimal {
    Decimal::parse(text.as_bytes()).unwrap()
}

/// A column of type `ty`.
pub(crate) fn column(kind: TypeKind) -> Expr {
    let ty = match kind {
        TypeKind::VarChar => SqlType::varchar(20, CollationId::UTF8MB4_0900_AI_CI),
        TypeKind::Decimal => SqlType::decimal(10, 2),
        kind => SqlType::new(kind, 11),
    };
    Expr::column(0, 0, ty, true)
}

/// A call of a function by name.
macro_rules! call {
    ($name:expr $(, $arg:expr)* $(,)?) => {
        $crate::test_session::builder().call($name, vec![$($crate::test_session::Operand::expr($arg)),*])
    };
}
pub(crate) use call;

/// The value of `expr` as text, and the warnings.
pub(crate) fn evaluate(expr: &Expr) -> Result<(String, Vec<Warning>), EvalError> {
    let (arena, session) = (Bump::new(), TestSession::default());
    let ctx = EvalCtx::new(&arena, &[], &session);
    let value = expr.eval(&(), &ctx)?;
    let mut text = Vec::new();
    match value {
        Value::Null => text.extend_from_slice(b"NULL"),
        Value::Double(v) if expr.ty.decimals < SqlType::NOT_FIXED_DECIMALS => {
            write_double_fixed(v, expr.ty.decimals, &mut text);
        }
        _ => value.write_text(&mut text),
    }
    let warnings = session.warnings.borrow().clone();
    Ok((String::from_utf8_lossy(&text).into_owned(), warnings))
}

/// The text of a bound expression's value.
#[track_caller]
pub(crate) fn text(expr: Result<Expr, BindError>) -> String {
    evaluate(&expr.unwrap()).unwrap().0
}

/// The warnings of a bound expression.
#[track_caller]
pub(crate) fn warnings(expr: Result<Expr, BindError>) -> Vec<Warning> {
    evaluate(&expr.unwrap()).unwrap().1
}
