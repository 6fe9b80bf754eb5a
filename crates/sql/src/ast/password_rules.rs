//! What CREATE USER and ALTER USER ask of new passwords, and what becomes of former ones.

/// What a statement says of one rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rule<T> {
    /// Nothing: the account keeps its rule.
    #[default]
    Unsaid,
    /// DEFAULT: the server's variable decides.
    Default,
    /// The account's own.
    Own(T),
}

/// What a statement says of an account's second password.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SecondPassword {
    /// Nothing: it stays.
    #[default]
    Unsaid,
    /// RETAIN CURRENT PASSWORD: the current one becomes the second.
    Retain,
    /// DISCARD OLD PASSWORD.
    Discard,
}

/// The last of each rule that a statement has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PasswordRules {
    /// PASSWORD HISTORY: number of the latest passwords that are not used again.
    pub history: Rule<u64>,
    /// PASSWORD REUSE INTERVAL: days in which a password is not used again.
    pub reuse_days: Rule<u64>,
    /// PASSWORD REQUIRE CURRENT (true), OPTIONAL (false).
    pub requires_current: Rule<bool>,
}
