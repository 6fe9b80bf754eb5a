//! Maintenance and administration.

use super::{Expr, TableName};

/// INSTALL COMPONENT, UNINSTALL COMPONENT.
#[derive(Clone, Copy, Debug)]
pub struct ComponentStatement<'a> {
    /// INSTALL; else UNINSTALL.
    pub install: bool,
    /// Names of components, `file://name` each.
    pub urns: &'a [&'a str],
}

/// KILL.
#[derive(Clone, Copy, Debug)]
pub struct Kill<'a> {
    /// QUERY; else CONNECTION.
    pub query: bool,
    /// Connection id.
    pub id: Expr<'a>,
}

/// FLUSH.
#[derive(Clone, Copy, Debug)]
pub struct Flush<'a> {
    /// What is flushed, in order.
    pub targets: &'a [FlushTarget<'a>],
}

/// What FLUSH flushes.
#[derive(Clone, Copy, Debug)]
pub enum FlushTarget<'a> {
    /// TABLES [names]
    Tables(&'a [TableName<'a>]),
    /// TABLES [names] WITH READ LOCK
    TablesWithReadLock(&'a [TableName<'a>]),
    /// TABLES names FOR EXPORT
    TablesForExport(&'a [TableName<'a>]),
    /// PRIVILEGES
    Privileges,
    /// STATUS
    Status,
    /// LOGS, BINARY LOGS, ENGINE LOGS, ERROR LOGS, GENERAL LOGS, SLOW LOGS, RELAY LOGS
    Logs,
    /// HOSTS
    Hosts,
    /// USER_RESOURCES
    UserResources,
    /// OPTIMIZER_COSTS
    OptimizerCosts,
}

/// ANALYZE, CHECK, OPTIMIZE, REPAIR, CHECKSUM TABLE.
#[derive(Clone, Copy, Debug)]
pub struct Maintain<'a> {
    /// Which.
    pub kind: MaintainKind,
    /// Tables.
    pub tables: &'a [TableName<'a>],
    /// QUICK, FAST, MEDIUM, EXTENDED, CHANGED, FOR UPGRADE, USE_FRM.
    pub options: MaintainOptions,
    /// UPDATE or DROP HISTOGRAM (recognised only).
    pub histogram: bool,
}

/// Kinds of table maintenance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaintainKind {
    /// ANALYZE
    Analyze,
    /// CHECK
    Check,
    /// OPTIMIZE
    Optimize,
    /// REPAIR
    Repair,
    /// CHECKSUM
    Checksum,
}

/// Options of table maintenance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MaintainOptions {
    /// QUICK
    pub quick: bool,
    /// FAST
    pub fast: bool,
    /// MEDIUM
    pub medium: bool,
    /// EXTENDED
    pub extended: bool,
    /// CHANGED
    pub changed: bool,
    /// FOR UPGRADE
    pub for_upgrade: bool,
    /// USE_FRM
    pub use_frm: bool,
}

/// One table of LOCK TABLES.
#[derive(Clone, Copy, Debug)]
pub struct LockTable<'a> {
    /// Table.
    pub table: TableName<'a>,
    /// Alias.
    pub alias: Option<&'a str>,
    /// WRITE; else READ.
    pub write: bool,
    /// LOCAL (READ LOCAL) or LOW_PRIORITY (WRITE).
    pub relaxed: bool,
}

/// CALL.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// Procedure.
    pub procedure: TableName<'a>,
    /// Arguments.
    pub args: &'a [Expr<'a>],
}

/// A statement recognised by its first words, of which nothing else is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// Its name for the error message, such as `CREATE TRIGGER`.
    pub what: &'static str,
}
