//! MySQL's errors for what the storage engine refuses.

use engine::{DamagedIndex, DefinitionError, DuplicateKey, DuplicatePart, Error, NameError, TempFileError};
use trx::SwapError;
use types::value::bytes_for_message;
use types::{Charset, LobSize, SqlType, TextEncoder, TimeZone, TypeKind};

use crate::error_map::{self, SqlError};
use crate::memory_error;

/// Most characters of a key in the text of 1062.
const KEY_TEXT_CHARS_MAX: usize = 64;

/// The client's error for `error`; key values in its text are shown in `zone`.
#[cold]
pub(crate) fn sql_error(error: &Error, zone: &TimeZone) -> SqlError {
    match error {
        Error::DuplicateKey(key) => duplicate_key(key, zone),
        Error::Lock(error) => lock_error(*error),
        Error::RecordChanged { table } => error_map::CHECKREAD.with(&[table]),
        Error::RowTooLarge { limit } => error_map::TOO_BIG_ROWSIZE.with(&[limit]),
        Error::KeyTooLong { limit } => error_map::TOO_LONG_KEY.with(&[limit]),
        Error::Definition(error) => definition_error(error),
        Error::Name(error) => name_error(error),
        Error::TableDefinitionChanged | Error::TableChanged => error_map::TABLE_DEF_CHANGED.bare(),
        Error::UndoFull(full) => {
            error_map::RECORD_FILE_FULL.with_message(format!("The {full} (ratchet_undo_max_size)"))
        }
        Error::LogFull(_) => error_map::RECORD_FILE_FULL.with(&[&"redo log"]),
        Error::UndoNotSwapped(error) if error.is_out_of_space() => {
            error_map::DISK_FULL.with(&[&error.path.display(), &error.errno, &error.kind])
        }
        Error::UndoNotSwapped(error) => {
            error_map::ERROR_ON_WRITE.with(&[&error.path.display(), &error.errno, &error.kind])
        }
        Error::VersionUnreadable(error) => match &**error {
            SwapError::Io(error) => {
                error_map::ERROR_ON_READ.with(&[&error.path.display(), &error.errno, &error.kind])
            }
            SwapError::Damaged { file, .. } => {
                error_map::ERROR_ON_READ.with(&[&file.display(), &0, &"not what was written"])
            }
        },
        Error::Memory(exceeded) => memory_error::of(*exceeded),
        Error::TempFile(error) => temp_file_error(error),
        Error::SideLogFull { index } => error_map::INNODB_ONLINE_LOG_TOO_BIG.with(&[index]),
        Error::AutoIncrementExhausted => error_map::AUTOINC_READ_FAILED.bare(),
        Error::Storage(space::Error::RecordTooLarge { max, .. }) => error_map::TOO_BIG_ROWSIZE.with(&[max]),
        Error::Storage(space::Error::FileFull) => error_map::RECORD_FILE_FULL.with(&[&"data.pages"]),
        Error::Damaged(damaged) => damaged_index(damaged),
        Error::Forced => error_map::INNODB_FORCED_RECOVERY.bare(),
        Error::Closed => error_map::SERVER_SHUTDOWN.bare(),
        other => error_map::INTERNAL_ERROR.with(&[other]),
    }
}

/// The client's error for one that names no key values.
#[cold]
pub fn plain(error: &Error) -> SqlError {
    sql_error(error, &TimeZone::utc())
}

/// MySQL's text, and which page it is: that of a table for the clustered index, without which nothing of the
/// table can be used.
fn damaged_index(damaged: &DamagedIndex) -> SqlError {
    let DamagedIndex { schema, table, index, is_clustered, why } = damaged;
    if *is_clustered {
        let known = error_map::TABLE_CORRUPT.with(&[schema, table]);
        return error_map::TABLE_CORRUPT.with_message(format!("{} (index {index}: {why})", known.message));
    }
    let known = error_map::INDEX_CORRUPT.with(&[index]);
    error_map::INDEX_CORRUPT.with_message(format!("{} (table {schema}.{table}: {why})", known.message))
}

fn temp_file_error(error: &TempFileError) -> SqlError {
    match error {
        TempFileError::Io(error) if error.op == env::IoOp::Read => {
            error_map::ERROR_ON_READ.with(&[&error.path.display(), &error.errno, &error.kind])
        }
        TempFileError::Damaged { file, .. } => {
            error_map::ERROR_ON_READ.with(&[&file.display(), &0, &"not what was written"])
        }
        _ => error_map::TEMP_FILE_WRITE_FAILURE.bare(),
    }
}

fn lock_error(error: trx::Error) -> SqlError {
    match error {
        trx::Error::LockWaitTimeout => error_map::LOCK_WAIT_TIMEOUT.bare(),
        trx::Error::LockNowait => error_map::LOCK_NOWAIT.bare(),
        trx::Error::Deadlock => error_map::LOCK_DEADLOCK.bare(),
        trx::Error::Interrupted => error_map::QUERY_INTERRUPTED.bare(),
        trx::Error::ShuttingDown => error_map::SERVER_SHUTDOWN.bare(),
        trx::Error::ReadOnlyTransaction => error_map::CANT_EXECUTE_IN_READ_ONLY_TRANSACTION.bare(),
        other => error_map::INTERNAL_ERROR.with(&[&other]),
    }
}

fn definition_error(error: &DefinitionError) -> SqlError {
    match error {
        DefinitionError::RowSize { limit } => error_map::TOO_BIG_ROWSIZE.with(&[limit]),
        DefinitionError::KeyTooLong { limit } => error_map::TOO_LONG_KEY.with(&[limit]),
        DefinitionError::TooManyKeyParts { limit } => error_map::TOO_MANY_KEY_PARTS.with(&[limit]),
        DefinitionError::TooManyKeys { limit } => error_map::TOO_MANY_KEYS.with(&[limit]),
        DefinitionError::TooManyColumns => error_map::TOO_MANY_FIELDS.bare(),
        DefinitionError::NoColumns => error_map::TABLE_MUST_HAVE_COLUMNS.bare(),
        DefinitionError::KeyColumnMissing { column } => error_map::KEY_COLUMN_DOES_NOT_EXIST.with(&[column]),
        DefinitionError::DuplicateKeyName { name } => error_map::DUP_KEYNAME.with(&[name]),
        DefinitionError::DuplicateColumn { name } => error_map::DUP_FIELDNAME.with(&[name]),
        DefinitionError::MultiplePrimaryKeys => error_map::MULTIPLE_PRI_KEY.bare(),
        DefinitionError::AutoColumnNotKey => error_map::WRONG_AUTO_KEY.bare(),
        DefinitionError::BlobKeyWithoutLength { column } => {
            error_map::BLOB_KEY_WITHOUT_LENGTH.with(&[column])
        }
        DefinitionError::PrimaryKeyNullable => error_map::PRIMARY_CANT_HAVE_NULL.bare(),
        DefinitionError::WrongPrefix => error_map::WRONG_SUB_KEY.bare(),
        DefinitionError::WrongKeyName { name } => error_map::WRONG_NAME_FOR_INDEX.with(&[name]),
        DefinitionError::NoSuchKey { name } => error_map::CANT_DROP_FIELD_OR_KEY.with(&[name]),
        DefinitionError::NotSupported { what } => error_map::NOT_SUPPORTED_YET.with(&[what]),
        other => error_map::INTERNAL_ERROR.with_message(format!("Internal error: {other:?}")),
    }
}

fn name_error(error: &NameError) -> SqlError {
    match error {
        NameError::UnknownSchema(name) => error_map::BAD_DB.with(&[name]),
        NameError::SchemaExists(name) => error_map::DB_CREATE_EXISTS.with(&[name]),
        NameError::NoSchemaToDrop(name) => error_map::DB_DROP_EXISTS.with(&[name]),
        NameError::NoSuchTable { schema, table } => error_map::NO_SUCH_TABLE.with(&[schema, table]),
        NameError::NoTableToDrop { schema, table } => {
            error_map::BAD_TABLE.with(&[&format!("{schema}.{table}")])
        }
        NameError::TableExists(name) => error_map::TABLE_EXISTS.with(&[name]),
        other => error_map::INTERNAL_ERROR.with_message(format!("Internal error: {other:?}")),
    }
}

fn duplicate_key(key: &DuplicateKey, zone: &TimeZone) -> SqlError {
    let parts: Vec<String> = key.parts.iter().map(|part| part_text(part, zone)).collect();
    let mut text = String::new();
    for part in &parts {
        // As in MySQL, nothing parts a value from empty ones before it.
        text.push_str(if text.is_empty() { "" } else { "-" });
        text.push_str(part);
    }
    if let Some((cut, _)) = text.char_indices().nth(KEY_TEXT_CHARS_MAX) {
        text.truncate(cut);
    }
    error_map::DUP_ENTRY.with(&[&text, &format!("{}.{}", key.table, key.index)])
}

/// A key's value as a query shows it; characters as messages show them.
fn part_text(part: &DuplicatePart, zone: &TimeZone) -> String {
    let Some(bytes) = &part.value else {
        return "NULL".to_owned();
    };
    let mut text = Vec::new();
    TextEncoder::new(&part.ty).write(bytes, zone, &mut text);
    let charset = match part.ty.kind {
        TypeKind::Bit => Charset::Binary,
        _ if part.ty.is_string() || part.ty.members.is_some() => part.ty.charset(),
        _ => Charset::Ascii,
    };
    if let Some(chars) = part.prefix_len.filter(|&chars| part.ty.is_string() && !shows_whole(&part.ty, chars))
    {
        text.truncate(charset.byte_offset_of_char(&text, usize::from(chars)));
    }
    if part.ty.kind == TypeKind::Binary {
        // The bytes that the column is padded with, except for the first.
        let end = text.iter().rposition(|&byte| byte != 0).map_or(1, |last| last + 1);
        text.truncate(end);
    }
    bytes_for_message(&text, charset)
}

/// Whether MySQL shows the whole value, though a key has but a prefix: it does of a TEXT or BLOB whose
/// characters have one byte, if the prefix is not shorter than the column's length and pointer.
fn shows_whole(ty: &SqlType, prefix_chars: u16) -> bool {
    let length_bytes = match ty.kind {
        TypeKind::Text(size) | TypeKind::Blob(size) => match size {
            LobSize::Tiny => 1,
            LobSize::Normal => 2,
            LobSize::Medium => 3,
            LobSize::Long => 4,
        },
        _ => return false,
    };
    ty.max_char_bytes() == 1 && prefix_chars >= length_bytes + 8
}

#[cfg(test)]
mod tests {
    use types::{CollationId, SqlType, TypeKind};

    use super::*;

    fn part(ty: SqlType, value: Option<&[u8]>, prefix_len: Option<u16>) -> DuplicatePart {
        DuplicatePart { ty, prefix_len, value: value.map(<[u8]>::to_vec) }
    }

    #[test]
    fn duplicate_keys_show_their_parts() {
        let parts = vec![
            part(SqlType::new(TypeKind::TinyInt, 4), Some(&[7]), None),
            part(SqlType::varchar(9, CollationId::LATIN1_SWEDISH_CI), Some(b"\xe4bcd"), Some(2)),
            part(SqlType::new(TypeKind::VarBinary, 3), Some(b"a\0"), None),
            part(SqlType::bigint(), None, None),
        ];
        let key = DuplicateKey { table: "t".into(), index: "k".into(), parts };
        let error = sql_error(&Error::DuplicateKey(Box::new(key)), &TimeZone::utc());
        assert_eq!(error.message, "Duplicate entry '7-\u{e4}b-a\\x00-NULL' for key 't.k'");
    }

    #[test]
    fn missing_tables_are_named_with_their_schema() {
        let name = NameError::NoTableToDrop { schema: "s".into(), table: "t".into() };
        let error = sql_error(&name.into(), &TimeZone::utc());
        assert_eq!((error.code, error.message.as_str()), (1051, "Unknown table 's.t'"));
    }
}
