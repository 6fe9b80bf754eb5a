//! Status counters (SHOW STATUS): bumped per statement, read rarely.
//!
//! What every statement counts is kept with its connection, written by one thread with plain additions; a
//! reader adds the connections up.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use parking_lot::Mutex;

/// Statement kinds that are counted as `Com_*`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
#[expect(missing_docs, reason = "each variant is the counter of the same name")]
pub enum Com {
    AlterDb,
    AlterTable,
    AlterUser,
    AlterUserDefaultRole,
    Analyze,
    Begin,
    ChangeDb,
    Check,
    Commit,
    CreateDb,
    CreateIndex,
    CreateRole,
    CreateTable,
    CreateUser,
    DeallocSql,
    Delete,
    Do,
    DropDb,
    DropIndex,
    DropRole,
    DropTable,
    DropUser,
    ExecuteSql,
    ExplainOther,
    Flush,
    Grant,
    GrantRoles,
    Insert,
    InsertSelect,
    Kill,
    Load,
    LockTables,
    Optimize,
    PrepareSql,
    RenameTable,
    Replace,
    ReplaceSelect,
    Revoke,
    RevokeRoles,
    Rollback,
    RollbackToSavepoint,
    Savepoint,
    Select,
    SetOption,
    SetRole,
    ShowCreateTable,
    ShowDatabases,
    ShowFields,
    ShowKeys,
    ShowProcesslist,
    ShowStatus,
    ShowTableStatus,
    ShowTables,
    ShowVariables,
    ShowWarnings,
    StmtClose,
    StmtExecute,
    StmtPrepare,
    StmtReset,
    StmtSendLongData,
    Truncate,
    UnlockTables,
    Update,
}

/// Names of [`Com`], in order.
static COM_NAMES: [&str; COM_COUNT] = [
    "Com_alter_db",
    "Com_alter_table",
    "Com_alter_user",
    "Com_alter_user_default_role",
    "Com_analyze",
    "Com_begin",
    "Com_change_db",
    "Com_check",
    "Com_commit",
    "Com_create_db",
    "Com_create_index",
    "Com_create_role",
    "Com_create_table",
    "Com_create_user",
    "Com_dealloc_sql",
    "Com_delete",
    "Com_do",
    "Com_drop_db",
    "Com_drop_index",
    "Com_drop_role",
    "Com_drop_table",
    "Com_drop_user",
    "Com_execute_sql",
    "Com_explain_other",
    "Com_flush",
    "Com_grant",
    "Com_grant_roles",
    "Com_insert",
    "Com_insert_select",
    "Com_kill",
    "Com_load",
    "Com_lock_tables",
    "Com_optimize",
    "Com_prepare_sql",
    "Com_rename_table",
    "Com_replace",
    "Com_replace_select",
    "Com_revoke",
    "Com_revoke_roles",
    "Com_rollback",
    "Com_rollback_to_savepoint",
    "Com_savepoint",
    "Com_select",
    "Com_set_option",
    "Com_set_role",
    "Com_show_create_table",
    "Com_show_databases",
    "Com_show_fields",
    "Com_show_keys",
    "Com_show_processlist",
    "Com_show_status",
    "Com_show_table_status",
    "Com_show_tables",
    "Com_show_variables",
    "Com_show_warnings",
    "Com_stmt_close",
    "Com_stmt_execute",
    "Com_stmt_prepare",
    "Com_stmt_reset",
    "Com_stmt_send_long_data",
    "Com_truncate",
    "Com_unlock_tables",
    "Com_update",
];

const COM_COUNT: usize = Com::Update as usize + 1;

/// Counters that every command bumps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum HotCounter {
    /// Commands other than COM_PING and COM_STATISTICS, and every statement of a multi-statement.
    Questions,
    /// Bytes received from clients.
    BytesReceived,
    /// Bytes sent to clients.
    BytesSent,
    /// SELECTs that ran with a `max_execution_time`.
    ExecutionTimeSet,
    /// Those of them that ran for longer.
    ExecutionTimeExceeded,
    /// SELECTs whose `max_execution_time` could not be watched.
    ExecutionTimeSetFailed,
    /// Statements that failed after they were killed.
    KilledStatements,
    /// Microseconds that they worked on after the request, rollbacks left out.
    KillDelayUs,
    /// Statements slower than `long_query_time`.
    SlowQueries,
    /// Rows and index entries of base tables that statements have read.
    RowsExamined,
}

/// Name of [`HotCounter::SlowQueries`].
pub(crate) const SLOW_QUERIES: &str = "Slow_queries";
/// Name of [`HotCounter::RowsExamined`].
pub(crate) const ROWS_EXAMINED: &str = "Ratchet_rows_examined";

const HOT_COUNT: usize = HotCounter::RowsExamined as usize + 1;
const COUNTERS: usize = HOT_COUNT + COM_COUNT;

/// The counters of one connection: those of [`HotCounter`], then those of [`Com`]. Only the connection's
/// thread writes them, so it needs no atomic addition; anybody may read.
#[derive(Debug)]
#[repr(align(128))]
pub struct Counters([AtomicU64; COUNTERS]);

impl Default for Counters {
    fn default() -> Self {
        Counters(std::array::from_fn(|_| AtomicU64::new(0)))
    }
}

impl Counters {
    /// Counts a statement of kind `com`.
    #[inline]
    pub fn count(&self, com: Com) {
        self.raise(HOT_COUNT + com as usize, 1);
    }

    /// Adds `n` to one of the counters of every command.
    #[inline]
    pub fn add(&self, counter: HotCounter, n: u64) {
        self.raise(counter as usize, n);
    }

    #[inline]
    fn raise(&self, counter: usize, n: u64) {
        let counter = &self.0[counter];
        counter.store(counter.load(Ordering::Relaxed).wrapping_add(n), Ordering::Relaxed);
    }

    /// One of the counters of every command, for the connection's own thread.
    #[inline]
    pub fn of(&self, counter: HotCounter) -> &AtomicU64 {
        &self.0[counter as usize]
    }

    fn get(&self, counter: usize) -> u64 {
        self.0[counter].load(Ordering::Relaxed)
    }
}

/// Counters of all connections.
#[derive(Debug, Default)]
struct Connections {
    /// Those that may still count.
    open: Vec<Arc<Counters>>,
    /// The counters of ended connections.
    ended: Counters,
}

impl Connections {
    /// Adds what connections that are gone have counted to `ended`.
    fn settle(&mut self) {
        let ended = &self.ended;
        self.open.retain(|counters| {
            let alive = Arc::strong_count(counters) > 1;
            if !alive {
                (0..COUNTERS).for_each(|at| ended.raise(at, counters.get(at)));
            }
            alive
        });
    }

    fn sum(&self, counter: usize) -> u64 {
        self.open.iter().map(|counters| counters.get(counter)).sum::<u64>() + self.ended.get(counter)
    }
}

/// Counters of the server.
#[derive(Debug)]
pub struct Status {
    started: Instant,
    /// Connection attempts.
    pub connections: AtomicU64,
    /// Connections that failed before they were authenticated.
    pub aborted_connects: AtomicU64,
    /// Connections that ended without COM_QUIT.
    pub aborted_clients: AtomicU64,
    /// Open connections.
    pub threads_connected: AtomicU64,
    /// Most open connections at a time.
    pub max_used_connections: AtomicU64,
    /// Connections refused with error 1040.
    pub refused_at_limit: AtomicU64,
    /// Logins delayed after failed ones.
    pub login_delays: AtomicU64,
    /// Clients that asked for TLS.
    pub tls_accepts: AtomicU64,
    /// Events of the audit log that were written.
    pub audit_events: AtomicU64,
    /// Events that the audit log could not take.
    pub audit_events_lost: AtomicU64,
    /// Those of them whose handshake succeeded.
    pub tls_finished_accepts: AtomicU64,
    /// Prepared statements in all sessions.
    pub prepared_statements: AtomicU64,
    counted: Mutex<Connections>,
}

impl Default for Status {
    fn default() -> Self {
        Status {
            started: Instant::now(),
            connections: AtomicU64::new(0),
            aborted_connects: AtomicU64::new(0),
            aborted_clients: AtomicU64::new(0),
            threads_connected: AtomicU64::new(0),
            max_used_connections: AtomicU64::new(0),
            refused_at_limit: AtomicU64::new(0),
            login_delays: AtomicU64::new(0),
            tls_accepts: AtomicU64::new(0),
            audit_events: AtomicU64::new(0),
            audit_events_lost: AtomicU64::new(0),
            tls_finished_accepts: AtomicU64::new(0),
            prepared_statements: AtomicU64::new(0),
            counted: Mutex::default(),
        }
    }
}

impl Status {
    /// Counters of a new connection, which belong to the total as long as there is a server.
    pub fn connection(&self) -> Arc<Counters> {
        let counters = Arc::new(Counters::default());
        let mut counted = self.counted.lock();
        counted.settle();
        counted.open.push(Arc::clone(&counters));
        counters
    }

    /// A counter's value.
    pub fn get(&self, counter: HotCounter) -> u64 {
        self.counted.lock().sum(counter as usize)
    }

    /// Seconds since the server started.
    pub(crate) fn uptime_s(&self) -> u64 {
        self.started.elapsed().as_secs()
    }

    /// Name and value of every counter, by name. `threads_running`: connections that have a command in
    /// progress.
    pub fn list(&self, threads_running: u64) -> Vec<(&'static str, u64)> {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let com: Vec<u64> = {
            let counted = self.counted.lock();
            (HOT_COUNT..COUNTERS).map(|at| counted.sum(at)).collect()
        };
        let mut list: Vec<_> = COM_NAMES.into_iter().zip(com).collect();
        list.extend([
            ("Aborted_clients", get(&self.aborted_clients)),
            ("Aborted_connects", get(&self.aborted_connects)),
            ("Audit_log_events_lost", get(&self.audit_events_lost)),
            ("Audit_log_events_written", get(&self.audit_events)),
            ("Bytes_received", self.get(HotCounter::BytesReceived)),
            ("Bytes_sent", self.get(HotCounter::BytesSent)),
            ("Connection_control_delay_generated", get(&self.login_delays)),
            ("Connection_errors_max_connections", get(&self.refused_at_limit)),
            ("Connections", get(&self.connections)),
            ("Max_execution_time_exceeded", self.get(HotCounter::ExecutionTimeExceeded)),
            ("Max_execution_time_set", self.get(HotCounter::ExecutionTimeSet)),
            ("Max_execution_time_set_failed", self.get(HotCounter::ExecutionTimeSetFailed)),
            ("Max_used_connections", get(&self.max_used_connections)),
            ("Prepared_stmt_count", get(&self.prepared_statements)),
            ("Queries", self.get(HotCounter::Questions)),
            ("Questions", self.get(HotCounter::Questions)),
            ("Ratchet_kill_delay_us", self.get(HotCounter::KillDelayUs)),
            ("Ratchet_killed_statements", self.get(HotCounter::KilledStatements)),
            (ROWS_EXAMINED, self.get(HotCounter::RowsExamined)),
            (SLOW_QUERIES, self.get(HotCounter::SlowQueries)),
            ("Ssl_accepts", get(&self.tls_accepts)),
            ("Ssl_finished_accepts", get(&self.tls_finished_accepts)),
            ("Threads_cached", 0),
            ("Threads_connected", get(&self.threads_connected)),
            ("Threads_created", get(&self.connections)),
            ("Threads_running", threads_running),
            ("Uptime", self.uptime_s()),
            ("Uptime_since_flush_status", self.uptime_s()),
        ]);
        list.sort_unstable_by_key(|&(name, _)| name.to_ascii_lowercase());
        list
    }
}

/// Adds `n` to a counter that orders nothing.
#[inline]
pub fn bump(counter: &AtomicU64, n: u64) {
    counter.fetch_add(n, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_listed_by_name() {
        let status = Status::default();
        let counters = status.connection();
        counters.count(Com::Update);
        counters.count(Com::AlterDb);
        let list = status.list(1);
        assert!(list.windows(2).all(|pair| pair[0].0.to_ascii_lowercase() < pair[1].0.to_ascii_lowercase()));
        assert!(list.contains(&("Com_update", 1)) && list.contains(&("Com_alter_db", 1)));
        assert!(list.contains(&("Com_select", 0)) && list.contains(&("Threads_running", 1)));
    }

    #[test]
    fn what_ended_connections_counted_stays() {
        let status = Status::default();
        let (one, other) = (status.connection(), status.connection());
        one.add(HotCounter::Questions, 2);
        other.add(HotCounter::Questions, 3);
        drop(one);
        assert_eq!(status.get(HotCounter::Questions), 5);
        let third = status.connection();
        third.add(HotCounter::Questions, 10);
        assert_eq!(status.counted.lock().open.len(), 2);
        assert_eq!(status.get(HotCounter::Questions), 15);
    }
}
