//! SHOW COLUMNS, DESCRIBE.

use types::{CollationId, ColumnDef, ColumnDefault, IndexDef, IndexKind, TableDef, TimeZone};

use super::definition_text::{current_timestamp, default_text};
use crate::answer::{Cell, Column, Table};
use crate::ddl::row_default;
use crate::privilege::OnColumns;

/// The columns of `def`; with `full`, collation, privileges and comment too. `privileges`: those that the
/// session has on them; it sees those on which it has any.
pub(super) fn table(def: &TableDef, full: bool, privileges: &OnColumns<'_>, zone: &TimeZone) -> Table {
    let mut table = Table::new(header(full));
    for (position, column) in def.columns.iter().enumerate() {
        let privileges = privileges.of(&column.name);
        if privileges.is_empty() {
            continue;
        }
        let mut row = vec![
            Cell::text(&*column.name),
            Cell::text(column.ty.to_string()),
            Cell::text(if column.nullable { "YES" } else { "NO" }),
            Cell::text(key_word(def, position)),
            default(column, zone),
            Cell::text(extra(column)),
        ];
        if full {
            row.insert(2, collation(column));
            let names = privileges.names().collect::<Vec<_>>().join(",").to_ascii_lowercase();
            row.push(Cell::Text(names));
            row.push(Cell::text(&*column.comment));
        }
        table.push(row);
    }
    table
}

fn header(full: bool) -> Vec<Column> {
    let mut columns = vec![
        Column::name("Field"),
        Column::long_text("Type"),
        Column::text("Null", 3),
        Column::word("Key", 3),
        Column::long_text("Default"),
        Column::text("Extra", 256),
    ];
    if full {
        columns.insert(2, Column::name("Collation"));
        columns.push(Column::text("Privileges", 154));
        columns.push(Column::long_text("Comment"));
    }
    columns
}

fn collation(column: &ColumnDef) -> Cell {
    let has_collation = column.ty.members.is_some() || column.ty.collation != CollationId::BINARY;
    let collation = column.ty.collation.collation().filter(|_| has_collation);
    collation.map_or(Cell::Null, |collation| Cell::text(collation.name))
}

fn default(column: &ColumnDef, zone: &TimeZone) -> Cell {
    match &column.default {
        ColumnDefault::Expression(text) => Cell::Text(row_default::escaped(text)),
        ColumnDefault::Now => Cell::Text(current_timestamp(&column.ty)),
        _ => default_text(column, zone).map_or(Cell::Null, Cell::Text),
    }
}

fn extra(column: &ColumnDef) -> String {
    let mut words = Vec::new();
    if column.auto_increment {
        words.push("auto_increment".to_owned());
    }
    if matches!(column.default, ColumnDefault::Now | ColumnDefault::Expression(_)) {
        words.push("DEFAULT_GENERATED".to_owned());
    }
    if column.on_update_now {
        words.push(format!("on update {}", current_timestamp(&column.ty)));
    }
    if column.invisible {
        words.push("INVISIBLE".to_owned());
    }
    words.join(" ")
}

/// PRI for columns of the primary key or of the unique one that stands in for it, UNI for a unique key of
/// this column alone, MUL for the first column of another key.
fn key_word(def: &TableDef, position: usize) -> &'static str {
    let is_column = |part: &types::KeyPart| usize::from(part.column) == position;
    let clustered = def.clustered();
    if !def.hidden_row_id && clustered.parts.iter().any(is_column) {
        return "PRI";
    }
    let leads = |index: &&IndexDef| index.parts.first().is_some_and(is_column);
    let is_unique = |index: &IndexDef| index.kind != IndexKind::Secondary && index.parts.len() == 1;
    let mut led = def.indexes.iter().filter(leads).peekable();
    if led.peek().is_none() {
        return "";
    }
    if led.any(is_unique) { "UNI" } else { "MUL" }
}
