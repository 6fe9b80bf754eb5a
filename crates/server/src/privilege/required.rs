//! The privileges that a planned statement requires.

use std::collections::HashSet;

use sql::ast::Statement;
use sql::bind::{ColumnUse, ColumnUses, TableAccess, TableUse};

use super::access::{Access, Want, of_statement};
use super::set::Privileges;

/// The privileges that a planned statement requires.
#[derive(Debug)]
pub(crate) struct RequiredPrivileges {
    /// To do to tables and databases, in the order in which it is checked.
    pub(super) accesses: Box<[Access]>,
    /// To do with columns, likewise. It is checked after all of the former.
    pub(super) columns: Box<[ColumnUse]>,
    /// It changes rows: it may read columns of tables that it needs no SELECT for otherwise.
    pub(super) is_change: bool,
}

impl RequiredPrivileges {
    /// What `statement` wants, whose default database is `database` and which was found to use `uses`.
    pub(crate) fn new(database: Option<&str>, statement: &Statement<'_>, uses: ColumnUses) -> Self {
        let is_change = !matches!(statement, Statement::Query(_) | Statement::Do(_));
        let (tables, columns) = uses.into_parts();
        let mut accesses = of_statement(database, statement);
        add_unnamed(&mut accesses, &tables);
        RequiredPrivileges { accesses: accesses.into(), columns: columns.into(), is_change }
    }
}

/// Adds what is done to tables that the text was not understood to do, so that names that text and binder
/// take for different tables open none.
fn add_unnamed(accesses: &mut Vec<Access>, tables: &[TableUse]) {
    let named = |access: &Access| (access.schema.clone(), access.table.clone());
    let is_delete = |access: &&Access| matches!(&access.want, Want::All(set) | Want::Reached(set) if set.has(Privileges::DELETE));
    let read: HashSet<_> = accesses.iter().map(named).collect();
    let deleted: HashSet<_> = accesses.iter().filter(is_delete).map(named).collect();
    for one in tables {
        let (known, want) = match one.access {
            TableAccess::Read => (&read, Want::Reached(Privileges::SELECT)),
            TableAccess::Delete => (&deleted, Want::All(Privileges::DELETE)),
        };
        let (schema, table) = (one.table.schema.as_ref().into(), one.table.name.as_ref().into());
        let name = (schema, table);
        if !known.contains(&name) {
            let (schema, table) = name;
            accesses.push(Access { schema, table, want });
        }
    }
}
