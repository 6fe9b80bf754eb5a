//! Passwords that the server makes up.

use env::IoError;

/// What they are made of: a letter of each case, a digit and a sign are in each.
const LOWER: &[u8] = b"abcdefghijklmnopqrstuvwxyz";
const UPPER: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const DIGITS: &[u8] = b"0123456789";
const SIGNS: &[u8] = b"!#$%&()*+,-./:;<=>?@[]^_{|}~";

/// Length unless `generated_random_password_length` says otherwise.
pub(crate) const DEFAULT_CHARS: usize = 20;

/// A password of `chars` characters, at least 4.
///
/// # Errors
/// The system has no random bytes.
pub(crate) fn generate(chars: usize) -> Result<String, IoError> {
    let all = [LOWER, UPPER, DIGITS, SIGNS].concat();
    loop {
        let mut password = String::with_capacity(chars);
        for _ in 0..chars {
            password.push(char::from(pick(&all)?));
        }
        let has = |kind: &[u8]| password.bytes().any(|byte| kind.contains(&byte));
        if [LOWER, UPPER, DIGITS, SIGNS].into_iter().all(has) {
            return Ok(password);
        }
    }
}

/// One of `set`, all as likely.
fn pick(set: &[u8]) -> Result<u8, IoError> {
    let even = 256 / set.len() * set.len();
    loop {
        let mut byte = [0];
        env::random_bytes(&mut byte)?;
        if usize::from(byte[0]) < even {
            return Ok(set[usize::from(byte[0]) % set.len()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_differ_and_have_every_kind_of_character() {
        let passwords: std::collections::BTreeSet<_> = (0..100).map(|_| generate(20).unwrap()).collect();
        assert_eq!(passwords.len(), 100);
        for password in &passwords {
            assert_eq!(password.len(), 20);
            for kind in [LOWER, UPPER, DIGITS, SIGNS] {
                assert!(password.bytes().any(|byte| kind.contains(&byte)), "{password}");
            }
        }
    }
}
