//! Plans of statements seen before: a few in each session, all of them in a shared map behind it.
//!
//! A plan serves every text with the same [cache key](sql::CacheKey) in the same [environment](Environment) under the
//! same catalog version. A key is compared in full; its hash only finds it. A plan of an older catalog version is never
//! run: it is replaced when it is met.
//!
//! Texts that a session sends again and again, but for their literals, are found without making their keys.
//!
//! # Latching
//! A hit in the session's own cache touches no shared memory but the catalog version. The shared map is cut into parts,
//! each with a read-write lock that is held for a look-up or an insertion.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::{Mutex, RwLock};
use sql::{CacheKey, TextTree};
use types::{CollationId, SqlModes};

use crate::run::Compiled;

/// Plans that a session finds without leaving its own memory.
const SESSION_PLANS: usize = 64;
/// Parts of the shared map.
const PARTS: usize = 16;
/// Plans in one part; when it is full it is emptied, as finding the least used would cost every hit.
const PART_PLANS: usize = 512;
/// Texts that a session keeps at once; of those that come later it keeps one in [`TEXTS_PER_KEPT`].
const TEXTS_AT_FIRST: u64 = 256;
const TEXTS_PER_KEPT: u64 = 16;
/// Longest key worth keeping.
const KEY_BYTES_MAX: usize = 16 * 1024;

/// What of a session decides the meaning of a text, beside the text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Environment {
    /// Default database.
    pub database: Option<Box<str>>,
    /// `sql_mode`.
    pub modes: SqlModes,
    /// `collation_connection`.
    pub collation: CollationId,
    /// `div_precision_increment`.
    pub div_precision_increment: u64,
}

/// Number of an environment; equal numbers, equal environments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EnvironmentId(u32);

/// A plan and what it is found by.
#[derive(Debug)]
pub struct Entry {
    environment: EnvironmentId,
    hash: u64,
    key: Box<[u8]>,
    /// The plan.
    pub plan: Arc<Compiled>,
}

impl Entry {
    #[inline]
    fn serves(&self, environment: EnvironmentId, key: &CacheKey, catalog_version: u64) -> bool {
        self.hash == key.hash()
            && self.environment == environment
            && self.plan.catalog_version == catalog_version
            && *self.key == *key.bytes()
    }
}

/// Plans by environment and hash of the key.
type Part = HashMap<(EnvironmentId, u64), Arc<Entry>>;

/// The plans that all sessions share.
#[derive(Debug, Default)]
pub struct PlanCache {
    parts: [RwLock<Part>; PARTS],
    environments: Mutex<HashMap<Environment, EnvironmentId>>,
}

impl PlanCache {
    /// The number of `environment`.
    pub fn environment(&self, environment: Environment) -> EnvironmentId {
        let mut known = self.environments.lock();
        let next = EnvironmentId(known.len() as u32);
        *known.entry(environment).or_insert(next)
    }

    fn part(&self, hash: u64) -> &RwLock<Part> {
        &self.parts[(hash >> 32) as usize % PARTS]
    }

    fn find(&self, environment: EnvironmentId, key: &CacheKey, version: u64) -> Option<Arc<Entry>> {
        let part = self.part(key.hash()).read();
        let entry = part.get(&(environment, key.hash()))?;
        entry.serves(environment, key, version).then(|| Arc::clone(entry))
    }

    fn insert(&self, entry: Arc<Entry>) {
        let mut part = self.part(entry.hash).write();
        if part.len() >= PART_PLANS {
            part.clear();
        }
        part.insert((entry.environment, entry.hash), entry);
    }
}

/// A session's own plans: one for each value of the lowest bits of the hash, and some by their texts.
#[derive(Debug, Default)]
pub struct SessionPlans {
    slots: Vec<Option<Arc<Entry>>>,
    texts: TextTree<Arc<Entry>>,
    /// Texts that were found by their keys alone.
    unknown_texts: u64,
}

impl SessionPlans {
    /// The plan for `sql`, if its like was kept before; `key` lists its literals then, and nothing else.
    #[inline]
    pub fn find_text(
        &self,
        environment: EnvironmentId,
        sql: &[u8],
        key: &mut CacheKey,
        catalog_version: u64,
    ) -> Option<&Compiled> {
        let entry = self.texts.find(sql, key)?;
        let serves = entry.environment == environment && entry.plan.catalog_version == catalog_version;
        serves.then_some(&*entry.plan)
    }

    /// The plan for `key`, from here or from the shared map.
    #[inline]
    pub fn find(
        &mut self,
        shared: &PlanCache,
        environment: EnvironmentId,
        key: &CacheKey,
        catalog_version: u64,
    ) -> Option<Arc<Entry>> {
        let slot = slot(key.hash());
        if let Some(Some(entry)) = self.slots.get(slot)
            && entry.serves(environment, key, catalog_version)
        {
            return Some(Arc::clone(entry));
        }
        let entry = shared.find(environment, key, catalog_version)?;
        self.keep(Arc::clone(&entry));
        Some(entry)
    }

    /// Keeps the whole text `sql`, whose key found `entry`, for [`SessionPlans::find_text`]. Once that has happened often,
    /// the texts hardly ever come again, and only some are kept.
    pub fn keep_text(&mut self, sql: &[u8], key: &CacheKey, entry: &Arc<Entry>) {
        self.unknown_texts += 1;
        if self.unknown_texts <= TEXTS_AT_FIRST || self.unknown_texts.is_multiple_of(TEXTS_PER_KEPT) {
            self.texts.insert(sql, key, Arc::clone(entry));
        }
    }

    /// Keeps a new plan here and in the shared map.
    pub fn insert(
        &mut self,
        shared: &PlanCache,
        environment: EnvironmentId,
        key: &CacheKey,
        plan: &Arc<Compiled>,
    ) {
        if key.bytes().len() > KEY_BYTES_MAX {
            return;
        }
        let entry = Entry { environment, hash: key.hash(), key: key.bytes().into(), plan: Arc::clone(plan) };
        let entry = Arc::new(entry);
        shared.insert(Arc::clone(&entry));
        self.keep(entry);
    }

    fn keep(&mut self, entry: Arc<Entry>) {
        self.slots.resize(SESSION_PLANS, None);
        let slot = slot(entry.hash);
        self.slots[slot] = Some(entry);
    }
}

#[inline]
fn slot(hash: u64) -> usize {
    hash as usize % SESSION_PLANS
}
