//! Sorts of random entries on a disk in memory.

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use base::memory::{ConnectionAccount, ConnectionLimits, ServerAccount, StatementAccount};
use base::prng::Prng;
use base::sync::interrupt;
use env::{Disk, SimDisk};

use super::sorter::SortedEntries;
use super::*;
use crate::error::{Error, Result};
use crate::temp_file::{TempFileError, TempFolder};

const LEAST: SortMemory = SortMemory { buffer_bytes: 0, account: None };
const MIDDLE: SortMemory = SortMemory { buffer_bytes: 300 << 10, account: None };
const HUGE: SortMemory = SortMemory { buffer_bytes: 1 << 30, account: None };

/// Key and payload.
type Pair = (Vec<u8>, Vec<u8>);

struct Place {
    disk: Arc<SimDisk>,
    folder: TempFolder,
    counters: SortCounters,
}

impl Place {
    fn new() -> Self {
        let disk = Arc::new(SimDisk::new());
        let folder = TempFolder::new(&(Arc::clone(&disk) as Arc<dyn Disk>), "/tmp".into());
        folder.clear().unwrap();
        Place { disk, folder, counters: SortCounters::default() }
    }

    fn sort(&self, layouts: Vec<Layout>, memory: &SortMemory) -> Result<IndexSort<'_>> {
        let place = SortPlace { folder: &self.folder, name: "one", counters: &self.counters };
        IndexSort::new(place, layouts, memory)
    }

    fn files(&self) -> Vec<PathBuf> {
        self.disk.list(Path::new("/tmp")).unwrap()
    }

    fn finish(&self, memory: &SortMemory, indexes: &[Vec<Pair>]) -> Result<SortedEntries<'_>> {
        let mut sort = self.sort(indexes.iter().map(|entries| layout_of(entries)).collect(), memory)?;
        let rows = indexes.iter().map(Vec::len).max().unwrap_or(0);
        for row in 0..rows {
            for (index, entries) in indexes.iter().enumerate() {
                if let Some(entry) = entries.get(row) {
                    add(&mut sort, index, entry)?;
                }
            }
        }
        sort.finish()
    }
}

/// Keys of one length are short ones.
fn layout_of(entries: &[Pair]) -> Layout {
    let Some((key, _)) = entries.first() else { return Layout::Headed };
    let is_alike = entries.iter().all(|(other, payload)| other.len() == key.len() && payload.is_empty());
    if is_alike { Layout::of_keys(key.len(), key.len() / 2, true) } else { Layout::Headed }
}

fn add(sort: &mut IndexSort<'_>, index: usize, (key, payload): &Pair) -> Result<()> {
    sort.add(index, |bytes| {
        bytes.extend_from_slice(key);
        bytes.extend_from_slice(payload);
        Ok(EntryLens { key: key.len(), declared: key.len() / 2 })
    })
}

/// All entries of an index, which have the declared parts that [`add`] gives them.
fn taken(sorted: &mut SortedEntries<'_>, index: usize) -> Result<Vec<Pair>> {
    let mut all = Vec::new();
    match sorted.take(index)? {
        Merge::Headed(mut entries) => {
            while let Some(entry) = entries.next()? {
                assert_eq!(entry.declared(), &entry.key()[..entry.key().len() / 2]);
                all.push((entry.key().to_vec(), entry.payload().to_vec()));
            }
        }
        Merge::Short(mut merge) => {
            let keys = merge.keys();
            while let Some(number) = merge.next()? {
                let declared = number >> (u128::BITS - 8 * keys.declared() as u32);
                assert_eq!((keys.declared(), keys.declared_of(number)), (keys.len() / 2, Some(declared)));
                all.push((number.to_be_bytes()[..keys.len()].to_vec(), Vec::new()));
            }
        }
    }
    Ok(all)
}

/// Entries with different keys of up to `key_max` bytes, many of which begin alike.
fn entries(prng: &mut Prng, count: u32, key_max: u64) -> Vec<Pair> {
    let entry = |number: u32| {
        let mut key = vec![0; (prng.below(key_max) as usize).saturating_sub(4)];
        let varied = key.len().min(3);
        let at = key.len() - varied;
        key[at..].iter_mut().for_each(|byte| *byte = prng.below(256) as u8);
        key.extend_from_slice(&number.to_be_bytes());
        let payload = vec![number as u8; prng.below(9) as usize];
        (key, payload)
    };
    (0..count).map(entry).collect()
}

/// Entries with different keys of `len` bytes, at least 4, and nothing else.
fn short_keys(prng: &mut Prng, count: u32, len: usize) -> Vec<Pair> {
    let key = |number: u32| {
        let mut key: Vec<u8> = (4..len).map(|_| prng.below(6) as u8).collect();
        key.extend_from_slice(&number.to_be_bytes());
        (key, Vec::new())
    };
    (0..count).map(key).collect()
}

#[test]
fn short_keys_are_in_order_beside_other_entries_whatever_the_memory() {
    let mut prng = Prng::new(11);
    let mut indexes = vec![
        short_keys(&mut prng, 30_000, 8),
        entries(&mut prng, 9_000, 40),
        short_keys(&mut prng, 30_000, 16),
        short_keys(&mut prng, 1, 4),
    ];
    let short = |entries: &Vec<Pair>| layout_of(entries) != Layout::Headed;
    assert_eq!(indexes.iter().filter(|entries| short(entries)).count(), 3);
    let place = Place::new();
    let mut of_each = Vec::new();
    for memory in [LEAST, MIDDLE, HUGE] {
        let mut sorted = place.finish(&memory, &indexes).unwrap();
        of_each.push((0..indexes.len()).map(|index| taken(&mut sorted, index).unwrap()).collect::<Vec<_>>());
    }
    assert!(place.counters.totals().runs > 6);
    for entries in &mut indexes {
        entries.sort();
    }
    assert!(of_each.iter().all(|found| *found == indexes));
}

#[test]
fn runs_of_short_keys_take_hardly_more_than_the_keys() {
    let keys = [short_keys(&mut Prng::new(12), 60_000, 8)];
    let place = Place::new();
    let sorted = place.finish(&LEAST, &keys).unwrap();
    let (used, bytes) = (place.disk.used(), 60_000 * 8);
    assert!(place.counters.totals().runs > 4 && used < bytes * 13 / 10, "{used} for {bytes}");
    drop(sorted);
}

#[test]
fn entries_are_the_same_whatever_the_memory() {
    let mut prng = Prng::new(5);
    let shapes: [&[(u32, u64)]; 5] = [
        &[(0, 9)],
        &[(1, 9), (0, 9)],
        &[(40_000, 20)],
        &[(9_000, 12), (2_000, 3_000), (9_000, 60)],
        &[(900, 3_000)],
    ];
    for shape in shapes {
        let mut indexes: Vec<Vec<Pair>> =
            shape.iter().map(|&(count, key_max)| entries(&mut prng, count, key_max)).collect();
        let place = Place::new();
        let mut of_each = Vec::new();
        for memory in [LEAST, MIDDLE, HUGE] {
            let mut sorted = place.finish(&memory, &indexes).unwrap();
            let found: Vec<_> = (0..indexes.len()).map(|index| taken(&mut sorted, index).unwrap()).collect();
            drop(sorted);
            assert_eq!(place.files(), [] as [PathBuf; 0]);
            of_each.push(found);
        }
        for index in &mut indexes {
            index.sort();
        }
        for found in of_each {
            assert!(found == indexes, "{shape:?}");
        }
    }
}

#[test]
fn what_fits_writes_no_run_and_what_does_not_sorts_once_for_each() {
    let mut prng = Prng::new(6);
    let small = [entries(&mut prng, 500, 20), entries(&mut prng, 500, 20)];
    let place = Place::new();
    let mut sorted = place.finish(&LEAST, &small).unwrap();
    assert_eq!(place.files(), [] as [PathBuf; 0]);
    assert!((0..2).all(|index| taken(&mut sorted, index).unwrap().len() == 500));
    let totals = place.counters.totals();
    assert_eq!(totals, SortTotals { keys: 1000, sorts: 2, runs: 0, merge_passes: 0 });

    let large = [entries(&mut prng, 60_000, 20)];
    let place = Place::new();
    let mut sorted = place.finish(&LEAST, &large).unwrap();
    assert_eq!(place.files().len(), 1);
    assert_eq!(taken(&mut sorted, 0).unwrap().len(), 60_000);
    let totals = place.counters.totals();
    assert!(totals.runs > 10 && totals.runs == totals.sorts && totals.keys == 60_000, "{totals:?}");
    // Three runs at a time: each merge takes two away.
    assert_eq!(totals.merge_passes, (totals.runs - 3).div_ceil(2), "{totals:?}");
}

#[test]
fn what_is_held_is_charged_and_within_the_buffer() {
    let account = StatementAccount::unlimited();
    let buffer_bytes = 200 << 10;
    let memory = SortMemory { buffer_bytes, account: Some(Rc::clone(&account)) };
    let all = entries(&mut Prng::new(7), 30_000, 40);
    let place = Place::new();
    let mut sort = place.sort(vec![Layout::Headed], &memory).unwrap();
    let mut most = 0;
    for entry in &all {
        add(&mut sort, 0, entry).unwrap();
        most = most.max(account.used());
    }
    assert!(most > buffer_bytes / 2 && most <= buffer_bytes, "{most}");
    let mut sorted = sort.finish().unwrap();
    assert_eq!(taken(&mut sorted, 0).unwrap().len(), all.len());
    assert!(account.used() > 0 && account.used() <= buffer_bytes);
    drop(sorted);
    assert_eq!(account.used(), 0);
}

#[test]
fn a_statement_with_less_memory_writes_runs_and_one_with_none_fails() {
    let connection = ConnectionAccount::new(Arc::new(ServerAccount::default()));
    connection.set_limits(ConnectionLimits { statement_bytes: 400 << 10, ..ConnectionLimits::default() });
    let account = StatementAccount::new(Rc::clone(&connection));
    let memory = SortMemory { buffer_bytes: 1 << 30, account: Some(Rc::clone(&account)) };
    let all = [entries(&mut Prng::new(8), 30_000, 40)];
    let place = Place::new();
    let mut sorted = place.finish(&memory, &all).unwrap();
    assert_eq!(taken(&mut sorted, 0).unwrap().len(), 30_000);
    assert!(place.counters.totals().runs > 1);
    drop(sorted);
    connection.set_limits(ConnectionLimits { statement_bytes: 20 << 10, ..ConnectionLimits::default() });
    assert!(matches!(place.sort(vec![Layout::Headed], &memory), Err(Error::Memory(_))));
    assert_eq!(account.used(), 0);
}

#[test]
fn a_full_disk_and_damaged_bytes_are_errors_of_the_statement() {
    let all = [entries(&mut Prng::new(9), 30_000, 20)];
    let place = Place::new();
    let mut sorted = place.finish(&LEAST, &all).unwrap();
    place.disk.flip_bit(&Path::new("/tmp").join(&place.files()[0]), 40_000);
    let Err(Error::TempFile(error)) = taken(&mut sorted, 0) else { panic!("the damage was not found") };
    assert!(matches!(*error, TempFileError::Damaged { .. }), "{error}");
    drop(sorted);
    place.disk.set_capacity(100 << 10);
    let Err(Error::TempFile(error)) = place.finish(&LEAST, &all) else { panic!("the disk is full") };
    assert!(matches!(&*error, TempFileError::Io(error) if error.is_out_of_space()), "{error}");
    assert_eq!((place.files(), place.disk.used()), (Vec::new(), 0));
}

#[test]
fn a_killed_statement_ends_wherever_it_is_and_leaves_no_file() {
    let all = entries(&mut Prng::new(10), 30_000, 20);
    let flag = Arc::new(AtomicBool::new(false));
    interrupt::set_flag(Some(Arc::clone(&flag)));
    let is_interrupted = |result: Result<()>| matches!(result, Err(Error::Lock(trx::Error::Interrupted)));
    let place = Place::new();
    let mut sort = place.sort(vec![Layout::Headed], &LEAST).unwrap();
    for entry in &all[..20_000] {
        add(&mut sort, 0, entry).unwrap();
    }
    flag.store(true, Ordering::Relaxed);
    assert!(is_interrupted(all[20_000..].iter().try_for_each(|entry| add(&mut sort, 0, entry))));
    drop(sort);
    flag.store(false, Ordering::Relaxed);
    let mut sorted = place.finish(&LEAST, std::slice::from_ref(&all)).unwrap();
    flag.store(true, Ordering::Relaxed);
    assert!(is_interrupted(sorted.take(0).map(drop)));
    drop(sorted);
    flag.store(false, Ordering::Relaxed);
    let mut sorted = place.finish(&LEAST, &[all]).unwrap();
    let mut merge = sorted.take(0).unwrap();
    merge.next_bytes().unwrap().unwrap();
    flag.store(true, Ordering::Relaxed);
    let rest = loop {
        match merge.next_bytes() {
            Ok(Some(_)) => {}
            ended => break ended.map(drop),
        }
    };
    assert!(is_interrupted(rest));
    drop(sorted);
    interrupt::set_flag(None);
    assert_eq!(place.files(), [] as [PathBuf; 0]);
}
