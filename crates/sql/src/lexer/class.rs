//! Byte classes: what a token may begin with.

/// Class of a token's first byte.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Class {
    Bad,
    Blank,
    Word,
    /// `_`: may begin a charset introducer.
    Underscore,
    /// `x`, `b`, `n` in either case: may begin a prefixed literal.
    Prefix,
    Digit,
    Quote,
    DoubleQuote,
    Backquote,
    Dot,
    At,
    Minus,
    Hash,
    Slash,
    Star,
    /// A byte that is a token by itself.
    Single,
    /// `< > = ! & | :`: longer operators may begin here.
    Operator,
}

/// Class by byte.
pub(super) static CLASS: [Class; 256] = build();

const fn build() -> [Class; 256] {
    let mut table = [Class::Bad; 256];
    let mut b = 0;
    while b < 256 {
        table[b] = match b as u8 {
            b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c => Class::Blank,
            b'x' | b'X' | b'b' | b'B' | b'n' | b'N' => Class::Prefix,
            b'_' => Class::Underscore,
            b'a'..=b'z' | b'A'..=b'Z' | b'$' | 0x80..=0xff => Class::Word,
            b'0'..=b'9' => Class::Digit,
            b'\'' => Class::Quote,
            b'"' => Class::DoubleQuote,
            b'`' => Class::Backquote,
            b'.' => Class::Dot,
            b'@' => Class::At,
            b'-' => Class::Minus,
            b'#' => Class::Hash,
            b'/' => Class::Slash,
            b'*' => Class::Star,
            b'(' | b')' | b',' | b';' | b'+' | b'%' | b'^' | b'~' | b'?' | b'{' | b'}' => Class::Single,
            b'<' | b'>' | b'=' | b'!' | b'&' | b'|' | b':' => Class::Operator,
            _ => Class::Bad,
        };
        b += 1;
    }
    table
}

/// Whether `b` may stand inside an unquoted name: letters, digits, `_`, `$`, and every byte of a multi-byte character.
#[inline]
pub(super) fn is_word(b: u8) -> bool {
    matches!(CLASS[b as usize], Class::Word | Class::Underscore | Class::Prefix | Class::Digit)
}

/// Whether `b` is blank.
#[inline]
pub(super) fn is_blank(b: u8) -> bool {
    matches!(CLASS[b as usize], Class::Blank)
}
