//! Parser: recursive descent over tokens, Pratt for expressions, into the caller's arena.
//!
//! One statement per call. Errors carry the token MySQL would name. Recursion is bounded by [`MAX_NESTING`], and the
//! height of left-leaning expressions by [`MAX_HEIGHT`], so that every later pass may recurse over the tree.

mod account;
mod admin;
mod aggregate;
mod alter;
mod column;
mod core;
mod create_table;
mod ddl;
mod expr;
mod from;
mod function;
mod hint;
mod insert;
mod modify;
mod primary;
mod query;
mod session;
mod show;
mod statement;
mod trx;
mod type_name;
mod unsupported;

use bumpalo::Bump;

use crate::ast::Statement;
use crate::error::{ParseError, ParseErrorKind};
use crate::lexer::Lexer;
use crate::literal::Literal;
use crate::mode::LexMode;
use core::Parser;

/// Levels of parentheses, subqueries, prefix operators and nested joins that a statement may have.
pub const MAX_NESTING: u16 = 200;
/// Largest height of an expression tree: bounds chains such as `a + b + c`. AND and OR chains count as one level.
pub const MAX_HEIGHT: u16 = 1000;

/// A parsed statement and where it ends.
#[derive(Clone, Copy, Debug)]
pub struct Parsed<'a> {
    /// The statement.
    pub statement: Statement<'a>,
    /// Number of `?` in it.
    pub params: u32,
    /// Offset after the statement and its `;`: where the next statement of the packet begins.
    pub end: usize,
    /// Another statement follows: something other than blanks, comments and `;` is left.
    pub more: bool,
    /// Every numbered literal was given its ordinal, so the statement may be cached under its key.
    pub numbered: bool,
}

/// Parses the first statement of `sql` from byte `start` on into `arena`.
///
/// Cost: no heap allocation beyond the arena.
///
/// # Errors
/// [`ParseError`] with MySQL's kind, position and wording; offsets count from the start of `sql`.
pub fn parse<'a>(
    sql: &'a [u8],
    start: usize,
    mode: LexMode,
    arena: &'a Bump,
) -> Result<Parsed<'a>, ParseError> {
    parse_numbered(sql, start, mode, arena, &[])
}

/// Like [`parse`], and gives the literals that stand at the positions of `literals` their ordinal in that list, which
/// the cache key of the same text made.
pub fn parse_numbered<'a>(
    sql: &'a [u8],
    start: usize,
    mode: LexMode,
    arena: &'a Bump,
    literals: &[Literal],
) -> Result<Parsed<'a>, ParseError> {
    if sql.len() > u32::MAX as usize {
        return Err(ParseError::at(ParseErrorKind::TooLong, sql, 0));
    }
    let mut parser = Parser::new(Lexer::new(sql, start, mode), mode, arena, literals);
    parser.statement_to_end().map_err(|fail| ParseError::at(fail.kind, sql, fail.offset as usize))
}
