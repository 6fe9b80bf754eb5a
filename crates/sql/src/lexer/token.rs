//! Tokens.

use super::keyword::Kw;
use crate::charset::Introducer;

/// A token: its kind and the bytes `start..end` of the statement text it covers. 12 bytes, copied freely.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: Tok,
    /// Offset of its first byte.
    pub start: u32,
    /// Offset after its last byte.
    pub end: u32,
}

/// Token kinds. Those that need their text take it from the token's span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tok {
    /// End of the text.
    Eof,
    /// An unquoted word that is a keyword, reserved or not.
    Kw(Kw),
    /// An unquoted word that is no keyword, or any word after a dot.
    Word,
    /// A name in backquotes, or in double quotes under ANSI_QUOTES; the span includes the quotes.
    Quoted,
    /// Digits.
    Int,
    /// Digits with a point.
    Decimal,
    /// Digits with an exponent.
    Float,
    /// A string, with all pieces that are next to it. True: its value needs unescaping.
    Str(bool),
    /// `N'..'`, likewise.
    NationalStr(bool),
    /// `x'..'` or `0x..`.
    Hex,
    /// `b'..'` or `0b..`.
    Bit,
    /// `_charset`.
    Introducer(Introducer),
    /// `@name`, ``@`name` ``, `@'name'`; the span includes the `@`. A lone `@` has a span of 1.
    UserVar,
    /// `@@`.
    AtAt,
    /// `?`.
    Param,
    /// `/*+ .. */` after a keyword that takes hints.
    Hint,
    /// `(`
    LParen,
    /// `)`
    RParen,
    /// `,`
    Comma,
    /// `;`
    Semicolon,
    /// `.`
    Dot,
    /// `*`
    Star,
    /// `+`
    Plus,
    /// `-`
    Minus,
    /// `/`
    Slash,
    /// `%`
    Percent,
    /// `=`
    Eq,
    /// `<=>`
    NullSafeEq,
    /// `<>` or `!=`
    Ne,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
    /// `<<`
    Shl,
    /// `>>`
    Shr,
    /// `&`
    Amp,
    /// `&&`
    AndAnd,
    /// `|`
    Pipe,
    /// `||`
    OrOr,
    /// `^`
    Caret,
    /// `~`
    Tilde,
    /// `!`
    Bang,
    /// `:=`
    Assign,
    /// `:`
    Colon,
    /// `->`
    Arrow,
    /// `->>`
    ArrowText,
    /// `{`
    LBrace,
    /// `}`
    RBrace,
    /// A byte that begins no token, or text that ends inside a string, name or comment.
    Bad,
}

impl Tok {
    /// Number of the kind in the plan-cache key for kinds without a payload; 0 for the others.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Tok::Param => 16,
            Tok::LParen => 17,
            Tok::RParen => 18,
            Tok::Comma => 19,
            Tok::Semicolon => 20,
            Tok::Dot => 21,
            Tok::Star => 22,
            Tok::Plus => 23,
            Tok::Minus => 24,
            Tok::Slash => 25,
            Tok::Percent => 26,
            Tok::Eq => 27,
            Tok::NullSafeEq => 28,
            Tok::Ne => 29,
            Tok::Lt => 30,
            Tok::Le => 31,
            Tok::Gt => 32,
            Tok::Ge => 33,
            Tok::Shl => 34,
            Tok::Shr => 35,
            Tok::Amp => 36,
            Tok::AndAnd => 37,
            Tok::Pipe => 38,
            Tok::OrOr => 39,
            Tok::Caret => 40,
            Tok::Tilde => 41,
            Tok::Bang => 42,
            Tok::Assign => 43,
            Tok::Colon => 44,
            Tok::Arrow => 45,
            Tok::ArrowText => 46,
            Tok::LBrace => 47,
            Tok::RBrace => 48,
            Tok::AtAt => 49,
            _ => 0,
        }
    }
}
