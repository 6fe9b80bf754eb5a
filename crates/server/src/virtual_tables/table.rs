//! What a virtual table is, and its columns and values.

use std::sync::Arc;

use types::{CollationId, ColumnDef, OwnedValue, SqlType, TypeKind};

use super::lock_rows::LockRows;
use crate::session::Session;

/// The sources of a statement's rows. Tables about the same objects show the same moment.
pub(crate) struct Sources<'s> {
    pub(crate) session: &'s Session,
    /// The locks at a moment of the statement.
    pub(crate) locks: &'s dyn Fn() -> Arc<LockRows>,
}

/// A row, by column.
pub(crate) type Row = Vec<OwnedValue>;

/// A table.
pub(super) struct VirtualTable {
    pub(super) schema: &'static str,
    pub(super) name: &'static str,
    pub(super) columns: fn() -> Vec<ColumnDef>,
    pub(super) rows: fn(&Sources<'_>) -> Vec<Row>,
    /// Its declaration. No rows are found by these keys.
    pub(super) declared: Declared,
    /// Whether it shows other sessions' activity and therefore needs PROCESS.
    pub(super) needs_process: bool,
}

/// Keys and comment of a table.
pub(super) struct Declared {
    /// Positions of the columns of the primary key; none: there is no such key.
    pub(super) primary: &'static [u16],
    /// Position of the column of another key, which has the column's name.
    pub(super) secondary: Option<u16>,
    pub(super) comment: &'static str,
}

impl VirtualTable {
    /// A table without keys.
    pub(super) const fn new(
        schema: &'static str,
        name: &'static str,
        columns: fn() -> Vec<ColumnDef>,
        rows: fn(&Sources<'_>) -> Vec<Row>,
    ) -> Self {
        let declared = Declared { primary: &[], secondary: None, comment: "" };
        VirtualTable { schema, name, columns, rows, declared, needs_process: false }
    }
}

pub(super) fn number(name: &str, nullable: bool) -> ColumnDef {
    ColumnDef::new(name, SqlType::bigint_unsigned(), nullable)
}

pub(super) fn int(name: &str) -> ColumnDef {
    ColumnDef::new(name, SqlType::new(TypeKind::Int, 11), false)
}

pub(super) fn datetime(name: &str, nullable: bool) -> ColumnDef {
    ColumnDef::new(name, SqlType::new(TypeKind::DateTime, 19), nullable)
}

pub(super) fn text(name: &str, chars: u32, collation: CollationId, nullable: bool) -> ColumnDef {
    ColumnDef::new(name, SqlType::varchar(chars, collation), nullable)
}

pub(super) fn uint(value: u64) -> OwnedValue {
    OwnedValue::UInt(value)
}

pub(super) fn opt_uint(value: Option<u64>) -> OwnedValue {
    value.map_or(OwnedValue::Null, OwnedValue::UInt)
}

pub(super) fn string(value: impl Into<String>, collation: CollationId) -> OwnedValue {
    OwnedValue::Bytes { data: value.into().into_bytes().into(), collation }
}
