//! How an engine is opened.

use std::path::PathBuf;
use std::sync::Arc;

use env::Disk;
use log::LogConfig;

use crate::force_recovery::ForceRecovery;
use crate::startup_log::{NoStartupLog, StartupLog};

/// Configuration of an engine.
#[derive(Clone, Debug)]
pub struct EngineConfig {
    /// Where the files are.
    pub disk: Arc<dyn Disk>,
    /// The data directory; made if it does not exist.
    pub datadir: PathBuf,
    /// Memory for pages.
    pub pool_bytes: usize,
    /// Whether threads purge and write back. Without them [`crate::Engine::purge_step`] does the former
    /// (tests, tools).
    pub background: bool,
    /// Sizes of the redo log.
    pub log: LogConfig,
    /// Whether data.pages bypasses the kernel's page cache, where the file system can do that.
    pub direct: bool,
    /// Where recovery reports its progress, and the engine what no statement's answer can report.
    pub startup_log: Arc<dyn StartupLog>,
    /// Bytes of memory that recovery takes for the undo of transactions that had not ended; what is more goes
    /// to a file.
    pub undo_memory_bytes: usize,
    /// Whether pages are protected against being torn by a crash (`innodb_doublewrite`).
    pub doublewrite: bool,
    /// How much damage a startup passes over.
    pub force_recovery: ForceRecovery,
}

impl EngineConfig {
    /// A configuration with a pool of 128 MiB and background threads.
    pub fn new(disk: Arc<dyn Disk>, datadir: impl Into<PathBuf>) -> Self {
        EngineConfig {
            disk,
            datadir: datadir.into(),
            pool_bytes: 128 << 20,
            background: true,
            log: LogConfig::default(),
            direct: false,
            undo_memory_bytes: 64 << 20,
            doublewrite: true,
            force_recovery: ForceRecovery::default(),
            startup_log: Arc::new(NoStartupLog),
        }
    }
}
