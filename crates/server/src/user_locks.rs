//! Locks that clients name themselves: GET_LOCK and related functions.
//!
//! A lock that is given back goes to the session that has waited for it longest, which is woken for that;
//! sessions do not poll. A session waits for one lock at a time, so that a deadlock is found by following
//! owners.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use expr::{EvalError, UserLock};
use parking_lot::Mutex;
use types::Value;

use crate::process_list::{Process, Waited};

/// All user-level locks.
#[derive(Debug, Default)]
pub struct UserLocks(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// By name in lower case.
    held: HashMap<String, Lock>,
    /// The lock that each waiting session waits for.
    waiting: HashMap<u32, String>,
}

/// A lock that a session has.
#[derive(Debug)]
struct Lock {
    owner: u32,
    /// How often the owner has taken it.
    times: u64,
    /// The waiters, in order of arrival.
    queue: VecDeque<Arc<Process>>,
}

impl State {
    /// Takes the lock if it is free or the session's own.
    fn try_get(&mut self, me: u32, name: &str) -> bool {
        match self.held.get_mut(name) {
            None => {
                self.held.insert(name.to_owned(), Lock { owner: me, times: 1, queue: VecDeque::new() });
                true
            }
            Some(lock) if lock.owner == me => {
                lock.times += 1;
                true
            }
            Some(_) => false,
        }
    }

    /// Whether the owner of `name` waits, directly or through others, for `session`.
    fn closes_cycle(&self, session: u32, name: &str) -> bool {
        let mut name = name;
        for _ in 0..=self.waiting.len() {
            let Some(lock) = self.held.get(name) else { return false };
            if lock.owner == session {
                return true;
            }
            let Some(next) = self.waiting.get(&lock.owner) else { return false };
            name = next;
        }
        false
    }

    /// The lock has no owner any more: it goes to the first who waits.
    fn pass_on(&mut self, name: &str) {
        let Some(lock) = self.held.get_mut(name) else { return };
        match lock.queue.pop_front() {
            Some(next) => {
                (lock.owner, lock.times) = (next.id(), 1);
                self.waiting.remove(&next.id());
                next.wake();
            }
            None => drop(self.held.remove(name)),
        }
    }

    /// The session gives up its wait for `name`.
    fn leave_queue(&mut self, me: u32, name: &str) {
        self.waiting.remove(&me);
        if let Some(lock) = self.held.get_mut(name) {
            lock.queue.retain(|process| process.id() != me);
        }
    }
}

impl UserLocks {
    /// Does what a function of `process` asks for.
    ///
    /// # Errors
    /// A deadlock, and KILL while it waits.
    pub fn answer(&self, process: &Arc<Process>, request: UserLock<'_>) -> Result<Value<'static>, EvalError> {
        let me = process.id();
        let owner = |name: &str| self.0.lock().held.get(name).map(|lock| lock.owner);
        Ok(match request {
            UserLock::Get { name, timeout } => Value::Int(i64::from(self.get(process, name, timeout)?)),
            UserLock::Release(name) => {
                self.release(me, name).map_or(Value::Null, |ok| Value::Int(i64::from(ok)))
            }
            UserLock::ReleaseAll => Value::UInt(self.release_all(me)),
            UserLock::IsFree(name) => Value::Int(i64::from(owner(name).is_none())),
            UserLock::Owner(name) => owner(name).map_or(Value::Null, |id| Value::UInt(u64::from(id))),
        })
    }

    /// Takes `name`; false if `timeout` passed first.
    fn get(&self, process: &Arc<Process>, name: &str, timeout: Option<Duration>) -> Result<bool, EvalError> {
        let me = process.id();
        let mut state = self.0.lock();
        if state.try_get(me, name) {
            return Ok(true);
        }
        if timeout.is_some_and(|timeout| timeout.is_zero()) {
            return Ok(false);
        }
        if state.closes_cycle(me, name) {
            return Err(EvalError::UserLockDeadlock);
        }
        state.waiting.insert(me, name.to_owned());
        if let Some(lock) = state.held.get_mut(name) {
            lock.queue.push_back(Arc::clone(process));
        }
        drop(state);
        // A timeout beyond the clock's end never expires.
        let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        let waited =
            process.wait_until(deadline, || (!self.0.lock().waiting.contains_key(&me)).then_some(()));
        let mut state = self.0.lock();
        // A session that was granted the lock in the last moment keeps it.
        let has_it = !state.waiting.contains_key(&me);
        match waited {
            _ if !has_it => state.leave_queue(me, name),
            Waited::Killed => state.pass_on(name),
            Waited::For(()) | Waited::InVain => {}
        }
        if waited == Waited::Killed { Err(EvalError::Killed) } else { Ok(has_it) }
    }

    /// Gives back one taking of `name`: false if another session has it, `None` if it is free.
    fn release(&self, me: u32, name: &str) -> Option<bool> {
        let mut state = self.0.lock();
        let lock = state.held.get_mut(name)?;
        if lock.owner != me {
            return Some(false);
        }
        lock.times -= 1;
        if lock.times == 0 {
            state.pass_on(name);
        }
        Some(true)
    }

    /// Releases all locks of session `me`, and returns how often it had taken them.
    pub fn release_all(&self, me: u32) -> u64 {
        let mut state = self.0.lock();
        let own = state.held.iter().filter(|(_, lock)| lock.owner == me);
        let own: Vec<(String, u64)> = own.map(|(name, lock)| (name.clone(), lock.times)).collect();
        for (name, _) in &own {
            state.pass_on(name);
        }
        own.iter().map(|(_, times)| times).sum()
    }
}
