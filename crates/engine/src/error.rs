//! Errors below a statement, with the data that error texts need, and their effects.

use std::fmt;
use std::path::PathBuf;

use types::SqlType;

use crate::damage::DamagedIndex;
use crate::temp_file::TempFileError;
use crate::undo_full::UndoFull;

/// Result of this crate's functions.
pub type Result<T> = std::result::Result<T, Error>;

/// Ends a long loop of a statement that was killed.
///
/// # Errors
/// [`trx::Error::Interrupted`].
#[inline]
pub(crate) fn fail_if_interrupted() -> Result<()> {
    if base::sync::interrupt::is_requested() { Err(Error::Lock(trx::Error::Interrupted)) } else { Ok(()) }
}

/// How far an error reaches. The session acts on this, never on the variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The statement is rolled back, its transaction continues.
    Statement,
    /// The whole transaction is rolled back.
    Transaction,
    /// The connection ends, its transaction is rolled back.
    Connection,
    /// The server stops: continuing could lose data.
    Server,
}

/// An error of the storage API.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Error {
    /// A key that must be unique is there already (1062).
    DuplicateKey(Box<DuplicateKey>),
    /// A lock was not to be had (1205, 1213, 3572, 1317, 1053), or a write is refused (1792), or there is no
    /// such savepoint (1305).
    Lock(trx::Error),
    /// A row is not as the transaction's view sees it, which it has to be (1020).
    RecordChanged {
        /// Table name.
        table: Box<str>,
    },
    /// The row does not fit in a page even with its long columns elsewhere (1118).
    RowTooLarge {
        /// Bytes a record may have.
        limit: usize,
    },
    /// The row's key bytes do not fit in a page (1071).
    KeyTooLong {
        /// Bytes a key may have.
        limit: usize,
    },
    /// A definition is refused.
    Definition(Box<DefinitionError>),
    /// A schema or table is missing or there already.
    Name(Box<NameError>),
    /// A snapshot is older than the definition of what it reads (1412).
    TableDefinitionChanged,
    /// A cached plan's table is gone or has been redefined: resolve the name again.
    TableChanged,
    /// There is too much undo to change a row (1114).
    UndoFull(Box<UndoFull>),
    /// The disk has no room for the log of more changes (1114).
    LogFull(Box<env::IoError>),
    /// Memory has no more room for undo, and the disk does not take it (1021, 1026).
    UndoNotSwapped(Box<env::IoError>),
    /// An older version of a row cannot be made, because undo that was swapped cannot be read back (1024).
    VersionUnreadable(Box<trx::SwapError>),
    /// An older version of a row, which undo of the log was to make, is no row.
    VersionDamaged {
        /// The transaction whose undo it is.
        trx: base::TrxId,
    },
    /// A change cannot be undone, or purged, because undo that was swapped cannot be read back. The next
    /// start has it from the log.
    UndoUnreadable(Box<trx::SwapError>),
    /// A statement may not have the memory that it needs (1038, 1041, 4081, 4082).
    Memory(base::memory::LimitExceeded),
    /// A statement's temporary file cannot be written (1878) or read back (1024).
    TempFile(Box<TempFileError>),
    /// More changes of rows than may be had wait for the build of an index (1799).
    SideLogFull {
        /// Index name.
        index: Box<str>,
    },
    /// A change of a row is not what the build of an index has: the index is given up.
    SideLogDisagrees {
        /// Index name.
        index: Box<str>,
    },
    /// AUTO_INCREMENT has run out of numbers (1467).
    AutoIncrementExhausted,
    /// The engine has been shut down.
    Closed,
    /// The data directory cannot be used.
    DataDir(Box<DataDirError>),
    /// The trees or their file failed.
    Storage(space::Error),
    /// A file operation failed.
    Io(env::IoError),
    /// A row and its entry in an index do not agree.
    IndexDisagrees {
        /// The index.
        index: base::IndexId,
    },
    /// An index is out of use because of a damaged page (1712), or its table is (1877).
    Damaged(Box<DamagedIndex>),
    /// A damaged page keeps a change of an index from being undone: see `Engine::past_damage`.
    NotUndone {
        /// The index.
        index: base::IndexId,
        /// The damage.
        cause: Box<Error>,
    },
    /// Rows are not changed under `innodb_force_recovery` (1881).
    Forced,
    /// The log of a transaction that has to be undone is not what was written.
    UndoCorrupt {
        /// The transaction.
        trx: base::TrxId,
        /// End of the frame.
        lsn: base::Lsn,
    },
    /// A dictionary record's bytes are not what they must be.
    DictionaryCorrupt {
        /// What is wrong with them.
        what: &'static str,
    },
    /// A table's definition has a field that this server must not pass over, and does not know.
    NewerDefinition {
        /// `schema.table`.
        table: Box<str>,
        /// The field's tag.
        tag: u32,
    },
}

/// A key that is there already.
#[derive(Clone, Debug)]
pub struct DuplicateKey {
    /// Table name.
    pub table: Box<str>,
    /// Index name; `PRIMARY` for the primary key.
    pub index: Box<str>,
    /// The key's columns as declared.
    pub parts: Vec<DuplicatePart>,
}

/// A column of a duplicate key.
#[derive(Clone, Debug)]
pub struct DuplicatePart {
    /// Its type.
    pub ty: SqlType,
    /// Characters that count, if not all do.
    pub prefix_len: Option<u16>,
    /// Its storage bytes; `None` = NULL.
    pub value: Option<Vec<u8>>,
}

/// Why a definition is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DefinitionError {
    /// 1118: the longest possible row is beyond 65,535 bytes, BLOBs not counted.
    RowSize {
        /// The limit.
        limit: usize,
    },
    /// 1071: a key has more than 3,072 bytes.
    KeyTooLong {
        /// The limit.
        limit: usize,
    },
    /// 1070: a key has more than 16 parts.
    TooManyKeyParts {
        /// The limit.
        limit: usize,
    },
    /// 1069: a table has more than 64 secondary keys.
    TooManyKeys {
        /// The limit.
        limit: usize,
    },
    /// 1117: a table has more than 1,017 columns.
    TooManyColumns,
    /// 1113: a table has no column.
    NoColumns,
    /// 1072.
    KeyColumnMissing {
        /// The column's name, or its position if the definition names none.
        column: Box<str>,
    },
    /// 1061.
    DuplicateKeyName {
        /// The key's name.
        name: Box<str>,
    },
    /// 1060.
    DuplicateColumn {
        /// The column's name.
        name: Box<str>,
    },
    /// 1068.
    MultiplePrimaryKeys,
    /// 1075.
    AutoColumnNotKey,
    /// 1170.
    BlobKeyWithoutLength {
        /// The column's name.
        column: Box<str>,
    },
    /// 1171: a column of the primary key may be NULL.
    PrimaryKeyNullable,
    /// 1089: a prefix of a column that has none, or longer than the column.
    WrongPrefix,
    /// 1280: a key may not have this name.
    WrongKeyName {
        /// The name.
        name: Box<str>,
    },
    /// 1091: there is no such key.
    NoSuchKey {
        /// The name.
        name: Box<str>,
    },
    /// 1235: the engine cannot do this yet.
    NotSupported {
        /// What.
        what: &'static str,
    },
}

/// A missing or superfluous name.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NameError {
    /// 1049: a statement uses a schema that is not there.
    UnknownSchema(Box<str>),
    /// 1007: CREATE SCHEMA of one that exists.
    SchemaExists(Box<str>),
    /// 1008: DROP SCHEMA of one that does not.
    NoSchemaToDrop(Box<str>),
    /// 1146: a statement uses a table that is not there.
    NoSuchTable {
        /// Schema.
        schema: Box<str>,
        /// Table.
        table: Box<str>,
    },
    /// 1051: DROP TABLE of one that is not there.
    NoTableToDrop {
        /// Schema.
        schema: Box<str>,
        /// Table.
        table: Box<str>,
    },
    /// 1050: CREATE TABLE of one that exists.
    TableExists(Box<str>),
}

/// Why a data directory is refused. It has not been touched.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DataDirError {
    /// Another server uses it.
    InUse(PathBuf),
    /// It is of a format this server does not know.
    UnknownFormat {
        /// The directory.
        path: PathBuf,
        /// What its FORMAT file says.
        found: Box<str>,
        /// The version that this server writes.
        supported: u32,
    },
    /// There is no such directory or file.
    Missing(PathBuf),
    /// It is not empty and has no FORMAT file.
    NotADataDir(PathBuf),
    /// It has a page file and no FORMAT file, which names the version that wrote it.
    FormatLost(PathBuf),
    /// It has a page file of the name in use and one of the name before.
    TwoDataFiles(PathBuf),
    /// It was not shut down cleanly.
    NotClean(PathBuf),
    /// Its FORMAT file does not match its log and pages.
    NoIdentity(PathBuf),
    /// It cannot be written.
    NotWritable(env::IoError),
}

impl Error {
    /// How far the error reaches.
    pub fn effect(&self) -> Effect {
        match self {
            // The row was not written; what the statement did before is undone.
            Error::DuplicateKey(_) | Error::RowTooLarge { .. } | Error::KeyTooLong { .. } => {
                Effect::Statement
            }
            Error::Lock(error) => match error {
                // InnoDB picks the transaction as the victim: all of it goes.
                trx::Error::Deadlock => Effect::Transaction,
                // The engine has rolled the transaction back and goes away.
                trx::Error::ShuttingDown => Effect::Connection,
                // A wait that ended, or a refusal before anything happened.
                _ => Effect::Statement,
            },
            // Whatever the transaction reads or changes, its view is out of date.
            Error::RecordChanged { .. } => Effect::Transaction,
            // Refused before anything happened.
            Error::Definition(_) | Error::Name(_) => Effect::Statement,
            // The transaction may continue with other tables.
            Error::TableDefinitionChanged | Error::TableChanged => Effect::Statement,
            // Refused before the row was changed.
            Error::UndoFull(_) | Error::LogFull(_) | Error::UndoNotSwapped(_) => Effect::Statement,
            // Reads have changed nothing.
            Error::VersionUnreadable(_) | Error::VersionDamaged { .. } => Effect::Statement,
            // The changes remain, in progress and unseen, until the next startup. They must not be committed.
            Error::UndoUnreadable(_) => Effect::Connection,
            // The trees that the statement has built so far are given up.
            Error::Memory(_)
            | Error::TempFile(_)
            | Error::SideLogFull { .. }
            | Error::SideLogDisagrees { .. } => Effect::Statement,
            // No number, no row.
            Error::AutoIncrementExhausted => Effect::Statement,
            // Nothing can be done for this session any more.
            Error::Closed => Effect::Connection,
            // Only at start, where it stops the server.
            Error::DataDir(_) => Effect::Server,
            Error::Storage(error) => match error {
                // Checked before any page changed, or what was written is undone.
                space::Error::RecordTooLarge { .. } | space::Error::FileFull | space::Error::Interrupted => {
                    Effect::Statement
                }
                // A page of one tree. Changes of other rows are undone.
                error if error.damaged_page().is_some() => Effect::Statement,
                // Files that cannot be written, or log that cannot be read.
                _ => Effect::Server,
            },
            // A failed write or sync must not be built upon.
            Error::Io(_) => Effect::Server,
            // The same: it concerns one index. The statement is undone past what cannot be.
            Error::IndexDisagrees { .. } | Error::NotUndone { .. } => Effect::Statement,
            // Refused before anything happened.
            Error::Damaged(_) | Error::Forced => Effect::Statement,
            // Stored bytes differ from what was written.
            Error::UndoCorrupt { .. } | Error::DictionaryCorrupt { .. } => Effect::Server,
            // Met by a startup, which is refused.
            Error::NewerDefinition { .. } => Effect::Server,
        }
    }

    /// Whether a full disk has refused a change before anything happened: it may work again later.
    pub fn is_full_disk(&self) -> bool {
        match self {
            Error::LogFull(_) | Error::Storage(space::Error::FileFull) => true,
            Error::UndoNotSwapped(error) => error.is_out_of_space(),
            _ => false,
        }
    }

    /// Whether a page cannot be read, is not what was written there, or not what refers to it:
    /// `Engine::name_damage` says whose it is.
    pub fn is_corrupt_page(&self) -> bool {
        match self {
            Error::Storage(error) => error.damaged_page().is_some(),
            Error::IndexDisagrees { .. } | Error::NotUndone { .. } => true,
            _ => false,
        }
    }

    #[cold]
    pub(crate) fn no_such_table(schema: &str, table: &str) -> Self {
        Error::Name(Box::new(NameError::NoSuchTable { schema: schema.into(), table: table.into() }))
    }

    #[cold]
    pub(crate) fn record_changed(table: &str) -> Self {
        Error::RecordChanged { table: table.into() }
    }

    #[cold]
    pub(crate) fn unknown_schema(schema: &str) -> Self {
        Error::Name(Box::new(NameError::UnknownSchema(schema.into())))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::DuplicateKey(key) => write!(f, "duplicate entry for key '{}.{}'", key.table, key.index),
            Error::Lock(error) => error.fmt(f),
            Error::RecordChanged { table } => write!(f, "a row of table '{table}' is newer than the view"),
            Error::RowTooLarge { limit } => write!(f, "row is larger than {limit} bytes"),
            Error::KeyTooLong { limit } => write!(f, "key is longer than {limit} bytes"),
            Error::Definition(error) => write!(f, "definition refused: {error:?}"),
            Error::Name(error) => write!(f, "name refused: {error:?}"),
            Error::TableDefinitionChanged => f.write_str("table definition is newer than the snapshot"),
            Error::TableChanged => f.write_str("table has changed since it was looked up"),
            Error::UndoFull(full) => full.fmt(f),
            Error::LogFull(error) => write!(f, "the redo log cannot grow: {error}"),
            Error::UndoNotSwapped(error) => write!(f, "undo cannot be swapped: {error}"),
            Error::VersionUnreadable(error) => write!(f, "an older version of a row cannot be read: {error}"),
            Error::VersionDamaged { trx } => {
                write!(f, "undo of {trx} restored from the redo log does not match its row")
            }
            Error::UndoUnreadable(error) => {
                write!(
                    f,
                    "changes cannot be undone until the next start, which does it from the redo log: {error}"
                )
            }
            Error::Memory(exceeded) => exceeded.fmt(f),
            Error::TempFile(error) => error.fmt(f),
            Error::SideLogFull { index } => {
                write!(f, "too many changes wait for the build of index '{index}'")
            }
            Error::SideLogDisagrees { index } => {
                write!(f, "a change of a row does not fit index '{index}', which is being built")
            }
            Error::AutoIncrementExhausted => f.write_str("auto increment has run out of numbers"),
            Error::Closed => f.write_str("engine is shut down"),
            Error::DataDir(error) => error.fmt(f),
            Error::Storage(error) => error.fmt(f),
            Error::Io(error) => error.fmt(f),
            Error::IndexDisagrees { index } => write!(f, "a row and its entry in {index} do not agree"),
            Error::Damaged(damaged) => damaged.fmt(f),
            Error::NotUndone { index, cause } => write!(f, "a change of {index} cannot be undone: {cause}"),
            Error::Forced => f.write_str("rows are not changed while innodb_force_recovery is not 0"),
            Error::UndoCorrupt { trx, lsn } => {
                write!(f, "redo log: the frame that ends at {lsn} has no undo of {trx} that can be read")
            }
            Error::DictionaryCorrupt { what } => write!(f, "dictionary record is damaged: {what}"),
            Error::NewerDefinition { table, tag } => write!(
                f,
                "the definition of {table} has field {tag}, which this server does not know: it needs a newer server"
            ),
        }
    }
}

impl fmt::Display for DataDirError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DataDirError::InUse(path) => {
                write!(f, "data directory {} is in use by another server", path.display())
            }
            DataDirError::UnknownFormat { path, found, supported } => write!(
                f,
                "data directory {} has format '{found}', this server knows format {supported}; it was not touched",
                path.display()
            ),
            DataDirError::Missing(path) => write!(f, "there is no data directory at {}", path.display()),
            DataDirError::FormatLost(path) => {
                let path = path.display();
                write!(f, "the data directory {path} has lost its file FORMAT; nothing in it was touched")
            }
            DataDirError::TwoDataFiles(path) => write!(
                f,
                "the data directory {} has data.pages and data.rdb, of which only one can be its page file; nothing in it \
                 was touched",
                path.display()
            ),
            DataDirError::NotADataDir(path) => {
                write!(f, "directory {} is not empty and is not a data directory", path.display())
            }
            DataDirError::NotClean(path) => write!(
                f,
                "data directory {} was not shut down cleanly: a start of the server recovers it",
                path.display()
            ),
            DataDirError::NoIdentity(path) => {
                write!(f, "data directory {} has a FORMAT file without its second line", path.display())
            }
            DataDirError::NotWritable(error) => write!(f, "data directory cannot be written: {error}"),
        }
    }
}

impl std::error::Error for Error {}

impl From<trx::Error> for Error {
    #[cold]
    fn from(error: trx::Error) -> Self {
        Error::Lock(error)
    }
}

impl From<buffer::Error> for Error {
    #[cold]
    fn from(error: buffer::Error) -> Self {
        Error::Storage(error.into())
    }
}

impl From<log::Error> for Error {
    #[cold]
    fn from(error: log::Error) -> Self {
        match error {
            log::Error::Interrupted => Error::Lock(trx::Error::Interrupted),
            log::Error::Full(error) => Error::LogFull(error),
            other => Error::Storage(other.into()),
        }
    }
}

impl From<space::Error> for Error {
    #[cold]
    fn from(error: space::Error) -> Self {
        match error {
            space::Error::Interrupted => Error::Lock(trx::Error::Interrupted),
            space::Error::Log(error) => (*error).into(),
            error => Error::Storage(error),
        }
    }
}

impl From<env::IoError> for Error {
    #[cold]
    fn from(error: env::IoError) -> Self {
        Error::Io(error)
    }
}

impl From<TempFileError> for Error {
    #[cold]
    fn from(error: TempFileError) -> Self {
        Error::TempFile(Box::new(error))
    }
}

impl From<DefinitionError> for Error {
    #[cold]
    fn from(error: DefinitionError) -> Self {
        Error::Definition(Box::new(error))
    }
}

impl From<NameError> for Error {
    #[cold]
    fn from(error: NameError) -> Self {
        Error::Name(Box::new(error))
    }
}

impl From<DataDirError> for Error {
    #[cold]
    fn from(error: DataDirError) -> Self {
        Error::DataDir(Box::new(error))
    }
}

#[cfg(test)]
mod tests {
    use base::PageNo;
    use page::{Corruption, CorruptionKind};

    use super::*;

    /// A query that meets one fails alone, where it once stopped the server.
    #[test]
    fn a_page_that_is_not_what_refers_to_it_is_a_corrupt_page() {
        let corruption = Corruption { page: PageNo(16), what: CorruptionKind::Overflow };
        assert!(Error::Storage(space::Error::Corruption(corruption)).is_corrupt_page());
        assert!(Error::IndexDisagrees { index: base::IndexId(70) }.is_corrupt_page());
        assert!(!Error::Storage(space::Error::FileFull).is_corrupt_page());
    }
}
