//! The stack of threads that run statements.
//!
//! The parser and binder bound the height of a statement's tree ([`sql::parser::HEIGHT_MAX`]). No later pass
//! reads the stack: it recurses at most once a level, and the stack holds the largest level of any pass,
//! times the greatest height.

use sql::parser::HEIGHT_MAX;

use crate::error_map::{self, SqlError};

/// Stack that a level of a statement's tree may take, in the pass that takes most. docs/limits.md has the
/// measurements.
pub(crate) const LEVEL_BYTES: usize = if cfg!(debug_assertions) { 32 << 10 } else { 8 << 10 };

/// Stack of a connection's thread, of which the system provides the pages that are touched.
pub const STACK_BYTES: usize = LEVEL_BYTES * (HEIGHT_MAX as usize + 48);

/// MySQL's error for a statement that would take more stack than there is.
#[cold]
pub(crate) fn overrun() -> SqlError {
    let used = LEVEL_BYTES * usize::from(HEIGHT_MAX);
    error_map::STACK_OVERRUN_NEED_MORE.with(&[&used, &STACK_BYTES, &(STACK_BYTES - used + LEVEL_BYTES)])
}
