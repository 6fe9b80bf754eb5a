//! The SQL language: text to statements (lexer, parser, syntax tree, plan-cache key), statements to plans.
//!
//! ```text
//! packet text -> cache_key (one lexer pass: key + literals) -> plan cache hit: done
//!                                        \-> miss: parser -> ast (arena) -> binder -> planner
//! ```
//! One [`lexer`] serves the key and the parser, so both see the same tokens under the same `sql_mode`. Trees
//! live in a caller's arena and borrow the statement text; literals stay positions in the text until someone
//! needs their value.
//!
//! # Invariants
//! 1. Input is never trusted: no byte sequence panics, and nesting is bounded ([`parser::NESTING_MAX`],
//!    [`parser::HEIGHT_MAX`]), so recursion over a tree is safe for every reader of it.
//! 2. A literal that the cache key lists as the `i`-th is the tree's literal with `ordinal == i`, or the
//!    statement is reported as not cacheable.
//! 3. Nothing in a tree owns memory outside the arena; dropping the arena drops the statement.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used))]

pub mod ast;
pub mod bind;
pub mod cache_key;
pub mod charset;
pub mod dive;
pub mod error;
pub mod lexer;
pub mod literal;
mod literal_rows;
pub mod mode;
pub mod parser;
pub mod plan;
mod planner;
pub mod print;
mod secrets;

pub use bind::{
    BindContext, BindError, Catalog, Literals, PlanFailure, Planned, SessionTypes, bad_literal,
    bind_and_plan, national_texts,
};
pub use cache_key::{CacheKey, TextTree};
pub use error::{ParseError, ParseErrorKind};
pub use literal::{Literal, LiteralKind};
pub use literal_rows::{LiteralRows, RowCell};
pub use mode::LexMode;
pub use parser::{Parsed, parse, parse_numbered};
pub use planner::{RULES, Rule};
pub use secrets::{shown_text, without_secrets};
