//! The tables of what accounts cannot be granted here: programs. They have no rows.

use types::{ColumnDef, SqlType, TypeKind};

use super::{
    Declared, EXACT, MYSQL, NAME_CHARS, VirtualTable, WORDS, chars, defaulting, grantor, host, members, name,
    no_rows, of_members, plain, set, timestamp, user,
};

pub(in super::super) const PROCS_PRIV: VirtualTable = VirtualTable {
    declared: Declared { primary: &[0, 2, 1, 3, 4], secondary: Some(5), comment: "Procedure privileges" },
    ..VirtualTable::new(MYSQL, "procs_priv", procs_priv, no_rows)
};

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
