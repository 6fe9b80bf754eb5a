//! Random operations on a tree and on a `BTreeMap`, with the same answers.

use std::collections::BTreeMap;
use std::ops::Bound;

use base::prng::Prng;
use page::Search;

use super::*;

type Model = BTreeMap<Vec<u8>, Vec<u8>>;

/// What keys and payloads look like.
#[derive(Clone, Copy, Debug)]
enum Mix {
    /// 8-byte integers, payloads around 100 bytes.
    Ints,
    /// Strings with common prefixes, empty and short payloads.
    Strings,
    /// Keys up to the maximum that share long prefixes, among short ones.
    LongKeys,
    /// Payloads up to 4,200 bytes.
    LongPayloads,
    /// 4-byte integers, many of them followed by a begin id: far more versions than integers.
    Versions,
}

impl Mix {
    fn shape(self) -> TreeShape {
        let fixed_key_len = match self {
            Mix::Ints => Some(8),
            Mix::Versions => Some(4),
            _ => None,
        };
        TreeShape { format_version: 1, fixed_key_len }
    }

    fn key(self, prng: &mut Prng) -> Vec<u8> {
        match self {
            Mix::Ints => prng.below(4000).to_be_bytes().to_vec(),
            Mix::Strings => {
                let stem = ["customer/", "customer/order/", "c", "", "zone/\u{1}"][prng.below(5) as usize];
                format!("{stem}{}", prng.below(1500)).into_bytes()
            }
            Mix::LongKeys => {
                let len = [5, 40, 700, 1500, 3000, KEY_BYTES_MAX - 3][prng.below(6) as usize];
                let mut key = vec![b'a' + prng.below(3) as u8; len];
                key.extend_from_slice(&[prng.below(5) as u8, prng.below(20) as u8, prng.below(4) as u8]);
                key
            }
            Mix::LongPayloads => (prng.below(600) as u32).to_be_bytes().to_vec(),
            Mix::Versions => {
                let mut key = (prng.below(20) as u32).to_be_bytes().to_vec();
                if prng.below(10) > 0 {
                    key.extend_from_slice(&prng.below(300).to_be_bytes()[2..]);
                }
                key
            }
        }
    }

    fn flags(self, key: &[u8]) -> SlotFlags {
        let has_begin = matches!(self, Mix::Versions) && key.len() > 4;
        if has_begin { SlotFlags::HAS_BEGIN } else { SlotFlags::NONE }
    }

    fn payload(self, prng: &mut Prng) -> Vec<u8> {
        let len = match self {
            Mix::Ints => 80 + prng.below(40),
            Mix::Strings | Mix::Versions => prng.below(12),
            Mix::LongKeys => [0, 30, 900, 4200][prng.below(4) as usize],
            Mix::LongPayloads => [1, 100, 2000, 4200][prng.below(4) as usize],
        };
        vec![prng.next_u64() as u8; len as usize]
    }
}

struct Run {
    disk: SimDisk,
    store: Store,
    tree: Tree,
    model: Model,
    mix: Mix,
    prng: Prng,
}

impl Run {
    fn new(mix: Mix, seed: u64, frames: usize) -> Run {
        let disk = SimDisk::new();
        let store = new_store(&disk, frames);
        let tree = Tree::create(&store, INDEX, mix.shape()).unwrap();
        Run { disk, store, tree, model: Model::new(), mix, prng: Prng::new(seed) }
    }

    fn key(&mut self) -> Vec<u8> {
        self.mix.key(&mut self.prng)
    }

    fn upsert(&mut self) {
        let (key, payload) = (self.key(), self.mix.payload(&mut self.prng));
        let need = key.len() + payload.len();
        let mut edit = self.tree.edit(&self.store, &key, need).unwrap();
        assert_eq!(edit.found(), self.model.contains_key(&key));
        if edit.found() {
            assert_eq!(edit.record().payload(), self.model[&key]);
            edit.replace_payload(&payload).unwrap();
        } else {
            edit.insert(&payload, self.mix.flags(&key)).unwrap();
        }
        edit.commit();
        self.model.insert(key, payload);
    }

    fn delete(&mut self) {
        let key = self.key();
        let mut edit = self.tree.edit(&self.store, &key, 0).unwrap();
        assert_eq!(edit.found(), self.model.remove(&key).is_some());
        if edit.found() {
            edit.remove();
        }
        let sparse = edit.is_sparse();
        edit.commit();
        if sparse {
            self.tree.shrink(&self.store, &key).unwrap();
        }
    }

    /// Deletes a stretch of keys, so that whole pages empty out.
    fn delete_range(&mut self) {
        let from = self.key();
        let keys: Vec<_> = self.model.range(from..).take(120).map(|(key, _)| key.clone()).collect();
        for key in keys {
            let mut edit = self.tree.edit(&self.store, &key, 0).unwrap();
            edit.remove();
            let sparse = edit.is_sparse();
            edit.commit();
            if sparse {
                self.tree.shrink(&self.store, &key).unwrap();
            }
            self.model.remove(&key);
        }
    }

    fn probe(&mut self) {
        let key = self.key();
        let at = self.tree.point(&self.store, &key).unwrap();
        assert_eq!(at.as_ref().map(|at| at.record().payload()), self.model.get(&key).map(Vec::as_slice));
        drop(at);
        let after = |bound| self.model.range::<[u8], _>((bound, Bound::Unbounded)).next();
        let before = |bound| self.model.range::<[u8], _>((Bound::Unbounded, bound)).next_back();
        let key = key.as_slice();
        for (seek, expected) in [
            (Seek::AtOrAfter, after(Bound::Included(key))),
            (Seek::After, after(Bound::Excluded(key))),
            (Seek::AtOrBefore, before(Bound::Included(key))),
            (Seek::Before, before(Bound::Excluded(key))),
            (Seek::First, self.model.iter().next()),
            (Seek::Last, self.model.iter().next_back()),
        ] {
            let cursor = self.tree.seek(&self.store, key, seek).unwrap();
            let found = cursor.map(|cursor| cursor.page().key(cursor.slot()));
            assert_eq!(found.as_ref(), expected.map(|(key, _)| key), "{seek:?}");
        }
    }

    /// A series of lookups: keys at random and neighbours of the last one, the latch kept or not.
    fn series(&mut self) {
        let mut probe = Probe::new(&self.store, &self.tree);
        let mut key = self.mix.key(&mut self.prng);
        let ordered = self.prng.below(3);
        for _ in 0..40 {
            let at = probe.find(&key).unwrap();
            let page = probe.page().unwrap();
            assert!(page.covers(&key));
            assert_eq!(at, page.search(&key));
            assert_eq!(at.found.then(|| page.payload(at.slot)), self.model.get(&key).map(Vec::as_slice));
            let next = self.model.range::<[u8], _>((Bound::Excluded(&key[..]), Bound::Unbounded)).nth(7);
            if at.slot == page.count() && probe.next_leaf().unwrap() {
                assert_eq!(probe.page().unwrap().search(&key), Search { slot: 0, found: false });
            }
            key = match next {
                Some((next, _)) if ordered > 0 && self.prng.below(10) > 0 => next.clone(),
                _ => self.mix.key(&mut self.prng),
            };
            if self.prng.below(8) == 0 {
                probe.release();
            }
        }
    }

    fn scan(&mut self) {
        let from = self.key();
        let forward = self.prng.below(2) == 0;
        let (seek, onward) =
            if forward { (Seek::AtOrAfter, Seek::After) } else { (Seek::AtOrBefore, Seek::Before) };
        let expected: Vec<_> = if forward {
            self.model.range(from.clone()..).take(300).collect()
        } else {
            self.model.range(..=from.clone()).rev().take(300).collect()
        };
        let mut cursor = self.tree.seek(&self.store, &from, seek).unwrap();
        for (key, payload) in expected {
            let at = cursor.take().unwrap();
            assert_eq!((&at.page().key(at.slot()), at.record().payload()), (key, &payload[..]));
            cursor = if self.prng.below(20) == 0 {
                at.suspend().resume(&self.tree, &self.store, onward).unwrap()
            } else if forward {
                at.next().unwrap()
            } else {
                at.prev().unwrap()
            };
        }
    }

    /// The tree holds exactly what the model holds, and every used page belongs to it.
    fn compare(&self) -> TreeReport {
        let report = assert_sound(&self.store, &self.tree);
        assert_eq!(report.records, self.model.len() as u64);
        let pages = (report.leaf_pages + report.inner_pages) as u64;
        assert_eq!(self.store.space_report().pages_used, pages);
        let mut cursor = self.tree.seek(&self.store, &[], Seek::First).unwrap();
        for (key, payload) in &self.model {
            let at = cursor.take().unwrap();
            assert_eq!((&at.page().key(at.slot()), at.record().payload()), (key, &payload[..]));
            cursor = at.next().unwrap();
        }
        assert!(cursor.is_none());
        report
    }

    fn reopen(&mut self, frames: usize) {
        self.store.close().unwrap();
        self.store =
            Store::open(&shared(&self.disk), Path::new("data.pages"), config(frames), &mut ()).unwrap();
        self.tree = Tree::open(INDEX, self.tree.root, self.mix.shape());
    }

    fn step(&mut self, deletes: u64) {
        match self.prng.below(100) {
            at if at < deletes => self.delete(),
            at if at < 90 => self.upsert(),
            at if at < 96 => self.probe(),
            at if at < 97 => self.series(),
            at if at < 99 => self.scan(),
            _ => {
                if self.prng.below(3) == 0 {
                    self.delete_range();
                }
            }
        }
    }
}

fn run(mix: Mix, seed: u64, frames: usize, steps: usize) -> usize {
    eprintln!("mix {mix:?}, seed {seed}, {frames} frames");
    let mut run = Run::new(mix, seed, frames);
    let mut levels = 0;
    for phase in 0..4 {
        let deletes = [15, 40, 70, 30][phase];
        (0..steps).for_each(|_| run.step(deletes));
        levels = levels.max(run.compare().levels);
        if phase % 2 == 1 {
            run.reopen(frames);
            run.compare();
        }
    }
    run.store.free_trees(&[run.tree.index].into()).unwrap();
    assert_eq!(run.store.space_report().pages_used, 0);
    levels
}

#[test]
fn integer_keys_answer_like_a_map() {
    for seed in 0..3 {
        run(Mix::Ints, seed, 512, 1500);
    }
}

#[test]
fn string_keys_answer_like_a_map() {
    for seed in 10..13 {
        run(Mix::Strings, seed, 512, 1500);
    }
}

#[test]
fn versions_of_integer_keys_answer_like_a_map() {
    for seed in 50..53 {
        run(Mix::Versions, seed, 512, 2000);
    }
}

#[test]
fn long_keys_answer_like_a_map() {
    let levels = (20..26).map(|seed| run(Mix::LongKeys, seed, 1024, 900)).max();
    assert!(levels >= Some(3), "splits of inner pages occur");
}

#[test]
fn long_payloads_answer_like_a_map() {
    for seed in 30..33 {
        run(Mix::LongPayloads, seed, 512, 1000);
    }
}

#[test]
fn a_tiny_pool_changes_nothing() {
    for (seed, mix) in [Mix::Ints, Mix::Strings, Mix::LongKeys, Mix::LongPayloads].into_iter().enumerate() {
        run(mix, 40 + seed as u64, 12, 500);
    }
}
