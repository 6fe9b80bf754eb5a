//! `information_schema`: the roles that the session's account may have, those that it may grant, and those
//! that are active.

use types::{CollationId, ColumnDef, ColumnDefault};

use super::{INFORMATION, Row, Sources, VirtualTable, string, text};
use crate::roles::{Edge, RoleName, edges_from};

const COLLATION: CollationId = CollationId::UTF8MB4_0900_AI_CI;
const USER_CHARS: u32 = 97;
const HOST_CHARS: u32 = 256;
const ROLE_CHARS: u32 = 255;
const ANSWER_CHARS: u32 = 3;

pub(super) const ADMINISTRABLE: VirtualTable =
    VirtualTable::new(INFORMATION, "ADMINISTRABLE_ROLE_AUTHORIZATIONS", edge_columns, administrable);
pub(super) const APPLICABLE: VirtualTable =
    VirtualTable::new(INFORMATION, "APPLICABLE_ROLES", edge_columns, applicable);
pub(super) const ENABLED: VirtualTable =
    VirtualTable::new(INFORMATION, "ENABLED_ROLES", enabled_columns, enabled);

fn optional(name: &str, chars: u32) -> ColumnDef {
    ColumnDef { default: ColumnDefault::Null, ..text(name, chars, COLLATION, true) }
}

/// YES or NO, never NULL.
fn answer(name: &str) -> ColumnDef {
    ColumnDef {
        default: ColumnDefault::Constant(b"".as_slice().into()),
        ..text(name, ANSWER_CHARS, COLLATION, false)
    }
}

fn edge_columns() -> Vec<ColumnDef> {
    vec![
        optional("USER", USER_CHARS),
        optional("HOST", HOST_CHARS),
        optional("GRANTEE", USER_CHARS),
        optional("GRANTEE_HOST", HOST_CHARS),
        optional("ROLE_NAME", ROLE_CHARS),
        optional("ROLE_HOST", HOST_CHARS),
        answer("IS_GRANTABLE"),
        optional("IS_DEFAULT", ANSWER_CHARS),
        answer("IS_MANDATORY"),
    ]
}

fn enabled_columns() -> Vec<ColumnDef> {
    vec![
        optional("ROLE_NAME", ROLE_CHARS),
        optional("ROLE_HOST", ROLE_CHARS),
        optional("IS_DEFAULT", ANSWER_CHARS),
        answer("IS_MANDATORY"),
    ]
}

fn applicable(sources: &Sources<'_>) -> Vec<Row> {
    edge_rows(sources, |_| true)
}

fn administrable(sources: &Sources<'_>) -> Vec<Row> {
    edge_rows(sources, |edge| edge.with_admin)
}

fn edge_rows(sources: &Sources<'_>, wanted: impl Fn(&Edge<'_>) -> bool) -> Vec<Row> {
    let directory = sources.session.server.accounts.directory();
    let (user, host) = sources.session.account_name();
    let Some(account) = directory.find(user, host) else { return Vec::new() };
    let row = |edge: Edge<'_>| {
        let names = [user, host, &edge.grantee.user, &edge.grantee.host, &edge.role.user, &edge.role.host];
        let mut row: Row = names.map(|name| string(name, COLLATION)).into();
        row.push(yes_or_no(edge.with_admin));
        row.push(yes_or_no(account.default_roles.contains(edge.role)));
        row.push(yes_or_no(directory.mandatory().contains(edge.role)));
        row
    };
    edges_from(&directory, account).into_iter().filter(|edge| wanted(edge)).map(row).collect()
}

fn enabled(sources: &Sources<'_>) -> Vec<Row> {
    let directory = sources.session.server.accounts.directory();
    let (user, host) = sources.session.account_name();
    let account = directory.find(user, host);
    let row = |role: &RoleName| {
        let is_default = account.is_some_and(|account| account.default_roles.contains(role));
        let is_mandatory = directory.mandatory().contains(role);
        let mut row: Row = [&*role.user, &*role.host].map(|name| string(name, COLLATION)).into();
        row.extend([yes_or_no(is_default), yes_or_no(is_mandatory)]);
        row
    };
    sources.session.rights.roles().iter().map(row).collect()
}

fn yes_or_no(is: bool) -> types::OwnedValue {
    string(if is { "YES" } else { "NO" }, COLLATION)
}
