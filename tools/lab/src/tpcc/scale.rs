//! How many rows the tables have.

use serde::{Deserialize, Serialize};

/// Districts a warehouse, clause 1.2.1.
pub const DISTRICTS: usize = 10;
/// Number of last names, clause 4.3.2.3.
const LAST_NAMES: usize = 1000;

/// Row counts, clause 4.3.3.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scale {
    /// Warehouses.
    pub warehouses: usize,
    /// Items, and stock rows a warehouse.
    pub items: usize,
    /// Customers a district, and orders that a district has after the load.
    pub customers: usize,
}

impl Scale {
    /// As specified.
    pub fn full(warehouses: usize) -> Scale {
        Scale { warehouses, items: 100_000, customers: 3000 }
    }

    /// A hundredth of the rows, for tests.
    pub fn tiny(warehouses: usize) -> Scale {
        Scale { warehouses, items: 1000, customers: 30 }
    }

    /// Orders of a district that are delivered when they are loaded: 70 %.
    pub fn delivered(&self) -> usize {
        self.customers * 7 / 10
    }

    /// Last names that some customer of every district has.
    pub fn last_names(&self) -> usize {
        self.customers.min(LAST_NAMES)
    }
}
