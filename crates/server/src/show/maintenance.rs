//! ANALYZE, CHECK, OPTIMIZE and REPAIR TABLE. CHECKSUM TABLE is in `checksum_table`.

use engine::check::Depth;
use engine::{Alteration, Engine};
use sql::ast::{Maintain, MaintainKind, TableName};

use super::{checksum_table, not_yet};
use crate::answer::{Cell, Column, Table};
use crate::ddl::{build_options, refused};
use crate::error_map::SqlError;
use crate::full_name::FullName;
use crate::session::Session;
use crate::table_locks::lock_wait;
use crate::virtual_tables;

const NO_REPAIR: &str = "The storage engine for the table doesn't support repair";
const RECREATED: &str = "Table does not support optimize, doing recreate + analyze instead";

/// Does what is asked to each table and reports on it.
///
/// # Errors
/// 1046; 1317; 1235 for histograms. What fails for one table is a row of the report.
pub(super) fn table(
    session: &mut Session,
    engine: &Engine,
    maintain: &Maintain<'_>,
) -> Result<Table, SqlError> {
    if maintain.histogram {
        return Err(not_yet("histograms"));
    }
    let operation = match maintain.kind {
        MaintainKind::Analyze => "analyze",
        MaintainKind::Check => "check",
        MaintainKind::Optimize => "optimize",
        MaintainKind::Repair => "repair",
        MaintainKind::Checksum => return checksum_table::table(session, engine, maintain),
    };
    let mut report = empty();
    for written in maintain.tables {
        let name = FullName::resolve(session.database.as_deref(), written)?;
        let messages = if virtual_tables::find_of_accounts(&name.schema, &name.table).is_some() {
            of_accounts(maintain.kind)
        } else if maintain.kind == MaintainKind::Optimize {
            optimize(session, engine, written, &name)
        } else {
            run(session, engine, &name, maintain)
        };
        session.fail_if_killed()?;
        for (kind, text) in messages {
            report.push(vec![
                Cell::Text(name.to_string()),
                Cell::text(operation),
                Cell::text(kind),
                Cell::Text(text),
            ]);
        }
    }
    Ok(report)
}

/// A report on no table.
pub(super) fn empty() -> Table {
    Table::new(vec![
        Column::text("Table", 128),
        Column::text("Op", 10),
        Column::text("Msg_type", 10),
        Column::computed_text("Msg_text"),
    ])
}

/// Messages on a table of accounts, where there is nothing to do.
fn of_accounts(kind: MaintainKind) -> Vec<(&'static str, String)> {
    let ok = ("status", "OK".to_owned());
    match kind {
        MaintainKind::Repair => vec![("note", NO_REPAIR.to_owned())],
        MaintainKind::Optimize => vec![("note", RECREATED.to_owned()), ok],
        _ => vec![ok],
    }
}

/// Messages on one table: type and text.
fn run(
    session: &Session,
    engine: &Engine,
    name: &FullName,
    maintain: &Maintain<'_>,
) -> Vec<(&'static str, String)> {
    let done = match maintain.kind {
        MaintainKind::Analyze => analyze(engine, name).map(|()| Vec::new()),
        MaintainKind::Check => {
            let depth = if maintain.options.quick { Depth::Quick } else { Depth::Full };
            let checked = engine.check_table(&name.schema, &name.table, lock_wait(session), depth);
            checked.map(|report| report.problems)
        }
        _ => {
            return match engine.table(&name.schema, &name.table) {
                Ok(_) => vec![("note", NO_REPAIR.to_owned())],
                Err(error) => failed(refused(session, &error)),
            };
        }
    };
    match done {
        Ok(problems) if problems.is_empty() => vec![("status", "OK".to_owned())],
        Ok(problems) => {
            let found = problems.into_iter().map(|problem| ("Warning", problem.to_string()));
            found.chain([("error", "Corrupt".to_owned())]).collect()
        }
        Err(error) => failed(refused(session, &error)),
    }
}

fn analyze(engine: &Engine, name: &FullName) -> Result<(), engine::Error> {
    let table = engine.table(&name.schema, &name.table)?;
    let sampled = table.count_rows(engine).and_then(|_| table.sample(engine));
    sampled.map_err(|error| engine.name_damage(error, std::slice::from_ref(&table)))?;
    engine.expire_plans(&table);
    Ok(())
}

/// OPTIMIZE TABLE: all rows are rewritten, and looked at.
fn optimize(
    session: &Session,
    engine: &Engine,
    written: &TableName<'_>,
    name: &FullName,
) -> Vec<(&'static str, String)> {
    if let Some(Err(error)) =
        session.table_locks.as_ref().map(|locks| locks.ensure_written(session.database.as_deref(), written))
    {
        return failed(error);
    }
    match recreate(session, engine, name).and_then(|()| analyze(engine, name)) {
        Ok(()) => {
            vec![("note", RECREATED.to_owned()), ("status", "OK".to_owned())]
        }
        Err(error) => failed(refused(session, &error)),
    }
}

fn recreate(session: &Session, engine: &Engine, name: &FullName) -> Result<(), engine::Error> {
    loop {
        let table = engine.table(&name.schema, &name.table)?;
        let same: Vec<Option<u16>> = (0..table.def.columns.len() as u16).map(Some).collect();
        let alteration = Alteration { def: (*table.def).clone(), auto_increment: None };
        let (options, wait) = (build_options(session, None), lock_wait(session));
        let made = engine.rebuild_table(&table.def, alteration, &same, &options, wait, |row, put| put(row));
        match made {
            // Another statement has altered it since it was looked up.
            Err(engine::Error::TableChanged) if !table.is_current() => {}
            made => {
                return made
                    .map(|_| ())
                    .map_err(|error| engine.name_damage(error, std::slice::from_ref(&table)));
            }
        }
    }
}

fn failed(error: SqlError) -> Vec<(&'static str, String)> {
    vec![("Error", error.message), ("status", "Operation failed".to_owned())]
}
