//! Errors of the binder, in MySQL's words.

use std::fmt;

use super::CatalogError;

/// The clause in which a name was searched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clause {
    /// Select list, SET, VALUES and column lists.
    FieldList,
    /// WHERE.
    Where,
    /// ON.
    On,
    /// USING and NATURAL.
    From,
    /// GROUP BY.
    Group,
    /// HAVING.
    Having,
    /// ORDER BY.
    Order,
    /// What IN, ANY and ALL search for.
    Set,
    /// DEFAULT (expression).
    Default,
}

impl fmt::Display for Clause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Clause::FieldList => "field list",
            Clause::Where => "where clause",
            Clause::On => "on clause",
            Clause::From => "from clause",
            Clause::Group => "group statement",
            Clause::Having => "having clause",
            Clause::Order => "order clause",
            Clause::Set => "IN/ALL/ANY subquery",
            Clause::Default => "default value expression",
        })
    }
}

/// A statement that parses but means nothing, or nothing that is supported. The text is MySQL's; numbers are
/// the server's affair.
#[derive(Debug)]
#[non_exhaustive]
pub enum BindError {
    /// 1054
    UnknownColumn {
        /// As written, `t.a`.
        name: String,
        /// Where.
        clause: Clause,
    },
    /// 1052
    AmbiguousColumn {
        /// As written.
        name: String,
        /// Where.
        clause: Clause,
    },
    /// 1146
    NoSuchTable {
        /// Schema.
        schema: String,
        /// Table.
        table: String,
    },
    /// 1049
    UnknownDatabase(String),
    /// 1046
    NoDatabase,
    /// 1066
    DuplicateAlias(String),
    /// 1327: LIMIT of a name, which would be a variable of a stored program.
    UndeclaredVariable(String),
    /// 1051: `t.*` of a table that the query does not have.
    UnknownTableStar(String),
    /// 1317 or 3024: the statement was to end.
    Interrupted,
    /// 1109: a table of DELETE or DEFAULT() that is not there.
    UnknownTable {
        /// Table.
        table: String,
        /// Clause text, `MULTI DELETE`.
        clause: &'static str,
    },
    /// 1096: `SELECT *` without FROM.
    NoTablesUsed,
    /// 1111
    InvalidGroupFunction,
    /// 1055
    NotGrouped {
        /// 1-based place in the clause.
        ordinal: usize,
        /// `SELECT list`, `ORDER BY clause` or `HAVING clause`.
        place: &'static str,
        /// `schema.table.column`.
        column: String,
    },
    /// 1140
    MixOfGroupAndFields {
        /// 1-based place in the clause.
        ordinal: usize,
        /// As in [`BindError::NotGrouped`].
        place: &'static str,
        /// `schema.table.column`.
        column: String,
    },
    /// 3029: ORDER BY aggregates, but nothing else does.
    OrderAggregate {
        /// 1-based place in ORDER BY.
        ordinal: usize,
    },
    /// 3028: ORDER BY of a set operation aggregates.
    OrderAggregateOfUnion {
        /// 1-based place in ORDER BY.
        ordinal: usize,
    },
    /// 1250: a table's name in ORDER BY of a set operation.
    TableInUnionOrder(String),
    /// 1747
    PartitionOfPlainTable,
    /// 1056: GROUP BY names an aggregate.
    WrongGroupField(String),
    /// 3065
    OrderNotInDistinct {
        /// 1-based place in ORDER BY.
        ordinal: usize,
        /// `schema.table.column`.
        column: String,
    },
    /// 3066
    AggregateNotInDistinct {
        /// 1-based place in ORDER BY.
        ordinal: usize,
    },
    /// 1136
    ColumnCount {
        /// 1-based row.
        row: u64,
    },
    /// 3942: `VALUES ROW()`.
    EmptyRow,
    /// 1110
    ColumnTwice(String),
    /// 1248
    DerivedAlias,
    /// 1222
    UnionColumns,
    /// 1241
    OperandColumns(usize),
    /// 3994: a parameter where a constant decides how a function works.
    InvalidParameterUse,
    /// 1353: a list of column names of another length than the derived table's or CTE's columns.
    ViewColumns,
    /// 1060
    DuplicateColumnName(String),
    /// 1221
    WrongUsage {
        /// First clause.
        first: &'static str,
        /// Second clause.
        second: &'static str,
    },
    /// 1176
    NoSuchIndex {
        /// Index.
        index: String,
        /// Table.
        table: String,
    },
    /// 1364: DEFAULT of a column that has none.
    NoDefault(String),
    /// 3773: DEFAULT(column) of a column whose default is an expression.
    DefaultOfExpression,
    /// 1210: a value that LIMIT cannot take.
    WrongArguments(&'static str),
    /// 1115
    UnknownCharset(String),
    /// 1093: the changed table is read in a subquery.
    UpdateTableUsed(String),
    /// 1706: a primary key is changed by a statement that changes its table under two names.
    KeyChangedTwice {
        /// One name.
        first: String,
        /// The other.
        second: String,
    },
    /// 1247: a name of the select list where its value is not known.
    IllegalReference {
        /// The name.
        name: String,
        /// Why, `reference to group function`.
        why: &'static str,
    },
    /// 1288: a derived table as the target of a change.
    NotUpdatable {
        /// Table alias.
        table: String,
        /// `UPDATE`, `DELETE`.
        verb: &'static str,
    },
    /// 3954: INTO inside a query.
    MisplacedInto,
    /// 3568: a table after OF that the query does not have.
    UnresolvedTableLock(String),
    /// 3569: a table that two locking clauses are about, as MySQL shows its name.
    DuplicateTableLock(String),
    /// 1116
    TooManyTables,
    /// 1390: placeholders and outer columns of subqueries have no numbers left.
    TooManyParameters,
    /// 1436: more levels, or more for the text's length, than the server binds.
    TooDeep,
    /// 1473
    TooManySelects,
    /// 4169
    CteExpansion,
    /// 1193
    UnknownSystemVariable(String),
    /// 1235: what MySQL has and this server does not.
    NotSupported(&'static str),
    /// Types and functions: 1267, 1305, 1582 and so on.
    Expr(expr::BindError),
    /// 1292: a constant that is not what its place asks for, in a statement that changes rows.
    Incorrect {
        /// MySQL's text.
        text: String,
        /// 1525 of this type and value is the error, and 1292 a warning before.
        moment: Option<(&'static str, String)>,
    },
    /// The catalog failed.
    Catalog(CatalogError),
}

impl From<expr::BindError> for BindError {
    fn from(error: expr::BindError) -> Self {
        BindError::Expr(error)
    }
}

impl fmt::Display for BindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BindError::UnknownColumn { .. }
            | BindError::AmbiguousColumn { .. }
            | BindError::NoSuchTable { .. }
            | BindError::UnknownDatabase(_)
            | BindError::NoDatabase
            | BindError::DuplicateAlias(_)
            | BindError::UndeclaredVariable(_)
            | BindError::UnknownTableStar(_)
            | BindError::UnknownTable { .. }
            | BindError::ColumnTwice(_)
            | BindError::DuplicateColumnName(_)
            | BindError::NoSuchIndex { .. }
            | BindError::NoDefault(_)
            | BindError::UnknownCharset(_)
            | BindError::UnknownSystemVariable(_)
            | BindError::UnresolvedTableLock(_)
            | BindError::DuplicateTableLock(_) => self.write_name(f),
            BindError::ColumnCount { .. }
            | BindError::EmptyRow
            | BindError::UnionColumns
            | BindError::OperandColumns(_)
            | BindError::InvalidParameterUse
            | BindError::ViewColumns => self.write_columns(f),
            BindError::TooManyTables
            | BindError::TooDeep
            | BindError::TooManyParameters
            | BindError::TooManySelects
            | BindError::CteExpansion => self.write_limit(f),
            BindError::Interrupted => f.write_str("Query execution was interrupted"),
            BindError::NoTablesUsed => f.write_str("No tables used"),
            BindError::InvalidGroupFunction
            | BindError::OrderAggregate { .. }
            | BindError::OrderAggregateOfUnion { .. }
            | BindError::TableInUnionOrder(_)
            | BindError::WrongGroupField(_)
            | BindError::NotGrouped { .. }
            | BindError::MixOfGroupAndFields { .. }
            | BindError::OrderNotInDistinct { .. }
            | BindError::AggregateNotInDistinct { .. } => self.write_grouping(f),
            BindError::PartitionOfPlainTable => f.write_str("PARTITION () clause on non partitioned table"),
            BindError::DefaultOfExpression => {
                f.write_str("DEFAULT function cannot be used with default value expressions")
            }
            BindError::DerivedAlias => f.write_str("Every derived table must have its own alias"),
            BindError::WrongUsage { first, second } => write!(f, "Incorrect usage of {first} and {second}"),
            BindError::WrongArguments(what) => write!(f, "Incorrect arguments to {what}"),
            BindError::UpdateTableUsed(table) => {
                write!(f, "You can't specify target table '{table}' for update in FROM clause")
            }
            BindError::KeyChangedTwice { first, second } => write!(
                f,
                "Primary key/partition key update is not allowed since the table is updated both as '{first}' and \
                 '{second}'."
            ),
            BindError::IllegalReference { name, why } => write!(f, "Reference '{name}' not supported ({why})"),
            BindError::NotUpdatable { table, verb } => {
                write!(f, "The target table {table} of the {verb} is not updatable")
            }
            BindError::MisplacedInto => f.write_str(
                "Misplaced INTO clause, INTO is not allowed inside subqueries, and must be placed at end of UNION \
                 clauses.",
            ),
            BindError::NotSupported(what) => {
                write!(f, "This version of MySQL doesn't yet support '{what}'")
            }
            BindError::Expr(error) => error.fmt(f),
            BindError::Incorrect { text, .. } => f.write_str(text),
            BindError::Catalog(error) => error.fmt(f),
        }
    }
}

impl BindError {
    /// GROUP BY, ORDER BY and aggregate functions.
    fn write_grouping(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BindError::NotGrouped { ordinal, place, column } => write!(
                f,
                "Expression #{ordinal} of {place} is not in GROUP BY clause and contains nonaggregated column \
                 '{column}' which is not functionally dependent on columns in GROUP BY clause; this is incompatible \
                 with sql_mode=only_full_group_by"
            ),
            BindError::MixOfGroupAndFields { ordinal, place, column } => write!(
                f,
                "In aggregated query without GROUP BY, expression #{ordinal} of {place} contains nonaggregated column \
                 '{column}'; this is incompatible with sql_mode=only_full_group_by"
            ),
            BindError::OrderNotInDistinct { ordinal, column } => write!(
                f,
                "Expression #{ordinal} of ORDER BY clause is not in SELECT list, references column '{column}' which is \
                 not in SELECT list; this is incompatible with DISTINCT"
            ),
            BindError::AggregateNotInDistinct { ordinal } => write!(
                f,
                "Expression #{ordinal} of ORDER BY clause is not in SELECT list, contains aggregate function; this is \
                 incompatible with DISTINCT"
            ),
            BindError::InvalidGroupFunction => f.write_str("Invalid use of group function"),
            BindError::OrderAggregate { ordinal } => write!(
                f,
                "Expression #{ordinal} of ORDER BY contains aggregate function and applies to the result of a \
                 non-aggregated query"
            ),
            BindError::OrderAggregateOfUnion { ordinal } => write!(
                f,
                "Expression #{ordinal} of ORDER BY contains aggregate function and applies to a UNION, EXCEPT or \
                 INTERSECT"
            ),
            BindError::TableInUnionOrder(table) => {
                write!(f, "Table '{table}' from one of the SELECTs cannot be used in global ORDER clause")
            }
            BindError::WrongGroupField(name) => write!(f, "Can't group on '{name}'"),
            _ => Ok(()),
        }
    }

    /// Names that mean nothing, or more than one thing.
    fn write_name(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BindError::UnknownColumn { name, clause } => write!(f, "Unknown column '{name}' in '{clause}'"),
            BindError::AmbiguousColumn { name, clause } => {
                write!(f, "Column '{name}' in {clause} is ambiguous")
            }
            BindError::NoSuchTable { schema, table } => write!(f, "Table '{schema}.{table}' doesn't exist"),
            BindError::UnknownDatabase(name) => write!(f, "Unknown database '{name}'"),
            BindError::NoDatabase => f.write_str("No database selected"),
            BindError::DuplicateAlias(name) => write!(f, "Not unique table/alias: '{name}'"),
            BindError::UndeclaredVariable(name) => write!(f, "Undeclared variable: {name}"),
            BindError::UnknownTableStar(name) => write!(f, "Unknown table '{name}'"),
            BindError::UnknownTable { table, clause } => write!(f, "Unknown table '{table}' in {clause}"),
            BindError::ColumnTwice(name) => write!(f, "Column '{name}' specified twice"),
            BindError::DuplicateColumnName(name) => write!(f, "Duplicate column name '{name}'"),
            BindError::NoSuchIndex { index, table } => {
                write!(f, "Key '{index}' doesn't exist in table '{table}'")
            }
            BindError::NoDefault(name) => write!(f, "Field '{name}' doesn't have a default value"),
            BindError::UnknownCharset(name) => write!(f, "Unknown character set: '{name}'"),
            BindError::UnknownSystemVariable(name) => write!(f, "Unknown system variable '{name}'"),
            BindError::UnresolvedTableLock(name) => {
                write!(f, "Unresolved table name `{name}` in locking clause.")
            }
            BindError::DuplicateTableLock(name) => {
                write!(f, "Table {name} appears in multiple locking clauses.")
            }
            _ => Ok(()),
        }
    }

    /// Numbers of columns that do not agree.
    fn write_columns(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BindError::ColumnCount { row } => write!(f, "Column count doesn't match value count at row {row}"),
            BindError::EmptyRow => f.write_str(
                "Each row of a VALUES clause must have at least one column, unless when used as source in an INSERT \
                 statement.",
            ),
            BindError::UnionColumns => {
                f.write_str("The used SELECT statements have a different number of columns")
            }
            BindError::OperandColumns(n) => write!(f, "Operand should contain {n} column(s)"),
            BindError::InvalidParameterUse => f.write_str("Invalid use of parameters in '?'"),
            BindError::ViewColumns => f.write_str(
                "In definition of view, derived table or common table expression, SELECT list and column names list \
                 have different column counts",
            ),
            _ => Ok(()),
        }
    }

    /// Statements that are too large.
    fn write_limit(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BindError::TooManyTables => {
                f.write_str("Too many tables; MySQL can only use 61 tables in a join")
            }
            BindError::TooDeep => f.write_str("the statement is nested too deeply"),
            BindError::TooManyParameters => f.write_str("Prepared statement contains too many placeholders"),
            BindError::TooManySelects => f.write_str("Too high level of nesting for select"),
            BindError::CteExpansion => f.write_str(
                "Common table expression expansion exceeded an implementation limit. Simplify the query.",
            ),
            _ => Ok(()),
        }
    }
}

impl std::error::Error for BindError {}
