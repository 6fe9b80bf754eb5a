//! Literals that are whole cells of a VALUES list: the bulk of bulk inserts, read without making tokens of
//! them.

use super::Lexer;
use crate::literal::LiteralKind;

/// A literal and the comma or parenthesis right after it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LiteralCell {
    /// [`LiteralKind::Int`], [`LiteralKind::Decimal`] or [`LiteralKind::String`] without escapes.
    pub(crate) kind: LiteralKind,
    /// Offset of its first byte.
    pub(crate) start: u32,
    /// Length in bytes.
    pub(crate) len: u32,
    /// A parenthesis ended the row; else a comma.
    pub(crate) last: bool,
}

/// Offset after the string that opens at `start` of `text`, as far as its first quote; `None` if there is a
/// backslash before that.
#[inline]
pub(crate) fn plain_string_end(text: &[u8], start: usize) -> Option<usize> {
    let body = &text[start + 1..];
    let len = memchr::memchr2(b'\'', b'\\', body)?;
    (body[len] == b'\'').then_some(start + 1 + len + 1)
}

impl Lexer<'_> {
    /// Reads `literal,` or `literal)`, after at most one space. `None`, with nothing read, says that the
    /// tokens must be read one by one; it says nothing about whether they are a literal.
    #[inline(always)]
    pub(crate) fn literal_cell(&mut self) -> Option<LiteralCell> {
        let space = usize::from(self.byte(self.pos) == b' ');
        let start = self.pos + space;
        let (kind, end) = match self.byte(start) {
            b'\'' => (LiteralKind::String, plain_string_end(self.text, start)?),
            b'0'..=b'9' => self.plain_number(start),
            _ => return None,
        };
        let last = match self.text.get(end)? {
            b',' => false,
            b')' => true,
            _ => return None,
        };
        self.pos = end + 1;
        Some(LiteralCell { kind, start: start as u32, len: (end - start) as u32, last })
    }

    /// Reads `, (` between two rows, with at most one blank; false, with nothing read, for anything else.
    #[inline]
    pub(crate) fn next_row(&mut self) -> bool {
        let rest = self.text.get(self.pos..).unwrap_or_default();
        let len = match rest {
            [b',', b'(', ..] => 2,
            [b',', b' ' | b'\n', b'(', ..] => 3,
            _ => return false,
        };
        self.pos += len;
        true
    }

    /// Digits, perhaps with a point among them.
    #[inline]
    fn plain_number(&self, start: usize) -> (LiteralKind, usize) {
        let end = self.after_digits(start);
        if self.byte(end) == b'.' {
            return (LiteralKind::Decimal, self.after_digits(end + 1));
        }
        (LiteralKind::Int, end)
    }
}
