//! How errors show a constant that is no date or time.

use types::Value;

/// The text of `value`. Messages hold no character beyond the basic plane.
pub(super) fn shown(value: &Value<'_>) -> String {
    value.raw_message_text().chars().map(in_basic_plane).collect()
}

/// The text of the bytes of a BIT or hexadecimal literal, as MySQL reads characters of utf8mb4 from them: up
/// to a NUL, with a question mark for a byte that begins none. It ends where there are fewer bytes than the
/// next one announces.
pub(super) fn shown_bits(mut bytes: &[u8]) -> String {
    let mut out = String::new();
    while let [first, rest @ ..] = bytes
        && *first != 0
    {
        let width = match first {
            0..=0xC1 => 1,
            0xC2..=0xDF => 2,
            0xE0..=0xEF => 3,
            0xF0.. => 4,
        };
        let Some((character, after)) = bytes.split_at_checked(width) else { break };
        if let Ok(text) = std::str::from_utf8(character) {
            out.extend(text.chars().map(in_basic_plane));
            bytes = after;
        } else {
            out.push('?');
            bytes = rest;
        }
    }
    out
}

fn in_basic_plane(character: char) -> char {
    if u32::from(character) > 0xFFFF { '?' } else { character }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_end_where_a_character_lacks_bytes() {
        assert_eq!(shown_bits(&[0xFF; 8]), "?????");
        assert_eq!(shown_bits(&[0xE4]), "");
        assert_eq!(shown_bits(b"ab\0c"), "ab");
        assert_eq!(shown_bits(&[0x80, 0]), "?");
        assert_eq!(shown_bits("ä".as_bytes()), "ä");
    }
}
