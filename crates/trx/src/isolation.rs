//! Isolation levels.

/// Isolation levels of SQL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Isolation {
    /// Reads the newest version of everything.
    ReadUncommitted,
    /// A view per statement.
    ReadCommitted,
    /// A view per transaction.
    #[default]
    RepeatableRead,
    /// As repeatable read; plain reads of a transaction lock (the executor asks for locks).
    Serializable,
}
