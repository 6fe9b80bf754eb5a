//! Bound expressions: names resolved, types known, comparison domains chosen.

use std::cmp::Ordering;
use std::sync::Arc;

use types::collation::LikePattern;
use types::{CollationId, OwnedValue, SqlType, TypeKind};

use crate::coercibility::{Coercibility, coercibility};
use crate::func::Func;

/// A bound expression.
#[derive(Debug)]
pub struct Expr {
    /// What is computed.
    pub kind: ExprKind,
    /// Type of the result.
    pub ty: SqlType,
    /// Whether the result may be NULL.
    pub nullable: bool,
}

/// A column of a relation of the query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ColumnRef {
    /// Relation ordinal within the query: base tables, derived tables and aggregate outputs each have one.
    pub rel: u16,
    /// Column position in the relation.
    pub col: u16,
}

/// Comparison operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CmpOp {
    /// `=`
    Eq,
    /// `<=>`
    NullSafeEq,
    /// `<>`
    Ne,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
}

impl CmpOp {
    /// The operator with its sides exchanged: `a < b` is `b > a`.
    pub fn swapped(self) -> CmpOp {
        match self {
            CmpOp::Lt => CmpOp::Gt,
            CmpOp::Le => CmpOp::Ge,
            CmpOp::Gt => CmpOp::Lt,
            CmpOp::Ge => CmpOp::Le,
            same => same,
        }
    }

    /// The operator that is false where this one is true, and true where it is false.
    pub fn negated(self) -> Option<CmpOp> {
        match self {
            CmpOp::Eq => Some(CmpOp::Ne),
            CmpOp::NullSafeEq => None,
            CmpOp::Ne => Some(CmpOp::Eq),
            CmpOp::Lt => Some(CmpOp::Ge),
            CmpOp::Le => Some(CmpOp::Gt),
            CmpOp::Gt => Some(CmpOp::Le),
            CmpOp::Ge => Some(CmpOp::Lt),
        }
    }

    /// Whether `a op b` is true of two values, neither of them NULL, in this order.
    #[inline]
    pub fn accepts(self, order: Ordering) -> bool {
        match self {
            CmpOp::Eq | CmpOp::NullSafeEq => order == Ordering::Equal,
            CmpOp::Ne => order != Ordering::Equal,
            CmpOp::Lt => order == Ordering::Less,
            CmpOp::Le => order != Ordering::Greater,
            CmpOp::Gt => order == Ordering::Greater,
            CmpOp::Ge => order != Ordering::Less,
        }
    }
}

/// How two values are compared, chosen once at bind time by MySQL's rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CmpDomain {
    /// 64-bit integers of either sign.
    Integer,
    /// Exact decimals.
    Decimal,
    /// Doubles.
    Double,
    /// An integer column beside text or doubles, by [`crate::Number`]: nothing is rounded, so that an index
    /// of the column finds just what compares.
    Number,
    /// Strings under a collation.
    String(CollationId),
    /// DATE, DATETIME and TIMESTAMP as date-times.
    DateTime,
    /// TIME values.
    Time,
}

/// How a subquery's rows become a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SubqueryForm {
    /// The one value of the one row; NULL without a row; an error with more than one.
    Scalar,
    /// EXISTS and NOT EXISTS.
    Exists {
        /// NOT EXISTS.
        negated: bool,
    },
    /// `needle [NOT] IN (subquery)`.
    In {
        /// NOT IN.
        negated: bool,
        /// How the needle meets the rows.
        domain: CmpDomain,
    },
    /// `needle op ANY (subquery)` and `needle op ALL (subquery)`.
    Quantified {
        /// Operator; not `<=>`.
        op: CmpOp,
        /// ALL.
        all: bool,
        /// How the needle meets the rows.
        domain: CmpDomain,
    },
}

/// The comparison of a part of two rows.
#[derive(Clone, Debug)]
pub struct RowPart {
    /// Operator.
    pub op: CmpOp,
    /// How they are compared.
    pub domain: CmpDomain,
    /// Left and right.
    pub sides: [Expr; 2],
}

/// What an expression computes.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// A constant.
    Const(OwnedValue),
    /// Statement parameter: a `?`, or a literal that the plan cache lifted out of the text.
    Param(u16),
    /// A column of the current row.
    Column(ColumnRef),
    /// Conjunction, flattened, at least two terms.
    And(Box<[Expr]>),
    /// Disjunction, flattened, at least two terms.
    Or(Box<[Expr]>),
    /// Exclusive or.
    Xor(Box<[Expr; 2]>),
    /// Negation.
    Not(Box<Expr>),
    /// Comparison of two values.
    Compare {
        /// Operator.
        op: CmpOp,
        /// How they are compared.
        domain: CmpDomain,
        /// Left and right.
        args: Box<[Expr; 2]>,
    },
    /// `(a, b) < (c, d)`: the first parts that differ decide, or are NULL. At least two parts.
    CompareRows(Box<[RowPart]>),
    /// `value [NOT] BETWEEN low AND high`.
    Between {
        /// NOT BETWEEN.
        negated: bool,
        /// How they are compared.
        domain: CmpDomain,
        /// Value, low, high.
        args: Box<[Expr; 3]>,
    },
    /// `needle [NOT] IN (list)`.
    In {
        /// NOT IN.
        negated: bool,
        /// How they are compared.
        domain: CmpDomain,
        /// What is searched for.
        needle: Box<Expr>,
        /// Where.
        list: Box<[Expr]>,
    },
    /// IS [NOT] NULL.
    IsNull {
        /// IS NOT NULL.
        negated: bool,
        /// Operand.
        arg: Box<Expr>,
    },
    /// IS [NOT] TRUE, IS [NOT] FALSE.
    IsTruth {
        /// IS NOT.
        negated: bool,
        /// TRUE or FALSE.
        truth: bool,
        /// Operand.
        arg: Box<Expr>,
    },
    /// `text [NOT] LIKE pattern [ESCAPE c]`.
    Like {
        /// NOT LIKE.
        negated: bool,
        /// Collation of the match.
        collation: CollationId,
        /// Escape character; `None` for `ESCAPE ''`.
        escape: Option<char>,
        /// The pattern, if it is constant.
        compiled: Option<Arc<LikePattern>>,
        /// Text and pattern.
        args: Box<[Expr; 2]>,
    },
    /// CASE: pairs of condition and result. `CASE x WHEN y` is bound to the condition `x = y`, with `x` held
    /// by a [`ExprKind::Let`] around if it has to be computed.
    Case {
        /// Tried in order.
        arms: Box<[(Expr, Expr)]>,
        /// ELSE; NULL without.
        otherwise: Option<Box<Expr>>,
    },
    /// `body` with a value that is computed once: [`ExprKind::Held`] stands for it there.
    Let {
        /// What is computed first.
        value: Box<Expr>,
        /// The result.
        body: Box<Expr>,
    },
    /// The value of the innermost [`ExprKind::Let`] around.
    Held {
        /// What that is, for folding and for errors that quote it; it is not computed again. `None` if it is
        /// too large to be repeated wherever its value is used.
        shown: Option<Box<Expr>>,
        /// How hard the operand holds on to its collation.
        coercibility: Coercibility,
    },
    /// Conversion to [`Expr::ty`].
    Cast {
        /// What is converted.
        arg: Box<Expr>,
        /// The column of the select list that the conversion is, for warnings.
        name: Option<Box<str>>,
        /// A branch of a CASE becomes a text: as a number it is what it was before.
        is_branch: bool,
        /// The statement has it as CAST or CONVERT.
        is_written: bool,
    },
    /// Every other operator and function.
    Call {
        /// Which.
        func: Func,
        /// Arguments.
        args: Box<[Expr]>,
    },
    /// `@name`.
    UserVar(Box<str>),
    /// `@name := value`.
    AssignUserVar {
        /// Name without `@`.
        name: Box<str>,
        /// New value.
        value: Box<Expr>,
    },
    /// `@@name`.
    SysVar {
        /// `Some(true)` for `@@global.`, `Some(false)` for `@@session.`.
        global: Option<bool>,
        /// Name.
        name: Box<str>,
    },
    /// A subquery; the number is its place among the query's subplans.
    Subquery {
        /// Ordinal of the subplan.
        plan: u16,
        /// How its rows become a value.
        form: SubqueryForm,
        /// Left side of IN, ANY or ALL.
        needle: Option<Box<Expr>>,
    },
}

/// Calls `$visit` on the operands of `$kind`, a shared or an exclusive reference; `$iter` goes with it.
macro_rules! visit_children {
    ($kind:expr, $iter:ident, $visit:ident) => {
        match $kind {
            ExprKind::Const(_)
            | ExprKind::Param(_)
            | ExprKind::Column(_)
            | ExprKind::UserVar(_)
            | ExprKind::SysVar { .. } => {}
            ExprKind::And(args) | ExprKind::Or(args) | ExprKind::Call { args, .. } => {
                args.$iter().for_each($visit);
            }
            ExprKind::Xor(args) | ExprKind::Compare { args, .. } | ExprKind::Like { args, .. } => {
                args.$iter().for_each($visit);
            }
            ExprKind::Between { args, .. } => args.$iter().for_each($visit),
            ExprKind::CompareRows(parts) => {
                for part in parts.$iter() {
                    for side in part.sides.$iter() {
                        $visit(side);
                    }
                }
            }
            ExprKind::Not(arg)
            | ExprKind::IsNull { arg, .. }
            | ExprKind::IsTruth { arg, .. }
            | ExprKind::Cast { arg, .. }
            | ExprKind::AssignUserVar { value: arg, .. } => $visit(arg),
            ExprKind::Held { shown, .. } => {
                for operand in shown.$iter() {
                    $visit(operand);
                }
            }
            ExprKind::Let { value, body } => {
                $visit(value);
                $visit(body);
            }
            ExprKind::In { needle, list, .. } => {
                $visit(needle);
                list.$iter().for_each($visit);
            }
            ExprKind::Case { arms, otherwise } => {
                for (condition, result) in arms {
                    $visit(condition);
                    $visit(result);
                }
                for operand in otherwise.$iter() {
                    $visit(operand);
                }
            }
            ExprKind::Subquery { needle, .. } => {
                for operand in needle.$iter() {
                    $visit(operand);
                }
            }
        }
    };
}

impl Clone for Expr {
    fn clone(&self) -> Expr {
        let (ty, nullable) = (self.ty.clone(), self.nullable);
        // Plans are made of these two, most of all.
        match self.kind {
            ExprKind::Param(number) => Expr { kind: ExprKind::Param(number), ty, nullable },
            ExprKind::Column(column) => Expr { kind: ExprKind::Column(column), ty, nullable },
            _ => self.clone_as(ty),
        }
    }
}

impl Expr {
    /// A column of type `ty`.
    pub fn column(rel: u16, col: u16, ty: SqlType, nullable: bool) -> Expr {
        Expr { kind: ExprKind::Column(ColumnRef { rel, col }), ty, nullable }
    }

    /// A clone of any expression, which takes its type `ty`.
    #[inline(never)]
    fn clone_as(&self, ty: SqlType) -> Expr {
        Expr { kind: self.kind.clone(), ty, nullable: self.nullable }
    }

    /// The CHAR column that this is, with the blanks that PAD_CHAR_TO_FULL_LENGTH adds.
    pub fn unpadded(&self) -> Option<&Expr> {
        match &self.kind {
            ExprKind::Call { func: Func::RPad, args } if self.ty.kind == TypeKind::Char => args.first(),
            _ => None,
        }
    }

    /// Whether this is a string of bytes that an operator of bits makes. As a number it is what it begins
    /// with, as a DOUBLE without a warning.
    pub(crate) fn has_bits_of_bytes(&self) -> bool {
        use Func::{BitAnd, BitNot, BitOr, BitXor, ShiftLeft, ShiftRight};
        let ExprKind::Call { func, .. } = self.kind else { return false };
        matches!(func, BitAnd | BitNot | BitOr | BitXor | ShiftLeft | ShiftRight) && self.ty.is_string()
    }

    /// Whether computing this is no more than looking it up.
    pub(crate) fn is_trivial(&self) -> bool {
        matches!(self.kind, ExprKind::Const(_) | ExprKind::Param(_) | ExprKind::Column(_))
    }

    /// What stands for this expression where [`Expr::holding`] holds its value.
    pub(crate) fn held(&self) -> Expr {
        let (ty, nullable) = (self.ty.clone(), self.nullable);
        let shown = self.is_small().then(|| Box::new(self.clone()));
        let kind = ExprKind::Held { shown, coercibility: coercibility(self) };
        Expr { kind, ty, nullable }
    }

    /// Whether the expression may be repeated where its value is used: copies of copies grow exponentially.
    pub(crate) fn is_small(&self) -> bool {
        const NODES_MAX: usize = 32;
        self.count_nodes(NODES_MAX) <= NODES_MAX
    }

    /// The number of nodes; above `enough` the count may stop.
    fn count_nodes(&self, enough: usize) -> usize {
        let mut count = 1;
        self.for_each_child(&mut |child| {
            if count <= enough {
                count += child.count_nodes(enough - (count - 1).min(enough));
            }
        });
        count
    }

    /// Height and number of nodes.
    pub fn extent(&self) -> (usize, usize) {
        let (mut height, mut nodes) = (0, 1);
        self.for_each_child(&mut |child| {
            let (child_height, child_nodes) = child.extent();
            height = height.max(child_height);
            nodes += child_nodes;
        });
        (height + 1, nodes)
    }

    /// This expression, while the value of `value` is held.
    pub(crate) fn holding(self, value: Expr) -> Expr {
        let (ty, nullable) = (self.ty.clone(), self.nullable);
        Expr { kind: ExprKind::Let { value: Box::new(value), body: Box::new(self) }, ty, nullable }
    }

    /// Conversion of `arg` to `ty`.
    pub(crate) fn cast(arg: Expr, ty: SqlType, nullable: bool) -> Expr {
        let kind = ExprKind::Cast { arg: Box::new(arg), name: None, is_branch: false, is_written: false };
        Expr { kind, ty, nullable }
    }

    /// This conversion, as one that the statement has.
    pub(crate) fn written(mut self) -> Expr {
        if let ExprKind::Cast { is_written, .. } = &mut self.kind {
            *is_written = true;
        }
        self
    }

    /// Tells a conversion the name of its column in the select list.
    pub fn name_cast(&mut self, column: &str) {
        if let ExprKind::Cast { name, .. } = &mut self.kind {
            *name = Some(column.into());
        }
    }

    /// A constant of type `ty`.
    pub fn constant(value: OwnedValue, ty: SqlType) -> Expr {
        let nullable = value.is_null();
        Expr { kind: ExprKind::Const(value), ty, nullable }
    }

    /// Calls `visit` on this expression and everything below it, outermost first.
    pub fn walk<'e>(&'e self, visit: &mut dyn FnMut(&'e Expr)) {
        visit(self);
        if !self.is_trivial() {
            self.walk_children(visit);
        }
    }

    fn walk_children<'e>(&'e self, visit: &mut dyn FnMut(&'e Expr)) {
        let mut walk = |child: &'e Expr| child.walk(visit);
        visit_children!(&self.kind, iter, walk);
    }

    /// The column that it is, if it is one.
    #[inline]
    pub fn as_column(&self) -> Option<ColumnRef> {
        match self.kind {
            ExprKind::Column(column) => Some(column),
            _ => None,
        }
    }

    /// Whether the expression reads a parameter of `range`.
    pub fn reads_params(&self, range: &std::ops::Range<u16>) -> bool {
        let mut reads = false;
        self.walk(&mut |e| reads |= matches!(e.kind, ExprKind::Param(n) if range.contains(&n)));
        reads
    }

    /// Calls `visit` on the direct operands.
    pub fn for_each_child<'e>(&'e self, visit: &mut dyn FnMut(&'e Expr)) {
        visit_children!(&self.kind, iter, visit);
    }

    /// As [`Expr::for_each_child`], to change them.
    pub fn for_each_child_mut(&mut self, visit: &mut dyn FnMut(&mut Expr)) {
        visit_children!(&mut self.kind, iter_mut, visit);
    }
}
