//! Names and types of recorded answers to queries without tables.

use types::{LobSize, SqlType, TypeKind};

use super::fixture::bind;
use crate::plan::Plan;

static SCRIPTS: [&str; 4] = [
    include_str!("../../../../../tests/sql/select_basic.test"),
    include_str!("../../../../../tests/sql/functions_numeric.test"),
    include_str!("../../../../../tests/sql/functions_string.test"),
    include_str!("../../../../../tests/sql/functions_time.test"),
];

/// The name that the recorder gives to the protocol's type.
fn wire_name(ty: &SqlType) -> &'static str {
    match ty.kind {
        TypeKind::Null => "NULL",
        TypeKind::TinyInt => "TINY",
        TypeKind::SmallInt => "SHORT",
        TypeKind::MediumInt => "INT24",
        TypeKind::Int => "LONG",
        TypeKind::BigInt => "LONGLONG",
        TypeKind::Decimal => "NEWDECIMAL",
        TypeKind::Float => "FLOAT",
        TypeKind::Double => "DOUBLE",
        TypeKind::Bit => "BIT",
        TypeKind::Char | TypeKind::Binary | TypeKind::Enum | TypeKind::Set => "STRING",
        TypeKind::VarChar | TypeKind::VarBinary => "VAR_STRING",
        TypeKind::Text(LobSize::Medium) | TypeKind::Blob(LobSize::Medium) => "MEDIUM_BLOB",
        TypeKind::Text(LobSize::Long) | TypeKind::Blob(LobSize::Long) => "LONG_BLOB",
        TypeKind::Text(_) | TypeKind::Blob(_) => "BLOB",
        TypeKind::Date => "DATE",
        TypeKind::Time => "TIME",
        TypeKind::DateTime => "DATETIME",
        TypeKind::Timestamp => "TIMESTAMP",
        TypeKind::Year => "YEAR",
    }
}

#[test]
fn recorded_queries_have_the_names_and_types_of_mysql() {
    let mut wrong = Vec::new();
    for case in SCRIPTS.iter().flat_map(|script| script.split("\n\n")) {
        let Some((sql, answer)) = case.split_once("\n----\n") else { continue };
        let sql = sql.lines().filter(|line| !line.starts_with('#')).collect::<Vec<_>>().join("\n");
        let header = answer.lines().next().unwrap_or_default();
        let is_query = sql.starts_with("SELECT") && !sql.contains(" FROM ") && !header.starts_with("error");
        if !is_query || sql.contains('@') {
            continue;
        }
        let shown = match bind(&sql).as_ref().map(|planned| &*planned.plan) {
            Ok(Plan::Query(query)) => {
                let columns = query.output.iter().map(|o| {
                    let name = o.name.replace('\t', "\\t").replace('\n', "\\n");
                    format!("{name}:{}", wire_name(&o.expr.ty))
                });
                columns.collect::<Vec<_>>().join("\t")
            }
            Ok(_) => "no query".to_owned(),
            Err(error) => error.to_string(),
        };
        if shown != header {
            wrong.push(format!("{sql}\n  {header}\n  {shown}"));
        }
    }
    assert!(wrong.is_empty(), "{} differ\n{}", wrong.len(), wrong.join("\n"));
}
