//! Roles: accounts that are granted to other accounts.

use super::Account;

/// A statement about roles. Accounts that are named as roles are never CURRENT_USER.
#[derive(Clone, Copy, Debug)]
pub enum RoleStatement<'a> {
    /// CREATE ROLE.
    Create {
        /// IF NOT EXISTS.
        if_not_exists: bool,
        /// Roles in order.
        roles: &'a [Account<'a>],
    },
    /// GRANT of roles.
    Grant {
        /// What is granted.
        roles: &'a [Account<'a>],
        /// To whom.
        users: &'a [Account<'a>],
        /// WITH ADMIN OPTION.
        with_admin: bool,
    },
    /// REVOKE of roles.
    Revoke {
        /// IF EXISTS.
        if_exists: bool,
        /// What is taken.
        roles: &'a [Account<'a>],
        /// From whom.
        users: &'a [Account<'a>],
        /// IGNORE UNKNOWN USER.
        ignores_unknown: bool,
    },
    /// SET ROLE.
    Set(RoleChoice<'a>),
    /// SET DEFAULT ROLE, and ALTER USER .. DEFAULT ROLE; the choice is never DEFAULT, and has no EXCEPT.
    SetDefault {
        /// The roles.
        roles: RoleChoice<'a>,
        /// Whose logins activate them.
        users: &'a [Account<'a>],
    },
}

/// Some of the roles that are granted to an account.
#[derive(Clone, Copy, Debug)]
pub enum RoleChoice<'a> {
    /// NONE
    None,
    /// DEFAULT
    Default,
    /// ALL [EXCEPT roles]
    All(&'a [Account<'a>]),
    /// By name.
    These(&'a [Account<'a>]),
}
