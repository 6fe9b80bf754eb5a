//! Transactions, variables, prepared statements.

use super::{Account, Expr, SecondPassword, SystemVar, VarScope};

/// BEGIN or START TRANSACTION.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Begin {
    /// WITH CONSISTENT SNAPSHOT.
    pub consistent_snapshot: bool,
    /// READ ONLY (true) or READ WRITE.
    pub read_only: Option<bool>,
}

/// What follows COMMIT and ROLLBACK; `None` leaves it to `completion_type`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Completion {
    /// AND CHAIN (true) or AND NO CHAIN.
    pub chain: Option<bool>,
    /// RELEASE (true) or NO RELEASE.
    pub release: Option<bool>,
}

/// One item of SET.
#[derive(Clone, Copy, Debug)]
pub enum SetItem<'a> {
    /// @name = value
    User(&'a str, Expr<'a>),
    /// A system variable. A bare word as value is [`ExprKind::Keyword`](super::ExprKind::Keyword) for ON,
    /// ALL, BINARY, ROW and SYSTEM, a column for other words; DEFAULT is
    /// [`ExprKind::Default`](super::ExprKind::Default)
    System(SystemVar<'a>, Expr<'a>),
    /// NAMES charset [COLLATE collation]; `None` is DEFAULT
    Names(Option<&'a str>, Option<&'a str>),
    /// CHARACTER SET charset; `None` is DEFAULT
    Charset(Option<&'a str>),
}

/// SET TRANSACTION.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SetTransaction {
    /// Unspecified means the next transaction only.
    pub scope: VarScope,
    /// ISOLATION LEVEL.
    pub isolation: Option<IsolationLevel>,
    /// READ ONLY (true) or READ WRITE.
    pub read_only: Option<bool>,
}

/// Isolation levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IsolationLevel {
    /// READ UNCOMMITTED
    ReadUncommitted,
    /// READ COMMITTED
    ReadCommitted,
    /// REPEATABLE READ
    RepeatableRead,
    /// SERIALIZABLE
    Serializable,
}

/// SET PASSWORD.
#[derive(Clone, Copy, Debug)]
pub struct SetPassword<'a> {
    /// FOR account; the current one if not given.
    pub account: Option<Account<'a>>,
    /// New password; `None` is TO RANDOM.
    pub password: Option<&'a str>,
    /// REPLACE 'current password'.
    pub replace: Option<&'a str>,
    /// RETAIN CURRENT PASSWORD.
    pub retains: bool,
}

impl SetPassword<'_> {
    /// What it says of the account's second password.
    pub fn second(&self) -> SecondPassword {
        if self.retains { SecondPassword::Retain } else { SecondPassword::Unsaid }
    }
}

/// PREPARE.
#[derive(Clone, Copy, Debug)]
pub struct Prepare<'a> {
    /// Name.
    pub name: &'a str,
    /// Text.
    pub source: PrepareSource<'a>,
}

/// Text of a prepared statement.
#[derive(Clone, Copy, Debug)]
pub enum PrepareSource<'a> {
    /// A string.
    Text(&'a str),
    /// @variable.
    UserVar(&'a str),
}

/// EXECUTE.
#[derive(Clone, Copy, Debug)]
pub struct Execute<'a> {
    /// Name.
    pub name: &'a str,
    /// USING variables, without `@`.
    pub using: &'a [&'a str],
}
