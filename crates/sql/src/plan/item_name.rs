//! Names of the columns of an answer.

use std::ops::Deref;
use std::sync::Arc;

use types::TableDef;

/// The name of a column of an answer. Most are the names of table columns, which need no memory of their own.
#[derive(Clone, Debug)]
pub enum ItemName {
    /// The name of this column of a table.
    OfColumn(Arc<TableDef>, u16),
    /// Any other.
    Own(Box<str>),
}

impl Deref for ItemName {
    type Target = str;

    fn deref(&self) -> &str {
        match self {
            ItemName::OfColumn(def, col) => &def.columns[usize::from(*col)].name,
            ItemName::Own(name) => name,
        }
    }
}

impl From<Box<str>> for ItemName {
    fn from(name: Box<str>) -> Self {
        ItemName::Own(name)
    }
}

impl From<&str> for ItemName {
    fn from(name: &str) -> Self {
        ItemName::Own(name.into())
    }
}

impl From<String> for ItemName {
    fn from(name: String) -> Self {
        ItemName::Own(name.into())
    }
}

/// The beginning of `text` that names a column which the statement does not name: MySQL keeps so much.
pub fn shown_name(text: &str) -> &str {
    /// Bytes of the longest name.
    const NAME_BYTES_MAX: usize = 255;
    &text[..text.floor_char_boundary(NAME_BYTES_MAX)]
}
