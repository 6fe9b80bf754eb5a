//! The dictionary as the binder and the planner see it.

use std::sync::Arc;

use types::{TableDef, TableStatistics};

/// A failure of the dictionary itself, such as a metadata lock wait that timed out; passed on as it is.
pub type CatalogError = Box<dyn std::error::Error + Send + Sync>;

/// The dictionary as seen by one statement.
pub trait Catalog {
    /// Changes with every DDL.
    fn version(&self) -> u64;

    /// Whether there is such a schema.
    fn schema_exists(&self, schema: &str) -> bool;

    /// The table `schema.name`; `None` if there is none.
    ///
    /// # Errors
    /// The dictionary's own.
    fn table(&self, schema: &str, name: &str) -> Result<Option<Arc<TableDef>>, CatalogError>;

    /// The table `schema.name` whose rows the session makes ([`expr::SessionInfo::virtual_rows`]); `None` if
    /// there is none.
    fn virtual_table(&self, schema: &str, name: &str) -> Option<Arc<TableDef>>;

    /// About how many rows the table has.
    fn row_estimate(&self, table: &TableDef) -> u64;

    /// Statistics of the table's indexes, if there are any.
    fn statistics(&self, table: &TableDef) -> Option<Arc<TableStatistics>>;

    /// Positions of the table's indexes that no plan may use, because they are damaged.
    fn damaged_indexes(&self, _table: &TableDef) -> Vec<usize> {
        Vec::new()
    }

    /// About how many rows of the table have keys from `from` on and below `to` (`None`: to the end) in the
    /// index at position `index`; the ends are bytes of normalised keys, or of their first parts. `None`: the
    /// index cannot be asked now.
    fn rows_between(&self, table: &TableDef, index: usize, from: &[u8], to: Option<&[u8]>) -> Option<f64>;
}
