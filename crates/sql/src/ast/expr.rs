//! Expressions.

use expr::CmpOp;

use super::{CastType, Query};
use crate::literal::Literal;

/// An expression node, 32 bytes. Operators appear in the tree as they bind; parentheses are gone.
#[derive(Clone, Copy, Debug)]
pub struct Expr<'a> {
    /// What it is.
    pub kind: ExprKind<'a>,
    /// Offset of its first byte.
    pub pos: u32,
    /// Longest path to a leaf, at most [`HEIGHT_MAX`](crate::parser::HEIGHT_MAX).
    pub height: u16,
}

/// The kinds of expression.
#[derive(Clone, Copy, Debug)]
pub enum ExprKind<'a> {
    /// `NULL`.
    Null,
    /// `TRUE`, `FALSE`.
    Bool(bool),
    /// Bare `DEFAULT`, where a value may be given as a default.
    Default,
    /// `*` as an argument (`COUNT(*)`).
    Star,
    /// A literal.
    Literal(Literal),
    /// `?`: counted from 0 in text order.
    Param(u32),
    /// A column.
    Column(&'a ColumnRef<'a>),
    /// `@name`, without the `@`.
    UserVar(&'a str),
    /// `@@[scope.]name`.
    SystemVar(&'a SystemVar<'a>),
    /// `@name := value`.
    Assign(&'a Assign<'a>),
    /// A prefix operator.
    Unary(UnaryOp, &'a Expr<'a>),
    /// An infix operator.
    Binary(BinaryOp, &'a Expr<'a>, &'a Expr<'a>),
    /// `a AND b AND ..`, two or more, and how many of the operators are written `&&`.
    And(&'a [Expr<'a>], u32),
    /// `a OR b OR ..`, two or more, and how many of the operators are written `||`.
    Or(&'a [Expr<'a>], u32),
    /// `(a, b)` or `ROW(a, b)`.
    Row(&'a [Expr<'a>]),
    /// `x IS [NOT] ..`
    Is(&'a Expr<'a>, IsTest, Negated),
    /// `x [NOT] BETWEEN low AND high`.
    Between(&'a Between<'a>),
    /// `x [NOT] IN (..)`.
    InList(&'a InList<'a>),
    /// `x [NOT] IN (SELECT ..)`.
    InSubquery(&'a InSubquery<'a>),
    /// `x [NOT] LIKE pattern [ESCAPE c]`.
    Like(&'a Like<'a>),
    /// `x = ANY (SELECT ..)`, `x > ALL (SELECT ..)`.
    Quantified(&'a Quantified<'a>),
    /// `EXISTS (SELECT ..)`.
    Exists(&'a Query<'a>),
    /// `(SELECT ..)` as a value.
    Subquery(&'a Query<'a>),
    /// CASE.
    Case(&'a Case<'a>),
    /// `CAST(x AS type)`, `CONVERT(x, type)`, `BINARY x`.
    Cast(&'a Cast<'a>),
    /// `CONVERT(x USING charset)`.
    ConvertUsing(&'a ConvertUsing<'a>),
    /// `x COLLATE name`.
    Collate(&'a Collate<'a>),
    /// A function by name.
    Call(&'a FunctionCall<'a>),
    /// An aggregate or window function.
    Aggregate(&'a Aggregate<'a>),
    /// `x + INTERVAL n unit`, `DATE_ADD`, `DATE_SUB` and similar.
    DateAdd(&'a DateAdd<'a>),
    /// `EXTRACT(unit FROM x)`.
    Extract(TimeUnit, &'a Expr<'a>),
    /// `TIMESTAMPADD(unit, n, x)`, `TIMESTAMPDIFF(unit, a, b)`.
    UnitCall(&'a UnitCall<'a>),
    /// `TRIM(..)`.
    Trim(&'a Trim<'a>),
    /// `VALUES(column)` in ON DUPLICATE KEY UPDATE.
    ValuesOf(&'a ColumnRef<'a>),
    /// `DEFAULT(column)`.
    DefaultOf(&'a ColumnRef<'a>),
    /// `MATCH (columns) AGAINST (x ..)`.
    Match(&'a Match<'a>),
    /// A bare word as an argument (`GET_FORMAT(DATE, ..)`).
    Keyword(&'a str),
}

/// Whether a test is negated (`NOT IN`, `IS NOT NULL`).
pub type Negated = bool;

/// `[[schema.]table.]column`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnRef<'a> {
    /// Schema, if given.
    pub schema: Option<&'a str>,
    /// Table or alias, if given.
    pub table: Option<&'a str>,
    /// Column.
    pub column: &'a str,
}

/// Where a system variable is searched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VarScope {
    /// No scope given: session, else global, in reading; session in writing.
    Unspecified,
    /// GLOBAL.
    Global,
    /// SESSION or LOCAL.
    Session,
    /// PERSIST.
    Persist,
    /// PERSIST_ONLY.
    PersistOnly,
}

/// `@@[scope.][prefix.]name`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SystemVar<'a> {
    /// Scope.
    pub scope: VarScope,
    /// Component or key-cache instance before the name.
    pub prefix: Option<&'a str>,
    /// Name as written.
    pub name: &'a str,
}

/// `@name := value`.
#[derive(Clone, Copy, Debug)]
pub struct Assign<'a> {
    /// Variable without `@`.
    pub name: &'a str,
    /// Value.
    pub value: Expr<'a>,
}

/// Prefix operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOp {
    /// `-`
    Neg,
    /// `+`: keeps its operand as it is.
    Plus,
    /// `~`
    BitNot,
    /// `NOT`, `!`
    Not,
}

/// Infix operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryOp {
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
    /// `/`
    Div,
    /// `DIV`
    IntDiv,
    /// `%`, `MOD`
    Mod,
    /// `|`
    BitOr,
    /// `&`
    BitAnd,
    /// `^`
    BitXor,
    /// `<<`
    Shl,
    /// `>>`
    Shr,
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
    /// `XOR`
    Xor,
    /// `||` under PIPES_AS_CONCAT
    Concat,
    /// `REGEXP`
    Regexp,
    /// `NOT REGEXP`
    NotRegexp,
    /// `SOUNDS LIKE`
    SoundsLike,
    /// `MEMBER OF`
    MemberOf,
    /// `->`
    JsonExtract,
    /// `->>`
    JsonExtractText,
}

impl BinaryOp {
    /// The comparison that the operator is.
    pub fn comparison(self) -> Option<CmpOp> {
        Some(match self {
            BinaryOp::Eq => CmpOp::Eq,
            BinaryOp::NullSafeEq => CmpOp::NullSafeEq,
            BinaryOp::Ne => CmpOp::Ne,
            BinaryOp::Lt => CmpOp::Lt,
            BinaryOp::Le => CmpOp::Le,
            BinaryOp::Gt => CmpOp::Gt,
            BinaryOp::Ge => CmpOp::Ge,
            _ => return None,
        })
    }
}

/// What IS tests for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IsTest {
    /// NULL
    Null,
    /// TRUE
    True,
    /// FALSE
    False,
    /// UNKNOWN
    Unknown,
}

/// `expr [NOT] BETWEEN low AND high`.
#[derive(Clone, Copy, Debug)]
pub struct Between<'a> {
    /// Tested value.
    pub expr: Expr<'a>,
    /// Lower bound, included.
    pub low: Expr<'a>,
    /// Upper bound, included.
    pub high: Expr<'a>,
    /// NOT BETWEEN.
    pub negated: Negated,
}

/// `expr [NOT] IN (list)`.
#[derive(Clone, Copy, Debug)]
pub struct InList<'a> {
    /// Tested value.
    pub expr: Expr<'a>,
    /// One or more values.
    pub list: &'a [Expr<'a>],
    /// NOT IN.
    pub negated: Negated,
}

/// `expr [NOT] IN (query)`.
#[derive(Clone, Copy, Debug)]
pub struct InSubquery<'a> {
    /// Tested value.
    pub expr: Expr<'a>,
    /// The set.
    pub query: &'a Query<'a>,
    /// NOT IN.
    pub negated: Negated,
}

/// `expr [NOT] LIKE pattern [ESCAPE escape]`.
#[derive(Clone, Copy, Debug)]
pub struct Like<'a> {
    /// Tested value.
    pub expr: Expr<'a>,
    /// Pattern.
    pub pattern: Expr<'a>,
    /// Escape character; backslash if not given.
    pub escape: Option<Expr<'a>>,
    /// NOT LIKE.
    pub negated: Negated,
}

/// `expr op ANY|ALL (query)`.
#[derive(Clone, Copy, Debug)]
pub struct Quantified<'a> {
    /// Compared value.
    pub expr: Expr<'a>,
    /// A comparison.
    pub op: BinaryOp,
    /// ALL; else ANY, SOME.
    pub all: bool,
    /// The set.
    pub query: &'a Query<'a>,
}

/// `CASE [operand] WHEN .. THEN .. [ELSE ..] END`.
#[derive(Clone, Copy, Debug)]
pub struct Case<'a> {
    /// Value compared with each WHEN; without it each WHEN is a condition.
    pub operand: Option<Expr<'a>>,
    /// (WHEN, THEN) pairs, one or more.
    pub arms: &'a [(Expr<'a>, Expr<'a>)],
    /// ELSE; NULL if not given.
    pub otherwise: Option<Expr<'a>>,
}

/// `CAST(expr AS type [ARRAY])`.
#[derive(Clone, Copy, Debug)]
pub struct Cast<'a> {
    /// Value.
    pub expr: Expr<'a>,
    /// Target.
    pub ty: CastType<'a>,
    /// `AS type ARRAY`, for multi-valued keys.
    pub array: bool,
}

/// `CONVERT(expr USING charset)`.
#[derive(Clone, Copy, Debug)]
pub struct ConvertUsing<'a> {
    /// Value.
    pub expr: Expr<'a>,
    /// Character set as written.
    pub charset: &'a str,
}

/// `expr COLLATE collation`.
#[derive(Clone, Copy, Debug)]
pub struct Collate<'a> {
    /// Value.
    pub expr: Expr<'a>,
    /// Collation as written.
    pub collation: &'a str,
}

/// A call of a scalar function. Standard spellings with keywords inside the parentheses are here in their
/// plain form: `POSITION(a IN b)` is `LOCATE(a, b)`, `SUBSTRING(s FROM 2 FOR 3)` is `SUBSTRING(s, 2, 3)`,
/// `CURRENT_DATE` is `CURDATE()`, `a MOD b` is an operator.
#[derive(Clone, Copy, Debug)]
pub struct FunctionCall<'a> {
    /// Schema of a stored function.
    pub schema: Option<&'a str>,
    /// Name as written, not folded.
    pub name: &'a str,
    /// Blanks are before the parenthesis, and `IGNORE_SPACE` is off: some names are functions only without.
    pub spaced: bool,
    /// Arguments in order.
    pub args: &'a [Expr<'a>],
    /// `CHAR(.. USING charset)`.
    pub using: Option<&'a str>,
    /// Target of `JSON_VALUE(.. RETURNING type)`, `WEIGHT_STRING(.. AS type)`.
    pub returning: Option<CastType<'a>>,
}

/// Aggregate and window functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AggregateFn {
    /// COUNT
    Count,
    /// SUM
    Sum,
    /// AVG
    Avg,
    /// MIN
    Min,
    /// MAX
    Max,
    /// GROUP_CONCAT
    GroupConcat,
    /// BIT_AND
    BitAnd,
    /// BIT_OR
    BitOr,
    /// BIT_XOR
    BitXor,
    /// STD, STDDEV, STDDEV_POP
    StddevPop,
    /// STDDEV_SAMP
    StddevSamp,
    /// VARIANCE, VAR_POP
    VarPop,
    /// VAR_SAMP
    VarSamp,
    /// ANY_VALUE
    AnyValue,
    /// JSON_ARRAYAGG
    JsonArrayAgg,
    /// JSON_OBJECTAGG
    JsonObjectAgg,
    /// ROW_NUMBER, only with OVER, as are those below
    RowNumber,
    /// RANK
    Rank,
    /// DENSE_RANK
    DenseRank,
    /// PERCENT_RANK
    PercentRank,
    /// CUME_DIST
    CumeDist,
    /// NTILE
    Ntile,
    /// LAG
    Lag,
    /// LEAD
    Lead,
    /// FIRST_VALUE
    FirstValue,
    /// LAST_VALUE
    LastValue,
    /// NTH_VALUE
    NthValue,
}

/// A call of an aggregate or window function.
#[derive(Clone, Copy, Debug)]
pub struct Aggregate<'a> {
    /// Function.
    pub func: AggregateFn,
    /// DISTINCT.
    pub distinct: bool,
    /// Arguments; `COUNT(*)` has the one argument [`ExprKind::Star`].
    pub args: &'a [Expr<'a>],
    /// ORDER BY of GROUP_CONCAT.
    pub order_by: &'a [OrderItem<'a>],
    /// SEPARATOR of GROUP_CONCAT; a comma if not given.
    pub separator: Option<&'a str>,
    /// OVER, which makes it a window function.
    pub over: Option<&'a Over<'a>>,
}

/// OVER clause.
#[derive(Clone, Copy, Debug)]
pub enum Over<'a> {
    /// OVER name.
    Name(&'a str),
    /// OVER (specification).
    Spec(WindowSpec<'a>),
}

/// A window specification.
#[derive(Clone, Copy, Debug)]
pub struct WindowSpec<'a> {
    /// Window it builds on.
    pub base: Option<&'a str>,
    /// PARTITION BY.
    pub partition_by: &'a [Expr<'a>],
    /// ORDER BY.
    pub order_by: &'a [OrderItem<'a>],
    /// Frame.
    pub frame: Option<&'a WindowFrame<'a>>,
}

/// ROWS, RANGE or GROUPS frame.
#[derive(Clone, Copy, Debug)]
pub struct WindowFrame<'a> {
    /// Unit.
    pub unit: FrameUnit,
    /// Start.
    pub start: FrameBound<'a>,
    /// End; CURRENT ROW if not given.
    pub end: Option<FrameBound<'a>>,
}

/// Frame units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameUnit {
    /// ROWS
    Rows,
    /// RANGE
    Range,
    /// GROUPS
    Groups,
}

/// One end of a frame.
#[derive(Clone, Copy, Debug)]
pub enum FrameBound<'a> {
    /// UNBOUNDED PRECEDING
    UnboundedPreceding,
    /// UNBOUNDED FOLLOWING
    UnboundedFollowing,
    /// CURRENT ROW
    CurrentRow,
    /// n PRECEDING, INTERVAL n unit PRECEDING
    Preceding(Expr<'a>, Option<TimeUnit>),
    /// n FOLLOWING, INTERVAL n unit FOLLOWING
    Following(Expr<'a>, Option<TimeUnit>),
}

/// Units of INTERVAL and EXTRACT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "MySQL's own unit names")]
pub enum TimeUnit {
    Microsecond,
    Second,
    Minute,
    Hour,
    Day,
    Week,
    Month,
    Quarter,
    Year,
    SecondMicrosecond,
    MinuteMicrosecond,
    MinuteSecond,
    HourMicrosecond,
    HourSecond,
    HourMinute,
    DayMicrosecond,
    DaySecond,
    DayMinute,
    DayHour,
    YearMonth,
}

/// `date +/- INTERVAL amount unit`.
#[derive(Clone, Copy, Debug)]
pub struct DateAdd<'a> {
    /// Date, time or text.
    pub date: Expr<'a>,
    /// Amount.
    pub amount: Expr<'a>,
    /// Unit of the amount.
    pub unit: TimeUnit,
    /// Subtract instead of adding.
    pub subtract: bool,
}

/// `TIMESTAMPADD(unit, a, b)` or `TIMESTAMPDIFF(unit, a, b)`.
#[derive(Clone, Copy, Debug)]
pub struct UnitCall<'a> {
    /// TIMESTAMPDIFF; else TIMESTAMPADD.
    pub diff: bool,
    /// Unit.
    pub unit: TimeUnit,
    /// Second argument.
    pub first: Expr<'a>,
    /// Third argument.
    pub second: Expr<'a>,
}

/// Sides of TRIM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrimSide {
    /// BOTH, or none named
    Both,
    /// LEADING
    Leading,
    /// TRAILING
    Trailing,
}

/// `TRIM([side] [remove FROM] expr)`.
#[derive(Clone, Copy, Debug)]
pub struct Trim<'a> {
    /// Side.
    pub side: TrimSide,
    /// What is removed; spaces if not given.
    pub remove: Option<Expr<'a>>,
    /// From what.
    pub expr: Expr<'a>,
}

/// Search modes of MATCH.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchMode {
    /// IN NATURAL LANGUAGE MODE, or none named
    Natural,
    /// WITH QUERY EXPANSION
    Expansion,
    /// IN BOOLEAN MODE
    Boolean,
}

/// `MATCH (columns) AGAINST (against mode)`.
#[derive(Clone, Copy, Debug)]
pub struct Match<'a> {
    /// Columns searched.
    pub columns: &'a [Expr<'a>],
    /// What is searched for.
    pub against: Expr<'a>,
    /// Mode.
    pub mode: MatchMode,
}

/// One item of ORDER BY or GROUP BY.
#[derive(Clone, Copy, Debug)]
pub struct OrderItem<'a> {
    /// Value, column number or alias.
    pub expr: Expr<'a>,
    /// DESC.
    pub descending: bool,
}

const _: () = assert!(size_of::<Expr<'_>>() <= 32, "expressions are passed by value");
const _: () = assert!(size_of::<Literal>() == 16, "a literal is one cell of a VALUES list");
