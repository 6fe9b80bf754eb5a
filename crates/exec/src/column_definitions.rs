//! Column definitions that many plans send: kept with a version of a table, each made when it is first sent.

use std::sync::{Arc, OnceLock};

use engine::Table;
use expr::ExprKind;
use sql::plan::{ItemName, OutputColumn};
use types::TableDef;

/// The definitions of a table's columns under their own names, for clients of the usual character set.
#[derive(Debug)]
pub(crate) struct ColumnDefinitions {
    def: Arc<TableDef>,
    /// Bodies of the packets, by position of the column.
    bodies: Box<[OnceLock<Box<[u8]>>]>,
}

impl ColumnDefinitions {
    /// Those of `table`, none of which is made yet.
    pub(crate) fn new(table: &Table) -> Self {
        let bodies = table.def.columns.iter().map(|_| OnceLock::new()).collect();
        ColumnDefinitions { def: Arc::clone(&table.def), bodies }
    }

    /// How many definitions are made.
    #[cfg(test)]
    pub(crate) fn count_made(&self) -> usize {
        self.bodies.iter().filter(|body| body.get().is_some()).count()
    }

    /// Where the definition of `column` is kept, if that is a column of the table as it is: under its own
    /// name and that of the table, with the type and the keys that the table gives it.
    pub(crate) fn place(&self, column: &OutputColumn) -> Option<&OnceLock<Box<[u8]>>> {
        let ItemName::OfColumn(def, col) = &column.name else { return None };
        let own = self.def.columns.get(usize::from(*col)).filter(|_| Arc::ptr_eq(def, &self.def))?;
        let is_own = matches!(column.expr.kind, ExprKind::Column(_))
            && column.expr.nullable == own.nullable
            && column.origin.as_ref().is_some_and(|origin| origin.is_plain(&self.def, *col))
            && column.expr.ty == own.ty;
        self.bodies.get(usize::from(*col)).filter(|_| is_own)
    }
}
