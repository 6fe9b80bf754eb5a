//! `performance_schema.events_waits_summary_global_by_event_name` and
//! `events_waits_histogram_by_event_name`: how long threads of this process have slept, by what they waited
//! for. Times are in picoseconds.

use base::sync::wait_times::{self, WAIT_KINDS, WaitKind, WaitTimes};
use types::{CollationId, ColumnDef, OwnedValue};

use super::{PERFORMANCE, Row, Sources, VirtualTable, number, string, text, uint};

const COLLATION: CollationId = CollationId::UTF8MB4_0900_AI_CI;
const PICOS_PER_NANO: u64 = 1000;

pub(super) const SUMMARY: VirtualTable = VirtualTable::new(
    PERFORMANCE,
    "events_waits_summary_global_by_event_name",
    summary_columns,
    summary_rows,
);

pub(super) const HISTOGRAM: VirtualTable =
    VirtualTable::new(PERFORMANCE, "events_waits_histogram_by_event_name", histogram_columns, histogram_rows);

fn event_name(kind: WaitKind) -> &'static str {
    match kind {
        WaitKind::Latch => "wait/synch/rwlock/ratchet/latch",
        WaitKind::Row => "wait/lock/row/ratchet/row",
        WaitKind::TableUse => "wait/lock/metadata/ratchet/table_use",
        WaitKind::TableChange => "wait/lock/metadata/ratchet/table_change",
        WaitKind::CommitNumber => "wait/synch/cond/ratchet/commit_number",
        WaitKind::LogWrite => "wait/synch/cond/ratchet/log_write",
        WaitKind::LogRoom => "wait/synch/cond/ratchet/log_room",
        WaitKind::Frame => "wait/synch/cond/ratchet/buffer_frame",
    }
}

fn summary_columns() -> Vec<ColumnDef> {
    let times = ["COUNT_STAR", "SUM_TIMER_WAIT", "MIN_TIMER_WAIT", "AVG_TIMER_WAIT", "MAX_TIMER_WAIT"];
    let mut columns = vec![text("EVENT_NAME", 128, COLLATION, false)];
    columns.extend(times.map(|name| number(name, false)));
    columns
}

fn summary_rows(_: &Sources<'_>) -> Vec<Row> {
    let row = |&kind: &WaitKind| {
        let times = wait_times::of(kind);
        let average = times.sum_ns.checked_div(times.count()).unwrap_or(0);
        vec![
            string(event_name(kind), COLLATION),
            uint(times.count()),
            picos(times.sum_ns),
            picos(times.min_ns),
            picos(average),
            picos(times.max_ns),
        ]
    };
    WAIT_KINDS.iter().map(row).collect()
}

fn histogram_columns() -> Vec<ColumnDef> {
    let counts =
        ["BUCKET_NUMBER", "BUCKET_TIMER_LOW", "BUCKET_TIMER_HIGH", "COUNT_BUCKET", "COUNT_BUCKET_AND_LOWER"];
    let mut columns = vec![text("EVENT_NAME", 128, COLLATION, false)];
    columns.extend(counts.map(|name| number(name, false)));
    columns
}

fn histogram_rows(_: &Sources<'_>) -> Vec<Row> {
    WAIT_KINDS.iter().flat_map(|&kind| buckets(kind)).collect()
}

fn buckets(kind: WaitKind) -> impl Iterator<Item = Row> {
    let times = wait_times::of(kind);
    times.buckets.into_iter().enumerate().scan(0, move |below, (bucket, count)| {
        *below += count;
        Some(vec![
            string(event_name(kind), COLLATION),
            uint(bucket as u64),
            picos(WaitTimes::bucket_from_ns(bucket)),
            picos(WaitTimes::bucket_from_ns(bucket + 1)),
            uint(count),
            uint(*below),
        ])
    })
}

fn picos(ns: u64) -> OwnedValue {
    uint(ns.saturating_mul(PICOS_PER_NANO))
}
