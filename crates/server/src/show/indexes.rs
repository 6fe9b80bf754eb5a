//! SHOW INDEX.

use types::{IndexDef, IndexKind, TableDef};

use super::definition_text::sorted_indexes;
use crate::answer::{Cell, Column, Table};

/// The key parts of `def`, whose table has about `rows` rows.
pub(super) fn table(def: &TableDef, rows: u64) -> Table {
    let mut table = Table::new(header());
    for index in sorted_indexes(def) {
        for (number, part) in index.parts.iter().enumerate() {
            let column = &def.columns[usize::from(part.column)];
            table.push(vec![
                Cell::text(&*def.name),
                Cell::Int(i64::from(index.kind == IndexKind::Secondary)),
                Cell::text(&*index.name),
                Cell::Int(number as i64 + 1),
                Cell::text(&*column.name),
                Cell::text(if part.desc { "D" } else { "A" }),
                cardinality(index, number, rows),
                part.prefix_len.map_or(Cell::Null, |length| Cell::Int(i64::from(length))),
                Cell::Null,
                Cell::text(if column.nullable { "YES" } else { "" }),
                Cell::text("BTREE"),
                Cell::text(""),
                Cell::text(&*index.comment),
                Cell::text("YES"),
                Cell::Null,
            ]);
        }
    }
    table
}

/// Distinct values of the first parts: as many as rows for all parts of a unique key. Others are not counted.
fn cardinality(index: &IndexDef, part: usize, rows: u64) -> Cell {
    let is_whole_unique = index.kind != IndexKind::Secondary && part + 1 == index.parts.len();
    if rows == 0 || is_whole_unique { Cell::Int(rows as i64) } else { Cell::Null }
}

fn header() -> Vec<Column> {
    vec![
        Column::name("Table"),
        Column::int("Non_unique"),
        Column::name("Key_name"),
        Column::int("Seq_in_index"),
        Column::name("Column_name"),
        Column::text("Collation", 1),
        Column::bigint("Cardinality"),
        Column::bigint("Sub_part"),
        Column::null("Packed"),
        Column::text("Null", 3),
        Column::text("Index_type", 11),
        Column::text("Comment", 8),
        Column::text("Index_comment", 2048),
        Column::text("Visible", 3),
        Column::long_text("Expression"),
    ]
}
