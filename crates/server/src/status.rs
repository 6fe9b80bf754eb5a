//! Status counters (SHOW STATUS): relaxed atomics, bumped per statement, read rarely.
//!
//! What every statement counts is kept in shards, one for each group of threads, so that sessions on different cores do
//! not pass cache lines to each other; a reader adds the shards up.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

/// Statement kinds that are counted as `Com_*`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
#[expect(missing_docs, reason = "each variant is the counter of the same name")]
pub enum Com {
    AlterDb,
    AlterTable,
    AlterUser,
    Analyze,
    Begin,
    ChangeDb,
    Check,
    Commit,
    CreateDb,
    CreateIndex,
    CreateTable,
    CreateUser,
    DeallocSql,
    Delete,
    Do,
    DropDb,
    DropIndex,
    DropTable,
    DropUser,
    ExecuteSql,
    ExplainOther,
    Flush,
    Grant,
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
    Rollback,
    RollbackToSavepoint,
    Savepoint,
    Select,
    SetOption,
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
    "Com_analyze",
    "Com_begin",
    "Com_change_db",
    "Com_check",
    "Com_commit",
    "Com_create_db",
    "Com_create_index",
    "Com_create_table",
    "Com_create_user",
    "Com_dealloc_sql",
    "Com_delete",
    "Com_do",
    "Com_drop_db",
    "Com_drop_index",
    "Com_drop_table",
    "Com_drop_user",
    "Com_execute_sql",
    "Com_explain_other",
    "Com_flush",
    "Com_grant",
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
    "Com_rollback",
    "Com_rollback_to_savepoint",
    "Com_savepoint",
    "Com_select",
    "Com_set_option",
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
pub enum Hot {
    /// Commands other than COM_PING and COM_STATISTICS, and every statement of a multi-statement.
    Questions,
    /// Bytes received from clients.
    BytesReceived,
    /// Bytes sent to clients.
    BytesSent,
    /// Statements begun.
    Begun,
    /// Statements ended.
    Ended,
}

const HOT_COUNT: usize = Hot::Ended as usize + 1;
const SHARDS: usize = 16;

/// One group of threads' counters: those of [`Hot`], then those of [`Com`].
#[derive(Debug)]
#[repr(align(128))]
struct Shard([AtomicU64; HOT_COUNT + COM_COUNT]);

thread_local! {
    /// The thread's shard.
    static SHARD: usize = {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        NEXT.fetch_add(1, Ordering::Relaxed) % SHARDS
    };
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
    /// Prepared statements in all sessions.
    pub prepared_statements: AtomicU64,
    /// Statements slower than `long_query_time`.
    pub slow_queries: AtomicU64,
    shards: [Shard; SHARDS],
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
            prepared_statements: AtomicU64::new(0),
            slow_queries: AtomicU64::new(0),
            shards: std::array::from_fn(|_| Shard(std::array::from_fn(|_| AtomicU64::new(0)))),
        }
    }
}

impl Status {
    /// Counts a statement of kind `com`.
    #[inline]
    pub fn count(&self, com: Com) {
        self.bump(HOT_COUNT + com as usize, 1);
    }

    /// Adds `n` to one of the counters of every command.
    #[inline]
    pub fn add(&self, counter: Hot, n: u64) {
        self.bump(counter as usize, n);
    }

    #[inline]
    fn bump(&self, counter: usize, n: u64) {
        bump(&self.shards[SHARD.with(|shard| *shard)].0[counter], n);
    }

    /// A counter's value.
    pub fn get(&self, counter: Hot) -> u64 {
        self.sum(counter as usize)
    }

    fn sum(&self, counter: usize) -> u64 {
        self.shards.iter().map(|shard| shard.0[counter].load(Ordering::Relaxed)).sum()
    }

    /// Statements in progress.
    pub fn threads_running(&self) -> u64 {
        let ended = self.get(Hot::Ended);
        self.get(Hot::Begun).saturating_sub(ended)
    }

    /// Seconds since the server started.
    pub fn uptime_s(&self) -> u64 {
        self.started.elapsed().as_secs()
    }

    /// Name and value of every counter, by name.
    pub fn list(&self) -> Vec<(&'static str, u64)> {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let com = COM_NAMES.iter().enumerate();
        let mut list: Vec<_> = com.map(|(at, &name)| (name, self.sum(HOT_COUNT + at))).collect();
        list.extend([
            ("Aborted_clients", get(&self.aborted_clients)),
            ("Aborted_connects", get(&self.aborted_connects)),
            ("Bytes_received", self.get(Hot::BytesReceived)),
            ("Bytes_sent", self.get(Hot::BytesSent)),
            ("Connection_errors_max_connections", get(&self.refused_at_limit)),
            ("Connections", get(&self.connections)),
            ("Max_used_connections", get(&self.max_used_connections)),
            ("Prepared_stmt_count", get(&self.prepared_statements)),
            ("Queries", self.get(Hot::Questions)),
            ("Questions", self.get(Hot::Questions)),
            ("Slow_queries", get(&self.slow_queries)),
            ("Threads_cached", 0),
            ("Threads_connected", get(&self.threads_connected)),
            ("Threads_created", get(&self.connections)),
            ("Threads_running", self.threads_running()),
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
        status.count(Com::Update);
        status.count(Com::AlterDb);
        let list = status.list();
        assert!(list.windows(2).all(|pair| pair[0].0.to_ascii_lowercase() < pair[1].0.to_ascii_lowercase()));
        assert!(list.contains(&("Com_update", 1)) && list.contains(&("Com_alter_db", 1)));
        assert!(list.contains(&("Com_select", 0)));
    }
}
