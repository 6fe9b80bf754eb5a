//! `information_schema.INNODB_TRX`: every transaction that has read or written anything, and those that a
//! crash left unfinished, while they are rolled back.

use trx::{Isolation, TrxInfo};
use types::{CollationId, ColumnDef, OwnedValue};

use super::lock_rows::lock_id;
use super::{INFORMATION, Row, Sources, VirtualTable, datetime, int, number, string, text, uint};
use crate::deadlock_report::short;
use crate::statement_context::clock_micros;

const COLLATION: CollationId = CollationId::UTF8MB4_0900_AI_CI;
const MICROS_PER_SECOND: i64 = 1_000_000;
/// Added to the connection's number in place of the id of a transaction that has none.
const NO_ID: u64 = 1 << 48;

pub(super) const TABLE: VirtualTable =
    VirtualTable { needs_process: true, ..VirtualTable::new(INFORMATION, "INNODB_TRX", columns, rows) };

fn columns() -> Vec<ColumnDef> {
    let text = |name, chars, nullable| text(name, chars, COLLATION, nullable);
    vec![
        number("trx_id", false),
        text("trx_state", 13, false),
        datetime("trx_started", false),
        text("trx_requested_lock_id", 126, true),
        datetime("trx_wait_started", true),
        number("trx_weight", false),
        number("trx_mysql_thread_id", false),
        text("trx_query", 1024, true),
        text("trx_operation_state", 64, true),
        number("trx_tables_in_use", false),
        number("trx_tables_locked", false),
        number("trx_lock_structs", false),
        number("trx_lock_memory_bytes", false),
        number("trx_rows_locked", false),
        number("trx_rows_modified", false),
        number("trx_concurrency_tickets", false),
        text("trx_isolation_level", 16, false),
        int("trx_unique_checks"),
        int("trx_foreign_key_checks"),
        text("trx_last_foreign_key_error", 256, true),
        int("trx_adaptive_hash_latched"),
        number("trx_adaptive_hash_timeout", false),
        int("trx_is_read_only"),
        int("trx_autocommit_non_locking"),
        number("trx_schedule_weight", true),
    ]
}

fn rows(sources: &Sources<'_>) -> Vec<Row> {
    let transactions = sources.session.server.engine.trx_system().transactions();
    transactions.iter().filter(|trx| trx.is_active()).map(|trx| row(sources, trx)).collect()
}

fn row(sources: &Sources<'_>, trx: &TrxInfo) -> Row {
    let string = |value: String| string(value, COLLATION);
    let ago = |seconds: u64| {
        let zone = &sources.session.variables.hot.time_zone;
        let then = clock_micros() / MICROS_PER_SECOND - seconds as i64;
        OwnedValue::DateTime(zone.to_local(then, 0), 0)
    };
    let client = &trx.client;
    let flag = |is: bool| OwnedValue::Int(i64::from(is));
    let optional = |value: Option<OwnedValue>| value.unwrap_or(OwnedValue::Null);
    let (changes, rows) = (trx.changes.unwrap_or_default(), trx.locks.rows as u64);
    let query = Some(short(&client.statement)).filter(|text| !text.is_empty());
    vec![
        uint(trx.id.map_or(NO_ID + u64::from(client.connection), |id| id.0)),
        string(state(trx).to_owned()),
        ago(client.active_s),
        optional(trx.locks.wants.as_ref().map(|lock| string(lock_id(lock)))),
        optional(trx.locks.waits_s.map(ago)),
        uint(changes + rows),
        uint(u64::from(client.connection)),
        optional(query.map(|text| string(text.to_owned()))),
        OwnedValue::Null,
        uint(0),
        uint(0),
        uint(rows + trx.locks.gaps as u64),
        uint(0),
        uint(rows),
        uint(changes),
        uint(0),
        string(level(client.settings.isolation).to_owned()),
        flag(client.settings.unique_checks),
        flag(client.settings.foreign_key_checks),
        OwnedValue::Null,
        flag(false),
        uint(0),
        flag(client.settings.read_only),
        flag(trx.id.is_none() && client.statement_only),
        OwnedValue::Null,
    ]
}

fn state(trx: &TrxInfo) -> &'static str {
    match (trx.is_unfinished, trx.locks.waits_s) {
        (true, _) => "ROLLING BACK",
        (false, Some(_)) => "LOCK WAIT",
        (false, None) => "RUNNING",
    }
}

fn level(isolation: Isolation) -> &'static str {
    match isolation {
        Isolation::ReadUncommitted => "READ UNCOMMITTED",
        Isolation::ReadCommitted => "READ COMMITTED",
        Isolation::RepeatableRead => "REPEATABLE READ",
        Isolation::Serializable => "SERIALIZABLE",
    }
}
