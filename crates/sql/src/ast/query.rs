//! Queries: SELECT and what it is made of.

use super::{Expr, ExprKind, OrderItem, TableName, WindowSpec};

/// A query expression: body, and the clauses that hold for the whole of it.
#[derive(Clone, Copy, Debug)]
pub struct Query<'a> {
    /// WITH.
    pub with: Option<&'a With<'a>>,
    /// SELECT, union, VALUES or TABLE.
    pub body: QueryBody<'a>,
    /// ORDER BY.
    pub order_by: &'a [OrderItem<'a>],
    /// LIMIT.
    pub limit: Option<&'a Limit<'a>>,
    /// INTO, wherever it was.
    pub into: Option<&'a Into<'a>>,
    /// FOR UPDATE, FOR SHARE, LOCK IN SHARE MODE.
    pub locks: &'a [LockClause<'a>],
    /// Levels of the tree below it; references to common table expressions count as one.
    pub height: u16,
}

impl<'a> Query<'a> {
    /// The literal that the query selects, if it is nothing but that.
    pub(crate) fn literal(&self) -> Option<&'a Expr<'a>> {
        let Query { with: None, body: QueryBody::Select(select), order_by: [], limit: None, .. } = self
        else {
            return None;
        };
        let [SelectItem::Expr { expr, .. }] = select.items else { return None };
        let is_literal = matches!(expr.kind, ExprKind::Literal(_) | ExprKind::Null);
        let Select { from: [], filter: None, group_by: [], having: None, .. } = select else { return None };
        is_literal.then_some(expr)
    }
}

/// The FROM of a query.
#[derive(Clone, Copy, Debug)]
pub enum QueryBody<'a> {
    /// SELECT.
    Select(&'a Select<'a>),
    /// UNION, EXCEPT or INTERSECT.
    SetOp(&'a SetOp<'a>),
    /// A query in parentheses that has clauses of its own.
    Nested(&'a Query<'a>),
    /// VALUES ROW(..), ROW(..): one slice per row.
    Values(&'a [&'a [Expr<'a>]]),
    /// TABLE t.
    Table(TableName<'a>),
}

/// Set operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetOperator {
    /// UNION
    Union,
    /// EXCEPT
    Except,
    /// INTERSECT, which binds tighter
    Intersect,
}

/// A run of set operations of one precedence, left to right.
#[derive(Clone, Copy, Debug)]
pub struct SetOp<'a> {
    /// Leftmost operand.
    pub first: QueryBody<'a>,
    /// The operations that follow, one or more.
    pub rest: &'a [SetBranch<'a>],
}

/// One operator and its right operand.
#[derive(Clone, Copy, Debug)]
pub struct SetBranch<'a> {
    /// Operator.
    pub op: SetOperator,
    /// ALL; else DISTINCT.
    pub all: bool,
    /// Right operand.
    pub body: QueryBody<'a>,
}

/// WITH clause.
#[derive(Clone, Copy, Debug)]
pub struct With<'a> {
    /// RECURSIVE.
    pub recursive: bool,
    /// Common table expressions in order.
    pub ctes: &'a [Cte<'a>],
}

/// `name [(columns)] AS (query)`.
#[derive(Clone, Copy, Debug)]
pub struct Cte<'a> {
    /// Name.
    pub name: &'a str,
    /// Column names; empty if not given.
    pub columns: &'a [&'a str],
    /// Query.
    pub query: &'a Query<'a>,
}

/// One SELECT.
#[derive(Clone, Copy, Debug)]
pub struct Select<'a> {
    /// Milliseconds of the hint MAX_EXECUTION_TIME; 0: none.
    pub max_execution_ms: u32,
    /// Words after SELECT.
    pub modifiers: SelectModifiers,
    /// Select list, one or more.
    pub items: &'a [SelectItem<'a>],
    /// FROM, comma-separated; empty without FROM and for FROM DUAL.
    pub from: &'a [TableRef<'a>],
    /// WHERE.
    pub filter: Option<Expr<'a>>,
    /// GROUP BY.
    pub group_by: &'a [OrderItem<'a>],
    /// WITH ROLLUP.
    pub rollup: bool,
    /// HAVING.
    pub having: Option<Expr<'a>>,
    /// WINDOW name AS (..).
    pub windows: &'a [(&'a str, WindowSpec<'a>)],
}

/// Words between SELECT and the select list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SelectModifiers {
    /// DISTINCT, DISTINCTROW.
    pub distinct: bool,
    /// ALL, written out.
    pub all: bool,
    /// STRAIGHT_JOIN.
    pub straight_join: bool,
    /// SQL_CALC_FOUND_ROWS.
    pub calc_found_rows: bool,
    /// HIGH_PRIORITY.
    pub high_priority: bool,
    /// SQL_SMALL_RESULT.
    pub small_result: bool,
    /// SQL_BIG_RESULT.
    pub big_result: bool,
    /// SQL_BUFFER_RESULT.
    pub buffer_result: bool,
    /// SQL_NO_CACHE.
    pub no_cache: bool,
}

/// One item of a select list.
#[derive(Clone, Copy, Debug)]
pub enum SelectItem<'a> {
    /// `*`
    Star,
    /// `t.*`, `s.t.*`
    TableStar(TableName<'a>),
    /// An expression.
    Expr {
        /// Value.
        expr: Expr<'a>,
        /// Alias, if given.
        alias: Option<&'a str>,
        /// The expression as written: the result column's name when there is no alias and it is no plain
        /// column.
        text: &'a [u8],
    },
}

/// LIMIT clause: each a literal or a parameter (or a variable inside stored programs).
#[derive(Clone, Copy, Debug)]
pub struct Limit<'a> {
    /// Rows skipped.
    pub offset: Option<Expr<'a>>,
    /// Rows returned at most.
    pub count: Expr<'a>,
}

/// INTO clause of a SELECT.
#[derive(Clone, Copy, Debug)]
pub enum Into<'a> {
    /// INTO @a, @b: names without `@`.
    Vars(&'a [&'a str]),
    /// INTO OUTFILE.
    Outfile(&'a Outfile<'a>),
    /// INTO DUMPFILE.
    Dumpfile(&'a str),
}

/// INTO OUTFILE 'path' and its format.
#[derive(Clone, Copy, Debug)]
pub struct Outfile<'a> {
    /// Path.
    pub path: &'a str,
    /// CHARACTER SET.
    pub charset: Option<&'a str>,
    /// FIELDS and LINES.
    pub format: TextFormat<'a>,
}

/// FIELDS and LINES options of LOAD DATA and INTO OUTFILE; `None` is MySQL's default.
#[derive(Clone, Copy, Debug, Default)]
pub struct TextFormat<'a> {
    /// FIELDS TERMINATED BY.
    pub field_end: Option<&'a [u8]>,
    /// FIELDS ENCLOSED BY.
    pub enclosed_by: Option<&'a [u8]>,
    /// OPTIONALLY before ENCLOSED BY.
    pub optionally_enclosed: bool,
    /// FIELDS ESCAPED BY.
    pub escaped_by: Option<&'a [u8]>,
    /// LINES STARTING BY.
    pub line_start: Option<&'a [u8]>,
    /// LINES TERMINATED BY.
    pub line_end: Option<&'a [u8]>,
}

/// Row lock asked for by a query.
#[derive(Clone, Copy, Debug)]
pub struct LockClause<'a> {
    /// FOR UPDATE; else shared.
    pub exclusive: bool,
    /// OF tables; empty means all.
    pub of: &'a [TableName<'a>],
    /// NOWAIT or SKIP LOCKED.
    pub wait: LockWait,
}

/// A locking read's reaction to a lock of another transaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LockWait {
    /// Waits.
    #[default]
    Wait,
    /// NOWAIT
    NoWait,
    /// SKIP LOCKED
    SkipLocked,
}

/// An item of FROM.
#[derive(Clone, Copy, Debug)]
pub enum TableRef<'a> {
    /// A table by name.
    Table(&'a TableFactor<'a>),
    /// A query in parentheses.
    Derived(&'a Derived<'a>),
    /// A join of two.
    Join(&'a Join<'a>),
    /// `(a, b)`: a comma list in parentheses, a cross join that binds as one.
    List(&'a [TableRef<'a>]),
    /// JSON_TABLE(..), recognised only.
    JsonTable,
}

/// A table by name.
#[derive(Clone, Copy, Debug)]
pub struct TableFactor<'a> {
    /// Name.
    pub name: TableName<'a>,
    /// PARTITION (..); empty if not given.
    pub partitions: &'a [&'a str],
    /// Alias.
    pub alias: Option<&'a str>,
    /// USE, FORCE, IGNORE INDEX.
    pub hints: &'a [IndexHint<'a>],
}

/// A derived table.
#[derive(Clone, Copy, Debug)]
pub struct Derived<'a> {
    /// Query.
    pub query: &'a Query<'a>,
    /// LATERAL.
    pub lateral: bool,
    /// Alias; MySQL requires one (1248), which is the binder's to say.
    pub alias: Option<&'a str>,
    /// Column names after the alias; empty if not given.
    pub columns: &'a [&'a str],
}

/// Kinds of join.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JoinKind {
    /// JOIN, INNER JOIN, CROSS JOIN: the same thing in MySQL
    Inner,
    /// LEFT [OUTER] JOIN
    Left,
    /// RIGHT [OUTER] JOIN
    Right,
    /// STRAIGHT_JOIN: inner, left table read first
    Straight,
}

/// A join.
#[derive(Clone, Copy, Debug)]
pub struct Join<'a> {
    /// Kind.
    pub kind: JoinKind,
    /// Left operand.
    pub left: TableRef<'a>,
    /// Right operand.
    pub right: TableRef<'a>,
    /// Condition.
    pub condition: JoinCondition<'a>,
}

/// How a join's rows are matched.
#[derive(Clone, Copy, Debug)]
pub enum JoinCondition<'a> {
    /// No condition.
    None,
    /// NATURAL.
    Natural,
    /// ON.
    On(Expr<'a>),
    /// USING (columns).
    Using(&'a [&'a str]),
}

/// An index hint.
#[derive(Clone, Copy, Debug)]
pub struct IndexHint<'a> {
    /// USE, FORCE or IGNORE.
    pub action: IndexHintAction,
    /// FOR JOIN, ORDER BY, GROUP BY; `None` is all.
    pub scope: Option<IndexHintScope>,
    /// Index names, PRIMARY among them; empty for USE INDEX ().
    pub indexes: &'a [&'a str],
}

/// Kinds of index hint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexHintAction {
    /// USE
    Use,
    /// FORCE
    Force,
    /// IGNORE
    Ignore,
}

/// The scope of an index hint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexHintScope {
    /// FOR JOIN
    Join,
    /// FOR ORDER BY
    OrderBy,
    /// FOR GROUP BY
    GroupBy,
}
