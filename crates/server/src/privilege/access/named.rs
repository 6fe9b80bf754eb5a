//! The tables of a FROM clause, by the names that columns call them by.

use sql::ast::{TableName, TableRef};

/// A table that the names of columns may mean.
pub(super) struct Named<'a> {
    pub(super) alias: &'a str,
    /// `None` for a derived table.
    pub(super) table: Option<TableName<'a>>,
}

/// Adds the tables of an item of FROM.
pub(super) fn named<'a>(from: &TableRef<'a>, names: &mut Vec<Named<'a>>) {
    match from {
        TableRef::Table(factor) => {
            let alias = factor.alias.unwrap_or(factor.name.name);
            names.push(Named { alias, table: Some(factor.name) });
        }
        TableRef::Derived(derived) => {
            names.extend(derived.alias.map(|alias| Named { alias, table: None }));
        }
        TableRef::Join(join) => {
            named(&join.left, names);
            named(&join.right, names);
        }
        TableRef::List(list) => list.iter().for_each(|from| named(from, names)),
        TableRef::JsonTable => {}
    }
}
