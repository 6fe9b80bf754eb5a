//! The stored verifier of an account's password.

use std::fmt;

use super::sha256_crypt::{self, ENCODED_CHARS, SALT_BYTES_MAX};
use super::{Password, equal_secrets, native, new_nonce};

/// Bytes of a `caching_sha2_password` salt.
pub(super) const SALT_BYTES: usize = SALT_BYTES_MAX;
/// Rounds are in the stored form in thousands.
const ROUNDS_UNIT: u32 = 1000;
/// Rounds of new hashes.
pub const DEFAULT_ROUNDS: u32 = 5 * ROUNDS_UNIT;

/// An authentication method, by MySQL's plugin names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AuthPlugin {
    /// `mysql_native_password`.
    Native,
    /// `caching_sha2_password`, the default.
    CachingSha2,
    /// `auth_socket`: the client's user of the operating system, over the Unix socket. No exchange of
    /// packets.
    Socket,
}

impl AuthPlugin {
    /// The plugin's name.
    pub fn name(self) -> &'static str {
        match self {
            AuthPlugin::Native => "mysql_native_password",
            AuthPlugin::CachingSha2 => "caching_sha2_password",
            AuthPlugin::Socket => "auth_socket",
        }
    }

    /// The plugin called `name`.
    pub fn from_name(name: &[u8]) -> Option<AuthPlugin> {
        [AuthPlugin::Native, AuthPlugin::CachingSha2, AuthPlugin::Socket]
            .into_iter()
            .find(|plugin| plugin.name().as_bytes().eq_ignore_ascii_case(name))
    }

    /// Whether accounts of the plugin have passwords.
    pub fn takes_passwords(self) -> bool {
        self != AuthPlugin::Socket
    }
}

/// Why a stored form cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CredentialError {
    /// Not the form that the plugin stores.
    BadHash,
    /// No random bytes for the salt.
    NoRandomness,
}

impl fmt::Display for CredentialError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            CredentialError::BadHash => "the password hash doesn't have the expected format",
            CredentialError::NoRandomness => "no random bytes",
        })
    }
}

impl std::error::Error for CredentialError {}

/// A plugin and what it stores.
#[derive(Clone, PartialEq, Eq)]
pub struct Credential {
    plugin: AuthPlugin,
    secret: Secret,
}

#[derive(Clone, PartialEq, Eq)]
pub(super) enum Secret {
    /// No password.
    Empty,
    /// SHA1(SHA1(password)).
    Native([u8; native::HASH_BYTES]),
    /// Salted SHA-crypt.
    Sha2 { rounds: u32, salt: [u8; SALT_BYTES], hash: [u8; ENCODED_CHARS] },
    /// Another user of the system who may log in, beside the one called as the account; empty: none. No
    /// password is right.
    SystemUser(Box<[u8]>),
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Credential({}, has_password: {})", self.plugin.name(), self.has_password())
    }
}

impl Credential {
    /// The account without a password.
    pub fn empty(plugin: AuthPlugin) -> Self {
        let secret = match plugin {
            AuthPlugin::Socket => Secret::SystemUser(Box::default()),
            AuthPlugin::Native | AuthPlugin::CachingSha2 => Secret::Empty,
        };
        Credential { plugin, secret }
    }

    pub(super) fn of(plugin: AuthPlugin, secret: Secret) -> Self {
        Credential { plugin, secret }
    }

    /// Hashes `password` (IDENTIFIED BY). An empty password, or a plugin that takes none, gives
    /// [`Credential::empty`]. Cost: some milliseconds.
    pub fn from_password(plugin: AuthPlugin, password: Password<'_>) -> Result<Self, CredentialError> {
        if password.bytes().is_empty() || !plugin.takes_passwords() {
            return Ok(Credential::empty(plugin));
        }
        let secret = match plugin {
            AuthPlugin::Native => Secret::Native(native::hash(password)),
            AuthPlugin::CachingSha2 => {
                let salt = new_nonce().map_err(|_| CredentialError::NoRandomness)?;
                let hash = sha256_crypt::crypt(password, &salt, DEFAULT_ROUNDS);
                Secret::Sha2 { rounds: DEFAULT_ROUNDS, salt, hash }
            }
            AuthPlugin::Socket => Secret::SystemUser(Box::default()),
        };
        Ok(Credential { plugin, secret })
    }

    /// Reads the stored form (IDENTIFIED WITH ... AS): empty, `*HEX40`, `$A$005$` + salt + hash, or the name
    /// of a user of the system.
    pub fn from_stored(plugin: AuthPlugin, stored: &[u8]) -> Result<Self, CredentialError> {
        if stored.is_empty() {
            return Ok(Credential::empty(plugin));
        }
        let secret = match plugin {
            AuthPlugin::Native => parse_native(stored),
            AuthPlugin::CachingSha2 => parse_sha2(stored),
            AuthPlugin::Socket => Some(Secret::SystemUser(stored.into())),
        };
        Ok(Credential { plugin, secret: secret.ok_or(CredentialError::BadHash)? })
    }

    /// The stored form (`authentication_string`).
    pub fn to_stored(&self) -> Vec<u8> {
        match &self.secret {
            Secret::Empty => Vec::new(),
            Secret::SystemUser(name) => name.to_vec(),
            Secret::Native(hash) => {
                let hex = hash.iter().map(|byte| format!("{byte:02X}"));
                format!("*{}", hex.collect::<String>()).into_bytes()
            }
            Secret::Sha2 { rounds, salt, hash } => {
                let head = format!("$A${:03X}$", rounds / ROUNDS_UNIT);
                [head.as_bytes(), salt, hash].concat()
            }
        }
    }

    /// The plugin.
    pub fn plugin(&self) -> AuthPlugin {
        self.plugin
    }

    /// Whether `name`, a user of the system, may log in as the account called `account`.
    pub fn accepts_system_user(&self, account: &[u8], name: &[u8]) -> bool {
        matches!(&self.secret, Secret::SystemUser(other) if account == name || **other == *name)
    }

    /// Whether a client has to prove anything: not if there is no password.
    pub fn has_password(&self) -> bool {
        self.secret != Secret::Empty
    }

    /// Rounds of SHA-crypt that a check of a password takes; 0 where it takes none.
    pub fn rounds(&self) -> u32 {
        if let Secret::Sha2 { rounds, .. } = self.secret { rounds } else { 0 }
    }

    /// Whether `password` is the right one.
    pub fn accepts_password(&self, password: Password<'_>) -> bool {
        self.accepts_after(password, 0)
    }

    /// As [`Credential::accepts_password`], with the work of at least `rounds_run` rounds where SHA-crypt is
    /// used. Cost: about 0.5 ms for 1,000 rounds.
    pub(super) fn accepts_after(&self, password: Password<'_>, rounds_run: u32) -> bool {
        match &self.secret {
            Secret::Empty => password.bytes().is_empty(),
            Secret::SystemUser(_) => false,
            Secret::Native(hash) => equal_secrets(&native::hash(password), hash),
            Secret::Sha2 { rounds, salt, hash } => {
                equal_secrets(&sha256_crypt::crypt_padded(password, salt, *rounds, rounds_run), hash)
            }
        }
    }

    pub(super) fn secret(&self) -> &Secret {
        &self.secret
    }
}

fn parse_native(stored: &[u8]) -> Option<Secret> {
    let hex = stored.strip_prefix(b"*")?;
    let mut hash = [0; native::HASH_BYTES];
    if hex.len() != 2 * hash.len() {
        return None;
    }
    for (byte, digits) in hash.iter_mut().zip(hex.chunks(2)) {
        for &digit in digits {
            *byte = *byte << 4 | (digit as char).to_digit(16)? as u8;
        }
    }
    Some(Secret::Native(hash))
}

fn parse_sha2(stored: &[u8]) -> Option<Secret> {
    let rest = stored.strip_prefix(b"$A$")?;
    let (digits, rest) = rest.split_first_chunk::<3>()?;
    let mut thousands = 0;
    for &digit in digits {
        thousands = thousands << 4 | (digit as char).to_digit(16)?;
    }
    let (salt, hash) = rest.strip_prefix(b"$")?.split_first_chunk::<SALT_BYTES>()?;
    let hash = hash.try_into().ok()?;
    (thousands > 0).then_some(Secret::Sha2 { rounds: thousands * ROUNDS_UNIT, salt: *salt, hash })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn password(text: &str) -> Password<'_> {
        Password::new(text.as_bytes()).unwrap()
    }

    #[test]
    fn stored_forms_round_trip_and_know_their_password() {
        for plugin in [AuthPlugin::Native, AuthPlugin::CachingSha2] {
            let made = Credential::from_password(plugin, password("secret")).unwrap();
            let read = Credential::from_stored(plugin, &made.to_stored()).unwrap();
            assert!(made == read && read.has_password());
            assert!(read.accepts_password(password("secret")));
            assert!(!read.accepts_password(password("secre")));
            assert!(!Credential::from_password(plugin, password("")).unwrap().has_password());
        }
    }

    #[test]
    fn a_hash_made_by_mysql_is_accepted() {
        // A published example: salt F9CC..78C5, password "hashcat".
        let salt = [
            0xf9, 0xcc, 0x98, 0xce, 0x08, 0x89, 0x29, 0x24, 0xf5, 0x0a, 0x21, 0x3b, 0x6b, 0xc5, 0x71, 0xa2,
            0xc1, 0x17, 0x78, 0xc5,
        ];
        let stored = [b"$A$005$", &salt[..], b"bTy95Y99eAME1dwEkHOA1ndHGBWz.1bxSSRkuTXFGV/"].concat();
        let credential = Credential::from_stored(AuthPlugin::CachingSha2, &stored).unwrap();
        assert!(credential.accepts_password(password("hashcat")));
    }

    #[test]
    fn bad_stored_forms_are_refused() {
        for stored in ["*12", "6C8989366EAF75BB670AD8EA7A7FC1176A95CEF4", "*zz", "$A$005$short", "$A$00z$"] {
            for plugin in [AuthPlugin::Native, AuthPlugin::CachingSha2] {
                assert!(Credential::from_stored(plugin, stored.as_bytes()).is_err(), "{stored}");
            }
        }
    }

    #[test]
    fn debug_output_shows_no_hash() {
        let made = Credential::from_password(AuthPlugin::Native, password("secret")).unwrap();
        assert_eq!(format!("{made:?}"), "Credential(mysql_native_password, has_password: true)");
    }
}
