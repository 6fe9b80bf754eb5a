//! `sql_mode` as a number: SET takes the sum of MySQL's bits as well as names.

use types::SqlModes;

use crate::error_map::{self, SqlError};

/// Names by bit; empty: no flag has this bit any more.
static NAMES: [&str; 33] = [
    "REAL_AS_FLOAT",
    "PIPES_AS_CONCAT",
    "ANSI_QUOTES",
    "IGNORE_SPACE",
    "",
    "ONLY_FULL_GROUP_BY",
    "NO_UNSIGNED_SUBTRACTION",
    "NO_DIR_IN_CREATE",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "ANSI",
    "NO_AUTO_VALUE_ON_ZERO",
    "NO_BACKSLASH_ESCAPES",
    "STRICT_TRANS_TABLES",
    "STRICT_ALL_TABLES",
    "NO_ZERO_IN_DATE",
    "NO_ZERO_DATE",
    "ALLOW_INVALID_DATES",
    "ERROR_FOR_DIVISION_BY_ZERO",
    "TRADITIONAL",
    "",
    "HIGH_NOT_PRECEDENCE",
    "NO_ENGINE_SUBSTITUTION",
    "PAD_CHAR_TO_FULL_LENGTH",
    "TIME_TRUNCATE_FRACTIONAL",
];

/// The flags of a number; `None` if it has bits that stand for nothing.
pub(super) fn from_number(number: u64) -> Option<SqlModes> {
    let bits = (0..u64::BITS as usize).filter(|bit| number >> bit & 1 == 1);
    bits.into_iter().try_fold(SqlModes::default(), |all, bit| {
        let name = NAMES.get(bit).filter(|name| !name.is_empty())?;
        Some(all.with(SqlModes::parse(name).ok()?))
    })
}

/// MySQL's warnings when `modes` are set.
pub(crate) fn warnings(modes: SqlModes) -> Vec<SqlError> {
    let strict_parts =
        [SqlModes::NO_ZERO_DATE, SqlModes::NO_ZERO_IN_DATE, SqlModes::ERROR_FOR_DIVISION_BY_ZERO];
    let present = strict_parts.iter().filter(|&&part| modes.has(part)).count();
    let is_whole = if modes.is_strict() { present == strict_parts.len() } else { present == 0 };
    let mut warnings = Vec::new();
    if !is_whole {
        warnings.push(error_map::SQL_MODES_APART.bare());
    }
    if modes.has(SqlModes::PAD_CHAR_TO_FULL_LENGTH) {
        warnings.push(error_map::DEPRECATED_SQLMODE.with(&[&"PAD_CHAR_TO_FULL_LENGTH"]));
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bit_with_a_name_is_a_mode() {
        for (bit, name) in NAMES.iter().enumerate() {
            let modes = from_number(1 << bit);
            assert_eq!(modes.is_some(), !name.is_empty(), "bit {bit}");
            assert!(modes.is_none_or(|modes| modes.text().split(',').any(|one| one == *name)), "{name}");
        }
        assert_eq!(from_number(1 << 40), None);
        assert_eq!(from_number(4 + 8).map(SqlModes::text).as_deref(), Some("ANSI_QUOTES,IGNORE_SPACE"));
    }
}
