//! `mysql.password_history`: a former or current password a row.

use types::{ColumnDef, ColumnDefault, LobSize, OwnedValue, SqlType, TypeKind};

use super::{
    Declared, EXACT, MYSQL, Row, Sources, VirtualTable, accounts, exact, host, host_value, plain, text, user,
};

pub(in super::super) const PASSWORD_HISTORY: VirtualTable = VirtualTable {
    declared: Declared {
        primary: &[0, 1, 2],
        secondary: None,
        comment: "Password history for user accounts",
    },
    ..VirtualTable::new(MYSQL, "password_history", columns, rows)
};

fn columns() -> Vec<ColumnDef> {
    let micros = SqlType { decimals: 6, ..SqlType::new(TypeKind::Timestamp, 26) };
    let password = SqlType { collation: EXACT, ..SqlType::new(TypeKind::Text(LobSize::Normal), 0) };
    vec![
        host("Host"),
        user("User"),
        ColumnDef { default: ColumnDefault::Now, ..plain("Password_timestamp", micros) },
        ColumnDef::new("Password", password, true),
    ]
}

/// The newest passwords of each account first, as the table's key has them.
fn rows(sources: &Sources<'_>) -> Vec<Row> {
    let zone = &sources.session.variables.hot.time_zone;
    let mut rows = Vec::new();
    for account in accounts(sources) {
        for entry in account.password_history.entries() {
            rows.push(vec![
                host_value(&account),
                exact(&account.user),
                OwnedValue::DateTime(entry.set_at(zone), 6),
                text(&*entry.stored, EXACT),
            ]);
        }
    }
    rows
}
