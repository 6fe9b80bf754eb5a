//! `mysql.role_edges` and `mysql.default_roles`: the roles of accounts.

use types::{ColumnDef, ColumnDefault};

use super::{
    Declared, HOST_COLLATION, MYSQL, Row, Sources, VirtualTable, accounts, exact, flag, flag_value, host,
    host_value, text, user,
};
use crate::account::Account;
use crate::roles::GrantedRole;

pub(in super::super) const ROLE_EDGES: VirtualTable = VirtualTable {
    declared: Declared { primary: &[0, 1, 2, 3], secondary: None, comment: "Role hierarchy and role grants" },
    ..VirtualTable::new(MYSQL, "role_edges", edge_columns, edge_rows)
};

pub(in super::super) const DEFAULT_ROLES: VirtualTable = VirtualTable {
    declared: Declared { primary: &[0, 1, 2, 3], secondary: None, comment: "Default roles" },
    ..VirtualTable::new(MYSQL, "default_roles", default_columns, default_rows)
};

fn edge_columns() -> Vec<ColumnDef> {
    vec![host("FROM_HOST"), user("FROM_USER"), host("TO_HOST"), user("TO_USER"), flag("WITH_ADMIN_OPTION")]
}

fn edge_rows(sources: &Sources<'_>) -> Vec<Row> {
    let mut edges = Vec::new();
    let accounts = accounts(sources);
    for account in &accounts {
        edges.extend(account.roles.iter().map(|granted| (granted, &**account)));
    }
    // As the table's key has them.
    edges.sort_by_key(|(granted, _)| (&granted.role.host, &granted.role.user));
    let row = |(granted, account): (&GrantedRole, &Account)| {
        vec![
            text(granted.role.host.as_str(), HOST_COLLATION),
            exact(&granted.role.user),
            host_value(account),
            exact(&account.user),
            flag_value(granted.with_admin),
        ]
    };
    edges.into_iter().map(row).collect()
}

fn default_columns() -> Vec<ColumnDef> {
    let any_host = ColumnDefault::Constant(b"%".as_slice().into());
    vec![
        host("HOST"),
        user("USER"),
        ColumnDef { default: any_host, ..host("DEFAULT_ROLE_HOST") },
        user("DEFAULT_ROLE_USER"),
    ]
}

fn default_rows(sources: &Sources<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for account in accounts(sources) {
        let mut roles: Vec<_> = account.default_roles.iter().collect();
        roles.sort_by_key(|role| (&role.host, &role.user));
        for role in roles {
            rows.push(vec![
                host_value(&account),
                exact(&account.user),
                text(role.host.as_str(), HOST_COLLATION),
                exact(&role.user),
            ]);
        }
    }
    rows
}
