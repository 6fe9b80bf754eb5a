//! Accounts in the engine's dictionary.
//!
//! An account is a named object of kind `account`; its name is user, a zero byte, host. Its bytes: `2`, then
//! fields, each a tag, a little-endian u32 length, and that many bytes. Accounts without a field that was
//! added later have its default.
//!
//! | tag | what it has |
//! |---|---|
//! | `P` | the plugin's name |
//! | `C` | the stored credential, as the plugin keeps it |
//! | `2` | the stored second password, of the same plugin; absent if there is none |
//! | `L` | nothing: the account is locked |
//! | `T` | `ssl` or `x509`: how clients have to connect |
//! | `X` | in its place: the subject, issuer and cipher that clients need, see `tls_requirement` |
//! | `M` | how much its clients may do, see `resource_limits`; absent if nothing is limited |
//! | `E` | when the password was set and expires, see `password_age` |
//! | `h` | what new passwords must be, see `password_policy`; absent if the server's variables decide |
//! | `H` | former passwords, see `password_history`; absent if there are none |
//! | `F` | which failed logins lock the account, see `lockout`; absent if none do |
//! | `A` | the attributes, a JSON object; absent if there are none |
//! | `R` | the roles that it is granted, see `roles::name`; absent if there are none |
//! | `D` | the roles that its logins activate, see `roles::name`; absent if there are none |
//! | `Y` | the accounts that it may act as, see `proxy_grants`; absent if there are none, except for `root@localhost`: |
//! |   | if absent there, it may grant PROXY on every account |
//! | `G` | the grants, see `privilege::grants` |
//! | `K` | the grants on columns, see `privilege::grants`; absent if there are none |
//! | `Z` | where grants on everything do not hold, see `privilege::grants`; absent if there are none |
//!
//! Format 1, which is read only: `1`, `locked` or `open`, the plugin's name, separated by line feeds, and the
//! credential to the end. It had no privileges: `root` could do everything, others everything with data.
//!
//! The object `stand-ins` of kind `secret` holds the key of the mock credentials, as it is.

use std::fmt;
use std::sync::Arc;

use engine::Engine;
use wire::auth::{AuthPlugin, Credential, MockKey};

use crate::account::{Account, AccountStep, AccountStore, new_stand_in_key};
use crate::engine_error;
use crate::error_map::{self, SqlError};
use crate::lockout::Lockout;
use crate::password_age::PasswordAge;
use crate::password_history::PasswordHistory;
use crate::password_policy::PasswordPolicy;
use crate::privilege::Grants;
use crate::proxy_grants::{self, ProxyGrant};
use crate::resource_limits::ResourceLimits;
use crate::roles;
use crate::tls_requirement::TlsRequirement;

const KIND: &str = "account";
const SECRET_KIND: &str = "secret";
const MOCK_KEY: &str = "stand-ins";
const FORMAT: u8 = b'2';
/// Before there were privileges.
const OLD_FORMAT: u8 = b'1';

/// Keeps accounts in the data directory.
pub(crate) struct EngineAccounts(pub Arc<Engine>);

impl fmt::Debug for EngineAccounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EngineAccounts")
    }
}

impl AccountStore for EngineAccounts {
    fn load(&self) -> Result<Vec<Account>, SqlError> {
        let objects = self.0.list_objects(KIND).map_err(|e| engine_error::plain(&e))?;
        if objects.is_empty() && self.0.is_read_only() {
            // Damage may have hidden them: there is no login without an account.
            return Err(error_map::INTERNAL_ERROR.with(&[&"no account can be read"]));
        }
        objects.iter().map(|(name, bytes)| decode(name, bytes).ok_or_else(|| damaged(name))).collect()
    }

    fn change(&self, steps: &[AccountStep]) -> Result<(), SqlError> {
        self.ensure_changeable()?;
        let object = |step: &AccountStep| {
            let (user, host) = step.name();
            let bytes = if let AccountStep::Put(account) = step { Some(encode(account)) } else { None };
            (object_name(user, host), bytes)
        };
        let objects: Vec<_> = steps.iter().map(object).collect();
        self.0.change_objects(KIND, &objects).map_err(|e| engine_error::plain(&e))
    }

    fn mock_key(&self) -> Result<MockKey, SqlError> {
        let stored = self.0.get_object(SECRET_KIND, MOCK_KEY).map_err(|e| engine_error::plain(&e))?;
        if let Some(Ok(key)) = stored.map(MockKey::try_from) {
            return Ok(key);
        }
        let key = new_stand_in_key()?;
        if self.0.is_read_only() {
            return Ok(key);
        }
        self.0.put_object(SECRET_KIND, MOCK_KEY, &key).map_err(|e| engine_error::plain(&e))?;
        Ok(key)
    }
}

impl EngineAccounts {
    /// # Errors
    /// 1874.
    fn ensure_changeable(&self) -> Result<(), SqlError> {
        if self.0.is_read_only() { Err(error_map::INNODB_READ_ONLY.bare()) } else { Ok(()) }
    }
}

fn object_name(user: &str, host: &str) -> String {
    format!("{user}\0{host}")
}

fn encode(account: &Account) -> Vec<u8> {
    let mut bytes = vec![FORMAT];
    let mut field = |tag: u8, value: &[u8]| {
        bytes.push(tag);
        bytes.extend((value.len() as u32).to_le_bytes());
        bytes.extend(value);
    };
    field(b'P', account.credential.plugin().name().as_bytes());
    field(b'C', &account.credential.to_stored());
    if let Some(second) = &account.second_password {
        field(b'2', &second.to_stored());
    }
    if account.locked {
        field(b'L', b"");
    }
    match &account.requires {
        TlsRequirement::None => {}
        specified @ TlsRequirement::Specified(_) => field(b'X', &specified.encode()),
        word => field(b'T', &word.encode()),
    }
    if account.limits.is_set() {
        field(b'M', &account.limits.encode());
    }
    if account.password_age != PasswordAge::default() {
        field(b'E', &account.password_age.encode());
    }
    if account.password_policy != PasswordPolicy::default() {
        field(b'h', &account.password_policy.encode());
    }
    if !account.password_history.entries().is_empty() {
        field(b'H', &account.password_history.encode());
    }
    if account.lockout.is_set() {
        field(b'F', &account.lockout.encode());
    }
    if let Some(attributes) = &account.attributes {
        field(b'A', attributes.as_bytes());
    }
    if !account.roles.is_empty() {
        field(b'R', &roles::encode_granted(&account.roles));
    }
    if !account.default_roles.is_empty() {
        field(b'D', &roles::encode_names(&account.default_roles));
    }
    if !account.proxies.is_empty() || is_root(&account.user, &account.host) {
        field(b'Y', &proxy_grants::encode(&account.proxies));
    }
    field(b'G', &account.grants.encode());
    if !account.grants.restrictions.is_empty() {
        field(b'Z', &account.grants.encode_restrictions());
    }
    if account.grants.has_columns() {
        field(b'K', &account.grants.encode_columns());
    }
    bytes
}

fn decode(name: &str, bytes: &[u8]) -> Option<Account> {
    let (user, host) = name.split_once('\0')?;
    let (format, rest) = bytes.split_first()?;
    match *format {
        FORMAT => {}
        OLD_FORMAT => return decode_old((user, host), rest),
        _ => return None,
    }
    let fields = fields(rest)?;
    let last = |wanted| fields.iter().rev().find(|(tag, _)| *tag == wanted).map(|(_, value)| *value);
    let plugin = AuthPlugin::from_name(last(b'P')?)?;
    let credential = Credential::from_stored(plugin, last(b'C')?).ok()?;
    let mut grants = last(b'G').map_or(Some(Grants::default()), Grants::decode)?;
    let mut account = Account::new(user.to_owned(), host.to_owned(), credential);
    account.password_age = PasswordAge::default();
    account.proxies = proxies_before(user, host);
    for (tag, value) in fields {
        apply(&mut account, &mut grants, tag, value)?;
    }
    account.grants = Arc::new(grants);
    Some(account)
}

/// The tags and values of a record.
fn fields(mut rest: &[u8]) -> Option<Vec<(u8, &[u8])>> {
    let mut fields = Vec::new();
    while let Some((tag, after)) = rest.split_first() {
        let (length, after) = after.split_first_chunk()?;
        let (value, after) = after.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        fields.push((*tag, value));
        rest = after;
    }
    Some(fields)
}

/// Gives an account what a field has, except for its credential and the grants of `G`, which it has.
fn apply(account: &mut Account, grants: &mut Grants, tag: u8, value: &[u8]) -> Option<()> {
    match tag {
        b'P' | b'C' | b'G' => {}
        b'2' => {
            let plugin = account.credential.plugin();
            account.second_password = Some(Credential::from_stored(plugin, value).ok()?);
        }
        b'L' => account.locked = true,
        b'T' => account.requires = TlsRequirement::decode_word(value)?,
        b'X' => account.requires = TlsRequirement::decode_specified(value)?,
        b'M' => account.limits = ResourceLimits::decode(value)?,
        b'E' => account.password_age = PasswordAge::decode(value)?,
        b'h' => account.password_policy = PasswordPolicy::decode(value)?,
        b'H' => account.password_history = PasswordHistory::decode(value)?,
        b'F' => account.lockout = Lockout::decode(value)?,
        b'A' => account.attributes = Some(std::str::from_utf8(value).ok()?.into()),
        b'R' => account.roles = roles::decode_granted(value)?,
        b'D' => account.default_roles = roles::decode_names(value)?,
        b'Y' => account.proxies = proxy_grants::decode(value)?,
        b'K' => grants.decode_columns(value)?,
        b'Z' => grants.decode_restrictions(value)?,
        _ => return None,
    }
    Some(())
}

/// The proxy grants of an account from a version without PROXY.
fn proxies_before(user: &str, host: &str) -> Vec<ProxyGrant> {
    if is_root(user, host) { vec![ProxyGrant::on_everybody()] } else { Vec::new() }
}

fn is_root(user: &str, host: &str) -> bool {
    (user, host) == ("root", "localhost")
}

fn decode_old((user, host): (&str, &str), rest: &[u8]) -> Option<Account> {
    let mut fields = rest.strip_prefix(b"\n")?.splitn(3, |&b| b == b'\n');
    let locked = fields.next()? == b"locked";
    let plugin = AuthPlugin::from_name(fields.next()?)?;
    let credential = Credential::from_stored(plugin, fields.next()?).ok()?;
    let grants = if user == "root" { Grants::everything() } else { Grants::before_privileges() };
    let proxies = proxies_before(user, host);
    let new = Account::new(user.to_owned(), host.to_owned(), credential);
    Some(Account { locked, proxies, grants: Arc::new(grants), password_age: PasswordAge::default(), ..new })
}

#[cold]
fn damaged(name: &str) -> SqlError {
    let name = name.replace('\0', "@");
    error_map::UNKNOWN.with_message(format!("the stored account {name} cannot be read"))
}

#[cfg(test)]
mod tests {
    use engine::EngineConfig;
    use wire::auth::Password;

    use super::*;
    use crate::password_age::Lifetime;
    use crate::password_history::ReusePolicy;
    use crate::roles::{GrantedRole, RoleName};

    #[test]
    fn the_key_of_the_stand_ins_survives_a_restart() {
        let disk = Arc::new(env::SimDisk::new());
        let open = || {
            // A background thread may hold the engine, and its directory, longer than this test.
            let new = EngineConfig::new(disk.clone(), "data");
            EngineAccounts(
                Engine::open(EngineConfig { pool_bytes: 8 << 20, background: false, ..new }).unwrap(),
            )
        };
        let key = open().mock_key().unwrap();
        assert_eq!(open().mock_key(), Ok(key));
        open().0.put_object(SECRET_KIND, MOCK_KEY, b"short").unwrap();
        assert_ne!(open().mock_key(), Ok(key), "a key of another length is drawn anew");
    }

    #[test]
    fn an_account_survives_being_stored() {
        let cases =
            [(AuthPlugin::Native, "secret"), (AuthPlugin::CachingSha2, "\nline\n"), (AuthPlugin::Native, "")];
        let role = RoleName { user: "r".to_owned(), host: "%".to_owned() };
        for (plugin, text) in cases {
            let password = Password::new(text.as_bytes()).unwrap();
            let account = Account {
                user: "bob".to_owned(),
                host: "10.0.%".to_owned(),
                credential: Credential::from_password(plugin, password).unwrap(),
                second_password: (!text.is_empty())
                    .then(|| Credential::from_password(plugin, Password::new(b"old").unwrap()).unwrap()),
                locked: text.is_empty(),
                grants: Arc::new(if text.is_empty() { Grants::default() } else { Grants::everything() }),
                requires: if text.is_empty() { TlsRequirement::None } else { TlsRequirement::X509 },
                password_age: PasswordAge {
                    set_at: 1_700_000_000,
                    is_expired: text.is_empty(),
                    lifetime: if text.is_empty() { Lifetime::Never } else { Lifetime::Days(90) },
                },
                limits: ResourceLimits { queries: text.len() as u32, ..ResourceLimits::default() },
                password_policy: PasswordPolicy {
                    history: Some(5),
                    reuse_days: None,
                    requires_current: None,
                },
                password_history: PasswordHistory::default().renewed(
                    ReusePolicy { count: u64::from(!text.is_empty()), days: 0 },
                    &Credential::from_password(plugin, password).unwrap(),
                ),
                lockout: Lockout::default(),
                attributes: if text.is_empty() { None } else { Some("{\"a\": 1}".into()) },
                roles: if text.is_empty() {
                    Vec::new()
                } else {
                    vec![GrantedRole { role: role.clone(), with_admin: true }]
                },
                proxies: if text.is_empty() { Vec::new() } else { vec![ProxyGrant::on_everybody()] },
                default_roles: if text.is_empty() { Vec::new() } else { vec![role.clone()] },
            };
            let name = object_name(&account.user, &account.host);
            assert_eq!(decode(&name, &encode(&account)), Some(account));
        }
        assert_eq!(decode("bob\0%", b"3"), None);
    }

    #[test]
    fn an_account_from_before_privileges_keeps_what_it_could_do() {
        let old = b"1\nlocked\ncaching_sha2_password\n";
        let bob = decode("bob\0%", old).unwrap();
        assert!(bob.locked && *bob.grants == Grants::before_privileges());
        let root = decode("root\0localhost", old).unwrap();
        assert_eq!(*root.grants, Grants::everything());
        assert_eq!(root.proxies, [ProxyGrant::on_everybody()]);
        assert!(bob.proxies.is_empty());
        let nobodys = Account { proxies: Vec::new(), ..root };
        assert_eq!(decode("root\0localhost", &encode(&nobodys)), Some(nobodys), "what was taken stays so");
    }
}
