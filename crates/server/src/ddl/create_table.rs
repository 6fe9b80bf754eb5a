//! CREATE TABLE.

use std::sync::Arc;

use base::TableId;
use engine::{Engine, Error, NameError};
use sql::ast::{ColumnDefinition, Constraint, CreateTable, TableName};
use types::{CollationId, ColumnDef, IndexDef, IndexKind, TableDef};

use super::column::{self, Column, column};
use super::names::{self, FullName};
use super::table_options::TableOptions;
use super::{Done, column_type, key, not_yet, refused};
use crate::constant::Inputs;
use crate::diagnostics::Severity;
use crate::error_map::{self, SqlError};
use crate::session::Session;

/// CREATE TABLE, CREATE TABLE .. LIKE.
pub(super) fn create(
    session: &mut Session,
    engine: &Arc<Engine>,
    create: &CreateTable<'_>,
    inputs: Inputs<'_>,
) -> Result<Done, SqlError> {
    let name = FullName::resolve(session, &create.name)?;
    let def = match &create.like {
        Some(source) => like(session, engine, &name, source)?,
        None => table_def(session, engine, create, inputs)?,
    };
    if engine.table(&def.schema, &def.name).is_err() {
        let rank_max = if create.like.is_some() { key::PRIMARY } else { key::SERVES_AS_PRIMARY };
        key::ensure_primary(session, &def.indexes, &def.columns, rank_max)?;
    }
    match engine.create_table(def) {
        Ok(_) => Ok(Done::default()),
        Err(error) if create.if_not_exists && is_there(&error) => {
            session.warn(Severity::Note, refused(session, &error));
            Ok(Done::default())
        }
        Err(error) => Err(refused(session, &error)),
    }
}

fn is_there(error: &Error) -> bool {
    matches!(error, Error::Name(name) if matches!(**name, NameError::TableExists(_)))
}

/// The definition that `create` describes, ids not yet given, indexes in MySQL's order.
///
/// # Errors
/// MySQL's errors for what is wrong with it, as far as the engine does not find them; 1235 for what is not
/// supported.
pub fn table_def(
    session: &mut Session,
    engine: &Engine,
    create: &CreateTable<'_>,
    inputs: Inputs<'_>,
) -> Result<TableDef, SqlError> {
    refuse_unsupported(create)?;
    names::ensure_few(create.columns.len(), create.constraints.len())?;
    let name = FullName::resolve(session, &create.name)?;
    names::ensure_table_name(&name.table)?;
    let schema = engine.schema(&name.schema).map_err(|error| refused(session, &error))?;
    let options = TableOptions::gather(session, &name.table, create.options, &[])?;
    options.ensure_agreement(session, &name.table)?;
    let collation = options.collation.resolve(schema.collation);
    let mut columns = Vec::with_capacity(create.columns.len());
    for (at, written) in create.columns.iter().enumerate() {
        match column(session, written, collation, inputs) {
            Ok(column) => columns.push(column),
            Err(error) => {
                warn_of_rest(session, &error, &create.columns[at + 1..], collation);
                return Err(error);
            }
        }
    }
    names::ensure_distinct_columns(columns.iter().map(|column| &column.def))?;
    let mut defs: Vec<ColumnDef> = columns.iter().map(|column| column.def.clone()).collect();
    column::ensure_one_visible(&defs)?;
    let mut indexes = indexes(session, create, &columns, &defs, &name)?;
    close_primary_key(&mut defs, &columns, &indexes)?;
    indexes.sort_by_key(|index| key::rank(index, &defs));
    key::ensure_visible_primary(&indexes, &defs)?;
    Ok(TableDef {
        id: TableId(0),
        schema: name.schema.into(),
        name: name.table.into(),
        columns: defs,
        indexes,
        hidden_row_id: false,
        collation,
        comment: options.comment.into(),
        format_version: 1,
        auto_increment_start: options.auto_increment.unwrap_or(1).max(1),
        create_time: 0,
        hints: options.hints(),
    })
}

/// MySQL looks at default values when it has read all columns, and warned of their types.
#[cold]
fn warn_of_rest(
    session: &mut Session,
    error: &SqlError,
    rest: &[ColumnDefinition<'_>],
    collation: CollationId,
) {
    if error.code != error_map::INVALID_DEFAULT.code {
        return;
    }
    for written in rest {
        // An error of a later column is not the statement's.
        let _ = column::column_type_of(session, written, collation);
    }
}

fn refuse_unsupported(create: &CreateTable<'_>) -> Result<(), SqlError> {
    if create.temporary {
        return Err(not_yet("CREATE TEMPORARY TABLE"));
    }
    if create.partitioned {
        return Err(not_yet("PARTITION BY"));
    }
    if create.query.is_some() {
        return Err(not_yet("CREATE TABLE ... SELECT"));
    }
    Ok(())
}

/// Keys of column attributes, then keys written as elements.
fn indexes(
    session: &mut Session,
    create: &CreateTable<'_>,
    columns: &[Column],
    defs: &[ColumnDef],
    table: &FullName,
) -> Result<Vec<IndexDef>, SqlError> {
    let mut indexes: Vec<IndexDef> = Vec::new();
    for (position, column) in columns.iter().enumerate() {
        for &kind in &column.keys {
            let index = key::of_column(kind, position, defs, &indexes);
            if indexes.iter().any(|other| other.name == index.name) {
                return Err(error_map::MULTIPLE_PRI_KEY.bare());
            }
            indexes.push(index);
        }
    }
    for constraint in create.constraints {
        let index = match constraint {
            Constraint::Key(definition) => key::index(session, definition, defs, &indexes)?,
            Constraint::ForeignKey(_) => return Err(not_yet("FOREIGN KEY constraints")),
            Constraint::Check(_) => return Err(not_yet("CHECK constraints")),
        };
        indexes.push(index);
    }
    for (number, index) in indexes.iter().enumerate() {
        key::warn_if_repeated(session, index, &indexes[..number], table);
    }
    Ok(indexes)
}

/// Columns of the primary key become NOT NULL.
///
/// # Errors
/// 1171 where NULL or DEFAULT NULL was written.
fn close_primary_key(
    defs: &mut [ColumnDef],
    columns: &[Column],
    indexes: &[IndexDef],
) -> Result<(), SqlError> {
    let primary = indexes.iter().find(|index| index.kind == IndexKind::Primary);
    for part in primary.iter().flat_map(|index| &index.parts) {
        let position = usize::from(part.column);
        if columns[position].explicit_null {
            return Err(error_map::PRIMARY_CANT_HAVE_NULL.bare());
        }
        defs[position].nullable = false;
    }
    Ok(())
}

/// The definition of `source` under another name.
fn like(
    session: &mut Session,
    engine: &Engine,
    name: &FullName,
    source: &TableName<'_>,
) -> Result<TableDef, SqlError> {
    names::ensure_table_name(&name.table)?;
    let source = FullName::resolve(session, source)?;
    let table = source.open(session, engine)?;
    engine.schema(&name.schema).map_err(|error| refused(session, &error))?;
    if source == *name {
        return Err(error_map::NONUNIQ_TABLE.with(&[&name.table]));
    }
    for column in &table.def.columns {
        for warning in column_type::deprecations(&column.ty, column.ty.unsigned) {
            session.warn(Severity::Warning, warning);
        }
    }
    Ok(TableDef {
        schema: name.schema.as_str().into(),
        name: name.table.as_str().into(),
        auto_increment_start: 1,
        create_time: 0,
        ..(*table.def).clone()
    })
}
