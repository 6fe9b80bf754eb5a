//! Names of tables with their schemas.

use std::borrow::Cow;

use sql::ast::TableName;

use crate::error_map::{self, SqlError};

/// A table's full name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FullName {
    pub(crate) schema: String,
    pub(crate) table: String,
}

impl std::fmt::Display for FullName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.schema, self.table)
    }
}

impl FullName {
    /// The name as written, completed by the default database, which is `default`.
    ///
    /// # Errors
    /// 1046 without one.
    pub(crate) fn resolve(default: Option<&str>, name: &TableName<'_>) -> Result<Self, SqlError> {
        let schema = schema_or_default(default, name.schema)?.into_owned();
        Ok(FullName { schema, table: name.name.to_owned() })
    }

    /// Schema and table.
    pub(crate) fn as_pair(&self) -> (&str, &str) {
        (&self.schema, &self.table)
    }
}

/// `schema`, or the default database, which is `default`.
///
/// # Errors
/// 1046 without one.
pub(crate) fn schema_or_default<'a>(
    default: Option<&str>,
    schema: Option<&'a str>,
) -> Result<Cow<'a, str>, SqlError> {
    match (schema, default) {
        (Some(schema), _) => Ok(Cow::Borrowed(schema)),
        (None, Some(database)) => Ok(Cow::Owned(database.to_owned())),
        (None, None) => Err(error_map::NO_DB.bare()),
    }
}
