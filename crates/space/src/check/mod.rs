//! Looking at a data file: its header, its extent map, the owners of pages, off-page values.
//!
//! For CHECK TABLE, `ratchet check` and tests: no statement comes here. The data must not change during a
//! check. Memory: a bit for each page of the file.

mod inspect;
mod page_set;
mod space;
mod value;

use std::fmt;

use base::PageNo;

pub use inspect::Inspected;
pub use page_set::PageSet;

/// Problems reported of one tree, or of the space; more are left out.
pub const PROBLEMS_MAX: usize = 20;

/// Something that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where, if it is one page.
    pub page: Option<PageNo>,
    /// What, in words that follow the page's name.
    pub what: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.page {
            Some(page) => write!(f, "{page}: {}", self.what),
            None => f.write_str(&self.what),
        }
    }
}

/// What is wrong with one thing, up to [`PROBLEMS_MAX`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problems(Vec<Problem>);

impl Problems {
    /// Notes a problem of `page`.
    pub fn add(&mut self, page: impl Into<Option<PageNo>>, what: impl Into<String>) {
        if self.0.len() < PROBLEMS_MAX {
            self.0.push(Problem { page: page.into(), what: what.into() });
        } else if self.0.len() == PROBLEMS_MAX {
            self.0.push(Problem { page: None, what: "has more problems than these".to_owned() });
        }
    }

    /// Notes one unless `holds`.
    pub fn expect(&mut self, holds: bool, page: PageNo, what: &str) {
        if !holds {
            self.add(page, what);
        }
    }

    /// Whether nothing is wrong.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Those noted.
    pub fn iter(&self) -> impl Iterator<Item = &Problem> {
        self.0.iter()
    }
}

impl IntoIterator for Problems {
    type Item = Problem;
    type IntoIter = std::vec::IntoIter<Problem>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}
