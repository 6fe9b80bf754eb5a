//! The bounded clear-text password: the only form in which one is hashed.

use super::KeyError;

/// The characters of random passwords.
const RANDOM_CHARS: &[u8; 84] =
    b"qwertyuiopasdfghjklzxcvbnmQWERTYUIOPASDFGHJKLZXCVBNM1234567890,.-+*;:_!%&/(){}[]<>@|";

/// Longest password, in bytes; MySQL's `MAX_PLAINTEXT_LENGTH`.
pub const PASSWORD_BYTES_MAX: usize = 256;

/// A password of at most [`PASSWORD_BYTES_MAX`] bytes. Hash functions take no other bytes for a password,
/// because the work of SHA-crypt grows with the square of the length.
#[derive(Clone, Copy)]
pub struct Password<'a>(&'a [u8]);

impl<'a> Password<'a> {
    /// Returns `bytes` as a password; `None` if they are too many.
    pub fn new(bytes: &'a [u8]) -> Option<Self> {
        (bytes.len() <= PASSWORD_BYTES_MAX).then_some(Password(bytes))
    }

    /// The bytes.
    pub fn bytes(self) -> &'a [u8] {
        self.0
    }
}

impl std::fmt::Debug for Password<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Password")
    }
}

/// Draws a password of this number of characters, each as likely as the others.
///
/// # Errors
/// When the system gives no random bytes.
pub fn random_password(chars: usize) -> Result<String, KeyError> {
    // Bytes from the last, incomplete run of the characters would make the first of them likelier.
    let limit = 256 - 256 % RANDOM_CHARS.len();
    let mut password = String::with_capacity(chars);
    let mut bytes = [0_u8; 64];
    while password.len() < chars {
        aws_lc_rs::rand::fill(&mut bytes).map_err(|_| KeyError)?;
        let drawn = bytes.iter().map(|&byte| usize::from(byte)).filter(|&byte| byte < limit);
        let missing = chars - password.len();
        let drawn = drawn.take(missing).filter_map(|byte| RANDOM_CHARS.get(byte % RANDOM_CHARS.len()));
        password.extend(drawn.map(|&byte| char::from(byte)));
    }
    Ok(password)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_passwords_have_the_length_asked_for_and_differ() {
        for chars in [0, 5, 20, 255] {
            let drawn = random_password(chars).unwrap();
            assert_eq!(drawn.len(), chars);
            assert!(drawn.bytes().all(|byte| RANDOM_CHARS.contains(&byte)), "{drawn}");
        }
        assert_ne!(random_password(20).unwrap(), random_password(20).unwrap());
        let mut chars = RANDOM_CHARS.to_vec();
        chars.sort_unstable();
        chars.dedup();
        assert_eq!(chars.len(), RANDOM_CHARS.len(), "each character once");
    }

    #[test]
    fn a_password_has_at_most_256_bytes() {
        let bytes = [b'x'; PASSWORD_BYTES_MAX + 1];
        assert_eq!(Password::new(&bytes[1..]).map(|password| password.bytes().len()), Some(256));
        assert!(Password::new(&bytes).is_none());
    }

    #[test]
    fn debug_output_shows_no_password() {
        assert_eq!(format!("{:?}", Password::new(b"secret").unwrap()), "Password");
    }
}
