//! The redo log by MySQL's names: settings and counters.

use std::time::Duration;

use engine::{CommitWait, Engine, LogConfig};

use crate::sysvars::Variables;

/// Settings that take effect while the server runs.
const DYNAMIC: [&str; 3] =
    ["innodb_flush_log_at_timeout", "innodb_flush_log_at_trx_commit", "innodb_redo_log_capacity"];

/// The log's sizes.
pub(crate) fn config(variables: &Variables) -> LogConfig {
    LogConfig {
        capacity_bytes: variables.named("innodb_redo_log_capacity").as_u64(),
        buffer_bytes: usize::try_from(variables.named("innodb_log_buffer_size").as_u64())
            .unwrap_or(usize::MAX / 4),
        ..LogConfig::default()
    }
}

/// Gives the engine all settings.
pub(crate) fn configure(engine: &Engine, variables: &Variables) -> engine::Result<()> {
    DYNAMIC.iter().try_for_each(|name| changed(engine, variables, name))
}

/// Gives the engine the setting called `name`, if it is one of the log's.
pub(crate) fn changed(engine: &Engine, variables: &Variables, name: &str) -> engine::Result<()> {
    let Some(name) = DYNAMIC.into_iter().find(|dynamic| *dynamic == name) else { return Ok(()) };
    let value = variables.named(name).as_u64();
    match (name, value) {
        ("innodb_flush_log_at_timeout", seconds) => engine.set_log_flush_pause(Duration::from_secs(seconds)),
        ("innodb_redo_log_capacity", bytes) => return engine.set_log_capacity(bytes),
        (_, 0) => engine.set_commit_wait(CommitWait::Nothing),
        (_, 2) => engine.set_commit_wait(CommitWait::Written),
        _ => engine.set_commit_wait(CommitWait::Durable),
    }
    Ok(())
}

/// Counters for SHOW STATUS.
pub(crate) fn counters(engine: &Engine) -> [(&'static str, u64); 10] {
    let log = engine.store().log();
    let stats = log.stats();
    let (bytes, capacity) = log.file_bytes();
    [
        ("Innodb_log_waits", stats.ring_waits),
        ("Innodb_log_write_requests", stats.frames),
        ("Innodb_log_writes", stats.writes),
        ("Innodb_os_log_fsyncs", stats.syncs),
        ("Innodb_os_log_written", stats.bytes_written),
        ("Innodb_redo_log_capacity_resized", capacity),
        ("Innodb_redo_log_checkpoint_lsn", log.last_checkpoint().redo_lsn.0),
        ("Innodb_redo_log_current_lsn", log.current().0),
        ("Innodb_redo_log_flushed_to_disk_lsn", log.durable().0),
        ("Innodb_redo_log_physical_size", bytes),
    ]
}
