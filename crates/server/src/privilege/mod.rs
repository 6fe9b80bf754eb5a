//! Privileges: what accounts have been granted, and whether that allows a statement.
//!
//! The order of checks. A statement is checked before names are looked up, so that one that is not allowed
//! does not show what exists: each table in the order of the text ([`access`]), then, as far as names
//! can be looked up, the columns ([`column_check`]). A planned statement is checked at every execution too,
//! with the lists that were made when it was bound ([`ensure_wanted`]); sessions that may do everything with
//! data are not ([`Rights::is_limited`]).
//!
//! | granted on | in force for open sessions |
//! |---|---|
//! | everything | from the next login or SET ROLE on |
//! | a database | at once, for the default database from the next USE on |
//! | a table, a column | at once |
//!
//! With active roles all of them are in force at once, except for the default database.

mod access;
mod check;
mod column_check;
mod dynamic;
mod grant_statement;
mod grants;
mod partial_revokes;
mod proxy_statement;
mod required;
mod restrictions;
mod rights;
mod set;
mod table_grants;

pub(crate) use access::{Access, Want};
pub(crate) use check::{
    denied_schema, denied_table, ensure, ensure_files, ensure_on_schema, ensure_one_of, ensure_program,
    ensure_statement, sees_schema, sees_table,
};
pub(crate) use column_check::{OnColumns, ensure_wanted};
pub(crate) use dynamic::DynamicSet;
pub(crate) use grant_statement::{ensure_may_see_accounts, grant, grantee, revoke};
pub use grants::Grants;
pub(crate) use grants::SchemaNames;
pub(crate) use partial_revokes::refuse_setting as refuse_partial_revokes;
pub(crate) use partial_revokes::{
    changed as partial_revokes_changed, configure as configure_partial_revokes,
};
pub(crate) use required::RequiredPrivileges;
pub(crate) use restrictions::Restrictions;
pub(crate) use rights::{OnEverything, Rights};
pub(crate) use set::Privileges;
pub(crate) use table_grants::TableGrant;
