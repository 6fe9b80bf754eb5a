//! LOCK TABLES: tables kept for one session beyond its transactions.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use trx::ExclusiveWait;

use crate::engine::Engine;
use crate::error::Result;
use crate::table::Table;

/// A table that is to be locked.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TableRequest {
    /// Schema.
    pub schema: String,
    /// Table.
    pub name: String,
    /// The session has it for itself; else no thread changes its rows.
    pub write: bool,
}

/// A locked table; free again when dropped.
#[derive(Debug)]
pub struct TableLock {
    table: Arc<Table>,
    write: bool,
}

impl Drop for TableLock {
    fn drop(&mut self) {
        self.table.state.session_locks.fetch_sub(1, Ordering::Relaxed);
        let lock = &self.table.state.lock;
        if self.write { lock.disown() } else { lock.unlock_read_only() }
    }
}

impl Table {
    /// How many sessions have it locked by LOCK TABLES.
    pub fn session_locks(&self) -> u32 {
        self.state.session_locks.load(Ordering::Relaxed)
    }
}

impl Engine {
    /// Locks all tables of `requests`, which names none twice, for the session that `wait` names; it has
    /// committed. No thread waits while it holds one of them, so that threads that use several of the tables
    /// cannot deadlock.
    ///
    /// # Errors
    /// [`crate::Error::Name`] for tables that are not there, [`trx::Error::LockWaitTimeout`],
    /// [`trx::Error::Interrupted`]; nothing is locked then.
    pub fn lock_tables(&self, requests: &[TableRequest], wait: &ExclusiveWait) -> Result<Vec<TableLock>> {
        self.ensure_open()?;
        lock_all(requests.len(), wait, |at, wait| self.lock_one(&requests[at], wait))
    }

    fn lock_one(&self, request: &TableRequest, wait: &ExclusiveWait) -> Result<TableLock> {
        loop {
            let table = self.table(&request.schema, &request.name)?;
            let lock = &table.state.lock;
            let taken = if request.write { lock.own(wait) } else { lock.lock_read_only(wait) };
            taken?;
            table.state.session_locks.fetch_add(1, Ordering::Relaxed);
            let locked = TableLock { table, write: request.write };
            if locked.table.is_current() {
                return Ok(locked);
            }
        }
    }
}

/// Takes `count` locks, all or none, by `lock`, which waits or not. The thread never waits while it holds one
/// of them: when one is not free, it releases the others and takes that one first the next time. So no cycle
/// of waits includes these locks.
///
/// # Errors
/// Those of `lock`; [`trx::Error::LockWaitTimeout`] when `wait` is over.
pub(crate) fn lock_all<L>(
    count: usize,
    wait: &ExclusiveWait,
    mut lock: impl FnMut(usize, &ExclusiveWait) -> Result<L>,
) -> Result<Vec<L>> {
    let deadline = env::deadline_in(wait.timeout.min(FOREVER));
    let at_once = ExclusiveWait { timeout: Duration::ZERO, ..wait.clone() };
    let mut first = None;
    loop {
        let mut locks = Vec::with_capacity(count);
        if let Some(at) = first {
            let timeout = deadline - env::deadline_in(Duration::ZERO);
            locks.push(lock(at, &ExclusiveWait { timeout, ..wait.clone() })?);
        }
        let mut busy = None;
        for at in (0..count).filter(|at| first != Some(*at)) {
            match lock(at, &at_once) {
                Ok(lock) => locks.push(lock),
                Err(crate::Error::Lock(trx::Error::LockWaitTimeout)) => {
                    busy = Some(at);
                    break;
                }
                Err(error) => return Err(error),
            }
        }
        if busy.is_none() {
            return Ok(locks);
        }
        first = busy;
    }
}

/// Longer than any wait; adding it to a time does not overflow.
pub(crate) const FOREVER: Duration = Duration::from_hours(24 * 365 * 10);
