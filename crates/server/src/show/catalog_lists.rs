//! SHOW DATABASES, SHOW TABLES, SHOW OPEN TABLES, SHOW TABLE STATUS.

use std::sync::Arc;

use engine::{Engine, Error};
use types::{TableDef, TimeZone};

use super::definition_text;
use crate::answer::{Cell, Column, Table};
use crate::privilege;
use crate::session::Session;
use crate::virtual_tables;

/// All databases that the session may see; `pattern` is named in the header as MySQL does.
pub(super) fn databases(session: &Session, engine: &Engine, pattern: Option<&str>) -> Table {
    let mut table = Table::new(vec![Column::exact_name(headed("Database", pattern))]);
    let schemas = engine.schemas();
    let own =
        schemas.iter().map(|schema| &*schema.name).filter(|name| virtual_tables::schema(name).is_none());
    let mut names: Vec<&str> = own.chain(virtual_tables::SCHEMAS).collect();
    names.retain(|name| privilege::sees_schema(session, name));
    names.sort_unstable();
    for name in names {
        table.push(vec![Cell::text(name)]);
    }
    table
}

/// The tables of `schema` that the session may see; with `full`, what they are too.
pub(super) fn tables(
    session: &Session,
    schema: &str,
    full: bool,
    pattern: Option<&str>,
) -> Result<Table, Error> {
    let mut columns = vec![Column::exact_name(headed(&format!("Tables_in_{schema}"), pattern))];
    if full {
        columns.push(Column::word("Table_type", 11));
    }
    let mut table = Table::new(columns);
    let mut push = |name: &str, kind| {
        let cells = [name, kind].map(Cell::text);
        table.push(cells.into_iter().take(if full { 2 } else { 1 }).collect());
    };
    if let Some(schema) = virtual_tables::schema(schema) {
        let kind = virtual_tables::kind(schema);
        for name in virtual_tables::names(schema) {
            if privilege::sees_table(session, schema, name) {
                push(name, kind);
            }
        }
    } else {
        for found in seen_tables(session, schema)? {
            push(&found.def.name, "BASE TABLE");
        }
    }
    Ok(table)
}

fn seen_tables(session: &Session, schema: &str) -> Result<Vec<Arc<engine::Table>>, Error> {
    let mut tables = session.server.engine.tables(schema)?;
    tables.retain(|table| privilege::sees_table(session, schema, &table.def.name));
    Ok(tables)
}

fn headed(name: &str, pattern: Option<&str>) -> String {
    match pattern {
        Some(pattern) => format!("{name} ({pattern})"),
        None => name.to_owned(),
    }
}

/// The open tables of `schema`, or of all, that the session may see: startup and DDL open each table.
pub(super) fn open_tables(session: &Session, schema: Option<&str>) -> Table {
    let columns = vec![
        Column::name("Database"),
        Column::name("Table"),
        Column::bigint("In_use"),
        Column::bigint("Name_locked"),
    ];
    let mut table = Table::new(columns);
    let schemas = session.server.engine.schemas();
    for found in schemas.iter().filter(|found| schema.is_none_or(|schema| *found.name == *schema)) {
        for open in seen_tables(session, &found.name).unwrap_or_default() {
            let in_use = Cell::Int(open.session_locks().into());
            table.push(vec![Cell::text(&*found.name), Cell::text(&*open.def.name), in_use, Cell::Int(0)]);
        }
    }
    table
}

/// The tables of `schema` with what is known of them; sizes are not.
pub(super) fn table_status(session: &Session, schema: &str, zone: &TimeZone) -> Result<Table, Error> {
    let engine = &session.server.engine;
    let mut table = Table::new(status_header());
    if virtual_tables::is_of_accounts(schema) {
        let names = virtual_tables::names(schema);
        for name in names.filter(|name| privilege::sees_table(session, schema, name)) {
            if let Some(def) = virtual_tables::find(schema, name) {
                table.push(status_row(&def, (0, None), zone));
            }
        }
        return Ok(table);
    }
    for found in seen_tables(session, schema)? {
        let next = found.next_auto_increment(engine)?;
        table.push(status_row(&found.def, (found.row_count_estimate(), next), zone));
    }
    Ok(table)
}

fn status_row(def: &TableDef, (rows, next): (u64, Option<u64>), zone: &TimeZone) -> Vec<Cell> {
    let collation = def.collation.collation().map_or(Cell::Null, |collation| Cell::text(collation.name));
    vec![
        Cell::text(&*def.name),
        Cell::text("InnoDB"),
        Cell::Int(10),
        Cell::text(definition_text::row_format(def)),
        Cell::Int(rows as i64),
        Cell::Null,
        Cell::Null,
        Cell::Int(0),
        Cell::Null,
        Cell::Null,
        next.map_or(Cell::Null, |next| Cell::Int(next as i64)),
        Cell::DateTime(zone.to_local(def.create_time as i64, 0)),
        Cell::Null,
        Cell::Null,
        collation,
        Cell::Null,
        Cell::text(definition_text::create_options(def)),
        Cell::text(&*def.comment),
    ]
}

fn status_header() -> Vec<Column> {
    vec![
        Column::exact_name("Name"),
        Column::name("Engine"),
        Column::int("Version"),
        Column::word("Row_format", 10),
        Column::bigint_unsigned("Rows"),
        Column::bigint_unsigned("Avg_row_length"),
        Column::bigint_unsigned("Data_length"),
        Column::bigint_unsigned("Max_data_length"),
        Column::bigint_unsigned("Index_length"),
        Column::bigint_unsigned("Data_free"),
        Column::bigint_unsigned("Auto_increment"),
        Column::timestamp("Create_time"),
        Column::datetime("Update_time"),
        Column::datetime("Check_time"),
        Column::name("Collation"),
        Column::bigint("Checksum"),
        Column::text("Create_options", 256),
        Column::long_text("Comment"),
    ]
}
