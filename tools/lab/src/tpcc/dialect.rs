//! How a transaction is put into statements.

use serde::{Deserialize, Serialize};

/// How a transaction is put into statements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dialect {
    /// Rows of a table that a transaction needs are read by one statement, and inserted by one.
    Batched,
    /// A statement per row.
    Rowwise,
}

impl Dialect {
    /// As it is named on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Dialect::Batched => "batched",
            Dialect::Rowwise => "rowwise",
        }
    }

    /// The dialect of this name.
    pub fn of_name(name: &str) -> Option<Dialect> {
        [Dialect::Batched, Dialect::Rowwise].into_iter().find(|dialect| dialect.name() == name)
    }
}
