//! The bounded clear-text password: the only form in which one is hashed.

/// Longest password, in bytes; MySQL's `MAX_PLAINTEXT_LENGTH`.
pub const MAX_PASSWORD_BYTES: usize = 256;

/// A password of at most [`MAX_PASSWORD_BYTES`] bytes. Hash functions take no other bytes for a password,
/// because the work of SHA-crypt grows with the square of the length.
#[derive(Clone, Copy)]
pub struct Password<'a>(&'a [u8]);

impl<'a> Password<'a> {
    /// Returns `bytes` as a password; `None` if they are too many.
    pub fn new(bytes: &'a [u8]) -> Option<Self> {
        (bytes.len() <= MAX_PASSWORD_BYTES).then_some(Password(bytes))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_has_at_most_256_bytes() {
        let bytes = [b'x'; MAX_PASSWORD_BYTES + 1];
        assert_eq!(Password::new(&bytes[1..]).map(|password| password.bytes().len()), Some(256));
        assert!(Password::new(&bytes).is_none());
    }

    #[test]
    fn debug_output_shows_no_password() {
        assert_eq!(format!("{:?}", Password::new(b"secret").unwrap()), "Password");
    }
}
