//! Punctuation and operators.

use super::{Lexer, Tok};

/// Token by byte, for bytes that are a token by themselves.
pub(super) static SINGLE: [Tok; 256] = {
    let mut table = [Tok::Bad; 256];
    table[b'(' as usize] = Tok::LParen;
    table[b')' as usize] = Tok::RParen;
    table[b',' as usize] = Tok::Comma;
    table[b';' as usize] = Tok::Semicolon;
    table[b'=' as usize] = Tok::Eq;
    table[b'+' as usize] = Tok::Plus;
    table[b'%' as usize] = Tok::Percent;
    table[b'^' as usize] = Tok::Caret;
    table[b'~' as usize] = Tok::Tilde;
    table[b'?' as usize] = Tok::Param;
    table[b'{' as usize] = Tok::LBrace;
    table[b'}' as usize] = Tok::RBrace;
    table
};

impl Lexer<'_> {
    /// An operator that may be longer than one byte.
    #[inline(never)]
    pub(super) fn operator(&mut self, b: u8) -> Tok {
        let (kind, len) = match (b, self.byte(self.pos + 1)) {
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
    #[inline(never)]
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
