//! A transaction, and the session's end of the transaction system.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use base::sync::plain::MutexGuard;
use base::{Lsn, TrxId, UndoPtr};

use crate::client::Client;
use crate::client::TableWaiter;
use crate::commit_point::CommitPoint;
use crate::commit_table::TrxOutcome;
use crate::error::Error;
use crate::held_locks::HeldLocks;
use crate::isolation::Isolation;
use crate::lock::{LockMode, LockRead, Locker, WaitPolicy};
use crate::metadata_lock::{MetadataLock, TableUse};
use crate::read_view::ReadView;
use crate::savepoint::Savepoints;
use crate::slot::TrxSlot;
use crate::system::TrxSystem;
use crate::undo::UndoLog;

/// How a transaction starts.
#[derive(Clone, Copy, Debug)]
pub struct BeginOptions {
    /// Isolation level.
    pub isolation: Isolation,
    /// READ ONLY: writes are refused.
    pub read_only: bool,
    /// innodb_lock_wait_timeout.
    pub lock_wait: Duration,
    /// lock_wait_timeout, for metadata locks.
    pub metadata_wait: Duration,
    /// innodb_snapshot_isolation: under REPEATABLE READ and SERIALIZABLE, what the view does not see is
    /// neither locked nor changed.
    pub snapshot_isolation: bool,
}

impl Default for BeginOptions {
    fn default() -> Self {
        BeginOptions {
            isolation: Isolation::RepeatableRead,
            read_only: false,
            lock_wait: Duration::from_secs(50),
            metadata_wait: Duration::from_hours(365 * 24),
            snapshot_isolation: false,
        }
    }
}

/// Rolls a dropped transaction back; the engine implements it.
pub trait RollbackOnDrop: Send + Sync {
    /// Rolls back `trx`, which its session dropped while it was open.
    fn roll_back_dropped(&self, trx: &mut Trx);
}

/// A stretch of a buffer that holds one column's value, and what it stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// Bytes.
    pub len: u32,
    /// NULL: the stretch is empty.
    pub null: bool,
    /// The bytes are a reference to an off-page value.
    pub off_page: bool,
}

/// Buffers of row operations, kept with the session so that no statement allocates. Their contents mean
/// nothing between calls.
#[derive(Debug, Default)]
pub struct Buffers {
    /// A clustered key.
    pub key: Vec<u8>,
    /// Another key: a secondary one, or the new one of an update.
    pub other_key: Vec<u8>,
    /// A secondary key that is compared with `other_key`.
    pub third_key: Vec<u8>,
    /// A payload.
    pub payload: Vec<u8>,
    /// A secondary payload, or the old one of an update.
    pub other_payload: Vec<u8>,
    /// A whole row's column values, one after the other.
    pub values: Vec<u8>,
    /// Where each column's value is in `values`.
    pub spans: Vec<Span>,
}

/// The parts of a transaction that a change of a row needs.
#[derive(Debug)]
pub struct WriteParts<'t> {
    /// The undo log, held while pages are changed.
    pub log: MutexGuard<'t, UndoLog>,
    /// For keys and rows.
    pub buffers: &'t mut Buffers,
    /// What others see of the transaction.
    pub slot: &'t TrxSlot,
    /// The transaction that locks.
    pub locker: Locker<'t>,
    /// The view that has been taken already.
    pub view: Option<&'t ReadView>,
    /// Locks of the transaction keep rows from being inserted into what it has read.
    pub locks_gaps: bool,
    /// What `view` does not see is not changed.
    pub snapshot_isolation: bool,
    /// Where the transaction commits; the change moves it on if it logs the commit.
    pub commit_point: CommitPoint,
}

/// A session's transaction. The object is used again by the session's next transaction; between two it holds
/// nothing. Dropping it while a transaction is open rolls back.
pub struct Trx {
    system: Arc<TrxSystem>,
    owner: Arc<dyn RollbackOnDrop>,
    slot: Arc<TrxSlot>,
    options: BeginOptions,
    /// Cached from the undo log.
    id: Option<TrxId>,
    view: Option<ReadView>,
    /// See [`ReadView::is_mixed`].
    mixed: bool,
    open: bool,
    commit_point: CommitPoint,
    savepoints: Savepoints,
    metadata: HeldLocks,
    interrupt: Option<Arc<AtomicBool>>,
    /// See [`Trx::set_session`].
    session: u64,
    has_table_locks: bool,
    /// Lent to row operations.
    pub buffers: Buffers,
}

impl fmt::Debug for Trx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Trx").field("id", &self.id).field("view", &self.view).finish_non_exhaustive()
    }
}

impl Trx {
    /// An open transaction of `system`, which `owner` rolls back if it is dropped open.
    pub fn begin(system: &Arc<TrxSystem>, owner: Arc<dyn RollbackOnDrop>, options: BeginOptions) -> Self {
        Trx {
            owner,
            slot: system.slots.register(system.undo()),
            system: Arc::clone(system),
            options,
            id: None,
            view: None,
            mixed: false,
            open: true,
            commit_point: CommitPoint::Own,
            savepoints: Savepoints::default(),
            metadata: HeldLocks::default(),
            interrupt: None,
            session: 0,
            has_table_locks: false,
            buffers: Buffers::default(),
        }
    }

    /// Opens the next transaction on an ended one. No allocation.
    pub fn restart(&mut self, options: BeginOptions) {
        debug_assert!(!self.open, "restart of an open transaction");
        self.options = options;
        self.open = true;
    }

    /// The flag another thread sets to end this session's lock waits; see [`TrxSystem::wake_waiters`].
    pub fn set_interrupt(&mut self, flag: Arc<AtomicBool>) {
        self.interrupt = Some(flag);
    }

    /// Says whose transactions these are, for reports.
    pub fn set_client(&mut self, client: Weak<dyn Client>) {
        self.slot.set_client(client);
    }

    /// The id, once the transaction has written or locked.
    #[inline]
    pub fn id(&self) -> Option<TrxId> {
        self.id
    }

    /// Whether the transaction has neither committed nor rolled back.
    pub fn is_open(&self) -> bool {
        self.open
    }

    /// Whether the transaction has used a table, read or written since it began.
    #[inline]
    pub fn is_active(&self) -> bool {
        self.id.is_some() || self.view.is_some() || !self.metadata.is_empty()
    }

    /// Isolation level.
    pub fn isolation(&self) -> Isolation {
        self.options.isolation
    }

    /// READ ONLY.
    pub fn read_only(&self) -> bool {
        self.options.read_only
    }

    /// Changes how long the open transaction waits for locks of rows and of metadata from here on.
    pub fn set_lock_waits(&mut self, lock_wait: Duration, metadata_wait: Duration) {
        self.options.lock_wait = lock_wait;
        self.options.metadata_wait = metadata_wait;
    }

    /// How it started.
    pub fn options(&self) -> &BeginOptions {
        &self.options
    }

    /// The view of consistent reads: the transaction's under REPEATABLE READ and SERIALIZABLE (taken by the
    /// first read), the statement's under READ COMMITTED, the newest versions under READ UNCOMMITTED. Cost:
    /// see [`TrxSlot`]; two loads when the view is there.
    #[inline]
    pub fn view(&mut self) -> ReadView {
        let own = self.id;
        match self.view {
            Some(view) => view.with(own, self.mixed),
            None if self.options.isolation == Isolation::ReadUncommitted => ReadView::newest(),
            None => {
                let view = self.system.view(&self.slot, own);
                self.view = Some(view);
                view
            }
        }
    }

    /// Notes a change over a version that the view does not see: [`ReadView::is_mixed`] from here on.
    pub fn note_mixed(&mut self) {
        self.mixed = true;
    }

    /// Keeps what is committed from here on from being purged, to the end of the statement at least. Under
    /// READ UNCOMMITTED nothing else does, and the view stays what it is.
    pub fn keep_versions(&mut self) {
        if self.view.is_none() {
            let view = self.system.view(&self.slot, self.id);
            let sees_all = self.options.isolation == Isolation::ReadUncommitted;
            self.view = Some(if sees_all { ReadView::newest() } else { view });
        }
    }

    /// Ends a statement: below REPEATABLE READ its view goes. Cursors of the statement are closed by then.
    #[inline]
    pub fn end_statement(&mut self) {
        if !self.locks_gaps() {
            self.end_view();
        }
    }

    fn end_view(&mut self) {
        if self.view.take().is_some() {
            self.slot.clear_view();
            self.mixed = false;
        }
    }

    /// The id of a transaction that changes or locks rows.
    /// # Errors  [`Error::ShuttingDown`].
    #[inline]
    pub fn begin_locking(&mut self) -> Result<TrxId, Error> {
        if let Some(id) = self.id {
            return Ok(id);
        }
        let id = self.system.begin(&self.slot)?;
        self.id = Some(id);
        Ok(id)
    }

    /// The id for a change.
    /// # Errors  [`Error::ReadOnlyTransaction`], [`Error::ShuttingDown`].
    #[inline]
    pub fn begin_write(&mut self) -> Result<TrxId, Error> {
        if self.options.read_only { Err(Error::ReadOnlyTransaction) } else { self.begin_locking() }
    }

    /// Whether locks of this transaction keep rows from being inserted into what it has read.
    #[inline]
    pub fn locks_gaps(&self) -> bool {
        matches!(self.options.isolation, Isolation::RepeatableRead | Isolation::Serializable)
    }

    /// Whether what the transaction's view does not see is neither locked nor changed.
    #[inline]
    pub fn is_snapshot(&self) -> bool {
        self.options.snapshot_isolation && self.locks_gaps()
    }

    /// Locking reads of the transaction, in READ ONLY ones too. Cost: counts three references.
    /// # Errors  [`Error::ShuttingDown`].
    pub fn lock_read(&mut self, mode: LockMode, policy: WaitPolicy) -> Result<LockRead, Error> {
        let id = self.begin_locking()?;
        Ok(LockRead {
            system: Arc::clone(&self.system),
            slot: Arc::clone(&self.slot),
            id,
            timeout: self.options.lock_wait,
            interrupt: self.interrupt.clone(),
            mode,
            policy,
            gaps: self.locks_gaps(),
            semi_consistent: false,
            snapshot: self.view.filter(|_| self.is_snapshot()).map(|view| view.with(self.id, false)),
            changes: self.slot.changes(),
        })
    }

    /// The undo log, for a row change or a rollback; held while pages are changed.
    /// # Errors  [`Error::ShuttingDown`] when the engine has rolled the transaction back.
    #[inline]
    pub fn undo(&self) -> Result<MutexGuard<'_, UndoLog>, Error> {
        let log = self.slot.undo.lock();
        if log.is_abandoned() { Err(Error::ShuttingDown) } else { Ok(log) }
    }

    /// The next change of a row is the transaction's last one: it may be committed in one frame with it. It
    /// is over then except for [`Trx::end`], and nothing may come in between that can fail.
    #[inline]
    pub fn commit_with_change(&mut self) {
        self.commit_point = CommitPoint::LastChange;
    }

    /// The last change has committed the transaction by [`Locker::end_committed`] with a frame that ends at
    /// `end`. Its locks are free. No latch is held.
    #[inline]
    pub fn note_committed(&mut self, end: Lsn) {
        if let Some(id) = self.id.take() {
            self.system.locks.release(id);
        }
        self.commit_point = CommitPoint::Logged(end);
    }

    /// End of the commit that the last change has logged, if it did.
    #[inline]
    pub fn committed(&self) -> Option<Lsn> {
        self.commit_point.logged()
    }

    /// The state that a change of the transaction `id` needs, in one call.
    #[inline]
    pub fn write_parts(&mut self, id: TrxId) -> Result<WriteParts<'_>, Error> {
        let locker = Locker {
            system: &self.system,
            slot: &self.slot,
            id,
            timeout: self.options.lock_wait,
            interrupt: self.interrupt.as_deref(),
        };
        let log = self.slot.undo.lock();
        if log.is_abandoned() {
            return Err(Error::ShuttingDown);
        }
        let (locks_gaps, snapshot_isolation) = (self.locks_gaps(), self.is_snapshot());
        let commit_point = self.commit_point;
        let (buffers, slot, view) = (&mut self.buffers, &*self.slot, self.view.as_ref());
        Ok(WriteParts { log, buffers, slot, locker, view, locks_gaps, snapshot_isolation, commit_point })
    }

    /// Where the transaction stands: undoing back to it undoes what comes after. A statement's mark.
    #[inline]
    pub fn mark(&self) -> UndoPtr {
        if self.id.is_some() { self.slot.undo.lock().mark() } else { UndoPtr::NONE }
    }

    /// SAVEPOINT.
    pub fn set_savepoint(&mut self, name: &str) {
        let mark = self.mark();
        self.savepoints.set(name, mark);
    }

    /// The mark of a savepoint, later ones forgotten; the engine undoes back to it.
    pub fn return_to_savepoint(&mut self, name: &str) -> Result<UndoPtr, Error> {
        self.savepoints.return_to(name)
    }

    /// RELEASE SAVEPOINT.
    pub fn release_savepoint(&mut self, name: &str) -> Result<(), Error> {
        self.savepoints.release(name)
    }

    /// Takes a shared metadata lock to the end of the transaction. One that is held already costs a short
    /// search. True: it was not held before.
    #[inline(always)]
    pub fn lock_metadata(&mut self, lock: &Arc<MetadataLock>, use_: TableUse) -> Result<bool, Error> {
        if let Some(held) = self.metadata.use_of(lock) {
            if *held != use_ && use_ == TableUse::Write {
                *held = use_;
                return self.upgrade_metadata(lock).map(|()| false);
            }
            return Ok(false);
        }
        let may_pass = !self.metadata.is_empty() || self.id.is_some();
        if !lock.try_shared(use_, may_pass) && !self.wait_for_metadata(lock, use_, may_pass)? {
            return Ok(false);
        }
        self.metadata.adopt(lock, use_);
        Ok(true)
    }

    /// Makes a lock for reading one for writing, which it is noted as already.
    #[cold]
    #[inline(never)]
    fn upgrade_metadata(&mut self, lock: &Arc<MetadataLock>) -> Result<(), Error> {
        let noted = self.system.metadata_waits.note(lock, &self.metadata);
        let _waiter = TableWaiter::new(self.slot.client());
        let look = || self.ensure_is_to_wait().and_then(|()| noted.ensure_no_cycle());
        let upgraded = lock.upgrade(self.options.metadata_wait, &look);
        drop(noted);
        if upgraded.is_err()
            && let Some(held) = self.metadata.use_of(lock)
        {
            *held = TableUse::Read;
        }
        upgraded
    }

    /// Waits for a metadata lock. False: the session has it by LOCK TABLES.
    #[cold]
    #[inline(never)]
    fn wait_for_metadata(
        &self,
        lock: &Arc<MetadataLock>,
        use_: TableUse,
        may_pass: bool,
    ) -> Result<bool, Error> {
        if lock.is_owned_by(self.session) {
            return Ok(false);
        }
        // A session with locked tables uses no others, so no other may wait for its use.
        let may_pass = may_pass || self.has_table_locks;
        let noted = self.system.metadata_waits.note(lock, &self.metadata);
        let _waiter = TableWaiter::new(self.slot.client());
        let look = || self.ensure_is_to_wait().and_then(|()| noted.ensure_no_cycle());
        lock.lock_shared_unless(use_, may_pass, self.options.metadata_wait, &look)?;
        Ok(true)
    }

    /// # Errors
    /// [`Error::Interrupted`]: the session was asked to stop, or has lost its client.
    fn ensure_is_to_wait(&self) -> Result<(), Error> {
        let is_asked_to_stop = self.interrupt.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed));
        if is_asked_to_stop || self.slot.client_is_gone() { Err(Error::Interrupted) } else { Ok(()) }
    }

    /// The session, by a number other than 0, and whether it has tables locked by LOCK TABLES.
    pub fn set_session(&mut self, session: u64, has_table_locks: bool) {
        (self.session, self.has_table_locks) = (session, has_table_locks);
    }

    /// Gives the newest metadata lock back: its table turned out to be gone.
    pub fn unlock_newest_metadata(&mut self) {
        self.metadata.release_newest();
    }

    /// Ends the transaction: commit as it is, or after the engine has undone everything. Gives back
    /// locks, view, metadata locks.
    /// # Errors  [`Error::ShuttingDown`] when the engine had rolled it back; it is ended all the same.
    pub fn end(&mut self, ending: TrxOutcome) -> Result<(), Error> {
        self.end_with(|_| ending).map(drop)
    }

    /// As [`Trx::end`] of a transaction whose end `finish` logs.
    #[inline]
    pub fn end_with(&mut self, finish: impl FnOnce(&mut UndoLog) -> TrxOutcome) -> Result<TrxOutcome, Error> {
        let ended =
            self.id.take().map_or(Ok(TrxOutcome::Nothing), |id| self.system.end(&self.slot, id, finish));
        self.end_view();
        self.savepoints.clear();
        self.metadata.release_all();
        self.open = false;
        self.commit_point = CommitPoint::Own;
        ended
    }
}

impl Drop for Trx {
    fn drop(&mut self) {
        if self.open {
            let owner = Arc::clone(&self.owner);
            owner.roll_back_dropped(self);
        }
    }
}

#[cfg(test)]
mod tests;
