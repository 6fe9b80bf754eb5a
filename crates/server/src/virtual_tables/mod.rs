//! Tables that hold nothing: their rows are made from the state of the server when a query asks for them.
//!
//! Names resolve in [`EngineCatalog`](crate::catalog::EngineCatalog), rows come through
//! [`StatementContext`](crate::statement_context::StatementContext). A table is a file with its columns and a
//! function that makes its rows; it is listed in [`ALL`].

mod data_lock_waits;
mod data_locks;
mod denied;
mod innodb_trx;
mod lock_rows;
mod waits;

use std::sync::{Arc, LazyLock};

use expr::EvalError;
use types::{CollationId, ColumnDef, IndexDef, IndexKind, OwnedValue, SqlType, TableDef, TypeKind};

pub(crate) use denied::{ensure_allowed, is_host_cache};
pub(crate) use lock_rows::LockRows;

use crate::privilege::Privileges;
use crate::session::Session;

/// The schemas, in order.
pub(crate) const SCHEMAS: [&str; 2] = [INFORMATION, PERFORMANCE];
const INFORMATION: &str = "information_schema";
const PERFORMANCE: &str = "performance_schema";

/// What the rows of a statement are made from. Tables that tell of the same thing tell of the same moment of
/// it.
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
}

/// All tables, by schema and name.
static ALL: [VirtualTable; 5] =
    [innodb_trx::TABLE, data_lock_waits::TABLE, data_locks::TABLE, waits::HISTOGRAM, waits::SUMMARY];

static DEFINITIONS: LazyLock<Vec<Arc<TableDef>>> =
    LazyLock::new(|| ALL.iter().map(|table| Arc::new(definition(table))).collect());

fn definition(table: &VirtualTable) -> TableDef {
    let columns = (table.columns)();
    let clustered = IndexDef::new("GEN_CLUST_INDEX", IndexKind::Secondary, &[]);
    TableDef { hidden_row_id: true, ..TableDef::new(table.schema, table.name, columns, vec![clustered]) }
}

/// The schema that `name` is meant to be. Of the two only the name of `information_schema` may be written in
/// any case.
pub(crate) fn schema(name: &str) -> Option<&'static str> {
    if name.eq_ignore_ascii_case(INFORMATION) {
        Some(INFORMATION)
    } else {
        (name == PERFORMANCE).then_some(PERFORMANCE)
    }
}

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
/// [`EvalError::Denied`]: only who has PROCESS sees in `information_schema` what others do.
pub(crate) fn rows(def: &TableDef, sources: &Sources<'_>) -> Result<Vec<Row>, EvalError> {
    if is_everybodys(&def.schema) && !sources.session.rights.global().has(Privileges::PROCESS) {
        return Err(EvalError::Denied("PROCESS"));
    }
    let table = ALL.iter().find(|table| *def.schema == *table.schema && *def.name == *table.name);
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
