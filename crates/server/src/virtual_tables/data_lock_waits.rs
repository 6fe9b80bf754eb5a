//! `performance_schema.data_lock_waits`: which request waits for which lock.

use trx::{LockInfo, WaitInfo};
use types::{CollationId, ColumnDef, OwnedValue};

use super::lock_rows::{instance, lock_id};
use super::{PERFORMANCE, Row, Sources, VirtualTable, number, opt_uint, string, text, uint};

const COLLATION: CollationId = CollationId::UTF8MB4_0900_AI_CI;

pub(super) const TABLE: VirtualTable = VirtualTable::new(PERFORMANCE, "data_lock_waits", columns, rows);

fn columns() -> Vec<ColumnDef> {
    vec![
        text("ENGINE", 32, COLLATION, false),
        text("REQUESTING_ENGINE_LOCK_ID", 128, COLLATION, false),
        number("REQUESTING_ENGINE_TRANSACTION_ID", true),
        number("REQUESTING_THREAD_ID", true),
        number("REQUESTING_EVENT_ID", true),
        number("REQUESTING_OBJECT_INSTANCE_BEGIN", false),
        text("BLOCKING_ENGINE_LOCK_ID", 128, COLLATION, false),
        number("BLOCKING_ENGINE_TRANSACTION_ID", true),
        number("BLOCKING_THREAD_ID", true),
        number("BLOCKING_EVENT_ID", true),
        number("BLOCKING_OBJECT_INSTANCE_BEGIN", false),
    ]
}

fn rows(sources: &Sources<'_>) -> Vec<Row> {
    let locks = (sources.locks)();
    let side = |lock: &LockInfo| {
        [
            string(lock_id(lock), COLLATION),
            uint(lock.trx.0),
            opt_uint(locks.connection(lock.trx)),
            OwnedValue::Null,
            uint(instance(lock)),
        ]
    };
    let row = |wait: &WaitInfo| {
        let mut row = vec![string("INNODB", COLLATION)];
        row.extend(side(&wait.wanted));
        row.extend(side(&wait.blocking));
        row
    };
    locks.report.waits.iter().map(row).collect()
}
