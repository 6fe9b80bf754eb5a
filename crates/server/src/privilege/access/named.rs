//! The tables of FROM, subqueries left out.

use sql::ast::{TableName, TableRef};

/// Adds the tables of an item of FROM.
pub(super) fn tables_of<'a>(from: &TableRef<'a>, tables: &mut Vec<TableName<'a>>) {
    match from {
        TableRef::Table(factor) => tables.push(factor.name),
        TableRef::Derived(_) | TableRef::JsonTable => {}
        TableRef::Join(join) => {
            tables_of(&join.left, tables);
            tables_of(&join.right, tables);
        }
        TableRef::List(list) => list.iter().for_each(|from| tables_of(from, tables)),
    }
}
