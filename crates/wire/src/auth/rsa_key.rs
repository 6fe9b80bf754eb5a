//! The key pair under which clients send passwords over connections without TLS.

use std::fmt;

use aws_lc_rs::encoding::{AsDer, PublicKeyX509Der};
use aws_lc_rs::rsa::{KeySize, OAEP_SHA1_MGF1SHA1, OaepPrivateDecryptingKey, PrivateDecryptingKey};
use pem::{EncodeConfig, LineEnding, Pem};

/// The cryptographic library failed: no random bytes, or no memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyError;

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("key generation failed")
    }
}

impl std::error::Error for KeyError {}

/// A 2048-bit RSA key pair, kept in memory for the life of the server.
pub struct RsaKey {
    key: OaepPrivateDecryptingKey,
    public_pem: Vec<u8>,
}

impl fmt::Debug for RsaKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RsaKey")
    }
}

impl RsaKey {
    /// Generates a key pair. Cost: around 0.1 s.
    pub fn generate() -> Result<Self, KeyError> {
        let key = PrivateDecryptingKey::generate(KeySize::Rsa2048).map_err(|_| KeyError)?;
        let der: PublicKeyX509Der<'_> = key.public_key().as_der().map_err(|_| KeyError)?;
        let public_pem = to_pem(der.as_ref());
        let key = OaepPrivateDecryptingKey::new(key).map_err(|_| KeyError)?;
        Ok(RsaKey { key, public_pem })
    }

    /// The public key as clients read it.
    pub(crate) fn public_pem(&self) -> &[u8] {
        &self.public_pem
    }

    /// Decrypts a message (OAEP with SHA-1, as MySQL clients encrypt); `None` if it was not made for this
    /// key.
    pub fn decrypt(&self, message: &[u8]) -> Option<Vec<u8>> {
        let mut out = vec![0; self.key.min_output_size()];
        let n = self.key.decrypt(&OAEP_SHA1_MGF1SHA1, message, &mut out, None).ok()?.len();
        out.truncate(n);
        Some(out)
    }
}

/// PEM form of a public key.
fn to_pem(der: &[u8]) -> Vec<u8> {
    let lines = EncodeConfig::new().set_line_ending(LineEnding::LF);
    pem::encode_config(&Pem::new("PUBLIC KEY", der), lines).into_bytes()
}

#[cfg(test)]
mod tests {
    use aws_lc_rs::rsa::{OaepPublicEncryptingKey, PublicEncryptingKey};

    use super::*;

    /// Clients compare the marker lines byte by byte.
    #[test]
    fn the_public_key_is_text_in_lines_of_64_characters() {
        let key = RsaKey::generate().unwrap();
        let text = std::str::from_utf8(key.public_pem()).unwrap();
        let body = text.strip_prefix("-----BEGIN PUBLIC KEY-----\n").unwrap();
        let body = body.strip_suffix("-----END PUBLIC KEY-----\n").unwrap();
        let (last, lines) =
            body.lines().collect::<Vec<_>>().split_last().map(|(a, b)| (*a, b.to_vec())).unwrap();
        assert!(lines.iter().all(|line| line.len() == 64) && (1..=64).contains(&last.len()), "{text}");
    }

    #[test]
    fn a_message_under_the_published_key_is_read() {
        let key = RsaKey::generate().unwrap();
        let public = pem::parse(key.public_pem()).unwrap();
        let public = PublicEncryptingKey::from_der(public.contents()).unwrap();
        let public = OaepPublicEncryptingKey::new(public).unwrap();
        let mut message = vec![0; public.ciphertext_size()];
        public.encrypt(&OAEP_SHA1_MGF1SHA1, b"secret\0", &mut message, None).unwrap();
        assert_eq!(message.len(), key.key.key_size_bytes());
        assert_eq!(key.decrypt(&message).unwrap(), b"secret\0");
        message[5] ^= 1;
        assert_eq!(key.decrypt(&message), None);
    }
}
