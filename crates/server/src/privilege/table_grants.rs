//! The grants of one account on tables and their columns.

use std::cmp::Ordering;

use super::set::Privileges;

/// The grants on one table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TableGrant {
    pub(crate) schema: String,
    pub(crate) table: String,
    /// On the whole table.
    pub(crate) set: Privileges,
    /// On columns, in order of their names without regard to case. None is without privileges.
    columns: Vec<(String, Privileges)>,
}

impl TableGrant {
    /// Everything that is granted on some column.
    pub(crate) fn on_any_column(&self) -> Privileges {
        self.columns.iter().fold(Privileges::NONE, |all, (_, set)| all | *set)
    }

    /// The privileges on the column `name` itself.
    pub(super) fn on_column(&self, name: &str) -> Privileges {
        self.place(name).map_or(Privileges::NONE, |at| self.columns[at].1)
    }

    /// The columns with privileges of their own, in order of their names.
    pub(crate) fn columns(&self) -> Vec<(&str, Privileges)> {
        let mut columns: Vec<_> = self.columns.iter().map(|(name, set)| (&**name, *set)).collect();
        columns.sort_unstable_by_key(|(name, _)| *name);
        columns
    }

    fn place(&self, name: &str) -> Result<usize, usize> {
        self.columns.binary_search_by(|(known, _)| compare_names(known, name))
    }

    /// Sets the privileges of a column; without any it is forgotten.
    fn set_column(&mut self, name: &str, set: Privileges) {
        match (self.place(name), set.is_empty()) {
            (Ok(at), true) => drop(self.columns.remove(at)),
            (Ok(at), false) => self.columns[at].1 = set,
            (Err(_), true) => {}
            (Err(at), false) => self.columns.insert(at, (name.to_owned(), set)),
        }
    }
}

fn compare_names(a: &str, b: &str) -> Ordering {
    let (a, b) = (a.bytes(), b.bytes());
    a.map(|byte| byte.to_ascii_lowercase()).cmp(b.map(|byte| byte.to_ascii_lowercase()))
}

/// The privileges on tables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TableGrants {
    /// In order of the names. None is without privileges.
    list: Vec<TableGrant>,
    /// Columns of all tables together.
    column_count: usize,
}

impl TableGrants {
    pub(crate) fn find(&self, schema: &str, table: &str) -> Option<&TableGrant> {
        self.place(schema, table).ok().map(|at| &self.list[at])
    }

    /// All tables, in order of their names.
    pub(crate) fn list(&self) -> &[TableGrant] {
        &self.list
    }

    /// Tables and columns together.
    pub(super) fn len(&self) -> usize {
        self.list.len() + self.column_count
    }

    pub(super) fn has_columns(&self) -> bool {
        self.column_count > 0
    }

    /// Sets the privileges of a whole table.
    pub(super) fn set(&mut self, schema: &str, table: &str, set: Privileges) {
        self.change(schema, table, |grant| grant.set = set);
    }

    /// Sets the privileges of a column.
    pub(super) fn set_column(&mut self, (schema, table): (&str, &str), column: &str, set: Privileges) {
        self.change(schema, table, |grant| grant.set_column(column, set));
    }

    /// Takes `taken` from the whole table and from each of its columns.
    pub(super) fn take(&mut self, schema: &str, table: &str, taken: Privileges) {
        self.change(schema, table, |grant| {
            grant.set = grant.set - taken;
            grant.columns.iter_mut().for_each(|(_, set)| *set = *set - taken);
            grant.columns.retain(|(_, set)| !set.is_empty());
        });
    }

    /// Adds what another account has been granted on one table.
    pub(super) fn merge(&mut self, other: &TableGrant) {
        self.change(&other.schema, &other.table, |grant| {
            grant.set = grant.set | other.set;
            for (name, set) in &other.columns {
                grant.set_column(name, grant.on_column(name) | *set);
            }
        });
    }

    fn place(&self, schema: &str, table: &str) -> Result<usize, usize> {
        self.list.binary_search_by(|grant| (&*grant.schema, &*grant.table).cmp(&(schema, table)))
    }

    /// Changes the grant of one table; without privileges it is forgotten.
    fn change(&mut self, schema: &str, table: &str, change: impl FnOnce(&mut TableGrant)) {
        let at = self.place(schema, table).unwrap_or_else(|at| {
            let (schema, table) = (schema.to_owned(), table.to_owned());
            self.list.insert(at, TableGrant { schema, table, set: Privileges::NONE, columns: Vec::new() });
            at
        });
        let grant = &mut self.list[at];
        self.column_count -= grant.columns.len();
        change(grant);
        self.column_count += grant.columns.len();
        if grant.set.is_empty() && grant.columns.is_empty() {
            self.list.remove(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_found_and_counted_without_regard_to_case() {
        let mut tables = TableGrants::default();
        for (column, set) in
            [("b", Privileges::SELECT), ("A", Privileges::INSERT), ("ab", Privileges::SELECT)]
        {
            tables.set_column(("d", "t"), column, set);
        }
        tables.set_column(("d", "t"), "B", Privileges::UPDATE);
        let grant = tables.find("d", "t").unwrap();
        assert_eq!(grant.on_column("b"), Privileges::UPDATE);
        assert_eq!(grant.on_column("a"), Privileges::INSERT);
        assert_eq!(grant.on_column("c"), Privileges::NONE);
        let names: Vec<_> = grant.columns().into_iter().map(|(name, _)| name).collect();
        assert_eq!((names, tables.len()), (vec!["A", "ab", "b"], 4));
        tables.take("d", "t", Privileges::INSERT | Privileges::UPDATE);
        assert_eq!(tables.len(), 2);
        tables.take("d", "t", Privileges::SELECT);
        assert_eq!(tables, TableGrants::default());
    }
}
