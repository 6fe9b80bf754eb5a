//! LOCK TABLES: tables kept for one session beyond its transactions.

use std::sync::Arc;
use std::time::{Duration, Instant};

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
    /// The session has it for itself; else nobody changes its rows.
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
        let lock = &self.table.state.lock;
        if self.write { lock.disown() } else { lock.unlock_read_only() }
    }
}

impl Engine {
    /// Locks all tables of `requests`, which names none twice, for the session that `wait` names; it has committed. Nobody waits
    /// while holding one of them, so that those who use several of the tables never wait for this in a circle.
    ///
    /// # Errors
    /// [`crate::Error::Name`] for tables that are not there, [`trx::Error::LockWaitTimeout`], [`trx::Error::Interrupted`]; nothing is locked then.
    pub fn lock_tables(&self, requests: &[TableRequest], wait: &ExclusiveWait) -> Result<Vec<TableLock>> {
        self.ensure_open()?;
        let deadline = env::deadline_in(wait.timeout.min(FOREVER));
        let mut first = None;
        loop {
            let mut locks = Vec::with_capacity(requests.len());
            let mut busy = None;
            if let Some(at) = first {
                locks.push(self.lock_one(&requests[at], wait, Some(deadline))?);
            }
            for (at, request) in requests.iter().enumerate().filter(|(at, _)| first != Some(*at)) {
                match self.lock_one(request, wait, None) {
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

    /// Locks a table, at once or waiting until `deadline`.
    fn lock_one(
        &self,
        request: &TableRequest,
        wait: &ExclusiveWait,
        deadline: Option<Instant>,
    ) -> Result<TableLock> {
        loop {
            let table = self.table(&request.schema, &request.name)?;
            let timeout =
                deadline.map_or(Duration::ZERO, |deadline| deadline - env::deadline_in(Duration::ZERO));
            let (lock, wait) = (&table.state.lock, ExclusiveWait { timeout, ..wait.clone() });
            let taken = if request.write { lock.own(&wait) } else { lock.lock_read_only(&wait) };
            taken?;
            let locked = TableLock { table, write: request.write };
            if locked.table.is_current() {
                return Ok(locked);
            }
        }
    }
}

/// Longer than anybody waits; a sum of it with a time is one.
const FOREVER: Duration = Duration::from_hours(24 * 365 * 10);
