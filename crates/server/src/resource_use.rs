//! What accounts with resource limits have used: connections, and by the hour logins and statements.
//!
//! As in MySQL, the counts belong to an account's name: they are in memory, begin with the first login under
//! a limit and start again an hour after they last did. ALTER USER .. WITH, FLUSH USER_RESOURCES and FLUSH
//! PRIVILEGES set those of the hour to 0. A session is counted if there is a limit when it logs in, and
//! follows changes of the limits then; other sessions of the account are not.
//!
//! Statements of a COM_QUERY that can be parsed count as queries, also those that fail. Statements prepared
//! by the protocol are not. Where statements have a limit, plans are searched for when a statement is parsed
//! (`run`). Other sessions that are counted look before, but find no plan by the text alone: a limit may
//! come. Sessions that are not counted pay nothing for this.
//!
//! An account that is dropped or renamed takes its counts with it, and a new one of its name begins with
//! none. Sessions of the old one that are open keep the old counts to themselves.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::account::{Account, Accounts};
use crate::error_map::{self, SqlError};
use crate::resource_limits::ResourceLimits;

/// How long counts last.
const WINDOW: Duration = Duration::from_secs(60 * 60);

/// User and host of an account.
type Name = (String, String);

/// The counts of all accounts that have some.
#[derive(Debug, Default)]
pub(crate) struct ResourceUse {
    accounts: Mutex<HashMap<Name, Arc<Usage>>>,
}

/// The counts of one account.
#[derive(Debug)]
struct Usage {
    name: Name,
    /// Whether statements are counted: read without the lock.
    counts_statements: AtomicBool,
    counts: Mutex<Counts>,
}

#[derive(Debug)]
struct Counts {
    limits: ResourceLimits,
    /// Sessions that are open.
    sessions: u32,
    /// When the hour began.
    since: Instant,
    queries: u32,
    updates: u32,
    logins: u32,
}

/// A session that is counted, until it is dropped.
#[derive(Debug)]
pub(crate) struct CountedSession {
    resource_use: Arc<ResourceUse>,
    usage: Arc<Usage>,
}

impl ResourceUse {
    /// Forgets what the accounts have done in their hours, and takes over their limits.
    pub(crate) fn renew_all(&self, accounts: &Accounts) {
        self.accounts.lock().retain(|(user, host), usage| {
            usage.renew(accounts.find(user, host).map(|account| account.limits));
            usage.can_matter()
        });
    }

    /// Forgets what the accounts have done in their hours.
    pub(crate) fn reset_all(&self) {
        self.accounts.lock().values().for_each(|usage| usage.renew(None));
    }

    /// As [`ResourceUse::renew_all`], of one account, after its limits have changed.
    pub(crate) fn renew(&self, accounts: &Accounts, user: &str, host: &str) {
        let name = (user.to_owned(), host.to_owned());
        let mut known = self.accounts.lock();
        let Some(usage) = known.get(&name) else { return };
        usage.renew(accounts.find(user, host).map(|account| account.limits));
        if !usage.can_matter() {
            known.remove(&name);
        }
    }

    /// Forgets an account that is dropped.
    pub(crate) fn forget(&self, user: &str, host: &str) {
        self.accounts.lock().remove(&(user.to_owned(), host.to_owned()));
    }

    /// The counts of an account, with one more session. Those of an account that was dropped meanwhile are
    /// the session's alone.
    fn open(&self, accounts: &Accounts, account: &Account) -> Arc<Usage> {
        let name = (account.user.clone(), account.host.clone());
        let mut known = self.accounts.lock();
        let usage = known.get(&name).cloned().unwrap_or_else(|| {
            // The limits may have changed since the login began; later changes find the entry.
            let found = accounts.find(&name.0, &name.1);
            let limits = found.as_ref().map_or(account.limits, |account| account.limits);
            let usage = Arc::new(Usage::new(name.clone(), limits));
            if found.is_some() {
                known.insert(name, Arc::clone(&usage));
            }
            usage
        });
        usage.counts.lock().sessions += 1;
        usage
    }
}

impl Usage {
    fn new(name: Name, limits: ResourceLimits) -> Self {
        let counts_statements = AtomicBool::new(limits.counts_statements());
        Usage { name, counts_statements, counts: Mutex::new(Counts::new(limits, Instant::now())) }
    }

    fn renew(&self, limits: Option<ResourceLimits>) {
        let mut counts = self.counts.lock();
        counts.limits = limits.unwrap_or(counts.limits);
        (counts.queries, counts.updates, counts.logins) = (0, 0, 0);
        self.counts_statements.store(counts.limits.counts_statements(), Ordering::Relaxed);
    }

    /// Whether a session is open, or the hour continues.
    fn can_matter(&self) -> bool {
        let counts = self.counts.lock();
        counts.sessions > 0 || counts.limits.counts_statements() || counts.limits.connections != 0
    }
}

impl CountedSession {
    /// Counts a login; `None` where nothing is limited. `of_all`: `max_user_connections`.
    ///
    /// # Errors
    /// 1203 and 1226.
    pub(crate) fn enter(
        resource_use: &Arc<ResourceUse>,
        accounts: &Accounts,
        account: &Account,
        of_all: u64,
    ) -> Result<Option<Self>, SqlError> {
        if !account.limits.is_set() && of_all == 0 {
            return Ok(None);
        }
        let usage = resource_use.open(accounts, account);
        let counted = CountedSession { resource_use: Arc::clone(resource_use), usage };
        let checked = counted.usage.counts.lock().count_login(of_all, Instant::now());
        checked.map_err(|reached| reached.error(&account.user))?;
        Ok(Some(counted))
    }

    /// MAX_USER_CONNECTIONS of the account; 0: no limit of its own.
    pub(crate) fn user_connections_max(&self) -> u32 {
        self.usage.counts.lock().limits.user_connections
    }

    /// Whether statements are counted at present.
    pub(crate) fn counts_statements(&self) -> bool {
        self.usage.counts_statements.load(Ordering::Relaxed)
    }

    /// Counts a statement, before it runs. `changes_data`: whether it is an update, too.
    ///
    /// # Errors
    /// 1226: it may not run.
    pub(crate) fn count(&self, changes_data: impl FnOnce() -> bool) -> Result<(), SqlError> {
        if !self.counts_statements() {
            return Ok(());
        }
        let is_update = changes_data();
        let checked = self.usage.counts.lock().count_statement(is_update, Instant::now());
        checked.map_err(|reached| reached.error(&self.usage.name.0))
    }
}

impl Drop for CountedSession {
    fn drop(&mut self) {
        let mut known = self.resource_use.accounts.lock();
        self.usage.counts.lock().sessions -= 1;
        let is_known = known.get(&self.usage.name).is_some_and(|usage| Arc::ptr_eq(usage, &self.usage));
        if is_known && !self.usage.can_matter() {
            known.remove(&self.usage.name);
        }
    }
}

/// A limit that has been reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LimitReached {
    /// `max_user_connections` of all accounts.
    OfAll,
    /// The account's own, by its name in errors.
    Own(&'static str, u32),
}

impl LimitReached {
    #[cold]
    fn error(self, user: &str) -> SqlError {
        match self {
            LimitReached::OfAll => error_map::TOO_MANY_USER_CONNECTIONS.with(&[&user]),
            LimitReached::Own(name, limit) => error_map::USER_LIMIT_REACHED.with(&[&user, &name, &limit]),
        }
    }
}

impl Counts {
    fn new(limits: ResourceLimits, since: Instant) -> Self {
        Counts { limits, sessions: 0, since, queries: 0, updates: 0, logins: 0 }
    }

    /// Begins another hour if this one is over.
    fn begin_hour(&mut self, now: Instant) {
        if now.saturating_duration_since(self.since) >= WINDOW {
            (self.queries, self.updates, self.logins) = (0, 0, 0);
            self.since = now;
        }
    }

    /// Counts a login of a session that is counted already. `of_all`: `max_user_connections`.
    fn count_login(&mut self, of_all: u64, now: Instant) -> Result<(), LimitReached> {
        self.begin_hour(now);
        let ResourceLimits { connections, user_connections, .. } = self.limits;
        if of_all != 0 && user_connections == 0 && of_all < u64::from(self.sessions) {
            return Err(LimitReached::OfAll);
        }
        if user_connections != 0 && user_connections < self.sessions {
            return Err(LimitReached::Own("max_user_connections", user_connections));
        }
        if connections != 0 && connections <= self.logins {
            return Err(LimitReached::Own("max_connections_per_hour", connections));
        }
        self.logins = self.logins.saturating_add(1);
        Ok(())
    }

    fn count_statement(&mut self, is_update: bool, now: Instant) -> Result<(), LimitReached> {
        self.begin_hour(now);
        let ResourceLimits { queries, updates, .. } = self.limits;
        if queries != 0 {
            if self.queries >= queries {
                return Err(LimitReached::Own("max_questions", queries));
            }
            self.queries += 1;
        }
        if updates != 0 && is_update {
            if self.updates >= updates {
                return Err(LimitReached::Own("max_updates", updates));
            }
            self.updates += 1;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use wire::auth::{AuthPlugin, Credential};

    use super::*;
    use crate::account::{AccountStep, MemoryStore};

    #[test]
    fn counts_start_again_after_an_hour() {
        let start = Instant::now();
        let limits = ResourceLimits { queries: 2, updates: 1, connections: 1, user_connections: 0 };
        let mut counts = Counts::new(limits, start);
        let late = start + WINDOW.mul_f64(0.9);
        let questions = Err(LimitReached::Own("max_questions", 2));
        assert_eq!(counts.count_login(0, start), Ok(()));
        assert_eq!(counts.count_login(0, late), Err(LimitReached::Own("max_connections_per_hour", 1)));
        assert_eq!(counts.count_statement(true, start), Ok(()));
        assert_eq!(counts.count_statement(true, late), Err(LimitReached::Own("max_updates", 1)));
        assert_eq!(counts.count_statement(false, late), questions, "the other one was a query, too");
        let next = start + WINDOW;
        for _ in 0..2 {
            assert_eq!(counts.count_statement(false, next), Ok(()));
        }
        assert_eq!(counts.count_statement(false, next + WINDOW / 2), questions);
        assert_eq!(counts.count_login(0, next + WINDOW / 2), Ok(()));
        assert_eq!(
            counts.count_login(0, next + WINDOW),
            Ok(()),
            "the second hour began with the first query"
        );
    }

    #[test]
    fn the_limit_of_all_accounts_is_for_those_without_their_own() {
        let start = Instant::now();
        let mut any = Counts::new(ResourceLimits::default(), start);
        any.sessions = 3;
        assert_eq!(any.count_login(3, start), Ok(()));
        assert_eq!(any.count_login(2, start), Err(LimitReached::OfAll));
        any.limits.user_connections = 4;
        assert_eq!(any.count_login(2, start), Ok(()));
        any.limits.user_connections = 2;
        assert_eq!(any.count_login(9, start), Err(LimitReached::Own("max_user_connections", 2)));
    }

    #[test]
    fn counts_are_kept_while_they_can_matter() {
        let accounts = Accounts::open(Box::new(MemoryStore)).unwrap();
        let resource_use = Arc::new(ResourceUse::default());
        let known = || resource_use.accounts.lock().len();
        let account = |limits| {
            let credential = Credential::empty(AuthPlugin::Native);
            let account = Account::new("u".to_owned(), "%".to_owned(), credential);
            let account = Account { limits, ..account };
            accounts.put(account.clone()).unwrap();
            account
        };
        let enter =
            |account: &Account, of_all| CountedSession::enter(&resource_use, &accounts, account, of_all);
        assert!(enter(&account(ResourceLimits::default()), 0).unwrap().is_none());
        assert_eq!(known(), 0, "nothing is limited");
        drop(enter(&account(ResourceLimits::default()), 5).unwrap().unwrap());
        assert_eq!(known(), 0, "no session is open");
        let hourly = account(ResourceLimits { queries: 5, ..ResourceLimits::default() });
        drop(enter(&hourly, 0).unwrap().unwrap());
        assert_eq!(known(), 1, "the hour goes on");
        resource_use.forget("u", "%");
        assert_eq!(known(), 0, "the account is dropped");
        let session = enter(&hourly, 0).unwrap();
        resource_use.forget("u", "%");
        assert_eq!(known(), 0, "though a session of it is open");
        let of_new = enter(&hourly, 0).unwrap();
        drop(session);
        assert_eq!(known(), 1, "that of the new account of this name");
        drop(of_new);
        account(ResourceLimits::default());
        resource_use.renew(&accounts, "u", "%");
        assert_eq!(known(), 0, "the limits are gone");
        drop(enter(&account(hourly.limits), 0).unwrap());
        account(ResourceLimits::default());
        resource_use.renew_all(&accounts);
        assert_eq!(known(), 0, "so they are for all");
        accounts.change(vec![AccountStep::Remove("u".to_owned(), "%".to_owned())]).unwrap();
        let late = enter(&hourly, 0).unwrap();
        assert_eq!(known(), 0, "the account was dropped while its client logged in");
        drop(late);
        let refused = account(ResourceLimits { user_connections: 1, ..ResourceLimits::default() });
        let session = enter(&refused, 0).unwrap();
        assert_eq!(enter(&refused, 0).unwrap_err().code, 1226);
        drop(session);
        assert!(enter(&refused, 0).is_ok(), "what was refused does not count");
        assert_eq!(known(), 0);
    }
}
