//! Privileges on columns: whether they allow what a bound statement does with each.

use std::sync::Arc;

use sql::bind::{ColumnAccess, ColumnUse, UsedColumns};
use types::TableDef;

use super::check::{denied_column, denied_table, ensure_by};
use super::grants::Grants;
use super::required::RequiredPrivileges;
use super::set::Privileges;
use crate::error_map::SqlError;
use crate::session::Session;
use crate::virtual_tables;

/// Fails for the first thing that `wanted` has and the session may not have.
///
/// # Errors
/// As [`super::ensure`]; 1143, and 1142 for columns that the statement does not name, once something is
/// granted on one of them.
#[cold]
pub(crate) fn ensure_wanted(session: &Session, wanted: &RequiredPrivileges) -> Result<(), SqlError> {
    if !session.rights.is_limited() {
        return Ok(());
    }
    let grants = session.current_grants();
    ensure_by(session, &grants, &wanted.accesses)?;
    // Without privileges on columns, an account that may read from a table may read all of it.
    if wanted.is_change || grants.has_columns() {
        ensure_columns(session, &grants, &wanted.columns)?;
    }
    Ok(())
}

fn ensure_columns(session: &Session, grants: &Grants, uses: &[ColumnUse]) -> Result<(), SqlError> {
    let mut last: Option<(&Arc<TableDef>, Privileges)> = None;
    let mut is_one_granted = false;
    for one in uses {
        let table = &one.table;
        let whole = match last {
            Some((known, whole)) if Arc::ptr_eq(known, table) => whole,
            _ => on_whole(session, grants, table),
        };
        last = Some((table, whole));
        let wanted = privilege(one.access);
        if whole.has(wanted) {
            continue;
        }
        let on_column = |name: &str| grants.on_column(&table.schema, &table.name, name);
        let may = |name: &str| on_column(name).has(wanted);
        let name = |position: u16| &*table.columns[usize::from(position)].name;
        match &one.columns {
            UsedColumns::One(position) if may(name(*position)) => {}
            UsedColumns::One(position) => {
                return Err(denied_column(session, wanted, name(*position), &table.name));
            }
            UsedColumns::Missing(name) if may(name) => {}
            UsedColumns::Missing(name) => return Err(denied_column(session, wanted, name, &table.name)),
            UsedColumns::Unnamed { positions, joined_as } => {
                // Tables of a join are read together.
                is_one_granted &= joined_as.is_some();
                for &position in positions {
                    is_one_granted |= !on_column(name(position)).is_empty();
                    if may(name(position)) {
                        continue;
                    }
                    if is_one_granted {
                        let shown = joined_as.as_deref().unwrap_or(&table.name);
                        let command = wanted.names().next().unwrap_or_default();
                        return Err(denied_table(session, command, shown));
                    }
                    return Err(denied_column(session, wanted, name(position), &table.name));
                }
            }
        }
    }
    Ok(())
}

fn privilege(access: ColumnAccess) -> Privileges {
    match access {
        ColumnAccess::Select => Privileges::SELECT,
        ColumnAccess::Insert => Privileges::INSERT,
        ColumnAccess::Update => Privileges::UPDATE,
    }
}

/// Privileges on all columns of a table, from all levels together.
fn on_whole(session: &Session, grants: &Grants, table: &TableDef) -> Privileges {
    if virtual_tables::is_everybodys(&table.schema) {
        return Privileges::OF_TABLE;
    }
    let broad = session.on_schema(grants, &table.schema);
    broad | grants.on_table(&table.schema, &table.name)
}

/// The privileges of a session on the columns of one table.
pub(crate) struct OnColumns<'t> {
    whole: Privileges,
    grants: Arc<Grants>,
    table: &'t TableDef,
}

impl<'t> OnColumns<'t> {
    /// As it is now.
    pub(crate) fn new(session: &Session, table: &'t TableDef) -> Self {
        let grants = session.current_grants();
        let is_limited = session.rights.is_limited();
        let whole = if is_limited { on_whole(session, &grants, table) } else { Privileges::OF_TABLE };
        OnColumns { whole: whole & Privileges::OF_COLUMN, grants, table }
    }

    /// Privileges on the column `name`, from all levels together; of those that columns have.
    pub(crate) fn of(&self, name: &str) -> Privileges {
        if self.whole == Privileges::OF_COLUMN {
            return self.whole;
        }
        self.whole | self.grants.on_column(&self.table.schema, &self.table.name, name)
    }
}
