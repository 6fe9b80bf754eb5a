//! Names of schemas, tables, columns and keys.

use std::collections::HashSet;

use types::ColumnDef;

use crate::error_map::{self, ErrorKind, SqlError};

/// Longest name, in characters.
const NAME_CHARS_MAX: usize = 64;

/// Most columns that a statement may define, before any becomes one: MySQL checks this number first, too.
const DEFINITIONS_MAX: usize = 4096;

/// Refuses statements that define more columns or keys than any table has, before work is done for them.
///
/// # Errors
/// 1117, 1069.
pub(super) fn ensure_few(columns: usize, keys: usize) -> Result<(), SqlError> {
    if columns > DEFINITIONS_MAX {
        return Err(error_map::TOO_MANY_FIELDS.bare());
    }
    // The primary key does not count among the others.
    if keys > engine::limits::KEYS_MAX + 1 {
        return Err(error_map::TOO_MANY_KEYS.with(&[&engine::limits::KEYS_MAX]));
    }
    Ok(())
}

/// Names of columns: keys would be looked up in the wrong one if two had the same.
#[derive(Debug, Default)]
pub(super) struct ColumnNames(HashSet<String>);

impl ColumnNames {
    /// Takes the next column.
    ///
    /// # Errors
    /// 1060
    pub(super) fn add(&mut self, column: &ColumnDef) -> Result<(), SqlError> {
        if !self.0.insert(column.name.to_ascii_lowercase()) {
            return Err(error_map::DUP_FIELDNAME.with(&[&column.name]));
        }
        Ok(())
    }
}

/// Error 1102 or 1059 if no schema may be called `name`.
pub(crate) fn ensure_schema_name(name: &str) -> Result<(), SqlError> {
    check(name, &error_map::WRONG_DB_NAME)
}

/// Error 1103 or 1059 if no table may be called `name`.
pub(crate) fn ensure_table_name(name: &str) -> Result<(), SqlError> {
    check(name, &error_map::WRONG_TABLE_NAME)
}

/// Names of InnoDB's own columns.
static RESERVED_COLUMNS: [&str; 3] = ["DB_ROW_ID", "DB_TRX_ID", "DB_ROLL_PTR"];

/// Error 1166 or 1059 if no column may be called `name`.
pub(crate) fn ensure_column_name(name: &str) -> Result<(), SqlError> {
    if RESERVED_COLUMNS.iter().any(|reserved| reserved.eq_ignore_ascii_case(name)) {
        return Err(error_map::WRONG_COLUMN_NAME.with(&[&name]));
    }
    check(name, &error_map::WRONG_COLUMN_NAME)
}

/// Error 1280 or 1059 if no key but the primary one may be called `name`.
pub(crate) fn ensure_key_name(name: &str) -> Result<(), SqlError> {
    if name.eq_ignore_ascii_case("PRIMARY") || name.eq_ignore_ascii_case("GEN_CLUST_INDEX") {
        return Err(error_map::WRONG_NAME_FOR_INDEX.with(&[&name]));
    }
    check(name, &error_map::WRONG_NAME_FOR_INDEX)
}

fn check(name: &str, wrong: &ErrorKind) -> Result<(), SqlError> {
    if name.chars().count() > NAME_CHARS_MAX {
        return Err(error_map::TOO_LONG_IDENT.with(&[&name]));
    }
    if name.is_empty() || name.ends_with(' ') || name.contains('\0') {
        return Err(wrong.with(&[&name]));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_neither_empty_nor_long_nor_end_in_a_space() {
        assert!(
            ensure_table_name("t").is_ok()
                && ensure_column_name("a b").is_ok()
                && ensure_key_name("\u{e4}").is_ok()
        );
        let codes = [
            ensure_schema_name(""),
            ensure_table_name("t "),
            ensure_column_name(""),
            ensure_key_name("primary"),
            ensure_table_name(&"x".repeat(65)),
        ]
        .map(|result| result.map_or_else(|error| error.code, |()| 0));
        assert_eq!(codes, [1102, 1103, 1166, 1280, 1059]);
        assert!(ensure_table_name(&"\u{e4}".repeat(64)).is_ok());
    }
}
