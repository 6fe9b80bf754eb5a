//! Looking at whole tables and whole data directories: for CHECK TABLE, `ratchet check` and tests. No
//! statement comes here.
//!
//! ```text
//!  datadir.rs --- dictionary.rs (names, definitions, ids)
//!      '--------- table.rs ------ agreement.rs (rows and entries, now and as the oldest view sees them)
//!                    '----------- btree::check (trees), space::check (off-page values, space)
//! ```

mod agreement;
mod datadir;
pub mod definition;
mod dictionary;
mod table;

use std::fmt;

use base::PageNo;
use space::check::Problem;

pub use datadir::{FileReport, Progress, check_datadir};
pub use table::TableReport;

/// How much of a table is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// Trees and records.
    Quick,
    /// Off-page values and the agreement of the indexes, too.
    Full,
}

/// Something that is wrong, and where.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Finding {
    /// Schema and table, unless they go without saying.
    pub table: Option<Box<str>>,
    /// The index.
    pub index: Option<Box<str>>,
    /// The page of data.pages.
    pub page: Option<PageNo>,
    /// What, in words that follow the place.
    pub what: String,
}

impl Finding {
    fn new(what: impl Into<String>) -> Self {
        Finding { what: what.into(), ..Finding::default() }
    }

    fn of_index(index: &str, problem: Problem) -> Self {
        Finding { table: None, index: Some(index.into()), page: problem.page, what: problem.what }
    }
}

impl From<Problem> for Finding {
    fn from(problem: Problem) -> Self {
        Finding { table: None, index: None, page: problem.page, what: problem.what }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let table = self.table.as_ref().map(|table| format!("table {table}"));
        let index = self.index.as_ref().map(|index| format!("index {index}"));
        let page = self.page.map(|page| format!("data.pages {page}"));
        let place: Vec<String> = [table, index, page].into_iter().flatten().collect();
        match (place.is_empty(), self.page) {
            (true, _) => f.write_str(&self.what),
            (false, Some(_)) => write!(f, "{} {}", place.join(", "), self.what),
            (false, None) => write!(f, "{}: {}", place.join(", "), self.what),
        }
    }
}
