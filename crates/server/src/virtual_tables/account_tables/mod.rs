//! The tables of the schema `mysql`: accounts and what they have been granted. Statements about accounts
//! change them, and nothing else does.

mod empty;
mod granted;
mod password_history;
mod proxies;
mod role_grants;
mod roles;
mod user;

use std::sync::{Arc, LazyLock};

use types::value::Members;
use types::{CollationId, ColumnDef, ColumnDefault, OwnedValue, SqlType, TypeKind, storage};

pub(super) use empty::PROCS_PRIV;
pub(super) use granted::{COLUMNS_PRIV, DB, GLOBAL_GRANTS, TABLES_PRIV};
pub(super) use password_history::PASSWORD_HISTORY;
pub(super) use proxies::PROXIES_PRIV;
pub(super) use role_grants::{ROLE_COLUMN_GRANTS, ROLE_ROUTINE_GRANTS, ROLE_TABLE_GRANTS};
pub(super) use roles::{DEFAULT_ROLES, ROLE_EDGES};
pub(super) use user::USER;

use super::{Declared, MYSQL, Row, Sources, VirtualTable};
use crate::account::Account;

/// Collation of names that differ by case.
const EXACT: CollationId = CollationId::UTF8MB3_BIN;
/// Collation of words.
const WORDS: CollationId = CollationId::UTF8MB3_GENERAL_CI;
const HOST_COLLATION: CollationId = CollationId::ASCII_GENERAL_CI;
const HOST_CHARS: u32 = 255;
const USER_CHARS: u32 = 32;
const NAME_CHARS: u32 = 64;
const GRANTOR_CHARS: u32 = 288;

static NO_OR_YES: LazyLock<Members> = LazyLock::new(|| members(&["N", "Y"]));

fn members(names: &[&str]) -> Members {
    names.iter().map(|name| name.as_bytes().into()).collect()
}

/// A NOT NULL column.
fn plain(name: &str, ty: SqlType) -> ColumnDef {
    ColumnDef::new(name, ty, false)
}

/// A column that may be NULL, and is by default.
fn optional(name: &str, ty: SqlType) -> ColumnDef {
    ColumnDef { default: ColumnDefault::Null, ..ColumnDef::new(name, ty, true) }
}

/// A NOT NULL column with a default, given as its storage bytes.
fn defaulting(name: &str, ty: SqlType, default: &[u8]) -> ColumnDef {
    ColumnDef { default: ColumnDefault::Constant(default.into()), ..plain(name, ty) }
}

/// A NOT NULL column whose default is 0 or no member.
fn zero(name: &str, ty: SqlType) -> ColumnDef {
    let bytes = storage::fixed_width(&ty).unwrap_or_default();
    defaulting(name, ty, &vec![0; bytes])
}

fn chars(length: u32, collation: CollationId) -> SqlType {
    SqlType { collation, ..SqlType::new(TypeKind::Char, length) }
}

fn host(name: &str) -> ColumnDef {
    ColumnDef { names_collation: true, ..defaulting(name, chars(HOST_CHARS, HOST_COLLATION), b"") }
}

fn user(name: &str) -> ColumnDef {
    defaulting(name, chars(USER_CHARS, EXACT), b"")
}

/// The name of a database, table or column.
fn name(name: &str) -> ColumnDef {
    defaulting(name, chars(NAME_CHARS, EXACT), b"")
}

fn grantor() -> ColumnDef {
    defaulting("Grantor", SqlType::varchar(GRANTOR_CHARS, EXACT), b"")
}

/// When something was granted.
fn timestamp() -> ColumnDef {
    let ty = SqlType::new(TypeKind::Timestamp, 19);
    ColumnDef { default: ColumnDefault::Now, on_update_now: true, ..plain("Timestamp", ty) }
}

fn of_members(kind: TypeKind, members: Members) -> SqlType {
    SqlType { members: Some(members), collation: WORDS, ..SqlType::new(kind, 0) }
}

/// ENUM('N','Y'), `N` by default.
fn flag(name: &str) -> ColumnDef {
    let ty = of_members(TypeKind::Enum, Arc::clone(&NO_OR_YES));
    ColumnDef { names_collation: true, ..defaulting(name, ty, &[1]) }
}

fn set(name: &str, members: Members) -> ColumnDef {
    ColumnDef { names_collation: true, ..zero(name, of_members(TypeKind::Set, members)) }
}

fn no_rows(_: &Sources<'_>) -> Vec<Row> {
    Vec::new()
}

fn flag_value(is: bool) -> OwnedValue {
    member(&NO_OR_YES, u16::from(is))
}

/// The member at this position.
fn member(members: &Members, position: u16) -> OwnedValue {
    OwnedValue::Enum { index: position + 1, members: Arc::clone(members), collation: WORDS }
}

fn text(value: impl Into<Vec<u8>>, collation: CollationId) -> OwnedValue {
    OwnedValue::Bytes { data: value.into().into(), collation }
}

fn exact(value: &str) -> OwnedValue {
    text(value, EXACT)
}

fn host_value(account: &Account) -> OwnedValue {
    text(account.host.as_str(), HOST_COLLATION)
}

/// All accounts, in the order of the tables.
fn accounts(sources: &Sources<'_>) -> Vec<Arc<Account>> {
    let mut accounts = sources.session.server.accounts.all();
    accounts.sort_by(|a, b| (&a.host, &a.user).cmp(&(&b.host, &b.user)));
    accounts
}
