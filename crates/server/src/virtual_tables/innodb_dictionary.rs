//! `information_schema.INNODB_TABLES`, `INNODB_COLUMNS` and `INNODB_INDEXES`: the definitions as InnoDB's
//! dictionary would have them, with what rows of older versions show.

use std::sync::Arc;

use engine::Table;
use types::storage::max_width;
use types::{CollationId, ColumnDef, IndexKind, LobSize, OwnedValue, SqlType, TypeKind};

use super::{INFORMATION, Row, Sources, VirtualTable, int, number, string, text, uint};

const COLLATION: CollationId = CollationId::UTF8MB4_0900_AI_CI;
/// InnoDB counts its hidden columns, too: row id, transaction id, undo pointer.
const HIDDEN_COLUMNS: usize = 3;
/// Flags of a table in format DYNAMIC that has a file of its own.
const DYNAMIC: i64 = 33;
/// Bits of INNODB_COLUMNS.PRTYPE.
const NOT_NULL: i64 = 256;
const UNSIGNED: i64 = 512;
const BINARY: i64 = 1024;
const CHARSET_SHIFT: u32 = 16;

pub(super) const TABLES: VirtualTable = needing_process("INNODB_TABLES", table_columns, tables);
pub(super) const COLUMNS: VirtualTable = needing_process("INNODB_COLUMNS", column_columns, columns);
pub(super) const INDEXES: VirtualTable = needing_process("INNODB_INDEXES", index_columns, indexes);

const fn needing_process(
    name: &'static str,
    columns: fn() -> Vec<ColumnDef>,
    rows: fn(&Sources<'_>) -> Vec<Row>,
) -> VirtualTable {
    VirtualTable { needs_process: true, ..VirtualTable::new(INFORMATION, name, columns, rows) }
}

fn table_columns() -> Vec<ColumnDef> {
    vec![
        number("TABLE_ID", false),
        text("NAME", 655, COLLATION, false),
        int("FLAG"),
        int("N_COLS"),
        ColumnDef::new("SPACE", SqlType::bigint(), false),
        text("ROW_FORMAT", 12, COLLATION, true),
        ColumnDef::new("ZIP_PAGE_SIZE", SqlType { unsigned: true, ..SqlType::new(TypeKind::Int, 10) }, false),
        text("SPACE_TYPE", 10, COLLATION, true),
        int("INSTANT_COLS"),
        int("TOTAL_ROW_VERSIONS"),
    ]
}

fn column_columns() -> Vec<ColumnDef> {
    vec![
        number("TABLE_ID", false),
        text("NAME", 193, COLLATION, false),
        number("POS", false),
        int("MTYPE"),
        int("PRTYPE"),
        int("LEN"),
        int("HAS_DEFAULT"),
        ColumnDef::new("DEFAULT_VALUE", SqlType::new(TypeKind::Blob(LobSize::Long), 0), true),
    ]
}

fn index_columns() -> Vec<ColumnDef> {
    vec![
        number("INDEX_ID", false),
        text("NAME", 193, COLLATION, false),
        number("TABLE_ID", false),
        int("TYPE"),
        int("N_FIELDS"),
        int("PAGE_NO"),
        int("SPACE"),
        int("MERGE_THRESHOLD"),
    ]
}

/// All tables, by schema and name.
fn all(sources: &Sources<'_>) -> Vec<Arc<Table>> {
    let engine = &sources.session.server.engine;
    // A schema may be dropped meanwhile.
    engine.schemas().iter().flat_map(|schema| engine.tables(&schema.name).unwrap_or_default()).collect()
}

fn signed(value: usize) -> OwnedValue {
    OwnedValue::Int(i64::try_from(value).unwrap_or(i64::MAX))
}

fn tables(sources: &Sources<'_>) -> Vec<Row> {
    let row = |table: &Arc<Table>| {
        let def = &table.def;
        vec![
            uint(u64::from(def.id.0)),
            string(format!("{}/{}", def.schema, def.name), COLLATION),
            OwnedValue::Int(DYNAMIC),
            signed(def.columns.len() + HIDDEN_COLUMNS),
            OwnedValue::Int(0),
            string("Dynamic", COLLATION),
            uint(0),
            string("General", COLLATION),
            OwnedValue::Int(0),
            signed(table.older_versions()),
        ]
    };
    all(sources).iter().map(row).collect()
}

fn columns(sources: &Sources<'_>) -> Vec<Row> {
    all(sources).iter().flat_map(|table| columns_of(table)).collect()
}

fn columns_of(table: &Table) -> Vec<Row> {
    let row = |(position, column): (usize, &ColumnDef)| {
        let initial = table.initial_value(position);
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let shown = initial.as_ref().and_then(|value| value.as_deref().map(hex));
        vec![
            uint(u64::from(table.def.id.0)),
            string(&*column.name, COLLATION),
            uint(position as u64),
            OwnedValue::Int(main_type(&column.ty)),
            OwnedValue::Int(precise_type(column)),
            OwnedValue::Int(i64::try_from(length(&column.ty)).unwrap_or(i64::MAX)),
            OwnedValue::Int(i64::from(initial.is_some())),
            shown.map_or(OwnedValue::Null, |hex| string(hex, CollationId::BINARY)),
        ]
    };
    table.def.columns.iter().enumerate().map(row).collect()
}

fn indexes(sources: &Sources<'_>) -> Vec<Row> {
    all(sources).iter().flat_map(|table| indexes_of(table)).collect()
}

fn indexes_of(table: &Table) -> Vec<Row> {
    let clustered_parts = &table.def.clustered().parts;
    let row = |(position, index): (usize, &engine::Index)| {
        let is_hidden = index.def.parts.is_empty();
        let own = index.def.parts.len();
        let has = |column: u16| index.def.parts.iter().any(|part| part.column == column);
        let fields = if position == 0 {
            // All columns, with the transaction id and the undo pointer, and the row id where it is the key.
            table.def.columns.len() + HIDDEN_COLUMNS - usize::from(!is_hidden)
        } else if table.def.hidden_row_id {
            own + 1
        } else {
            own + clustered_parts.iter().filter(|part| !has(part.column)).count()
        };
        let clustered = i64::from(position == 0);
        let unique = i64::from(index.def.kind != IndexKind::Secondary && !is_hidden);
        vec![
            uint(u64::from(index.def.id.0)),
            string(&*index.def.name, COLLATION),
            uint(u64::from(table.def.id.0)),
            OwnedValue::Int(clustered + 2 * unique),
            signed(fields),
            OwnedValue::Int(i64::from(index.tree.root.0)),
            OwnedValue::Int(0),
            OwnedValue::Int(50),
        ]
    };
    table.indexes.iter().enumerate().map(row).collect()
}

/// InnoDB's number for the kind of a type.
fn main_type(ty: &SqlType) -> i64 {
    let is_binary = ty.collation == CollationId::BINARY;
    match ty.kind {
        TypeKind::VarBinary => 4,
        TypeKind::VarChar => 12,
        TypeKind::Binary | TypeKind::Decimal | TypeKind::Bit => 3,
        TypeKind::DateTime | TypeKind::Timestamp | TypeKind::Time => 3,
        TypeKind::Char if is_binary => 3,
        TypeKind::Char => 13,
        TypeKind::Text(_) | TypeKind::Blob(_) => 5,
        TypeKind::Float => 9,
        TypeKind::Double => 10,
        _ => 6,
    }
}

/// The protocol's type with InnoDB's marks and the collation.
fn precise_type(column: &ColumnDef) -> i64 {
    let ty = &column.ty;
    let is_text = matches!(ty.kind, TypeKind::Char | TypeKind::VarChar | TypeKind::Text(_));
    let kind: i64 = match ty.kind {
        TypeKind::TinyInt => 1,
        TypeKind::SmallInt => 2,
        TypeKind::Int => 3,
        TypeKind::Float => 4,
        TypeKind::Double => 5,
        TypeKind::Null => 6,
        TypeKind::BigInt => 8,
        TypeKind::MediumInt => 9,
        TypeKind::Year => 13,
        TypeKind::Date => 14,
        TypeKind::VarChar | TypeKind::VarBinary => 15,
        TypeKind::Bit => 16,
        TypeKind::Timestamp => 17,
        TypeKind::DateTime => 18,
        TypeKind::Time => 19,
        TypeKind::Decimal => 246,
        TypeKind::Text(_) | TypeKind::Blob(_) => 252,
        TypeKind::Enum | TypeKind::Set | TypeKind::Char | TypeKind::Binary => 254,
    };
    let has_collation =
        is_text || matches!(ty.kind, TypeKind::Blob(_) | TypeKind::VarBinary | TypeKind::Binary);
    let collation = if is_text { i64::from(ty.collation.0) } else { i64::from(CollationId::BINARY.0) };
    let marks = [(!column.nullable, NOT_NULL), (ty.unsigned, UNSIGNED), (!is_text, BINARY)];
    let marks: i64 = marks.into_iter().map(|(is_set, mark)| if is_set { mark } else { 0 }).sum();
    kind + marks + if has_collation { collation << CHARSET_SHIFT } else { 0 }
}

/// Bytes of a value as InnoDB counts them: of long ones the pointer and the length.
fn length(ty: &SqlType) -> u64 {
    match ty.kind {
        TypeKind::Text(size) | TypeKind::Blob(size) => match size {
            LobSize::Tiny => 9,
            LobSize::Normal => 10,
            LobSize::Medium => 11,
            LobSize::Long => 12,
        },
        _ => max_width(ty),
    }
}
