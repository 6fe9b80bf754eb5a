//! SHA-crypt with SHA-256, in which `caching_sha2_password` accounts store their passwords.
//!
//! # Source
//! "Unix crypt using SHA-256 and SHA-512", version 0.6 (public domain); MySQL's salts are 20 bytes instead of 16.

use super::sha2::{DIGEST_BYTES, sha256};

/// Characters of the encoded digest.
pub const ENCODED_CHARS: usize = 43;

const ALPHABET: &[u8; 64] = b"./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// The encoded digest of `password` under `salt` after `rounds` rounds. Cost: about 2.5 hash blocks a round.
pub fn crypt(password: &[u8], salt: &[u8], rounds: u32) -> [u8; ENCODED_CHARS] {
    let mut digest = first_digest(password, salt);
    let password_block = repeat_to(&sha256(&[&password.repeat(password.len())]), password.len());
    let salt_copies = 16 + usize::from(digest.first().copied().unwrap_or_default());
    let salt_block = repeat_to(&sha256(&[&salt.repeat(salt_copies)]), salt.len());
    for round in 0..rounds {
        digest = next_digest(&digest, &password_block, &salt_block, round);
    }
    encode(&digest)
}

fn first_digest(password: &[u8], salt: &[u8]) -> [u8; DIGEST_BYTES] {
    let inner = sha256(&[password, salt, password]);
    let mut message = [password, salt, &repeat_to(&inner, password.len())].concat();
    let mut bits = password.len();
    while bits > 0 {
        message.extend_from_slice(if bits & 1 == 1 { &inner } else { password });
        bits >>= 1;
    }
    sha256(&[&message])
}

fn next_digest(digest: &[u8; DIGEST_BYTES], password: &[u8], salt: &[u8], round: u32) -> [u8; DIGEST_BYTES] {
    let odd = round % 2 == 1;
    let salt = if round.is_multiple_of(3) { &[] } else { salt };
    let middle = if round.is_multiple_of(7) { &[] } else { password };
    if odd { sha256(&[password, salt, middle, digest]) } else { sha256(&[digest, salt, middle, password]) }
}

/// The digest over and over, `n` bytes of it.
fn repeat_to(digest: &[u8; DIGEST_BYTES], n: usize) -> Vec<u8> {
    digest.iter().copied().cycle().take(n).collect()
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

    fn text(password: &str, salt: &str, rounds: u32) -> String {
        String::from_utf8(crypt(password.as_bytes(), salt.as_bytes(), rounds).to_vec()).unwrap()
    }

    #[test]
    fn the_vectors_of_the_c_library_hold() {
        let hello = text("Hello world!", "saltstring", 5000);
        assert_eq!(hello, "5B8vYYiY.CVt1RlTTf8KbXBH3hsxY/GNooZaBBGWEc5");
        let many = text("Hello world!", "saltstringsaltst", 10_000);
        assert_eq!(many, "3xv.VbSHBb41AL9AvLeujZkZRBAwqFMz2.opqey6IcA");
        let long = "a very much longer text to encrypt.  This one even stretches over morethan one line.";
        assert_eq!(text(long, "anotherlongsalts", 1400), "Rx.j8H.h8HjEDGomFU8bDkXm3XIUnzyxf12oP84Bnq1");
        let short_salt = text(&"x".repeat(70), "short", 1001);
        assert_eq!(short_salt, "UCiyRaFZ.LsCbNdewW0MNuChYGzGjY73WoultO6XQWC");
    }
}
