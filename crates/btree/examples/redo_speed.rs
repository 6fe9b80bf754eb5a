//! `redo_speed [MEGABYTES]`: how fast a startup applies the log of row changes, cached. Prints megabytes of
//! log a second.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a command-line tool")]

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use base::prng::Prng;
use base::{IndexId, Lsn, TrxId, UndoPtr};
use btree::{Tree, TreeShape};
use buffer::PoolConfig;
use log::{LogConfig, Part};
use page::SlotFlags;
use space::{Store, StoreConfig};

const ROWS: u64 = 400_000;
const SHAPE: TreeShape = TreeShape { format_version: 1, fixed_key_len: Some(8) };

fn main() {
    let megabytes: u64 = std::env::args().nth(1).map_or(1024, |text| text.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("doublewrite")).unwrap();
    let path = folder.path().join("data.pages");
    let disk: Arc<dyn env::Disk> = Arc::new(env::RealDisk);
    let config = StoreConfig {
        pool: PoolConfig { bytes: 512 << 20, background: true },
        log: LogConfig { capacity_bytes: 4 << 30, ..LogConfig::default() },
        direct: false,
        doublewrite: true,
        identity: [1; 16],
        forced: false,
    };
    work(&disk, &path, config, megabytes << 20);
    let (begun, cpu) = (Instant::now(), cpu_seconds());
    let mut bytes = (Lsn(0), Lsn(0));
    let mut observer = Span(&mut bytes);
    let store = Store::open(&disk, &path, config, &mut observer).unwrap();
    let seconds = begun.elapsed().as_secs_f64();
    let read = (bytes.1.0 - bytes.0.0) as f64 / f64::from(1 << 20);
    let cpu = cpu_seconds() - cpu;
    println!("{read:.0} MiB of log in {seconds:.2} s, {cpu:.2} s of processors: {:.0} MiB/s", read / seconds);
    drop(store);
}

/// Processor time of the process so far, in ticks of a hundredth.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let behind_name = stat.rsplit_once(')').unwrap().1;
    let ticks = |at: usize| behind_name.split_whitespace().nth(at).unwrap().parse::<f64>().unwrap();
    (ticks(11) + ticks(12)) / 100.0
}

/// Keeps from where to where the log was applied.
struct Span<'b>(&'b mut (Lsn, Lsn));

impl space::StartObserver for Span<'_> {
    fn part(&mut self, _range: log::FrameRange, _part: &Part<'_>) -> space::Result<()> {
        Ok(())
    }

    fn progress(&mut self, progress: space::Progress) {
        *self.0 = (progress.from, progress.end);
    }
}

/// Rows, a checkpoint, and then as many bytes of log of updates as are wanted.
fn work(disk: &Arc<dyn env::Disk>, path: &Path, config: StoreConfig, log_bytes: u64) {
    let store = Store::create(disk, path, config).unwrap();
    let tree = Tree::create(&store, IndexId(100), SHAPE).unwrap();
    for id in 0..ROWS {
        let key = id.to_be_bytes();
        let mut edit = tree.edit(&store, &key, 300).unwrap();
        edit.insert(&[7; 180], SlotFlags::NONE).unwrap();
        edit.commit();
    }
    store.pool().flush_all().unwrap();
    let safe = store.log().safe_lsn();
    store.checkpoint(store.pool().sync_below(safe).unwrap(), Vec::new()).unwrap();
    let begin = store.log().current();
    let (mut prng, mut parts) = (Prng::new(1), Vec::new());
    let mut count = 0;
    while store.log().current().0 - begin.0 < log_bytes {
        let key = prng.below(ROWS).to_be_bytes();
        let (trx, undo) = (TrxId(count + 1), UndoPtr(count + 1));
        parts.clear();
        Part::Undo { trx, undo, previous: UndoPtr::NONE, image: &[3; 60] }.encode(&mut parts);
        let mut edit = tree.edit(&store, &key, 0).unwrap();
        edit.patch(0, &undo.0.to_le_bytes());
        edit.patch(40, &[count as u8; 50]);
        edit.commit_with(&parts);
        parts.clear();
        Part::Commit { trx, micros: count }.encode(&mut parts);
        drop(store.log().append(&[], &parts));
        count += 1;
    }
    store.log().flush().unwrap();
    println!("{count} transactions, {} bytes of log each", (store.log().current().0 - begin.0) / count);
}
