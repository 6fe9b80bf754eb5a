//! Blanks and comments, among them the ones that are executed.

use super::class::is_blank;
use super::{Context, Lexer, Tok, VERSION_ID};

impl Lexer<'_> {
    /// At `#`, `-`, `/` or `*`: skips one comment or the edge of an executed one (`None`), or reads a token.
    /// That is a hint, where `context` allows one, [`Tok::Bad`] for a comment that does not end, or an
    /// operator.
    #[inline(never)]
    pub(super) fn comment_or_operator(&mut self, b: u8, context: Context) -> Option<Tok> {
        let next = self.byte(self.pos + 1);
        match b {
            b'*' if next == b'/' && self.in_version_comment => {
                self.in_version_comment = false;
                self.pos += 2;
                None
            }
            b'*' => Some(self.single(Tok::Star)),
            b'/' if next == b'*' => self.skip_block(context),
            b'/' => Some(self.single(Tok::Slash)),
            b'-' if next != b'-' || !self.is_comment_dash(self.pos + 2) => Some(self.minus()),
            _ => {
                self.skip_line();
                None
            }
        }
    }

    /// Whether what is at `pos` makes a comment of the two dashes before it: a blank, a control byte, or
    /// the end.
    fn is_comment_dash(&self, pos: usize) -> bool {
        self.text.get(pos).is_none_or(|&b| is_blank(b) || b < b' ')
    }

    fn skip_line(&mut self) {
        self.pos =
            memchr::memchr(b'\n', &self.text[self.pos..]).map_or(self.text.len(), |i| self.pos + i + 1);
    }

    /// At `/*`. Text of a `/*!NNNNN` comment for this version or an older one is read as SQL; `/*M!` is a
    /// comment.
    fn skip_block(&mut self, context: Context) -> Option<Tok> {
        let start = self.pos;
        match self.byte(start + 2) {
            b'!' if !self.in_version_comment => {
                let (version, digits) = self.version_at(start + 3);
                if version <= VERSION_ID {
                    self.in_version_comment = true;
                    self.pos = start + 3 + digits;
                    return None;
                }
                self.skip_to_end_of_block(start + 3, true)
            }
            b'+' if context == Context::Hint => Some(self.hint()),
            _ => self.skip_to_end_of_block(start + 2, false),
        }
    }

    /// The version at `pos` and its number of digits: five, or six that a blank follows; no version counts as
    /// 0.
    fn version_at(&self, pos: usize) -> (u32, usize) {
        let count =
            self.text[pos.min(self.text.len())..].iter().take(6).take_while(|b| b.is_ascii_digit()).count();
        if count < 5 {
            return (0, 0);
        }
        let count = if count == 6 && is_blank(self.byte(pos + 6)) { 6 } else { 5 };
        let value = self.text[pos..pos + count].iter().fold(0, |v, &b| v * 10 + u32::from(b - b'0'));
        (value, count)
    }

    /// Moves past the `*/` that ends the comment; with `nested`, one level of plain comments inside is
    /// stepped over.
    fn skip_to_end_of_block(&mut self, mut pos: usize, nested: bool) -> Option<Tok> {
        loop {
            let Some(i) = memchr::memchr2(b'*', b'/', &self.text[pos.min(self.text.len())..]) else {
                return Some(Tok::Bad);
            };
            pos += i;
            match (self.byte(pos), self.byte(pos + 1)) {
                (b'*', b'/') => {
                    self.pos = pos + 2;
                    return None;
                }
                (b'/', b'*') if nested => {
                    let Some(end) = memchr::memmem::find(&self.text[pos + 2..], b"*/") else {
                        return Some(Tok::Bad);
                    };
                    pos += 2 + end + 2;
                }
                _ => pos += 1,
            }
        }
    }

    fn hint(&mut self) -> Tok {
        let Some(end) = memchr::memmem::find(&self.text[self.pos..], b"*/") else {
            return Tok::Bad;
        };
        self.pos += end + 2;
        Tok::Hint
    }
}
