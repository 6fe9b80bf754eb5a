//! Which tables of FROM a DELETE names as those that lose rows.

use std::collections::HashMap;

use crate::ast::{TableName, TableRef};

/// An item of FROM that a target may mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeleteTarget<'a> {
    /// Its name there.
    pub alias: &'a str,
    /// The table; `None`: a derived table.
    pub table: Option<TableName<'a>>,
}

/// Result of the lookup of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetMatch<'a> {
    /// No item.
    Nothing,
    /// This one.
    One(DeleteTarget<'a>),
    /// More than one.
    Several,
}

/// The items of FROM that targets may mean.
#[derive(Debug)]
pub struct DeleteTargets<'a> {
    database: Option<&'a str>,
    /// By database and name; the database is `None` for an alias.
    items: HashMap<(Option<&'a str>, &'a str), TargetMatch<'a>>,
}

impl<'a> DeleteTargets<'a> {
    /// The items of `from`, in which `database` is the default one.
    pub fn new(from: &[TableRef<'a>], database: Option<&'a str>) -> Self {
        let mut targets = DeleteTargets { database, items: HashMap::new() };
        for from in from {
            targets.add(from);
        }
        targets
    }

    /// What `target` means: with a database no item with an alias; without one, of items without an alias,
    /// that of the default database.
    pub fn find(&self, target: &TableName<'_>) -> TargetMatch<'a> {
        let find = |schema| self.items.get(&(schema, target.name)).copied().unwrap_or(TargetMatch::Nothing);
        let by_table = find(target.schema.or(self.database));
        if target.schema.is_some() || self.database.is_none() {
            return by_table;
        }
        match (by_table, find(None)) {
            (found, TargetMatch::Nothing) | (TargetMatch::Nothing, found) => found,
            _ => TargetMatch::Several,
        }
    }

    fn add(&mut self, from: &TableRef<'a>) {
        match from {
            TableRef::Table(factor) => {
                let alias = factor.alias.unwrap_or(factor.name.name);
                let schema = if factor.alias.is_some() { None } else { factor.name.schema.or(self.database) };
                self.put(schema, DeleteTarget { alias, table: Some(factor.name) });
            }
            TableRef::Derived(derived) => {
                if let Some(alias) = derived.alias {
                    self.put(None, DeleteTarget { alias, table: None });
                }
            }
            TableRef::Join(join) => {
                self.add(&join.left);
                self.add(&join.right);
            }
            TableRef::List(list) => list.iter().for_each(|from| self.add(from)),
            TableRef::JsonTable => {}
        }
    }

    fn put(&mut self, schema: Option<&'a str>, item: DeleteTarget<'a>) {
        let meant = self.items.entry((schema, item.alias)).or_insert(TargetMatch::Nothing);
        *meant = if *meant == TargetMatch::Nothing { TargetMatch::One(item) } else { TargetMatch::Several };
    }
}
