//! Accounts: who may connect, from where, and how they prove it.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::{Mutex, MutexGuard, RwLock, RwLockReadGuard};
use wire::auth::{AuthPlugin, Credential, MockCredentials, MockKey};

use crate::account_directory::Directory;
use crate::error_map::{self, SqlError};
use crate::lockout::Lockout;
use crate::login::{AccountScan, Login};
use crate::password_age::PasswordAge;
use crate::password_history::PasswordHistory;
use crate::password_policy::PasswordPolicy;
use crate::peer::Peer;
use crate::privilege::{Grants, SchemaNames};
use crate::proxy_grants::ProxyGrant;
use crate::resource_limits::ResourceLimits;
use crate::roles::{self, GrantedRole, ImageKey, Images, RoleName};
use crate::tls_requirement::TlsRequirement;

/// An account, named `'user'@'host'`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// User name; empty for the anonymous account.
    pub user: String,
    /// Host name, address, pattern with `%` and `_`, or address/netmask; in lower case.
    pub host: String,
    /// Plugin and stored password.
    pub credential: Credential,
    /// Password beside that of the credential, of the same plugin.
    pub second_password: Option<Credential>,
    /// ACCOUNT LOCK.
    pub locked: bool,
    /// What it may do.
    pub grants: Arc<Grants>,
    /// How its clients have to connect.
    pub requires: TlsRequirement,
    /// How much its clients may do.
    pub limits: ResourceLimits,
    /// When its password was set and expires.
    pub password_age: PasswordAge,
    /// What new passwords must be.
    pub password_policy: PasswordPolicy,
    /// Passwords that are not used again.
    pub password_history: PasswordHistory,
    /// What wrong passwords do to it.
    pub lockout: Lockout,
    /// A JSON object, as MySQL writes it; `None` if nothing was said of the account.
    pub attributes: Option<Box<str>>,
    /// Roles that it is granted, in order of their names.
    pub roles: Vec<GrantedRole>,
    /// Accounts that it may act as, in the order of the grants.
    pub proxies: Vec<ProxyGrant>,
    /// Roles that its logins activate, in order of their names.
    pub default_roles: Vec<RoleName>,
}

impl Account {
    /// A new account, which may do nothing. Its password counts from now on.
    pub(crate) fn new(user: String, host: String, credential: Credential) -> Self {
        let mut password_age = PasswordAge::default();
        password_age.renew();
        Account {
            user,
            host,
            credential,
            second_password: None,
            locked: false,
            grants: Arc::default(),
            requires: TlsRequirement::None,
            limits: ResourceLimits::default(),
            password_age,
            password_policy: PasswordPolicy::default(),
            password_history: PasswordHistory::default(),
            lockout: Lockout::default(),
            attributes: None,
            roles: Vec::new(),
            proxies: Vec::new(),
            default_roles: Vec::new(),
        }
    }

    /// Its name as a role.
    pub(crate) fn role_name(&self) -> RoleName {
        RoleName { user: self.user.clone(), host: self.host.clone() }
    }

    /// How it is granted `role` itself, if it is.
    pub(crate) fn granted(&self, role: &RoleName) -> Option<&GrantedRole> {
        let found = self.roles.binary_search_by(|granted| granted.role.cmp(role));
        found.ok().map(|at| &self.roles[at])
    }
}

/// A statement's change of one account.
#[derive(Clone, Debug)]
pub enum AccountStep {
    /// Adds the account or replaces the one of the same name.
    Put(Box<Account>),
    /// Removes the account `'user'@'host'`, if there is one.
    Remove(String, String),
}

impl AccountStep {
    /// User and host of the account.
    pub fn name(&self) -> (&str, &str) {
        match self {
            AccountStep::Put(account) => (&account.user, &account.host),
            AccountStep::Remove(user, host) => (user, host),
        }
    }
}

/// Keeps accounts over restarts.
pub trait AccountStore: Send + Sync {
    /// All accounts.
    fn load(&self) -> Result<Vec<Account>, SqlError>;
    /// Makes all of the changes in order, or none.
    fn change(&self, steps: &[AccountStep]) -> Result<(), SqlError>;
    /// The key of the mock credentials, drawn at the first call. It outlives restarts, so that names without
    /// an account behave as before.
    fn mock_key(&self) -> Result<MockKey, SqlError>;
}

/// Accounts that live as long as the process.
#[derive(Debug, Default)]
pub struct MemoryStore;

impl AccountStore for MemoryStore {
    fn load(&self) -> Result<Vec<Account>, SqlError> {
        Ok(Vec::new())
    }
    fn change(&self, _steps: &[AccountStep]) -> Result<(), SqlError> {
        Ok(())
    }
    fn mock_key(&self) -> Result<MockKey, SqlError> {
        new_stand_in_key()
    }
}

/// Draws a key for mock credentials.
pub(crate) fn new_stand_in_key() -> Result<MockKey, SqlError> {
    MockCredentials::new_key().map_err(|_| error_map::OUT_OF_RESOURCES.bare())
}

/// What full authentications of an account left, by its first and its second password.
pub(crate) type CachedHashes = [Option<[u8; 32]>; 2];

/// Name of an account: user and host.
type Name = (String, String);

/// All accounts, and what full authentications left to be cached.
pub struct Accounts {
    store: Box<dyn AccountStore>,
    list: RwLock<Directory>,
    cached: Mutex<HashMap<Name, CachedHashes>>,
    /// Held by the statement that changes accounts, from its first access to them on.
    changing: Mutex<()>,
    /// Number of changes, the first state included.
    epoch: AtomicU64,
    mocks: MockCredentials,
    images: Mutex<Images>,
    /// The variable `partial_revokes`.
    partial_revokes: AtomicBool,
}

impl std::fmt::Debug for Accounts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Accounts").field("list", &self.list).finish_non_exhaustive()
    }
}

impl Accounts {
    /// The accounts of `store`; an empty one gets `root@localhost` without a password.
    pub fn open(store: Box<dyn AccountStore>) -> Result<Self, SqlError> {
        let mut accounts = store.load()?;
        if accounts.is_empty() {
            let credential = Credential::empty(AuthPlugin::CachingSha2);
            let root = Account {
                grants: Arc::new(Grants::everything()),
                proxies: vec![ProxyGrant::on_everybody()],
                ..Account::new("root".to_owned(), "localhost".to_owned(), credential)
            };
            store.change(&[AccountStep::Put(Box::new(root.clone()))])?;
            accounts.push(root);
        }
        let list = RwLock::new(Directory::new(accounts));
        let mocks = MockCredentials::new(&store.mock_key()?);
        let (cached, changing) = (Mutex::default(), Mutex::default());
        let (epoch, images) = (AtomicU64::new(1), Mutex::default());
        let partial_revokes = AtomicBool::new(false);
        Ok(Accounts { store, list, cached, changing, epoch, mocks, images, partial_revokes })
    }

    /// The login of a client with the name `user`: what it has to prove. Cost: one pass over all accounts.
    pub fn login(&self, user: &str, peer: Peer) -> Login {
        let list = self.list.read();
        let scan = AccountScan::of(list.all(), user, peer);
        let account = scan.usable();
        let mock = self.mocks.of(user.as_bytes(), scan.plugin(), scan.rounds());
        let host = account.map_or_else(String::new, |account| account.host.clone());
        let name = (account.map_or(user, |account| &account.user).to_owned(), host);
        let cached = self.cached.lock().get(&name).copied().unwrap_or_default();
        Login::new(&scan, mock, cached)
    }

    /// The account `'user'@'host'`.
    pub fn find(&self, user: &str, host: &str) -> Option<Arc<Account>> {
        self.directory().find(user, host).cloned()
    }

    /// All accounts as they are now. Nothing changes while it is held: the caller does not wait meanwhile.
    pub(crate) fn directory(&self) -> RwLockReadGuard<'_, Directory> {
        // What looks at the directory may ask for privileges, which may take another look.
        self.list.read_recursive()
    }

    /// The merged privileges of an account and its active roles. `epoch`: what [`Accounts::epoch`] returned
    /// before.
    pub(crate) fn image(&self, key: ImageKey, epoch: u64) -> Arc<Grants> {
        if let Some(known) = self.images.lock().find(epoch, &key) {
            return known;
        }
        let image = Arc::new(roles::image(&self.directory(), &key.0, &key.1));
        self.images.lock().keep(epoch, key, &image);
        image
    }

    /// Grants `roles` to everybody, and takes those that were granted so before.
    pub(crate) fn set_mandatory(&self, roles: Vec<RoleName>) {
        self.list.write().set_mandatory(roles);
        self.epoch.fetch_add(1, Ordering::Release);
    }

    /// How what is granted on databases names them.
    pub(crate) fn schema_names(&self) -> SchemaNames {
        if self.partial_revokes.load(Ordering::Relaxed) { SchemaNames::Exact } else { SchemaNames::Patterns }
    }

    /// Sets the value of the variable `partial_revokes`.
    pub(crate) fn set_partial_revokes(&self, is_on: bool) {
        self.partial_revokes.store(is_on, Ordering::Relaxed);
        self.epoch.fetch_add(1, Ordering::Release);
    }

    /// A number that grows with every change of an account.
    pub(crate) fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Acquire)
    }

    /// Every account, the most specific hosts first.
    pub fn all(&self) -> Vec<Arc<Account>> {
        self.directory().all().to_vec()
    }

    /// An account that anybody who can reach the server could use.
    pub(crate) fn find_passwordless(&self) -> Option<Arc<Account>> {
        self.list.read().all().iter().find(|a| !a.credential.has_password() && !a.locked).cloned()
    }

    /// Waits until no other statement changes accounts. Logins do not wait for it.
    pub(crate) fn begin_change(&self) -> MutexGuard<'_, ()> {
        self.changing.lock()
    }

    /// Adds the account or replaces the one of the same name.
    pub fn put(&self, account: Account) -> Result<(), SqlError> {
        self.change(vec![AccountStep::Put(Box::new(account))])
    }

    /// Makes all of the changes in order, or none.
    pub fn change(&self, steps: Vec<AccountStep>) -> Result<(), SqlError> {
        let mut list = self.list.write();
        self.store.change(&steps)?;
        let mut cached = self.cached.lock();
        for step in steps {
            let (user, host) = step.name();
            let keeps_password = match &step {
                AccountStep::Put(new) => {
                    list.find(user, host).is_some_and(|old| has_same_passwords(old, new))
                }
                AccountStep::Remove(..) => false,
            };
            if !keeps_password {
                cached.remove(&(user.to_owned(), host.to_owned()));
            }
            match step {
                AccountStep::Put(account) => list.put(*account),
                AccountStep::Remove(user, host) => list.remove(&user, &host),
            }
        }
        self.epoch.fetch_add(1, Ordering::Release);
        Ok(())
    }

    /// Remembers what a full authentication of `account` left, by its second password if `is_second`, unless
    /// its passwords have changed since.
    pub(crate) fn cache_hash(&self, account: &Arc<Account>, hash: [u8; 32], is_second: bool) {
        let list = self.list.read();
        let current = list.find(&account.user, &account.host);
        if current.is_some_and(|current| has_same_passwords(current, account)) {
            let name = (account.user.clone(), account.host.clone());
            self.cached.lock().entry(name).or_default()[usize::from(is_second)] = Some(hash);
        }
    }
}

fn has_same_passwords(a: &Account, b: &Account) -> bool {
    a.credential == b.credential && a.second_password == b.second_password
}

/// Error 3118 for a client that has proved to be the locked account of `user`.
#[cold]
pub(crate) fn account_locked(user: &str, peer: Peer) -> SqlError {
    error_map::ACCOUNT_HAS_BEEN_LOCKED.with(&[&user, &peer.host()])
}

/// Error 1045 for a client that called itself `user`.
#[cold]
pub(crate) fn access_denied(user: &str, peer: Peer, used_password: bool) -> SqlError {
    let used = if used_password { "YES" } else { "NO" };
    error_map::ACCESS_DENIED.with(&[&user, &peer.host(), &used])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account(user: &str, host: &str) -> Account {
        Account::new(user.to_owned(), host.to_owned(), Credential::empty(AuthPlugin::Native))
    }

    fn remote(address: &str) -> Peer {
        Peer::Remote(address.parse().unwrap())
    }

    fn found(accounts: &Accounts, user: &str, peer: Peer) -> Option<Arc<Account>> {
        AccountScan::of(&accounts.all(), user, peer).found.cloned()
    }

    fn cached_hash(accounts: &Accounts, user: &str) -> Option<[u8; 32]> {
        accounts.login(user, Peer::Local).tested().cached
    }

    #[test]
    fn a_new_store_has_root_on_this_machine_only() {
        let accounts = Accounts::open(Box::new(MemoryStore)).unwrap();
        for peer in [Peer::Local, remote("127.0.0.1"), remote("::1"), remote("::ffff:127.0.0.1")] {
            assert_eq!(found(&accounts, "root", peer).unwrap().host, "localhost");
        }
        assert_eq!(found(&accounts, "root", remote("10.0.0.1")), None);
        assert_eq!(found(&accounts, "nobody", Peer::Local), None);
        assert_eq!(accounts.find_passwordless().unwrap().user, "root");
    }

    #[test]
    fn the_most_specific_host_wins() {
        let accounts = Accounts::open(Box::new(MemoryStore)).unwrap();
        for (user, host) in [("bob", "%"), ("bob", "10.0.%"), ("bob", "10.0.0.7"), ("", "10.0.0.%")] {
            accounts.put(account(user, host)).unwrap();
        }
        let host = |address| found(&accounts, "bob", remote(address)).map(|a| a.host.clone());
        assert_eq!(host("10.0.0.7").as_deref(), Some("10.0.0.7"));
        assert_eq!(host("10.0.9.9").as_deref(), Some("10.0.%"));
        assert_eq!(host("11.0.0.1").as_deref(), Some("%"));
        assert_eq!(found(&accounts, "bob", remote("10.0.0.8")).unwrap().user, "");
    }

    #[test]
    fn another_password_forgets_the_cached_hash() {
        let accounts = Accounts::open(Box::new(MemoryStore)).unwrap();
        let root = accounts.find("root", "localhost").unwrap();
        accounts.cache_hash(&root, [1; 32], false);
        let epoch = accounts.epoch();
        accounts.put(Account { grants: Arc::default(), ..(*root).clone() }).unwrap();
        assert_eq!(cached_hash(&accounts, "root"), Some([1; 32]), "the password is the same");
        assert!(accounts.epoch() > epoch);
        accounts.put(account("root", "localhost")).unwrap();
        assert_eq!(cached_hash(&accounts, "root"), None);
        accounts.cache_hash(&root, [1; 32], false);
        assert_eq!(cached_hash(&accounts, "root"), None, "it was made of another password");
        accounts.change(vec![AccountStep::Remove("root".to_owned(), "localhost".to_owned())]).unwrap();
        assert_eq!(accounts.find("root", "localhost"), None);
    }

    #[test]
    fn the_text_of_1045_is_mysqls() {
        let error = access_denied("bob", Peer::Local, true);
        assert_eq!(error.message, "Access denied for user 'bob'@'localhost' (using password: YES)");
    }
}
