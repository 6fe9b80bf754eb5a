//! Conditions that an index can serve: columns of the relation, compared with values known before its rows
//! are read.

use expr::{CmpDomain, CmpOp, Expr, ExprKind, SubqueryForm};
use types::{SqlType, TypeKind};

use super::relations::{RelSet, Rels};
use crate::bind::volatile::is_volatile;
use crate::plan::PartTest;

/// The facts that a condition implies about the columns of the relation.
#[derive(Clone, Debug)]
pub(super) enum Tree<'e> {
    /// One column.
    Leaf(Sarg<'e>),
    /// All of it holds.
    All(Vec<Tree<'e>>),
    /// Some of it holds.
    Any(Vec<Tree<'e>>),
    /// Nothing that an index could use.
    Other,
}

impl Tree<'_> {
    /// What it says without running a subquery.
    pub(super) fn without_subqueries(self) -> Self {
        let all = |terms: Vec<Self>| terms.into_iter().map(Tree::without_subqueries).collect();
        match self {
            Tree::Leaf(Sarg { test: Test::InSubquery(..), .. }) => Tree::Other,
            Tree::All(terms) => Tree::All(all(terms)),
            Tree::Any(terms) => Tree::Any(all(terms)),
            other => other,
        }
    }
}

/// A condition on a column of the relation.
#[derive(Clone, Debug)]
pub(super) struct Sarg<'e> {
    /// The column.
    pub(super) col: u16,
    /// What is asked of it.
    pub(super) test: Test<'e>,
    /// An index finds exactly the rows that pass; else they must be tested again.
    pub(super) exact: bool,
}

/// What is asked of a column; see [`PartTest`].
#[derive(Clone, Copy, Debug)]
pub(super) enum Test<'e> {
    Eq(&'e Expr),
    NullSafeEq(&'e Expr),
    In(&'e [Expr]),
    /// A subquery, and how many values it is expected to give.
    InSubquery(&'e Expr, usize),
    NotIn(&'e [Expr]),
    Lower(&'e Expr, bool),
    Upper(&'e Expr, bool),
    IsNull,
    IsNotNull,
    Like {
        pattern: &'e Expr,
        escape: Option<char>,
    },
}

impl<'e> Test<'e> {
    /// The values it names.
    pub(super) fn values(self) -> &'e [Expr] {
        match self {
            Test::Eq(value)
            | Test::NullSafeEq(value)
            | Test::Lower(value, _)
            | Test::Upper(value, _)
            | Test::Like { pattern: value, .. } => std::slice::from_ref(value),
            Test::In(values) | Test::NotIn(values) => values,
            Test::InSubquery(..) | Test::IsNull | Test::IsNotNull => &[],
        }
    }

    /// Whether it leaves single values.
    pub(super) fn is_point(self) -> bool {
        matches!(self, Test::Eq(_) | Test::NullSafeEq(_) | Test::In(_) | Test::InSubquery(..) | Test::IsNull)
    }

    /// Whether it leaves NULLs out.
    pub(super) fn rejects_null(self) -> bool {
        !matches!(self, Test::NullSafeEq(_) | Test::IsNull)
    }

    /// As a plan has it.
    pub(super) fn to_plan(self) -> PartTest {
        match self {
            Test::Eq(value) => PartTest::Eq(value.clone()),
            Test::NullSafeEq(value) => PartTest::NullSafeEq(value.clone()),
            Test::In(values) => PartTest::In(values.into()),
            Test::InSubquery(subquery, _) => PartTest::InSubquery(Box::new(subquery.clone())),
            Test::NotIn(values) => PartTest::NotIn(values.into()),
            Test::Lower(value, included) => PartTest::Lower(value.clone(), included),
            Test::Upper(value, included) => PartTest::Upper(value.clone(), included),
            Test::IsNull => PartTest::IsNull,
            Test::IsNotNull => PartTest::IsNotNull,
            Test::Like { pattern, escape } => PartTest::Like { pattern: pattern.clone(), escape },
        }
    }
}

/// What `condition` says about columns of `rel`, given that `bound` are read.
pub(super) fn of<'e>(condition: &'e Expr, rel: u16, bound: RelSet, rels: &Rels) -> Tree<'e> {
    Finder { rel, bound, rels }.tree(condition, false)
}

/// A column of a relation that must equal a value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Equality {
    /// The column.
    pub(super) col: u16,
    /// The operand that is the value.
    pub(super) side: usize,
    /// See [`Sarg::exact`].
    pub(super) exact: bool,
}

/// The column of `rel` that `condition` equates with a constant or a parameter, if an index could serve that.
pub(super) fn equality(condition: &Expr, rel: u16) -> Option<Equality> {
    let ExprKind::Compare { op: CmpOp::Eq, domain, args } = &condition.kind else { return None };
    let column = |side: usize| match args[side].kind {
        ExprKind::Column(column) if column.rel == rel => Some(column.col),
        _ => None,
    };
    let (col, side) = column(0).map(|col| (col, 1)).or_else(|| Some((column(1)?, 0)))?;
    let value = &args[side];
    if !matches!(value.kind, ExprKind::Const(_) | ExprKind::Param(_)) {
        return None;
    }
    let exact = fit(&args[1 - side].ty, *domain, &value.ty, true)?;
    Some(Equality { col, side, exact })
}

/// The column of `rel` that `condition` searches for in a list of constants and parameters, if an index finds
/// exactly the rows that pass.
pub(super) fn exact_list(condition: &Expr, rel: u16) -> Option<u16> {
    let ExprKind::In { negated: false, domain, needle, list } = &condition.kind else { return None };
    let column = needle.as_column().filter(|column| column.rel == rel)?;
    let is_exact = |value: &Expr| {
        matches!(value.kind, ExprKind::Const(_) | ExprKind::Param(_))
            && fit(&needle.ty, *domain, &value.ty, true) == Some(true)
    };
    list.iter().all(is_exact).then_some(column.col)
}

struct Finder<'r> {
    rel: u16,
    bound: RelSet,
    rels: &'r Rels<'r>,
}

impl Finder<'_> {
    /// The facts that follow from `condition`, or from its negation, being true.
    fn tree<'e>(&self, condition: &'e Expr, negated: bool) -> Tree<'e> {
        match &condition.kind {
            ExprKind::And(terms) | ExprKind::Or(terms) => {
                let terms = terms.iter().map(|term| self.tree(term, negated)).collect();
                let is_all = matches!(condition.kind, ExprKind::And(_)) != negated;
                if is_all { Tree::All(terms) } else { Tree::Any(terms) }
            }
            ExprKind::Not(arg) => self.tree(arg, !negated),
            ExprKind::IsTruth { negated: false, truth, arg } if !negated => self.tree(arg, !truth),
            ExprKind::Compare { op, domain, args } => match negation(*op, negated) {
                Some(op) => leaf(self.comparison(op, *domain, args)),
                None => Tree::Other,
            },
            ExprKind::Between { negated: outside, domain, args } => {
                self.between(args, *domain, *outside != negated)
            }
            ExprKind::In { negated: outside, domain, needle, list } => {
                leaf(self.list(needle, list, *domain, *outside != negated))
            }
            ExprKind::IsNull { negated: outside, arg } => match self.column(arg) {
                Some((col, _)) => {
                    let test = if *outside == negated { Test::IsNull } else { Test::IsNotNull };
                    Tree::Leaf(Sarg { col, test, exact: true })
                }
                None => Tree::Other,
            },
            ExprKind::Like { negated: outside, collation, escape, args, .. } if *outside == negated => {
                leaf(self.like(args, *collation, *escape))
            }
            ExprKind::Subquery {
                plan,
                form: SubqueryForm::In { negated: outside, domain },
                needle: Some(needle),
            } if *outside == negated => leaf(self.subquery(condition, needle, *plan, *domain)),
            _ => Tree::Other,
        }
    }

    fn comparison<'e>(&self, op: CmpOp, domain: CmpDomain, args: &'e [Expr; 2]) -> Option<Sarg<'e>> {
        let (column, value, op) = match self.column(&args[0]) {
            Some(column) => (column, &args[1], op),
            None => (self.column(&args[1])?, &args[0], op.swapped()),
        };
        let (col, ty) = column;
        let is_equality = matches!(op, CmpOp::Eq | CmpOp::NullSafeEq | CmpOp::Ne);
        let exact = self.fit(ty, domain, value, is_equality)?;
        let test = match op {
            CmpOp::Eq => Test::Eq(value),
            CmpOp::NullSafeEq => Test::NullSafeEq(value),
            CmpOp::Lt | CmpOp::Le => Test::Upper(value, op == CmpOp::Le),
            CmpOp::Gt | CmpOp::Ge => Test::Lower(value, op == CmpOp::Ge),
            // What an index finds too much by equality, it would leave out here.
            CmpOp::Ne if exact => Test::NotIn(std::slice::from_ref(value)),
            CmpOp::Ne => Test::IsNotNull,
        };
        Some(Sarg { col, test, exact })
    }

    fn between<'e>(&self, args: &'e [Expr; 3], domain: CmpDomain, outside: bool) -> Tree<'e> {
        let [value, low, high] = args;
        let Some((col, ty)) = self.column(value) else { return Tree::Other };
        let end = |value: &'e Expr, test: Test<'e>| {
            leaf(self.fit(ty, domain, value, false).map(|exact| Sarg { col, test, exact }))
        };
        if outside {
            Tree::Any(vec![end(low, Test::Upper(low, false)), end(high, Test::Lower(high, false))])
        } else {
            Tree::All(vec![end(low, Test::Lower(low, true)), end(high, Test::Upper(high, true))])
        }
    }

    fn list<'e>(
        &self,
        needle: &Expr,
        list: &'e [Expr],
        domain: CmpDomain,
        outside: bool,
    ) -> Option<Sarg<'e>> {
        let (col, ty) = self.column(needle)?;
        let mut exact = true;
        for item in list {
            exact &= self.fit(ty, domain, item, true)?;
        }
        let test = match (outside, exact) {
            (false, _) => Test::In(list),
            (true, true) => Test::NotIn(list),
            (true, false) => Test::IsNotNull,
        };
        Some(Sarg { col, test, exact })
    }

    /// IN of a subquery that names nothing outside. It is run as often as the relation is read: a table that
    /// is read for each row of another one is not read so.
    fn subquery<'e>(
        &self,
        subquery: &'e Expr,
        needle: &Expr,
        plan: u16,
        domain: CmpDomain,
    ) -> Option<Sarg<'e>> {
        let (col, ty) = self.column(needle)?;
        let list = self.rels.subqueries.list(plan).filter(|_| self.bound.is_empty())?;
        let exact = domain_fit(ty, domain, list.ty)?;
        let is_member = ty.kind == TypeKind::Enum;
        let test = Test::InSubquery(subquery, list.estimate.rows.clamp(1.0, 1e9) as usize);
        (!is_member).then_some(Sarg { col, test, exact })
    }

    /// LIKE becomes a range of the characters before its first wildcard; the rows found are tested again.
    fn like<'e>(
        &self,
        args: &'e [Expr; 2],
        collation: types::CollationId,
        escape: Option<char>,
    ) -> Option<Sarg<'e>> {
        let [text, pattern] = args;
        let (col, ty) = self.column(text)?;
        let is_text = ty.is_string() && ty.collation == collation && !matches!(ty.kind, TypeKind::Binary);
        let is_known = self.is_known(pattern) && pattern.ty.is_string();
        let test = Test::Like { pattern, escape };
        (is_text && is_known).then_some(Sarg { col, test, exact: false })
    }

    /// The column of the relation that `expr` is.
    fn column<'x>(&self, expr: &'x Expr) -> Option<(u16, &'x SqlType)> {
        match expr.kind {
            ExprKind::Column(column) if column.rel == self.rel => Some((column.col, &expr.ty)),
            _ => None,
        }
    }

    /// Whether `value` is there before the relation is read, and the same for all of its rows.
    fn is_known(&self, value: &Expr) -> bool {
        matches!(value.kind, ExprKind::Const(_) | ExprKind::Param(_))
            || (self.rels.of(value).within(self.bound) && !is_volatile(value))
    }

    /// As [`fit`], for a value that must be known.
    fn fit(&self, ty: &SqlType, domain: CmpDomain, value: &Expr, is_equality: bool) -> Option<bool> {
        if self.is_known(value) { fit(ty, domain, &value.ty, is_equality) } else { None }
    }
}

/// Whether an index on a column of type `ty` finds what compares with values of type `value` in `domain`:
/// `None` if not, `Some(false)` if what it finds must be tested again.
fn fit(ty: &SqlType, domain: CmpDomain, value: &SqlType, is_equality: bool) -> Option<bool> {
    // Members of an ENUM are in the order of their numbers, so that only equality of their texts can be
    // looked up, and only in the column's own collation: another one may equate other texts.
    let is_member = ty.kind == TypeKind::Enum && domain == CmpDomain::String(ty.collation);
    if is_member && is_equality && value.is_string() {
        return Some(false);
    }
    domain_fit(ty, domain, value)
}

fn leaf(sarg: Option<Sarg<'_>>) -> Tree<'_> {
    sarg.map_or(Tree::Other, Tree::Leaf)
}

/// The operator that holds where `op` holds, or where it does not; `None` if there is none.
fn negation(op: CmpOp, negated: bool) -> Option<CmpOp> {
    Some(match op {
        op if !negated => op,
        CmpOp::Eq => CmpOp::Ne,
        CmpOp::Ne => CmpOp::Eq,
        CmpOp::Lt => CmpOp::Ge,
        CmpOp::Le => CmpOp::Gt,
        CmpOp::Gt => CmpOp::Le,
        CmpOp::Ge => CmpOp::Lt,
        CmpOp::NullSafeEq => return None,
    })
}

/// Whether the order of a column of type `ty` in an index is that of its comparison with values of type
/// `value` in `domain`.
fn domain_fit(ty: &SqlType, domain: CmpDomain, value: &SqlType) -> Option<bool> {
    if value.kind == TypeKind::Null {
        return Some(false);
    }
    match domain {
        CmpDomain::Integer if ty.is_integer() && value.is_integer() => Some(true),
        CmpDomain::Number if ty.is_integer() => (is_number(value) || value.is_string()).then_some(true),
        CmpDomain::Integer | CmpDomain::Decimal | CmpDomain::Double
            if is_number(ty) || ty.kind == TypeKind::Year =>
        {
            (is_number(value) || value.is_string()).then_some(false)
        }
        CmpDomain::String(collation) if ty.is_string() && ty.collation == collation && value.is_string() => {
            let padded = matches!(ty.kind, TypeKind::Binary);
            Some(!padded)
        }
        CmpDomain::DateTime
            if matches!(ty.kind, TypeKind::Date | TypeKind::DateTime | TypeKind::Timestamp) =>
        {
            let is_same =
                value.kind == ty.kind && ty.kind != TypeKind::Timestamp && value.decimals <= ty.decimals;
            let is_fit = value.is_temporal() && value.kind != TypeKind::Time || value.is_string();
            is_fit.then_some(is_same)
        }
        CmpDomain::Time if ty.kind == TypeKind::Time => {
            let is_fit = value.kind == TypeKind::Time || value.is_string();
            is_fit.then_some(value.kind == TypeKind::Time && value.decimals <= ty.decimals)
        }
        _ => None,
    }
}

fn is_number(ty: &SqlType) -> bool {
    ty.is_integer() || matches!(ty.kind, TypeKind::Decimal | TypeKind::Double)
}
