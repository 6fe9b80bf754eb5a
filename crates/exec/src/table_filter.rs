//! A table's condition, taken apart: what is decided on page bytes, and what is left to the interpreter.
//!
//! The interpreter is the oracle: whatever a test here cannot be bound to is left to it.

use engine::{RowRef, Table};
use expr::{EvalCtx, Expr, ExprKind};

use crate::filter_ints::{BoundInt, IntTest};
use crate::filter_like::{BoundLike, LikeTest};
use crate::reader::{RowEnv, TableReader};

/// A condition on one table.
#[derive(Debug)]
pub(crate) struct TableFilter {
    /// All of it.
    pub(crate) whole: Expr,
    tests: Box<[Test]>,
    /// What `tests` do not cover.
    pub(crate) rest: Option<Expr>,
    /// The terms that are the same for all rows of a run.
    pub(crate) fixed: Option<Box<Expr>>,
}

/// A term that is decided on page bytes, once its constant is known.
#[derive(Debug)]
enum Test {
    Int(IntTest),
    Like(LikeTest),
}

/// A test whose constant is known.
#[derive(Debug)]
pub(crate) enum BoundTest {
    Int(BoundInt),
    Like(BoundLike),
}

impl TableFilter {
    /// The condition `whole` on relation `rel`, which is `table`.
    pub(crate) fn new(rel: u16, table: &Table, whole: &Expr) -> Self {
        let terms = match &whole.kind {
            ExprKind::And(terms) => &terms[..],
            _ => std::slice::from_ref(whole),
        };
        let (mut tests, mut rest) = (Vec::new(), Vec::new());
        for term in terms {
            let int = IntTest::of_term(rel, term).map(Test::Int);
            match int.or_else(|| LikeTest::of_term(rel, table, term).map(Test::Like)) {
                Some(test) => tests.push(test),
                None => rest.push(term.clone()),
            }
        }
        let all_of = |mut terms: Vec<Expr>| match terms.len() {
            0 | 1 => terms.pop(),
            _ => Some(Expr { kind: ExprKind::And(terms.into()), ..whole.clone() }),
        };
        let fixed = rest.iter().filter(|term| is_fixed(term)).cloned().collect();
        let (fixed, rest) = (all_of(fixed).map(Box::new), all_of(rest));
        TableFilter { whole: whole.clone(), tests: tests.into(), rest, fixed }
    }

    /// The tests with their constants; `None` if there are none, or one has a constant that only the
    /// interpreter compares.
    pub(crate) fn bind(&self, ctx: &EvalCtx<'_>) -> Option<Box<[BoundTest]>> {
        let bind = |test: &Test| match test {
            Test::Int(test) => test.bind(ctx).map(BoundTest::Int),
            Test::Like(test) => test.bind(ctx).map(BoundTest::Like),
        };
        if self.tests.is_empty() { None } else { self.tests.iter().map(bind).collect() }
    }
}

impl BoundTest {
    /// Whether the test holds; NULL never passes.
    #[inline]
    pub(crate) fn passes(&self, row: &RowRef<'_>, reader: &TableReader, env: RowEnv<'_>) -> bool {
        match self {
            BoundTest::Int(test) => test.passes(row, reader),
            BoundTest::Like(test) => test.passes(row, reader, env),
        }
    }
}

/// Whether `expr` compares constants.
fn is_fixed(expr: &Expr) -> bool {
    let mut fixed = true;
    expr.walk(&mut |e| {
        fixed &= matches!(e.kind, ExprKind::Const(_) | ExprKind::Param(_) | ExprKind::Compare { .. });
    });
    fixed
}
