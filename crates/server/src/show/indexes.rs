//! SHOW INDEX.

use types::{IndexKind, KeyStatistics, TableDef, TableStatistics};

use super::definition_text::declared_indexes;
use crate::answer::{Cell, Column, Table};

/// The key parts of `def`, whose table has about `rows` rows.
pub(super) fn table(def: &TableDef, rows: u64, statistics: Option<&TableStatistics>) -> Table {
    let mut table = Table::new(header());
    for index in declared_indexes(def) {
        let position = def.indexes.iter().position(|of| of.id == index.id);
        let known = |all: &TableStatistics| position.and_then(|at| all.keys.get(at).cloned());
        for (number, part) in index.parts.iter().enumerate() {
            let column = &def.columns[usize::from(part.column)];
            table.push(vec![
                Cell::text(&*def.name),
                Cell::Int(i64::from(index.kind == IndexKind::Secondary)),
                Cell::text(&*index.name),
                Cell::Int(number as i64 + 1),
                Cell::text(&*column.name),
                Cell::text(if part.desc { "D" } else { "A" }),
                cardinality(statistics.and_then(known), number, rows),
                part.prefix_len.map_or(Cell::Null, |length| Cell::Int(i64::from(length))),
                Cell::Null,
                Cell::text(if column.nullable { "YES" } else { "" }),
                Cell::text("BTREE"),
                Cell::text(""),
                Cell::text(&*index.comment),
                Cell::text(if index.invisible { "NO" } else { "YES" }),
                Cell::Null,
            ]);
        }
    }
    table
}

/// Distinct values of the first parts; NULL while nothing is known of them.
fn cardinality(known: Option<KeyStatistics>, part: usize, rows: u64) -> Cell {
    let distinct =
        |known: KeyStatistics| Some((rows as f64 / known.rows_per_prefix.get(part)?).round() as i64);
    match known.and_then(distinct) {
        _ if rows == 0 => Cell::Int(0),
        Some(distinct) => Cell::Int(distinct.max(1)),
        None => Cell::Null,
    }
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
