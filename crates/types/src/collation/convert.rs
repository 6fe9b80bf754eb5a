//! Text from one character set in another.

use base::ascii::is_ascii;

use super::{Charset, utf8};

/// Result of a conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conversion {
    /// Every character was kept.
    Exact,
    /// At least one character was invalid, or the target does not have it; a question mark stands for each.
    Lossy,
}

/// Appends `bytes` of the set `from` as text of the set `to`. To and from `binary`, bytes are copied: the
/// caller of the latter must check them ([`Charset::first_invalid`]).
pub fn convert(from: Charset, to: Charset, bytes: &[u8], out: &mut Vec<u8>) -> Conversion {
    use Charset::{Ascii, Binary, Latin1, Utf8mb3, Utf8mb4};
    if from == to || from == Binary || to == Binary || is_ascii(bytes) {
        out.extend_from_slice(bytes);
        return Conversion::Exact;
    }
    let mut exact = true;
    match (from, to) {
        (Latin1, Utf8mb4 | Utf8mb3) => bytes.iter().for_each(|&b| utf8::encode(latin1_point(b), out)),
        (Utf8mb4, Utf8mb3) | (Utf8mb3, Utf8mb4) => exact = copy_basic_plane(bytes, out),
        (Utf8mb4 | Utf8mb3, _) => {
            let mut rest = bytes;
            while !rest.is_empty() {
                let (point, len) = utf8::decode(rest);
                rest = &rest[len..];
                out.push(single_byte(to, point).unwrap_or_else(|| question_mark(&mut exact)));
            }
        }
        // Between ASCII and others only ASCII characters exist in both.
        (Ascii | Latin1 | Binary, _) => {
            let keep = |b: u8| if b < 0x80 { b } else { question_mark(&mut exact) };
            out.extend(bytes.iter().copied().map(keep));
        }
    }
    if exact { Conversion::Exact } else { Conversion::Lossy }
}

/// Copies text except for characters beyond the basic plane; whether there were none.
fn copy_basic_plane(mut bytes: &[u8], out: &mut Vec<u8>) -> bool {
    let mut exact = true;
    while let Some(at) = utf8::first_beyond_basic_plane(bytes) {
        out.extend_from_slice(&bytes[..at]);
        out.push(question_mark(&mut exact));
        bytes = &bytes[at + utf8::decode(&bytes[at..]).1..];
    }
    out.extend_from_slice(bytes);
    exact
}

#[cold]
fn question_mark(exact: &mut bool) -> u8 {
    *exact = false;
    b'?'
}

/// The byte that stands for `point` in a single-byte set.
fn single_byte(to: Charset, point: u32) -> Option<u8> {
    match point {
        0..=0x7F => Some(point as u8),
        _ if to != Charset::Latin1 => None,
        0xA0..=0xFF => Some(point as u8),
        _ => LATIN1_HIGH.iter().position(|&p| u32::from(p) == point).map(|at| at as u8 + 0x80),
    }
}

fn latin1_point(byte: u8) -> u32 {
    match byte {
        0x80..=0x9F => u32::from(LATIN1_HIGH[byte as usize - 0x80]),
        _ => u32::from(byte),
    }
}

/// Code points of bytes 80..=9F.
const LATIN1_HIGH: [u16; 32] = [
    0x20AC, 0x81, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152,
    0x8D, 0x017D, 0x8F, 0x90, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161,
    0x203A, 0x0153, 0x9D, 0x017E, 0x0178,
];

#[cfg(test)]
mod tests {
    use super::*;

    fn converted(from: Charset, to: Charset, bytes: &[u8]) -> (Vec<u8>, Conversion) {
        let mut out = Vec::new();
        let conversion = convert(from, to, bytes, &mut out);
        (out, conversion)
    }

    #[test]
    fn every_latin1_byte_survives_the_way_through_utf8() {
        for byte in 0..=255 {
            let (utf8, conversion) = converted(Charset::Latin1, Charset::Utf8mb4, &[byte]);
            assert_eq!(conversion, Conversion::Exact);
            assert_eq!(Charset::Utf8mb4.first_invalid(&utf8), None);
            assert_eq!(converted(Charset::Utf8mb4, Charset::Latin1, &utf8), (vec![byte], Conversion::Exact));
        }
        assert_eq!(
            converted(Charset::Latin1, Charset::Utf8mb4, b"\x80\x81\xE9").0,
            "\u{20ac}\u{81}\u{e9}".as_bytes()
        );
    }

    #[test]
    fn characters_that_the_target_lacks_become_question_marks() {
        let text = "a\u{e9}\u{4e2d}\u{80}".as_bytes();
        assert_eq!(
            converted(Charset::Utf8mb4, Charset::Latin1, text),
            (b"a\xE9??".to_vec(), Conversion::Lossy)
        );
        assert_eq!(converted(Charset::Utf8mb4, Charset::Ascii, text), (b"a???".to_vec(), Conversion::Lossy));
        assert_eq!(converted(Charset::Latin1, Charset::Ascii, b"a\xE9"), (b"a?".to_vec(), Conversion::Lossy));
        assert_eq!(converted(Charset::Utf8mb4, Charset::Binary, text), (text.to_vec(), Conversion::Exact));
        assert_eq!(
            converted(Charset::Binary, Charset::Utf8mb4, b"\xFF"),
            (b"\xFF".to_vec(), Conversion::Exact)
        );
    }
}
