//! Tables that hold nothing: their rows are made from the state of the server when a query asks for them.
//!
//! Names resolve in [`EngineCatalog`](crate::catalog::EngineCatalog), rows come through
//! [`StatementContext`](crate::statement_context::StatementContext). A table is a file with its columns and a
//! function that makes its rows; it is listed in [`ALL`].

mod account_tables;
mod component;
mod data_lock_waits;
mod data_locks;
mod denied;
mod innodb_dictionary;
mod innodb_trx;
mod lock_rows;
mod role_tables;
mod waits;

use std::sync::{Arc, LazyLock};

use base::IndexId;
use expr::EvalError;
use types::{CollationId, ColumnDef, IndexDef, IndexKind, OwnedValue, SqlType, TableDef, TypeKind};

pub(crate) use denied::{ensure_allowed, is_host_cache, is_lockable};
pub(crate) use lock_rows::LockRows;

use crate::privilege::Privileges;
use crate::session::Session;

/// The schemas, in order.
pub(crate) const SCHEMAS: [&str; 3] = [INFORMATION, MYSQL, PERFORMANCE];
pub(crate) const INFORMATION: &str = "information_schema";
const MYSQL: &str = "mysql";
const PERFORMANCE: &str = "performance_schema";

/// The sources of a statement's rows. Tables about the same objects show the same moment.
pub(crate) struct Sources<'s> {
    pub(crate) session: &'s Session,
    /// The locks at a moment of the statement.
    pub(crate) locks: &'s dyn Fn() -> Arc<LockRows>,
}

/// A row, by column.
type Row = Vec<OwnedValue>;

/// A table.
struct VirtualTable {
    schema: &'static str,
    name: &'static str,
    columns: fn() -> Vec<ColumnDef>,
    rows: fn(&Sources<'_>) -> Vec<Row>,
    /// Its declaration. No rows are found by these keys.
    declared: Declared,
    /// Whether it shows other sessions' activity and therefore needs PROCESS.
    needs_process: bool,
}

/// Keys and comment of a table.
struct Declared {
    /// Positions of the columns of the primary key; none: there is no such key.
    primary: &'static [u16],
    /// Position of the column of another key, which has the column's name.
    secondary: Option<u16>,
    comment: &'static str,
}

impl VirtualTable {
    /// A table without keys.
    const fn new(
        schema: &'static str,
        name: &'static str,
        columns: fn() -> Vec<ColumnDef>,
        rows: fn(&Sources<'_>) -> Vec<Row>,
    ) -> Self {
        let declared = Declared { primary: &[], secondary: None, comment: "" };
        VirtualTable { schema, name, columns, rows, declared, needs_process: false }
    }
}

/// All tables, by schema and name.
static ALL: [VirtualTable; 25] = [
    role_tables::ADMINISTRABLE,
    role_tables::APPLICABLE,
    role_tables::ENABLED,
    innodb_dictionary::COLUMNS,
    innodb_dictionary::INDEXES,
    innodb_dictionary::TABLES,
    innodb_trx::TABLE,
    account_tables::ROLE_COLUMN_GRANTS,
    account_tables::ROLE_ROUTINE_GRANTS,
    account_tables::ROLE_TABLE_GRANTS,
    account_tables::COLUMNS_PRIV,
    component::TABLE,
    account_tables::DB,
    account_tables::DEFAULT_ROLES,
    account_tables::GLOBAL_GRANTS,
    account_tables::PASSWORD_HISTORY,
    account_tables::PROCS_PRIV,
    account_tables::PROXIES_PRIV,
    account_tables::ROLE_EDGES,
    account_tables::TABLES_PRIV,
    account_tables::USER,
    data_lock_waits::TABLE,
    data_locks::TABLE,
    waits::HISTOGRAM,
    waits::SUMMARY,
];

static DEFINITIONS: LazyLock<Vec<Arc<TableDef>>> =
    LazyLock::new(|| ALL.iter().map(|table| Arc::new(definition(table))).collect());

fn definition(table: &VirtualTable) -> TableDef {
    let columns = (table.columns)();
    let Declared { primary, secondary, comment } = table.declared;
    if primary.is_empty() {
        let clustered = IndexDef::new("GEN_CLUST_INDEX", IndexKind::Secondary, &[]);
        return TableDef {
            hidden_row_id: true,
            ..TableDef::new(table.schema, table.name, columns, vec![clustered])
        };
    }
    let mut indexes = vec![IndexDef::new("PRIMARY", IndexKind::Primary, primary)];
    if let Some(column) = secondary {
        let name = &columns[usize::from(column)].name;
        let index = IndexDef::new(name, IndexKind::Secondary, &[column]);
        indexes.push(IndexDef { id: IndexId(1), ..index });
    }
    let def = TableDef::new(table.schema, table.name, columns, indexes);
    TableDef { collation: CollationId::UTF8MB3_BIN, comment: comment.into(), ..def }
}

/// The schema that `name` is meant to be. Only the name of `information_schema` may be written in any case.
pub(crate) fn schema(name: &str) -> Option<&'static str> {
    // Every name of a statement's tables is asked about: their lengths decide nearly always.
    const LONG: usize = INFORMATION.len();
    const SHORT: usize = MYSQL.len();
    match name.len() {
        LONG if name.eq_ignore_ascii_case(INFORMATION) => Some(INFORMATION),
        LONG if name == PERFORMANCE => Some(PERFORMANCE),
        SHORT if name == MYSQL => Some(MYSQL),
        _ => None,
    }
}

const _: () = assert!(PERFORMANCE.len() == INFORMATION.len());

/// The definition of a table; `None` if there is none of this name. The names in `information_schema` may be
/// written in any case.
pub(crate) fn find(schema: &str, name: &str) -> Option<Arc<TableDef>> {
    let schema = self::schema(schema)?;
    let is_named = |def: &&Arc<TableDef>| {
        *def.schema == *schema
            && (*def.name == *name || (schema == INFORMATION && def.name.eq_ignore_ascii_case(name)))
    };
    DEFINITIONS.iter().find(is_named).cloned()
}

/// Whether `schema` has the tables of accounts. In many ways they are shown as those of the engine are.
pub(crate) fn is_of_accounts(schema: &str) -> bool {
    schema == MYSQL
}

/// The definition of a table of accounts.
pub(crate) fn find_of_accounts(schema: &str, name: &str) -> Option<Arc<TableDef>> {
    if is_of_accounts(schema) { find(schema, name) } else { None }
}

/// What SHOW FULL TABLES calls the tables of `schema`.
pub(crate) fn kind(schema: &str) -> &'static str {
    if schema == INFORMATION { "SYSTEM VIEW" } else { "BASE TABLE" }
}

/// The names of a schema's tables.
pub(crate) fn names(schema: &str) -> impl Iterator<Item = &'static str> {
    ALL.iter().filter(move |table| table.schema == schema).map(|table| table.name)
}

/// Whether everybody may read what is in `schema`, as far as its tables do not say otherwise.
pub(crate) fn is_everybodys(schema: &str) -> bool {
    schema == INFORMATION
}

/// The rows of the table `def`.
///
/// # Errors
/// [`EvalError::Denied`] without PROCESS, for tables that need it.
pub(crate) fn rows(def: &TableDef, sources: &Sources<'_>) -> Result<Vec<Row>, EvalError> {
    let table = ALL.iter().find(|table| *def.schema == *table.schema && *def.name == *table.name);
    let has_process = || sources.session.on_everything().privileges.has(Privileges::PROCESS);
    if table.is_some_and(|table| table.needs_process) && !has_process() {
        return Err(EvalError::Denied("PROCESS"));
    }
    Ok(table.map(|table| (table.rows)(sources)).unwrap_or_default())
}

fn number(name: &str, nullable: bool) -> ColumnDef {
    ColumnDef::new(name, SqlType::bigint_unsigned(), nullable)
}

fn int(name: &str) -> ColumnDef {
    ColumnDef::new(name, SqlType::new(TypeKind::Int, 11), false)
}

fn datetime(name: &str, nullable: bool) -> ColumnDef {
    ColumnDef::new(name, SqlType::new(TypeKind::DateTime, 19), nullable)
}

fn text(name: &str, chars: u32, collation: CollationId, nullable: bool) -> ColumnDef {
    ColumnDef::new(name, SqlType::varchar(chars, collation), nullable)
}

fn uint(value: u64) -> OwnedValue {
    OwnedValue::UInt(value)
}

fn opt_uint(value: Option<u64>) -> OwnedValue {
    value.map_or(OwnedValue::Null, OwnedValue::UInt)
}

fn string(value: impl Into<String>, collation: CollationId) -> OwnedValue {
    OwnedValue::Bytes { data: value.into().into_bytes().into(), collation }
}
