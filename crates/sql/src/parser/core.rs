//! Parser state: the current token, expectations, names, lists.

use base::sync::interrupt;
use bumpalo::Bump;
use bumpalo::collections::Vec as BumpVec;
use smallvec::SmallVec;
use types::Charset;
use types::collation::convert;

use super::Parsed;
use super::nesting::Nesting;
use crate::ast::{Expr, ExprKind, Into, TableName};
use crate::cache_key::CacheKey;
use crate::charset::Introducer;
use crate::error::ParseErrorKind;
use crate::lexer::{Kw, Lexer, LiteralCell, Noted, Tok, Token};
use crate::literal::{Literal, LiteralKind, second_piece, unescape_into};
use crate::mode::LexMode;

/// An error before its text is built: small, because it travels through every return.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fail {
    pub(super) kind: ParseErrorKind,
    pub(super) offset: u32,
}

pub(super) type Result<T> = std::result::Result<T, Fail>;

/// Bytes of text between two checks whether the statement is to end. A text up to as long is parsed without
/// one.
const BYTES_BETWEEN_LOOKS: u32 = 1 << 16;
/// Bytes of a text whose encoding is checked at once.
const CHECKED_PREFIX: usize = 256;

/// The parser: one token of lookahead, more by copying the lexer.
pub(super) struct Parser<'a, 'n> {
    lexer: Lexer<'a>,
    /// Current token.
    pub(super) tok: Token,
    /// End of the token before it.
    pub(super) prev_end: u32,
    pub(super) text: &'a [u8],
    /// A prefix of the text, checked at once to be UTF-8: most names are in it.
    checked: &'a str,
    pub(super) mode: LexMode,
    pub(super) arena: &'a Bump,
    /// `?` seen so far.
    pub(super) params: u32,
    pub(super) nesting: Nesting,
    /// An operand already read, which the next call of the expression parser starts from.
    pub(super) pending: Option<Expr<'a>>,
    /// Tokens to come that are known.
    noted: &'n [Noted],
    /// The cache key's literals, ordered by offset.
    literals: &'n [Literal],
    /// How many of them have been met in the tree.
    claimed: usize,
    /// INTO of the query being read, wherever it was.
    pub(super) into: Option<&'a Into<'a>>,
    /// Start of the select item being read: only there may `t.*` be.
    pub(super) item_start: u32,
    /// The table of a `t.*` just read.
    pub(super) table_star: Option<TableName<'a>>,
    /// The last `/*+ .. */`.
    pub(super) hint: Option<Token>,
    /// Joins so far.
    pub(super) join_count: u16,
    /// A number did not fit 32 bits.
    pub(super) cut_number: bool,
    /// Offset of the text from which on the next token first checks whether the statement is to end.
    next_look: u32,
    /// Most bytes that the arena may have when the parser looks.
    pub(super) arena_bytes_max: usize,
    /// Why the text ends before its end.
    pub(super) stopped: Option<ParseErrorKind>,
}

impl<'a, 'n> Parser<'a, 'n> {
    /// `key`: what the text's cache key knows.
    pub(super) fn new(
        mut lexer: Lexer<'a>,
        mode: LexMode,
        arena: &'a Bump,
        key: Option<&'n CacheKey>,
    ) -> Self {
        let tok = lexer.next();
        let text = lexer.text();
        Parser {
            lexer,
            tok,
            prev_end: tok.start,
            text,
            checked: utf8_prefix(&text[..text.len().min(CHECKED_PREFIX)], mode),
            mode,
            arena,
            params: 0,
            nesting: Nesting::default(),
            pending: None,
            noted: key.map_or(&[], CacheKey::tokens),
            literals: key.map_or(&[], CacheKey::literals),
            claimed: 0,
            into: None,
            item_start: u32::MAX,
            table_star: None,
            hint: None,
            join_count: 0,
            cut_number: false,
            next_look: BYTES_BETWEEN_LOOKS,
            arena_bytes_max: usize::MAX,
            stopped: None,
        }
    }

    /// One statement, up to its `;` or the end.
    pub(super) fn statement_to_end(&mut self) -> Result<Parsed<'a>> {
        while self.eat(Tok::Semicolon) {}
        if self.tok.kind == Tok::Eof {
            return Err(self.fail(ParseErrorKind::Empty));
        }
        let statement = self.statement()?;
        let end = match self.tok.kind {
            Tok::Semicolon => self.tok.end as usize,
            Tok::Eof => self.text.len(),
            _ => return self.syntax(),
        };
        let more = end < self.text.len() && self.rest_has_statement();
        let numbered = self.claimed == self.literals.len();
        Ok(Parsed { statement, params: self.params, end, more, numbered })
    }

    /// Whether anything but `;` and blanks follows the current `;`.
    fn rest_has_statement(&self) -> bool {
        let mut lexer = self.lexer;
        loop {
            match lexer.next().kind {
                Tok::Semicolon => {}
                kind => return kind != Tok::Eof,
            }
        }
    }

    // Tokens.

    /// Moves to the next token and returns the one left behind.
    #[inline]
    pub(super) fn bump(&mut self) -> Token {
        let token = self.tok;
        self.advance();
        token
    }

    /// [`Parser::bump`] for callers that know the token.
    #[inline(never)]
    pub(super) fn advance(&mut self) {
        self.prev_end = self.tok.end;
        if self.prev_end >= self.next_look {
            self.look();
        }
        self.tok = self.lexer.next_of(&mut self.noted);
        if self.tok.kind == Tok::Hint {
            self.hint = Some(self.tok);
            self.tok = self.lexer.next_of(&mut self.noted);
        }
    }

    /// Ends the text here if the statement is to end or its tree is too large. The parser comes to an end as
    /// at the end of any text, and [`Parser::stopped`] takes the place of what it answers.
    #[cold]
    #[inline(never)]
    pub(super) fn look(&mut self) {
        self.next_look = (self.lexer.pos() as u32).saturating_add(BYTES_BETWEEN_LOOKS);
        if interrupt::is_requested() {
            self.stopped = Some(ParseErrorKind::Interrupted);
        } else if self.arena.allocated_bytes() > self.arena_bytes_max {
            self.stopped = Some(ParseErrorKind::OutOfMemory);
        }
        if self.stopped.is_some() {
            self.lexer.end();
        }
    }

    /// The next cell of a VALUES list, if it is a plain literal, and whether it ends its row. The current
    /// token is left as it is, and the next one is that after the cell's comma or parenthesis.
    #[inline(always)]
    pub(super) fn literal_cell(&mut self) -> Option<(Literal, bool)> {
        let cell = self.lexer.literal_cell()?;
        let ordinal = self.ordinal(cell.start);
        let LiteralCell { kind, start: offset, len, last } = cell;
        Some((Literal { offset, len, ordinal, kind, charset: Introducer::NONE, escaped: false }, last))
    }

    /// The literals in the parentheses of which the current token is the first, two at least, and moves
    /// after the second. `None`, with nothing read: something else is there, or more than a few.
    pub(super) fn literal_row(&mut self) -> Option<&'a [Expr<'a>]> {
        const LITERALS_MAX: usize = 8;
        let before = (self.lexer, self.claimed);
        let mut row: SmallVec<[Expr<'a>; LITERALS_MAX]> = SmallVec::new();
        let mut is_last = false;
        while !is_last && row.len() < LITERALS_MAX {
            let Some((literal, last)) = self.literal_cell() else { break };
            row.push(Self::leaf(ExprKind::Literal(literal), literal.offset));
            is_last = last;
        }
        if !is_last || row.len() < 2 {
            (self.lexer, self.claimed) = before;
            return None;
        }
        let end = self.lexer.pos() as u32;
        self.tok = Token { kind: Tok::RParen, start: end - 1, end };
        self.advance();
        Some(self.arena.alloc_slice_copy(&row))
    }

    /// Bytes of text from offset `from` to where the lexer is, and from there to the end.
    pub(super) fn text_around(&self, from: u32) -> (usize, usize) {
        (self.lexer.pos() - from as usize, self.text.len() - self.lexer.pos())
    }

    /// Takes the `, (` before the next row of a VALUES list, if the lexer is at it.
    #[inline]
    pub(super) fn next_row(&mut self) -> bool {
        self.lexer.next_row()
    }

    /// The token after the current one.
    #[inline(never)]
    pub(super) fn peek(&self) -> Tok {
        let (mut lexer, mut noted) = (self.lexer, self.noted);
        lexer.next_of(&mut noted).kind
    }

    /// A lexer at the token after the current one, for looking further ahead.
    pub(super) fn ahead(&self) -> Lexer<'a> {
        self.lexer
    }

    #[inline]
    pub(super) fn at(&self, kind: Tok) -> bool {
        self.tok.kind == kind
    }

    #[inline]
    pub(super) fn at_kw(&self, kw: Kw) -> bool {
        self.tok.kind == Tok::Kw(kw)
    }

    /// Takes the token if it is `kind`.
    #[inline]
    pub(super) fn eat(&mut self, kind: Tok) -> bool {
        let found = self.tok.kind == kind;
        if found {
            self.advance();
        }
        found
    }

    #[inline]
    pub(super) fn eat_kw(&mut self, kw: Kw) -> bool {
        self.eat(Tok::Kw(kw))
    }

    /// Takes `first second` if both are here, nothing otherwise.
    pub(super) fn eat_kw2(&mut self, first: Kw, second: Kw) -> bool {
        let found = self.at_kw(first) && self.peek() == Tok::Kw(second);
        if found {
            self.bump();
            self.bump();
        }
        found
    }

    #[inline]
    pub(super) fn expect(&mut self, kind: Tok) -> Result<Token> {
        if self.tok.kind == kind { Ok(self.bump()) } else { self.syntax() }
    }

    #[inline]
    pub(super) fn expect_kw(&mut self, kw: Kw) -> Result<()> {
        self.expect(Tok::Kw(kw)).map(|_| ())
    }

    /// Whether a `(` follows the current token: at once, or after blanks under IGNORE_SPACE.
    #[inline]
    pub(super) fn paren_follows(&self) -> bool {
        self.text.get(self.tok.end as usize) == Some(&b'(')
            || (self.mode.has(LexMode::IGNORE_SPACE) && self.peek() == Tok::LParen)
    }

    /// Whether the unquoted word here is `word`, for words that are no keywords.
    pub(super) fn at_word(&self, word: &str) -> bool {
        matches!(self.tok.kind, Tok::Word | Tok::Kw(_))
            && self.slice(self.tok).eq_ignore_ascii_case(word.as_bytes())
    }

    /// Takes the word if it is `word`.
    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let found = self.at_word(word);
        if found {
            self.bump();
        }
        found
    }

    /// Skips the rest of the text: the end of statements whose bodies are not parsed.
    pub(super) fn skip_all(&mut self) -> Result<()> {
        while !self.at(Tok::Eof) {
            if self.at(Tok::Bad) {
                return self.syntax();
            }
            self.bump();
        }
        Ok(())
    }

    /// Skips to the end of the statement.
    pub(super) fn skip_statement(&mut self) -> Result<()> {
        while !matches!(self.tok.kind, Tok::Eof | Tok::Semicolon) {
            if self.at(Tok::Bad) {
                return self.syntax();
            }
            self.bump();
        }
        Ok(())
    }

    /// Skips a balanced `( .. )`.
    pub(super) fn skip_parens(&mut self) -> Result<()> {
        self.expect(Tok::LParen)?;
        let mut open = 1u32;
        while open > 0 {
            match self.tok.kind {
                Tok::LParen => open += 1,
                Tok::RParen => open -= 1,
                Tok::Eof | Tok::Bad => return self.syntax(),
                _ => {}
            }
            self.bump();
        }
        Ok(())
    }

    // Errors.

    #[cold]
    pub(super) fn fail(&self, kind: ParseErrorKind) -> Fail {
        Fail { kind, offset: self.tok.start }
    }

    /// A syntax error at the current token.
    #[cold]
    pub(super) fn syntax<T>(&self) -> Result<T> {
        Err(self.fail(ParseErrorKind::Syntax))
    }

    /// The error of a privilege in the place of a role.
    #[cold]
    pub(super) fn illegal_authorization<T>(&self) -> Result<T> {
        Err(self.fail(ParseErrorKind::IllegalAuthorization))
    }

    // Names and texts.

    #[inline]
    pub(super) fn slice(&self, token: Token) -> &'a [u8] {
        &self.text[token.start as usize..token.end as usize]
    }

    #[inline]
    pub(super) fn utf8(&self, bytes: &'a [u8], offset: u32) -> Result<&'a str> {
        if self.mode.has(LexMode::LATIN1) {
            return Ok(self.latin1(bytes));
        }
        std::str::from_utf8(bytes).map_err(|_| Fail { kind: ParseErrorKind::InvalidUtf8, offset })
    }

    /// Text of a client whose character set is latin1.
    #[cold]
    fn latin1(&self, bytes: &[u8]) -> &'a str {
        let mut text = Vec::with_capacity(bytes.len());
        convert(Charset::Latin1, Charset::Utf8mb4, bytes, &mut text);
        self.arena.alloc_str(&String::from_utf8_lossy(&text))
    }

    /// Text of a word or quoted name token.
    #[inline(always)]
    pub(super) fn name_text(&self, token: Token) -> Result<&'a str> {
        let bytes = self.slice(token);
        if token.kind == Tok::Quoted {
            return self.utf8(self.unquote(bytes), token.start);
        }
        match self.checked.get(token.start as usize..token.end as usize) {
            Some(name) => Ok(name),
            None => self.utf8(bytes, token.start),
        }
    }

    /// A quoted name without its quotes; copied to the arena only if a quote is doubled inside.
    fn unquote(&self, quoted: &'a [u8]) -> &'a [u8] {
        let quote = quoted[0];
        let inner = &quoted[1..quoted.len() - 1];
        if memchr::memchr(quote, inner).is_none() {
            return inner;
        }
        let mut out = BumpVec::with_capacity_in(inner.len(), self.arena);
        let mut rest = inner;
        while let Some(at) = memchr::memchr(quote, rest) {
            out.extend_from_slice_copy(&rest[..=at]);
            rest = &rest[at + 2..];
        }
        out.extend_from_slice_copy(rest);
        out.into_bump_slice()
    }

    /// Whether the current token can be a name: a word, a quoted name, or a keyword that is not reserved.
    #[inline]
    pub(super) fn at_name(&self) -> bool {
        match self.tok.kind {
            Tok::Word | Tok::Quoted => true,
            Tok::Kw(kw) => !kw.is_reserved(),
            _ => false,
        }
    }

    /// A name.
    #[inline]
    pub(super) fn name(&mut self) -> Result<&'a str> {
        if !self.at_name() {
            return self.syntax();
        }
        let name = self.name_text(self.tok)?;
        self.bump();
        Ok(name)
    }

    /// A name or a string: aliases, charset and account names.
    pub(super) fn name_or_string(&mut self) -> Result<&'a str> {
        if self.at_string() { self.string() } else { self.name() }
    }

    /// `[schema.]table`.
    #[inline]
    pub(super) fn table_name(&mut self) -> Result<TableName<'a>> {
        let pos = self.tok.start;
        let name = self.name()?;
        if self.eat(Tok::Dot) {
            return Ok(TableName { schema: Some(name), name: self.name()?, pos });
        }
        Ok(TableName { schema: None, name, pos })
    }

    #[inline]
    pub(super) fn at_string(&self) -> bool {
        matches!(self.tok.kind, Tok::Str(_) | Tok::NationalStr(_))
    }

    /// Bytes of a string option. Strings side by side are joined in expressions only.
    pub(super) fn string_bytes(&mut self) -> Result<&'a [u8]> {
        let (Tok::Str(escaped) | Tok::NationalStr(escaped)) = self.tok.kind else {
            return self.syntax();
        };
        if escaped && let Some(second) = second_piece(self.slice(self.tok), self.mode) {
            return Err(Fail { kind: ParseErrorKind::Syntax, offset: self.tok.start + second as u32 });
        }
        let token = self.bump();
        Ok(self.string_text(token, escaped))
    }

    /// Value of a quoted text token, copied to the arena only if it holds escapes.
    pub(super) fn string_text(&self, token: Token, escaped: bool) -> &'a [u8] {
        let bytes = self.slice(token);
        if escaped {
            let mut out = Vec::with_capacity(bytes.len());
            unescape_into(bytes, self.mode, &mut out);
            return self.arena.alloc_slice_copy(&out);
        }
        let open = usize::from(token.kind == Tok::NationalStr(false));
        &bytes[open + 1..bytes.len() - 1]
    }

    /// A string option as text.
    pub(super) fn string(&mut self) -> Result<&'a str> {
        let offset = self.tok.start;
        let bytes = self.string_bytes()?;
        self.utf8(bytes, offset)
    }

    /// Name of a `@variable` token, without `@` and quotes.
    pub(super) fn user_var(&mut self) -> Result<&'a str> {
        if !self.at(Tok::UserVar) {
            return self.syntax();
        }
        let token = self.bump();
        let body = Token { start: token.start + 1, ..token };
        let bytes = self.slice(body);
        let bytes = match bytes.first() {
            Some(b'`') => self.unquote(bytes),
            Some(b'"') if self.mode.has(LexMode::ANSI_QUOTES) => self.unquote(bytes),
            Some(b'\'' | b'"') => self.string_text(Token { kind: Tok::Str(true), ..body }, true),
            _ => bytes,
        };
        self.utf8(bytes, token.start)
    }

    /// A number that is an option, not an expression: `None` beyond 64 bits is a syntax error.
    pub(super) fn number(&mut self) -> Result<u64> {
        use crate::literal::{IntValue, parse_int};
        let value = match self.tok.kind {
            Tok::Int => match parse_int(self.slice(self.tok)) {
                IntValue::Signed(v) => v as u64,
                IntValue::Unsigned(v) => v,
                IntValue::Big => return self.syntax(),
            },
            _ => return self.syntax(),
        };
        self.bump();
        Ok(value)
    }

    /// A number that fits 32 bits; larger ones are cut to the largest, for the binder to refuse.
    pub(super) fn number_u32(&mut self) -> Result<u32> {
        let number = self.number()?;
        Ok(u32::try_from(number).unwrap_or_else(|_| {
            self.cut_number = true;
            u32::MAX
        }))
    }

    // Lists and nodes.

    /// `item, item, ..`: one or more.
    #[inline]
    pub(super) fn list<T: Copy>(&mut self, mut item: impl FnMut(&mut Self) -> Result<T>) -> Result<&'a [T]> {
        let first = item(self)?;
        if !self.at(Tok::Comma) {
            return Ok(std::slice::from_ref(self.arena.alloc(first)));
        }
        let mut items = BumpVec::with_capacity_in(4, self.arena);
        items.push(first);
        while self.eat(Tok::Comma) {
            items.push(item(self)?);
        }
        Ok(items.into_bump_slice())
    }

    /// `( item, item, .. )`.
    pub(super) fn paren_list<T: Copy>(
        &mut self,
        item: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<&'a [T]> {
        self.expect(Tok::LParen)?;
        let items = self.list(item)?;
        self.expect(Tok::RParen)?;
        Ok(items)
    }

    /// `(name, name, ..)`.
    pub(super) fn paren_names(&mut self) -> Result<&'a [&'a str]> {
        self.paren_list(Self::name)
    }

    /// A node in the arena.
    #[inline]
    pub(super) fn alloc<T: Copy>(&self, node: T) -> &'a T {
        self.arena.alloc(node)
    }

    #[inline]
    pub(super) fn vec<T: Copy>(&self) -> BumpVec<'a, T> {
        BumpVec::new_in(self.arena)
    }

    /// A leaf expression.
    #[inline]
    pub(super) fn leaf(kind: ExprKind<'a>, pos: u32) -> Expr<'a> {
        Expr { kind, pos, height: 1 }
    }

    /// The literal that `token` is, with its ordinal if the cache key numbers it.
    #[inline]
    pub(super) fn literal(&mut self, token: Token, kind: LiteralKind, charset: Introducer) -> Literal {
        let escaped = matches!(token.kind, Tok::Str(true) | Tok::NationalStr(true));
        let (offset, len) = (token.start, token.end - token.start);
        let ordinal = self.ordinal(offset);
        Literal { offset, len, ordinal, kind, charset, escaped }
    }

    /// Ordinal of the literal at `offset`, which counts as met if the cache key numbers it.
    #[inline]
    fn ordinal(&mut self, offset: u32) -> u32 {
        if self.literals.is_empty() {
            return Literal::UNNUMBERED;
        }
        // The tree is made nearly in text order.
        let expected = self.claimed;
        if self.literals.get(expected).is_some_and(|lit| lit.offset == offset) {
            self.claimed += 1;
            return expected as u32;
        }
        self.claim(offset)
    }

    fn claim(&mut self, offset: u32) -> u32 {
        match self.literals.binary_search_by_key(&offset, |lit| lit.offset) {
            Ok(ordinal) => {
                self.claimed += 1;
                ordinal as u32
            }
            Err(_) => Literal::UNNUMBERED,
        }
    }
}

/// The longest prefix of `bytes` that is UTF-8, and of latin1 text one that is ASCII.
fn utf8_prefix(bytes: &[u8], mode: LexMode) -> &str {
    let is_latin1 = mode.has(LexMode::LATIN1);
    let ascii = bytes.iter().position(|byte| is_latin1 && !byte.is_ascii());
    let bytes = &bytes[..ascii.unwrap_or(bytes.len())];
    std::str::from_utf8(bytes)
        .or_else(|error| std::str::from_utf8(&bytes[..error.valid_up_to()]))
        .unwrap_or_default()
}
