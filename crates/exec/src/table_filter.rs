//! A table's condition, taken apart: what is decided on page bytes, and what is left to the interpreter.
//!
//! The interpreter is the oracle: whatever a test here cannot be bound to is left to it.

use std::rc::Rc;

use base::memory::StatementAccount;
use engine::{RowRef, Table};
use expr::{CmpDomain, CmpOp, EvalCtx, Expr, ExprKind, RowSource};

use crate::column_term::{Known, is_outer};
use crate::filter_like::{BoundLike, LikeTest};
use crate::filter_numbers::{BoundNumbers, NumberTest};
use crate::filter_texts::{BoundTexts, TextTest};
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
    /// The constants of `tests` are others for each outer row.
    pub(crate) names_outer: bool,
}

/// A term that is decided on page bytes, once its constants are known.
#[derive(Debug)]
enum Test {
    Numbers(NumberTest),
    Texts(TextTest),
    Like(LikeTest),
    /// IS [NOT] NULL.
    Null {
        col: u16,
        negated: bool,
    },
    /// One of several sets of terms, of which all hold.
    Any(Box<[Box<[Test]>]>),
}

/// A test whose constants are known.
#[derive(Debug)]
pub(crate) enum BoundTest {
    Numbers(BoundNumbers),
    Texts(BoundTexts),
    Like(BoundLike),
    Null { col: u16, negated: bool },
    Any(Box<[Box<[BoundTest]>]>),
}

#[cfg(test)]
thread_local! {
    /// How often a filter was decided on page bytes, wholly or in part.
    pub(crate) static FILTERS_BOUND: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

impl TableFilter {
    /// The condition `whole` on relation `rel`, which is `table`.
    pub(crate) fn new(rel: u16, table: &Table, whole: &Expr, known: Known) -> Self {
        let (mut tests, mut rest, mut is_quiet) = (Vec::new(), Vec::new(), true);
        let mut place = |term: &Expr| {
            let test = Test::of_term(rel, table, term, known).filter(|test| is_quiet || test.goes_first());
            if let Some(test) = test {
                tests.push(test);
            } else {
                is_quiet &= is_quiet_term(term);
                rest.push(term.clone());
            }
        };
        for term in terms_of(whole) {
            match ends_of(rel, term).filter(|_| known == Known::Outer) {
                Some(ends) => ends.iter().for_each(&mut place),
                None => place(term),
            }
        }
        let all_of = |mut terms: Vec<Expr>| match terms.len() {
            0 | 1 => terms.pop(),
            _ => Some(Expr { kind: ExprKind::And(terms.into()), ..whole.clone() }),
        };
        let fixed = rest.iter().filter(|term| is_fixed(term)).cloned().collect();
        let (fixed, rest) = (all_of(fixed).map(Box::new), all_of(rest));
        let names_outer = known == Known::Outer && tests.iter().any(|test| test.names_outer(rel));
        TableFilter { whole: whole.clone(), tests: tests.into(), rest, fixed, names_outer }
    }

    /// The tests with their constants, or what these are for the row `outer`; `None` if there are none, or
    /// one has a constant that only the interpreter compares. Lists of constants are charged to `memory`.
    pub(crate) fn bind(
        &self,
        memory: &Rc<StatementAccount>,
        outer: &dyn RowSource,
        ctx: &EvalCtx<'_>,
    ) -> Option<Box<[BoundTest]>> {
        let bound = if self.tests.is_empty() { None } else { bind_all(&self.tests, memory, outer, ctx) };
        #[cfg(test)]
        FILTERS_BOUND.set(FILTERS_BOUND.get() + usize::from(bound.is_some()));
        bound
    }
}

impl Test {
    /// The test that `term` is on relation `rel`, which is `table`, if it is one.
    fn of_term(rel: u16, table: &Table, term: &Expr, known: Known) -> Option<Test> {
        match &term.kind {
            ExprKind::IsNull { negated, arg } => match arg.kind {
                ExprKind::Column(column) if column.rel == rel => {
                    Some(Test::Null { col: column.col, negated: *negated })
                }
                _ => None,
            },
            ExprKind::Not(arg) => Test::of_term(rel, table, &negation(arg)?, known),
            ExprKind::Like { .. } => LikeTest::of_term(rel, table, term).map(Test::Like),
            ExprKind::Or(arms) => {
                let of_arm =
                    |arm| terms_of(arm).iter().map(|term| Test::of_term(rel, table, term, known)).collect();
                arms.iter().map(of_arm).collect::<Option<_>>().map(Test::Any)
            }
            _ => {
                let numbers = NumberTest::of_term(rel, term, known).map(Test::Numbers);
                numbers.or_else(|| TextTest::of_term(rel, table, term, known).map(Test::Texts))
            }
        }
    }

    /// Whether it is decided first even where a term on its left may warn.
    fn goes_first(&self) -> bool {
        match self {
            Test::Numbers(test) => test.is_of_integer(),
            Test::Like(_) => true,
            _ => false,
        }
    }

    /// Whether it compares with columns of other relations than `rel`.
    fn names_outer(&self, rel: u16) -> bool {
        match self {
            Test::Numbers(test) => test.names_outer(rel),
            Test::Texts(test) => test.names_outer(rel),
            Test::Like(_) | Test::Null { .. } => false,
            Test::Any(arms) => arms.iter().flatten().any(|test| test.names_outer(rel)),
        }
    }

    fn bind(
        &self,
        memory: &Rc<StatementAccount>,
        outer: &dyn RowSource,
        ctx: &EvalCtx<'_>,
    ) -> Option<BoundTest> {
        Some(match self {
            Test::Numbers(test) => BoundTest::Numbers(test.bind(memory, outer, ctx)?),
            Test::Texts(test) => BoundTest::Texts(test.bind(memory, outer, ctx)?),
            Test::Like(test) => BoundTest::Like(test.bind(ctx)?),
            Test::Null { col, negated } => BoundTest::Null { col: *col, negated: *negated },
            Test::Any(arms) => BoundTest::Any(
                arms.iter().map(|arm| bind_all(arm, memory, outer, ctx)).collect::<Option<_>>()?,
            ),
        })
    }
}

fn bind_all(
    tests: &[Test],
    memory: &Rc<StatementAccount>,
    outer: &dyn RowSource,
    ctx: &EvalCtx<'_>,
) -> Option<Box<[BoundTest]>> {
    tests.iter().map(|test| test.bind(memory, outer, ctx)).collect()
}

/// What is true where `expr` is false: another form of the same comparison.
fn negation(expr: &Expr) -> Option<Expr> {
    let mut negation = expr.clone();
    match &mut negation.kind {
        ExprKind::Compare { op, .. } => *op = op.negated()?,
        ExprKind::Between { negated, .. }
        | ExprKind::In { negated, .. }
        | ExprKind::IsNull { negated, .. }
        | ExprKind::Like { negated, .. } => *negated = !*negated,
        _ => return None,
    }
    Some(negation)
}

/// `a.x BETWEEN low AND high` of an outer column as comparisons of `low` and `high`, which are columns of the
/// table. (Where they are computed, both are, and may fail.)
fn ends_of(rel: u16, term: &Expr) -> Option<[Expr; 2]> {
    let ExprKind::Between { negated: false, domain, args } = &term.kind else { return None };
    let [value, low, high] = &**args;
    let end = |op, end: &Expr| {
        let kind = ExprKind::Compare { op, domain: *domain, args: Box::new([end.clone(), value.clone()]) };
        Expr { kind, ..term.clone() }
    };
    let is_number = matches!(domain, CmpDomain::Integer | CmpDomain::Decimal | CmpDomain::DateTime);
    let are_columns = [low, high].iter().all(|end| matches!(end.kind, ExprKind::Column(_)));
    (is_number && are_columns && is_outer(rel, value)).then(|| [end(CmpOp::Le, low), end(CmpOp::Ge, high)])
}

/// The terms that are all true where `expr` is.
fn terms_of(expr: &Expr) -> &[Expr] {
    match &expr.kind {
        ExprKind::And(terms) => terms,
        _ => std::slice::from_ref(expr),
    }
}

impl BoundTest {
    /// Whether the test holds; NULL never passes.
    #[inline]
    pub(crate) fn passes(&self, row: &RowRef<'_>, reader: &TableReader, env: RowEnv<'_>) -> bool {
        match self {
            BoundTest::Numbers(test) => test.passes(row, reader, env),
            BoundTest::Like(test) => test.passes(row, reader, env),
            other => other.passes_apart(row, reader, env),
        }
    }

    /// As [`BoundTest::passes`], for tests that need not be where rows are read.
    #[inline(never)]
    fn passes_apart(&self, row: &RowRef<'_>, reader: &TableReader, env: RowEnv<'_>) -> bool {
        match self {
            BoundTest::Numbers(test) => test.passes(row, reader, env),
            BoundTest::Like(test) => test.passes(row, reader, env),
            BoundTest::Texts(test) => test.passes(row, reader, env),
            BoundTest::Null { col, negated } => reader.is_null(row, usize::from(*col)) != *negated,
            BoundTest::Any(arms) => arms.iter().any(|arm| {
                let mut terms = arm.iter();
                terms.all(|test| test.passes_apart(row, reader, env))
            }),
        }
    }
}

/// Whether `term` neither warns nor has effects, so that nobody sees whether terms on its right are decided
/// before it.
fn is_quiet_term(term: &Expr) -> bool {
    let mut quiet = true;
    term.walk(&mut |e| {
        quiet &= match &e.kind {
            ExprKind::Compare { domain, .. }
            | ExprKind::Between { domain, .. }
            | ExprKind::In { domain, .. } => {
                matches!(domain, CmpDomain::Integer | CmpDomain::Decimal | CmpDomain::String(_))
            }
            kind => matches!(
                kind,
                ExprKind::Const(_)
                    | ExprKind::Param(_)
                    | ExprKind::Column(_)
                    | ExprKind::And(_)
                    | ExprKind::Or(_)
                    | ExprKind::Not(_)
                    | ExprKind::IsNull { .. }
                    | ExprKind::IsTruth { .. }
                    | ExprKind::Like { .. }
            ),
        };
    });
    quiet
}

/// Whether `expr` compares constants.
fn is_fixed(expr: &Expr) -> bool {
    let mut fixed = true;
    expr.walk(&mut |e| {
        fixed &= matches!(e.kind, ExprKind::Const(_) | ExprKind::Param(_) | ExprKind::Compare { .. });
    });
    fixed
}
