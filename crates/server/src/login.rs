//! The credentials that a login is checked against, chosen so that a client without a password cannot find
//! out which accounts exist.
//!
//! | a client that calls itself | is tested against |
//! |---|---|
//! | an account that fits its host | the account's credential |
//! | an account of `auth_socket` | over the Unix socket, its user of the system; else the mock credential |
//! | an account without a password, from this machine | an empty answer gets in; any other: the mock credential |
//! | an account without a password, from elsewhere | the mock credential: such an account serves this machine alone |
//! | an account that fits other hosts only | the mock credential, with that account's plugin |
//! | no account | the mock credential, with the plugin of all accounts, or one by the name's keyed hash if they differ |
//!
//! Every login looks at every account, makes a mock credential and looks for a cached hash. Every check of a
//! password by SHA-crypt runs the rounds of the account that takes most, up to [`ROUNDS_FOR_ALL_MAX`], twice
//! if there is an account with a second password.

use std::sync::Arc;

use wire::auth::{AuthPlugin, Credential, DEFAULT_ROUNDS, MockCredential, Verifier};

use crate::account::{Account, CachedHashes};
use crate::peer::{Peer, PeerHost};

/// Most rounds that one account's hash imposes on all others: the default of MySQL 9. An account may have
/// more, which any account may ask for (IDENTIFIED .. AS), and is slower then than names that do not exist.
const ROUNDS_FOR_ALL_MAX: u32 = 10_000;

/// One client's login.
#[derive(Debug)]
pub struct Login {
    account: Option<Arc<Account>>,
    of_system_user: Option<Arc<Account>>,
    mock: MockCredential,
    cached: CachedHashes,
    rounds: u32,
    checks_two: bool,
}

impl Login {
    /// A login as what `scan` has found. `cached`: what an earlier login of the account left.
    pub(crate) fn new(scan: &AccountScan<'_>, mock: MockCredential, cached: CachedHashes) -> Self {
        let found = |account: Option<&Arc<Account>>| account.map(Arc::clone);
        let (account, of_system_user) = (found(scan.usable()), found(scan.of_system_user()));
        let (rounds, checks_two) = (scan.rounds(), scan.has_second);
        Login { account, of_system_user, mock, cached, rounds, checks_two }
    }

    /// The account that a client over the Unix socket gets in as without an exchange: `name` is its user of
    /// the system, and `user` what it calls itself.
    pub(crate) fn as_system_user(
        &self,
        user: &str,
        name: impl FnOnce() -> Option<String>,
    ) -> Option<&Arc<Account>> {
        let account = self.of_system_user.as_ref()?;
        let is_right = account.credential.accepts_system_user(user.as_bytes(), name()?.as_bytes());
        is_right.then_some(account)
    }

    /// The verifier for a client that is refused whatever its password: neither a cached hash nor the time
    /// shows whether the password is right.
    pub(crate) fn tested_refused(&self) -> Verifier<'_> {
        Verifier { is_refused: true, cached: None, second_cached: None, ..self.tested() }
    }

    /// The verifier for the exchange.
    pub fn tested(&self) -> Verifier<'_> {
        let [cached, second_cached] = self.cached;
        Verifier {
            account: self.account.as_ref().map(|account| &account.credential),
            second: self.account.as_ref().and_then(|account| account.second_password.as_ref()),
            checks_two: self.checks_two,
            is_refused: false,
            mock: &self.mock,
            cached,
            second_cached,
            rounds: self.rounds,
        }
    }

    /// The account that the client gets in as, once it has proved that it may.
    pub fn account(&self) -> Option<&Arc<Account>> {
        self.account.as_ref()
    }
}

/// Result of one pass over all accounts for a client, the most specific hosts first.
#[derive(Debug)]
pub(crate) struct AccountScan<'a> {
    user: &'a str,
    host: PeerHost,
    /// The client comes over the Unix socket.
    is_local: bool,
    /// The first account that fits: the most specific host first, named users before the anonymous one.
    pub(crate) found: Option<&'a Arc<Account>>,
    /// Plugin of the first account of this name, for any host.
    named: Option<AuthPlugin>,
    has_native: bool,
    has_sha2: bool,
    /// An account has a second password.
    has_second: bool,
    rounds: u32,
}

impl<'a> AccountScan<'a> {
    /// Looks at all of `accounts`, whether they fit or not.
    pub(crate) fn of(accounts: &'a [Arc<Account>], user: &'a str, peer: Peer) -> Self {
        let (found, named) = (None, None);
        let (has_native, has_sha2, has_second, rounds) = (false, false, false, DEFAULT_ROUNDS);
        let (host, is_local) = (peer.into(), peer == Peer::Local);
        let mut scan =
            AccountScan { user, host, is_local, found, named, has_native, has_sha2, has_second, rounds };
        for account in accounts {
            scan.see(account);
        }
        scan
    }

    fn see(&mut self, account: &'a Arc<Account>) {
        let plugin = account.credential.plugin();
        let is_named = account.user == self.user;
        let fits = (is_named | account.user.is_empty()) & self.host.matches(&account.host);
        self.found = self.found.or(fits.then_some(account));
        self.named = self.named.or(is_named.then_some(plugin));
        self.has_native |= plugin == AuthPlugin::Native;
        self.has_sha2 |= plugin == AuthPlugin::CachingSha2;
        let second_rounds = account.second_password.as_ref().map_or(0, Credential::rounds);
        self.has_second |= account.second_password.is_some();
        let rounds = account.credential.rounds().max(second_rounds);
        self.rounds = self.rounds.max(rounds.min(ROUNDS_FOR_ALL_MAX));
    }

    /// The account that the client may get in as.
    pub(crate) fn usable(&self) -> Option<&'a Arc<Account>> {
        let has_exchange = |account: &&Arc<Account>| account.credential.plugin().takes_passwords();
        let may_be_open =
            |account: &&Arc<Account>| account.credential.has_password() || self.host.is_loopback();
        self.found.filter(has_exchange).filter(may_be_open)
    }

    /// The account that lets a user of the system in, if the client comes over the Unix socket.
    fn of_system_user(&self) -> Option<&'a Arc<Account>> {
        self.found.filter(|account| self.is_local && !account.credential.plugin().takes_passwords())
    }

    /// The plugin that the client is asked for; `None` leaves it to the name's hash.
    pub(crate) fn plugin(&self) -> Option<AuthPlugin> {
        let of_all = match (self.has_native, self.has_sha2) {
            (true, true) => None,
            (true, false) => Some(AuthPlugin::Native),
            (false, _) => Some(AuthPlugin::CachingSha2),
        };
        let found = self.found.map(|account| account.credential.plugin()).or(self.named);
        found.filter(|plugin| plugin.takes_passwords()).or(of_all)
    }

    /// Rounds of SHA-crypt to run for any password.
    pub(crate) fn rounds(&self) -> u32 {
        self.rounds
    }
}

#[cfg(test)]
mod tests;
