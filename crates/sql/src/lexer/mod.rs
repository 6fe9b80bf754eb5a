//! Lexer: bytes to tokens that borrow the text.
//!
//! One pass, no allocation. A token's kind depends on `sql_mode` ([`LexMode`]) and on two bits of context: a word right
//! after a dot is never a keyword, and `/*+` is a hint only after a keyword that takes hints.

mod blank;
mod class;
mod keyword;
mod number;
mod operator;
mod quoted;
#[cfg(test)]
mod tests;
mod token;

pub use keyword::Kw;
pub use token::{Tok, Token};

use crate::charset::Introducer;
use crate::mode::LexMode;
use class::{CLASS, Class, is_word};

/// Version number below which `/*!NNNNN .. */` text is executed: this server's own, as a MySQL version.
pub const VERSION_ID: u32 = 80406;

/// The lexer: a position in the text and its context. Copying it is how callers look ahead.
#[derive(Clone, Copy, Debug)]
pub struct Lexer<'a> {
    text: &'a [u8],
    pos: usize,
    mode: LexMode,
    /// Inside a `/*! .. */` whose text is executed.
    in_version_comment: bool,
    /// The next word is a name, whatever its spelling, even when it begins with a digit.
    name_next: bool,
    /// The last token was a word directly followed by a dot and a word byte.
    dot_next: bool,
    /// The last token was a keyword that takes hints.
    hint_next: bool,
}

impl<'a> Lexer<'a> {
    /// A lexer at byte `start` of `text`, which must be shorter than 4 GiB.
    #[inline]
    pub fn new(text: &'a [u8], start: usize, mode: LexMode) -> Self {
        Lexer {
            text,
            pos: start,
            mode,
            in_version_comment: false,
            name_next: false,
            dot_next: false,
            hint_next: false,
        }
    }

    /// The whole text.
    #[inline]
    pub fn text(&self) -> &'a [u8] {
        self.text
    }

    /// Offset after the last token.
    #[inline]
    pub fn pos(&self) -> usize {
        self.pos
    }

    /// Whether the position is inside a comment whose text is executed.
    #[inline]
    pub fn in_version_comment(&self) -> bool {
        self.in_version_comment
    }

    /// The next token. At the end, and after [`Tok::Bad`], it repeats.
    #[inline]
    #[expect(clippy::should_implement_trait, reason = "the end of text is a token, not None")]
    pub fn next(&mut self) -> Token {
        let hint_next = std::mem::take(&mut self.hint_next);
        if let Some(token) = self.skip_blanks(hint_next) {
            return token;
        }
        let start = self.pos;
        let Some(&b) = self.text.get(start) else {
            return self.end_of_text(start);
        };
        let kind = match CLASS[b as usize] {
            Class::Word => self.word(),
            Class::Underscore => self.underscore_word(),
            Class::Prefix => self.prefixed(b),
            Class::Digit => self.digits(),
            Class::Quote => self.string(b'\''),
            Class::DoubleQuote => self.double_quoted(),
            Class::Backquote => self.quoted_name(b'`'),
            Class::Dot => self.dot(),
            Class::At => self.at(),
            Class::Minus => self.minus(),
            Class::Slash => self.single(Tok::Slash),
            Class::Star => self.single(Tok::Star),
            Class::Single => self.punctuation(b),
            Class::Operator => self.operator(b),
            Class::Bad | Class::Blank | Class::Hash => self.bad(b),
        };
        if kind == Tok::Bad {
            self.pos = start;
        }
        Token { kind, start: start as u32, end: self.pos as u32 }
    }

    #[inline]
    fn byte(&self, pos: usize) -> u8 {
        self.text.get(pos).copied().unwrap_or(0)
    }

    #[inline]
    fn single(&mut self, kind: Tok) -> Tok {
        self.pos += 1;
        kind
    }

    #[cold]
    fn end_of_text(&mut self, start: usize) -> Token {
        let kind = if self.in_version_comment { Tok::Bad } else { Tok::Eof };
        Token { kind, start: start as u32, end: start as u32 }
    }

    /// A NUL at the very end counts as the end of the text: some clients send their terminator.
    #[cold]
    fn bad(&mut self, b: u8) -> Tok {
        if b == 0 && self.pos + 1 == self.text.len() { Tok::Eof } else { Tok::Bad }
    }

    #[inline]
    fn scan_word(&mut self) -> &'a [u8] {
        let start = self.pos;
        let mut pos = start;
        while self.text.get(pos).is_some_and(|&b| is_word(b)) {
            pos += 1;
        }
        self.pos = pos;
        &self.text[start..pos]
    }

    /// A word that starts with a letter. Before `.name` and after a dot it is a name even if it spells a keyword.
    #[inline]
    fn word(&mut self) -> Tok {
        let word = self.scan_word();
        if std::mem::take(&mut self.name_next) | self.before_dotted_name() {
            return Tok::Word;
        }
        match Kw::find(word) {
            Some(kw) => {
                self.hint_next =
                    matches!(kw, Kw::SELECT | Kw::INSERT | Kw::UPDATE | Kw::DELETE | Kw::REPLACE);
                Tok::Kw(kw)
            }
            None => Tok::Word,
        }
    }

    /// Whether a dot and a word byte follow at once; remembers it for [`Lexer::dot`].
    #[inline]
    fn before_dotted_name(&mut self) -> bool {
        self.dot_next = self.byte(self.pos) == b'.' && is_word(self.byte(self.pos + 1));
        self.dot_next
    }

    fn underscore_word(&mut self) -> Tok {
        if self.name_next {
            return self.word();
        }
        let word = self.scan_word();
        if self.before_dotted_name() {
            return Tok::Word;
        }
        Introducer::find(&word[1..]).map_or(Tok::Word, Tok::Introducer)
    }

    /// A word beginning with `x`, `b` or `n`: a literal if a quote follows that letter.
    #[inline]
    fn prefixed(&mut self, b: u8) -> Tok {
        if self.byte(self.pos + 1) != b'\'' || self.name_next {
            return self.word();
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

    fn dot(&mut self) -> Tok {
        let next = self.byte(self.pos + 1);
        let forced = std::mem::take(&mut self.dot_next);
        if next.is_ascii_digit() && !forced {
            return self.fraction();
        }
        self.name_next = is_word(next);
        self.single(Tok::Dot)
    }
}
