//! Statistics of the values in a table's indexes, for the choice among them.

/// Of one index.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyStatistics {
    /// Rows that agree in the first part of the key, the first two, ..: the average over their distinct
    /// values, at least 1.
    pub rows_per_prefix: Box<[f64]>,
    /// Part of the rows that are NULL in the first part, 0 to 1.
    pub null_share: f64,
}

/// Of one table.
#[derive(Clone, Debug, PartialEq)]
pub struct TableStatistics {
    /// Rows that the table had then.
    pub rows: u64,
    /// The indexes in the definition's order.
    pub keys: Box<[KeyStatistics]>,
}
