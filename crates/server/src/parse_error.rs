//! MySQL's errors for texts that cannot be parsed.

use base::memory::{LimitExceeded, Purpose};
use sql::ParseErrorKind;

use crate::error_map::{self, ErrorKind, SqlError};
use crate::{memory_error, stack};

const SYNTAX: &str = "You have an error in your SQL syntax; check the manual that corresponds to your MySQL server \
    version for the right syntax to use";

/// The MySQL error for a text that cannot be parsed.
#[cold]
pub(crate) fn of(error: &sql::ParseError) -> SqlError {
    let kind: &ErrorKind = match error.kind {
        ParseErrorKind::UndeclaredVariable => &error_map::SP_UNDECLARED_VAR,
        ParseErrorKind::OptionTwice(_) => &error_map::DUP_ARGUMENT,
        ParseErrorKind::Empty => &error_map::EMPTY_QUERY,
        ParseErrorKind::TooDeep => return stack::overrun(),
        ParseErrorKind::TooManySelects => &error_map::TOO_HIGH_LEVEL_OF_NESTING_FOR_SELECT,
        ParseErrorKind::InvalidUtf8 => &error_map::INVALID_CHARACTER_STRING,
        ParseErrorKind::Interrupted => &error_map::QUERY_INTERRUPTED,
        ParseErrorKind::OutOfMemory => return memory_error::of(LimitExceeded::Statement(Purpose::Other)),
        ParseErrorKind::TooLong => &error_map::NET_PACKET_TOO_LARGE,
        _ => &error_map::PARSE,
    };
    kind.with_message(error.to_string())
}

/// Error 1064 at `near`.
#[cold]
pub(crate) fn syntax(near: &str) -> SqlError {
    error_map::PARSE.with(&[&SYNTAX, &near, &1])
}

/// Error 1064 for a second statement where one is taken: it begins at offset `end`.
#[cold]
pub(crate) fn more_than_one(sql: &[u8], end: usize) -> SqlError {
    let rest = String::from_utf8_lossy(sql.get(end..).unwrap_or_default());
    syntax(rest.trim_start())
}
