//! Compiled statements: what plans are kept as.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use exec::Program;
use sql::bind::{Deprecated, ParamUse, TextParam};
use sql::dive::Recheck;
use sql::plan::Plan;

use crate::item_names::ItemNames;
use crate::privilege::{RequiredPrivileges, Rights};
use crate::status::Com;

/// Executions with other values than a plan is for until one for theirs takes its place although it costs
/// more.
const MISSES_MAX: u32 = 16;

/// A program and what it was made under.
#[derive(Debug)]
pub struct Compiled {
    /// The program.
    pub program: Program,
    /// Version of the catalog that its names were looked up in.
    pub(crate) made_at: u64,
    /// Newest version under which they are known to be the same.
    pub(crate) current_at: AtomicU64,
    /// Number of its parameters, lifted literals included.
    pub params: u16,
    /// Counter of its statements.
    pub com: Com,
    /// It is a query of constants.
    pub is_constant: bool,
    /// DO: the row is not read.
    pub is_do: bool,
    /// Milliseconds of its hint MAX_EXECUTION_TIME; 0: none.
    pub execution_ms: u32,
    /// There is something to warn of each time, or it is refused.
    pub warns: bool,
    /// `sql_safe_updates` refuses it.
    pub lacks_key: bool,
    /// The uses of its `?`.
    pub param_uses: Box<[ParamUse]>,
    /// What its text has that MySQL warns of.
    pub deprecated: Vec<Deprecated>,
    /// The limit on memory for keys if it was too low: each execution warns of it.
    pub range_memory_exceeded: Option<u64>,
    /// Names of its columns that follow from the literals.
    pub names: ItemNames,
    /// What its plan depends on beside the key.
    pub rechecks: Box<[Recheck]>,
    /// Literals that have to be what they are in it.
    pub(crate) text_params: Box<[TextParam]>,
    /// Whether `rechecks` or `text_params` has any.
    pub(crate) is_conditional: bool,
    /// Executions whose values it was not for.
    pub misses: AtomicU32,
    /// Its accesses to tables and columns; `None`: a session made it whose statements are not checked.
    pub(crate) wanted: Option<Box<RequiredPrivileges>>,
}

impl Compiled {
    /// Whether it serves under catalog version `version`. Cost: a load, unless a definition has changed since
    /// it was last asked.
    #[inline]
    pub fn is_current(&self, version: u64) -> bool {
        self.was_current(version) || self.still_serves(version)
    }

    /// Whether [`Compiled::is_current`] was true under catalog version `version` when it was last asked.
    #[inline]
    pub(crate) fn was_current(&self, version: u64) -> bool {
        self.current_at.load(Ordering::Relaxed) == version
    }

    /// Its accesses to tables; `None` if it has to be made again to find out.
    pub(crate) fn wanted(&self) -> Option<&RequiredPrivileges> {
        self.wanted.as_deref()
    }

    /// Whether it is known what it wants, if that matters to a session with `rights`.
    pub(crate) fn can_be_checked(&self, rights: &Rights) -> bool {
        !rights.is_limited() || self.wanted.is_some()
    }

    /// Columns of the rows of a query.
    pub fn columns(&self) -> usize {
        match &**self.program.plan() {
            Plan::Query(query) => query.output.len(),
            _ => 0,
        }
    }

    /// Asks the tables. The version was read before them, so that none of its changes is missed.
    #[cold]
    #[inline(never)]
    fn still_serves(&self, version: u64) -> bool {
        let serves = self.program.serves(self.made_at);
        if serves {
            self.current_at.fetch_max(version, Ordering::Relaxed);
        }
        serves
    }

    /// Whether this program is to be kept rather than `other`, made for other values of the same statement:
    /// executions that read little suffer more from being planned than those that read much.
    pub(crate) fn outlasts(&self, other: &Compiled) -> bool {
        let cost = |compiled: &Compiled| compiled.rechecks.iter().map(Recheck::cost).sum::<f64>();
        !self.rechecks.is_empty()
            && self.is_current(other.made_at)
            && cost(self) <= cost(other)
            && (self.wanted.is_some() || other.wanted.is_none())
            && self.misses.load(Ordering::Relaxed) < MISSES_MAX
    }
}
