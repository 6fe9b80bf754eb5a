//! Databases, ALTER TABLE, indexes, DROP.

use super::{
    ColumnDefinition, ColumnRef, Constraint, Expr, KeyKind, KeyOptions, KeyPartSpec, TableName, TableOption,
};

/// CREATE DATABASE.
#[derive(Clone, Copy, Debug)]
pub struct CreateDatabase<'a> {
    /// Name.
    pub name: &'a str,
    /// IF NOT EXISTS.
    pub if_not_exists: bool,
    /// Options in order.
    pub options: &'a [DatabaseOption<'a>],
}

/// ALTER DATABASE.
#[derive(Clone, Copy, Debug)]
pub struct AlterDatabase<'a> {
    /// Name; the current database if not given.
    pub name: Option<&'a str>,
    /// Options in order.
    pub options: &'a [DatabaseOption<'a>],
}

/// One option of a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatabaseOption<'a> {
    /// CHARACTER SET
    Charset(&'a str),
    /// COLLATE
    Collate(&'a str),
    /// ENCRYPTION = 'Y' or 'N'
    Encryption(&'a str),
    /// READ ONLY = 0 or 1; `None` is DEFAULT
    ReadOnly(Option<bool>),
}

/// DROP DATABASE.
#[derive(Clone, Copy, Debug)]
pub struct DropDatabase<'a> {
    /// Name.
    pub name: &'a str,
    /// IF EXISTS.
    pub if_exists: bool,
}

/// DROP TABLE, DROP VIEW.
#[derive(Clone, Copy, Debug)]
pub struct DropTable<'a> {
    /// TEMPORARY.
    pub temporary: bool,
    /// IF EXISTS.
    pub if_exists: bool,
    /// Tables in order.
    pub tables: &'a [TableName<'a>],
}

/// Kinds of stored programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramKind {
    /// PROCEDURE
    Procedure,
    /// FUNCTION
    Function,
    /// TRIGGER
    Trigger,
    /// EVENT
    Event,
}

/// DROP of a stored program.
#[derive(Clone, Copy, Debug)]
pub struct DropProgram<'a> {
    /// Kind.
    pub kind: ProgramKind,
    /// IF EXISTS.
    pub if_exists: bool,
    /// Name.
    pub name: TableName<'a>,
}

/// CREATE INDEX.
#[derive(Clone, Copy, Debug)]
pub struct CreateIndex<'a> {
    /// Unique, plain, full-text or spatial.
    pub kind: KeyKind,
    /// Name.
    pub name: &'a str,
    /// Table.
    pub table: TableName<'a>,
    /// Parts.
    pub parts: &'a [KeyPartSpec<'a>],
    /// Options.
    pub options: KeyOptions<'a>,
    /// ALGORITHM, if given.
    pub algorithm: Option<Algorithm>,
    /// LOCK, if given.
    pub lock: Option<LockOption>,
}

/// DROP INDEX.
#[derive(Clone, Copy, Debug)]
pub struct DropIndex<'a> {
    /// Name; PRIMARY for the primary key.
    pub name: &'a str,
    /// Table.
    pub table: TableName<'a>,
    /// ALGORITHM, if given.
    pub algorithm: Option<Algorithm>,
    /// LOCK, if given.
    pub lock: Option<LockOption>,
}

/// ALGORITHM of a DDL statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// DEFAULT
    Default,
    /// INSTANT
    Instant,
    /// INPLACE
    Inplace,
    /// COPY
    Copy,
}

/// LOCK of a DDL statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockOption {
    /// DEFAULT
    Default,
    /// NONE
    None,
    /// SHARED
    Shared,
    /// EXCLUSIVE
    Exclusive,
}

/// ALTER TABLE.
#[derive(Clone, Copy, Debug)]
pub struct AlterTable<'a> {
    /// Table.
    pub table: TableName<'a>,
    /// Actions in order.
    pub actions: &'a [AlterAction<'a>],
    /// ALGORITHM, the last one given.
    pub algorithm: Option<Algorithm>,
    /// LOCK, the last one given.
    pub lock: Option<LockOption>,
}

/// Where a column is put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnPosition<'a> {
    /// At the end, or where it is.
    Unchanged,
    /// FIRST
    First,
    /// AFTER column
    After(&'a str),
}

/// One action of ALTER TABLE.
#[derive(Clone, Copy, Debug)]
pub enum AlterAction<'a> {
    /// ADD COLUMN
    AddColumn(ColumnDefinition<'a>, ColumnPosition<'a>),
    /// ADD COLUMN (element, ..): columns and constraints in parentheses
    AddElements(&'a [ColumnDefinition<'a>], &'a [Constraint<'a>]),
    /// ADD KEY, ADD CONSTRAINT
    AddConstraint(Constraint<'a>),
    /// DROP COLUMN
    DropColumn(&'a str),
    /// DROP KEY
    DropKey(&'a str),
    /// DROP PRIMARY KEY
    DropPrimaryKey,
    /// DROP FOREIGN KEY
    DropForeignKey(&'a str),
    /// DROP CHECK
    DropCheck(&'a str),
    /// DROP CONSTRAINT
    DropConstraint(&'a str),
    /// MODIFY COLUMN
    ModifyColumn(ColumnDefinition<'a>, ColumnPosition<'a>),
    /// CHANGE COLUMN old definition
    ChangeColumn(&'a str, ColumnDefinition<'a>, ColumnPosition<'a>),
    /// RENAME COLUMN a TO b
    RenameColumn(&'a str, &'a str),
    /// RENAME KEY a TO b
    RenameKey(&'a str, &'a str),
    /// RENAME TO
    RenameTable(TableName<'a>),
    /// ALTER COLUMN c SET DEFAULT value; the value was in parentheses if the flag is set
    SetDefault(&'a str, Expr<'a>, bool),
    /// ALTER COLUMN c DROP DEFAULT
    DropDefault(&'a str),
    /// ALTER COLUMN c SET VISIBLE (true) or INVISIBLE
    SetColumnVisible(&'a str, bool),
    /// ALTER INDEX i VISIBLE (true) or INVISIBLE
    SetKeyVisible(&'a str, bool),
    /// ALTER CHECK c, ALTER CONSTRAINT c: ENFORCED (true) or NOT ENFORCED
    SetEnforced(&'a str, bool),
    /// A table option
    Option(TableOption<'a>),
    /// CONVERT TO CHARACTER SET (`None` is DEFAULT) with a collation
    ConvertTo(Option<&'a str>, Option<&'a str>),
    /// ORDER BY: columns, each ASC or DESC
    OrderBy(&'a [(ColumnRef<'a>, bool)]),
    /// FORCE
    Force,
    /// ENABLE (true) or DISABLE KEYS
    EnableKeys(bool),
    /// WITH (true) or WITHOUT VALIDATION
    Validation(bool),
    /// DISCARD (true) or IMPORT TABLESPACE
    Tablespace(bool),
    /// PARTITION BY and every action on partitions: recognised only
    Partition,
}
