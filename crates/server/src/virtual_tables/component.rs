//! `mysql.component`: an installed component a row.

use types::{CollationId, ColumnDef, LobSize, OwnedValue, SqlType, TypeKind};

use super::{Declared, MYSQL, Row, Sources, VirtualTable};
use crate::components::VALIDATE_PASSWORD;

pub(super) const TABLE: VirtualTable = VirtualTable {
    declared: Declared { primary: &[0], secondary: None, comment: "Components" },
    ..VirtualTable::new(MYSQL, "component", columns, rows)
};

fn columns() -> Vec<ColumnDef> {
    let id = || SqlType { unsigned: true, ..SqlType::new(TypeKind::Int, 10) };
    let collation = CollationId::UTF8MB3_GENERAL_CI;
    let urn = SqlType { collation, ..SqlType::new(TypeKind::Text(LobSize::Normal), 0) };
    vec![
        ColumnDef::new("component_id", id(), false),
        ColumnDef::new("component_group_id", id(), false),
        ColumnDef::new("component_urn", urn, false),
    ]
}

fn rows(sources: &Sources<'_>) -> Vec<Row> {
    let collation = CollationId::UTF8MB3_GENERAL_CI;
    let row = || {
        let urn = OwnedValue::Bytes { data: VALIDATE_PASSWORD.as_bytes().into(), collation };
        vec![OwnedValue::UInt(1), OwnedValue::UInt(1), urn]
    };
    sources.session.server.components.validates_passwords().then(row).into_iter().collect()
}
