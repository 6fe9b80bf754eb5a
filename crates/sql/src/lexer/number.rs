//! Numbers, and names that begin with a digit.

use super::class::is_word;
use super::word::{ONES, eight_at};
use super::{Context, Lexer, Tok};

/// How many of the eight bytes, from the lowest on, are decimal digits.
#[inline]
fn digit_run(eight: u64) -> usize {
    let value = eight ^ (0x30 * ONES);
    // The first byte above 9 sets its high bit; what it carries into later bytes does not matter.
    let above = (value.wrapping_add(0x76 * ONES) | value) & (0x80 * ONES);
    above.trailing_zeros() as usize / 8
}

/// How many decimal digits are in `text` from `pos` on.
#[inline]
pub(crate) fn digits_at(text: &[u8], pos: usize) -> usize {
    let mut end = pos;
    loop {
        let run = digit_run(eight_at(text, end));
        end += run;
        if run < 8 {
            return end - pos;
        }
    }
}

impl Lexer<'_> {
    /// A token that begins with a digit: a number, `0x..`, `0b..`, or a name such as `1st`.
    #[inline]
    pub(super) fn digits(&mut self, context: Context) -> Tok {
        if context == Context::Name {
            return self.word(context);
        }
        let start = self.pos;
        self.skip_digits();
        match self.byte(self.pos) {
            b'.' => {
                self.pos += 1;
                self.skip_digits();
                if self.skip_exponent() { Tok::Float } else { Tok::Decimal }
            }
            b if is_word(b) => self.digits_then_word(start, b),
            _ => Tok::Int,
        }
    }

    /// `.5` and the like, at the dot.
    pub(super) fn fraction(&mut self) -> Tok {
        self.pos += 1;
        self.skip_digits();
        if self.skip_exponent() { Tok::Float } else { Tok::Decimal }
    }

    #[inline]
    fn skip_digits(&mut self) {
        self.pos = self.after_digits(self.pos);
    }

    /// Offset of the first byte from `pos` on that is no decimal digit.
    #[inline]
    pub(super) fn after_digits(&self, pos: usize) -> usize {
        pos + digits_at(self.text, pos)
    }

    /// Skips `e5`, `E-5`; false if there is none.
    fn skip_exponent(&mut self) -> bool {
        if !matches!(self.byte(self.pos), b'e' | b'E') {
            return false;
        }
        let sign = usize::from(matches!(self.byte(self.pos + 1), b'+' | b'-'));
        if !self.byte(self.pos + 1 + sign).is_ascii_digit() {
            return false;
        }
        self.pos += 1 + sign;
        self.skip_digits();
        true
    }

    /// Digits directly followed by a word byte `b`.
    #[cold]
    fn digits_then_word(&mut self, start: usize, b: u8) -> Tok {
        if self.skip_exponent() {
            return Tok::Float;
        }
        if self.pos == start + 1 && self.text[start] == b'0' {
            let found = match b {
                b'x' => self.radix_digits(start, Tok::Hex, |d| d.is_ascii_hexdigit()),
                b'b' => self.radix_digits(start, Tok::Bit, |d| matches!(d, b'0' | b'1')),
                _ => None,
            };
            if let Some(kind) = found {
                return kind;
            }
        }
        self.scan_word();
        self.before_dotted_name();
        Tok::Word
    }

    /// The digits after `0x` or `0b`; `None` (position unchanged) if the word holds anything else or nothing.
    fn radix_digits(&mut self, start: usize, kind: Tok, is_digit: fn(u8) -> bool) -> Option<Tok> {
        let mut end = start + 2;
        while self.text.get(end).is_some_and(|&d| is_digit(d)) {
            end += 1;
        }
        if end == start + 2 || is_word(self.byte(end)) {
            return None;
        }
        self.pos = end;
        Some(kind)
    }

    /// `x'..'` or `b'..'`, at the letter. A hex string needs an even number of digits.
    pub(super) fn quoted_digits(&mut self, kind: Tok, is_digit: fn(u8) -> bool) -> Tok {
        let body = self.pos + 2;
        let mut end = body;
        while self.text.get(end).is_some_and(|&d| is_digit(d)) {
            end += 1;
        }
        if self.byte(end) != b'\'' || (kind == Tok::Hex && (end - body) % 2 == 1) {
            return Tok::Bad;
        }
        self.pos = end + 1;
        kind
    }
}
