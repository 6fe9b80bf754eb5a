//! The text of a select item as a name: that of a column without an alias.

use bumpalo::Bump;
use bumpalo::collections::Vec;

use crate::lexer::{Lexer, Tok};
use crate::mode::LexMode;

/// `text` without the marks around what only MySQL runs, `/*!` and `*/`, and without such comments as are for
/// later versions. Other comments stay, as in MySQL.
pub(super) fn without_version_marks<'a>(text: &'a [u8], mode: LexMode, arena: &'a Bump) -> &'a [u8] {
    // Few items have the sign at all.
    let has_mark = text.contains(&b'!') && memchr::memmem::find(text, b"/*!").is_some();
    if has_mark { stripped(text, mode, arena) } else { text }
}

/// Blanks that belong to an item that ends at `end`: where blanks may be before the parenthesis of a call,
/// MySQL reads them with the word before, unless a point or the sign of a variable is before that.
#[cold]
pub(super) fn blanks_after_word(text: &[u8], end: usize) -> usize {
    let is_word = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$') || *b >= 0x80;
    let start = text[..end].iter().rposition(|b| !is_word(b)).map_or(0, |at| at + 1);
    let is_name = text[start..end].first().is_some_and(|b| !b.is_ascii_digit());
    let is_part = text[..start].ends_with(b".") || text[..start].ends_with(b"@");
    if is_name && !is_part { text[end..].iter().take_while(|b| b.is_ascii_whitespace()).count() } else { 0 }
}

#[cold]
fn stripped<'a>(text: &'a [u8], mode: LexMode, arena: &'a Bump) -> &'a [u8] {
    let mut out = Vec::with_capacity_in(text.len(), arena);
    let mut lexer = Lexer::new(text, 0, mode);
    let mut taken = 0;
    loop {
        let token = lexer.next();
        let (start, end) = (token.start as usize, token.end as usize);
        push_gap(&text[taken..start.max(taken)], &mut out);
        out.extend_from_slice(&text[start..end]);
        taken = end;
        if matches!(token.kind, Tok::Eof | Tok::Bad) {
            return out.into_bump_slice();
        }
    }
}

/// Appends what is between two tokens, blanks and comments.
fn push_gap(mut gap: &[u8], out: &mut Vec<'_, u8>) {
    while !gap.is_empty() {
        let taken = match gap {
            [b'/', b'*', b'!', rest @ ..] => {
                let digits = rest.iter().take(6).take_while(|b| b.is_ascii_digit()).count();
                // A comment that is not run ends before the next token.
                let skipped = memchr::memmem::find(rest, b"*/").map(|end| end + 2);
                gap = &rest[skipped.unwrap_or(if digits < 5 { 0 } else { digits })..];
                continue;
            }
            [b'*', b'/', rest @ ..] => {
                gap = rest;
                continue;
            }
            [b'/', b'*', rest @ ..] => memchr::memmem::find(rest, b"*/").map_or(gap.len(), |end| end + 4),
            [b'#', ..] | [b'-', b'-', ..] => memchr::memchr(b'\n', gap).unwrap_or(gap.len()),
            _ => 1,
        };
        out.extend_from_slice(&gap[..taken]);
        gap = &gap[taken..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> String {
        let arena = Bump::new();
        let stripped = without_version_marks(text.as_bytes(), LexMode::NONE, &arena);
        String::from_utf8_lossy(stripped).into_owned()
    }

    #[test]
    fn text_that_is_run_stays_without_its_marks() {
        assert_eq!(name("1 /*!50000 + 1"), "1  + 1");
        assert_eq!(name("1 /*! + 1 */ + 2"), "1  + 1  + 2");
        assert_eq!(name("1 /*!99999 + 1 */ + 2"), "1  + 2");
    }

    #[test]
    fn other_comments_and_strings_stay() {
        assert_eq!(name("a /* b */ + 1 # c"), "a /* b */ + 1 # c");
        assert_eq!(
            name("/*! concat('/*!', */ `/*!`, \"*/\") /* d */"),
            " concat('/*!',  `/*!`, \"*/\") /* d */"
        );
    }
}
