//! The rows of a long VALUES list of literals, read from the text one after the other: no tree is made of
//! them.
//!
//! A statement of many thousand values, as dumps have, costs more to parse and plan than to run, and its tree
//! takes many times the memory of its text.

use base::sync::interrupt;
use bumpalo::Bump;
use types::{CollationId, Decimal, Value};

use crate::charset::Introducer;
use crate::lexer::{Kw, Lexer, Tok, Token};
use crate::literal::{IntValue, Literal, LiteralKind};
use crate::mode::LexMode;

/// Tokens before the rows, at most.
const HEAD_TOKENS_MAX: usize = 4096;
/// Cells of a row, at most: more than a table has columns.
const WIDTH_MAX: usize = 4096;
/// Rows between two looks whether the statement is to end.
const ROWS_BETWEEN_LOOKS: usize = 4096;
/// Bytes of a number's text, at most: fewer than any whose value is read as another type.
const NUMBER_BYTES_MAX: usize = 60;

/// The rows of `INSERT .. VALUES (..), (..)`, with nothing behind them.
#[derive(Clone, Debug)]
pub struct LiteralRows<'a> {
    /// Before the first cell of the next row.
    lexer: Lexer<'a>,
    sql: &'a [u8],
    mode: LexMode,
    collation: CollationId,
    /// Offset after the first row.
    head: usize,
    width: usize,
    rows: usize,
    unescaped_bytes_max: usize,
}

/// A cell of a row.
#[derive(Clone, Copy, Debug)]
enum Cell {
    Null,
    Literal { literal: Literal, is_negative: bool },
}

impl<'a> LiteralRows<'a> {
    /// The rows of the statement that begins at byte `start` of `sql`, if they are two at least and each has
    /// as many cells as the first, which are numbers, plain strings of the connection's `collation`, or
    /// NULL. `None`: it is another statement, or is to be parsed to say what is wrong with it.
    ///
    /// Cost: one pass over the text.
    pub fn find(sql: &'a [u8], start: usize, mode: LexMode, collation: CollationId) -> Option<Self> {
        if sql.len() > u32::MAX as usize {
            return None;
        }
        let mut rows = LiteralRows {
            lexer: after_values(Lexer::new(sql, start, mode))?,
            sql,
            mode,
            collation,
            head: 0,
            width: 0,
            rows: 0,
            unescaped_bytes_max: 0,
        };
        let first = rows.lexer;
        loop {
            rows.count_row()?;
            if !rows.next_row()? {
                break;
            }
        }
        rows.lexer = first;
        (rows.rows > 1).then_some(rows)
    }

    /// The text up to the end of the first row: the same statement with one row.
    pub fn head(&self) -> &'a [u8] {
        &self.sql[..self.head]
    }

    /// Cells of a row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Most bytes that [`LiteralRows::read_row`] takes at once: strings with escapes, and one of them again
    /// while it is read.
    pub fn row_bytes_max(&self) -> usize {
        2 * self.unescaped_bytes_max
    }

    /// Appends the values of the next row to `values`; strings with escapes are in `arena`. False: there is
    /// no other.
    #[inline]
    pub fn read_row<'v>(
        &mut self,
        arena: &'v Bump,
        values: &mut bumpalo::collections::Vec<'v, Value<'v>>,
    ) -> bool
    where
        'a: 'v,
    {
        loop {
            let Some((cell, is_last)) = self.cell() else { return false };
            let Some(value) = self.value(cell, arena) else { return false };
            values.push(value);
            if is_last {
                // What is behind the last row was seen before.
                self.next_row();
                return true;
            }
        }
    }

    /// Reads a row for what is to be known before any is used; `None`: it is none of these rows.
    fn count_row(&mut self) -> Option<()> {
        let (mut width, mut unescaped) = (0, 0);
        loop {
            let (cell, is_last) = self.cell()?;
            width += 1;
            if width > WIDTH_MAX {
                return None;
            }
            if let Cell::Literal { literal, .. } = cell {
                unescaped += usize::from(literal.escaped) * literal.len as usize;
                if !self.is_plain(&literal) {
                    return None;
                }
            }
            if is_last {
                break;
            }
        }
        if self.rows == 0 {
            (self.width, self.head) = (width, self.lexer.pos());
        }
        self.rows += 1;
        self.unescaped_bytes_max = self.unescaped_bytes_max.max(unescaped);
        let is_to_end = self.rows.is_multiple_of(ROWS_BETWEEN_LOOKS) && interrupt::is_requested();
        (width == self.width && !is_to_end).then_some(())
    }

    /// Whether the value of `literal` is one of its kind, whatever its digits.
    fn is_plain(&self, literal: &Literal) -> bool {
        let is_short = literal.len as usize <= NUMBER_BYTES_MAX;
        match literal.kind {
            LiteralKind::String => true,
            LiteralKind::Int => matches!(literal.int_value(self.sql), IntValue::Signed(_)),
            LiteralKind::Decimal => is_short && Decimal::parse(literal.text(self.sql)).is_some(),
            LiteralKind::Float => is_short && self.double(literal).is_some(),
            _ => false,
        }
    }

    fn double(&self, literal: &Literal) -> Option<f64> {
        let value: f64 = std::str::from_utf8(literal.text(self.sql)).ok()?.parse().ok()?;
        value.is_finite().then_some(value)
    }

    /// Reads a cell and what ends it; true with it: the row ends.
    #[inline]
    fn cell(&mut self) -> Option<(Cell, bool)> {
        match self.lexer.literal_cell() {
            Some(cell) => {
                let literal = literal(cell.start, cell.len, cell.kind, false);
                Some((Cell::Literal { literal, is_negative: false }, cell.last))
            }
            None => self.cell_of_tokens(),
        }
    }

    #[inline(never)]
    fn cell_of_tokens(&mut self) -> Option<(Cell, bool)> {
        let mut token = self.lexer.next();
        let is_negative = token.kind == Tok::Minus;
        if is_negative {
            token = self.lexer.next();
        }
        let (kind, escaped) = match token.kind {
            Tok::Kw(Kw::NULL) if !is_negative => return Some((Cell::Null, self.ends_row()?)),
            Tok::Str(escaped) if !is_negative => (LiteralKind::String, escaped),
            Tok::Int => (LiteralKind::Int, false),
            Tok::Decimal => (LiteralKind::Decimal, false),
            Tok::Float => (LiteralKind::Float, false),
            _ => return None,
        };
        let literal = literal(token.start, token.end - token.start, kind, escaped);
        Some((Cell::Literal { literal, is_negative }, self.ends_row()?))
    }

    /// Reads the comma or the parenthesis behind a cell; true: it is the parenthesis.
    fn ends_row(&mut self) -> Option<bool> {
        match self.lexer.next().kind {
            Tok::Comma => Some(false),
            Tok::RParen => Some(true),
            _ => None,
        }
    }

    /// Reads what is between two rows; false: the statement, and the text, ends.
    fn next_row(&mut self) -> Option<bool> {
        if self.lexer.next_row() {
            return Some(true);
        }
        let token = self.lexer.next();
        match token.kind {
            Tok::Comma => (self.lexer.next().kind == Tok::LParen).then_some(true),
            Tok::Eof => Some(false),
            Tok::Semicolon => {
                let rest = &self.sql[token.end as usize..];
                rest.iter().all(u8::is_ascii_whitespace).then_some(false)
            }
            _ => None,
        }
    }

    #[inline]
    fn value<'v>(&self, cell: Cell, arena: &'v Bump) -> Option<Value<'v>>
    where
        'a: 'v,
    {
        let Cell::Literal { literal, is_negative } = cell else { return Some(Value::Null) };
        Some(match literal.kind {
            LiteralKind::Int => match literal.int_value(self.sql) {
                IntValue::Signed(value) => Value::Int(if is_negative { -value } else { value }),
                _ => return None,
            },
            LiteralKind::String => {
                let data = match literal.string_value(self.sql, self.mode) {
                    std::borrow::Cow::Borrowed(data) => data,
                    std::borrow::Cow::Owned(data) => arena.alloc_slice_copy(&data),
                };
                Value::Bytes { data, collation: self.collation }
            }
            LiteralKind::Decimal => {
                let value = Decimal::parse(literal.text(self.sql))?;
                Value::Decimal(if is_negative { value.negate() } else { value })
            }
            _ => {
                let value = self.double(&literal)?;
                Value::Double(if is_negative { -value } else { value })
            }
        })
    }
}

fn literal(offset: u32, len: u32, kind: LiteralKind, escaped: bool) -> Literal {
    Literal { offset, len, ordinal: Literal::UNNUMBERED, kind, charset: Introducer::NONE, escaped }
}

/// The lexer behind `VALUES (` of the INSERT or REPLACE that `lexer` is before.
fn after_values(mut lexer: Lexer<'_>) -> Option<Lexer<'_>> {
    let is_begin = |token: Token| matches!(token.kind, Tok::Kw(Kw::INSERT | Kw::REPLACE));
    if !is_begin(lexer.next()) {
        return None;
    }
    for _ in 0..HEAD_TOKENS_MAX {
        match lexer.next().kind {
            Tok::Kw(Kw::VALUES) => {
                return (lexer.next().kind == Tok::LParen && !lexer.in_version_comment()).then_some(lexer);
            }
            Tok::Kw(Kw::SELECT) | Tok::Eof | Tok::Bad => return None,
            _ => {}
        }
    }
    None
}
