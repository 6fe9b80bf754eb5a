//! SHOW, DESCRIBE, EXPLAIN.

use super::{Account, Expr, Limit, Statement, TableName, VarScope};

/// LIKE or WHERE of a SHOW.
#[derive(Clone, Copy, Debug)]
pub enum ShowFilter<'a> {
    /// None.
    None,
    /// LIKE pattern.
    Like(&'a str),
    /// WHERE condition over the result's columns.
    Where(Expr<'a>),
}

/// SHOW.
#[derive(Clone, Copy, Debug)]
pub struct Show<'a> {
    /// What.
    pub kind: ShowKind<'a>,
    /// FULL.
    pub full: bool,
    /// EXTENDED.
    pub extended: bool,
    /// FROM or IN schema.
    pub schema: Option<&'a str>,
    /// LIKE or WHERE.
    pub filter: ShowFilter<'a>,
    /// LIMIT.
    pub limit: Option<&'a Limit<'a>>,
}

/// What SHOW shows.
#[derive(Clone, Copy, Debug)]
pub enum ShowKind<'a> {
    /// DATABASES, SCHEMAS
    Databases,
    /// TABLES
    Tables,
    /// TABLE STATUS
    TableStatus,
    /// OPEN TABLES
    OpenTables,
    /// TRIGGERS
    Triggers,
    /// EVENTS
    Events,
    /// COLUMNS, FIELDS of a table
    Columns(TableName<'a>),
    /// INDEX, INDEXES, KEYS of a table
    Index(TableName<'a>),
    /// CREATE TABLE
    CreateTable(TableName<'a>),
    /// CREATE DATABASE; IF NOT EXISTS is the flag
    CreateDatabase(&'a str, bool),
    /// CREATE VIEW
    CreateView(TableName<'a>),
    /// CREATE PROCEDURE, FUNCTION, TRIGGER, EVENT: the first word names the kind
    CreateProgram(&'a str, TableName<'a>),
    /// CREATE USER
    CreateUser(Account<'a>),
    /// VARIABLES
    Variables(VarScope),
    /// STATUS
    Status(VarScope),
    /// PROCESSLIST
    ProcessList,
    /// WARNINGS
    Warnings,
    /// ERRORS
    Errors,
    /// COUNT(*) WARNINGS
    CountWarnings,
    /// COUNT(*) ERRORS
    CountErrors,
    /// ENGINES
    Engines,
    /// ENGINE name STATUS, LOGS or MUTEX
    Engine {
        /// Engine, or ALL.
        name: &'a str,
        /// STATUS, LOGS or MUTEX in upper case.
        what: &'static str,
    },
    /// CHARACTER SET, CHARSET
    Charset,
    /// COLLATION
    Collation,
    /// PRIVILEGES
    Privileges,
    /// PLUGINS
    Plugins,
    /// GRANTS [FOR account [USING roles]]
    Grants(Option<Account<'a>>, &'a [Account<'a>]),
    /// PROCEDURE STATUS
    ProcedureStatus,
    /// FUNCTION STATUS
    FunctionStatus,
    /// PROCEDURE CODE, FUNCTION CODE
    ProgramCode(TableName<'a>),
    /// BINARY LOGS, MASTER LOGS
    BinaryLogs,
    /// BINARY LOG STATUS, MASTER STATUS
    BinaryLogStatus,
    /// BINLOG EVENTS, RELAYLOG EVENTS
    BinlogEvents,
    /// REPLICA STATUS, SLAVE STATUS
    ReplicaStatus,
    /// REPLICAS, SLAVE HOSTS
    Replicas,
    /// PROFILE
    Profile,
    /// PROFILES
    Profiles,
}

/// DESCRIBE table [column].
#[derive(Clone, Copy, Debug)]
pub struct Describe<'a> {
    /// Table.
    pub table: TableName<'a>,
    /// A column's name, or a LIKE pattern of names.
    pub column: Option<&'a str>,
}

/// Formats of EXPLAIN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExplainFormat {
    /// None named.
    Default,
    /// TRADITIONAL
    Traditional,
    /// JSON
    Json,
    /// TREE
    Tree,
}

/// EXPLAIN.
#[derive(Clone, Copy, Debug)]
pub struct Explain<'a> {
    /// FORMAT.
    pub format: ExplainFormat,
    /// ANALYZE.
    pub analyze: bool,
    /// What is explained.
    pub target: ExplainTarget<'a>,
}

/// What EXPLAIN explains.
#[derive(Clone, Copy, Debug)]
pub enum ExplainTarget<'a> {
    /// A statement: query, INSERT, UPDATE or DELETE.
    Statement(&'a Statement<'a>),
    /// FOR CONNECTION id.
    Connection(u64),
}
