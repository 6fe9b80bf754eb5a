//! Memory of statements before they run: their syntax trees and plans.

use base::memory::{Charge, Purpose};
use bumpalo::Bump;

use crate::error_map::SqlError;
use crate::session::Session;
use crate::{memory_limits, parse_error};

/// Syntax trees up to this size are not charged, nor are their plans, bytes.
const TREE_BYTES_FREE: usize = 1 << 20;
/// Texts shorter than this are parsed without a bound on their tree, bytes.
const TEXT_BYTES_FREE: usize = 64 << 10;
/// Bytes of tree, plan and program for each byte of a large syntax tree: measured with lists of literals.
const PLAN_BYTES_PER_TREE_BYTE: usize = 10;

/// Most bytes that the syntax tree of a text of `text_bytes` may have while it is parsed: a larger one is
/// refused by [`charge_plan`].
pub(crate) fn tree_bytes_max(session: &Session, text_bytes: usize) -> usize {
    if text_bytes < TEXT_BYTES_FREE {
        return usize::MAX;
    }
    let available = usize::try_from(session.statement_memory.available()).unwrap_or(usize::MAX);
    (available / PLAN_BYTES_PER_TREE_BYTE).max(TREE_BYTES_FREE)
}

/// The client's error for a text whose parse failed; the arena has the part of the tree that was made.
#[cold]
pub(crate) fn parse_error(session: &Session, arena: &Bump, error: &sql::ParseError) -> SqlError {
    if let Err(killed) = session.fail_if_killed() {
        return killed;
    }
    match error.kind {
        sql::ParseErrorKind::OutOfMemory => {
            charge_plan(session, arena).err().unwrap_or_else(|| parse_error::of(error))
        }
        _ => parse_error::of(error),
    }
}

/// Charges for the plan of a statement whose syntax tree is in `arena`, before the plan is made.
///
/// # Errors
/// 1041, 4081, 4082.
pub(crate) fn charge_plan(session: &Session, arena: &Bump) -> Result<Charge, SqlError> {
    let charge = Charge::new(&session.statement_memory, Purpose::Other);
    let tree = arena.allocated_bytes();
    if tree > TREE_BYTES_FREE {
        charge
            .add(tree.saturating_mul(PLAN_BYTES_PER_TREE_BYTE))
            .map_err(|exceeded| memory_limits::refuse(&session.process, exceeded))?;
    }
    Ok(charge)
}
