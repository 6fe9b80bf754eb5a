//! Names of tables in a query.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use types::TableDef;

/// The name of a table in a query. Without an alias it is that of the definition, which needs no memory of
/// its own.
#[derive(Clone, Debug)]
pub enum Alias {
    /// The name of this table.
    OfTable(Arc<TableDef>),
    /// Any other.
    Own(Arc<str>),
}

impl Alias {
    /// `name` as the name of a table of this definition.
    pub(crate) fn of_table(def: &Arc<TableDef>, name: &str) -> Alias {
        if *def.name == *name { Alias::OfTable(Arc::clone(def)) } else { Alias::Own(name.into()) }
    }
}

impl Deref for Alias {
    type Target = str;

    fn deref(&self) -> &str {
        match self {
            Alias::OfTable(def) => &def.name,
            Alias::Own(name) => name,
        }
    }
}

impl fmt::Display for Alias {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

impl From<&str> for Alias {
    fn from(name: &str) -> Self {
        Alias::Own(name.into())
    }
}
