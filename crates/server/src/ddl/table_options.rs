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
static REFUSED: [&str; 7] = [
    "CONNECTION",
    "ENCRYPTION",
    "INSERT_METHOD",
    "SECONDARY_ENGINE",
    "START TRANSACTION",
    "TABLESPACE",
    "UNION",
];

/// The options of a table.
#[derive(Debug, Default)]
pub(super) struct TableOptions<'a> {
    pub(super) collation: CollationClauses,
    pub(super) comment: Option<&'a str>,
    pub(super) auto_increment: Option<u64>,
    data_directory: Option<&'a str>,
    index_directory: Option<&'a str>,
    /// Hints that get a value, or lose it.
    hints: BTreeMap<StorageHint, Option<u64>>,
    /// A KEY_BLOCK_SIZE that InnoDB does not have.
    unknown_size: Option<SqlError>,
    /// A ROW_FORMAT that InnoDB does not have.
    unknown_format: Option<SqlError>,
}

/// Options with values that InnoDB does not have, or not beside each other.
#[derive(Clone, Debug)]
pub(super) struct UnknownOptions {
    /// The last of them in messages.
    name: &'static str,
    /// The warnings about the values.
    warnings: Vec<SqlError>,
}

impl UnknownOptions {
    /// The error for them, and their warnings: 1478 for a table that is altered in its place, 1031 for one
    /// that is made.
    pub(super) fn refuse(self, session: &mut Session, table: &str, in_place: bool) -> SqlError {
        for warning in self.warnings {
            session.warn(Severity::Warning, warning);
        }
        if in_place {
            error_map::ILLEGAL_HA_CREATE_OPTION.with(&[&"InnoDB", &self.name])
        } else {
            error_map::ILLEGAL_HA.with(&[&table])
        }
    }
}

impl<'a> TableOptions<'a> {
    /// Takes the options in order; the last of a kind counts. Hints on how to store rows are kept to be
    /// shown, without effect.
    ///
    /// # Errors
    /// 1286 for unknown engines, 1031 for unknown compressions, 1525 for relative paths, 1628; 1235 for
    /// options that are not supported yet.
    pub(super) fn gather(
        session: &mut Session,
        table: &str,
        options: &[TableOption<'a>],
    ) -> Result<Self, SqlError> {
        let mut all = TableOptions::default();
        options.iter().try_for_each(|option| all.add(session, table, option))?;
        ensure_comment_length(table, all.comment.unwrap_or_default())?;
        [all.data_directory, all.index_directory].into_iter().flatten().try_for_each(ensure_absolute)?;
        if session.variables.hot.sql_mode.has(SqlModes::NO_DIR_IN_CREATE) {
            all.ignore_directories(session);
        }
        if all.data_directory.is_some() {
            return Err(not_yet("DATA DIRECTORY"));
        }
        Ok(all)
    }

    /// Forgets DATA DIRECTORY and INDEX DIRECTORY, with a warning for each.
    pub(super) fn ignore_directories(&mut self, session: &mut Session) {
        let data = self.data_directory.take().map(|_| "DATA DIRECTORY");
        let index = self.index_directory.take().map(|_| "INDEX DIRECTORY");
        for name in data.into_iter().chain(index) {
            session.warn(Severity::Warning, error_map::WARN_OPTION_IGNORED.with(&[&name]));
        }
    }

    /// Takes the next option.
    ///
    /// # Errors
    /// As [`TableOptions::gather`], except for 1628.
    pub(super) fn add(
        &mut self,
        session: &mut Session,
        table: &str,
        option: &TableOption<'a>,
    ) -> Result<(), SqlError> {
        match *option {
            TableOption::Engine(name) => ensure_engine(session, table, name)?,
            TableOption::AutoIncrement(start) => self.auto_increment = Some(start),
            TableOption::Charset(name) => self.collation.take_default_charset(session, name)?,
            TableOption::Collate(name) => self.collation.take_collation(session, name)?,
            TableOption::Comment(text) => self.comment = Some(text),
            TableOption::RowFormat(name) => self.take_row_format(name)?,
            TableOption::Compression(name) => {
                self.take(StorageHint::Compression, compression(session, table, name)?);
            }
            TableOption::Hint(hint, value) => self.take_number(hint, value),
            TableOption::DataDirectory(path) => self.data_directory = Some(path),
            TableOption::IndexDirectory(path) => self.index_directory = Some(path),
            TableOption::Other(name) if REFUSED.contains(&name) => return Err(not_yet(name)),
            TableOption::Other(_) => {}
        }
        Ok(())
    }

    /// The hints in order, of a table that had those of `before`.
    pub(super) fn hints(&self, before: &[(StorageHint, u64)]) -> Box<[(StorageHint, u64)]> {
        let mut hints: BTreeMap<StorageHint, u64> = before.iter().copied().collect();
        for (&hint, &value) in &self.hints {
            match value {
                Some(value) => drop(hints.insert(hint, value)),
                None => drop(hints.remove(&hint)),
            }
        }
        hints.into_iter().collect()
    }

    /// The options that InnoDB refuses in a table that is to have `hints`.
    pub(super) fn unknown(&self, hints: &[(StorageHint, u64)]) -> Option<UnknownOptions> {
        let has_size = hints.iter().any(|(hint, _)| *hint == StorageHint::KeyBlockSize);
        let is_sized = has_size || self.unknown_size.is_some();
        let (size, format) = (self.unknown_size.clone(), self.unknown_format.clone());
        let format = format.map(|warning| ("ROW_TYPE", warning));
        let format = format.or_else(|| format_disagreement(hints).filter(|_| is_sized));
        let compression = compression_disagreement(hints).filter(|_| is_sized);
        let size = size.map(|warning| ("KEY_BLOCK_SIZE", warning));
        let directory = self.index_directory.map(|_| {
            let text = "InnoDB: INDEX DIRECTORY is not supported".to_owned();
            ("INDEX DIRECTORY", error_map::ILLEGAL_HA_CREATE_OPTION.with_message(text))
        });
        let all: Vec<_> = size.into_iter().chain(format).chain(compression).chain(directory).collect();
        let name = all.last()?.0;
        Some(UnknownOptions { name, warnings: all.into_iter().map(|(_, warning)| warning).collect() })
    }

    /// Keeps the last value of a hint; `None`: there is none.
    fn take(&mut self, hint: StorageHint, value: Option<u64>) {
        self.hints.insert(hint, value);
    }

    fn take_number(&mut self, hint: StorageHint, value: Option<u64>) {
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
                let warning = error_map::ILLEGAL_HA_CREATE_OPTION.with_message(text);
                self.unknown_size = Some(warning);
                return;
            }
            (_, value) => value,
        };
        if hint == KeyBlockSize {
            self.unknown_size = None;
        }
        self.take(hint, kept);
    }

    fn take_row_format(&mut self, name: &str) -> Result<(), SqlError> {
        let known = ROW_FORMATS.iter().position(|known| known.eq_ignore_ascii_case(name));
        if name.eq_ignore_ascii_case("COMPRESSED") {
            return Err(not_yet("ROW_FORMAT=COMPRESSED"));
        }
        if known.is_none() && !name.eq_ignore_ascii_case("DEFAULT") {
            let text = "InnoDB: invalid ROW_FORMAT specifier.".to_owned();
            let warning = error_map::ILLEGAL_HA_CREATE_OPTION.with_message(text);
            self.unknown_format = Some(warning);
            return Ok(());
        }
        self.unknown_format = None;
        self.take(StorageHint::RowFormat, known.map(|format| format as u64));
        Ok(())
    }
}

fn word(hints: &[(StorageHint, u64)], wanted: StorageHint) -> Option<&'static str> {
    let (hint, value) = hints.iter().find(|(hint, _)| *hint == wanted)?;
    hint.word(*value)
}

/// MySQL's error for a KEY_BLOCK_SIZE beside a row format, with the option that it names.
fn format_disagreement(hints: &[(StorageHint, u64)]) -> Option<(&'static str, SqlError)> {
    let format = word(hints, StorageHint::RowFormat)?;
    let text = format!("InnoDB: cannot specify ROW_FORMAT={format} with KEY_BLOCK_SIZE.");
    Some(("KEY_BLOCK_SIZE", error_map::ILLEGAL_HA_CREATE_OPTION.with_message(text)))
}

/// MySQL's error for a KEY_BLOCK_SIZE beside a compression.
fn compression_disagreement(hints: &[(StorageHint, u64)]) -> Option<(&'static str, SqlError)> {
    word(hints, StorageHint::Compression).filter(|name| *name != "none")?;
    let text = "InnoDB: Page Compression is not supported with row_format=compressed or key_block_size > 0";
    Some(("COMPRESSION", error_map::UNSUPPORTED_EXTENSION.with_message(text.to_owned())))
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

/// Error 1525 for a path that depends on the current directory.
fn ensure_absolute(path: &str) -> Result<(), SqlError> {
    if path.starts_with('/') || path.starts_with("~/") {
        return Ok(());
    }
    Err(error_map::WRONG_VALUE.with(&[&"path", &path]))
}

/// The value of COMPRESSION; `None`: no option.
fn compression(session: &mut Session, table: &str, name: &str) -> Result<Option<u64>, SqlError> {
    if name.is_empty() {
        return Ok(None);
    }
    let Some(algorithm) = COMPRESSIONS.iter().position(|known| known.eq_ignore_ascii_case(name)) else {
        let text = format!("InnoDB: Unsupported compression algorithm '{name}'");
        session.warn(Severity::Warning, error_map::UNSUPPORTED_EXTENSION.with_message(text));
        return Err(error_map::ILLEGAL_HA.with(&[&table]));
    };
    Ok(Some(algorithm as u64))
}
