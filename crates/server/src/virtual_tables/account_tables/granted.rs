//! `mysql.db`, `mysql.tables_priv`, `mysql.columns_priv` and `mysql.global_grants`: what accounts have been
//! granted, on what.

use std::sync::{Arc, LazyLock};

use types::value::Members;
use types::{ColumnDef, DateTime, OwnedValue};

use super::{
    Declared, MYSQL, Row, Sources, VirtualTable, WORDS, accounts, chars, defaulting, exact, flag, flag_value,
    grantor, host, host_value, members, name, set, text, timestamp, user,
};
use crate::privilege::{DynamicSet, Privileges as P};

const PRIVILEGE_CHARS: u32 = 32;

pub(in super::super) const DB: VirtualTable = VirtualTable {
    declared: Declared { primary: &[0, 2, 1], secondary: Some(2), comment: "Database privileges" },
    ..VirtualTable::new(MYSQL, "db", db_columns, db_rows)
};

pub(in super::super) const TABLES_PRIV: VirtualTable = VirtualTable {
    declared: Declared { primary: &[0, 2, 1, 3], secondary: Some(4), comment: "Table privileges" },
    ..VirtualTable::new(MYSQL, "tables_priv", table_columns, table_rows)
};

pub(in super::super) const COLUMNS_PRIV: VirtualTable = VirtualTable {
    declared: Declared { primary: &[0, 2, 1, 3, 4], secondary: None, comment: "Column privileges" },
    ..VirtualTable::new(MYSQL, "columns_priv", column_columns, column_rows)
};

pub(in super::super) const GLOBAL_GRANTS: VirtualTable = VirtualTable {
    declared: Declared { primary: &[0, 1, 2], secondary: None, comment: "Extended global grants" },
    ..VirtualTable::new(MYSQL, "global_grants", global_columns, global_rows)
};

/// The columns of privileges on databases.
static OF_DATABASE: [(&str, P); 19] = [
    ("Select_priv", P::SELECT),
    ("Insert_priv", P::INSERT),
    ("Update_priv", P::UPDATE),
    ("Delete_priv", P::DELETE),
    ("Create_priv", P::CREATE),
    ("Drop_priv", P::DROP),
    ("Grant_priv", P::GRANT_OPTION),
    ("References_priv", P::REFERENCES),
    ("Index_priv", P::INDEX),
    ("Alter_priv", P::ALTER),
    ("Create_tmp_table_priv", P::CREATE_TEMPORARY_TABLES),
    ("Lock_tables_priv", P::LOCK_TABLES),
    ("Create_view_priv", P::CREATE_VIEW),
    ("Show_view_priv", P::SHOW_VIEW),
    ("Create_routine_priv", P::CREATE_ROUTINE),
    ("Alter_routine_priv", P::ALTER_ROUTINE),
    ("Execute_priv", P::EXECUTE),
    ("Event_priv", P::EVENT),
    ("Trigger_priv", P::TRIGGER),
];

/// The members of the set of privileges on a table.
static OF_TABLE: [(&str, P); 13] = [
    ("Select", P::SELECT),
    ("Insert", P::INSERT),
    ("Update", P::UPDATE),
    ("Delete", P::DELETE),
    ("Create", P::CREATE),
    ("Drop", P::DROP),
    ("Grant", P::GRANT_OPTION),
    ("References", P::REFERENCES),
    ("Index", P::INDEX),
    ("Alter", P::ALTER),
    ("Create View", P::CREATE_VIEW),
    ("Show view", P::SHOW_VIEW),
    ("Trigger", P::TRIGGER),
];

/// The members of the set of privileges on a column.
static OF_COLUMN: [(&str, P); 4] =
    [("Select", P::SELECT), ("Insert", P::INSERT), ("Update", P::UPDATE), ("References", P::REFERENCES)];

pub(super) static TABLE_MEMBERS: LazyLock<Members> =
    LazyLock::new(|| members(&OF_TABLE.map(|(name, _)| name)));
pub(super) static COLUMN_MEMBERS: LazyLock<Members> =
    LazyLock::new(|| members(&OF_COLUMN.map(|(name, _)| name)));

fn db_columns() -> Vec<ColumnDef> {
    let mut columns = vec![host("Host"), name("Db"), user("User")];
    columns.extend(OF_DATABASE.iter().map(|(name, _)| flag(name)));
    columns
}

fn db_rows(sources: &Sources<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for account in accounts(sources) {
        let mut schemas: Vec<_> = account.grants.schemas().iter().collect();
        schemas.sort();
        for (pattern, granted) in schemas {
            let mut row = vec![host_value(&account), exact(pattern), exact(&account.user)];
            row.extend(OF_DATABASE.iter().map(|(_, privilege)| flag_value(granted.has(*privilege))));
            rows.push(row);
        }
    }
    rows
}

fn table_columns() -> Vec<ColumnDef> {
    vec![
        host("Host"),
        name("Db"),
        user("User"),
        name("Table_name"),
        grantor(),
        timestamp(),
        set("Table_priv", Arc::clone(&TABLE_MEMBERS)),
        set("Column_priv", Arc::clone(&COLUMN_MEMBERS)),
    ]
}

/// The value of the set of privileges on a table.
pub(super) fn table_mask(granted: P) -> u64 {
    mask(granted, &OF_TABLE)
}

/// The value of the set of privileges on a column.
pub(super) fn column_mask(granted: P) -> u64 {
    mask(granted, &OF_COLUMN)
}

fn mask(granted: P, members: &[(&str, P)]) -> u64 {
    let has = |(at, (_, privilege)): (usize, &(&str, P))| u64::from(granted.has(*privilege)) << at;
    members.iter().enumerate().map(has).sum()
}

/// The value of a set that has the members in `mask`.
pub(super) fn members_of(mask: u64, members: &Members) -> OwnedValue {
    OwnedValue::Set { mask, members: Arc::clone(members), collation: WORDS }
}

/// Who granted what, and when, is not kept.
fn table_rows(sources: &Sources<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for account in accounts(sources) {
        for grant in account.grants.tables() {
            rows.push(vec![
                host_value(&account),
                exact(&grant.schema),
                exact(&account.user),
                exact(&grant.table),
                exact(""),
                OwnedValue::DateTime(DateTime::ZERO, 0),
                members_of(table_mask(grant.set), &TABLE_MEMBERS),
                members_of(column_mask(grant.on_any_column()), &COLUMN_MEMBERS),
            ]);
        }
    }
    rows
}

fn column_columns() -> Vec<ColumnDef> {
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

fn column_rows(sources: &Sources<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for account in accounts(sources) {
        for grant in account.grants.tables() {
            for (column, granted) in grant.columns() {
                rows.push(vec![
                    host_value(&account),
                    exact(&grant.schema),
                    exact(&account.user),
                    exact(&grant.table),
                    exact(column),
                    OwnedValue::DateTime(DateTime::ZERO, 0),
                    members_of(column_mask(granted), &COLUMN_MEMBERS),
                ]);
            }
        }
    }
    rows
}

fn global_columns() -> Vec<ColumnDef> {
    let privilege = defaulting("PRIV", chars(PRIVILEGE_CHARS, WORDS), b"");
    vec![
        user("USER"),
        host("HOST"),
        ColumnDef { names_collation: true, ..privilege },
        flag("WITH_GRANT_OPTION"),
    ]
}

fn global_rows(sources: &Sources<'_>) -> Vec<Row> {
    let mut accounts = accounts(sources);
    accounts.sort_by(|a, b| a.user.cmp(&b.user));
    let mut rows = Vec::new();
    for account in accounts {
        let grants = &account.grants;
        for privilege in grants.dynamic.names() {
            let grantable = DynamicSet::named(privilege).is_some_and(|one| grants.dynamic_grantable.has(one));
            rows.push(vec![
                exact(&account.user),
                host_value(&account),
                text(privilege, WORDS),
                flag_value(grantable),
            ]);
        }
    }
    rows
}
