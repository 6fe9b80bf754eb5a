//! Parser: recursive descent over tokens, Pratt for expressions, into the caller's arena.
//!
//! One statement per call. Errors carry the token MySQL would name. The parser's own recursion is bounded by
//! [`NESTING_MAX`] and the height of the whole tree by [`HEIGHT_MAX`], so that every later pass may recurse
//! over it.

mod account;
mod account_options;
mod admin;
mod aggregate;
mod alter;
mod column;
mod component;
mod core;
mod create_table;
mod ddl;
mod expr;
mod fixed_call;
mod from;
mod function;
mod hint;
mod insert;
mod item_text;
mod modify;
mod nesting;
mod password_rules;
mod primary;
mod query;
mod role;
mod session;
mod show;
mod statement;
#[cfg(test)]
mod tests;
mod trx;
mod type_name;
mod unsupported;

use bumpalo::Bump;

use crate::ast::Statement;
use crate::cache_key::CacheKey;
use crate::error::{ParseError, ParseErrorKind};
use crate::lexer::Lexer;
use crate::mode::LexMode;
use core::Parser;

/// Most constructs that may be open at once: parentheses, arguments, prefix operators, queries, nested joins.
pub(crate) const NESTING_MAX: u16 = 1000;
/// Largest height of a statement's tree, through subqueries, derived tables and references to common table
/// expressions. An operator or function is one level and so is each link of a chain such as `a + b + c`; a
/// chain of AND or of OR is one level as a whole, a join is one, a query [`QUERY_HEIGHT`].
///
/// The stack of a thread that runs statements must hold this height in every pass: parser, binder, planner,
/// compiler, operators, evaluation, printing and drop. docs/limits.md has what a level takes.
pub const HEIGHT_MAX: u16 = 2000;
/// Levels that a query adds to the height: its plan is a chain of operators.
pub const QUERY_HEIGHT: u16 = 8;
/// Most queries that may enclose a subquery, a derived table or a common table expression; MySQL's bound.
pub(crate) const SELECT_NESTING_MAX: u16 = 63;

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
    parse_numbered(sql, start, mode, arena, None, usize::MAX)
}

/// Like [`parse`], and gives the literals of `key`, which was read of the same text from `start` on in the
/// same mode, their ordinals in its list. Stops soon after `arena` has more than `arena_bytes_max`:
/// before it has four times as many and what 64 KiB of text come to.
pub fn parse_numbered<'a>(
    sql: &'a [u8],
    start: usize,
    mode: LexMode,
    arena: &'a Bump,
    key: Option<&CacheKey>,
    arena_bytes_max: usize,
) -> Result<Parsed<'a>, ParseError> {
    if sql.len() > u32::MAX as usize {
        return Err(ParseError::at(ParseErrorKind::TooLong, sql, 0));
    }
    let mut parser = Parser::new(Lexer::new(sql, start, mode), mode, arena, key);
    parser.arena_bytes_max = arena_bytes_max;
    let parsed = parser.statement_to_end();
    if let Some(kind) = parser.stopped {
        return Err(ParseError::at(kind, &[], 0));
    }
    parsed.map_err(|fail| ParseError::at(fail.kind, sql, fail.offset as usize))
}
