//! CREATE TABLE.

use types::StorageHint;

use super::{Expr, OnDuplicate, Query, TableName, TypeName};

/// CREATE TABLE.
#[derive(Clone, Copy, Debug)]
pub struct CreateTable<'a> {
    /// TEMPORARY.
    pub temporary: bool,
    /// IF NOT EXISTS.
    pub if_not_exists: bool,
    /// Table.
    pub name: TableName<'a>,
    /// LIKE table: nothing below is set then.
    pub like: Option<TableName<'a>>,
    /// Columns in order.
    pub columns: &'a [ColumnDefinition<'a>],
    /// Keys and constraints written as elements of their own, in order.
    pub constraints: &'a [Constraint<'a>],
    /// Table options in order.
    pub options: &'a [TableOption<'a>],
    /// PARTITION BY was written (recognised, not kept).
    pub partitioned: bool,
    /// AS SELECT.
    pub query: Option<&'a Query<'a>>,
    /// IGNORE or REPLACE before AS SELECT.
    pub on_duplicate: OnDuplicate,
}

/// `name type attributes`.
#[derive(Clone, Copy, Debug)]
pub struct ColumnDefinition<'a> {
    /// Column.
    pub name: &'a str,
    /// Type.
    pub ty: TypeName<'a>,
    /// Attributes in the order written.
    pub attributes: &'a [ColumnAttribute<'a>],
}

/// One attribute of a column.
#[derive(Clone, Copy, Debug)]
pub enum ColumnAttribute<'a> {
    /// NULL
    Null,
    /// NOT NULL
    NotNull,
    /// DEFAULT literal, DEFAULT (expression), DEFAULT CURRENT_TIMESTAMP[(n)] (a call of `NOW`)
    Default {
        /// Value.
        value: Expr<'a>,
        /// Written in parentheses.
        parenthesised: bool,
    },
    /// ON UPDATE CURRENT_TIMESTAMP[(n)]
    OnUpdateNow(Option<u32>),
    /// AUTO_INCREMENT
    AutoIncrement,
    /// SERIAL DEFAULT VALUE: NOT NULL AUTO_INCREMENT UNIQUE
    SerialDefault,
    /// [UNIQUE] KEY
    Unique,
    /// [PRIMARY] KEY
    PrimaryKey,
    /// COMMENT
    Comment(&'a str),
    /// COLLATE
    Collate(&'a str),
    /// COLUMN_FORMAT, STORAGE, ENGINE_ATTRIBUTE, SECONDARY_ENGINE_ATTRIBUTE: accepted, without effect
    Ignored,
    /// VISIBLE (true) or INVISIBLE
    Visible(bool),
    /// [GENERATED ALWAYS] AS (expression) [VIRTUAL | STORED]
    Generated {
        /// Expression.
        expr: Expr<'a>,
        /// STORED; else VIRTUAL.
        stored: bool,
    },
    /// CHECK
    Check(Check<'a>),
    /// REFERENCES on a column: parsed; MySQL 8.4 ignores it
    References(Reference<'a>),
    /// SRID
    Srid(u32),
}

/// CHECK constraint.
#[derive(Clone, Copy, Debug)]
pub struct Check<'a> {
    /// CONSTRAINT name.
    pub name: Option<&'a str>,
    /// Condition.
    pub expr: Expr<'a>,
    /// ENFORCED; else NOT ENFORCED.
    pub enforced: bool,
    /// The condition as written, without its parentheses.
    pub text: &'a [u8],
}

/// A key or constraint as a table element.
#[derive(Clone, Copy, Debug)]
pub enum Constraint<'a> {
    /// A key.
    Key(KeyDefinition<'a>),
    /// FOREIGN KEY.
    ForeignKey(ForeignKey<'a>),
    /// CHECK.
    Check(Check<'a>),
}

/// Kinds of key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyKind {
    /// PRIMARY KEY
    Primary,
    /// UNIQUE
    Unique,
    /// KEY, INDEX
    Plain,
    /// FULLTEXT
    FullText,
    /// SPATIAL
    Spatial,
}

/// A key of a table.
#[derive(Clone, Copy, Debug)]
pub struct KeyDefinition<'a> {
    /// Kind.
    pub kind: KeyKind,
    /// CONSTRAINT name of PRIMARY KEY and UNIQUE.
    pub constraint: Option<&'a str>,
    /// Name, if given.
    pub name: Option<&'a str>,
    /// Parts, one or more.
    pub parts: &'a [KeyPartSpec<'a>],
    /// Options.
    pub options: KeyOptions<'a>,
}

/// One part of a key.
#[derive(Clone, Copy, Debug)]
pub enum KeyPartSpec<'a> {
    /// column[(length)] [ASC | DESC]
    Column {
        /// Column.
        name: &'a str,
        /// Prefix length in characters (bytes for binary types).
        length: Option<u32>,
        /// DESC.
        descending: bool,
    },
    /// (expression) [ASC | DESC]
    Expr {
        /// Expression.
        expr: Expr<'a>,
        /// DESC.
        descending: bool,
    },
}

/// Options after a key.
#[derive(Clone, Copy, Debug, Default)]
pub struct KeyOptions<'a> {
    /// USING BTREE, HASH, RTREE.
    pub using: Option<IndexType>,
    /// KEY_BLOCK_SIZE.
    pub key_block_size: Option<u64>,
    /// WITH PARSER.
    pub parser: Option<&'a str>,
    /// COMMENT.
    pub comment: Option<&'a str>,
    /// INVISIBLE.
    pub invisible: bool,
}

/// Index types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexType {
    /// BTREE
    BTree,
    /// HASH
    Hash,
    /// RTREE
    RTree,
}

/// FOREIGN KEY constraint.
#[derive(Clone, Copy, Debug)]
pub struct ForeignKey<'a> {
    /// CONSTRAINT name.
    pub constraint: Option<&'a str>,
    /// Name after FOREIGN KEY.
    pub name: Option<&'a str>,
    /// Columns.
    pub columns: &'a [KeyPartSpec<'a>],
    /// What they refer to.
    pub reference: Reference<'a>,
}

/// REFERENCES clause.
#[derive(Clone, Copy, Debug)]
pub struct Reference<'a> {
    /// Parent table.
    pub table: TableName<'a>,
    /// Parent columns; empty if not given.
    pub columns: &'a [KeyPartSpec<'a>],
    /// ON DELETE.
    pub on_delete: Option<ReferenceAction>,
    /// ON UPDATE.
    pub on_update: Option<ReferenceAction>,
}

/// What a change of the parent does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReferenceAction {
    /// RESTRICT
    Restrict,
    /// CASCADE
    Cascade,
    /// SET NULL
    SetNull,
    /// NO ACTION
    NoAction,
    /// SET DEFAULT
    SetDefault,
}

/// One table option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableOption<'a> {
    /// ENGINE
    Engine(&'a str),
    /// AUTO_INCREMENT
    AutoIncrement(u64),
    /// [DEFAULT] CHARACTER SET
    Charset(&'a str),
    /// [DEFAULT] COLLATE
    Collate(&'a str),
    /// COMMENT
    Comment(&'a str),
    /// ROW_FORMAT
    RowFormat(&'a str),
    /// A number that says how rows are stored; `None` for DEFAULT
    Hint(StorageHint, Option<u64>),
    /// COMPRESSION
    Compression(&'a str),
    /// DATA DIRECTORY
    DataDirectory(&'a str),
    /// INDEX DIRECTORY
    IndexDirectory(&'a str),
    /// Another option of MySQL's, with its name; its value is not kept
    Other(&'a str),
}
