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
    has_defaults: bool,
    decoded_bytes_max: usize,
}

/// What a column gets.
#[derive(Clone, Copy, Debug)]
pub enum RowCell<'v> {
    /// This value.
    Value(Value<'v>),
    /// The bytes of a hexadecimal or bit literal, to be read by [`crate::bind::bits_for`].
    Bits(&'v [u8]),
    /// DEFAULT.
    Default,
}

/// A cell as it is written.
#[derive(Clone, Copy, Debug)]
enum Cell {
    Null,
    Default,
    Bool(bool),
    Literal { literal: Literal, is_negative: bool },
}

impl<'a> LiteralRows<'a> {
    /// The rows of the statement that begins at byte `start` of `sql`, if they are two at least and each has
    /// as many cells as the first, which are numbers, strings of the connection's `collation` or of bytes,
    /// hexadecimal and bit literals, TRUE, FALSE, NULL or DEFAULT. `None`: it is another statement, or is to
    /// be parsed to say what is wrong with it.
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
            has_defaults: false,
            decoded_bytes_max: 0,
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

    /// Whether a cell is DEFAULT.
    pub fn has_defaults(&self) -> bool {
        self.has_defaults
    }

    /// Most bytes that [`LiteralRows::read_row`] takes at once: strings with escapes and what is written in
    /// digits, and one of them again while it is read.
    pub fn row_bytes_max(&self) -> usize {
        2 * self.decoded_bytes_max
    }

    /// Appends the cells of the next row to `cells`; what is not in the text as it is, is in `arena`. False:
    /// there is no other.
    #[inline]
    pub fn read_row<'v>(
        &mut self,
        arena: &'v Bump,
        cells: &mut bumpalo::collections::Vec<'v, RowCell<'v>>,
    ) -> bool
    where
        'a: 'v,
    {
        loop {
            let Some((cell, is_last)) = self.cell() else { return false };
            let Some(cell) = self.read(cell, arena) else { return false };
            cells.push(cell);
            if is_last {
                // What is behind the last row was seen before.
                self.next_row();
                return true;
            }
        }
    }

    /// Reads a row for what is to be known before any is used; `None`: it is none of these rows.
    fn count_row(&mut self) -> Option<()> {
        let (mut width, mut decoded) = (0, 0);
        loop {
            let (cell, is_last) = self.cell()?;
            width += 1;
            if width > WIDTH_MAX {
                return None;
            }
            match cell {
                Cell::Literal { literal, .. } => {
                    decoded += usize::from(is_decoded(&literal)) * literal.len as usize;
                    if !self.is_plain(&literal) {
                        return None;
                    }
                }
                Cell::Default => self.has_defaults = true,
                Cell::Null | Cell::Bool(_) => {}
            }
            if is_last {
                break;
            }
        }
        if self.rows == 0 {
            (self.width, self.head) = (width, self.lexer.pos());
        }
        self.rows += 1;
        self.decoded_bytes_max = self.decoded_bytes_max.max(decoded);
        let is_to_end = self.rows.is_multiple_of(ROWS_BETWEEN_LOOKS) && interrupt::is_requested();
        (width == self.width && !is_to_end).then_some(())
    }

    /// Whether the value of `literal` is one of its kind, whatever its digits.
    fn is_plain(&self, literal: &Literal) -> bool {
        let is_short = literal.len as usize <= NUMBER_BYTES_MAX;
        match literal.kind {
            LiteralKind::String | LiteralKind::Hex | LiteralKind::Bit => true,
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
                let literal = literal((cell.start, cell.len), cell.kind, Introducer::NONE, false);
                Some((Cell::Literal { literal, is_negative: false }, cell.last))
            }
            None => self.cell_of_tokens(),
        }
    }

    #[inline(never)]
    fn cell_of_tokens(&mut self) -> Option<(Cell, bool)> {
        let mut token = self.lexer.next();
        let is_negative = token.kind == Tok::Minus;
        let is_bytes = token.kind == Tok::Introducer(Introducer::BINARY);
        if is_negative || is_bytes {
            token = self.lexer.next();
        }
        let is_alone = !(is_negative || is_bytes);
        let (kind, escaped) = match token.kind {
            Tok::Kw(Kw::NULL) if is_alone => return Some((Cell::Null, self.ends_row()?)),
            Tok::Kw(Kw::DEFAULT) if is_alone => return Some((Cell::Default, self.ends_row()?)),
            Tok::Kw(Kw::TRUE) if is_alone => return Some((Cell::Bool(true), self.ends_row()?)),
            Tok::Kw(Kw::FALSE) if is_alone => return Some((Cell::Bool(false), self.ends_row()?)),
            Tok::Str(escaped) if !is_negative => (LiteralKind::String, escaped),
            Tok::Hex if !is_negative => (LiteralKind::Hex, false),
            Tok::Bit if !is_negative => (LiteralKind::Bit, false),
            Tok::Int if !is_bytes => (LiteralKind::Int, false),
            Tok::Decimal if !is_bytes => (LiteralKind::Decimal, false),
            Tok::Float if !is_bytes => (LiteralKind::Float, false),
            _ => return None,
        };
        let charset = if is_bytes { Introducer::BINARY } else { Introducer::NONE };
        let literal = literal((token.start, token.end - token.start), kind, charset, escaped);
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
    fn read<'v>(&self, cell: Cell, arena: &'v Bump) -> Option<RowCell<'v>>
    where
        'a: 'v,
    {
        let (literal, is_negative) = match cell {
            Cell::Literal { literal, is_negative } => (literal, is_negative),
            Cell::Null => return Some(RowCell::Value(Value::Null)),
            Cell::Bool(value) => return Some(RowCell::Value(Value::Int(i64::from(value)))),
            Cell::Default => return Some(RowCell::Default),
        };
        Some(RowCell::Value(match literal.kind {
            LiteralKind::Int => match literal.int_value(self.sql) {
                IntValue::Signed(value) => Value::Int(if is_negative { -value } else { value }),
                _ => return None,
            },
            LiteralKind::String => {
                let data = match literal.string_value(self.sql, self.mode) {
                    std::borrow::Cow::Borrowed(data) => data,
                    std::borrow::Cow::Owned(data) => arena.alloc_slice_copy(&data),
                };
                let is_bytes = literal.charset == Introducer::BINARY;
                let collation = if is_bytes { CollationId::BINARY } else { self.collation };
                Value::Bytes { data, collation }
            }
            LiteralKind::Hex | LiteralKind::Bit => return Some(RowCell::Bits(self.bits(&literal, arena))),
            LiteralKind::Decimal => {
                let value = Decimal::parse(literal.text(self.sql))?;
                Value::Decimal(if is_negative { value.negate() } else { value })
            }
            _ => {
                let value = self.double(&literal)?;
                Value::Double(if is_negative { -value } else { value })
            }
        }))
    }

    #[inline(never)]
    fn bits<'v>(&self, literal: &Literal, arena: &'v Bump) -> &'v [u8] {
        let mut bytes = Vec::with_capacity(literal.len as usize / 2);
        if literal.kind == LiteralKind::Hex {
            literal.hex_value(self.sql, &mut bytes);
        } else {
            literal.bit_value(self.sql, &mut bytes);
        }
        arena.alloc_slice_copy(&bytes)
    }
}

/// Whether the value is written otherwise than it is.
fn is_decoded(literal: &Literal) -> bool {
    literal.escaped || matches!(literal.kind, LiteralKind::Hex | LiteralKind::Bit)
}

fn literal((offset, len): (u32, u32), kind: LiteralKind, charset: Introducer, escaped: bool) -> Literal {
    Literal { offset, len, ordinal: Literal::UNNUMBERED, kind, charset, escaped }
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
