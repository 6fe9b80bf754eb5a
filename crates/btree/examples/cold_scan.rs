//! How fast a tree is scanned that is not in memory, from leaves that lie in key order and from leaves that
//! do not: `cargo run --profile fast -p btree --example cold_scan -- DIR`, DIR being an empty folder on the
//! device in question.

#![expect(clippy::unwrap_used, reason = "a tool")]
#![expect(clippy::print_stdout, reason = "a tool")]

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use base::IndexId;
use base::prng::Prng;
use btree::{BulkBuild, Seek, Tree, TreeShape};
use buffer::PoolConfig;
use env::{Disk, RealDisk};
use page::SlotFlags;
use space::{StartObserver, Store, StoreConfig};

const ROWS: u64 = 1_000_000;
const PAYLOAD: [u8; 187] = [b'x'; 187];
const SHAPE: TreeShape = TreeShape { format_version: 1, fixed_key_len: Some(8) };

/// A log that was closed has nothing to tell.
struct Closed;

impl StartObserver for Closed {
    fn part(&mut self, _range: log::FrameRange, _part: &log::Part<'_>) -> space::Result<()> {
        Ok(())
    }
}

fn open_store(disk: &Arc<dyn Disk>, dir: &Path, pool_bytes: usize) -> Store {
    let pool = PoolConfig { bytes: pool_bytes, background: true };
    let config = StoreConfig {
        pool,
        log: log::LogConfig::default(),
        direct: true,
        doublewrite: false,
        identity: [7; 16],
        forced: false,
    };
    let path = dir.join("data.pages");
    if disk.exists(&path).unwrap() {
        Store::open(disk, &path, config, &mut Closed).unwrap()
    } else {
        Store::create(disk, &path, config).unwrap()
    }
}

fn in_order(store: &Store) -> Tree {
    let tree = Tree::create(store, IndexId(100), SHAPE).unwrap();
    let mut build = BulkBuild::new(store, &tree, base::TrxId(1)).unwrap();
    for id in 0..ROWS {
        build.push(&id.to_be_bytes(), &PAYLOAD, SlotFlags::NONE).unwrap();
    }
    build.finish().unwrap();
    tree
}

fn out_of_order(store: &Store) -> Tree {
    let tree = Tree::create(store, IndexId(101), SHAPE).unwrap();
    let mut prng = Prng::new(1);
    for _ in 0..ROWS / 2 {
        let key = prng.next_u64().to_be_bytes();
        let mut edit = tree.edit(store, &key, PAYLOAD.len() + key.len()).unwrap();
        edit.insert(&PAYLOAD, SlotFlags::NONE).unwrap();
        edit.commit();
    }
    tree
}

fn scan(store: &Store, tree: &Tree, what: &str) {
    let before = store.pool().stats().page_reads;
    let started = Instant::now();
    let mut cursor = tree.seek(store, b"", Seek::First).unwrap();
    let mut bytes = 0;
    while let Some(at) = cursor {
        bytes += (0..at.page().count()).map(|slot| at.page().payload(slot).len()).sum::<usize>();
        cursor = at.next_leaf().unwrap();
    }
    let seconds = started.elapsed().as_secs_f64();
    let pages = store.pool().stats().page_reads - before;
    let rate = (pages * page::PAGE_SIZE as u64) as f64 / seconds / 1e6;
    println!("{what}: {bytes} bytes of payload, {pages} pages read, {seconds:.3} s, {rate:.0} MB/s");
}

fn main() {
    let dir = std::env::args().nth(1).expect("the folder to work in");
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    let store = open_store(&disk, Path::new(&dir), 1 << 30);
    let (ordered, scattered) = (in_order(&store), out_of_order(&store));
    let roots = [ordered.root, scattered.root];
    store.close().unwrap();
    drop((ordered, scattered, store));
    for round in 1..=2 {
        let store = open_store(&disk, Path::new(&dir), 32 << 20);
        let trees = [IndexId(100), IndexId(101)].into_iter().zip(roots);
        for ((index, root), what) in trees.zip(["leaves in order", "leaves anywhere"]) {
            scan(&store, &Tree::open(index, root, SHAPE), &format!("round {round}, {what}"));
        }
        store.close().unwrap();
    }
}
