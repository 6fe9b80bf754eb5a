//! Literals as positions in the statement text, and their decoding.

use std::borrow::Cow;

use crate::charset::Introducer;
use crate::mode::LexMode;

/// What kind of literal a piece of text is. The numbers are the type tags of the plan-cache key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum LiteralKind {
    /// Digits only, of any length (beyond 20 digits MySQL reads it as DECIMAL; see [`Literal::int_value`]).
    Int = 1,
    /// Digits with a point.
    Decimal = 2,
    /// Digits with an exponent.
    Float = 3,
    /// Quoted text, possibly several adjacent pieces.
    String = 4,
    /// `x'0A'` or `0x0A`.
    Hex = 5,
    /// `b'01'` or `0b01`.
    Bit = 6,
    /// `DATE'..'`: the position is that of the string.
    Date = 7,
    /// `TIME'..'`.
    Time = 8,
    /// `TIMESTAMP'..'`.
    Timestamp = 9,
}

/// A literal: where it is in the text, and what is known of it without decoding. 16 bytes.
///
/// `text()[offset..offset + len]` is the whole literal with its quotes and prefixes, without a charset
/// introducer and without a sign: `'it''s'`, `x'0A'`, `12.50`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Literal {
    /// Byte offset in the statement text.
    pub offset: u32,
    /// Length in bytes.
    pub len: u32,
    /// Place in the cache key's list of literals, or [`Literal::UNNUMBERED`].
    pub ordinal: u32,
    /// Kind.
    pub kind: LiteralKind,
    /// Character set it was introduced with.
    pub charset: Introducer,
    /// The quoted text holds escapes, doubled quotes or several pieces, so its value is not a slice of the
    /// text.
    pub escaped: bool,
}

/// An integer literal's value: MySQL types it by the range it falls in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntValue {
    /// Fits BIGINT.
    Signed(i64),
    /// Above `i64::MAX`, fits BIGINT UNSIGNED.
    Unsigned(u64),
    /// Beyond 64 bits: to be read as DECIMAL from [`Literal::text`].
    Big,
}

impl Literal {
    /// `ordinal` of a literal that is not a parameter of the cached plan.
    pub(crate) const UNNUMBERED: u32 = u32::MAX;

    /// The literal's bytes as written. `sql` is the text it was read from.
    #[inline]
    pub fn text<'a>(&self, sql: &'a [u8]) -> &'a [u8] {
        &sql[self.offset as usize..(self.offset + self.len) as usize]
    }

    /// Value of an [`LiteralKind::Int`] literal.
    #[inline]
    pub fn int_value(&self, sql: &[u8]) -> IntValue {
        let before = sql.get(..(self.offset + self.len) as usize).unwrap_or_default();
        match before.last_chunk::<8>() {
            Some(eight) if (1..=8).contains(&self.len) => IntValue::Signed(last_digits(*eight, self.len)),
            _ => parse_int(self.text(sql)),
        }
    }

    /// Bytes of a quoted literal: a slice of the text unless it needs unescaping.
    #[inline]
    pub fn string_value<'a>(&self, sql: &'a [u8], mode: LexMode) -> Cow<'a, [u8]> {
        let text = self.text(sql);
        if self.escaped {
            let mut out = Vec::with_capacity(text.len());
            unescape_into(text, mode, &mut out);
            Cow::Owned(out)
        } else {
            let body = match text.first() {
                Some(b'n' | b'N') => &text[1..],
                _ => text,
            };
            Cow::Borrowed(&body[1..body.len() - 1])
        }
    }

    /// Bytes of the first of a quoted literal's adjacent pieces, which names a result column.
    pub(crate) fn first_piece(&self, sql: &[u8], mode: LexMode) -> Vec<u8> {
        let text = self.text(sql);
        let mut out = Vec::new();
        if let Some(open) = next_quote(text, 0) {
            unescape_piece(text, open + 1, text[open], mode, &mut out);
        }
        out
    }

    /// Appends the bytes of a hex literal to `out`; an odd number of `0x` digits gets a leading zero.
    pub fn hex_value(&self, sql: &[u8], out: &mut Vec<u8>) {
        let digits = digits_of(self.text(sql));
        let nibble = |b: u8| (b as char).to_digit(16).unwrap_or(0) as u8;
        let (head, pairs) = digits.split_at(digits.len() % 2);
        out.extend(head.iter().map(|&b| nibble(b)));
        out.extend(pairs.chunks_exact(2).map(|p| nibble(p[0]) << 4 | nibble(p[1])));
    }

    /// Appends the bytes of a bit literal to `out`, big-endian, left-padded with zero bits to whole bytes.
    pub fn bit_value(&self, sql: &[u8], out: &mut Vec<u8>) {
        let digits = digits_of(self.text(sql));
        let (head, octets) = digits.split_at(digits.len() % 8);
        let byte = |bits: &[u8]| bits.iter().fold(0u8, |v, &b| v << 1 | (b & 1));
        if !head.is_empty() {
            out.push(byte(head));
        }
        out.extend(octets.chunks_exact(8).map(byte));
    }
}

/// The digits between the quotes of `x'..'`, `b'..'`, or after `0x`, `0b`.
fn digits_of(text: &[u8]) -> &[u8] {
    match text {
        [b'x' | b'X' | b'b' | b'B', b'\'', body @ .., b'\''] => body,
        [b'0', b'x' | b'X' | b'b' | b'B', body @ ..] => body,
        _ => &[],
    }
}

/// Value of the last `len` of eight bytes, which are decimal digits; `len` is 1 to 8.
#[inline]
fn last_digits(eight: [u8; 8], len: u32) -> i64 {
    let others = 64 - 8 * len;
    let ones = (u64::from_le_bytes(eight) & 0x0f0f_0f0f_0f0f_0f0f) >> others << others;
    let tens = (ones * 10 + (ones >> 8)) & 0x00ff_00ff_00ff_00ff;
    let hundreds = (tens * 100 + (tens >> 16)) & 0x0000_ffff_0000_ffff;
    ((hundreds * 10_000 + (hundreds >> 32)) & 0xffff_ffff) as i64
}

/// Value of a run of decimal digits.
#[inline]
pub(crate) fn parse_int(digits: &[u8]) -> IntValue {
    if digits.len() <= 18 {
        return IntValue::Signed(digits.iter().fold(0i64, |v, &b| v * 10 + i64::from(b & 15)));
    }
    let mut value = 0u64;
    for &b in digits {
        let Some(next) = value.checked_mul(10).and_then(|v| v.checked_add(u64::from(b & 15))) else {
            return IntValue::Big;
        };
        value = next;
    }
    i64::try_from(value).map_or(IntValue::Unsigned(value), IntValue::Signed)
}

/// Appends the value of one or more adjacent quoted strings (`'a' "b"`, with their quotes; `N` prefix
/// allowed) to `out`. Between the pieces are blanks or comments, which are skipped.
pub(crate) fn unescape_into(text: &[u8], mode: LexMode, out: &mut Vec<u8>) {
    let mut pos = 0;
    while let Some(open) = next_quote(text, pos) {
        let quote = text[open];
        pos = unescape_piece(text, open + 1, quote, mode, out);
    }
}

/// Offset of the second one of several adjacent strings.
pub(crate) fn second_piece(text: &[u8], mode: LexMode) -> Option<usize> {
    let open = next_quote(text, 0)?;
    let end = unescape_piece(text, open + 1, text[open], mode, &mut Vec::new());
    next_quote(text, end)
}

/// Offset of the next opening quote at or after `pos`, over blanks, comments and an `N` prefix.
fn next_quote(text: &[u8], mut pos: usize) -> Option<usize> {
    while let Some(&b) = text.get(pos) {
        match b {
            b'\'' | b'"' => return Some(pos),
            b'/' => pos = memchr::memmem::find(&text[pos + 1..], b"*/").map_or(text.len(), |i| pos + i + 3),
            b'#' | b'-' => pos = memchr::memchr(b'\n', &text[pos..]).map_or(text.len(), |i| pos + i + 1),
            _ => pos += 1,
        }
    }
    None
}

/// Unescapes from just after an opening quote; returns the offset after the closing one.
fn unescape_piece(text: &[u8], mut pos: usize, quote: u8, mode: LexMode, out: &mut Vec<u8>) -> usize {
    let backslash = !mode.has(LexMode::NO_BACKSLASH_ESCAPES);
    while pos < text.len() {
        let b = text[pos];
        if b == quote {
            if text.get(pos + 1) != Some(&quote) {
                return pos + 1;
            }
            out.push(quote);
            pos += 2;
        } else if b == b'\\' && backslash && pos + 1 < text.len() {
            unescape_char(text[pos + 1], out);
            pos += 2;
        } else {
            out.push(b);
            pos += 1;
        }
    }
    pos
}

/// Appends what `\` followed by `b` stands for. `\%` and `\_` keep the backslash, for LIKE.
fn unescape_char(b: u8, out: &mut Vec<u8>) {
    match b {
        b'n' => out.push(b'\n'),
        b't' => out.push(b'\t'),
        b'r' => out.push(b'\r'),
        b'b' => out.push(8),
        b'0' => out.push(0),
        b'Z' => out.push(0x1a),
        b'%' | b'_' => out.extend([b'\\', b]),
        other => out.push(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn string(text: &str) -> Vec<u8> {
        let mut out = Vec::new();
        unescape_into(text.as_bytes(), LexMode::NONE, &mut out);
        out
    }

    #[test]
    fn escapes_and_doubled_quotes_are_undone() {
        assert_eq!(string(r"'a\'b''c\n\0\Z\%\_\x'"), b"a'b'c\n\0\x1a\\%\\_x");
        assert_eq!(string("'a' /* ' */ \"b\" -- '\n 'c'"), b"abc");
    }

    #[test]
    fn integers_are_typed_by_range() {
        assert_eq!(parse_int(b"9223372036854775807"), IntValue::Signed(i64::MAX));
        assert_eq!(parse_int(b"9223372036854775808"), IntValue::Unsigned(1 << 63));
        assert_eq!(parse_int(b"18446744073709551616"), IntValue::Big);
        assert_eq!(parse_int(b"000000000000000000000000000007"), IntValue::Signed(7));
    }

    #[test]
    fn hex_and_bit_literals_become_bytes() {
        let sql = b"0xABC b'100000001'";
        let lit = |offset, len, kind| Literal {
            offset,
            len,
            ordinal: Literal::UNNUMBERED,
            kind,
            charset: Introducer::NONE,
            escaped: false,
        };
        let mut out = Vec::new();
        lit(0, 5, LiteralKind::Hex).hex_value(sql, &mut out);
        assert_eq!(out, [0x0a, 0xbc]);
        out.clear();
        lit(6, 12, LiteralKind::Bit).bit_value(sql, &mut out);
        assert_eq!(out, [1, 1]);
    }
}
