//! SHOW, DESCRIBE, EXPLAIN and table maintenance: statements that answer with a small table built in memory.
//!
//! | file | what it shows |
//! |---|---|
//! | `server_state` | variables, counters, conditions, connections, character sets |
//! | `catalog_lists` | databases, tables, table status |
//! | `columns`, `indexes` | what a table consists of |
//! | `definitions` | the column definitions of these tables |
//! | `create_user` | CREATE USER statements |
//! | `definition_text` | CREATE TABLE and CREATE DATABASE statements |
//! | `engine_status` | what the storage engine is doing |
//! | `absent` | what there is none of |
//! | `grants`, `privileges` | grants, and what can be granted |
//! | `maintenance` | reports of ANALYZE, CHECK, OPTIMIZE and REPAIR TABLE |
//! | `checksum_table`, `record_buffer` | sums of CHECKSUM TABLE |
//! | `explain` | plans |
//! | `filter` | LIKE and WHERE |

mod absent;
mod catalog_lists;
mod checksum_table;
mod columns;
mod create_user;
pub(crate) mod definition_text;
pub(crate) mod definitions;
mod engine_status;
mod explain;
mod filter;
mod grants;
mod indexes;
mod maintenance;
mod privileges;
mod record_buffer;
mod server_state;

use std::borrow::Cow;
use std::sync::Arc;

use engine::Engine;
use sql::ast::{Describe, Expr, ExprKind, Show, ShowFilter, ShowKind, Statement, TableName};
use types::{CollationId, OwnedValue, TableDef};

use crate::answer::{Cell, Column, Table};
use crate::catalog::open_table;
use crate::constant::evaluate;
use crate::ddl::{not_yet, refused};
use crate::error_map::{self, SqlError};
use crate::full_name::{FullName, schema_or_default};
use crate::inputs::Inputs;
use crate::like::like;
use crate::privilege::OnColumns;
use crate::session::Session;
use crate::virtual_tables;

/// The answer to SHOW, DESCRIBE, EXPLAIN, and ANALYZE, CHECK, OPTIMIZE, REPAIR or CHECKSUM TABLE.
///
/// # Errors
/// 1235 for what cannot be shown yet; 1046, 1049, 1146 for missing names.
pub fn rows(
    session: &mut Session,
    engine: &Arc<Engine>,
    statement: &Statement<'_>,
    inputs: Inputs<'_>,
) -> Result<Table, SqlError> {
    let mut table = match statement {
        Statement::Show(show) => {
            let mut table = shown(session, engine, show)?;
            narrow(session, show, inputs, &mut table)?;
            table
        }
        Statement::Describe(describe) => described(session, engine, describe)?,
        Statement::Explain(explain) => explain::table(session, explain, inputs)?,
        Statement::Maintain(maintain) => maintenance::table(session, engine, maintain)?,
        _ => return Err(not_yet(statement.name())),
    };
    if let Some(known) = definitions::find(statement) {
        table.define(&known.executed);
    }
    Ok(table)
}

/// The columns that PREPARE names for a statement of [`rows`]; `None` for those for which it names none.
pub(crate) fn prepared(session: &Session, engine: &Engine, statement: &Statement<'_>) -> Option<Table> {
    let known = definitions::find(statement).filter(|known| !known.prepared.is_empty())?;
    let mut table = match statement {
        Statement::Show(show) => shown(session, engine, show).ok()?,
        Statement::Describe(describe) => described(session, engine, describe).ok()?,
        Statement::Maintain(_) => maintenance::empty(),
        _ => return None,
    };
    table.define(&known.prepared);
    Some(table)
}

/// All that `show` may show, before LIKE, WHERE and LIMIT.
fn shown(session: &Session, engine: &Engine, show: &Show<'_>) -> Result<Table, SqlError> {
    if let Some(table) = server_state::table(session, show)? {
        return Ok(table);
    }
    if let Some(table) = absent::table(&show.kind) {
        if let Some(schema) = show.schema.filter(|name| virtual_tables::schema(name).is_none()) {
            engine.schema(schema).map_err(|error| refused(session, &error))?;
        }
        return Ok(table);
    }
    if show.extended {
        return Err(not_yet("SHOW EXTENDED"));
    }
    let zone = &session.variables.hot.time_zone;
    let pattern = match show.filter {
        ShowFilter::Like(pattern) => Some(pattern),
        _ => None,
    };
    match &show.kind {
        ShowKind::Databases => Ok(catalog_lists::databases(session, engine, pattern)),
        ShowKind::Tables => {
            let schema = schema_or_default(session.database.as_deref(), show.schema)?;
            let schema = virtual_tables::schema(&schema).map_or(schema, Cow::Borrowed);
            let tables = catalog_lists::tables(session, &schema, show.full, pattern);
            tables.map_err(|error| refused(session, &error))
        }
        ShowKind::OpenTables => Ok(catalog_lists::open_tables(session, show.schema)),
        ShowKind::TableStatus => {
            let schema = schema_or_default(session.database.as_deref(), show.schema)?;
            let status = catalog_lists::table_status(session, &schema, zone);
            status.map_err(|error| refused(session, &error))
        }
        ShowKind::Columns(name) => {
            let def = definition(session, engine, name, show.schema)?;
            Ok(columns::table(&def, show.full, &OnColumns::new(session, &def), zone))
        }
        ShowKind::Index(name) => index_table(session, engine, name, show.schema),
        ShowKind::CreateTable(name) => create_table(session, engine, name),
        ShowKind::CreateDatabase(name, if_not_exists) => {
            create_database(session, engine, name, *if_not_exists)
        }
        ShowKind::CreateView(name) => {
            let name = FullName::resolve(session.database.as_deref(), name)?;
            open_table(session, engine, &name)?;
            Err(error_map::WRONG_OBJECT.with(&[&name.schema, &name.table, &"VIEW"]))
        }
        ShowKind::CreateProgram(kind, name) => Err(no_program(session, kind, name)?),
        ShowKind::BinaryLogs | ShowKind::BinlogEvents => Err(error_map::NO_BINARY_LOGGING.bare()),
        ShowKind::Engine { name, what } => engine_status::table(session, engine, name, what),
        ShowKind::Privileges => Ok(privileges::table()),
        ShowKind::CreateUser(account) => create_user::table(session, account),
        ShowKind::Grants(account, roles) => grants::table(session, account.as_ref(), roles),
        ShowKind::ProgramCode(_) => {
            Err(error_map::FEATURE_DISABLED.with(&[&"SHOW PROCEDURE|FUNCTION CODE", &"--with-debug"]))
        }
        // The other kinds were asked for above.
        _ => Err(not_yet("SHOW")),
    }
}

/// The error for a stored program: there are none.
fn no_program(session: &Session, kind: &str, name: &TableName<'_>) -> Result<SqlError, SqlError> {
    let full = FullName::resolve(session.database.as_deref(), name)?;
    Ok(match kind {
        "TRIGGER" => error_map::TRG_DOES_NOT_EXIST.bare(),
        "EVENT" => error_map::EVENT_DOES_NOT_EXIST.with(&[&full.table]),
        _ => error_map::SP_DOES_NOT_EXIST.with(&[&kind, &full.table]),
    })
}

fn open(
    session: &Session,
    engine: &Engine,
    name: &TableName<'_>,
    schema: Option<&str>,
) -> Result<Arc<engine::Table>, SqlError> {
    // FROM schema wins over the schema written before the table's name.
    let name = TableName { schema: schema.or(name.schema), ..*name };
    open_table(session, engine, &FullName::resolve(session.database.as_deref(), &name)?)
}

/// The definition of a table, which may be virtual.
fn definition(
    session: &Session,
    engine: &Engine,
    name: &TableName<'_>,
    schema: Option<&str>,
) -> Result<Arc<TableDef>, SqlError> {
    let full = schema_or_default(session.database.as_deref(), schema.or(name.schema))?;
    match virtual_tables::find(&full, name.name) {
        Some(def) => Ok(def),
        None => open(session, engine, name, schema).map(|table| Arc::clone(&table.def)),
    }
}

fn index_table(
    session: &Session,
    engine: &Engine,
    name: &TableName<'_>,
    schema: Option<&str>,
) -> Result<Table, SqlError> {
    let full = schema_or_default(session.database.as_deref(), schema.or(name.schema))?;
    if let Some(def) = virtual_tables::find_of_accounts(&full, name.name) {
        return Ok(indexes::table(&def, 0, None));
    }
    let table = open(session, engine, name, schema)?;
    Ok(indexes::table(&table.def, table.row_count_estimate(), table.statistics(engine).as_deref()))
}

fn described(session: &Session, engine: &Engine, describe: &Describe<'_>) -> Result<Table, SqlError> {
    let def = definition(session, engine, &describe.table, None)?;
    let privileges = OnColumns::new(session, &def);
    let mut columns = columns::table(&def, false, &privileges, &session.variables.hot.time_zone);
    if let Some(pattern) = describe.column {
        columns.retain_by(0, |name| like(pattern, name));
    }
    Ok(columns)
}

fn create_table(session: &Session, engine: &Engine, name: &TableName<'_>) -> Result<Table, SqlError> {
    let schema = schema_or_default(session.database.as_deref(), name.schema)?;
    let (def, next) = if let Some(def) = virtual_tables::find_of_accounts(&schema, name.name) {
        (def, None)
    } else {
        let found = open(session, engine, name, None)?;
        let next = found.next_auto_increment(engine).map_err(|error| refused(session, &error))?;
        (Arc::clone(&found.def), next)
    };
    let text = definition_text::create_table(&def, next, &session.variables.hot.time_zone);
    let mut table =
        Table::new(vec![Column::name("Table"), Column::text("Create Table", (text.len() as u32).max(1024))]);
    table.push(vec![Cell::text(&*def.name), Cell::Text(text)]);
    Ok(table)
}

fn create_database(
    session: &Session,
    engine: &Engine,
    name: &str,
    if_not_exists: bool,
) -> Result<Table, SqlError> {
    let collation = if virtual_tables::is_of_accounts(name) {
        CollationId::UTF8MB4_0900_AI_CI
    } else {
        engine.schema(name).map_err(|error| refused(session, &error))?.collation
    };
    let text = definition_text::create_database(name, collation, if_not_exists);
    let mut table = Table::new(vec![Column::name("Database"), Column::text("Create Database", 1024)]);
    table.push(vec![Cell::text(name), Cell::Text(text)]);
    Ok(table)
}

/// Applies LIKE, WHERE and LIMIT.
fn narrow(
    session: &mut Session,
    show: &Show<'_>,
    inputs: Inputs<'_>,
    table: &mut Table,
) -> Result<(), SqlError> {
    match show.filter {
        ShowFilter::None => {}
        ShowFilter::Like(pattern) => {
            let column = usize::from(matches!(show.kind, ShowKind::OpenTables));
            filter::retain_like(table, column, pattern);
        }
        ShowFilter::Where(condition) => filter::retain(session, table, &condition, inputs)?,
    }
    if let Some(limit) = show.limit {
        let offset = match &limit.offset {
            Some(offset) => row_count(session, offset, inputs)?,
            None => 0,
        };
        table.limit(offset, row_count(session, &limit.count, inputs)?);
    }
    Ok(())
}

fn row_count(session: &mut Session, expr: &Expr<'_>, inputs: Inputs<'_>) -> Result<usize, SqlError> {
    if let ExprKind::Column(name) = expr.kind {
        return Err(error_map::SP_UNDECLARED_VAR.with(&[&name.column]));
    }
    match evaluate(session, expr, inputs)? {
        OwnedValue::Int(rows) if rows >= 0 => Ok(usize::try_from(rows).unwrap_or(usize::MAX)),
        OwnedValue::UInt(rows) => Ok(usize::try_from(rows).unwrap_or(usize::MAX)),
        _ => Err(error_map::WRONG_ARGUMENTS.with(&[&"LIMIT"])),
    }
}
