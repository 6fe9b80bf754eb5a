//! Comparisons of integer columns with constants, decided on page bytes.
//!
//! The interpreter is the oracle: whatever a test here cannot be bound to is left to it.

use bumpalo::Bump;
use engine::RowRef;
use expr::{CmpDomain, CmpOp, Expr, ExprKind, eval, exact_integer};

use crate::reader::TableReader;
use crate::statement::QueryRun;

/// A table's condition, taken apart.
#[derive(Debug)]
pub(crate) struct TableFilter {
    /// All of it.
    pub(crate) whole: Expr,
    tests: Box<[IntTest]>,
    /// What `tests` do not cover.
    pub(crate) rest: Option<Expr>,
}

/// `column op constant`.
#[derive(Debug)]
struct IntTest {
    col: u16,
    op: CmpOp,
    value: Expr,
}

/// A test whose constant is known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BoundTest {
    col: u16,
    op: CmpOp,
    value: i128,
}

impl TableFilter {
    /// The condition `whole` on relation `rel`.
    pub(crate) fn new(rel: u16, whole: &Expr) -> Self {
        let terms = match &whole.kind {
            ExprKind::And(terms) => &terms[..],
            _ => std::slice::from_ref(whole),
        };
        let (mut tests, mut rest) = (Vec::new(), Vec::new());
        for term in terms {
            match IntTest::of_term(rel, term) {
                Some(test) => tests.push(test),
                None => rest.push(term.clone()),
            }
        }
        let rest = match rest.len() {
            0 | 1 => rest.pop(),
            _ => Some(Expr { kind: ExprKind::And(rest.into()), ..whole.clone() }),
        };
        TableFilter { whole: whole.clone(), tests: tests.into(), rest }
    }

    /// The tests with their constants; `None` if there are none, or a constant is no integer.
    pub(crate) fn bind(&self, run: &QueryRun<'_>) -> Option<Box<[BoundTest]>> {
        let arena = Bump::new();
        let ctx = run.ctx(&arena);
        let bind = |test: &IntTest| {
            let value = exact_integer(&eval(&test.value, &(), &ctx).ok()?)?;
            Some(BoundTest { col: test.col, op: test.op, value })
        };
        if self.tests.is_empty() { None } else { self.tests.iter().map(bind).collect() }
    }
}

impl IntTest {
    fn of_term(rel: u16, term: &Expr) -> Option<Self> {
        let ExprKind::Compare { op, domain, args } = &term.kind else { return None };
        if *op == CmpOp::NullSafeEq || !matches!(domain, CmpDomain::Integer | CmpDomain::Number) {
            return None;
        }
        let [left, right] = &**args;
        match (column_of(rel, left), column_of(rel, right)) {
            (Some(col), None) if is_constant(right) => Some(IntTest { col, op: *op, value: right.clone() }),
            (None, Some(col)) if is_constant(left) => {
                Some(IntTest { col, op: op.swapped(), value: left.clone() })
            }
            _ => None,
        }
    }
}

fn column_of(rel: u16, expr: &Expr) -> Option<u16> {
    match &expr.kind {
        ExprKind::Column(column) if column.rel == rel && expr.ty.is_integer() => Some(column.col),
        _ => None,
    }
}

fn is_constant(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Const(_) | ExprKind::Param(_))
}

impl BoundTest {
    /// Whether the test holds; NULL never passes. Cost: about 30 instructions.
    #[inline]
    pub(crate) fn passes(&self, row: &RowRef<'_>, reader: &TableReader) -> bool {
        let Some(value) = reader.int(row, usize::from(self.col)) else { return false };
        match self.op {
            CmpOp::Eq | CmpOp::NullSafeEq => value == self.value,
            CmpOp::Ne => value != self.value,
            CmpOp::Lt => value < self.value,
            CmpOp::Le => value <= self.value,
            CmpOp::Gt => value > self.value,
            CmpOp::Ge => value >= self.value,
        }
    }
}
