//! Values as texts of messages.

use super::Value;
use crate::Charset;
use crate::collation::convert;

/// Messages end after some hundred characters, and texts may be very long.
const SHOWN_BYTES: usize = 2048;

impl Value<'_> {
    /// The value as text for people.
    #[cold]
    pub fn display_text(&self) -> String {
        let mut out = Vec::new();
        self.write_text(&mut out);
        if self.is_null() { "NULL".to_owned() } else { String::from_utf8_lossy(&out).into_owned() }
    }

    /// The value as text for a message: as much of it as any message shows, as [`bytes_for_message`] does.
    #[cold]
    pub fn message_text(&self) -> String {
        match self {
            Value::Bit { .. } => escaped(self.as_text(&mut Vec::new())),
            Value::Bytes { data, collation } => {
                let charset = collation.collation().map_or(Charset::Utf8mb4, |known| known.charset);
                bytes_for_message(data, charset)
            }
            Value::Float(v) => Value::Double(f64::from(*v)).display_text(),
            _ => self.display_text(),
        }
    }

    /// The bytes of the value's text as a message shows that takes them for its own: up to a NUL, with a
    /// question mark for each byte that is no character.
    #[cold]
    pub fn raw_message_text(&self) -> String {
        let mut scratch = Vec::new();
        let text = self.as_text(&mut scratch);
        let mut out = String::new();
        for chunk in whole_characters(before_nul(text)).utf8_chunks() {
            out.push_str(chunk.valid());
            out.extend(std::iter::repeat_n('?', chunk.invalid().len()));
        }
        out
    }

    /// As [`Value::raw_message_text`], with a question mark for each byte of a character beyond the basic
    /// plane.
    #[cold]
    pub fn narrow_message_text(&self) -> String {
        let mut out = String::new();
        for character in self.raw_message_text().chars() {
            if character.len_utf8() > 3 { out.push_str("????") } else { out.push(character) }
        }
        out
    }
}

/// As much of a string as a message shows: up to a NUL, with a question mark for characters beyond the basic
/// plane, which MySQL's messages cannot hold. Bytes of no character set are `\xNN` where they are no
/// printable ASCII.
#[cold]
pub fn bytes_for_message(bytes: &[u8], charset: Charset) -> String {
    if charset == Charset::Binary {
        return escaped(bytes);
    }
    let shown = before_nul(whole_characters(bytes));
    let (mut text, mut out) = (Vec::with_capacity(shown.len()), Vec::new());
    convert(charset, Charset::Utf8mb4, shown, &mut text);
    convert(Charset::Utf8mb4, Charset::Utf8mb3, &text, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

/// As much of `text` as a message shows.
#[cold]
pub fn text_for_message(text: &[u8]) -> String {
    String::from_utf8_lossy(whole_characters(text)).into_owned()
}

/// The front of `text`, which does not end within a character of UTF-8.
fn whole_characters(text: &[u8]) -> &[u8] {
    let end = match text.get(..SHOWN_BYTES) {
        Some(shown) => shown.iter().rposition(|b| b & 0xC0 != 0x80).unwrap_or(SHOWN_BYTES),
        None => text.len(),
    };
    &text[..end]
}

/// Messages end at a NUL.
fn before_nul(text: &[u8]) -> &[u8] {
    &text[..text.iter().position(|b| *b == 0).unwrap_or(text.len())]
}

fn escaped(bytes: &[u8]) -> String {
    let mut out = String::new();
    for &byte in &bytes[..bytes.len().min(SHOWN_BYTES / 4)] {
        if matches!(byte, b' '..=b'~') {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("\\x{byte:02X}"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CollationId;

    #[test]
    fn messages_escape_bytes_and_replace_characters_that_they_cannot_hold() {
        let text = |data: &'static str| Value::text(data.as_bytes(), CollationId::UTF8MB4_0900_AI_CI);
        assert_eq!(Value::binary(b"a\0\xFF~").message_text(), "a\\x00\\xFF~");
        assert_eq!(Value::Bit { value: 5, bytes: 2 }.message_text(), "\\x00\\x05");
        assert_eq!(text("\u{e4}\u{1f600}b").message_text(), "\u{e4}?b");
        assert_eq!(Value::text(b"\xE4b", CollationId::LATIN1_SWEDISH_CI).message_text(), "\u{e4}b");
    }

    #[test]
    fn raw_messages_end_at_a_nul() {
        assert_eq!(Value::binary(b"a\xFF\xFEb\0c").raw_message_text(), "a??b");
        assert_eq!(Value::text(b"\xE4bc", CollationId::LATIN1_SWEDISH_CI).raw_message_text(), "?bc");
    }
}
