//! `information_schema`: what is granted to the active roles of the session, and to the roles of these. Who
//! granted it is not kept. Nothing is granted on columns and stored programs.

use std::sync::Arc;

use types::value::Members;
use types::{CollationId, ColumnDef, ColumnDefault, OwnedValue};

use super::granted::{COLUMN_MEMBERS, TABLE_MEMBERS, table_mask};
use super::{HOST_COLLATION, Row, Sources, VirtualTable, WORDS, exact, host, members, name, set, text, user};
use crate::privilege::Privileges;
use crate::roles::enabled;
use crate::virtual_tables::INFORMATION;

const GRANTOR_CHARS: u32 = 97;
const GRANTOR_HOST_CHARS: u32 = 256;
const COLLATION: CollationId = CollationId::UTF8MB4_0900_AI_CI;
const CATALOG: &str = "def";

pub(in super::super) const ROLE_COLUMN_GRANTS: VirtualTable =
    VirtualTable::new(INFORMATION, "ROLE_COLUMN_GRANTS", column_columns, super::no_rows);
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
    let session = sources.session;
    let directory = session.server.accounts.directory();
    let mut rows = Vec::new();
    for role in enabled(&directory, session.account_name(), session.rights.roles()) {
        for (schema, table, granted) in role.grants.tables() {
            let grantable = if granted.has(Privileges::GRANT_OPTION) { "YES" } else { "NO" };
            rows.push(vec![
                OwnedValue::Null,
                OwnedValue::Null,
                exact(&role.user),
                text(role.host.as_str(), HOST_COLLATION),
                text(CATALOG, COLLATION),
                exact(schema),
                exact(table),
                OwnedValue::Set {
                    mask: table_mask(*granted),
                    members: Arc::clone(&TABLE_MEMBERS),
                    collation: WORDS,
                },
                text(grantable, COLLATION),
            ]);
        }
    }
    rows
}
