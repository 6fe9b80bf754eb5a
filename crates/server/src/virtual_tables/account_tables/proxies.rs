//! `mysql.proxies_priv`: who may act as whom.

use types::{ColumnDef, DateTime, OwnedValue, SqlType, TypeKind};

use super::{
    Declared, HOST_COLLATION, MYSQL, Row, Sources, VirtualTable, accounts, exact, grantor, host, host_value,
    text, timestamp, user, zero,
};

pub(in super::super) const PROXIES_PRIV: VirtualTable = VirtualTable {
    declared: Declared { primary: &[0, 1, 2, 3], secondary: Some(5), comment: "User proxy privileges" },
    ..VirtualTable::new(MYSQL, "proxies_priv", proxies_priv, rows)
};

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

/// Who granted what, and when, is not kept.
fn rows(sources: &Sources<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for account in accounts(sources) {
        let mut grants = account.proxies.clone();
        grants.sort_by(|a, b| (&a.host, &a.user).cmp(&(&b.host, &b.user)));
        for grant in grants {
            rows.push(vec![
                host_value(&account),
                exact(&account.user),
                text(grant.host, HOST_COLLATION),
                exact(&grant.user),
                OwnedValue::Int(grant.with_grant.into()),
                exact(""),
                OwnedValue::DateTime(DateTime::ZERO, 0),
            ]);
        }
    }
    rows
}
