//! Table options.

use std::collections::BTreeMap;

use sql::ast::TableOption;
use types::storage_hint::{COMPRESSIONS, ROW_FORMATS};
use types::{SqlModes, StorageHint};

use super::collation::CollationClauses;
use super::not_yet;
use crate::diagnostics::Severity;
use crate::error_map::{self, SqlError};
use crate::session::Session;

/// Most characters of a table's comment.
const COMMENT_CHARS_MAX: usize = 2048;

/// Options that would change what a table is, not only how it is stored.
static REFUSED: [&str; 8] = [
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
    hints: BTreeMap<StorageHint, u64>,
}

impl<'a> TableOptions<'a> {
    /// Takes the options in order; the last of a kind counts. Hints on how to store rows, those of the table
    /// `before` included, are kept to be shown, without effect.
    ///
    /// # Errors
    /// 1286 for unknown engines, 1031 for row formats that InnoDB does not have, 1628; 1235 for options that
    /// are not supported yet.
    pub(super) fn gather(
        session: &mut Session,
        table: &str,
        options: &[TableOption<'a>],
        before: &[(StorageHint, u64)],
    ) -> Result<Self, SqlError> {
        let mut all = TableOptions { hints: before.iter().copied().collect(), ..TableOptions::default() };
        for option in options {
            match *option {
                TableOption::Engine(name) => ensure_engine(session, table, name)?,
                TableOption::AutoIncrement(start) => all.auto_increment = Some(start),
                TableOption::Charset(name) => all.collation.take_charset(session, name)?,
                TableOption::Collate(name) => all.collation.take_collation(session, name)?,
                TableOption::Comment(text) => all.comment = text,
                TableOption::RowFormat(name) => {
                    all.take(StorageHint::RowFormat, row_format(session, table, name)?);
                }
                TableOption::Compression(name) => {
                    all.take(StorageHint::Compression, compression(session, table, name)?);
                }
                TableOption::Hint(hint, value) => all.take_number(session, table, hint, value)?,
                TableOption::Other(name) if REFUSED.contains(&name) => return Err(not_yet(name)),
                TableOption::Other(_) => {}
            }
        }
        ensure_comment_length(table, all.comment)?;
        Ok(all)
    }

    /// The hints in order.
    pub(super) fn hints(&self) -> Box<[(StorageHint, u64)]> {
        self.hints.iter().map(|(&hint, &value)| (hint, value)).collect()
    }

    /// Keeps the last value of a hint; `None`: there is none.
    fn take(&mut self, hint: StorageHint, value: Option<u64>) {
        match value {
            Some(value) => drop(self.hints.insert(hint, value)),
            None => drop(self.hints.remove(&hint)),
        }
    }

    /// # Errors
    /// 1031 for a KEY_BLOCK_SIZE that InnoDB does not have.
    fn take_number(
        &mut self,
        session: &mut Session,
        table: &str,
        hint: StorageHint,
        value: Option<u64>,
    ) -> Result<(), SqlError> {
        use StorageHint::{Checksum, DelayKeyWrite, KeyBlockSize, MaxRows, MinRows};
        let kept = match (hint, value) {
            (StorageHint::PackKeys | StorageHint::StatsPersistent | StorageHint::StatsAutoRecalc, value) => {
                value
            }
            (_, None | Some(0)) => None,
            (Checksum | DelayKeyWrite, Some(_)) => Some(1),
            (MinRows | MaxRows, Some(rows)) => Some(rows.min(u64::from(u32::MAX))),
            (KeyBlockSize, Some(size)) if !KEY_BLOCK_SIZES.contains(&size) => {
                let sizes = "Valid values are [1, 2, 4, 8, 16]";
                let text = format!("InnoDB: invalid KEY_BLOCK_SIZE = {size}. {sizes}");
                session.warn(Severity::Warning, error_map::ILLEGAL_HA_CREATE_OPTION.saying(text));
                return Err(error_map::ILLEGAL_HA.with(&[&table]));
            }
            (_, value) => value,
        };
        self.take(hint, kept);
        Ok(())
    }

    /// Refuses options of a new table of which one excludes another.
    ///
    /// # Errors
    /// 1031 for a KEY_BLOCK_SIZE beside a row format or a compression.
    pub(super) fn ensure_agreement(&self, session: &mut Session, table: &str) -> Result<(), SqlError> {
        let Some(warning) = self.disagreement() else { return Ok(()) };
        session.warn(Severity::Warning, warning);
        Err(error_map::ILLEGAL_HA.with(&[&table]))
    }

    /// As [`TableOptions::ensure_agreement`], for a table that is altered.
    ///
    /// # Errors
    /// 1478
    pub(super) fn ensure_agreement_of_altered(&self) -> Result<(), SqlError> {
        match self.disagreement() {
            Some(_) => Err(error_map::ILLEGAL_HA_CREATE_OPTION.with(&[&"InnoDB", &"KEY_BLOCK_SIZE"])),
            None => Ok(()),
        }
    }

    /// What MySQL says of a KEY_BLOCK_SIZE beside a row format or a compression.
    fn disagreement(&self) -> Option<SqlError> {
        let word = |hint: StorageHint| self.hints.get(&hint).and_then(|&value| hint.word(value));
        if !self.hints.contains_key(&StorageHint::KeyBlockSize) {
            return None;
        }
        if let Some(format) = word(StorageHint::RowFormat) {
            let text = format!("InnoDB: cannot specify ROW_FORMAT={format} with KEY_BLOCK_SIZE.");
            return Some(error_map::ILLEGAL_HA_CREATE_OPTION.saying(text));
        }
        let compression = word(StorageHint::Compression).filter(|name| *name != "none");
        compression.map(|_| {
            let text =
                "InnoDB: Page Compression is not supported with row_format=compressed or key_block_size > 0";
            error_map::UNSUPPORTED_EXTENSION.saying(text.to_owned())
        })
    }
}

/// The values of KEY_BLOCK_SIZE.
const KEY_BLOCK_SIZES: [u64; 5] = [1, 2, 4, 8, 16];

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

/// The value of ROW_FORMAT; `None`: the default.
fn row_format(session: &mut Session, table: &str, name: &str) -> Result<Option<u64>, SqlError> {
    if name.eq_ignore_ascii_case("DEFAULT") {
        return Ok(None);
    }
    if name.eq_ignore_ascii_case("COMPRESSED") {
        return Err(not_yet("ROW_FORMAT=COMPRESSED"));
    }
    let Some(format) = ROW_FORMATS.iter().position(|known| known.eq_ignore_ascii_case(name)) else {
        let text = "InnoDB: invalid ROW_FORMAT specifier.".to_owned();
        session.warn(Severity::Warning, error_map::ILLEGAL_HA_CREATE_OPTION.saying(text));
        return Err(error_map::ILLEGAL_HA.with(&[&table]));
    };
    Ok(Some(format as u64))
}

/// The value of COMPRESSION; `None`: no option.
fn compression(session: &mut Session, table: &str, name: &str) -> Result<Option<u64>, SqlError> {
    if name.is_empty() {
        return Ok(None);
    }
    let Some(algorithm) = COMPRESSIONS.iter().position(|known| known.eq_ignore_ascii_case(name)) else {
        let text = format!("InnoDB: Unsupported compression algorithm '{name}'");
        session.warn(Severity::Warning, error_map::UNSUPPORTED_EXTENSION.saying(text));
        return Err(error_map::ILLEGAL_HA.with(&[&table]));
    };
    Ok(Some(algorithm as u64))
}
