//! The pool as its users see it: residency, write-back, failure, exhaustion.

mod doublewrite;
mod failure;
mod read_ahead;
mod replacement;
mod residency;
mod slow_disk;
mod stress;
mod sweep;

use std::path::Path;
use std::sync::Arc;

use base::{IndexId, Lsn, PageNo};
use env::{Disk, File, OpenOptions, SimDisk};
use log::NoLog;
use page::{PAGE_SIZE, PageType};

use crate::{ExclusiveGuard, Pool, PoolConfig};

const FILE: &str = "data.pages";

fn open(disk: &SimDisk) -> Arc<dyn File> {
    let path = Path::new(FILE);
    if disk.exists(path).unwrap() {
        disk.open(path, OpenOptions::default()).unwrap()
    } else {
        disk.create(path, OpenOptions::default()).unwrap()
    }
}

/// A pool of `frames` frames without a background thread.
fn manual_pool(disk: &SimDisk, frames: usize) -> Arc<Pool> {
    let config = PoolConfig { bytes: frames * PAGE_SIZE, background: false };
    Pool::new(open(disk), config, Arc::new(NoLog)).unwrap()
}

/// A pool of `frames` frames with a background thread.
fn background_pool(disk: &SimDisk, frames: usize) -> Arc<Pool> {
    let config = PoolConfig { bytes: frames * PAGE_SIZE, background: true };
    Pool::new(open(disk), config, Arc::new(NoLog)).unwrap()
}

/// Stamps the guard's page with its number and `value`, which the tests keep in the page's version field.
fn store(guard: &mut ExclusiveGuard<'_>, value: u32) {
    let page_no = guard.page_no();
    guard.page_mut().format_common(page_no, PageType::Overflow, IndexId(7), value);
    guard.page_mut().set_lsn(Lsn(u64::from(value)));
    guard.mark_dirty(Lsn(u64::from(value)));
}

/// Creates `pages` pages from number 1, each with value 10 times its number.
fn fill(pool: &Pool, pages: u32) {
    for page in 1..=pages {
        store(&mut pool.create(PageNo(page)).unwrap(), page * 10);
    }
}

fn value(pool: &Pool, page: u32) -> u32 {
    let guard = pool.shared(PageNo(page)).unwrap();
    assert_eq!(guard.page().page_no(), PageNo(page));
    guard.page().version()
}
