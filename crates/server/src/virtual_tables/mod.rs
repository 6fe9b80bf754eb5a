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
mod schemas;
mod table;
mod waits;

use std::sync::{Arc, LazyLock};

use base::IndexId;
use expr::EvalError;
use types::{CollationId, IndexDef, IndexKind, TableDef};

pub(crate) use denied::{ensure_allowed, is_host_cache, is_lockable};
pub(crate) use lock_rows::LockRows;
pub(crate) use schemas::{INFORMATION, SCHEMAS, is_everybodys, is_of_accounts, kind, schema};
use schemas::{MYSQL, PERFORMANCE};
pub(crate) use table::Sources;
use table::{Declared, Row, VirtualTable, datetime, int, number, opt_uint, string, text, uint};

use crate::privilege::Privileges;

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

/// The definition of a table of accounts.
pub(crate) fn find_of_accounts(schema: &str, name: &str) -> Option<Arc<TableDef>> {
    if is_of_accounts(schema) { find(schema, name) } else { None }
}

/// The names of a schema's tables.
pub(crate) fn names(schema: &str) -> impl Iterator<Item = &'static str> {
    ALL.iter().filter(move |table| table.schema == schema).map(|table| table.name)
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
