//! SHA-crypt with SHA-256, in which `caching_sha2_password` accounts store their passwords.
//!
//! The published libraries cut salts to 16 bytes, so they cannot check MySQL's hashes.
//!
//! # Source
//! "Unix crypt using SHA-256 and SHA-512", version 0.6 (public domain); MySQL's salts are 20 bytes instead of
//! 16.

use super::Password;
use super::password::PASSWORD_BYTES_MAX;
use super::sha2::{DIGEST_BYTES, sha256, sha256_repeated};

/// Characters of the encoded digest.
pub(crate) const ENCODED_CHARS: usize = 43;
/// Longest salt, in bytes.
pub(crate) const SALT_BYTES_MAX: usize = 20;

const ALPHABET: &[u8; 64] = b"./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Returns the encoded digest of `password` under `salt` after `rounds` rounds. A salt beyond
/// [`SALT_BYTES_MAX`] is cut. Cost: 3 to 15 hash blocks a round, by the length of the password; no
/// allocation.
pub(crate) fn crypt(password: Password<'_>, salt: &[u8], rounds: u32) -> [u8; ENCODED_CHARS] {
    encode(&Rounds::new(password.bytes(), salt).run(0..rounds))
}

/// As [`crypt`], but does the work of `rounds_run` rounds if these are more.
pub(super) fn crypt_padded(
    password: Password<'_>,
    salt: &[u8],
    rounds: u32,
    rounds_run: u32,
) -> [u8; ENCODED_CHARS] {
    let mut state = Rounds::new(password.bytes(), salt);
    let digest = state.run(0..rounds);
    std::hint::black_box(state.run(rounds..rounds_run));
    encode(&digest)
}

/// What every round mixes: the last digest with strings of the password's and the salt's length.
struct Rounds {
    digest: [u8; DIGEST_BYTES],
    password: Stretched<PASSWORD_BYTES_MAX>,
    salt: Stretched<SALT_BYTES_MAX>,
}

impl Rounds {
    fn new(password: &[u8], salt: &[u8]) -> Self {
        let salt = salt.get(..SALT_BYTES_MAX).unwrap_or(salt);
        let digest = first_digest(password, salt);
        let password_digest = sha256_repeated(password, password.len());
        let salt_copies = 16 + usize::from(digest.first().copied().unwrap_or_default());
        Rounds {
            digest,
            password: Stretched::new(&password_digest, password.len()),
            salt: Stretched::new(&sha256_repeated(salt, salt_copies), salt.len()),
        }
    }

    fn run(&mut self, rounds: std::ops::Range<u32>) -> [u8; DIGEST_BYTES] {
        let password = self.password.bytes();
        for round in rounds {
            let salt = if round.is_multiple_of(3) { &[] } else { self.salt.bytes() };
            let middle = if round.is_multiple_of(7) { &[] } else { password };
            self.digest = if round % 2 == 1 {
                sha256(&[password, salt, middle, &self.digest])
            } else {
                sha256(&[&self.digest, salt, middle, password])
            };
        }
        self.digest
    }
}

/// A digest over and over, cut to a length of at most `N`.
struct Stretched<const N: usize> {
    bytes: [u8; N],
    len: usize,
}

impl<const N: usize> Stretched<N> {
    fn new(digest: &[u8; DIGEST_BYTES], len: usize) -> Self {
        let mut bytes = [0; N];
        for (place, byte) in bytes.iter_mut().zip(digest.iter().cycle()) {
            *place = *byte;
        }
        Stretched { bytes, len }
    }

    fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or(&self.bytes)
    }
}

fn first_digest(password: &[u8], salt: &[u8]) -> [u8; DIGEST_BYTES] {
    let inner = sha256(&[password, salt, password]);
    let stretched: Stretched<PASSWORD_BYTES_MAX> = Stretched::new(&inner, password.len());
    // One part for each bit of the length, which is at most 256.
    let mut parts: [&[u8]; 3 + 9] = [&[]; 12];
    let by_bit = (0..usize::BITS - password.len().leading_zeros())
        .map(|bit| if password.len() >> bit & 1 == 1 { &inner[..] } else { password });
    for (place, part) in parts.iter_mut().zip([password, salt, stretched.bytes()].into_iter().chain(by_bit)) {
        *place = part;
    }
    sha256(&parts)
}

/// The scheme's own base 64: bytes are taken 10 apart, rotating, and emitted least significant bits first.
fn encode(digest: &[u8; DIGEST_BYTES]) -> [u8; ENCODED_CHARS] {
    let byte = |i: usize| u32::from(digest.get(i).copied().unwrap_or_default());
    let mut out = [0; ENCODED_CHARS];
    let (mut a, mut b, mut c) = (0, 10, 20);
    for group in out.chunks_mut(4) {
        let mut bits =
            if group.len() == 4 { byte(a) << 16 | byte(b) << 8 | byte(c) } else { byte(31) << 8 | byte(30) };
        for place in group {
            *place = ALPHABET.get((bits & 0x3f) as usize).copied().unwrap_or_default();
            bits >>= 6;
        }
        (a, b, c) = (c + 1, a + 1, b + 1);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(password: &str, salt: &[u8], rounds: u32) -> String {
        let password = Password::new(password.as_bytes()).unwrap();
        String::from_utf8(crypt(password, salt, rounds).to_vec()).unwrap()
    }

    /// `len` printable characters in a fixed pattern.
    fn pattern(len: u32) -> String {
        (0..len).map(|i| char::from(33 + (i * 7 % 94) as u8)).collect()
    }

    #[test]
    fn the_published_vectors_hold() {
        let hello = text("Hello world!", b"saltstring", 5000);
        assert_eq!(hello, "5B8vYYiY.CVt1RlTTf8KbXBH3hsxY/GNooZaBBGWEc5");
        let many = text("Hello world!", b"saltstringsaltst", 10_000);
        assert_eq!(many, "3xv.VbSHBb41AL9AvLeujZkZRBAwqFMz2.opqey6IcA");
        let long = "a very much longer text to encrypt.  This one even stretches over morethan one line.";
        assert_eq!(text(long, b"anotherlongsalts", 1400), "Rx.j8H.h8HjEDGomFU8bDkXm3XIUnzyxf12oP84Bnq1");
        let short_salt = text(&"x".repeat(70), b"short", 1001);
        assert_eq!(short_salt, "UCiyRaFZ.LsCbNdewW0MNuChYGzGjY73WoultO6XQWC");
    }

    /// Recorded from crypt(3) of glibc 2.36.
    #[test]
    fn passwords_of_every_length_hash_as_in_the_c_library() {
        for (len, expected) in [
            (0, "Zn36wCiXtVKLQsl4EZaBU/Ag5FUHHzFRXevhCLkg7x/"),
            (1, "Y8DuPuOHen2lzf3c1rXeLTfnU3JFMBhgZutnZUj46W/"),
            (31, "6wpLk.n.aMMmy1Bzr/Q.4Y/qcHV0XpP5ZJTSEZ0YpI0"),
            (32, "gbVnypCq8tSIhW7AnAWpcy92DvZGBP1.Qlq6LhKn190"),
            (33, "tpv.z7WTjOcgd1IKlE6f78NANcfmlTrlrHBXHQdsqU."),
            (64, "hOm/uOL50FAtQ0Uuc5kAnCHrYjqrK0B5OLRJPbNBWq8"),
            (255, "7/utjgYrQ1NDLVyzV2tNLgOS5f8k8wmS/HlDXKeLG1D"),
            (256, "Y4.b42U0ILP26NqucFquYmbRs66S18CC8rESLFmuh07"),
        ] {
            assert_eq!(text(&pattern(len), b"0123456789abcdef", 5000), expected, "{len} bytes");
        }
    }

    /// Recorded from `mysql.user` of MySQL 9.7.4, whose salts have 20 bytes.
    #[test]
    fn hashes_are_mysqls() {
        for (len, salt, expected) in [
            (
                1,
                b"\x0d\x4c\x7c\x63\x14\x62\x72\x1f\x76\x5b\x3f\x25\x15\x44\x28\x40\x18\x16\x53\x15",
                "tRuoLwO4hcIoV/UAem6k8gj/G8nGPyeFYnbOSp.o.B2",
            ),
            (
                33,
                b"\x75\x19\x55\x22\x63\x16\x2b\x0b\x0b\x4f\x3d\x7e\x6d\x71\x1d\x02\x66\x4a\x1f\x1c",
                "Q6Yf1QxuXCqn/nOE0hlhfCjcT3kZEIbQ1JoMv8Y.Ew/",
            ),
            (
                255,
                b"\x4d\x40\x39\x38\x27\x63\x49\x05\x6a\x06\x74\x09\x22\x70\x35\x71\x70\x20\x32\x54",
                "pYxGR5REK1pmCZL3Y0.uIGqWA6Uh0Ca6bfb/FBEwJ01",
            ),
            (
                256,
                b"\x2c\x26\x01\x10\x37\x11\x41\x42\x2d\x79\x06\x76\x30\x5c\x5e\x48\x41\x5a\x4c\x38",
                "/kgNvjHVpjOASDW2FbudKHJf8.GgnqPo2hUmXLod5M5",
            ),
        ] {
            assert_eq!(text(&pattern(len), salt, 10_000), expected, "{len} bytes");
        }
    }

    #[test]
    fn padding_changes_the_work_and_not_the_digest() {
        let password = Password::new(b"secret").unwrap();
        let plain = crypt(password, b"saltstring", 1000);
        for rounds_run in [0, 1000, 1003] {
            assert_eq!(crypt_padded(password, b"saltstring", 1000, rounds_run), plain);
        }
    }
}
