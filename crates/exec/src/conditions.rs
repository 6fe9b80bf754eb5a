//! Warnings and notes of a statement.

use crate::error::ExecError;

/// How serious a condition is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// A note.
    Note,
    /// A warning.
    Warning,
}

/// Where a statement leaves its warnings. What expressions warn of goes to
/// [`SessionInfo::warn`](expr::SessionInfo::warn).
pub trait Conditions {
    /// Records what would be `error` if it were one: same number, same text.
    fn warn(&self, level: Level, error: &ExecError);
    /// As [`Conditions::warn`], of a row that the statement has passed: the condition follows the first
    /// `place` ones.
    fn warn_at(&self, place: u64, level: Level, error: &ExecError);
    /// How many warnings and notes the statement has by now, those of expressions among them.
    fn count(&self) -> u64;
    /// Takes back all but the first `count`: the row that they are about is never reached.
    fn forget_after(&self, count: u64);
}
