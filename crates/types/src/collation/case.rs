//! Upper and lower case.
//!
//! UTF-8 follows Unicode 9's simple mappings (one character for one), as MySQL's 0900 collations do.
//! Differences that are left: MySQL's older collations (`utf8mb4_general_ci`, `utf8mb4_bin`) lack some 770
//! rare mappings, and MySQL drops a character whose other case has more bytes than fit its buffer, which here
//! it gets.

use super::{Charset, uca900, utf8};

impl Charset {
    /// Appends `bytes`, valid text of this set, in upper case. Binary strings have no case.
    pub fn append_upper(self, bytes: &[u8], out: &mut Vec<u8>) {
        match self {
            Self::Utf8mb4 | Self::Utf8mb3 => map_utf8(bytes, |b| b.to_ascii_uppercase(), upper, out),
            Self::Latin1 => out.extend(bytes.iter().map(|&b| latin1_upper(b))),
            Self::Ascii => out.extend(bytes.iter().map(u8::to_ascii_uppercase)),
            Self::Binary => out.extend_from_slice(bytes),
        }
    }

    /// Appends `bytes`, valid text of this set, in lower case. Binary strings have no case.
    pub fn append_lower(self, bytes: &[u8], out: &mut Vec<u8>) {
        match self {
            Self::Utf8mb4 | Self::Utf8mb3 => map_utf8(bytes, |b| b.to_ascii_lowercase(), lower, out),
            Self::Latin1 => out.extend(bytes.iter().map(|&b| latin1_lower(b))),
            Self::Ascii => out.extend(bytes.iter().map(u8::to_ascii_lowercase)),
            Self::Binary => out.extend_from_slice(bytes),
        }
    }
}

fn map_utf8(mut bytes: &[u8], ascii: impl Fn(u8) -> u8, other: impl Fn(char) -> char, out: &mut Vec<u8>) {
    out.reserve(bytes.len());
    while !bytes.is_empty() {
        let run = bytes.iter().position(|&b| b >= 0x80).unwrap_or(bytes.len());
        out.extend(bytes[..run].iter().map(|&b| ascii(b)));
        bytes = &bytes[run..];
        if !bytes.is_empty() {
            let (point, len) = utf8::decode(bytes);
            let mapped = char::from_u32(point).map_or(point, |c| u32::from(other(c)));
            utf8::encode(mapped, out);
            bytes = &bytes[len..];
        }
    }
}

fn upper(c: char) -> char {
    // Greek letters with a iota below: their full mapping has two characters, their simple one is the title
    // case.
    let distance = match c {
        '\u{1f80}'..='\u{1f87}' | '\u{1f90}'..='\u{1f97}' | '\u{1fa0}'..='\u{1fa7}' => 8,
        '\u{1fb3}' | '\u{1fc3}' | '\u{1ff3}' => 9,
        _ => return in_unicode_9(c, single(c.to_uppercase(), c)),
    };
    char::from_u32(u32::from(c) + distance).unwrap_or(c)
}

fn lower(c: char) -> char {
    match c {
        '\u{130}' => 'i',
        _ => in_unicode_9(c, single(c.to_lowercase(), c)),
    }
}

/// The only character of a mapping; `c` where a mapping has several, which no simple mapping has.
fn single(mut mapping: impl Iterator<Item = char>, c: char) -> char {
    match (mapping.next(), mapping.next()) {
        (Some(mapped), None) => mapped,
        _ => c,
    }
}

/// `mapped`, unless it or `c` is newer than the collations.
fn in_unicode_9(c: char, mapped: char) -> char {
    let known = |c: char| uca900::has_explicit_weights(u32::from(c));
    if mapped != c && known(c) && known(mapped) { mapped } else { c }
}

fn latin1_upper(byte: u8) -> u8 {
    match byte {
        b'a'..=b'z' | 0xE0..=0xF6 | 0xF8..=0xFE => byte - 0x20,
        _ => byte,
    }
}

fn latin1_lower(byte: u8) -> u8 {
    match byte {
        b'A'..=b'Z' | 0xC0..=0xD6 | 0xD8..=0xDE => byte + 0x20,
        _ => byte,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cases(charset: Charset, text: &[u8]) -> [Vec<u8>; 2] {
        let mut both = [Vec::new(), Vec::new()];
        charset.append_upper(text, &mut both[0]);
        charset.append_lower(text, &mut both[1]);
        both
    }

    #[test]
    fn letters_change_case_in_their_charset() {
        let [upper, lower] =
            cases(Charset::Utf8mb4, "aZ\u{e9}\u{df}\u{3a3}\u{1f80}\u{131}\u{130}\u{10d0}1".as_bytes());
        assert_eq!(upper, "AZ\u{c9}\u{df}\u{3a3}\u{1f88}I\u{130}\u{10d0}1".as_bytes());
        assert_eq!(lower, "az\u{e9}\u{df}\u{3c3}\u{1f80}\u{131}i\u{10d0}1".as_bytes());
        assert_eq!(
            cases(Charset::Latin1, b"aZ\xE9\xC9\xF7\xD7\xDF\xFF\x9A"),
            [b"AZ\xC9\xC9\xF7\xD7\xDF\xFF\x9A".to_vec(), b"az\xE9\xE9\xF7\xD7\xDF\xFF\x9A".to_vec()]
        );
        assert_eq!(cases(Charset::Ascii, b"aZ["), [b"AZ[".to_vec(), b"az[".to_vec()]);
        assert_eq!(cases(Charset::Binary, b"aZ"), [b"aZ".to_vec(), b"aZ".to_vec()]);
    }
}
