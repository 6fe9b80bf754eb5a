//! The fast answer of `caching_sha2_password`: like the native one, over SHA-256, against a hash that the
//! server keeps in memory after a first full authentication.

use aws_lc_rs::digest::{Context, SHA256};

use super::{Password, equal_secrets, xor};
use crate::greeting::NONCE_BYTES;

/// Bytes of a digest.
pub(crate) const DIGEST_BYTES: usize = 32;

/// SHA-256 over the concatenation of `parts`.
pub(crate) fn sha256(parts: &[&[u8]]) -> [u8; DIGEST_BYTES] {
    let mut context = Context::new(&SHA256);
    for part in parts {
        context.update(part);
    }
    digest_of(context)
}

/// SHA-256 over `times` copies of `part`.
pub(super) fn sha256_repeated(part: &[u8], times: usize) -> [u8; DIGEST_BYTES] {
    let mut context = Context::new(&SHA256);
    (0..times).for_each(|_| context.update(part));
    digest_of(context)
}

fn digest_of(context: Context) -> [u8; DIGEST_BYTES] {
    let mut out = [0; DIGEST_BYTES];
    for (o, b) in out.iter_mut().zip(context.finish().as_ref()) {
        *o = *b;
    }
    out
}

/// What the server keeps in memory for `password`: SHA256(SHA256(password)).
pub fn cached_hash(password: Password<'_>) -> [u8; DIGEST_BYTES] {
    sha256(&[&sha256(&[password.bytes()])])
}

/// The fast answer of a client that knows `password`.
pub fn answer(password: &[u8], nonce: &[u8; NONCE_BYTES]) -> [u8; DIGEST_BYTES] {
    let stage1 = sha256(&[password]);
    xor(&stage1, &sha256(&[&sha256(&[&stage1]), nonce]))
}

/// Whether `response` proves the password behind `cached`.
pub fn accepts(cached: &[u8; DIGEST_BYTES], nonce: &[u8; NONCE_BYTES], response: &[u8]) -> bool {
    let Ok(response) = response.try_into() else {
        return false;
    };
    let stage1 = xor(response, &sha256(&[cached, nonce]));
    equal_secrets(&sha256(&[&stage1]), cached)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_right_password_is_accepted() {
        let nonce = [9; NONCE_BYTES];
        let cached = cached_hash(Password::new(b"secret").unwrap());
        assert!(accepts(&cached, &nonce, &answer(b"secret", &nonce)));
        assert!(!accepts(&cached, &nonce, &answer(b"other", &nonce)));
        assert!(!accepts(&cached, &nonce, &[1; 20]));
    }
}
