//! Definitions of the tables that are measured, as CREATE TABLE would make them.

use types::{CollationId, ColumnDef, ColumnDefault, IndexDef, IndexKind, SqlType, TableDef, TypeKind};

/// The schema of all tables.
pub(crate) const SCHEMA: &str = "ledger";
/// Rows of `sbtest1` (ids 1, 2, 3, ..), `sbtest2` (ids 2, 4, 6, ..) and `probe`.
pub(crate) const ROWS: u64 = 1_000_000;
/// Warehouses with stock, and items of each.
pub(crate) const WAREHOUSES: u64 = 3;
pub(crate) const ITEMS: u64 = 100_000;
/// Employees.
pub(crate) const EMPLOYEES: u64 = 300_000;
/// Salaries of an employee, on average.
pub(crate) const SALARIES_EACH: u64 = 9;

const COLLATION: CollationId = CollationId::UTF8MB4_0900_AI_CI;

/// `sbtest1`, read only, and `sbtest2`, written: sysbench's table.
pub(crate) fn sbtest(name: &str) -> TableDef {
    let mut id = ColumnDef::new("id", int(), false);
    id.auto_increment = true;
    let columns = vec![
        id,
        ColumnDef { default: constant(&0i32.to_le_bytes()), ..ColumnDef::new("k", int(), false) },
        ColumnDef { default: constant(b""), ..ColumnDef::new("c", char(120), false) },
        ColumnDef { default: constant(b""), ..ColumnDef::new("pad", char(60), false) },
    ];
    let indexes = vec![
        IndexDef::new("PRIMARY", IndexKind::Primary, &[0]),
        IndexDef::new("k", IndexKind::Secondary, &[1]),
    ];
    table(name, columns, indexes)
}

/// `probe`: `ref` is the id of a random row of `sbtest1`.
pub(crate) fn probe() -> TableDef {
    let columns = vec![ColumnDef::new("id", int(), false), ColumnDef::new("ref", int(), false)];
    table("probe", columns, vec![IndexDef::new("PRIMARY", IndexKind::Primary, &[0])])
}

/// `stock`: what an order line looks up, by warehouse and item, and the item's name.
pub(crate) fn stock() -> TableDef {
    let columns = vec![
        ColumnDef::new("w", int(), false),
        ColumnDef::new("i", int(), false),
        ColumnDef::new("name", SqlType::varchar(24, COLLATION), false),
        ColumnDef::new("quantity", int(), false),
    ];
    let indexes = vec![
        IndexDef::new("PRIMARY", IndexKind::Primary, &[0, 1]),
        IndexDef::new("name", IndexKind::Secondary, &[2]),
    ];
    table("stock", columns, indexes)
}

/// `employees` of the employees database.
pub(crate) fn employees() -> TableDef {
    let gender = SqlType {
        members: Some([b"M".as_slice().into(), b"F".as_slice().into()].into()),
        collation: COLLATION,
        ..SqlType::new(TypeKind::Enum, 1)
    };
    let columns = vec![
        ColumnDef::new("emp_no", int(), false),
        ColumnDef::new("birth_date", date(), false),
        ColumnDef::new("first_name", SqlType::varchar(14, COLLATION), false),
        ColumnDef::new("last_name", SqlType::varchar(16, COLLATION), false),
        ColumnDef::new("gender", gender, false),
        ColumnDef::new("hire_date", date(), false),
    ];
    table("employees", columns, vec![IndexDef::new("PRIMARY", IndexKind::Primary, &[0])])
}

/// `salaries` of the employees database.
pub(crate) fn salaries() -> TableDef {
    let columns = vec![
        ColumnDef::new("emp_no", int(), false),
        ColumnDef::new("salary", int(), false),
        ColumnDef::new("from_date", date(), false),
        ColumnDef::new("to_date", date(), false),
    ];
    table("salaries", columns, vec![IndexDef::new("PRIMARY", IndexKind::Primary, &[0, 2])])
}

/// Made at a fixed time, so that every run writes the same bytes.
fn table(name: &str, columns: Vec<ColumnDef>, indexes: Vec<IndexDef>) -> TableDef {
    TableDef { create_time: 1, ..TableDef::new(SCHEMA, name, columns, indexes) }
}

fn constant(bytes: &[u8]) -> ColumnDefault {
    ColumnDefault::Constant(bytes.into())
}

fn int() -> SqlType {
    SqlType::new(TypeKind::Int, 11)
}

fn date() -> SqlType {
    SqlType::new(TypeKind::Date, 10)
}

fn char(characters: u32) -> SqlType {
    SqlType { collation: COLLATION, ..SqlType::new(TypeKind::Char, characters) }
}
