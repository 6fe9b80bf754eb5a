use std::path::Path;
use std::sync::Arc;

use base::IndexId;
use buffer::PoolConfig;
use env::{Disk, SimDisk};
use log::LogConfig;
use page::SlotFlags;
use space::{Error, Result, Store, StoreConfig};

use crate::check::TreeReport;
use crate::*;

mod basics;
mod concurrent;
mod directory;
mod estimate;
mod faults;
mod layout;
mod leaf_copy;
mod links;
mod model;
mod read_ahead;
mod recover;
mod redo;
mod scripts;

/// A store on a disk in memory whose pool has `frames` frames.
pub(crate) fn new_store(disk: &SimDisk, frames: usize) -> Store {
    Store::create(&shared(disk), Path::new("data.pages"), config(frames)).unwrap()
}

/// The disk as a store wants it.
pub(crate) fn shared(disk: &SimDisk) -> Arc<dyn Disk> {
    Arc::new(disk.clone())
}

pub(crate) fn config(frames: usize) -> StoreConfig {
    StoreConfig {
        pool: PoolConfig { bytes: frames * page::PAGE_SIZE, background: false },
        log: LogConfig { buffer_bytes: 1 << 20, ..LogConfig::default() },
        direct: false,
        doublewrite: false,
        identity: [7; 16],
        forced: false,
    }
}

/// Writes everything and records that recovery begins here.
pub(crate) fn checkpoint(store: &Store) {
    store.pool().flush_all().unwrap();
    store.checkpoint(store.log().current(), Vec::new()).unwrap();
}

pub(crate) const VARIABLE: TreeShape = TreeShape { format_version: 1, fixed_key_len: None };

pub(crate) fn insert(store: &Store, tree: &Tree, key: &[u8], payload: &[u8]) {
    let mut edit = tree.edit(store, key, key.len() + payload.len()).unwrap();
    assert!(!edit.found());
    edit.insert(payload, SlotFlags::NONE).unwrap();
    edit.commit();
}

pub(crate) fn assert_sound(store: &Store, tree: &Tree) -> TreeReport {
    let report = tree.check(store);
    assert!(report.problems.is_empty(), "{report:?}");
    report
}

pub(crate) const INDEX: IndexId = IndexId(100);
