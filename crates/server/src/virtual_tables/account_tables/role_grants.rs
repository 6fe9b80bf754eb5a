//! `information_schema`: what is granted to the active roles of the session, and to the roles of these. Who
//! granted it is not kept. Nothing is granted on stored programs.

use std::sync::Arc;

use types::value::Members;
use types::{CollationId, ColumnDef, ColumnDefault, OwnedValue};

use super::granted::{COLUMN_MEMBERS, TABLE_MEMBERS, column_mask, members_of, table_mask};
use super::{HOST_COLLATION, Row, Sources, VirtualTable, exact, host, members, name, set, text, user};
use crate::privilege::{Privileges, TableGrant};
use crate::roles::enabled;
use crate::virtual_tables::INFORMATION;

const GRANTOR_CHARS: u32 = 97;
const GRANTOR_HOST_CHARS: u32 = 256;
const COLLATION: CollationId = CollationId::UTF8MB4_0900_AI_CI;
const CATALOG: &str = "def";

pub(in super::super) const ROLE_COLUMN_GRANTS: VirtualTable =
    VirtualTable::new(INFORMATION, "ROLE_COLUMN_GRANTS", column_columns, column_rows);
pub(in super::super) const ROLE_ROUTINE_GRANTS: VirtualTable =
    VirtualTable::new(INFORMATION, "ROLE_ROUTINE_GRANTS", routine_columns, super::no_rows);
pub(in super::super) const ROLE_TABLE_GRANTS: VirtualTable =
    VirtualTable::new(INFORMATION, "ROLE_TABLE_GRANTS", table_columns, table_rows);

/// The columns that all of them begin with.
fn who() -> Vec<ColumnDef> {
    let grantor = |name, chars| {
        let column = crate::virtual_tables::text(name, chars, COLLATION, true);
        ColumnDef { default: ColumnDefault::Null, ..column }
    };
    vec![
        grantor("GRANTOR", GRANTOR_CHARS),
        grantor("GRANTOR_HOST", GRANTOR_HOST_CHARS),
        user("GRANTEE"),
        host("GRANTEE_HOST"),
    ]
}

/// A column of three characters that always has a value.
fn short(name: &str) -> ColumnDef {
    let column = crate::virtual_tables::text(name, 3, COLLATION, false);
    ColumnDef { default: ColumnDefault::Constant(b"".as_slice().into()), ..column }
}

fn privileges(names: Members) -> [ColumnDef; 2] {
    [set("PRIVILEGE_TYPE", names), short("IS_GRANTABLE")]
}

fn table_columns() -> Vec<ColumnDef> {
    let mut columns = who();
    columns.extend([short("TABLE_CATALOG"), name("TABLE_SCHEMA"), name("TABLE_NAME")]);
    columns.extend(privileges(Arc::clone(&TABLE_MEMBERS)));
    columns
}

fn column_columns() -> Vec<ColumnDef> {
    let mut columns = who();
    columns.extend([short("TABLE_CATALOG"), name("TABLE_SCHEMA"), name("TABLE_NAME"), name("COLUMN_NAME")]);
    columns.extend(privileges(Arc::clone(&COLUMN_MEMBERS)));
    columns
}

fn routine_columns() -> Vec<ColumnDef> {
    let mut columns = who();
    columns.extend([short("SPECIFIC_CATALOG"), name("SPECIFIC_SCHEMA"), name("SPECIFIC_NAME")]);
    columns.extend([short("ROUTINE_CATALOG"), name("ROUTINE_SCHEMA"), name("ROUTINE_NAME")]);
    columns.extend(privileges(members(&["Execute", "Alter Routine", "Grant"])));
    columns
}

fn table_rows(sources: &Sources<'_>) -> Vec<Row> {
    rows(sources, |grant, push| {
        if !grant.set.is_empty() {
            push(vec![exact(&grant.table), members_of(table_mask(grant.set), &TABLE_MEMBERS)]);
        }
    })
}

fn column_rows(sources: &Sources<'_>) -> Vec<Row> {
    rows(sources, |grant, push| {
        for (column, set) in grant.columns() {
            let privileges = members_of(column_mask(set), &COLUMN_MEMBERS);
            push(vec![exact(&grant.table), exact(column), privileges]);
        }
    })
}

/// The rows of the grants on tables of each role in force. `make` pushes what they have after the name of the
/// schema and before whether they may be granted.
fn rows(sources: &Sources<'_>, make: impl Fn(&TableGrant, &mut dyn FnMut(Row))) -> Vec<Row> {
    let session = sources.session;
    let directory = session.server.accounts.directory();
    let mut rows = Vec::new();
    for role in enabled(&directory, session.account_name(), session.rights.roles()) {
        for grant in role.grants.tables() {
            let grantable = if grant.set.has(Privileges::GRANT_OPTION) { "YES" } else { "NO" };
            make(grant, &mut |own| {
                let mut row = vec![
                    OwnedValue::Null,
                    OwnedValue::Null,
                    exact(&role.user),
                    text(role.host.as_str(), HOST_COLLATION),
                    text(CATALOG, COLLATION),
                    exact(&grant.schema),
                ];
                row.extend(own);
                row.push(text(grantable, COLLATION));
                rows.push(row);
            });
        }
    }
    rows
}
