//! Words: names, keywords, and the letters before a quote.

use super::class::is_word;
use super::{Context, Kw, Lexer, Tok};
use crate::charset::Introducer;

/// Every byte of a word of 8.
pub(super) const ONES: u64 = 0x0101_0101_0101_0101;

/// How many of the eight bytes, from the lowest on, are ASCII letters, digits or `_`: not `$`, nor what is
/// not ASCII.
#[inline]
fn word_run(eight: u64) -> u32 {
    let folded = eight | (0x20 * ONES);
    // Adding lifts a byte's high bit where the range begins, and again after it. Carries only reach bytes
    // after one that is not ASCII, which ends the run.
    let letter = folded.wrapping_add(0x1f * ONES) ^ folded.wrapping_add(0x05 * ONES);
    let digit = eight.wrapping_add(0x50 * ONES) ^ eight.wrapping_add(0x46 * ONES);
    let not_underscore = (eight ^ (0x5f * ONES)).wrapping_add(0x7f * ONES);
    let end = (!(letter | digit) & not_underscore | eight) & (0x80 * ONES);
    end.trailing_zeros() / 8
}

/// The 8 bytes of `text` at `pos`, the first one lowest; zeros beyond its end.
#[inline]
pub(super) fn eight_at(text: &[u8], pos: usize) -> u64 {
    if let Some(rest) = text.get(pos..)
        && let Some(eight) = rest.first_chunk::<8>()
    {
        return u64::from_le_bytes(*eight);
    }
    last_eight(text, pos)
}

/// [`eight_at`] where fewer bytes are left.
fn last_eight(text: &[u8], pos: usize) -> u64 {
    let rest = text.get(pos..).unwrap_or_default();
    match text.last_chunk::<8>() {
        Some(last) if !rest.is_empty() => u64::from_le_bytes(*last) >> (8 * (8 - rest.len())),
        _ => rest.iter().rev().fold(0, |eight, &b| eight << 8 | u64::from(b)),
    }
}

impl<'a> Lexer<'a> {
    /// [`eight_at`] in the lexer's text.
    #[inline]
    pub(super) fn eight(&self, pos: usize) -> u64 {
        eight_at(self.text, pos)
    }

    /// A word that starts with a letter. Before `.name` and after a dot it is a name even if it spells a
    /// keyword.
    #[inline(always)]
    pub(super) fn word(&mut self, context: Context) -> Tok {
        let low = self.eight(self.pos);
        let len = word_run(low);
        // The byte after the word, or zero for the end of the text and for all 8.
        let next = low.checked_shr(8 * len).unwrap_or(0) as u8;
        if len == 8 || is_word(next) {
            return self.long_word(low, context);
        }
        self.pos += len as usize;
        if (next == b'.' && self.before_dotted_name()) || context == Context::Name {
            return Tok::Word;
        }
        self.keyword(Kw::find_short(low, len))
    }

    /// A word of 8 bytes or more, or with `$` or more than ASCII in it.
    #[inline(never)]
    fn long_word(&mut self, low: u64, context: Context) -> Tok {
        let start = self.pos;
        let high = self.eight(start + 8);
        let len = word_run(high);
        self.pos = start + 8 + len as usize;
        if word_run(low) < 8 || len == 8 || is_word(self.byte(self.pos)) {
            return self.any_word(start, context);
        }
        if self.before_dotted_name() || context == Context::Name {
            return Tok::Word;
        }
        self.keyword(Kw::find_medium(low, high, len))
    }

    /// Any word, byte by byte.
    fn any_word(&mut self, start: usize, context: Context) -> Tok {
        self.pos = start;
        let word = self.scan_word();
        if self.before_dotted_name() || context == Context::Name {
            return Tok::Word;
        }
        self.keyword(Kw::find(word))
    }

    #[inline]
    fn keyword(&mut self, found: Option<Kw>) -> Tok {
        let Some(kw) = found else {
            return Tok::Word;
        };
        if kw.takes_hints() {
            self.context = Context::Hint;
        }
        Tok::Kw(kw)
    }

    /// Moves past the word bytes here and returns them.
    pub(super) fn scan_word(&mut self) -> &'a [u8] {
        let rest = &self.text[self.pos..];
        let len = rest.iter().position(|&b| !is_word(b)).unwrap_or(rest.len());
        self.pos += len;
        &rest[..len]
    }

    /// Whether a dot and a word byte follow at once; remembers it for [`Lexer::dot`].
    #[inline]
    pub(super) fn before_dotted_name(&mut self) -> bool {
        let found = self.byte(self.pos) == b'.' && is_word(self.byte(self.pos + 1));
        if found {
            self.context = Context::Dot;
        }
        found
    }

    pub(super) fn underscore_word(&mut self, context: Context) -> Tok {
        if context == Context::Name {
            return self.word(context);
        }
        let word = self.scan_word();
        if self.before_dotted_name() {
            return Tok::Word;
        }
        Introducer::find(&word[1..]).map_or(Tok::Word, Tok::Introducer)
    }

    /// A word beginning with `x`, `b` or `n`: a literal if a quote follows that letter.
    #[inline(never)]
    pub(super) fn prefixed(&mut self, b: u8, context: Context) -> Tok {
        if self.byte(self.pos + 1) != b'\'' || context == Context::Name {
            return self.word(context);
        }
        match b {
            b'n' | b'N' => {
                self.pos += 1;
                match self.string(b'\'') {
                    Tok::Str(escaped) => Tok::NationalStr(escaped),
                    other => other,
                }
            }
            b'x' | b'X' => self.quoted_digits(Tok::Hex, |d| d.is_ascii_hexdigit()),
            _ => self.quoted_digits(Tok::Bit, |d| matches!(d, b'0' | b'1')),
        }
    }
}
