//! CHECKSUM TABLE: the sum of the checksums of a table's rows, as MySQL has it for the same rows.

use engine::{Effect, Engine, TableUse, Trx, WholeRows};
use sql::ast::{Maintain, TableName};

use super::record_buffer::RecordBuffer;
use crate::answer::{Cell, Column, Table};
use crate::ddl::refused;
use crate::diagnostics::Severity;
use crate::error_map::{self, SqlError};
use crate::full_name::FullName;
use crate::session::Session;
use crate::transaction;

/// The sums of the rows that the session sees, NULL where there is no such table or with QUICK: no sum is
/// kept. Reads as a SELECT does, in the session's transaction.
///
/// # Errors
/// 1046; 1317. What fails for one table is a condition of the statement.
pub(super) fn table(
    session: &mut Session,
    engine: &Engine,
    maintain: &Maintain<'_>,
) -> Result<Table, SqlError> {
    let names = maintain.tables.iter().map(|written| FullName::resolve(session.database.as_deref(), written));
    let names = names.collect::<Result<Vec<_>, _>>()?;
    let mut report = Table::new(vec![Column::text("Table", 128), Column::bigint("Checksum")]);
    let autocommit = transaction::is_autocommit(session);
    let mut trx = transaction::enter(session);
    for (written, name) in maintain.tables.iter().zip(&names) {
        let sum = match ensure_readable(session, written) {
            Ok(()) => match sum(engine, &mut trx, name, maintain.options.quick) {
                Ok(sum) => sum,
                Err(error) => {
                    let (effect, error) = (error.effect(), refused(session, &error));
                    if effect != Effect::Statement || error.code == error_map::QUERY_INTERRUPTED.code {
                        transaction::leave_failed(session, trx, autocommit, effect, false);
                        return Err(error);
                    }
                    noted(session, error)
                }
            },
            Err(error) => noted(session, error),
        };
        let sum = sum.map_or(Cell::Null, |sum| Cell::Int(i64::from(sum)));
        report.push(vec![Cell::Text(name.to_string()), sum]);
    }
    transaction::leave(session, trx, autocommit)?;
    Ok(report)
}

/// Notes what is wrong with a table, which has no sum.
fn noted(session: &mut Session, error: SqlError) -> Option<u32> {
    session.warn(Severity::Error, error);
    None
}

fn ensure_readable(session: &Session, table: &TableName<'_>) -> Result<(), SqlError> {
    session
        .table_locks
        .as_ref()
        .map_or(Ok(()), |locks| locks.ensure_locked(session.database.as_deref(), table))
}

/// The sum of the rows that `trx` sees.
fn sum(
    engine: &Engine,
    trx: &mut Trx,
    name: &FullName,
    is_quick: bool,
) -> Result<Option<u32>, engine::Error> {
    let table = engine.open_table_to(trx, &name.schema, &name.table, TableUse::Read)?;
    if is_quick {
        return Ok(None);
    }
    let (mut buffer, mut sum) = (RecordBuffer::new(&table.def), 0u32);
    let rows = WholeRows::new(engine, &table, trx.view());
    let read = rows.for_each(|row, _| {
        sum = sum.wrapping_add(buffer.checksum(row));
        Ok::<(), engine::Error>(())
    });
    read.map_err(|error| engine.name_damage(error, std::slice::from_ref(&table)))?;
    Ok(Some(sum))
}
