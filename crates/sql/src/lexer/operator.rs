//! Punctuation and operators.

use super::{Lexer, Tok};

impl Lexer<'_> {
    /// A byte that is a token by itself.
    #[inline]
    pub(super) fn punctuation(&mut self, b: u8) -> Tok {
        self.single(match b {
            b'(' => Tok::LParen,
            b')' => Tok::RParen,
            b',' => Tok::Comma,
            b';' => Tok::Semicolon,
            b'+' => Tok::Plus,
            b'%' => Tok::Percent,
            b'^' => Tok::Caret,
            b'~' => Tok::Tilde,
            b'?' => Tok::Param,
            b'{' => Tok::LBrace,
            _ => Tok::RBrace,
        })
    }

    /// An operator that may be longer than one byte.
    #[inline]
    pub(super) fn operator(&mut self, b: u8) -> Tok {
        let (kind, len) = match (b, self.byte(self.pos + 1)) {
            (b'=', _) => (Tok::Eq, 1),
            (b'<', b'=') if self.byte(self.pos + 2) == b'>' => (Tok::NullSafeEq, 3),
            (b'<', b'=') => (Tok::Le, 2),
            (b'<', b'>') => (Tok::Ne, 2),
            (b'<', b'<') => (Tok::Shl, 2),
            (b'<', _) => (Tok::Lt, 1),
            (b'>', b'=') => (Tok::Ge, 2),
            (b'>', b'>') => (Tok::Shr, 2),
            (b'>', _) => (Tok::Gt, 1),
            (b'!', b'=') => (Tok::Ne, 2),
            (b'!', _) => (Tok::Bang, 1),
            (b'&', b'&') => (Tok::AndAnd, 2),
            (b'&', _) => (Tok::Amp, 1),
            (b'|', b'|') => (Tok::OrOr, 2),
            (b'|', _) => (Tok::Pipe, 1),
            (_, b'=') => (Tok::Assign, 2),
            _ => (Tok::Colon, 1),
        };
        self.pos += len;
        kind
    }

    /// `-`, `->` or `->>`; comments were skipped before.
    #[inline]
    pub(super) fn minus(&mut self) -> Tok {
        let (kind, len) = match (self.byte(self.pos + 1), self.byte(self.pos + 2)) {
            (b'>', b'>') => (Tok::ArrowText, 3),
            (b'>', _) => (Tok::Arrow, 2),
            _ => (Tok::Minus, 1),
        };
        self.pos += len;
        kind
    }
}
