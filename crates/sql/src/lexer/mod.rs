//! Lexer: bytes to tokens that borrow the text.
//!
//! One pass, no allocation. A token's kind depends on `sql_mode` ([`LexMode`]) and on two bits of context: a
//! word right after a dot is never a keyword, and `/*+` is a hint only after a keyword that takes hints.

mod blank;
mod cell;
mod class;
mod keyword;
mod noted;
mod number;
mod operator;
mod quoted;
#[cfg(test)]
mod tests;
mod token;
mod word;

pub(crate) use cell::{LiteralCell, plain_string_end};
pub use keyword::Kw;
#[cfg(test)]
pub(crate) use noted::TAKEN;
pub(crate) use noted::{Noted, NotedTokens};
pub(crate) use number::digits_at;
pub use token::{Tok, Token};

use crate::mode::LexMode;
use class::{CLASS, Class, is_word};
use operator::SINGLE;

/// Version number below which `/*!NNNNN .. */` text is executed: this server's own, as a MySQL version.
pub(crate) const VERSION_ID: u32 = 80406;

/// The lexer: a position in the text and its context. Copying it is how callers look ahead.
#[derive(Clone, Copy, Debug)]
pub struct Lexer<'a> {
    text: &'a [u8],
    pos: usize,
    mode: LexMode,
    /// Inside a `/*! .. */` whose text is executed.
    in_version_comment: bool,
    /// The effect of the last token on the next one.
    context: Context,
}

/// How a token changes the reading of the one after it, and of no other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Context {
    /// Not at all.
    Plain,
    /// It was a keyword that takes hints: `/*+` is a token.
    Hint,
    /// It was a word directly followed by a dot and a word byte: the dot begins no number.
    Dot,
    /// It was a dot directly followed by a word byte: a name comes, whatever its spelling, even with a digit
    /// first.
    Name,
}

impl<'a> Lexer<'a> {
    /// A lexer at byte `start` of `text`, which must be shorter than 4 GiB.
    #[inline]
    pub fn new(text: &'a [u8], start: usize, mode: LexMode) -> Self {
        Lexer { text, pos: start, mode, in_version_comment: false, context: Context::Plain }
    }

    /// The whole text.
    #[inline]
    pub fn text(&self) -> &'a [u8] {
        self.text
    }

    /// Goes to the end of the text.
    pub(crate) fn end(&mut self) {
        self.pos = self.text.len();
        self.in_version_comment = false;
    }

    /// Offset after the last token.
    #[inline]
    pub fn pos(&self) -> usize {
        self.pos
    }

    /// Whether the position is inside a comment whose text is executed.
    #[inline]
    pub(crate) fn in_version_comment(&self) -> bool {
        self.in_version_comment
    }

    /// The next token. At the end, and after [`Tok::Bad`], it repeats.
    #[inline(never)]
    #[expect(clippy::should_implement_trait, reason = "the end of text is a token, not None")]
    pub fn next(&mut self) -> Token {
        self.step()
    }

    /// [`Lexer::next`] as a part of its caller: for the two loops that read most tokens.
    #[inline(always)]
    pub(crate) fn step(&mut self) -> Token {
        let context = std::mem::replace(&mut self.context, Context::Plain);
        // Most tokens are after one blank or none.
        if self.text.get(self.pos) == Some(&b' ') {
            self.pos += 1;
        }
        loop {
            let start = self.pos;
            let Some(&b) = self.text.get(start) else {
                return self.end_of_text(start);
            };
            let kind = match CLASS[b as usize] {
                Class::Blank => {
                    self.pos = start + 1;
                    continue;
                }
                Class::Word => self.word(context),
                Class::Single => self.single(SINGLE[b as usize]),
                Class::Digit => self.digits(context),
                Class::Quote => self.string(b'\''),
                Class::Prefix => self.prefixed(b, context),
                Class::Underscore => self.underscore_word(context),
                Class::DoubleQuote => self.double_quoted(),
                Class::Backquote => self.quoted_name(b'`'),
                Class::Dot => self.dot(context),
                Class::At => self.at(),
                Class::Operator => self.operator(b),
                Class::Comment => match self.comment_or_operator(b, context) {
                    Some(kind) => kind,
                    None => continue,
                },
                Class::Bad => self.bad(b),
            };
            if kind == Tok::Bad {
                self.pos = start;
            }
            return Token { kind, start: start as u32, end: self.pos as u32 };
        }
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

    #[inline]
    fn end_of_text(&mut self, start: usize) -> Token {
        let kind = if self.in_version_comment { Tok::Bad } else { Tok::Eof };
        Token { kind, start: start as u32, end: start as u32 }
    }

    /// A NUL at the very end counts as the end of the text: some clients send their terminator.
    #[cold]
    fn bad(&mut self, b: u8) -> Tok {
        if b == 0 && self.pos + 1 == self.text.len() { Tok::Eof } else { Tok::Bad }
    }

    fn dot(&mut self, context: Context) -> Tok {
        let next = self.byte(self.pos + 1);
        if next.is_ascii_digit() && context != Context::Dot {
            return self.fraction();
        }
        if is_word(next) {
            self.context = Context::Name;
        }
        self.single(Tok::Dot)
    }
}
