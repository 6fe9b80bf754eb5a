//! Where names are looked up: the tables of a FROM clause.

use expr::ColumnRef;
use types::SqlType;

use super::{BindError, Clause};
use crate::ast;

/// A column as a scope sees it.
#[derive(Clone, Debug)]
pub(crate) struct ScopeColumn {
    /// Name.
    pub(crate) name: Box<str>,
    /// Type.
    pub(crate) ty: SqlType,
    /// May be NULL.
    pub(crate) nullable: bool,
}

/// A table in FROM.
#[derive(Clone, Debug)]
pub(crate) struct ScopeTable {
    /// Relation ordinal.
    pub(crate) rel: u16,
    /// Schema; `None` for derived tables.
    pub(crate) schema: Option<Box<str>>,
    /// Name in the query.
    pub(crate) alias: Box<str>,
    /// Columns by position.
    pub(crate) columns: Vec<ScopeColumn>,
}

/// A column that `*` shows and a bare name finds. NATURAL and USING make one of two.
#[derive(Clone, Debug)]
pub(crate) struct Visible {
    /// Name.
    pub(crate) name: Box<str>,
    /// Position in [`Scope::tables`].
    pub(crate) table: usize,
    /// Position in the table.
    pub(crate) col: u16,
}

/// The tables of a FROM clause, or of the part of it that an ON clause sees.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scope {
    /// Tables in the order written.
    pub(crate) tables: Vec<ScopeTable>,
    /// Columns in the order of `*`.
    pub(crate) visible: Vec<Visible>,
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

impl ScopeTable {
    fn find(&self, name: &str) -> Option<Found> {
        let col = self.columns.iter().position(|c| c.name.eq_ignore_ascii_case(name))?;
        Some(self.found(col as u16))
    }

    /// The column at position `col`.
    pub(crate) fn found(&self, col: u16) -> Found {
        let column = &self.columns[usize::from(col)];
        Found { column: ColumnRef { rel: self.rel, col }, ty: column.ty.clone(), nullable: column.nullable }
    }

    /// Whether `[schema.]table` names this table.
    pub(crate) fn is_named(&self, schema: Option<&str>, table: &str) -> bool {
        *self.alias == *table && schema.is_none_or(|s| self.schema.as_deref() == Some(s))
    }
}

impl Scope {
    /// Adds a table all of whose columns are visible.
    pub(crate) fn push(&mut self, table: ScopeTable) {
        let at = self.tables.len();
        let columns = table.columns.iter().enumerate();
        self.visible.extend(columns.map(|(col, c)| Visible {
            name: c.name.clone(),
            table: at,
            col: col as u16,
        }));
        self.tables.push(table);
    }

    /// Looks a column up; `None` if this scope does not have it.
    pub(crate) fn find(&self, name: &ast::ColumnRef<'_>, clause: Clause) -> Result<Option<Found>, BindError> {
        let mut found = match name.table {
            Some(table) => self.find_qualified(name.schema, table, name.column),
            None => self.find_bare(name.column),
        };
        match found.len() {
            0 => Ok(None),
            1 => Ok(found.pop()),
            _ => Err(BindError::AmbiguousColumn { name: written(name), clause }),
        }
    }

    fn find_qualified(&self, schema: Option<&str>, table: &str, column: &str) -> Vec<Found> {
        let tables = self.tables.iter().filter(|t| t.is_named(schema, table));
        tables.filter_map(|t| t.find(column)).collect()
    }

    fn find_bare(&self, column: &str) -> Vec<Found> {
        let named = self.visible.iter().filter(|v| v.name.eq_ignore_ascii_case(column));
        named.map(|v| self.tables[v.table].found(v.col)).collect()
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
