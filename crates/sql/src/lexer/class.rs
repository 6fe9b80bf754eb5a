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
    /// `- # / *`: a comment, the end of one, or an operator.
    Comment,
    /// A byte that is a token by itself.
    Single,
    /// `< > ! & | :`: longer operators may begin here.
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
            b'-' | b'#' | b'/' | b'*' => Class::Comment,
            b'(' | b')' | b',' | b';' | b'=' | b'+' | b'%' | b'^' | b'~' | b'?' | b'{' | b'}' => {
                Class::Single
            }
            b'<' | b'>' | b'!' | b'&' | b'|' | b':' => Class::Operator,
            _ => Class::Bad,
        };
        b += 1;
    }
    table
}

/// Whether a byte may be inside an unquoted name, by byte.
static WORD: [bool; 256] = build_word();

const fn build_word() -> [bool; 256] {
    let mut table = [false; 256];
    let mut b = 0;
    while b < 256 {
        table[b] = matches!(CLASS[b], Class::Word | Class::Underscore | Class::Prefix | Class::Digit);
        b += 1;
    }
    table
}

/// Whether `b` may be inside an unquoted name: letters, digits, `_`, `$`, and every byte of a multi-byte
/// character.
#[inline]
pub(super) fn is_word(b: u8) -> bool {
    WORD[b as usize]
}

/// Whether `b` is blank.
#[inline]
pub(super) fn is_blank(b: u8) -> bool {
    matches!(CLASS[b as usize], Class::Blank)
}
