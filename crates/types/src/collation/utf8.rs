//! Reading and measuring UTF-8 of up to four bytes per character.

use base::ascii::is_ascii;

/// What an invalid byte counts as, one character for each.
pub(crate) const REPLACEMENT: u32 = 0xFFFD;

/// The first character of `bytes` and its length in bytes; [`REPLACEMENT`] and 1 where no character starts.
/// `bytes` must not be empty.
#[inline]
pub fn decode(bytes: &[u8]) -> (u32, usize) {
    let tail = |b: u8| u32::from(b & 0x3F);
    let is_tail = |b: u8| b & 0xC0 == 0x80;
    match *bytes {
        [a, ..] if a < 0x80 => (u32::from(a), 1),
        [a @ 0xC2..=0xDF, b, ..] if is_tail(b) => (u32::from(a & 0x1F) << 6 | tail(b), 2),
        [a @ 0xE0..=0xEF, b, c, ..] if is_tail(b) && is_tail(c) => {
            let point = u32::from(a & 0x0F) << 12 | tail(b) << 6 | tail(c);
            if point < 0x800 || point >> 11 == 0x1B { (REPLACEMENT, 1) } else { (point, 3) }
        }
        [a @ 0xF0..=0xF4, b, c, d, ..] if is_tail(b) && is_tail(c) && is_tail(d) => {
            let point = u32::from(a & 0x07) << 18 | tail(b) << 12 | tail(c) << 6 | tail(d);
            if matches!(point, 0x10000..=0x10FFFF) { (point, 4) } else { (REPLACEMENT, 1) }
        }
        _ => (REPLACEMENT, 1),
    }
}

/// Appends the UTF-8 form of `point`, which need not be a valid character.
#[inline]
pub fn encode(point: u32, out: &mut Vec<u8>) {
    let tail = |shift: u32| (point >> shift & 0x3F) as u8 | 0x80;
    match point {
        0..=0x7F => out.push(point as u8),
        0x80..=0x7FF => out.extend([(point >> 6) as u8 | 0xC0, tail(0)]),
        0x800..=0xFFFF => out.extend([(point >> 12) as u8 | 0xE0, tail(6), tail(0)]),
        _ => out.extend([(point >> 18) as u8 | 0xF0, tail(12), tail(6), tail(0)]),
    }
}

/// Number of characters in valid UTF-8: bytes that do not continue a character.
#[inline]
pub fn char_len(bytes: &[u8]) -> usize {
    bytes.iter().filter(|&&b| b & 0xC0 != 0x80).count()
}

/// Byte offset of character number `index` of valid UTF-8; the length of `bytes` when there are fewer.
#[inline]
pub fn byte_offset_of_char(bytes: &[u8], index: usize) -> usize {
    if index >= bytes.len() {
        return bytes.len();
    }
    if bytes[..index].is_ascii() && bytes[index] & 0xC0 != 0x80 {
        return index;
    }
    let mut starts = bytes.iter().enumerate().filter(|&(_, &b)| b & 0xC0 != 0x80);
    starts.nth(index).map_or(bytes.len(), |(at, _)| at)
}

/// Byte offset of the first byte that is not part of valid UTF-8.
#[inline]
pub fn first_invalid(bytes: &[u8]) -> Option<usize> {
    if is_ascii(bytes) {
        return None;
    }
    std::str::from_utf8(bytes).err().map(|e| e.valid_up_to())
}

/// Byte offset of the first byte that is not part of valid UTF-8 of up to three bytes per character.
#[inline]
pub(crate) fn first_beyond_basic_plane(bytes: &[u8]) -> Option<usize> {
    if is_ascii(bytes) {
        return None;
    }
    let long = bytes.iter().position(|&b| b >= 0xF0);
    std::str::from_utf8(&bytes[..long.unwrap_or(bytes.len())]).err().map(|e| e.valid_up_to()).or(long)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decode_and_encode_agree_with_the_standard_library() {
        let mut out = Vec::new();
        for c in (0..=0x10FFFF).filter_map(char::from_u32) {
            let mut buffer = [0; 4];
            let text = c.encode_utf8(&mut buffer).as_bytes();
            assert_eq!(decode(text), (u32::from(c), text.len()));
            out.clear();
            encode(u32::from(c), &mut out);
            assert_eq!(out, text);
        }
    }

    #[test]
    fn bytes_that_start_no_character_are_replaced_one_by_one() {
        for bad in [
            &b"\x80"[..],
            b"\xC3",
            b"\xC0\x80",
            b"\xED\xA0\x80",
            b"\xF4\x90\x80\x80",
            b"\xE0\x80\x80",
            b"\xFF",
        ] {
            assert_eq!(decode(bad), (REPLACEMENT, 1));
            assert_eq!(first_invalid(bad), Some(0));
        }
        assert_eq!(first_invalid("a\u{e9}".as_bytes()), None);
        assert_eq!(first_invalid(b"a\xC3"), Some(1));
    }

    #[test]
    fn offsets_count_characters() {
        let text = "a\u{e9}\u{4e2d}\u{1f600}z".as_bytes();
        assert_eq!(char_len(text), 5);
        let offsets: Vec<usize> = (0..7).map(|i| byte_offset_of_char(text, i)).collect();
        assert_eq!(offsets, [0, 1, 3, 6, 10, 11, 11]);
        assert_eq!(byte_offset_of_char(b"abc", 2), 2);
        assert_eq!(byte_offset_of_char("ab\u{e9}".as_bytes(), 3), 4);
    }
}
