//! `mysql_native_password`: the account stores SHA1(SHA1(password)); the client proves that it knows
//! SHA1(password).

use aws_lc_rs::digest::{Context, SHA1_FOR_LEGACY_USE_ONLY};

use super::{Password, equal_secrets, xor};
use crate::greeting::NONCE_BYTES;

/// Bytes of a stored hash.
pub(crate) const HASH_BYTES: usize = 20;

fn sha1(parts: &[&[u8]]) -> [u8; HASH_BYTES] {
    let mut context = Context::new(&SHA1_FOR_LEGACY_USE_ONLY);
    for part in parts {
        context.update(part);
    }
    let mut out = [0; HASH_BYTES];
    for (o, b) in out.iter_mut().zip(context.finish().as_ref()) {
        *o = *b;
    }
    out
}

/// What the account stores for `password`.
pub fn hash(password: Password<'_>) -> [u8; HASH_BYTES] {
    sha1(&[&sha1(&[password.bytes()])])
}

/// The answer of a client that knows `password`.
pub fn answer(password: &[u8], nonce: &[u8; NONCE_BYTES]) -> [u8; HASH_BYTES] {
    let stage1 = sha1(&[password]);
    xor(&stage1, &sha1(&[nonce, &sha1(&[&stage1])]))
}

/// Whether `response` proves the password behind `stored`.
pub fn accepts(stored: &[u8; HASH_BYTES], nonce: &[u8; NONCE_BYTES], response: &[u8]) -> bool {
    let Ok(response) = response.try_into() else {
        return false;
    };
    let stage1 = xor(response, &sha1(&[nonce, stored]));
    equal_secrets(&sha1(&[&stage1]), stored)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stored_hash_is_mysqls() {
        // PASSWORD('mypass') in the MySQL manual.
        let password = Password::new(b"mypass").unwrap();
        let credential = crate::auth::Credential::from_password(crate::auth::AuthPlugin::Native, password);
        assert_eq!(credential.unwrap().to_stored(), b"*6C8989366EAF75BB670AD8EA7A7FC1176A95CEF4");
    }

    #[test]
    fn only_the_right_password_is_accepted() {
        let nonce = [7; NONCE_BYTES];
        let stored = hash(Password::new(b"secret").unwrap());
        assert!(accepts(&stored, &nonce, &answer(b"secret", &nonce)));
        assert!(!accepts(&stored, &nonce, &answer(b"Secret", &nonce)));
        assert!(!accepts(&stored, &[8; NONCE_BYTES], &answer(b"secret", &nonce)));
        assert!(!accepts(&stored, &nonce, b""));
    }
}
