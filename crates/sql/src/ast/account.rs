//! Accounts and privileges.

use super::{PasswordRules, ResourceLimits, SecondPassword, TableName, TlsRequirement};

/// An account or role: `'user'@'host'`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Account<'a> {
    /// CURRENT_USER.
    Current,
    /// By name.
    Named {
        /// User.
        user: &'a str,
        /// Host; `%` if not given.
        host: Option<&'a str>,
    },
}

/// CREATE USER, ALTER USER.
#[derive(Clone, Copy, Debug)]
pub struct UserStatement<'a> {
    /// ALTER; else CREATE.
    pub alter: bool,
    /// IF [NOT] EXISTS.
    pub if_exists: bool,
    /// Accounts in order.
    pub users: &'a [UserSpec<'a>],
    /// DEFAULT ROLE of CREATE.
    pub default_roles: &'a [Account<'a>],
    /// REQUIRE
    pub require: Option<TlsRequirement<'a>>,
    /// WITH
    pub limits: ResourceLimits,
    /// ACCOUNT LOCK (true) or UNLOCK.
    pub lock: Option<bool>,
    /// The last PASSWORD EXPIRE.
    pub password_expire: Option<PasswordExpire>,
    /// The last FAILED_LOGIN_ATTEMPTS.
    pub failed_login_attempts: Option<u64>,
    /// The last PASSWORD_LOCK_TIME.
    pub password_lock_time: Option<PasswordLockTime>,
    /// What new passwords must be.
    pub password_rules: PasswordRules,
    /// COMMENT or ATTRIBUTE.
    pub attribute: Option<UserAttribute<'a>>,
    /// Options of new passwords were given.
    pub other_options: bool,
}

/// What is said of accounts in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UserAttribute<'a> {
    /// COMMENT 'text'
    Comment(&'a str),
    /// ATTRIBUTE 'JSON object'
    Attribute(&'a str),
}

impl<'a> UserStatement<'a> {
    /// A statement of `users` without options.
    pub(crate) fn of(alter: bool, users: &'a [UserSpec<'a>]) -> Self {
        UserStatement {
            alter,
            if_exists: false,
            users,
            default_roles: &[],
            require: None,
            limits: ResourceLimits::default(),
            lock: None,
            password_expire: None,
            failed_login_attempts: None,
            password_lock_time: None,
            password_rules: PasswordRules::default(),
            attribute: None,
            other_options: false,
        }
    }

    /// Whether it says something of its accounts beside their passwords.
    pub fn has_options(&self) -> bool {
        let UserStatement { require, lock, attribute, .. } = self;
        let has_flag =
            !self.default_roles.is_empty() || self.password_expire.is_some() || self.limits.is_any();
        let has_more =
            self.other_options || self.failed_login_attempts.is_some() || self.password_lock_time.is_some();
        has_flag || has_more || require.is_some() || lock.is_some() || attribute.is_some()
    }
}

/// When a password expires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PasswordExpire {
    /// At once
    Now,
    /// DEFAULT
    Default,
    /// NEVER
    Never,
    /// INTERVAL days DAY
    Days(u64),
}

/// How long failed logins lock an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PasswordLockTime {
    /// Days; 0: not at all
    Days(u64),
    /// UNBOUNDED
    Unbounded,
}

/// One account of CREATE USER or ALTER USER.
#[derive(Clone, Copy, Debug)]
pub struct UserSpec<'a> {
    /// Account.
    pub account: Account<'a>,
    /// IDENTIFIED WITH plugin.
    pub plugin: Option<&'a str>,
    /// What it logs in with.
    pub secret: Secret<'a>,
    /// REPLACE 'current password'.
    pub replace: Option<&'a str>,
    /// RETAIN CURRENT PASSWORD or DISCARD OLD PASSWORD.
    pub second: SecondPassword,
    /// AND IDENTIFIED: more factors (recognised only).
    pub other_factors: bool,
}

impl<'a> UserSpec<'a> {
    /// The account and nothing else.
    pub(crate) fn of(account: Account<'a>) -> Self {
        UserSpec {
            account,
            plugin: None,
            secret: Secret::None,
            replace: None,
            second: SecondPassword::Unsaid,
            other_factors: false,
        }
    }

    /// Whether it is an account and nothing else.
    pub(crate) fn is_bare(&self) -> bool {
        self.plugin.is_none()
            && self.secret == Secret::None
            && self.second == SecondPassword::Unsaid
            && !self.other_factors
    }
}

/// What an account logs in with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Secret<'a> {
    /// Nothing said.
    None,
    /// BY 'password'
    Password(&'a str),
    /// BY RANDOM PASSWORD
    Random,
    /// AS 'hash'
    Hash(&'a str),
}

/// DROP USER, DROP ROLE.
#[derive(Clone, Copy, Debug)]
pub struct DropUser<'a> {
    /// DROP ROLE.
    pub role: bool,
    /// IF EXISTS.
    pub if_exists: bool,
    /// Accounts.
    pub users: &'a [Account<'a>],
}

/// GRANT, REVOKE.
#[derive(Clone, Copy, Debug)]
pub struct Grant<'a> {
    /// Privileges; empty for ALL PRIVILEGES.
    pub privileges: &'a [Privilege<'a>],
    /// On what.
    pub target: GrantTarget<'a>,
    /// To or from whom.
    pub users: &'a [Account<'a>],
    /// WITH GRANT OPTION, or REVOKE of GRANT OPTION with ALL.
    pub grant_option: bool,
    /// REVOKE IF EXISTS.
    pub if_exists: bool,
    /// REVOKE .. IGNORE UNKNOWN USER.
    pub ignores_unknown: bool,
    /// AS: with what another account may do.
    pub is_as_other: bool,
}

/// One privilege.
#[derive(Clone, Copy, Debug)]
pub struct Privilege<'a> {
    /// Name as written, words joined by one space: `SELECT`, `CREATE TEMPORARY TABLES`, `BACKUP_ADMIN`.
    pub name: &'a str,
    /// Columns it is limited to.
    pub columns: &'a [&'a str],
}

/// What privileges are granted on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GrantTarget<'a> {
    /// `*.*`, and REVOKE ALL .. without ON.
    Global,
    /// `schema.*`
    Schema(&'a str),
    /// `*`: the current schema.
    CurrentSchema,
    /// A table.
    Table(TableName<'a>),
    /// A procedure or function: recognised only.
    Routine(TableName<'a>),
    /// PROXY ON account.
    Proxy(Account<'a>),
}
