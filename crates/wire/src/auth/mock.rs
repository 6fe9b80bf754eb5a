//! Mock credentials: they take the place of accounts that do not exist, so that a client without a password
//! sees the same packets and waits for the same work whatever name it tries.
//!
//! A keyed hash of the user name makes them: a name always behaves alike, and no client can compute which
//! hash a name gets.

use aws_lc_rs::hmac::{self, HMAC_SHA256};

use super::credential::{SALT_BYTES, Secret};
use super::sha2::DIGEST_BYTES;
use super::sha256_crypt::ENCODED_CHARS;
use super::{AuthPlugin, Credential, KeyError, native};

/// The key of the hash.
pub type MockKey = [u8; DIGEST_BYTES];

/// Makes mock credentials under a random key.
pub struct MockCredentials {
    key: hmac::Key,
}

impl std::fmt::Debug for MockCredentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("MockCredentials")
    }
}

/// The credential for a user name without an account, or without a password.
#[derive(Debug)]
pub struct MockCredential {
    /// Matches no known password.
    pub(super) credential: Credential,
    /// Compared with fast answers where no hash is cached.
    pub(super) cached: [u8; DIGEST_BYTES],
}

impl MockCredentials {
    /// Makes them under `key`, which is random and secret.
    pub fn new(key: &MockKey) -> Self {
        MockCredentials { key: hmac::Key::new(HMAC_SHA256, key) }
    }

    /// Draws a key.
    ///
    /// # Errors
    /// When the system gives no random bytes.
    pub fn new_key() -> Result<MockKey, KeyError> {
        let mut key = [0; DIGEST_BYTES];
        aws_lc_rs::rand::fill(&mut key).map_err(|_| KeyError)?;
        Ok(key)
    }

    /// The mock credential for `user`. `plugin`: the plugin of an account of that name, or of all accounts;
    /// `None` leaves the choice to the hash. Cost: the same for every name of a length.
    pub fn of(&self, user: &[u8], plugin: Option<AuthPlugin>, rounds: u32) -> MockCredential {
        let first = self.digest(b'1', user);
        let second = self.digest(b'2', user);
        let by_hash = if first.iter().fold(0, |all, byte| all ^ byte) & 1 == 0 {
            AuthPlugin::Native
        } else {
            AuthPlugin::CachingSha2
        };
        let plugin = plugin.unwrap_or(by_hash);
        let secret = match plugin {
            AuthPlugin::Native => Secret::Native(cycled::<{ native::HASH_BYTES }>(&second)),
            AuthPlugin::CachingSha2 | AuthPlugin::Socket => Secret::Sha2 {
                rounds,
                salt: cycled::<SALT_BYTES>(&first),
                hash: cycled::<ENCODED_CHARS>(&second),
            },
        };
        MockCredential { credential: Credential::of(plugin, secret), cached: self.digest(b'3', user) }
    }

    fn digest(&self, purpose: u8, user: &[u8]) -> [u8; DIGEST_BYTES] {
        let mut context = hmac::Context::with_key(&self.key);
        context.update(&[purpose]);
        context.update(user);
        cycled(context.sign().as_ref())
    }
}

/// The first `N` bytes of `bytes` over and over.
fn cycled<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut out = [0; N];
    for (place, byte) in out.iter_mut().zip(bytes.iter().cycle()) {
        *place = *byte;
    }
    out
}
