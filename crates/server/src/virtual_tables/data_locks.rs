//! `performance_schema.data_locks`: every explicit lock of a row or gap, and every request for one.

use types::{CollationId, ColumnDef, OwnedValue};

use super::{PERFORMANCE, Row, Sources, VirtualTable, number, opt_uint, string, text, uint};

const COLLATION: CollationId = CollationId::UTF8MB4_0900_AI_CI;

pub(super) const TABLE: VirtualTable = VirtualTable::new(PERFORMANCE, "data_locks", columns, rows);

fn columns() -> Vec<ColumnDef> {
    let text = |name, chars, nullable| text(name, chars, COLLATION, nullable);
    vec![
        text("ENGINE", 32, false),
        text("ENGINE_LOCK_ID", 128, false),
        number("ENGINE_TRANSACTION_ID", true),
        number("THREAD_ID", true),
        number("EVENT_ID", true),
        text("OBJECT_SCHEMA", 64, true),
        text("OBJECT_NAME", 64, true),
        text("PARTITION_NAME", 64, true),
        text("SUBPARTITION_NAME", 64, true),
        text("INDEX_NAME", 64, true),
        number("OBJECT_INSTANCE_BEGIN", false),
        text("LOCK_TYPE", 32, false),
        text("LOCK_MODE", 32, false),
        text("LOCK_STATUS", 32, false),
        text("LOCK_DATA", 8192, true),
    ]
}

fn rows(sources: &Sources<'_>) -> Vec<Row> {
    let (engine, locks) = (&sources.session.server.engine, (sources.locks)());
    let string = |value: String| string(value, COLLATION);
    let optional = |value: Option<String>| value.map_or(OwnedValue::Null, string);
    let row = |lock| {
        let found = locks.row(engine, lock);
        vec![
            string("INNODB".to_owned()),
            string(found.id),
            uint(lock.trx.0),
            opt_uint(found.connection),
            OwnedValue::Null,
            optional(found.schema),
            optional(found.table),
            OwnedValue::Null,
            OwnedValue::Null,
            optional(found.index),
            uint(found.instance),
            string("RECORD".to_owned()),
            string(found.mode.to_owned()),
            string(if lock.granted { "GRANTED" } else { "WAITING" }.to_owned()),
            string(found.data),
        ]
    };
    locks.report.locks.iter().map(row).collect()
}
