//! Where names are looked up: the tables of a FROM clause.

use std::cell::Cell;
use std::sync::Arc;

use expr::ColumnRef;
use smallvec::{SmallVec, smallvec};
use types::{SqlType, TableDef};

use super::{BindError, Clause};
use crate::ast;
use crate::plan::{Alias, Column};

/// The columns of a table in FROM.
#[derive(Clone, Debug)]
pub(crate) enum ScopeColumns {
    /// Those of a table of the dictionary, or one whose rows the session makes.
    Defined(Arc<TableDef>),
    /// Those of a derived table, or of a row under an alias.
    Named(Vec<Column>),
}

/// A table in FROM.
#[derive(Clone, Debug)]
pub(crate) struct ScopeTable {
    /// Relation ordinal.
    pub(crate) rel: u16,
    /// Name in the query.
    pub(crate) alias: Alias,
    /// Columns by position.
    pub(crate) columns: ScopeColumns,
    /// An outer join may have no row of it, so that all its columns may be NULL.
    pub(crate) optional: bool,
    /// The column after the last match: statements often name columns in their order.
    pub(crate) next: Cell<u16>,
    /// The table whose new row this is, column by column, under an alias.
    pub(crate) stands_for: Option<Arc<TableDef>>,
}

/// A column that a bare name finds. NATURAL and USING make one of two.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Visible {
    /// Position in [`Scope::tables`].
    pub(crate) table: u16,
    /// Position in the table.
    pub(crate) col: u16,
    /// `*` shows it: it is not INVISIBLE, or USING names it.
    pub(crate) shown: bool,
}

/// The tables of a FROM clause, or of the part of it that an ON clause sees.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scope {
    /// Tables in the order written.
    pub(crate) tables: SmallVec<[ScopeTable; 1]>,
    /// Columns in the order of `*`, where NATURAL or USING has made one of two. `None`: those of the tables,
    /// one table after the other.
    pub(crate) merged: Option<Vec<Visible>>,
}

/// A column that was found.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    /// Where.
    pub(crate) column: ColumnRef,
    /// Type.
    pub(crate) ty: SqlType,
    /// May be NULL.
    pub(crate) nullable: bool,
}

impl ScopeColumns {
    /// Number of columns.
    pub(crate) fn len(&self) -> usize {
        match self {
            ScopeColumns::Defined(def) => def.columns.len(),
            ScopeColumns::Named(columns) => columns.len(),
        }
    }

    /// Name of the column at position `col`.
    pub(crate) fn name(&self, col: u16) -> &str {
        match self {
            ScopeColumns::Defined(def) => &def.columns[usize::from(col)].name,
            ScopeColumns::Named(columns) => &columns[usize::from(col)].name,
        }
    }

    /// Whether `t.*` shows the column at position `col`.
    pub(crate) fn is_shown(&self, col: u16) -> bool {
        match self {
            ScopeColumns::Defined(def) => !def.columns[usize::from(col)].invisible,
            ScopeColumns::Named(_) => true,
        }
    }

    /// Position of the first column called `name`, without regard to case.
    pub(crate) fn find(&self, name: &str) -> Option<u16> {
        let col = match self {
            ScopeColumns::Defined(def) => def.columns.iter().position(|c| is_same_name(&c.name, name)),
            ScopeColumns::Named(columns) => columns.iter().position(|c| is_same_name(&c.name, name)),
        };
        col.map(|col| col as u16)
    }
}

impl ScopeTable {
    /// A table that has a row wherever its query has one.
    pub(crate) fn new(rel: u16, alias: Alias, columns: ScopeColumns) -> Self {
        ScopeTable { rel, alias, columns, optional: false, next: Cell::new(0), stands_for: None }
    }

    /// As [`ScopeColumns::find`].
    pub(crate) fn find(&self, name: &str) -> Option<u16> {
        let next = self.next.get();
        let col = match &self.columns {
            ScopeColumns::Defined(def)
                if def.columns.get(usize::from(next)).is_some_and(|c| is_same_name(&c.name, name)) =>
            {
                next
            }
            columns => columns.find(name)?,
        };
        self.next.set(col + 1);
        Some(col)
    }

    /// Whether a column after the one at `col` is called `name` as well. Only a row under an alias has such.
    fn has_another(&self, col: u16, name: &str) -> bool {
        match &self.columns {
            ScopeColumns::Defined(_) => false,
            ScopeColumns::Named(columns) => {
                columns[usize::from(col) + 1..].iter().any(|column| is_same_name(&column.name, name))
            }
        }
    }

    /// The column at position `col`.
    pub(crate) fn found(&self, col: u16) -> Found {
        let (ty, nullable) = match &self.columns {
            ScopeColumns::Defined(def) => {
                let column = &def.columns[usize::from(col)];
                (&column.ty, column.nullable)
            }
            ScopeColumns::Named(columns) => {
                let column = &columns[usize::from(col)];
                (&column.ty, column.nullable)
            }
        };
        let column = ColumnRef { rel: self.rel, col };
        Found { column, ty: ty.clone(), nullable: nullable || self.optional }
    }

    /// Schema; `None` for tables without a definition.
    pub(crate) fn schema(&self) -> Option<&str> {
        match &self.columns {
            ScopeColumns::Defined(def) => Some(&def.schema),
            ScopeColumns::Named(_) => None,
        }
    }

    /// Whether `[schema.]table` names this table.
    pub(crate) fn is_named(&self, schema: Option<&str>, table: &str) -> bool {
        *self.alias == *table && schema.is_none_or(|s| self.schema() == Some(s))
    }
}

impl Scope {
    /// The scope of one table.
    pub(crate) fn of_table(table: ScopeTable) -> Scope {
        Scope { tables: smallvec![table], merged: None }
    }

    /// Adds a table all of whose columns are visible.
    pub(crate) fn push(&mut self, table: ScopeTable) {
        debug_assert!(self.merged.is_none(), "no columns were merged");
        self.tables.push(table);
    }

    /// Looks a column up; `None` if this scope does not have it.
    pub(crate) fn find(&self, name: &ast::ColumnRef<'_>, clause: Clause) -> Result<Option<Found>, BindError> {
        let found = match name.table {
            Some(table) => only(self.qualified(name.schema, table, name.column)),
            None => match &self.tables[..] {
                // The columns of one table have different names.
                [table] => Ok(table.find(name.column).map(|col| (table, col))),
                tables if self.merged.is_none() => only_of(tables, name.column),
                _ => only(self.merged_called(name.column)),
            },
        };
        match found {
            Ok(place) => Ok(place.map(|(table, col)| table.found(col))),
            Err(Ambiguous) => Err(BindError::AmbiguousColumn { name: written(name), clause }),
        }
    }

    /// The column called `name`, if one table of all has it. NATURAL and USING, which make one column of two,
    /// are left aside.
    pub(crate) fn find_unmerged(&self, name: &ast::ColumnRef<'_>) -> Option<ColumnRef> {
        let is_meant = |t: &&ScopeTable| name.table.is_none_or(|table| t.is_named(name.schema, table));
        let columns = self.tables.iter().filter(is_meant);
        let mut columns = columns.filter_map(|t| Some(ColumnRef { rel: t.rel, col: t.find(name.column)? }));
        let first = columns.next()?;
        columns.next().is_none().then_some(first)
    }

    fn qualified(
        &self,
        schema: Option<&str>,
        table: &str,
        column: &str,
    ) -> impl Iterator<Item = (&ScopeTable, u16)> {
        let tables = self.tables.iter().filter(move |t| t.is_named(schema, table));
        tables.filter_map(move |t| Some((t, t.find(column)?)))
    }

    /// The columns called `column` where NATURAL or USING has made one of two.
    fn merged_called<'s>(&'s self, column: &'s str) -> impl Iterator<Item = (&'s ScopeTable, u16)> {
        let merged = self.merged.iter().flatten().filter(move |v| is_same_name(self.name(**v), column));
        merged.map(|v| (&self.tables[usize::from(v.table)], v.col))
    }

    /// The tables, if their columns are visible as they are.
    fn unmerged(&self) -> &[ScopeTable] {
        if self.merged.is_some() { &[] } else { &self.tables }
    }

    /// The columns that a bare name can find, in the order of `*`.
    pub(crate) fn visible(&self) -> impl Iterator<Item = Visible> {
        let own = (0..).zip(self.unmerged()).flat_map(|(table, of)| {
            let columns = 0..of.columns.len() as u16;
            columns.map(move |col| Visible { table, col, shown: of.columns.is_shown(col) })
        });
        self.merged.iter().flatten().copied().chain(own)
    }

    /// The columns that `*` shows.
    pub(crate) fn shown(&self) -> impl Iterator<Item = Visible> {
        self.visible().filter(|v| v.shown)
    }

    /// Name of a visible column.
    pub(crate) fn name(&self, visible: Visible) -> &str {
        self.tables[usize::from(visible.table)].columns.name(visible.col)
    }

    /// The table called `[schema.]name`, by its position.
    pub(crate) fn find_table(&self, name: &ast::TableName<'_>) -> Option<usize> {
        self.tables.iter().position(|t| t.is_named(name.schema, name.name))
    }

    /// The table that is relation `rel`.
    pub(crate) fn table_of(&self, rel: u16) -> Option<&ScopeTable> {
        self.tables.iter().find(|t| t.rel == rel)
    }
}

/// Whether the names are the same except for case. Names of one table often begin alike: their ends are
/// compared first. Most names are written as they were defined.
fn is_same_name(a: &str, b: &str) -> bool {
    let end = |name: &str| name.as_bytes().last().map(u8::to_ascii_lowercase);
    a.len() == b.len() && end(a) == end(b) && (a == b || a.eq_ignore_ascii_case(b))
}

/// A name that several columns have.
struct Ambiguous;

/// The column called `name`, if one of `tables` has it.
fn only_of<'s>(tables: &'s [ScopeTable], name: &str) -> Result<Option<(&'s ScopeTable, u16)>, Ambiguous> {
    let mut found = None;
    for table in tables {
        let Some(col) = table.find(name) else { continue };
        if found.is_some() || table.has_another(col, name) {
            return Err(Ambiguous);
        }
        found = Some((table, col));
    }
    Ok(found)
}

/// The one item of `found`, if there is any.
fn only<T>(mut found: impl Iterator<Item = T>) -> Result<Option<T>, Ambiguous> {
    let first = found.next();
    if found.next().is_some() { Err(Ambiguous) } else { Ok(first) }
}

/// A column's name as written.
#[cold]
pub(crate) fn written(name: &ast::ColumnRef<'_>) -> String {
    let mut out = String::new();
    for part in [name.schema, name.table].into_iter().flatten() {
        out.push_str(part);
        out.push('.');
    }
    out.push_str(name.column);
    out
}
