//! Damaged indexes, as their tables and errors have them. `quarantine.rs` says what becomes of them.

use base::IndexId;
use base::sync::plain::Mutex;

/// Why an index is out of use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Damage {
    pub(crate) index: IndexId,
    /// For people.
    pub(crate) why: Box<str>,
    /// It lacks changes.
    pub(crate) is_lost: bool,
}

/// The damaged indexes of a table, over all versions of its definition.
#[derive(Debug, Default)]
pub(crate) struct Damages(Mutex<Vec<Damage>>);

impl Damages {
    /// Adds a damage. False: the index was known to be damaged, and no less.
    pub(crate) fn add(&self, damage: Damage) -> bool {
        let mut all = self.0.lock();
        match all.iter_mut().find(|known| known.index == damage.index) {
            Some(known) if known.is_lost || !damage.is_lost => false,
            Some(known) => {
                *known = damage;
                true
            }
            None => {
                all.push(damage);
                true
            }
        }
    }

    /// The damage of an index.
    pub(crate) fn of(&self, index: IndexId) -> Option<Damage> {
        self.0.lock().iter().find(|damage| damage.index == index).cloned()
    }

    /// Forgets what was only read.
    pub(crate) fn forget_read(&self) {
        self.0.lock().retain(|damage| damage.is_lost);
    }
}

/// An index that is out of use, for the one who asked for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DamagedIndex {
    /// Schema.
    pub schema: Box<str>,
    /// Table.
    pub table: Box<str>,
    /// Index.
    pub index: Box<str>,
    /// It is the clustered one: the whole table is out of use.
    pub is_clustered: bool,
    /// File, page and damage.
    pub why: Box<str>,
}

impl std::fmt::Display for DamagedIndex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let DamagedIndex { schema, table, index, is_clustered, why } = self;
        let what = if *is_clustered { "the table is out of use" } else { "the index is out of use" };
        write!(f, "table {schema}.{table}, index {index}: {why}; {what}")
    }
}
