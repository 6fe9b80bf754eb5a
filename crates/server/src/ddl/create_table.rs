//! CREATE TABLE.

use std::sync::Arc;

use base::TableId;
use engine::{Engine, Error, NameError};
use sql::ast::{Constraint, CreateTable, TableName};
use types::{IndexDef, TableDef};

use super::column::{self, Column};
use super::names;
use super::table_options::TableOptions;
use super::{Done, column_type, key, not_yet, refused, row_default};
use crate::catalog::open_table;
use crate::diagnostics::Severity;
use crate::error_map::{self, SqlError};
use crate::full_name::FullName;
use crate::inputs::Inputs;
use crate::session::Session;

/// CREATE TABLE, CREATE TABLE .. LIKE.
pub(super) fn create(
    session: &mut Session,
    engine: &Arc<Engine>,
    create: &CreateTable<'_>,
    inputs: Inputs<'_>,
) -> Result<Done, SqlError> {
    let name = FullName::resolve(session.database.as_deref(), &create.name)?;
    let def = match &create.like {
        Some(source) => like(session, engine, &name, source)?,
        None => table_def(session, engine, create, inputs)?,
    };
    if engine.table(&def.schema, &def.name).is_err() {
        let rank_max = if create.like.is_some() { key::PRIMARY } else { key::PRIMARY_RANK_MAX };
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
    let name = FullName::resolve(session.database.as_deref(), &create.name)?;
    names::ensure_table_name(&name.table)?;
    let written = column::read_all(session, create.columns.iter(), inputs)?;
    let options = TableOptions::gather(session, &name.table, create.options)?;
    let schema = engine.schema(&name.schema).map_err(|error| refused(session, &error))?;
    let collation = options.collation.resolve(schema.collation);
    let mut columns = Vec::with_capacity(written.len());
    let mut wrong = None;
    for written in &written {
        match written.column(session, (collation, None), inputs) {
            Ok(mut column) => {
                column.notes.drain(..).for_each(|note| session.warn(Severity::Note, note));
                columns.push(column);
            }
            Err(error) => {
                wrong = Some(error);
                break;
            }
        }
    }
    // MySQL checks columns one after the other.
    let mut names = names::ColumnNames::default();
    columns.iter().try_for_each(|column| names.add(&column.def))?;
    if let Some(error) = wrong {
        return Err(error);
    }
    let mut def = TableDef {
        id: TableId(0),
        schema: name.schema.as_str().into(),
        name: name.table.as_str().into(),
        columns: columns.iter().map(|column| column.def.clone()).collect(),
        indexes: Vec::new(),
        hidden_row_id: false,
        collation,
        comment: options.comment.unwrap_or_default().into(),
        format_version: 1,
        auto_increment_start: options.auto_increment.unwrap_or(1).max(1),
        create_time: 0,
        hints: options.hints(&[]),
        unknown: None,
    };
    let indexes = indexes(session, create, &columns, &mut def, &name)?;
    def.indexes = indexes;
    engine::limits::table(&def).map_err(|error| refused(session, &error.into()))?;
    column::ensure_one_visible(&def.columns)?;
    let literals = columns.iter().map(|column| column.literal);
    column::settle_defaults(session, &mut def, literals, inputs)?;
    row_default::settle(session, &mut def, columns.iter().map(|column| column.expression), inputs)?;
    if let Some(unknown) = options.unknown(&def.hints) {
        return Err(unknown.refuse(session, &def.name, false));
    }
    Ok(def)
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

/// Keys of column attributes, then keys written as elements, in MySQL's order: what a primary key makes NOT
/// NULL might be NULL in the keys before it.
fn indexes(
    session: &mut Session,
    create: &CreateTable<'_>,
    columns: &[Column<'_>],
    def: &mut TableDef,
    table: &FullName,
) -> Result<Vec<IndexDef>, SqlError> {
    let mut indexes: Vec<IndexDef> = Vec::new();
    let mut ranks = Vec::new();
    let limit = key::PartLimit { bytes_max: key::part_bytes_max(&def.hints), converted_key: None };
    let mut take = |session: &mut Session, mut index: IndexDef, def: &mut TableDef| {
        let is_null_written = |position: usize| columns[position].explicit_null;
        key::fit(session, &mut index, def, limit, is_null_written)?;
        ranks.push(key::rank(&index, &def.columns));
        Ok::<IndexDef, SqlError>(index)
    };
    for (position, column) in columns.iter().enumerate() {
        for &kind in &column.keys {
            let index = key::of_column(kind, position, &def.columns, &indexes)?;
            indexes.push(take(session, index, def)?);
        }
    }
    for constraint in create.constraints {
        let (index, failure) = match constraint {
            Constraint::Key(definition) => key::index(session, definition, &def.columns, &indexes)?,
            Constraint::ForeignKey(_) => return Err(not_yet("FOREIGN KEY constraints")),
            Constraint::Check(_) => return Err(not_yet("CHECK constraints")),
        };
        indexes.push(take(session, index, def)?);
        failure.map_or(Ok(()), Err)?;
    }
    for (number, index) in indexes.iter().enumerate() {
        key::warn_if_repeated(session, index, indexes[..number].iter(), table);
    }
    key::ensure_visible_primary(&indexes, &def.columns)?;
    key::sort(&ranks, &mut indexes);
    Ok(indexes)
}

/// The definition of `source` under another name.
fn like(
    session: &mut Session,
    engine: &Engine,
    name: &FullName,
    source: &TableName<'_>,
) -> Result<TableDef, SqlError> {
    names::ensure_table_name(&name.table)?;
    let source = FullName::resolve(session.database.as_deref(), source)?;
    let table = open_table(session, engine, &source)?;
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
