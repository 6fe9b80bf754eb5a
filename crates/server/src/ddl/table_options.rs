//! Table options.

use sql::ast::TableOption;
use types::SqlModes;

use super::collation::CollationClauses;
use super::not_yet;
use crate::diagnostics::Severity;
use crate::error_map::{self, SqlError};
use crate::session::Session;

/// Most characters of a table's comment.
const COMMENT_CHARS_MAX: usize = 2048;

/// Options that would change what a table is, not only how it is stored.
static REFUSED: [&str; 9] = [
    "COMPRESSION",
    "CONNECTION",
    "DIRECTORY",
    "ENCRYPTION",
    "INSERT_METHOD",
    "SECONDARY_ENGINE",
    "START TRANSACTION",
    "TABLESPACE",
    "UNION",
];

/// What the options of a table say.
#[derive(Debug, Default)]
pub(super) struct TableOptions<'a> {
    pub(super) collation: CollationClauses,
    pub(super) comment: &'a str,
    pub(super) auto_increment: Option<u64>,
}

impl<'a> TableOptions<'a> {
    /// Takes the options in order; the last of a kind counts. Hints on how to store rows are accepted without effect.
    ///
    /// # Errors
    /// 1286 for unknown engines, 1031 for row formats that InnoDB does not have, 1628; 1235 for options that are not
    /// supported yet.
    pub(super) fn gather(
        session: &mut Session,
        table: &str,
        options: &[TableOption<'a>],
    ) -> Result<Self, SqlError> {
        let mut all = TableOptions::default();
        for option in options {
            match *option {
                TableOption::Engine(name) => ensure_engine(session, table, name)?,
                TableOption::AutoIncrement(start) => all.auto_increment = Some(start),
                TableOption::Charset(name) => all.collation.take_charset(session, name)?,
                TableOption::Collate(name) => all.collation.take_collation(session, name)?,
                TableOption::Comment(text) => all.comment = text,
                TableOption::RowFormat(name) => ensure_row_format(table, name)?,
                TableOption::Other(name) if REFUSED.contains(&name) => return Err(not_yet(name)),
                TableOption::Other(_) => {}
            }
        }
        ensure_comment_length(table, all.comment)?;
        Ok(all)
    }
}

/// Error 1628 if the comment is too long for a table.
pub(super) fn ensure_comment_length(table: &str, comment: &str) -> Result<(), SqlError> {
    if comment.chars().count() > COMMENT_CHARS_MAX {
        return Err(error_map::TOO_LONG_TABLE_COMMENT.with(&[&table, &COMMENT_CHARS_MAX]));
    }
    Ok(())
}

/// InnoDB is the one engine there is; it may stand in for others unless NO_ENGINE_SUBSTITUTION is set.
fn ensure_engine(session: &mut Session, table: &str, name: &str) -> Result<(), SqlError> {
    if name.eq_ignore_ascii_case("InnoDB") {
        return Ok(());
    }
    let unknown = error_map::UNKNOWN_STORAGE_ENGINE.with(&[&name]);
    if session.variables.hot.sql_mode.has(SqlModes::NO_ENGINE_SUBSTITUTION) {
        return Err(unknown);
    }
    session.warn(Severity::Warning, unknown);
    session.warn(Severity::Warning, error_map::WARN_USING_OTHER_HANDLER.with(&[&"InnoDB", &table]));
    Ok(())
}

fn ensure_row_format(table: &str, name: &str) -> Result<(), SqlError> {
    let is = |known: &str| name.eq_ignore_ascii_case(known);
    if ["DEFAULT", "DYNAMIC", "COMPACT", "REDUNDANT"].iter().any(|known| is(known)) {
        return Ok(());
    }
    if is("COMPRESSED") {
        return Err(not_yet("ROW_FORMAT=COMPRESSED"));
    }
    Err(error_map::ILLEGAL_HA.with(&[&table]))
}
