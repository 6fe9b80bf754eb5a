//! PAD SPACE collations of single-byte character sets, and of UTF-8 compared by code point.

use std::cmp::Ordering;

use super::byte_key;
use super::work::Work;

const SPACE: u8 = b' ';

const fn identity() -> [u8; 256] {
    let mut map = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        map[byte] = byte as u8;
        byte += 1;
    }
    map
}

const fn upper_ascii(mut map: [u8; 256]) -> [u8; 256] {
    let mut byte = b'a';
    while byte <= b'z' {
        map[byte as usize] = byte - 0x20;
        byte += 1;
    }
    map
}

const fn latin1_swedish() -> [u8; 256] {
    // Weights of C0..=DF; those of E0..=FF are the same except for the two signs and the last letter.
    const LETTERS: [u8; 32] = *b"AAAA\\[\\CEEEEIIIIDNOOOO]\xD7\xD8UUUYY\xDE\xDF";
    let mut map = upper_ascii(identity());
    let mut letter = 0;
    while letter < 32 {
        map[0xC0 + letter] = LETTERS[letter];
        if !matches!(letter, 0x17 | 0x1F) {
            map[0xE0 + letter] = LETTERS[letter];
        }
        letter += 1;
    }
    map
}

/// Weights of `latin1_swedish_ci`.
pub(super) static LATIN1_SWEDISH_CI: [u8; 256] = latin1_swedish();
/// Weights of `ascii_general_ci`.
pub(super) static ASCII_GENERAL_CI: [u8; 256] = upper_ascii(identity());

/// Number of bytes that `a` and `b` start with in common.
#[inline]
pub(super) fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    let shared = a.len().min(b.len());
    let (a, b) = (&a[..shared], &b[..shared]);
    let difference = |x: &[u8; 8], y: &[u8; 8]| u64::from_le_bytes(*x) ^ u64::from_le_bytes(*y);
    let first_byte = |difference: u64| difference.trailing_zeros() as usize / 8;
    let mut at = 0;
    for (x, y) in a.as_chunks::<8>().0.iter().zip(b.as_chunks::<8>().0) {
        if x != y {
            return at + first_byte(difference(x, y));
        }
        at += 8;
    }
    // The rest by one word that reaches back into what is equal, if there is a word at all.
    match (a.last_chunk::<8>(), b.last_chunk::<8>()) {
        (Some(x), Some(y)) if x != y => shared - 8 + first_byte(difference(x, y)),
        (Some(_), Some(_)) => shared,
        _ => a.iter().zip(b).take_while(|(x, y)| x == y).count(),
    }
}

/// Order of what is left of one string, `rest`, to spaces: `Less` when it sorts before them.
#[inline]
fn compare_to_spaces(rest: &[u8]) -> Ordering {
    let spaces = byte_key::count_spaces(rest);
    rest.get(spaces).map_or(Ordering::Equal, |b| b.cmp(&SPACE))
}

/// Order by bytes, the shorter string being followed by spaces.
#[inline]
pub(super) fn compare_bytes(a: &[u8], b: &[u8]) -> Ordering {
    let shared = a.len().min(b.len());
    a[..shared]
        .cmp(&b[..shared])
        .then_with(|| compare_to_spaces(&a[shared..]))
        .then_with(|| compare_to_spaces(&b[shared..]).reverse())
}

/// Order by the weights in `map`, the shorter string being followed by spaces. The space must be the only
/// byte of its weight, and bytes must keep their side of it.
pub(super) fn compare(map: &[u8; 256], a: &[u8], b: &[u8]) -> Ordering {
    let same = common_prefix(a, b);
    let (a, b) = (&a[same..], &b[same..]);
    let mut work = Work::default();
    for (&x, &y) in a.iter().zip(b) {
        let (x, y) = (map[x as usize], map[y as usize]);
        if x != y {
            return x.cmp(&y);
        }
        if work.ends(1) {
            return Ordering::Equal;
        }
    }
    let shared = a.len().min(b.len());
    compare_to_spaces(&a[shared..]).then_with(|| compare_to_spaces(&b[shared..]).reverse())
}

/// Appends the PAD SPACE key of the weights of `bytes`.
pub(super) fn append_key(map: &[u8; 256], bytes: &[u8], out: &mut Vec<u8>) {
    let bytes = byte_key::trim_spaces(bytes);
    out.reserve(bytes.len() + 1);
    if byte_key::has_control(bytes) {
        byte_key::append_pad_space_escaped(bytes, |b| map[b as usize], out);
    } else {
        out.extend(bytes.iter().map(|&b| map[b as usize]));
    }
    out.push(byte_key::PAD_SPACE_END);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_keep_their_side_of_the_space() {
        for map in [&LATIN1_SWEDISH_CI, &ASCII_GENERAL_CI] {
            for (byte, &weight) in map.iter().enumerate() {
                assert_eq!((byte as u8).cmp(&SPACE), weight.cmp(&SPACE));
                assert!(byte > 0x20 || weight == byte as u8);
            }
        }
    }

    #[test]
    fn swedish_letters_weigh_as_mysql_says() {
        let weights = |text: &[u8]| text.iter().map(|&b| LATIN1_SWEDISH_CI[b as usize]).collect::<Vec<_>>();
        assert_eq!(weights(b"az\xE5\xE4\xF6\xC5\xC4\xD6\xE6\xC6"), b"AZ[\\][\\]\\\\");
        assert_eq!(weights(b"\xDC\xFC\xFD\xD0\xF0\xD8\xF8"), b"YYYDD\xD8\xD8");
        assert_eq!(weights(b"\xD7\xF7\xDF\xFF\xDE\xFE\x8A\x9A"), b"\xD7\xF7\xDF\xFF\xDE\xDE\x8A\x9A");
    }

    #[test]
    fn common_prefix_counts_bytes() {
        assert_eq!(common_prefix(b"0123456789abcdefX", b"0123456789abcdefY"), 16);
        assert_eq!(common_prefix(b"0123456789", b"012345678"), 9);
        assert_eq!(common_prefix(b"", b"x"), 0);
        assert_eq!(common_prefix(b"abcdefghi", b"abcdXfghi"), 4);
    }
}
