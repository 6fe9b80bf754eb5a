//! Which tables of FROM a DELETE names as those that lose rows.

use crate::ast::{TableName, TableRef};

/// An item of FROM that a target may mean.
#[derive(Clone, Copy, Debug)]
pub struct DeleteTarget<'a> {
    /// Its name there.
    pub alias: &'a str,
    /// The table; `None`: a derived table.
    pub table: Option<TableName<'a>>,
    /// The alias is said, not the table's own name.
    is_alias: bool,
}

impl<'a> DeleteTarget<'a> {
    /// The items of `from` that `target` means: one if the name is right and clear. A target with a database
    /// means no item with an alias; one without means, of items without an alias, that of the default
    /// database.
    pub fn find(
        from: &[TableRef<'a>],
        target: &TableName<'_>,
        database: Option<&str>,
    ) -> impl Iterator<Item = DeleteTarget<'a>> {
        let mut items = Vec::new();
        for from in from {
            gather(from, &mut items);
        }
        items.retain(|item| item.is_meant(target, database));
        items.into_iter()
    }

    fn is_meant(&self, target: &TableName<'_>, database: Option<&str>) -> bool {
        match &self.table {
            Some(table) if !self.is_alias => {
                let schema = |name: Option<&str>| name.or(database).map(str::to_owned);
                table.name == target.name && schema(table.schema) == schema(target.schema)
            }
            _ => target.schema.is_none() && self.alias == target.name,
        }
    }
}

fn gather<'a>(from: &TableRef<'a>, items: &mut Vec<DeleteTarget<'a>>) {
    match from {
        TableRef::Table(factor) => items.push(DeleteTarget {
            alias: factor.alias.unwrap_or(factor.name.name),
            table: Some(factor.name),
            is_alias: factor.alias.is_some(),
        }),
        TableRef::Derived(derived) => {
            let item = |alias| DeleteTarget { alias, table: None, is_alias: true };
            items.extend(derived.alias.map(item));
        }
        TableRef::Join(join) => {
            gather(&join.left, items);
            gather(&join.right, items);
        }
        TableRef::List(list) => list.iter().for_each(|from| gather(from, items)),
        TableRef::JsonTable => {}
    }
}
