//! INSERT, REPLACE, UPDATE, DELETE, LOAD DATA.

use super::{ColumnRef, Expr, Limit, OrderItem, Query, TableName, TableRef, TextFormat, With};
use crate::literal::Literal;

/// INSERT or REPLACE.
#[derive(Clone, Copy, Debug)]
pub struct Insert<'a> {
    /// REPLACE.
    pub replace: bool,
    /// IGNORE.
    pub ignore: bool,
    /// LOW_PRIORITY, DELAYED or HIGH_PRIORITY.
    pub priority: Priority,
    /// Target.
    pub table: TableName<'a>,
    /// PARTITION (..); empty if not given.
    pub partitions: &'a [&'a str],
    /// Columns; `None` when no list was written, which differs from `()` only in INSERT .. SELECT.
    pub columns: Option<&'a [ColumnRef<'a>]>,
    /// Rows.
    pub source: InsertSource<'a>,
    /// AS alias [(columns)].
    pub row_alias: Option<RowAlias<'a>>,
    /// ON DUPLICATE KEY UPDATE; empty if not given.
    pub on_duplicate: &'a [Assignment<'a>],
}

/// Priority words: accepted, without effect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Priority {
    /// None.
    #[default]
    Normal,
    /// LOW_PRIORITY
    Low,
    /// HIGH_PRIORITY
    High,
    /// DELAYED
    Delayed,
}

/// Alias of the row being inserted.
#[derive(Clone, Copy, Debug)]
pub struct RowAlias<'a> {
    /// Name.
    pub name: &'a str,
    /// Column names; empty if not given.
    pub columns: &'a [&'a str],
}

/// Where inserted rows come from.
#[derive(Clone, Copy, Debug)]
pub enum InsertSource<'a> {
    /// VALUES lists.
    Values(ValuesList<'a>),
    /// SET column = value, ..: one row, with its own columns.
    Set(&'a [Assignment<'a>]),
    /// SELECT, VALUES ROW(..), TABLE.
    Query(&'a Query<'a>),
}

/// VALUES lists of all rows as one flat list.
///
/// Row `r`, column `c` is `cells[r * columns + c]`. `columns` is 0 for `VALUES ()`, and then `rows` counts
/// the rows.
#[derive(Clone, Copy, Debug)]
pub struct ValuesList<'a> {
    /// All cells, row after row.
    pub cells: &'a [Cell<'a>],
    /// Cells per row.
    pub columns: u32,
    /// Number of rows.
    pub rows: u32,
    /// First row (counted from 1) with another number of cells than the first: error 1136. Its cells and
    /// those of later rows are not in the list.
    pub uneven_row: Option<u32>,
}

/// One cell of a VALUES list, 24 bytes; only expressions cost anything beyond it.
#[derive(Clone, Copy, Debug)]
pub enum Cell<'a> {
    /// A literal, with its sign: `Literal(_, true)` is negative.
    Literal(Literal, bool),
    /// NULL.
    Null,
    /// DEFAULT.
    Default,
    /// TRUE or FALSE.
    Bool(bool),
    /// `?`
    Param(u32),
    /// Anything else.
    Expr(&'a Expr<'a>),
}

const _: () = assert!(size_of::<Cell<'_>>() <= 24, "VALUES lists are long");

/// `column = value`.
#[derive(Clone, Copy, Debug)]
pub struct Assignment<'a> {
    /// Column.
    pub column: ColumnRef<'a>,
    /// Value; may be [`ExprKind::Default`](super::ExprKind::Default).
    pub value: Expr<'a>,
}

/// UPDATE.
#[derive(Clone, Copy, Debug)]
pub struct Update<'a> {
    /// WITH.
    pub with: Option<&'a With<'a>>,
    /// LOW_PRIORITY.
    pub low_priority: bool,
    /// IGNORE.
    pub ignore: bool,
    /// Tables, joined; a single table is one [`TableRef::Table`].
    pub tables: &'a [TableRef<'a>],
    /// SET.
    pub set: &'a [Assignment<'a>],
    /// WHERE.
    pub filter: Option<Expr<'a>>,
    /// ORDER BY: single-table only.
    pub order_by: &'a [OrderItem<'a>],
    /// LIMIT: single-table only.
    pub limit: Option<&'a Limit<'a>>,
}

/// DELETE.
#[derive(Clone, Copy, Debug)]
pub struct Delete<'a> {
    /// WITH.
    pub with: Option<&'a With<'a>>,
    /// LOW_PRIORITY.
    pub low_priority: bool,
    /// QUICK.
    pub quick: bool,
    /// IGNORE.
    pub ignore: bool,
    /// Tables deleted from in the multi-table forms; empty in the single-table form, where `from` names the
    /// table.
    pub targets: &'a [TableName<'a>],
    /// Tables read: one [`TableRef::Table`] in the single-table form.
    pub from: &'a [TableRef<'a>],
    /// WHERE.
    pub filter: Option<Expr<'a>>,
    /// ORDER BY: single-table only.
    pub order_by: &'a [OrderItem<'a>],
    /// LIMIT: single-table only.
    pub limit: Option<&'a Limit<'a>>,
}

/// What LOAD DATA does at a duplicate key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnDuplicate {
    /// Error (or IGNORE with LOCAL).
    #[default]
    Error,
    /// IGNORE
    Ignore,
    /// REPLACE
    Replace,
}

/// LOAD DATA [LOCAL] INFILE, LOAD XML.
#[derive(Clone, Copy, Debug)]
pub struct LoadData<'a> {
    /// LOAD XML: recognised only.
    pub xml: bool,
    /// LOCAL.
    pub local: bool,
    /// LOW_PRIORITY or CONCURRENT.
    pub priority: Priority,
    /// Path.
    pub path: &'a str,
    /// REPLACE or IGNORE.
    pub on_duplicate: OnDuplicate,
    /// Target.
    pub table: TableName<'a>,
    /// PARTITION (..).
    pub partitions: &'a [&'a str],
    /// CHARACTER SET.
    pub charset: Option<&'a str>,
    /// FIELDS and LINES.
    pub format: TextFormat<'a>,
    /// IGNORE n LINES.
    pub skip_lines: u64,
    /// Columns and `@variables` that receive the fields; empty means all columns.
    pub fields: &'a [LoadField<'a>],
    /// SET.
    pub set: &'a [Assignment<'a>],
}

/// Where LOAD DATA puts a field.
#[derive(Clone, Copy, Debug)]
pub enum LoadField<'a> {
    /// A column.
    Column(ColumnRef<'a>),
    /// `@variable`, without the `@`.
    UserVar(&'a str),
}
