//! Bound expressions and the interpreter that evaluates them: slow but sure, and the oracle of every faster
//! path.
//!
//! An [`Expr`] knows its type; names are resolved to relation and column ordinals, comparison domains are
//! chosen. The interpreter sees rows through [`RowSource`] and the session through [`SessionInfo`]; it knows
//! nothing of pages, packets or statements.
//!
//! A [`Builder`] makes expressions: it types operators and functions, chooses collations and converts
//! constants. Every function is a row of three tables: its name is in `func.rs`, its type rule in
//! `build/func_rules.rs`, its implementation in `functions/table.rs`. An [`Accumulator`] gathers the rows of
//! a group for an aggregate. [`fold()`] evaluates what is constant.
//!
//! # Invariants
//! 1. Evaluation never changes the expression, so a cached plan is shared by all sessions.
//! 2. A value computed by evaluation lives in the arena of its [`EvalCtx`] or borrows from the row; nothing
//!    is freed one by one.
//! 3. Every conversion that loses something reaches the session as a [`Warning`], never dropped.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used))]

mod aggregate;
pub mod build;
mod cast;
mod coercibility;
mod compare;
mod context;
mod error;
mod eval;
pub mod fold;
mod func;
mod functions;
mod hash_index;
mod moment;
mod node;
mod pattern_memo;
mod print;
#[cfg(test)]
mod test_session;
#[cfg(any(test, feature = "test-support"))]
pub mod test_support;

pub use aggregate::{Accumulator, AccumulatorSpec, AggFunc, TypedAggregate};
pub use build::{BindError, Builder, ComparedRows, stored_year};
pub use compare::{Number, compare_values, double, exact_integer, fail_if_cut_short, truth};
pub use context::{EvalCtx, RowSource, SessionInfo, SubqueryRunner, UserLock, in_arena};
pub use error::{EvalError, Warning};
pub use fold::{fold, fold_in_place, warnings_of};
pub use func::Func;
pub use functions::SeededRandom;
pub use hash_index::HashIndex;
pub(crate) use moment::{cuts_fractions, micros_of_seconds, time_of};
pub use moment::{exact_moment, moment_of, no_date};
pub use node::{CmpDomain, CmpOp, ColumnRef, Expr, ExprKind, RowPart, SubqueryForm};
pub use pattern_memo::PatternMemo;
