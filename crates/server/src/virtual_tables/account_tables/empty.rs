//! The tables of what accounts cannot be granted here: columns, programs and proxies. They have no rows.

use std::sync::Arc;

use types::{ColumnDef, SqlType, TypeKind};

use super::granted::COLUMN_MEMBERS;
use super::{
    Declared, EXACT, MYSQL, NAME_CHARS, VirtualTable, WORDS, chars, defaulting, grantor, host, members, name,
    no_rows, of_members, plain, set, timestamp, user, zero,
};

pub(in super::super) const COLUMNS_PRIV: VirtualTable = VirtualTable {
    declared: Declared { primary: &[0, 2, 1, 3, 4], secondary: None, comment: "Column privileges" },
    ..VirtualTable::new(MYSQL, "columns_priv", columns_priv, no_rows)
};

pub(in super::super) const PROCS_PRIV: VirtualTable = VirtualTable {
    declared: Declared { primary: &[0, 2, 1, 3, 4], secondary: Some(5), comment: "Procedure privileges" },
    ..VirtualTable::new(MYSQL, "procs_priv", procs_priv, no_rows)
};

pub(in super::super) const PROXIES_PRIV: VirtualTable = VirtualTable {
    declared: Declared { primary: &[0, 1, 2, 3], secondary: Some(5), comment: "User proxy privileges" },
    ..VirtualTable::new(MYSQL, "proxies_priv", proxies_priv, no_rows)
};

fn columns_priv() -> Vec<ColumnDef> {
    vec![
        host("Host"),
        name("Db"),
        user("User"),
        name("Table_name"),
        name("Column_name"),
        timestamp(),
        set("Column_priv", Arc::clone(&COLUMN_MEMBERS)),
    ]
}

fn procs_priv() -> Vec<ColumnDef> {
    let routine = defaulting("Routine_name", chars(NAME_CHARS, WORDS), b"");
    let kind = of_members(TypeKind::Enum, members(&["FUNCTION", "PROCEDURE"]));
    vec![
        host("Host"),
        name("Db"),
        user("User"),
        ColumnDef { names_collation: true, ..routine },
        plain("Routine_type", SqlType { collation: EXACT, ..kind }),
        grantor(),
        set("Proc_priv", members(&["Execute", "Alter Routine", "Grant"])),
        timestamp(),
    ]
}

fn proxies_priv() -> Vec<ColumnDef> {
    vec![
        host("Host"),
        user("User"),
        host("Proxied_host"),
        user("Proxied_user"),
        zero("With_grant", SqlType::new(TypeKind::TinyInt, 1)),
        grantor(),
        timestamp(),
    ]
}
