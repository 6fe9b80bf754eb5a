//! The context in which a statement is bound.

use std::cell::{OnceCell, RefCell};

use types::{CollationId, SqlModes, SqlType};

use super::{Catalog, ColumnUses, RangeMemory};
use crate::dive::Dives;

/// The current types of variables.
pub trait SessionTypes {
    /// Type of `@name`'s present value.
    fn user_variable(&self, name: &str) -> SqlType;

    /// `sql_auto_is_null`: `column IS NULL` finds the row whose AUTO_INCREMENT number was given last.
    fn auto_is_null(&self) -> bool {
        false
    }

    /// `sql_select_limit`: the rows that a SELECT without LIMIT gives; `None`: all.
    fn select_limit(&self) -> Option<u64> {
        None
    }

    /// `sql_safe_updates`: rows that change are found by keys if they can be.
    fn safe_updates(&self) -> bool {
        false
    }

    /// Type of `@@name`; `None` if there is none of this name and scope.
    fn system_variable(&self, global: Option<bool>, name: &str) -> Option<SqlType>;
}

/// Context of a statement. All of it but the catalog's content is part of a cached plan's key.
#[derive(Clone, Copy)]
pub struct BindContext<'c> {
    /// The dictionary.
    pub catalog: &'c dyn Catalog,
    /// Variables.
    pub session: &'c dyn SessionTypes,
    /// The text from which the statement was parsed.
    pub sql: &'c [u8],
    /// Default database.
    pub database: Option<&'c str>,
    /// `sql_mode`.
    pub modes: SqlModes,
    /// `collation_connection`.
    pub collation: CollationId,
    /// `div_precision_increment`.
    pub div_precision_increment: u8,
    /// Types that are given for the `?`, in order. The text implies those of the others.
    pub param_types: &'c [Option<SqlType>],
    /// Of `?` whose texts are converted each time that they are read, the types to convert to.
    pub late_types: &'c [Option<SqlType>],
    /// Number of all parameters of the statement: `?` and, if they are parameters, numbered literals.
    pub param_count: u16,
    /// What becomes of literals that have an ordinal.
    pub literals: Literals,
    /// How much memory the keys of one index may take.
    pub range_memory: &'c RangeMemory,
    /// Whether an expression of `sql` assigns a user variable, once the planner has asked: empty at first.
    pub assigns_variables: &'c OnceCell<bool>,
    /// Whether rows are locked that are only read.
    pub reads_lock: ReadsLock,
    /// Takes note of the columns that the statement uses; `None`: not collected.
    pub column_uses: Option<&'c RefCell<ColumnUses>>,
    /// Dives with the values of this execution, which are not part of the key; `None`: they are not known.
    pub dives: Option<&'c Dives<'c>>,
}

/// Where rows are locked that a statement only reads, without a locking clause. It decides how paths are
/// chosen, no more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ReadsLock {
    /// Nowhere: up to READ COMMITTED.
    Never,
    /// In statements that change rows: REPEATABLE READ.
    #[default]
    InChanges,
    /// Everywhere: SERIALIZABLE.
    Always,
}

impl BindContext<'_> {
    /// The same for what a statement that changes rows reads.
    pub(crate) fn in_change(&self) -> Self {
        let reads_lock =
            if self.reads_lock == ReadsLock::InChanges { ReadsLock::Always } else { self.reads_lock };
        BindContext { reads_lock, ..*self }
    }
}

/// What becomes of literals that have an ordinal in the cache key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Literals {
    /// They are constants of the plan.
    Constants,
    /// The literal with ordinal `i` is parameter `base + i`, where `base` is the number of `?` in the
    /// statement. Its type depends on its kind alone, so the plan serves every text with the same key.
    Parameters {
        /// Number of `?`.
        base: u16,
    },
}
