//! Plan-cache key: one lexer pass that turns a statement's text into a token stream and a list of its
//! literals.
//!
//! Two texts with equal keys (and equal `sql_mode`, database, character sets and catalog version, which the
//! caller adds) differ only in blanks, comments, spelling of reserved words and the values of the listed
//! literals, so one plan serves both with its parameters taken from the lists. What decides a plan or a
//! result's columns stays in the key: names and the text of the select list ([`select_list`]), literals of
//! ORDER BY, GROUP BY and LIMIT, lengths of lists (every literal leaves its tag), hints, NULL.
//!
//! The stream, per token: a code below 64 for punctuation and literal tags, a mark and two bytes for a
//! reserved word, or a marker, a length and the bytes themselves.

mod role;
mod select_list;
#[cfg(test)]
mod tests;
mod text_tree;

use std::hash::{BuildHasher, Hasher};

use crate::charset::Introducer;
use crate::lexer::{Kw, Lexer, LiteralCell, Noted, NotedTokens, Tok, Token};
use crate::literal::{Literal, LiteralKind};
use crate::mode::LexMode;
use role::{ROLES, Role};
pub use text_tree::TextTree;

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

/// Bytes of a reserved word in the stream.
const KEYWORD_BYTES: usize = 3;
/// Deepest parentheses a cacheable statement may have.
const DEPTH_MAX: u32 = 63;
/// Most literals of a statement whose plan is kept: a longer list is a load of rows, whose shape hardly ever
/// comes again. The rest of a text with more is not read for its key.
pub const CACHED_LITERALS_MAX: usize = 4096;
/// Texts of up to this length are copied as if they had it.
const SHORT: usize = 16;
/// Codes that the fast path writes.
const CODE_OPEN: u8 = Tok::LParen.code();
const CODE_CLOSE: u8 = Tok::RParen.code();
const CODE_COMMA: u8 = Tok::Comma.code();

/// A statement's key and its literals. Reuse one per connection: buffers keep their capacity.
#[derive(Clone, Debug, Default)]
pub struct CacheKey {
    key: Vec<u8>,
    literals: Vec<Literal>,
    /// The text's tokens, for the parser.
    tokens: NotedTokens,
    /// Those of select items whose text may name a column.
    named_literals: usize,
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

    /// Bytes of its buffers.
    pub fn heap_bytes(&self) -> usize {
        self.key.capacity() + self.literals.capacity() * size_of::<Literal>() + self.tokens.heap_bytes()
    }

    /// Hash of the token stream.
    pub fn hash(&self) -> u64 {
        self.hash
    }

    /// The literals left out of the key, in text order; the `i`-th has `ordinal == i`.
    pub fn literals(&self) -> &[Literal] {
        &self.literals
    }

    /// Tokens of the statement after its first one.
    pub(crate) fn tokens(&self) -> &[Noted] {
        self.tokens.as_slice()
    }

    /// Leaves the tokens to be read again.
    #[cfg(test)]
    pub(crate) fn forget_tokens(&mut self) {
        self.tokens.truncate(0);
    }

    /// How many of [`CacheKey::literals`] are in select items without an alias: a column may be named by
    /// the text around and with them.
    pub fn named_literals(&self) -> usize {
        self.named_literals
    }

    /// Number of `?` in the statement.
    pub fn params(&self) -> u32 {
        self.params
    }

    /// Offset after the statement and its `;`.
    pub fn end(&self) -> usize {
        self.end
    }

    /// Reads the statement of `sql` that begins at byte `start`. False: it is of a kind that is not cached,
    /// or cannot be; the contents are unspecified then.
    ///
    /// Cost: one pass over the text, no allocation once the buffers have grown.
    pub fn read(&mut self, sql: &[u8], start: usize, mode: LexMode) -> bool {
        self.key.clear();
        self.literals.clear();
        self.tokens.truncate(0);
        self.named_literals = 0;
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
        let mut reader = Reader {
            sql,
            lexer,
            mode,
            out: self,
            depth,
            row_depth: NO_ROWS,
            kept: 0,
            last: Role::Plain,
            items: 0,
            selects: 0,
            has_lifted_item: false,
        };
        let done = depth <= DEPTH_MAX && reader.run(first, usize::MAX);
        let state = base::hash::state();
        let mut hasher = state.build_hasher();
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

/// Whether a quoted name may be the text of an expression.
fn is_item_text(token: Token, sql: &[u8]) -> bool {
    sql[token.start as usize..token.end as usize].contains(&b'(')
}

/// State of the pass.
struct Reader<'a, 'k> {
    sql: &'a [u8],
    lexer: Lexer<'a>,
    mode: LexMode,
    out: &'k mut CacheKey,
    /// Open parentheses.
    depth: u32,
    /// Depth inside the rows of the VALUES or IN list being read; else [`NO_ROWS`].
    row_depth: u32,
    /// Bit `d`: at depth `d`, literals are kept (ORDER BY, GROUP BY, LIMIT).
    kept: u64,
    /// The meaning of the token before this one for a literal.
    last: Role,
    /// Items of select lists being read token by token, one inside the other.
    items: u32,
    /// Bit `d`: at depth `d`, SELECT was read. Elsewhere FROM is a word of a function.
    selects: u64,
    /// A literal may have been lifted out of a select list.
    has_lifted_item: bool,
}

/// [`Reader::row_depth`] outside such lists.
const NO_ROWS: u32 = u32::MAX;

impl Reader<'_, '_> {
    /// Reads from `first` to the end of the statement, or to the token at `stop`. False: no key for this
    /// statement.
    fn run(&mut self, first: Token, stop: usize) -> bool {
        let mut token = first;
        loop {
            if token.start as usize >= stop {
                return true;
            }
            let mut last = Role::Plain;
            match token.kind {
                Tok::Kw(kw) => {
                    last = ROLES[kw as usize];
                    self.keyword(token, kw, last);
                    if last == Role::Select {
                        // The list is kept as text, which must not begin inside a comment.
                        if self.lexer.in_version_comment() || self.repeats_item() {
                            return false;
                        }
                        match self.select_list(token.end as usize) {
                            Some(next) => token = next,
                            None => return false,
                        }
                        continue;
                    }
                }
                Tok::Word => self.text(mark::WORD, token),
                Tok::Int => {
                    self.literal(token, LiteralKind::Int);
                    last = self.still_in_type();
                }
                Tok::Str(_) => self.literal(token, LiteralKind::String),
                Tok::Comma => {
                    last = self.still_in_type();
                    if !self.comma() {
                        return false;
                    }
                }
                Tok::LParen => {
                    if !self.open() {
                        return false;
                    }
                    last = if self.last.is_type() { Role::TypeLength } else { Role::Plain };
                }
                Tok::RParen => {
                    if !self.close() {
                        return false;
                    }
                }
                Tok::Eof | Tok::Semicolon => {
                    self.out.end = token.end as usize;
                    return true;
                }
                _ => {
                    if !self.rare(token) {
                        return false;
                    }
                }
            }
            self.last = last;
            token = self.step();
        }
    }

    #[inline(always)]
    fn step(&mut self) -> Token {
        // What is deeper is mostly lists of literals, which the parser reads by itself.
        self.lexer.step_noted(&mut self.out.tokens, self.depth <= 1)
    }

    /// False: nothing is open.
    #[inline(always)]
    fn close(&mut self) -> bool {
        if self.depth == 0 {
            return false;
        }
        self.depth -= 1;
        self.out.key.push(CODE_CLOSE);
        true
    }

    /// False: more literals than a key may have.
    #[inline(always)]
    fn comma(&mut self) -> bool {
        self.out.key.push(CODE_COMMA);
        if self.out.literals.len() > CACHED_LITERALS_MAX {
            return false;
        }
        if self.depth == self.row_depth {
            self.cells();
        }
        true
    }

    /// Tokens that few statements have, and operators. False: no key for this statement.
    fn rare(&mut self, token: Token) -> bool {
        match token.kind {
            Tok::Quoted => {
                // It may be the name of a column that has a lifted literal in it.
                if self.out.named_literals > 0 && self.items == 0 && is_item_text(token, self.sql) {
                    return false;
                }
                self.text(mark::QUOTED, token);
            }
            Tok::UserVar => self.text(mark::USER_VAR, token),
            Tok::Hint => self.text(mark::HINT, token),
            Tok::Decimal => self.literal(token, LiteralKind::Decimal),
            Tok::Float => self.literal(token, LiteralKind::Float),
            Tok::Hex => self.literal(token, LiteralKind::Hex),
            Tok::Bit => self.literal(token, LiteralKind::Bit),
            // A character set of its own decides the type, so these stay.
            Tok::NationalStr(_) => self.text(mark::KEPT, token),
            Tok::Introducer(_) => {
                self.text(mark::INTRODUCER, token);
                let literal = self.lexer.next();
                self.text(mark::KEPT, literal);
            }
            Tok::Bad | Tok::LBrace => return false,
            kind => {
                self.out.params += u32::from(kind == Tok::Param);
                self.out.key.push(kind.code());
            }
        }
        true
    }

    /// Inside the parentheses of a type, what follows a number or a comma still is.
    #[inline]
    fn still_in_type(&self) -> Role {
        if self.last == Role::TypeLength { Role::TypeLength } else { Role::Plain }
    }

    /// An opening parenthesis; false if there are too many.
    #[inline]
    fn open(&mut self) -> bool {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return false;
        }
        self.set_kept(self.kept & 1 << (self.depth - 1) != 0);
        self.selects &= !(1 << self.depth);
        self.out.key.push(CODE_OPEN);
        if self.depth == self.row_depth {
            self.cells();
        }
        true
    }

    /// Reads cells of rows as long as they are plain literals, and whole rows after them.
    fn cells(&mut self) {
        #[cfg(test)]
        if tests::NO_CELLS.get() {
            return;
        }
        while let Some(cell) = self.lexer.literal_cell() {
            let LiteralCell { kind, start: offset, len, last } = cell;
            let end = if last { CODE_CLOSE } else { CODE_COMMA };
            self.out.key.extend_from_slice(&[kind as u8, end]);
            self.out.push(offset, len, kind, false);
            if !last {
                continue;
            }
            // With too many literals, what is left of the text is not read.
            if !self.lexer.next_row() || self.out.literals.len() > CACHED_LITERALS_MAX {
                self.depth -= 1;
                return;
            }
            self.out.key.extend_from_slice(&[CODE_COMMA, CODE_OPEN]);
        }
    }

    fn set_kept(&mut self, kept: bool) {
        let bit = 1 << self.depth;
        self.kept = if kept { self.kept | bit } else { self.kept & !bit };
    }

    /// Ends the list if its row is a subquery, whose clauses have commas of their own.
    #[inline]
    fn leave_row(&mut self) {
        if self.depth == self.row_depth {
            self.row_depth = NO_ROWS;
        }
    }

    #[inline]
    fn keyword(&mut self, token: Token, kw: Kw, role: Role) {
        if self.depth < self.row_depth {
            // Any keyword outside the rows ends the list.
            self.row_depth = NO_ROWS;
        }
        match role {
            Role::Keeping => {
                self.set_kept(true);
                self.leave_row();
            }
            Role::Freeing if self.items == 0 || self.selects & 1 << self.depth != 0 => self.set_kept(false),
            Role::Select => {
                self.selects |= 1 << self.depth;
                self.leave_row();
            }
            Role::Values => {
                self.set_kept(false);
                self.row_depth = self.depth + 1;
            }
            Role::In if self.row_depth == NO_ROWS && self.items == 0 && self.kept & 1 << self.depth == 0 => {
                self.row_depth = self.depth + 2;
            }
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
        let len = end - start;
        if len > SHORT {
            return self.long_bytes(mark, start, end);
        }
        // A copy of fixed size, cut to length, is cheaper than one of any size.
        let mut entry = [0; SHORT + 2];
        entry[0] = mark;
        entry[1] = len as u8;
        match self.sql[start..].first_chunk::<SHORT>() {
            Some(chunk) => entry[2..].copy_from_slice(chunk),
            None => entry[2..2 + len].copy_from_slice(&self.sql[start..end]),
        }
        let key = &mut self.out.key;
        let whole = key.len() + 2 + len;
        key.extend_from_slice(&entry);
        key.truncate(whole);
    }

    #[inline(never)]
    fn long_bytes(&mut self, mark: u8, start: usize, end: usize) {
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
        if self.kept & 1 << self.depth != 0 || self.last.keeps(kind) {
            self.text(mark::KEPT, token);
            return;
        }
        self.out.key.push(kind as u8);
        let escaped = matches!(token.kind, Tok::Str(true));
        self.out.push(token.start, token.end - token.start, kind, escaped);
    }
}

impl CacheKey {
    /// Adds a literal to the list.
    #[inline]
    fn push(&mut self, offset: u32, len: u32, kind: LiteralKind, escaped: bool) {
        let ordinal = self.literals.len() as u32;
        self.literals.push(Literal { offset, len, ordinal, kind, charset: Introducer::NONE, escaped });
    }
}
