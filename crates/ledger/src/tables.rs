//! Definitions of the tables that are measured, as CREATE TABLE would make them.

use base::{ColumnId, IndexId, TableId};
use types::{
    CollationId, ColumnDef, ColumnDefault, IndexDef, IndexKind, KeyPart, SqlType, TableDef, TypeKind,
};

/// The schema of all tables.
pub(crate) const SCHEMA: &str = "ledger";
/// Rows of `sbtest1` (ids 1, 2, 3, ..), `sbtest2` (ids 2, 4, 6, ..) and `probe`.
pub(crate) const ROWS: u64 = 1_000_000;
/// Employees.
pub(crate) const EMPLOYEES: u64 = 300_000;
/// Salaries of an employee, on average.
pub(crate) const SALARIES_EACH: u64 = 9;

const COLLATION: CollationId = CollationId::UTF8MB4_0900_AI_CI;

/// `sbtest1`, read only, and `sbtest2`, written: sysbench's table.
pub(crate) fn sbtest(name: &str) -> TableDef {
    let mut id = column("id", int());
    id.auto_increment = true;
    let columns = vec![
        id,
        ColumnDef { default: constant(&0i32.to_le_bytes()), ..column("k", int()) },
        ColumnDef { default: constant(b""), ..column("c", char(120)) },
        ColumnDef { default: constant(b""), ..column("pad", char(60)) },
    ];
    let indexes = vec![index("PRIMARY", IndexKind::Primary, &[0]), index("k", IndexKind::Secondary, &[1])];
    table(name, columns, indexes)
}

/// `probe`: `ref` is the id of a random row of `sbtest1`.
pub(crate) fn probe() -> TableDef {
    let columns = vec![column("id", int()), column("ref", int())];
    table("probe", columns, vec![index("PRIMARY", IndexKind::Primary, &[0])])
}

/// `employees` of the employees database.
pub(crate) fn employees() -> TableDef {
    let gender = SqlType {
        members: Some([b"M".as_slice().into(), b"F".as_slice().into()].into()),
        collation: COLLATION,
        ..SqlType::new(TypeKind::Enum, 1)
    };
    let columns = vec![
        column("emp_no", int()),
        column("birth_date", date()),
        column("first_name", SqlType::varchar(14, COLLATION)),
        column("last_name", SqlType::varchar(16, COLLATION)),
        column("gender", gender),
        column("hire_date", date()),
    ];
    table("employees", columns, vec![index("PRIMARY", IndexKind::Primary, &[0])])
}

/// `salaries` of the employees database.
pub(crate) fn salaries() -> TableDef {
    let columns = vec![
        column("emp_no", int()),
        column("salary", int()),
        column("from_date", date()),
        column("to_date", date()),
    ];
    table("salaries", columns, vec![index("PRIMARY", IndexKind::Primary, &[0, 2])])
}

fn table(name: &str, columns: Vec<ColumnDef>, indexes: Vec<IndexDef>) -> TableDef {
    TableDef {
        id: TableId(0),
        schema: SCHEMA.into(),
        name: name.into(),
        columns,
        indexes,
        hidden_row_id: false,
        collation: COLLATION,
        comment: "".into(),
        format_version: 1,
        auto_increment_start: 1,
        create_time: 1,
    }
}

fn column(name: &str, ty: SqlType) -> ColumnDef {
    ColumnDef {
        id: ColumnId(0),
        name: name.into(),
        ty,
        nullable: false,
        default: ColumnDefault::None,
        auto_increment: false,
        on_update_now: false,
        comment: "".into(),
    }
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

fn index(name: &str, kind: IndexKind, columns: &[u16]) -> IndexDef {
    let part = |&column: &u16| KeyPart { column, prefix_len: None, desc: false };
    IndexDef {
        id: IndexId(0),
        name: name.into(),
        kind,
        parts: columns.iter().map(part).collect(),
        comment: "".into(),
    }
}
