//! Authentication: what accounts store, and the exchanges that prove a password.
//!
//! ```text
//! start --(other plugin)--> AuthSwitch --resume--+
//!   |                                            v
//!   +------------------------------> native: accepted | denied
//!   +--> caching_sha2: fast answer known and right -> 0x03, accepted
//!                      else 0x04 -> password in clear (local socket), or
//!                                   [public key asked for and sent ->] password under RSA -> accepted | denied
//! ```
//!
//! A name without an account, and an account without a password for a client that gives one, go the same
//! ways, against a [`MockCredential`]: same packets, same hash rounds.

mod credential;
mod exchange;
mod mock;
pub mod native;
mod password;
mod rsa_key;
pub mod sha2;
pub mod sha256_crypt;

pub use credential::{AuthPlugin, Credential, CredentialError, DEFAULT_ROUNDS};
pub use exchange::{Exchange, Step, Verifier};
pub use mock::{MockCredential, MockCredentials, MockKey};
pub use password::{PASSWORD_BYTES_MAX, Password, random_password};
pub use rsa_key::{KeyError, RsaKey};

use crate::greeting::NONCE_BYTES;

/// Draws a challenge; its bytes are printable, as clients expect no NUL and no `$` in it.
///
/// # Errors
/// When the system gives no random bytes.
pub fn new_nonce() -> Result<[u8; NONCE_BYTES], KeyError> {
    let mut nonce = [0; NONCE_BYTES];
    aws_lc_rs::rand::fill(&mut nonce).map_err(|_| KeyError)?;
    for byte in &mut nonce {
        *byte &= 0x7f;
        if matches!(*byte, 0 | b'$') {
            *byte += 1;
        }
    }
    Ok(nonce)
}

/// Compares two secrets in time that depends on their lengths alone.
fn equal_secrets(a: &[u8], b: &[u8]) -> bool {
    aws_lc_rs::constant_time::verify_slices_are_equal(a, b).is_ok()
}

/// `a` XOR `b`, over the shorter of the two.
fn xor<const N: usize>(a: &[u8; N], b: &[u8; N]) -> [u8; N] {
    let mut out = *a;
    for (o, b) in out.iter_mut().zip(b) {
        *o ^= b;
    }
    out
}
