//! Plans of statements seen before: a few in each session, all of them in a shared map behind it.
//!
//! A plan serves every text with the same [cache key](sql::CacheKey) in the same [environment](Environment)
//! as long as its tables are those that it was made for. A key is compared in full; its hash only finds it.
//! Once the catalog version has changed, a plan asks its tables before it runs; one that no longer serves is
//! replaced when it is met.
//!
//! Prepared statements keep their plan themselves, once it is found in the shared map or made for it.
//!
//! Texts that a session sends again and again, except for their literals, are found without making their
//! keys.
//!
//! # Latching
//! A hit in the session's own cache touches no shared memory but the catalog version. The shared map is cut
//! into parts, each with a read-write lock that is held for a look-up or an insertion.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use base::hash::HashState;
use base::memory::ServerAccount;
use parking_lot::{Mutex, RwLock};
use smallvec::SmallVec;
use sql::bind::ReadsLock;
use sql::{CacheKey, LexMode, TextTree};
use types::{CollationId, SqlModes};

use crate::compiled::Compiled;
use crate::plan_key::{PlanKey, PreparedKey};

/// Plans that a session finds without leaving its own memory.
const SESSION_PLANS: usize = 64;
/// Parts of the shared map.
const PARTS: usize = 16;
/// Bytes of plans that a session keeps by their keys, and as many by their texts; what is full is emptied.
const SESSION_PLAN_BYTES: u64 = 4 << 20;
/// Environments that have numbers at once; numbers are never given again.
const ENVIRONMENTS_MAX: usize = 4096;
/// Bytes of a plan with an empty key, about.
const PLAN_BYTES_MIN: u64 = 4096;
/// Bytes of a plan for each byte of its key, at most: a short operator is an expression in the plan and in
/// its program.
const PLAN_BYTES_PER_KEY_BYTE: u64 = 128;
/// Texts that a session keeps at once; of those that come later it keeps one in [`TEXTS_PER_KEPT`].
const TEXTS_AT_FIRST: u64 = 256;
const TEXTS_PER_KEPT: u64 = 16;
/// Keys up to this length need no allocation.
const INLINE_KEY_BYTES: usize = 96;
/// Longest key worth keeping.
const KEY_BYTES_MAX: usize = 16 * 1024;

/// What of a session decides the meaning of a text, beside the text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Environment {
    /// Default database.
    pub database: Option<Box<str>>,
    /// `sql_mode`.
    pub modes: SqlModes,
    /// How names are read.
    pub lex_mode: LexMode,
    /// `collation_connection`.
    pub collation: CollationId,
    /// `div_precision_increment`.
    pub div_precision_increment: u64,
    /// `range_optimizer_max_mem_size`.
    pub range_bytes_max: u64,
    /// `sql_auto_is_null`.
    pub auto_is_null: bool,
    /// `sql_select_limit`.
    pub select_limit: u64,
    /// `sql_safe_updates`.
    pub safe_updates: bool,
    /// `eq_range_index_dive_limit`.
    pub dive_points_max: u64,
    /// What `transaction_isolation` says of plain reads.
    pub reads_lock: ReadsLock,
}

/// Number of an environment; equal numbers, equal environments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EnvironmentId(u64);

impl EnvironmentId {
    /// The same, for prepared statements, whose keys are made otherwise.
    fn of_prepared(self) -> Self {
        EnvironmentId(self.0 | 1 << 63)
    }
}

/// A plan and what it is found by.
#[derive(Debug)]
pub struct Entry {
    environment: EnvironmentId,
    hash: u64,
    key: SmallVec<[u8; INLINE_KEY_BYTES]>,
    /// What key and plan are charged for.
    bytes: u64,
    /// The plan.
    pub plan: Arc<Compiled>,
}

impl Entry {
    fn new(environment: EnvironmentId, key: PlanKey<'_>, plan: &Arc<Compiled>) -> Arc<Self> {
        let bytes = plan_bytes(key.bytes.len());
        let plan = Arc::clone(plan);
        Arc::new(Entry { environment, hash: key.hash, key: SmallVec::from_slice(key.bytes), bytes, plan })
    }

    #[inline]
    fn serves(&self, environment: EnvironmentId, key: PlanKey<'_>, catalog_version: u64) -> bool {
        self.hash == key.hash
            && self.environment == environment
            && *self.key == *key.bytes
            && self.plan.is_current(catalog_version)
    }
}

/// Estimates the bytes of a plan whose key, or text, has `key_bytes` bytes; errs on the large side.
pub fn plan_bytes(key_bytes: usize) -> u64 {
    PLAN_BYTES_MIN + PLAN_BYTES_PER_KEY_BYTE * key_bytes as u64
}

/// A part of the shared map.
#[derive(Debug)]
struct Part {
    /// Plans by environment and hash of the key.
    plans: HashMap<(EnvironmentId, u64), Arc<Entry>, HashState>,
    /// Bytes of all of them.
    bytes: u64,
}

impl Default for Part {
    fn default() -> Self {
        Part { plans: HashMap::with_hasher(base::hash::state()), bytes: 0 }
    }
}

/// Numbers of environments.
#[derive(Debug, Default)]
struct Environments {
    known: HashMap<Environment, EnvironmentId>,
    next: u64,
}

/// The plans that all sessions share: as many bytes as the limit allows. A part that is full is emptied, as
/// finding the least used plan would cost every hit.
#[derive(Debug)]
pub struct PlanCache {
    parts: [RwLock<Part>; PARTS],
    /// Bytes of one part.
    part_bytes_max: AtomicU64,
    memory: Arc<ServerAccount>,
    environments: Mutex<Environments>,
    /// Plans that sessions have made, kept or not.
    made: AtomicU64,
    /// INSERTs whose rows needed no plan of their own.
    unparsed_inserts: AtomicU64,
}

impl PlanCache {
    /// An empty cache for plans of `bytes_max` bytes, charged to `memory`.
    pub fn new(bytes_max: u64, memory: &Arc<ServerAccount>) -> Self {
        PlanCache {
            parts: Default::default(),
            part_bytes_max: AtomicU64::new(bytes_max / PARTS as u64),
            memory: Arc::clone(memory),
            environments: Mutex::default(),
            made: AtomicU64::new(0),
            unparsed_inserts: AtomicU64::new(0),
        }
    }

    /// Counts a plan that a session has made.
    pub fn count_made(&self) {
        self.made.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts an INSERT of rows that were read without parsing them.
    pub(crate) fn count_unparsed_insert(&self) {
        self.unparsed_inserts.fetch_add(1, Ordering::Relaxed);
    }

    /// INSERTs of rows that were read without parsing them since the server started up.
    pub(crate) fn unparsed_inserts(&self) -> u64 {
        self.unparsed_inserts.load(Ordering::Relaxed)
    }

    /// Plans that sessions have made since the server started up.
    pub fn made(&self) -> u64 {
        self.made.load(Ordering::Relaxed)
    }

    /// Sets the limit, bytes. A part that has more is emptied when the next plan comes.
    pub fn set_bytes_max(&self, bytes: u64) {
        self.part_bytes_max.store(bytes / PARTS as u64, Ordering::Relaxed);
    }

    /// Bytes of all plans.
    pub fn bytes(&self) -> u64 {
        self.parts.iter().map(|part| part.read().bytes).sum()
    }

    /// Environments that have numbers.
    pub fn environments(&self) -> u64 {
        self.environments.lock().known.len() as u64
    }

    /// The number of `environment`.
    pub fn environment(&self, environment: Environment) -> EnvironmentId {
        let mut environments = self.environments.lock();
        let Environments { known, next } = &mut *environments;
        if let Some(id) = known.get(&environment) {
            return *id;
        }
        if known.len() >= ENVIRONMENTS_MAX {
            known.clear();
        }
        *next += 1;
        known.insert(environment, EnvironmentId(*next));
        EnvironmentId(*next)
    }

    fn part(&self, hash: u64) -> &RwLock<Part> {
        &self.parts[(hash >> 32) as usize % PARTS]
    }

    fn find(&self, environment: EnvironmentId, key: PlanKey<'_>, version: u64) -> Option<Arc<Entry>> {
        let part = self.part(key.hash).read();
        let entry = part.plans.get(&(environment, key.hash))?;
        entry.serves(environment, key, version).then(|| Arc::clone(entry))
    }

    /// The plan of a prepared statement that some session has made.
    pub(crate) fn find_prepared(
        &self,
        environment: EnvironmentId,
        key: &PreparedKey,
        catalog_version: u64,
    ) -> Option<Arc<Compiled>> {
        let entry = self.find(environment.of_prepared(), key.into(), catalog_version)?;
        Some(Arc::clone(&entry.plan))
    }

    /// Keeps the plan of a prepared statement for all sessions, unless theirs is to stay.
    pub(crate) fn insert_prepared(
        &self,
        environment: EnvironmentId,
        key: &PreparedKey,
        plan: &Arc<Compiled>,
    ) {
        let key = PlanKey::from(key);
        if key.bytes.len() <= KEY_BYTES_MAX {
            self.insert(Entry::new(environment.of_prepared(), key, plan));
        }
    }

    /// Keeps `entry`, unless another plan of its statement is to stay; the one that is kept.
    fn insert(&self, entry: Arc<Entry>) -> Arc<Entry> {
        let limit = self.part_bytes_max.load(Ordering::Relaxed);
        let bytes = entry.bytes;
        let mut part = self.part(entry.hash).write();
        if let Some(old) = part.plans.get(&(entry.environment, entry.hash))
            && old.key == entry.key
            && old.plan.outlasts(&entry.plan)
        {
            return Arc::clone(old);
        }
        if part.bytes + bytes > limit {
            self.memory.release(part.bytes);
            *part = Part::default();
        }
        if bytes > limit || self.memory.charge(bytes).is_err() {
            return entry;
        }
        part.bytes += bytes;
        if let Some(old) = part.plans.insert((entry.environment, entry.hash), Arc::clone(&entry)) {
            part.bytes -= old.bytes;
            self.memory.release(old.bytes);
        }
        entry
    }
}

/// A session's own plans: one for each value of the lowest bits of the hash, and some by their texts.
#[derive(Debug, Default)]
pub struct SessionPlans {
    slots: Vec<Option<Arc<Entry>>>,
    texts: TextTree<Arc<Entry>>,
    /// Bytes of the plans in the slots, and of those by their texts.
    slot_bytes: u64,
    text_bytes: u64,
    /// Texts that were found by their keys alone.
    unknown_texts: u64,
}

impl SessionPlans {
    /// The plan for `sql`, if its like was kept before; `key` lists its literals then, and nothing else.
    /// After a change of definitions a plan is found by its key once more, which asks its tables.
    #[inline]
    pub(crate) fn find_text(
        &self,
        environment: EnvironmentId,
        sql: &[u8],
        key: &mut CacheKey,
        catalog_version: u64,
    ) -> Option<&Compiled> {
        let entry = self.texts.find(sql, key)?;
        let serves = entry.environment == environment && entry.plan.was_current(catalog_version);
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
        let key = PlanKey::from(key);
        let slot = slot(key.hash);
        if let Some(Some(entry)) = self.slots.get(slot)
            && entry.serves(environment, key, catalog_version)
        {
            return Some(Arc::clone(entry));
        }
        let entry = shared.find(environment, key, catalog_version)?;
        self.keep(Arc::clone(&entry));
        Some(entry)
    }

    /// Keeps the whole text `sql`, whose key found `entry`, for [`SessionPlans::find_text`]. Once that has
    /// happened often, the texts hardly ever come again, and only some are kept.
    pub(crate) fn keep_text(&mut self, sql: &[u8], key: &CacheKey, entry: &Arc<Entry>) {
        self.unknown_texts += 1;
        if self.unknown_texts <= TEXTS_AT_FIRST || self.unknown_texts.is_multiple_of(TEXTS_PER_KEPT) {
            self.text_bytes += entry.bytes;
            if self.text_bytes > SESSION_PLAN_BYTES {
                self.texts = TextTree::default();
                self.text_bytes = entry.bytes;
            }
            self.texts.insert(sql, key, Arc::clone(entry));
        }
    }

    /// Keeps a new plan here and in the shared map, or here what is to stay there.
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
        let entry = Entry::new(environment, key.into(), plan);
        self.keep(shared.insert(entry));
    }

    fn keep(&mut self, entry: Arc<Entry>) {
        if self.slot_bytes + entry.bytes > SESSION_PLAN_BYTES {
            self.slots.clear();
            self.slot_bytes = 0;
        }
        self.slots.resize(SESSION_PLANS, None);
        let slot = slot(entry.hash);
        self.slot_bytes += entry.bytes;
        if let Some(old) = self.slots[slot].replace(entry) {
            self.slot_bytes -= old.bytes;
        }
    }
}

#[inline]
fn slot(hash: u64) -> usize {
    hash as usize % SESSION_PLANS
}
