//! Strings, quoted names and variables.

use super::class::{CLASS, Class, is_blank, is_word};
use super::{Lexer, Tok};
use crate::mode::LexMode;

impl Lexer<'_> {
    /// A string at its opening quote, with every string that follows it after blanks: SQL joins them.
    #[inline(never)]
    pub(super) fn string(&mut self, quote: u8) -> Tok {
        let Some(mut escaped) = self.string_piece(quote) else {
            return Tok::Bad;
        };
        while let Some(at) = self.adjacent_string() {
            self.pos = at;
            escaped = true;
            if self.string_piece(self.text[at]).is_none() {
                return Tok::Bad;
            }
        }
        Tok::Str(escaped)
    }

    /// Moves past one quoted piece; true if it holds escapes, `None` if it does not end.
    #[inline]
    fn string_piece(&mut self, quote: u8) -> Option<bool> {
        let backslash = if self.mode.has(LexMode::NO_BACKSLASH_ESCAPES) { quote } else { b'\\' };
        let mut pos = self.pos + 1;
        let mut escaped = false;
        loop {
            pos += memchr::memchr2(quote, backslash, self.text.get(pos..)?)?;
            if self.text[pos] == quote {
                if self.text.get(pos + 1) != Some(&quote) {
                    self.pos = pos + 1;
                    return Some(escaped);
                }
            } else if pos + 1 >= self.text.len() {
                return None;
            }
            escaped = true;
            pos += 2;
        }
    }

    /// Offset of a string that follows the one just read, over blanks and plain comments.
    #[inline]
    fn adjacent_string(&self) -> Option<usize> {
        let mut pos = self.pos;
        loop {
            let b = *self.text.get(pos)?;
            match CLASS[b as usize] {
                Class::Blank => pos += 1,
                Class::Quote => return Some(pos),
                Class::DoubleQuote if !self.mode.has(LexMode::ANSI_QUOTES) => return Some(pos),
                Class::Comment => pos = self.after_plain_comment(pos)?,
                _ => return None,
            }
        }
    }

    /// Offset after the comment at `pos`; `None` if there is none, or one with a meaning (`/*!`, `/*+`).
    #[cold]
    fn after_plain_comment(&self, pos: usize) -> Option<usize> {
        let line_end = || memchr::memchr(b'\n', &self.text[pos..]).map(|i| pos + i + 1);
        match (self.byte(pos), self.byte(pos + 1), self.byte(pos + 2)) {
            (b'#', ..) => line_end(),
            (b'-', b'-', c) if is_blank(c) => line_end(),
            (b'/', b'*', c) if c != b'!' && c != b'+' => {
                memchr::memmem::find(&self.text[pos + 2..], b"*/").map(|i| pos + 2 + i + 2)
            }
            _ => None,
        }
    }

    /// At `"`: a string, or a name under ANSI_QUOTES.
    pub(super) fn double_quoted(&mut self) -> Tok {
        if self.mode.has(LexMode::ANSI_QUOTES) { self.quoted_name(b'"') } else { self.string(b'"') }
    }

    /// A name in `quote`s; a doubled quote stands for one.
    #[inline(never)]
    pub(super) fn quoted_name(&mut self, quote: u8) -> Tok {
        match self.after_quoted_name(self.pos, quote) {
            Some(end) => {
                self.pos = end;
                Tok::Quoted
            }
            None => Tok::Bad,
        }
    }

    fn after_quoted_name(&self, open: usize, quote: u8) -> Option<usize> {
        let mut pos = open + 1;
        loop {
            pos += memchr::memchr(quote, self.text.get(pos..)?)? + 1;
            if self.text.get(pos) != Some(&quote) {
                return Some(pos);
            }
            pos += 1;
        }
    }

    /// At `@`: `@@`, or a user variable; also the host part of an account name.
    pub(super) fn at(&mut self) -> Tok {
        self.pos += 1;
        match self.byte(self.pos) {
            b'@' => self.single(Tok::AtAt),
            b'`' => self.quoted_variable(b'`'),
            b'"' if self.mode.has(LexMode::ANSI_QUOTES) => self.quoted_variable(b'"'),
            quote @ (b'\'' | b'"') => match self.string_piece(quote) {
                Some(_) => Tok::UserVar,
                None => Tok::Bad,
            },
            _ => {
                while self.text.get(self.pos).is_some_and(|&b| is_word(b) || b == b'.') {
                    self.pos += 1;
                }
                Tok::UserVar
            }
        }
    }

    fn quoted_variable(&mut self, quote: u8) -> Tok {
        match self.quoted_name(quote) {
            Tok::Quoted => Tok::UserVar,
            other => other,
        }
    }
}
