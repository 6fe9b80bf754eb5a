//! Opening a data directory: the store, what recovery has to do, the threads.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use base::{IndexId, TrxId};
use buffer::PoolConfig;
use space::{Store, StoreConfig};

use crate::config::EngineConfig;
use crate::datadir::{DataDir, Found};
use crate::dictionary::{Dictionary, FIRST_USER_INDEX};
use crate::engine::Engine;
use crate::error::Result;
use crate::log_space::LogSpace;
use crate::recovery::{self, History};
use crate::spill::Spills;
use crate::{checkpoint, purge};

impl Engine {
    /// Opens a data directory, or makes one in an empty or missing folder.
    ///
    /// # Errors
    /// [`DataDir`](crate::Error::DataDir) for a directory that is in use, of another version, not clean, not
    /// ours or not writable; it has not been changed then. [`Storage`](crate::Error::Storage),
    /// [`Io`](crate::Error::Io).
    pub fn open(config: EngineConfig) -> Result<Arc<Engine>> {
        let engine = Engine::open_unfinished(&config)?;
        if config.background {
            Engine::start_threads(&engine)?;
        } else {
            engine.finish_recovery()?;
        }
        Ok(engine)
    }

    /// As [`Engine::open`], without threads and rollbacks.
    pub(crate) fn open_unfinished(config: &EngineConfig) -> Result<Arc<Engine>> {
        let pool = PoolConfig { bytes: config.pool_bytes, background: config.background };
        let EngineConfig { log, direct, doublewrite, force_recovery, .. } = *config;
        let forced = force_recovery.is_forced();
        let store_config = |identity| StoreConfig { pool, log, direct, doublewrite, identity, forced };
        let history = |datadir: &DataDir, identity| {
            let spills = datadir.spill_folder(&config.disk, identity);
            History::new(&config.startup_log, spills, config.undo_memory_bytes)
        };
        let (datadir, store, history) = match DataDir::open(&config.disk, &config.datadir)? {
            Found::New(datadir) => {
                let mut identity = [0; 16];
                env::random_bytes(&mut identity)?;
                let store_config = store_config(identity);
                let store = create(config, &datadir, store_config)?;
                datadir.finish(&config.disk, identity)?;
                let history = history(&datadir, identity);
                (datadir, store, history)
            }
            Found::Existing(datadir, identity) if !force_recovery.applies_log() => {
                let (disk, file) = (&config.disk, datadir.data_file());
                let store = Store::open_without_log(disk, &file, config.pool_bytes, identity)?;
                let history = history(&datadir, identity);
                (datadir, store, history)
            }
            Found::Existing(datadir, identity) => {
                let store_config = store_config(identity);
                let mut history = history(&datadir, identity);
                let store = Store::open(&config.disk, &datadir.data_file(), store_config, &mut history)?;
                (datadir, store, history)
            }
        };
        Engine::start(store, datadir, config, history)
    }

    fn start(store: Store, datadir: DataDir, config: &EngineConfig, history: History) -> Result<Arc<Engine>> {
        let mut header = store.header()?;
        let spills = datadir.spill_folder(&config.disk, header.identity);
        let force = config.force_recovery;
        if let Some(damage) = store.header_damage() {
            config.startup_log.note(&format!("recovery: the file header cannot be read: {damage}"));
        }
        if !force.applies_log() || store.header_damage().is_some() {
            // Only the log records which ids were assigned, and which of their transactions ended.
            header.trx_limit = TrxId(TrxId::MAX.0 / 2);
        }
        let startup_log = Spills::new(spills.clone(), &config.startup_log);
        let temp_folder = datadir.temp_folder(&config.disk);
        let engine = Engine::assemble(store, datadir, temp_folder, &header, startup_log, force);
        if force.applies_log() {
            let space = LogSpace::new(&engine.trx, &engine.notes);
            engine.store.log().keep_space_ahead(Arc::new(space));
        }
        engine.settle_definitions()?;
        engine.load_catalog()?;
        engine.load_damages()?;
        if engine.is_read_only() {
            config.startup_log.note("recovery: definitions and rows cannot be changed");
        }
        if !force.applies_log() {
            return Ok(engine);
        }
        engine.load_counters(!history.is_unclean())?;
        engine.trx.undo().set_memory_max(config.undo_memory_bytes as u64);
        spills.offer_swap(engine.trx.undo())?;
        engine.temp_folder.clear()?;
        let is_unclean = history.is_unclean();
        if is_unclean {
            engine.recover(history, &config.startup_log)?;
        } else if engine.cleans_up() {
            engine.checkpoints.remove_unneeded_files()?;
            engine.free_pending_trees()?;
        }
        if engine.cleans_up() {
            engine.begin_search(is_unclean)?;
        }
        engine.end_start(config.background)?;
        Ok(engine)
    }

    /// Makes sure that commits and checkpoints have log to write to. From here on what must be written waits
    /// for space: the server is up, and says why.
    fn end_start(&self, has_checkpoints: bool) -> Result<()> {
        let log = self.store.log();
        if !self.is_read_only() && log.make_last_reserve().is_err() {
            // It gives files back.
            self.checkpoint()?;
            log.make_last_reserve()?;
        }
        self.dictionary.begin_logging_damage();
        if has_checkpoints {
            log.expect_checkpoints();
        }
        self.store.set_waits_for_space(true);
        Ok(())
    }

    /// Does what a DDL statement had decided before the server ended, before definitions are read.
    fn settle_definitions(&self) -> Result<()> {
        if self.force.is_read_only() {
            return Ok(());
        }
        match self.dictionary.settle(&self.store) {
            Err(error) if self.force.is_forced() && error.is_corrupt_page() => {
                self.dictionary.leave_out(&*self.notes, b"of a change", &error);
                Ok(())
            }
            settled => settled,
        }
    }

    fn start_threads(engine: &Arc<Engine>) -> Result<()> {
        // A background thread that cannot continue ends the process: pages or log could not be written.
        if engine.cleans_up() {
            let (weak, control) = (Arc::downgrade(engine), Arc::clone(&engine.purge));
            let thread = env::spawn_background("purge", move || {
                let ended = purge::run(&weak, &control);
                ended.unwrap_or_else(|error| {
                    env::end_process(&format!("purge reads and writes pages: {error}"));
                });
            })?;
            *engine.purge_thread.lock() = Some(thread);
        }
        if engine.is_read_only() {
            return Ok(());
        }
        let (weak, control) = (Arc::downgrade(engine), Arc::clone(&engine.checkpoints));
        let log = Arc::clone(engine.store.log());
        let thread = env::spawn_background("checkpoint", move || {
            let ended = checkpoint::run(&weak, &control, &log);
            ended.unwrap_or_else(|error| {
                env::end_process(&format!("a checkpoint writes pages and log: {error}"))
            });
        })?;
        *engine.checkpoint_thread.lock() = Some(thread);
        if !engine.is_recovering.load(Ordering::Relaxed) || !engine.cleans_up() {
            return Ok(());
        }
        let weak = Arc::downgrade(engine);
        let thread = env::spawn_background("recovery", move || {
            let ended = recovery::run(&weak);
            ended.unwrap_or_else(|error| {
                env::end_process(&format!("recovery writes pages and rolls open transactions back: {error}"))
            });
        })?;
        *engine.recovery_thread.lock() = Some(thread);
        Ok(())
    }
}

fn create(config: &EngineConfig, datadir: &DataDir, store_config: StoreConfig) -> Result<Store> {
    let store = Store::create(&config.disk, &datadir.data_file(), store_config)?;
    let root = Dictionary::create(&store)?;
    store.update_header(|header| {
        header.roots[0] = root;
        header.next_index = IndexId(FIRST_USER_INDEX);
    })?;
    // The directory counts as made once FORMAT is there.
    store.log().flush()?;
    Ok(store)
}
