//! The form of rows.

/// Form of the rows sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// COM_QUERY.
    Text,
    /// COM_STMT_EXECUTE.
    Binary,
}
