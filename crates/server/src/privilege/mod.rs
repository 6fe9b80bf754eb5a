//! Privileges: what accounts have been granted, and whether that allows a statement.
//!
//! The order of checks. A statement is checked before names are looked up, so that one that is not allowed
//! does not tell what exists: each table in the order of the text ([`access`]), then the columns that a
//! change reads. A planned statement is checked at every execution too, with the list that was made when it
//! was bound ([`ensure`]); sessions that may do everything with data are not ([`Rights::is_limited`]).
//!
//! | granted on | in force for open sessions |
//! |---|---|
//! | everything | from the next login or SET ROLE on |
//! | a database | at once, for the default database from the next USE on |
//! | a table | at once |
//!
//! With active roles all of them are in force at once, but for the default database.

mod access;
mod check;
mod dynamic;
mod grant_statement;
mod grants;
mod rights;
mod set;

pub(crate) use access::{Access, Want, of_statement};
pub(crate) use check::{
    denied_schema, denied_table, ensure, ensure_files, ensure_on_schema, ensure_one_of, ensure_program,
    ensure_statement, on_table, sees_schema, sees_table,
};
pub(crate) use dynamic::DynamicSet;
pub(crate) use grant_statement::{ensure_may_see_accounts, grant, grantee, revoke};
pub use grants::Grants;
pub(crate) use rights::{OnEverything, Rights};
pub(crate) use set::Privileges;
