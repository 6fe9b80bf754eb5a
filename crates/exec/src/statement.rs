//! What all operators of a running statement share.

use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};

use base::memory::{ByteStore, Charge, LimitExceeded, Purpose, StatementAccount};
use bumpalo::Bump;
use engine::{Engine, LockMode, LockRead, ReadView, Trx, WaitPolicy};
use expr::{EvalError, PatternMemo, SessionInfo};
use page::OverflowRef;
use smallvec::SmallVec;
use sql::ast::LockWait;
use sql::plan::RowLock;
use types::{ColumnDef, Date, StoreContext, TimeZone, Value};
use wire::OutBuffer;

use crate::answer::Answer;
use crate::build_side::BuildSide;
use crate::error::{ExecError, Result};
use crate::kept_rows::KeptRows;
use crate::statement_cache::StatementMemo;
use crate::strict::StrictSession;

/// Rows between two checks of the kill flag, where rows do not come a page at a time. Few enough for rows
/// that take half a millisecond each.
const ROWS_BETWEEN_LOOKS: u32 = 64;

/// Lock modes stored inline; few statements need more.
const INLINE_LOCKS: usize = 2;

/// The lock mode for each use of rows in a statement. The caller that runs the statement keeps it on its
/// stack.
#[derive(Debug, Default)]
pub(crate) struct Locks(SmallVec<[(RowUse, LockRead); INLINE_LOCKS]>);

impl Locks {
    /// Adds the lock mode of `row_use`, which must be new.
    pub(crate) fn add(&mut self, row_use: RowUse, lock: LockRead) {
        self.0.push((row_use, lock));
    }

    /// How rows are locked that are read for `row_use`. A statement that changes rows has locks that wait
    /// alone; what FOR SHARE is about is else locked as what is only read.
    fn get(&self, row_use: RowUse) -> Option<&LockRead> {
        match row_use {
            RowUse::Read => self.find(RowUse::Read),
            RowUse::Share(_) => self
                .find(row_use)
                .or_else(|| self.find(RowUse::Share(WaitPolicy::Wait)))
                .or_else(|| self.find(RowUse::Read)),
            RowUse::Change(_) => self.find(row_use).or_else(|| self.find(RowUse::Change(WaitPolicy::Wait))),
        }
    }

    fn find(&self, row_use: RowUse) -> Option<&LockRead> {
        self.0.iter().find(|(known, _)| *known == row_use).map(|(_, lock)| lock)
    }
}

/// The purpose for which a statement reads the rows of a relation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowUse {
    /// To read them.
    Read,
    /// To read them under FOR SHARE.
    Share(WaitPolicy),
    /// To change them, or to read them under FOR UPDATE.
    Change(WaitPolicy),
}

impl RowUse {
    /// The purpose of reads under a locking clause, or without one.
    pub(crate) fn under(lock: Option<RowLock>) -> Self {
        let Some(RowLock { exclusive, wait }) = lock else { return RowUse::Read };
        let policy = match wait {
            LockWait::Wait => WaitPolicy::Wait,
            LockWait::NoWait => WaitPolicy::NoWait,
            LockWait::SkipLocked => WaitPolicy::SkipLocked,
        };
        if exclusive { RowUse::Change(policy) } else { RowUse::Share(policy) }
    }
}

/// What few statements need. One pointer in [`Statement`], so that the others neither make nor drop it.
#[derive(Default)]
pub(crate) struct RareState {
    /// The first failure where none could be returned: reading a column, running a subquery.
    failure: RefCell<Option<ExecError>>,
    /// Charges for values in arenas, by the address of the arena.
    arenas: RefCell<Vec<(usize, Charge)>>,
    /// Of the connection's buffer, where rows are long.
    output: RefCell<Option<Charge>>,
    /// What subqueries that run again and again make once.
    pub(crate) answers: StatementMemo<Answer>,
    pub(crate) builds: StatementMemo<BuildSide>,
    /// Rows that runs of subqueries have read without a hash table that they could share; `None`: there is
    /// no memory for one.
    pub(crate) read_before_hash: StatementMemo<Cell<Option<u64>>>,
    pub(crate) kept: StatementMemo<KeptRows>,
    /// Patterns of LIKE that are known only at run time.
    pub(crate) patterns: PatternMemo,
    /// Columns by their addresses, and what was said of them that is said once.
    warned_once: RefCell<Vec<(usize, OnceWarned)>>,
}

/// Warnings that an INSERT has once for a column, of whichever row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnceWarned {
    /// 1048.
    Null,
    /// 1364.
    NoDefault,
}

/// A running statement.
pub(crate) struct Statement<'r> {
    pub(crate) engine: &'r Engine,
    pub(crate) view: ReadView,
    pub(crate) session: &'r dyn SessionInfo,
    pub(crate) zone: &'r TimeZone,
    /// Rows until the next check of the kill flag: [`Statement::step`].
    rows_to_look: Cell<u32>,
    /// The memory of the statement's operators.
    pub(crate) memory: &'r Rc<StatementAccount>,
    /// Rows and index entries of base tables that the connection's statements have read; this thread alone
    /// writes it.
    rows_examined: &'r AtomicU64,
    /// `None`: no rows are locked.
    locks: Option<&'r Locks>,
    /// Made by the first thing that it has a place for.
    rare: OnceCell<Box<RareState>>,
    today: OnceCell<Date>,
    /// Of a statement that changes rows.
    strict: Option<&'r StrictSession<'r>>,
}

impl<'r> Statement<'r> {
    pub(crate) fn new(
        engine: &'r Engine,
        view: ReadView,
        session: &'r dyn SessionInfo,
        memory: &'r Rc<StatementAccount>,
        rows_examined: &'r AtomicU64,
    ) -> Self {
        Statement {
            engine,
            view,
            session,
            zone: session.time_zone(),
            rows_to_look: Cell::new(ROWS_BETWEEN_LOOKS),
            memory,
            rows_examined,
            locks: None,
            rare: OnceCell::new(),
            today: OnceCell::new(),
            strict: None,
        }
    }

    /// A statement that changes rows and reads none but those.
    pub(crate) fn changing(
        engine: &'r Engine,
        session: &'r StrictSession<'r>,
        memory: &'r Rc<StatementAccount>,
        rows_examined: &'r AtomicU64,
    ) -> Self {
        let statement = Statement::new(engine, ReadView::newest(), session, memory, rows_examined);
        Statement { strict: Some(session), ..statement }
    }

    /// A statement that changes rows. It locks those that it finds to change, and those that it reads for it
    /// unless the isolation level lets others be inserted among them: then it reads what is committed.
    pub(crate) fn finding(
        engine: &'r Engine,
        session: &'r StrictSession<'r>,
        trx: &mut Trx,
        memory: &'r Rc<StatementAccount>,
        rows_examined: &'r AtomicU64,
        locks: &'r mut Option<Locks>,
    ) -> Result<Self> {
        Self::changing(engine, session, memory, rows_examined).finding_with(trx, false, locks)
    }

    /// As [`Statement::finding`]. Where no gaps are locked, it does not wait for a row of which nothing was
    /// committed that it searches for.
    pub(crate) fn finding_committed(
        engine: &'r Engine,
        session: &'r StrictSession<'r>,
        trx: &mut Trx,
        memory: &'r Rc<StatementAccount>,
        rows_examined: &'r AtomicU64,
        locks: &'r mut Option<Locks>,
    ) -> Result<Self> {
        let semi_consistent = !trx.locks_gaps();
        if semi_consistent {
            trx.keep_versions();
        }
        let changing = Self::changing(engine, session, memory, rows_examined);
        changing.finding_with(trx, semi_consistent, locks)
    }

    fn finding_with(
        mut self,
        trx: &mut Trx,
        semi_consistent: bool,
        locks: &'r mut Option<Locks>,
    ) -> Result<Self> {
        let locks = locks.insert(Locks::default());
        let mut changed = trx.lock_read(LockMode::Exclusive, WaitPolicy::Wait)?;
        changed.semi_consistent = semi_consistent;
        locks.add(RowUse::Change(WaitPolicy::Wait), changed);
        let shared = trx.lock_read(LockMode::Shared, WaitPolicy::Wait)?;
        if trx.locks_gaps() {
            locks.add(RowUse::Read, shared);
        } else {
            locks.add(RowUse::Share(WaitPolicy::Wait), shared);
            self.view = trx.view();
        }
        self.locks = Some(locks);
        Ok(self)
    }

    /// Makes `self`, which is new, a query that locks rows so.
    pub(crate) fn set_locks(&mut self, locks: &'r Locks) {
        self.locks = Some(locks);
    }

    /// How the rows of a relation are locked; `None`: they are not.
    #[inline]
    pub(crate) fn locks(&self, row_use: RowUse) -> Option<&'r LockRead> {
        self.locks?.get(row_use)
    }

    /// Remembers a failure; the operator at work finds it with [`Statement::check`].
    #[cold]
    pub(crate) fn fail(&self, error: ExecError) {
        self.rare().failure.borrow_mut().get_or_insert(error);
    }

    /// # Errors  A failure that was remembered.
    #[inline]
    pub(crate) fn check(&self) -> Result<()> {
        if let Some(strict) = self.strict {
            strict.check().map_err(ExecError::Lossy)?;
        }
        match self.rare.get() {
            Some(rare) if rare.failure.borrow().is_some() => self.take_failure().map_or(Ok(()), Err),
            _ => Ok(()),
        }
    }

    #[cold]
    fn take_failure(&self) -> Option<ExecError> {
        self.rare.get()?.failure.borrow_mut().take()
    }

    #[cold]
    pub(crate) fn rare(&self) -> &RareState {
        self.rare.get_or_init(Box::default)
    }

    /// Whether `what` is to be said of `column` for the first time.
    #[cold]
    pub(crate) fn is_first_warning(&self, column: &ColumnDef, what: OnceWarned) -> bool {
        let said = (std::ptr::from_ref(column) as usize, what);
        let mut all = self.rare().warned_once.borrow_mut();
        let is_first = !all.contains(&said);
        if is_first {
            all.push(said);
        }
        is_first
    }

    /// The error of an evaluation: a subplan's own if it was one.
    #[cold]
    pub(crate) fn eval_error(&self, error: EvalError) -> ExecError {
        match (error, self.take_failure()) {
            (EvalError::Subplan(_), Some(failure)) => failure,
            (error, _) => error.into(),
        }
    }

    /// # Errors  [`ExecError::Killed`]. Asked once a batch.
    #[inline]
    pub(crate) fn fail_if_killed(&self) -> Result<()> {
        if self.session.killed() { Err(ExecError::Killed) } else { Ok(()) }
    }

    /// Fails where `key` is so long that the end of a killed statement may have cut it short.
    /// # Errors  [`ExecError::Killed`].
    #[inline]
    pub(crate) fn fail_if_cut_short(&self, key: &[u8]) -> Result<()> {
        const LONG_BYTES: usize = 16 * 1024;
        if key.len() >= LONG_BYTES { self.fail_if_killed() } else { Ok(()) }
    }

    /// Counts a row that a loop without pages hands on: every so often it checks the kill flag.
    /// # Errors  [`ExecError::Killed`].
    #[inline]
    pub(crate) fn step(&self) -> Result<()> {
        let rows = self.rows_to_look.get();
        if rows > 0 {
            self.rows_to_look.set(rows - 1);
            return Ok(());
        }
        self.rows_to_look.set(ROWS_BETWEEN_LOOKS);
        self.fail_if_killed()
    }

    /// Counts `rows` rows or index entries that were read: once a leaf, a lookup or a scan.
    #[inline]
    pub(crate) fn count_examined(&self, rows: usize) {
        let counted = self.rows_examined.load(Ordering::Relaxed);
        self.rows_examined.store(counted.wrapping_add(rows as u64), Ordering::Relaxed);
    }

    /// Rows and index entries that the connection's statements have read.
    #[inline]
    pub(crate) fn examined(&self) -> u64 {
        self.rows_examined.load(Ordering::Relaxed)
    }

    /// Takes back the last `rows` rows of a batch that was counted: its sink has enough without them.
    #[cold]
    pub(crate) fn uncount_examined(&self, rows: usize) {
        let counted = self.rows_examined.load(Ordering::Relaxed);
        self.rows_examined.store(counted.wrapping_sub(rows as u64), Ordering::Relaxed);
    }

    /// A store for one row at a time.
    #[inline]
    pub(crate) fn row_store(&self) -> ByteStore {
        ByteStore::new(self.memory, Purpose::Other)
    }

    /// Charges for `bytes` bytes that `out` is about to take. The charge lasts until the next such value.
    #[cold]
    pub(crate) fn reserve_output(&self, out: &OutBuffer, bytes: usize) -> Result<()> {
        let mut output = self.rare().output.borrow_mut();
        let charge = output.get_or_insert_with(|| Charge::new(self.memory, Purpose::Other));
        // The buffer doubles, and moves while it does.
        let wanted = (out.pending().len() + bytes).saturating_mul(2);
        charge.remove(charge.bytes().saturating_sub(wanted));
        Ok(charge.add(wanted - charge.bytes())?)
    }

    /// Charges a value of `bytes` bytes that `arena` is about to hold. An arena that is reset keeps what it
    /// has, and so does its charge; an arena at the address of a former one takes its charge over.
    #[cold]
    pub(crate) fn reserve(&self, arena: &Bump, bytes: usize) -> std::result::Result<(), LimitExceeded> {
        let address = std::ptr::from_ref(arena).addr();
        let mut arenas = self.rare().arenas.borrow_mut();
        let at = arenas.iter().position(|(known, _)| *known == address).unwrap_or_else(|| {
            arenas.push((address, Charge::new(self.memory, Purpose::Other)));
            arenas.len() - 1
        });
        let charge = &arenas[at].1;
        let held = arena.allocated_bytes();
        // A function makes its value in a buffer that doubles, before the arena has it.
        let wanted = held.saturating_add(bytes.saturating_mul(3));
        if let Some(more) = wanted.checked_sub(charge.bytes()) {
            return charge.add(more);
        }
        charge.remove(charge.bytes() - wanted);
        Ok(())
    }

    /// An off-page value; a failure is remembered and gives `None`.
    pub(crate) fn fetch<'a>(&self, reference: &OverflowRef, arena: &'a Bump) -> Option<&'a [u8]> {
        if let Err(error) = self.reserve(arena, reference.len as usize) {
            self.fail(error.into());
            return None;
        }
        let mut bytes = Vec::new();
        match self.engine.read_value(reference, &mut bytes) {
            Ok(()) => Some(arena.alloc_slice_copy(&bytes)),
            Err(error) => {
                self.fail(error.into());
                None
            }
        }
    }

    /// The date of the statement in the session's zone.
    pub(crate) fn today(&self) -> Date {
        *self.today.get_or_init(|| {
            let seconds = self.session.statement_time_micros().div_euclid(1_000_000);
            self.zone.to_local(seconds, 0).date()
        })
    }

    /// How values are assigned to columns; without the date, which takes a read of the clock: see
    /// [`Statement::store_context_for`].
    #[inline]
    pub(crate) fn store_context(&self) -> StoreContext<'r> {
        StoreContext::new(self.session.modes(), self.zone, Date::ZERO)
    }

    /// `context` with the statement's date if assigning `value` needs it.
    #[inline]
    pub(crate) fn store_context_for(&self, context: StoreContext<'r>, value: &Value<'_>) -> StoreContext<'r> {
        if matches!(value, Value::Time(..)) {
            StoreContext { today: self.today(), ..context }
        } else {
            context
        }
    }
}
