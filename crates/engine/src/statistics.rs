//! Samples of a table's indexes: how many rows share a key.
//!
//! Nothing is counted while rows change. The first plan that asks samples the indexes; a later one does again
//! once the table has grown to twice its size or shrunk to half of it, and ANALYZE TABLE at once. A small
//! index is read whole, of others [`LEAVES`] leaves are, chosen by chance from the same seed each time. Two
//! records that follow one another in a leaf differ in the first parts of their keys with a probability whose
//! inverse is the number of rows that agree in them.

use std::sync::Arc;

use base::prng::Prng;
use btree::{Seek, Stretch};
use page::{ROW_ID_BYTES, RowFormat, SlotFlags};
use trx::TableUse;
use types::{KeyEncoder, KeyStatistics, TableStatistics};

use crate::engine::Engine;
use crate::error::{Result, fail_if_interrupted};
use crate::index::Index;
use crate::range::KeyRange;
use crate::table::Table;

/// Leaves that are read in a large index.
const LEAVES: usize = 20;
/// What chance begins with. Not the index's number, so that equal tables have equal statistics whenever they
/// were made.
const SEED: u64 = 1;
/// Below this part of NULLs the sample may have met none of the few leaves that hold them.
const SAMPLED_NULLS_MIN: f64 = 0.2;
/// An index with no more records is read whole.
const WHOLE_RECORDS: u64 = 2000;

impl Table {
    /// Statistics of the indexes, sampled if they are old or there are none. `None` while the table is
    /// changed, and if a page cannot be read. Cost: a mutex; a few leaves of each index when sampled.
    pub fn statistics(&self, engine: &Engine) -> Option<Arc<TableStatistics>> {
        let known = self.statistics.lock().clone();
        let rows = self.row_count_estimate();
        known.filter(|known| !has_other_size(known.rows, rows)).or_else(|| {
            let sampled = self.sample(engine);
            sampled.unwrap_or_else(|error| {
                engine.note_damage(self, error);
                None
            })
        })
    }

    /// Samples the indexes again; `None` while the table is changed.
    /// # Errors  A page cannot be read; the statement was interrupted.
    pub fn sample(&self, engine: &Engine) -> Result<Option<Arc<TableStatistics>>> {
        let lock = &self.state.lock;
        // A wait here would hold the locks of the transaction, for an estimate.
        if !lock.try_shared(TableUse::Read, false) {
            return Ok(None);
        }
        let sampled = if self.is_current() { self.sample_locked(engine).map(Some) } else { Ok(None) };
        lock.unlock_shared(TableUse::Read);
        let sampled = sampled?.map(Arc::new);
        self.statistics.lock().clone_from(&sampled);
        Ok(sampled)
    }

    /// About how many rows have keys in `range` of the index at position `index`. `None` while the table is
    /// changed, and if a page cannot be read. Cost: a descent where few leaves have them all, else three.
    pub fn rows_between(&self, engine: &Engine, index: usize, range: &KeyRange) -> Option<f64> {
        let index = self.indexes.get(index)?;
        if range.empty {
            return Some(0.0);
        }
        let lock = &self.state.lock;
        if !lock.try_shared(TableUse::Read, false) {
            return None;
        }
        let estimate =
            self.is_current().then(|| index.tree.estimate_between(&engine.store, &range.from, range.to()));
        lock.unlock_shared(TableUse::Read);
        let estimate = estimate?.map_err(|error| engine.note_damage(self, error.into()));
        Some(match estimate.ok()? {
            Stretch::Counted(rows) => rows as f64,
            Stretch::Share(share) => share * self.row_count_estimate() as f64,
        })
    }

    fn sample_locked(&self, engine: &Engine) -> Result<TableStatistics> {
        let rows = self.row_count_estimate();
        let damaged = self.damaged_indexes();
        let keys: Result<Box<[KeyStatistics]>> = (self.indexes.iter().enumerate())
            .map(|(at, index)| {
                // No plan uses it.
                if damaged.contains(&at) { Ok(index.no_statistics()) } else { index.sample(engine, rows) }
            })
            .collect();
        Ok(TableStatistics { rows, keys: keys? })
    }
}

/// Whether a table of `now` rows is no longer like it was with `then`.
fn has_other_size(then: u64, now: u64) -> bool {
    now > then.saturating_mul(2) || then > now.saturating_mul(2)
}

impl Index {
    /// Statistics of an index that no plan uses.
    #[cold]
    fn no_statistics(&self) -> KeyStatistics {
        KeyStatistics { rows_per_prefix: vec![1.0; self.def.parts.len()].into(), null_share: 0.0 }
    }

    fn sample(&self, engine: &Engine, rows: u64) -> Result<KeyStatistics> {
        let parts = self.def.parts.len();
        let mut sample = Sample::new(&self.format, parts);
        let is_whole = self.read_whole(engine, &mut sample)?;
        if !is_whole {
            sample = Sample::new(&self.format, parts);
            let mut random = Prng::new(SEED);
            for _ in 0..LEAVES {
                fail_if_interrupted()?;
                self.tree.sample_leaf(&engine.store, &mut random, &mut |leaf| {
                    sample.begin_stretch();
                    for slot in 0..leaf.count() {
                        if !leaf.is_deleted(slot) {
                            sample.add(|key| leaf.append_key(slot, key));
                        }
                    }
                })?;
            }
        }
        let rows = if is_whole { sample.records } else { rows };
        let mut null_share = sample.nulls as f64 / sample.records.max(1) as f64;
        if !is_whole && null_share < SAMPLED_NULLS_MIN {
            null_share = self.null_share(engine, rows)?;
        }
        Ok(KeyStatistics {
            rows_per_prefix: sample.rows_per_prefix(rows, is_whole, self.is_unique()),
            null_share,
        })
    }

    /// Returns the part of the index's `rows` rows whose first part is NULL. These entries are neighbours, so
    /// a sample of leaves may miss them all.
    fn null_share(&self, engine: &Engine, rows: u64) -> Result<f64> {
        let encoder = self.format.key_parts().first().and_then(|part| part.encoder);
        let Some(encoder) = encoder.filter(KeyEncoder::is_nullable) else { return Ok(0.0) };
        let mut null = Vec::new();
        encoder.append(None, &mut null);
        let range = KeyRange::prefix(&null);
        Ok(match self.tree.estimate_between(&engine.store, &range.from, range.to())? {
            Stretch::Counted(nulls) => (nulls as f64 / rows.max(1) as f64).min(1.0),
            Stretch::Share(share) => share,
        })
    }

    /// Takes in all records, unless there are many: then false.
    fn read_whole(&self, engine: &Engine, sample: &mut Sample<'_>) -> Result<bool> {
        let mut cursor = self.tree.seek(&engine.store, &[], Seek::First)?;
        let mut records = 0;
        while let Some(at) = cursor {
            records += 1;
            if records > WHOLE_RECORDS {
                return Ok(false);
            }
            if !at.record().flags().contains(SlotFlags::DELETED) {
                sample.add(|key| at.record().with_key(|whole| key.extend_from_slice(whole)));
            }
            cursor = at.next()?;
        }
        Ok(true)
    }
}

/// Result of a sample.
struct Sample<'f> {
    format: &'f RowFormat,
    /// Neighbours compared.
    pairs: u64,
    /// Of them, those that differ in the first parts up to each.
    differ: Vec<u64>,
    records: u64,
    /// Those that are NULL in the first part.
    nulls: u64,
    /// The key before; empty at the begin of a stretch.
    last: Vec<u8>,
    key: Vec<u8>,
}

impl<'f> Sample<'f> {
    fn new(format: &'f RowFormat, parts: usize) -> Self {
        let (last, key) = (Vec::new(), Vec::new());
        Sample { format, pairs: 0, differ: vec![0; parts], records: 0, nulls: 0, last, key }
    }

    /// The next record does not follow the last one.
    fn begin_stretch(&mut self) {
        self.last.clear();
    }

    /// Takes in the record whose key `append` appends.
    fn add(&mut self, append: impl FnOnce(&mut Vec<u8>)) {
        self.key.clear();
        append(&mut self.key);
        self.records += 1;
        let same = self.key.iter().zip(&self.last).take_while(|(a, b)| a == b).count();
        self.pairs += u64::from(!self.last.is_empty());
        let mut end = 0;
        for (at, part) in self.format.key_parts().iter().take(self.differ.len()).enumerate() {
            let rest = self.key.get(end..).unwrap_or_default();
            if rest.is_empty() {
                break;
            }
            if at == 0 {
                self.nulls += u64::from(part.encoder.is_some_and(|encoder| encoder.is_null(rest)));
            }
            end += part.encoder.map_or(ROW_ID_BYTES, |encoder| encoder.skip(rest));
            self.differ[at] += u64::from(end > same && !self.last.is_empty());
        }
        std::mem::swap(&mut self.key, &mut self.last);
    }

    /// How many rows agree in the first parts, as [`KeyStatistics`] has them, of an index of `rows` rows;
    /// `is_whole`: the sample has all of them.
    fn rows_per_prefix(&self, rows: u64, is_whole: bool, is_unique: bool) -> Box<[f64]> {
        let rows = rows.max(1) as f64;
        let parts = self.differ.len();
        let per_prefix = |(at, &differ): (usize, &u64)| {
            if is_unique && at + 1 == parts {
                return 1.0;
            }
            // The first row of all differs from those before it. Where no neighbours differ, they may do
            // beyond the sample.
            let first = f64::from(u8::from(is_whole));
            let share = (differ as f64 + first).max(0.5) / (self.pairs as f64 + first).max(1.0);
            (1.0 / share).clamp(1.0, rows)
        };
        self.differ.iter().enumerate().map(per_prefix).collect()
    }
}
