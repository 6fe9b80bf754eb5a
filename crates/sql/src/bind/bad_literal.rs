//! What MySQL finds in the literals of a statement while it parses it, before it searches for the statement's
//! tables: invalid dates and times, which it refuses, and national texts, of which it warns.

use expr::Builder;

use super::BindError;
use crate::LexMode;
use crate::charset::Introducer;
use crate::lexer::{Kw, Lexer, Tok};
use crate::literal::{Literal, LiteralKind};

/// The error of the first invalid DATE, TIME or TIMESTAMP literal, in the statement that begins at `start`.
#[cold]
pub fn bad_literal(sql: &[u8], start: usize, mode: LexMode, build: &Builder) -> Option<BindError> {
    let mut lexer = Lexer::new(sql, start, mode);
    let mut kind = None;
    loop {
        let token = lexer.next();
        if matches!(token.kind, Tok::Eof | Tok::Semicolon) {
            return None;
        }
        if let (Some(kind), Tok::Str(escaped)) = (kind, token.kind) {
            let (offset, len) = (token.start, token.end - token.start);
            let charset = Introducer::NONE;
            let literal = Literal { offset, len, ordinal: Literal::UNNUMBERED, kind, charset, escaped };
            let text = literal.string_value(sql, mode);
            let built = match kind {
                LiteralKind::Date => build.date_literal(&text),
                LiteralKind::Time => build.time_literal(&text),
                _ => build.timestamp_literal(&text),
            };
            if let Err(error) = built {
                return Some(error.into());
            }
        }
        kind = match token.kind {
            Tok::Kw(Kw::DATE) => Some(LiteralKind::Date),
            Tok::Kw(Kw::TIME) => Some(LiteralKind::Time),
            Tok::Kw(Kw::TIMESTAMP) => Some(LiteralKind::Timestamp),
            _ => None,
        };
    }
}

/// The number of national texts (`N'text'`) in the statement that begins at `start`, up to the offset `end`.
#[cold]
pub fn national_texts(sql: &[u8], start: usize, end: usize, mode: LexMode) -> usize {
    let mut lexer = Lexer::new(sql, start, mode);
    let mut count = 0;
    loop {
        let token = lexer.next();
        match token.kind {
            Tok::Eof | Tok::Semicolon => return count,
            _ if token.start as usize >= end => return count,
            Tok::NationalStr(_) => count += 1,
            _ => {}
        }
    }
}
