//! Blanks and comments, among them the ones that are executed.

use super::class::{CLASS, Class, is_blank};
use super::{Lexer, Tok, Token, VERSION_ID};

impl Lexer<'_> {
    /// Skips blanks and comments. Returns a token only for a hint (where `hint_next` allows one) or for a comment that
    /// does not end.
    #[inline]
    pub(super) fn skip_blanks(&mut self, hint_next: bool) -> Option<Token> {
        loop {
            match CLASS[self.text.get(self.pos).copied().unwrap_or(0) as usize] {
                Class::Blank => self.pos += 1,
                Class::Hash | Class::Minus | Class::Slash | Class::Star => {
                    if let Skipped::Stop(token) = self.skip_comment(hint_next) {
                        return token;
                    }
                }
                _ => return None,
            }
        }
    }

    /// At `#`, `-`, `/` or `*`: skips one comment or the edge of an executed one, if there is one here.
    fn skip_comment(&mut self, hint_next: bool) -> Skipped {
        let at = self.pos;
        match (self.byte(at), self.byte(at + 1)) {
            (b'#', _) => self.skip_line(),
            (b'-', b'-') if self.text.get(at + 2).is_none_or(|&b| is_blank(b) || b < b' ') => {
                self.skip_line();
            }
            (b'/', b'*') => return self.skip_block(hint_next),
            (b'*', b'/') if self.in_version_comment => {
                self.in_version_comment = false;
                self.pos += 2;
            }
            _ => return Skipped::Stop(None),
        }
        Skipped::Yes
    }

    fn skip_line(&mut self) {
        self.pos =
            memchr::memchr(b'\n', &self.text[self.pos..]).map_or(self.text.len(), |i| self.pos + i + 1);
    }

    /// At `/*`. Text of a `/*!NNNNN` comment for this version or an older one is read as SQL; `/*M!` is a comment.
    fn skip_block(&mut self, hint_next: bool) -> Skipped {
        let start = self.pos;
        match self.byte(start + 2) {
            b'!' if !self.in_version_comment => {
                let (version, digits) = self.version_at(start + 3);
                if version <= VERSION_ID {
                    self.in_version_comment = true;
                    self.pos = start + 3 + digits;
                    return Skipped::Yes;
                }
                self.skip_to_end_of_block(start + 3, true)
            }
            b'+' if hint_next => self.hint(),
            _ => self.skip_to_end_of_block(start + 2, false),
        }
    }

    /// The 5- or 6-digit version at `pos` and its number of digits; no version counts as 0.
    fn version_at(&self, pos: usize) -> (u32, usize) {
        let count =
            self.text[pos.min(self.text.len())..].iter().take(6).take_while(|b| b.is_ascii_digit()).count();
        if count < 5 {
            return (0, 0);
        }
        let value = self.text[pos..pos + count].iter().fold(0, |v, &b| v * 10 + u32::from(b - b'0'));
        (value, count)
    }

    /// Moves past the `*/` that ends the comment; with `nested`, one level of plain comments inside is stepped over.
    fn skip_to_end_of_block(&mut self, mut pos: usize, nested: bool) -> Skipped {
        loop {
            let Some(i) = memchr::memchr2(b'*', b'/', &self.text[pos.min(self.text.len())..]) else {
                return self.unterminated();
            };
            pos += i;
            match (self.byte(pos), self.byte(pos + 1)) {
                (b'*', b'/') => {
                    self.pos = pos + 2;
                    return Skipped::Yes;
                }
                (b'/', b'*') if nested => {
                    let Some(end) = memchr::memmem::find(&self.text[pos + 2..], b"*/") else {
                        return self.unterminated();
                    };
                    pos += 2 + end + 2;
                }
                _ => pos += 1,
            }
        }
    }

    fn hint(&mut self) -> Skipped {
        let start = self.pos;
        match memchr::memmem::find(&self.text[start..], b"*/") {
            Some(end) => {
                self.pos = start + end + 2;
                Skipped::Stop(Some(Token { kind: Tok::Hint, start: start as u32, end: self.pos as u32 }))
            }
            None => self.unterminated(),
        }
    }

    #[cold]
    fn unterminated(&mut self) -> Skipped {
        let at = self.pos as u32;
        Skipped::Stop(Some(Token { kind: Tok::Bad, start: at, end: at }))
    }
}

/// What [`Lexer::skip_comment`] found.
enum Skipped {
    /// A comment, now behind us.
    Yes,
    /// Something that is not to be skipped: a token of its own, or one for the lexer's main switch.
    Stop(Option<Token>),
}
