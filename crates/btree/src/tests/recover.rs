//! Crashes: the pages are again what the log says they were.

use std::collections::BTreeMap;

use base::Lsn;
use base::prng::Prng;
use env::{Disk, FaultKind, OpenOptions, SimDisk};

use super::*;

type Model = BTreeMap<Vec<u8>, Vec<u8>>;

const DATA: &str = "data.pages";

/// Small log files and a small pool, so that recovery reads several files and writes pages while it
/// continues.
fn crash_config(frames: usize) -> StoreConfig {
    StoreConfig {
        log: LogConfig { capacity_bytes: 256 << 10, buffer_bytes: 64 << 10, file_bytes_min: 32 << 10 },
        doublewrite: true,
        ..config(frames)
    }
}

/// A store at work, and what it was made to do.
struct Run {
    disk: SimDisk,
    store: Store,
    tree: Tree,
    root: base::PageNo,
    prng: Prng,
    /// Where the log was after each change, and the change: a key, and its new payload.
    changes: Vec<(Lsn, Vec<u8>, Option<Vec<u8>>)>,
    /// Changes that were made durable.
    acknowledged: usize,
}

impl Run {
    fn new(seed: u64, frames: usize) -> Run {
        let disk = SimDisk::seeded(seed);
        disk.create_dir(Path::new("doublewrite")).unwrap();
        disk.sync_dir(Path::new("")).unwrap();
        let store = Store::create(&shared(&disk), Path::new(DATA), crash_config(frames)).unwrap();
        let tree = Tree::create(&store, INDEX, VARIABLE).unwrap();
        store.log().flush().unwrap();
        let root = tree.root;
        Run { disk, store, tree, root, prng: Prng::new(seed), changes: Vec::new(), acknowledged: 0 }
    }

    /// Inserts, replaces or removes something; an error only after a power failure.
    fn step(&mut self) -> Result<()> {
        let long = if self.prng.below(40) == 0 { 2000 } else { 0 };
        let key = [vec![self.prng.below(60) as u8; 2 + long], vec![self.prng.below(40) as u8]].concat();
        let payload =
            (self.prng.below(3) > 0).then(|| vec![self.prng.next_u64() as u8; self.prng.below(500) as usize]);
        let need = payload.as_ref().map_or(0, |payload| key.len() + payload.len());
        let mut edit = self.tree.edit(&self.store, &key, need)?;
        match (&payload, edit.found()) {
            (Some(payload), true) => edit.replace_payload(payload).unwrap(),
            (Some(payload), false) => edit.insert(payload, SlotFlags::NONE).unwrap(),
            (None, true) => edit.remove(),
            (None, false) => return Ok(()),
        }
        let sparse = edit.is_sparse();
        edit.commit();
        self.changes.push((self.store.log().current(), key.clone(), payload));
        if sparse {
            self.tree.shrink(&self.store, &key)?;
        }
        if self.prng.below(4) == 0 {
            self.store.log().flush()?;
            self.acknowledged = self.changes.len();
        }
        match self.prng.below(100) {
            0 => self.store.pool().write_back_step(20).map(drop)?,
            1 => self.checkpoint()?,
            _ => {}
        }
        Ok(())
    }

    /// A fuzzy checkpoint: what is old is written, what is new is not.
    fn checkpoint(&self) -> Result<()> {
        let safe = self.store.log().safe_lsn();
        let behind = Lsn(safe.0.saturating_sub(self.prng.clone().below(60_000)));
        self.store.pool().write_back_below(behind, usize::MAX)?;
        let redo = self.store.pool().sync_below(safe)?.max(self.store.log().last_checkpoint().redo_lsn);
        self.store.checkpoint(redo, Vec::new())
    }

    /// Drops another tree of some size, or an off-page value, whose pages are used again later.
    fn come_and_go(&mut self) -> Result<()> {
        let other = Tree::create(&self.store, IndexId(200 + self.changes.len() as u32), VARIABLE)?;
        for n in 0..self.prng.below(400) as u32 {
            let key = n.to_be_bytes();
            let mut edit = other.edit(&self.store, &key, 300)?;
            edit.insert(&[3; 290], SlotFlags::NONE).unwrap();
            edit.commit();
        }
        let value = other.write_overflow(&self.store, &vec![5; 100_000], |_| [])?;
        self.checkpoint()?;
        self.store.free_overflow(&value, &[])?;
        self.store.free_trees(&[other.index].into())
    }

    /// What the tree holds when the log ends at `end`.
    fn model_at(&self, end: Lsn) -> Model {
        let mut model = Model::new();
        for (_, key, payload) in self.changes.iter().take_while(|(at, ..)| *at <= end) {
            match payload {
                Some(payload) => drop(model.insert(key.clone(), payload.clone())),
                None => drop(model.remove(key)),
            }
        }
        model
    }

    /// What a startup finds on `disk`; whether it is right.
    fn recover(&self, disk: &SimDisk, frames: usize) -> Result<Lsn> {
        let store = open(disk, frames)?;
        let end = store.log().current();
        self.compare(&store, end);
        end_recovery(&store)?;
        // What was recovered can be built upon.
        let tree = Tree::open(INDEX, self.root, VARIABLE);
        (0..50u8).for_each(|n| insert(&store, &tree, &[255, 255, n], &[n; 400]));
        assert_sound(&store, &tree);
        store.close()?;
        Ok(end)
    }

    fn compare(&self, store: &Store, end: Lsn) {
        let acknowledged = self.changes[..self.acknowledged].last().map_or(Lsn(0), |change| change.0);
        assert!(end >= acknowledged, "{end} is before {acknowledged}");
        let tree = Tree::open(INDEX, self.root, VARIABLE);
        assert_sound(store, &tree);
        let mut found = Model::new();
        let mut cursor = tree.seek(store, &[], Seek::First).unwrap();
        while let Some(at) = cursor {
            let record = at.record();
            found.insert(record.with_key(<[u8]>::to_vec), record.payload().to_vec());
            cursor = at.next().unwrap();
        }
        assert!(found == self.model_at(end), "the tree is not what it was at {end}");
    }
}

/// Writes all pages and lets the next recovery begin here.
fn end_recovery(store: &Store) -> Result<()> {
    let safe = store.log().safe_lsn();
    store.pool().flush_all()?;
    store.checkpoint(store.pool().sync_below(safe)?, Vec::new())
}

fn open(disk: &SimDisk, frames: usize) -> Result<Store> {
    Store::open(&shared(disk), Path::new(DATA), crash_config(frames), &mut ())
}

#[test]
fn after_a_power_failure_at_any_moment_the_tree_is_a_prefix_of_its_changes() {
    for seed in 0..60 {
        eprintln!("seed {seed}");
        let mut run = Run::new(seed, 16);
        run.disk.schedule(None, 1 + run.prng.below(400), FaultKind::PowerOff);
        for step in 0..4000 {
            let done = if step % 500 == 250 { run.come_and_go() } else { run.step() };
            if done.is_err() {
                break;
            }
        }
        let crashed = run.disk.crash();
        run.recover(&crashed, 16).unwrap();
        let store = open(&crashed, 64).unwrap();
        assert!(store.log().last_checkpoint().clean == Lsn(0), "the mark goes when the file is in use");
    }
}

#[test]
fn recovery_that_is_cut_short_at_any_operation_is_repeated() {
    let mut run = Run::new(7, 16);
    while run.changes.len() < 1500 {
        run.step().unwrap();
    }
    run.store.log().flush().unwrap();
    let crashed = run.disk.crash();
    let recovered =
        |disk: &SimDisk, frames| open(disk, frames).and_then(|store| end_recovery(&store)).is_ok();
    let mut first = 1;
    loop {
        let disk = crashed.crash_keeping(|_, _| true);
        disk.schedule(None, first, FaultKind::PowerOff);
        if recovered(&disk, 16) {
            break;
        }
        let again = disk.crash();
        again.schedule(None, 1 + run.prng.below(300), FaultKind::PowerOff);
        recovered(&again, 12);
        let disk = again.crash();
        if first % 10 == 0 {
            run.recover(&disk, 32).map(drop).unwrap();
        } else {
            assert!(recovered(&disk, 32));
        }
        first += 1;
    }
    assert!(first > 100, "{first} operations");
}

/// A copy of `disk` whose last log file ends with zeros from the position `cut` on, or with `flip` with a
/// wrong bit there.
fn cut_log(disk: &SimDisk, cut: Lsn, first_lsn: Lsn, flip: bool) -> SimDisk {
    let copy = disk.crash_keeping(|_, _| true);
    let name = copy.list(Path::new("redo")).unwrap().pop().unwrap();
    let file = copy.open(&Path::new("redo").join(name), OpenOptions::default()).unwrap();
    let offset = 4096 + cut.0 - first_lsn.0;
    if flip {
        let mut byte = [0];
        file.read_exact_at(&mut byte, offset).unwrap();
        file.write_at(&[byte[0] ^ 0x10], offset).unwrap();
    } else {
        file.write_at(&vec![0; (file.len().unwrap() - offset) as usize], offset).unwrap();
    }
    copy
}

#[test]
fn a_log_cut_at_any_byte_gives_the_changes_before() {
    let disk = SimDisk::seeded(1);
    disk.create_dir(Path::new("doublewrite")).unwrap();
    disk.sync_dir(Path::new("")).unwrap();
    // One file of log, a pool that keeps everything: no page is written after the first ones.
    let log = LogConfig { file_bytes_min: 128 << 10, capacity_bytes: 1 << 20, ..LogConfig::default() };
    let config = StoreConfig { log, ..config(256) };
    let store = Store::create(&shared(&disk), Path::new(DATA), config).unwrap();
    let first_lsn = store.log().last_checkpoint().redo_lsn;
    let tree = Tree::create(&store, INDEX, VARIABLE).unwrap();
    store.log().flush().unwrap();
    let begin = store.log().current();
    let root = tree.root;
    let (changes, prng) = (Vec::new(), Prng::new(3));
    let mut run = Run { disk, store, tree, root, prng, changes, acknowledged: 0 };
    while run.changes.len() < 120 {
        let (key, payload) = (
            vec![run.prng.below(250) as u8; 3],
            vec![7; run.prng.below(if run.changes.len() < 110 { 900 } else { 30 }) as usize],
        );
        let mut edit = run.tree.edit(&run.store, &key, key.len() + payload.len()).unwrap();
        let done = if edit.found() {
            edit.replace_payload(&payload)
        } else {
            edit.insert(&payload, SlotFlags::NONE)
        };
        done.unwrap();
        edit.commit();
        run.changes.push((run.store.log().current(), key, Some(payload)));
    }
    let end = run.store.log().current();
    run.store.log().written_up_to(end).unwrap();
    let crashed = run.disk.crash_keeping(|_, _| true);
    // Every end of a frame, and every byte of the last frames.
    let mut cuts: Vec<Lsn> = run.changes.iter().map(|change| change.0).collect();
    cuts.extend((end.0 - 300..end.0).map(Lsn));
    for (at, &cut) in cuts.iter().enumerate() {
        assert!(cut >= begin);
        let disk = cut_log(&crashed, cut, first_lsn, at % 2 == 1 && cut < end);
        let store = open(&disk, 64).unwrap();
        let recovered = store.log().current();
        assert!(recovered <= cut);
        run.compare(&store, recovered);
        // Nothing but a part of one mini-transaction can be missing.
        let whole = run.changes.iter().rev().find(|change| change.0 <= cut).map_or(begin, |change| change.0);
        assert!(recovered >= whole, "{recovered} of {whole}");
    }
}

#[test]
fn a_page_that_is_damaged_and_not_recreated_is_named() {
    let mut run = Run::new(3, 64);
    while run.changes.len() < 300 {
        run.step().unwrap();
    }
    run.store.pool().flush_all().unwrap();
    run.checkpoint().unwrap();
    run.step().unwrap();
    while run.changes.len() < 330 {
        run.step().unwrap();
    }
    run.store.log().flush().unwrap();
    let crashed = run.disk.crash_keeping(|_, _| true);
    for name in ["0", "1"] {
        crashed.remove(&Path::new("doublewrite").join(name)).unwrap();
    }
    crashed.flip_bit(Path::new(DATA), u64::from(run.root.0) * page::PAGE_SIZE as u64 + 300);
    let store = open(&crashed, 64);
    let named = |error: &Error| error.to_string().contains(&format!("{} of {DATA}", run.root));
    let told = match store {
        Err(error) => named(&error),
        Ok(store) => {
            Tree::open(INDEX, run.root, VARIABLE).point(&store, b"x").is_err_and(|error| named(&error))
        }
    };
    assert!(told);
}

#[test]
fn several_threads_make_the_same_pages_as_one() {
    let mut run = Run::new(11, 64);
    while run.changes.len() < 2500 {
        run.step().unwrap();
        if run.changes.len().is_multiple_of(700) {
            run.come_and_go().unwrap();
        }
    }
    run.store.log().flush().unwrap();
    let crashed = run.disk.crash_keeping(|_, _| true);
    let pages = |background: bool| {
        let disk = crashed.crash_keeping(|_, _| true);
        let mut config = crash_config(20);
        config.pool.background = background;
        let store = Store::open(&shared(&disk), Path::new(DATA), config, &mut ()).unwrap();
        run.compare(&store, store.log().current());
        store.pool().flush_all().unwrap();
        let file = disk.open(Path::new(DATA), OpenOptions::default()).unwrap();
        let mut bytes = vec![0; file.len().unwrap() as usize];
        file.read_exact_at(&mut bytes, 0).unwrap();
        bytes
    };
    assert!(pages(false) == pages(true));
}
