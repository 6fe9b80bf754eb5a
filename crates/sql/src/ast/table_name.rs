//! Names of tables.

/// A table's name as written: `[schema.]name`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableName<'a> {
    /// Schema, if given.
    pub schema: Option<&'a str>,
    /// Table.
    pub name: &'a str,
    /// Offset of its first byte.
    pub pos: u32,
}
