//! Plan-cache key: one lexer pass that turns a statement's text into a token stream and a list of its literals.
//!
//! Two texts with equal keys (and equal `sql_mode`, database, character sets and catalog version, which the caller
//! adds) differ only in blanks, comments, spelling of reserved words and the values of the listed literals, so one
//! plan serves both with its parameters taken from the lists. What decides a plan or a result's columns stays in the
//! key: names and the text of the whole select list, literals of ORDER BY, GROUP BY and LIMIT, lengths of lists (every
//! literal leaves its tag), hints, NULL.
//!
//! The stream, per token: a code below 64 for punctuation and literal tags, a mark and two bytes for a
//! reserved word, or a marker, a length and the bytes themselves.

use std::hash::{BuildHasher, Hasher};

use crate::charset::Introducer;
use crate::lexer::{Kw, Lexer, Tok, Token};
use crate::literal::{Literal, LiteralKind};
use crate::mode::LexMode;

/// Markers of the stream beyond [`Tok::code`] and the literal tags 1 to 9.
mod mark {
    /// A reserved word; its number follows in two bytes.
    pub(super) const KEYWORD: u8 = 64;
    /// A name without quotes, or a word that is not reserved.
    pub(super) const WORD: u8 = 65;
    /// A quoted name.
    pub(super) const QUOTED: u8 = 66;
    /// A literal kept as it is.
    pub(super) const KEPT: u8 = 67;
    /// A user variable.
    pub(super) const USER_VAR: u8 = 68;
    /// A charset introducer; its number follows as a name.
    pub(super) const INTRODUCER: u8 = 69;
    /// A hint.
    pub(super) const HINT: u8 = 70;
    /// The text of a select list.
    pub(super) const SELECT_LIST: u8 = 71;
}

/// Deepest parentheses a cacheable statement may have.
const MAX_DEPTH: u32 = 63;
/// Seeds of the key's hash: fixed, so that runs are alike. Keys are compared in full, so collisions only cost time.
const HASH_SEED: u64 = 0x5261_7463_6865_7401;

/// A statement's key and its literals. Reuse one per connection: buffers keep their capacity.
#[derive(Clone, Debug, Default)]
pub struct CacheKey {
    key: Vec<u8>,
    literals: Vec<Literal>,
    hash: u64,
    params: u32,
    end: usize,
}

impl CacheKey {
    /// An empty key.
    pub fn new() -> Self {
        Self::default()
    }

    /// The token stream, to be compared in full.
    pub fn bytes(&self) -> &[u8] {
        &self.key
    }

    /// Hash of the token stream.
    pub fn hash(&self) -> u64 {
        self.hash
    }

    /// The literals left out of the key, in text order; the `i`-th has `ordinal == i`.
    pub fn literals(&self) -> &[Literal] {
        &self.literals
    }

    /// Number of `?` in the statement.
    pub fn params(&self) -> u32 {
        self.params
    }

    /// Offset after the statement and its `;`.
    pub fn end(&self) -> usize {
        self.end
    }

    /// Reads the statement of `sql` that begins at byte `start`. False: it is of a kind that is not cached, or cannot
    /// be; the contents are unspecified then.
    ///
    /// Cost: one pass over the text, no allocation once the buffers have grown.
    pub fn read(&mut self, sql: &[u8], start: usize, mode: LexMode) -> bool {
        self.key.clear();
        self.literals.clear();
        self.params = 0;
        if sql.len() > u32::MAX as usize {
            return false;
        }
        let mut lexer = Lexer::new(sql, start, mode);
        let mut first = lexer.next();
        while matches!(first.kind, Tok::LParen | Tok::Semicolon) {
            if first.kind == Tok::LParen {
                self.key.push(first.kind.code());
            }
            first = lexer.next();
        }
        if !is_cached_kind(first.kind) {
            return false;
        }
        let depth = self.key.len() as u32;
        let done =
            depth <= MAX_DEPTH && Reader { sql, lexer, out: self, depth, kept: 0, last: Kw::DO }.run(first);
        let mut hasher = foldhash::fast::FixedState::with_seed(HASH_SEED).build_hasher();
        hasher.write(&self.key);
        self.hash = hasher.finish();
        done
    }
}

/// Whether statements that begin so are worth a cached plan.
fn is_cached_kind(first: Tok) -> bool {
    matches!(
        first,
        Tok::Kw(
            Kw::SELECT
                | Kw::INSERT
                | Kw::REPLACE
                | Kw::UPDATE
                | Kw::DELETE
                | Kw::WITH
                | Kw::VALUES
                | Kw::TABLE
        )
    )
}

/// State of the pass.
struct Reader<'a, 'k> {
    sql: &'a [u8],
    lexer: Lexer<'a>,
    out: &'k mut CacheKey,
    /// Open parentheses.
    depth: u32,
    /// Bit `d`: at depth `d`, literals are kept (ORDER BY, GROUP BY, LIMIT).
    kept: u64,
    /// The token before this one if it was a keyword; DECIMAL inside a type's parentheses; else DO.
    last: Kw,
}

impl Reader<'_, '_> {
    fn run(mut self, first: Token) -> bool {
        let mut token = first;
        loop {
            match token.kind {
                Tok::Kw(Kw::SELECT) => {
                    // The list is kept as text, which must not begin inside a comment.
                    if self.lexer.in_version_comment() {
                        return false;
                    }
                    self.keyword(token, Kw::SELECT);
                    token = self.select_list(token.end as usize);
                    continue;
                }
                Tok::Kw(kw) => self.keyword(token, kw),
                Tok::Word => self.text(mark::WORD, token),
                Tok::Quoted => self.text(mark::QUOTED, token),
                Tok::UserVar => self.text(mark::USER_VAR, token),
                Tok::Hint => self.text(mark::HINT, token),
                Tok::Int => self.literal(token, LiteralKind::Int),
                Tok::Str(_) => self.literal(token, LiteralKind::String),
                Tok::Decimal => self.literal(token, LiteralKind::Decimal),
                Tok::Float => self.literal(token, LiteralKind::Float),
                Tok::Hex => self.literal(token, LiteralKind::Hex),
                Tok::Bit => self.literal(token, LiteralKind::Bit),
                // A character set of its own decides the type, so these stay.
                Tok::NationalStr(_) => self.text(mark::KEPT, token),
                Tok::Introducer(_) => {
                    self.text(mark::INTRODUCER, token);
                    token = self.lexer.next();
                    self.text(mark::KEPT, token);
                }
                Tok::Eof | Tok::Semicolon => {
                    self.out.end = token.end as usize;
                    return true;
                }
                Tok::Bad | Tok::LBrace => return false,
                kind => {
                    if !self.punctuation(kind) {
                        return false;
                    }
                }
            }
            self.last = self.last_after(token.kind);
            token = self.lexer.next();
        }
    }

    /// What `last` becomes after a token of `kind`.
    #[inline]
    fn last_after(&self, kind: Tok) -> Kw {
        match kind {
            Tok::Kw(kw) => kw,
            Tok::LParen if is_type_word(self.last) => Kw::DECIMAL,
            Tok::Comma | Tok::Int if self.last == Kw::DECIMAL => Kw::DECIMAL,
            _ => Kw::DO,
        }
    }

    fn punctuation(&mut self, kind: Tok) -> bool {
        match kind {
            Tok::Param => self.out.params += 1,
            Tok::LParen => {
                self.depth += 1;
                if self.depth > MAX_DEPTH {
                    return false;
                }
                self.set_kept(self.kept & 1 << (self.depth - 1) != 0);
            }
            Tok::RParen => {
                if self.depth == 0 {
                    return false;
                }
                self.depth -= 1;
            }
            _ => {}
        }
        self.out.key.push(kind.code());
        true
    }

    fn set_kept(&mut self, kept: bool) {
        let bit = 1 << self.depth;
        self.kept = if kept { self.kept | bit } else { self.kept & !bit };
    }

    #[inline]
    fn keyword(&mut self, token: Token, kw: Kw) {
        match kw {
            Kw::BY | Kw::LIMIT => self.set_kept(true),
            Kw::FROM | Kw::WHERE | Kw::HAVING | Kw::SET | Kw::VALUES | Kw::ON => self.set_kept(false),
            _ => {}
        }
        if kw.is_reserved() {
            let [low, high] = (kw as u16).to_le_bytes();
            self.out.key.extend_from_slice(&[mark::KEYWORD, low, high]);
        } else {
            self.text(mark::WORD, token);
        }
    }

    #[inline]
    fn text(&mut self, mark: u8, token: Token) {
        self.bytes(mark, token.start as usize, token.end as usize);
    }

    #[inline]
    fn bytes(&mut self, mark: u8, start: usize, end: usize) {
        let len = (end - start) as u32;
        let key = &mut self.out.key;
        key.push(mark);
        if len < 0x80 {
            key.push(len as u8);
        } else {
            key.push(0x80);
            key.extend_from_slice(&len.to_le_bytes());
        }
        key.extend_from_slice(&self.sql[start..end]);
    }

    #[inline]
    fn literal(&mut self, token: Token, kind: LiteralKind) {
        if self.kept & 1 << self.depth != 0 || is_kept_after(self.last, kind) {
            self.text(mark::KEPT, token);
            return;
        }
        let escaped = matches!(token.kind, Tok::Str(true));
        let ordinal = self.out.literals.len() as u32;
        self.out.key.push(kind as u8);
        self.out.literals.push(Literal {
            offset: token.start,
            len: token.end - token.start,
            ordinal,
            kind,
            charset: Introducer::NONE,
            escaped,
        });
    }

    /// Takes a select list, from after SELECT, as its text, and returns the token that ends it: a clause's first word,
    /// a closing parenthesis, or the end.
    fn select_list(&mut self, start: usize) -> Token {
        let mut token = self.lexer.next();
        let mut end = start;
        let mut open = 0u32;
        loop {
            match token.kind {
                Tok::LParen => open += 1,
                Tok::RParen if open == 0 => break,
                Tok::RParen => open -= 1,
                Tok::Eof | Tok::Bad | Tok::Semicolon => break,
                Tok::Kw(kw) if open == 0 && ends_select_list(kw) => break,
                Tok::Param => self.out.params += 1,
                _ => {}
            }
            end = token.end as usize;
            token = self.lexer.next();
        }
        self.bytes(mark::SELECT_LIST, start, end);
        self.last = Kw::DO;
        token
    }
}

/// Words that end a select list at its own level of parentheses.
fn ends_select_list(kw: Kw) -> bool {
    matches!(
        kw,
        Kw::FROM
            | Kw::INTO
            | Kw::WHERE
            | Kw::GROUP
            | Kw::HAVING
            | Kw::ORDER
            | Kw::LIMIT
            | Kw::UNION
            | Kw::EXCEPT
            | Kw::INTERSECT
            | Kw::FOR
            | Kw::LOCK
            | Kw::WINDOW
            | Kw::ON
    )
}

/// Whether a literal right after `word` is syntax, not a value: the parser makes no literal node of it.
fn is_kept_after(word: Kw, kind: LiteralKind) -> bool {
    match word {
        Kw::DECIMAL => true,
        Kw::AS
        | Kw::COLLATE
        | Kw::SEPARATOR
        | Kw::USING
        | Kw::DATE
        | Kw::TIME
        | Kw::TIMESTAMP
        | Kw::OUTFILE => kind == LiteralKind::String,
        Kw::ESCAPE => true,
        _ => false,
    }
}

/// Words whose parenthesis holds a length: types, and the functions whose precision decides their type.
fn is_type_word(word: Kw) -> bool {
    matches!(
        word,
        Kw::CHAR
            | Kw::CHARACTER
            | Kw::NCHAR
            | Kw::BINARY
            | Kw::DECIMAL
            | Kw::DEC
            | Kw::NUMERIC
            | Kw::FIXED
            | Kw::FLOAT
            | Kw::TIME
            | Kw::DATETIME
            | Kw::NOW
            | Kw::SYSDATE
            | Kw::CURTIME
            | Kw::CURRENT_TIME
            | Kw::CURRENT_TIMESTAMP
            | Kw::LOCALTIME
            | Kw::LOCALTIMESTAMP
            | Kw::UTC_TIME
            | Kw::UTC_TIMESTAMP
    )
}
