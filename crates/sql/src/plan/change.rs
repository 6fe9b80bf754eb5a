//! Plans of statements that change rows.

use std::sync::Arc;

use expr::Expr;
use types::TableDef;

use super::{QueryPlan, SubPlan};

/// The action of an INSERT on a duplicate key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InsertMode {
    /// Error 1062, or ON DUPLICATE KEY UPDATE if there are assignments.
    Insert,
    /// INSERT IGNORE: the row is left out with a warning; bad values are adjusted.
    Ignore,
    /// REPLACE: the rows in the way are deleted.
    Replace,
}

/// A value of a VALUES row.
#[derive(Clone, Debug)]
pub enum InsertCell {
    /// An expression; columns of relation 0 are those of the row under construction.
    Expr(Expr),
    /// DEFAULT.
    Default,
    /// DEFAULT of a column whose default is one of [`InsertPlan::defaults`].
    Computed,
    /// The column of dates or times that is assigned, as it is: its value is not read again, whatever
    /// the mode refuses.
    Kept(Expr),
}

/// Where the rows of an INSERT come from.
#[derive(Clone, Debug)]
pub enum InsertSource {
    /// VALUES or SET: rows of cells, each as wide as [`InsertPlan::columns`].
    Rows(Vec<Vec<InsertCell>>),
    /// A query.
    Query(Box<QueryPlan>),
}

/// INSERT or REPLACE.
#[derive(Clone, Debug)]
pub struct InsertPlan {
    /// Target.
    pub table: Arc<TableDef>,
    /// Target columns, in the order of the source's values.
    pub columns: Vec<u16>,
    /// Rows.
    pub source: InsertSource,
    /// Defaults that are expressions over the row (relation 0), in the order of the columns: of those that
    /// are left out, once all others have their values, and of those for which a row has
    /// [`InsertCell::Computed`].
    pub defaults: Vec<(u16, Expr)>,
    /// What to do about duplicates.
    pub mode: InsertMode,
    /// ON DUPLICATE KEY UPDATE: column and value; relation 0 is the row in the table, relation 1 the new row.
    pub on_duplicate: Vec<(u16, InsertCell)>,
    /// Plans of the subqueries in the values.
    pub subqueries: Vec<SubPlan>,
}

/// UPDATE.
#[derive(Clone, Debug)]
pub struct UpdatePlan {
    /// Finds the rows; its output is empty, its relations' current rows are what changes.
    pub query: QueryPlan,
    /// Relations that change, each a base table.
    pub targets: Vec<u16>,
    /// Assignments in order: relation, column, value (which sees the assignments before it).
    pub sets: Vec<(u16, u16, InsertCell)>,
    /// UPDATE IGNORE.
    pub ignore: bool,
}

/// DELETE.
#[derive(Clone, Debug)]
pub struct DeletePlan {
    /// Finds the rows.
    pub query: QueryPlan,
    /// Relations whose rows are deleted.
    pub targets: Vec<u16>,
    /// DELETE IGNORE.
    pub ignore: bool,
}

/// Where a field of a LOAD DATA line goes.
#[derive(Clone, Debug)]
pub enum LoadTarget {
    /// A column.
    Column(u16),
    /// A user variable.
    UserVariable(Box<str>),
}

/// How lines and fields are distinguished.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadFormat {
    /// FIELDS TERMINATED BY; empty: fixed widths.
    pub field_end: Box<[u8]>,
    /// ENCLOSED BY.
    pub enclosed: Option<u8>,
    /// Only some fields need be enclosed.
    pub optionally: bool,
    /// ESCAPED BY.
    pub escape: Option<u8>,
    /// LINES STARTING BY.
    pub line_start: Box<[u8]>,
    /// LINES TERMINATED BY.
    pub line_end: Box<[u8]>,
    /// IGNORE n LINES.
    pub skip_lines: u64,
}

/// LOAD DATA.
#[derive(Clone, Debug)]
pub struct LoadPlan {
    /// Target.
    pub table: Arc<TableDef>,
    /// File name as written.
    pub file: Box<str>,
    /// LOCAL: the client sends it.
    pub local: bool,
    /// What to do about duplicates.
    pub mode: InsertMode,
    /// Where the fields go.
    pub targets: Vec<LoadTarget>,
    /// SET clause: column and value; relation 0 is the row under construction.
    pub sets: Vec<(u16, InsertCell)>,
    /// Lines and fields.
    pub format: LoadFormat,
    /// Character set of the file, as a collation.
    pub collation: types::CollationId,
    /// Plans of the subqueries in the SET clause.
    pub subqueries: Vec<SubPlan>,
}
