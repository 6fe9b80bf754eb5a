//! The key pair under which clients send passwords over connections without TLS.

use std::fmt;

use aws_lc_rs::encoding::{AsDer, PublicKeyX509Der};
use aws_lc_rs::rsa::{KeySize, OAEP_SHA1_MGF1SHA1, OaepPrivateDecryptingKey, PrivateDecryptingKey};

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
        let public_pem = pem(der.as_ref());
        let key = OaepPrivateDecryptingKey::new(key).map_err(|_| KeyError)?;
        Ok(RsaKey { key, public_pem })
    }

    /// The public key as clients read it.
    pub fn public_pem(&self) -> &[u8] {
        &self.public_pem
    }

    /// Bytes of an encrypted message.
    pub fn message_bytes(&self) -> usize {
        self.key.key_size_bytes()
    }

    /// Decrypts a message (OAEP with SHA-1, as MySQL clients encrypt); `None` if it was not made for this key.
    pub fn decrypt(&self, message: &[u8]) -> Option<Vec<u8>> {
        let mut out = vec![0; self.key.min_output_size()];
        let n = self.key.decrypt(&OAEP_SHA1_MGF1SHA1, message, &mut out, None).ok()?.len();
        out.truncate(n);
        Some(out)
    }
}

/// PEM form of a public key.
fn pem(der: &[u8]) -> Vec<u8> {
    let body = base64(der);
    let mut out = b"-----BEGIN PUBLIC KEY-----\n".to_vec();
    for line in body.chunks(64) {
        out.extend_from_slice(line);
        out.push(b'\n');
    }
    out.extend_from_slice(b"-----END PUBLIC KEY-----\n");
    out
}

fn base64(bytes: &[u8]) -> Vec<u8> {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = Vec::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let at = |i: usize| u32::from(group.get(i).copied().unwrap_or_default());
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for i in 0..4 {
            let sextet = (bits >> (18 - 6 * i) & 0x3f) as usize;
            let symbol = ALPHABET.get(sextet).copied().unwrap_or_default();
            out.push(if i <= group.len() { symbol } else { b'=' });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use aws_lc_rs::rsa::{OaepPublicEncryptingKey, PublicEncryptingKey};

    use super::*;

    fn unbase64(text: &str) -> Vec<u8> {
        let value = |c: u8| match c {
            b'A'..=b'Z' => c - b'A',
            b'a'..=b'z' => c - b'a' + 26,
            b'0'..=b'9' => c - b'0' + 52,
            b'+' => 62,
            _ => 63,
        };
        let mut out = Vec::new();
        for group in text.as_bytes().chunks(4) {
            let kept: Vec<u8> = group.iter().copied().filter(|&c| c != b'=').collect();
            let bits = (0..4).fold(0u32, |acc, i| acc << 6 | kept.get(i).map_or(0, |&c| u32::from(value(c))));
            out.extend_from_slice(&bits.to_be_bytes()[1..kept.len()]);
        }
        out
    }

    #[test]
    fn base64_pads_as_specified() {
        for (plain, coded) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")]
        {
            assert_eq!(base64(plain.as_bytes()), coded.as_bytes());
        }
    }

    #[test]
    fn a_message_under_the_published_key_is_read() {
        let key = RsaKey::generate().unwrap();
        let pem = std::str::from_utf8(key.public_pem()).unwrap();
        let body: String = pem.lines().filter(|line| !line.starts_with("---")).collect();
        let public = PublicEncryptingKey::from_der(&unbase64(&body)).unwrap();
        let public = OaepPublicEncryptingKey::new(public).unwrap();
        let mut message = vec![0; public.ciphertext_size()];
        public.encrypt(&OAEP_SHA1_MGF1SHA1, b"secret\0", &mut message, None).unwrap();
        assert_eq!(message.len(), key.message_bytes());
        assert_eq!(key.decrypt(&message).unwrap(), b"secret\0");
        message[5] ^= 1;
        assert_eq!(key.decrypt(&message), None);
    }
}
