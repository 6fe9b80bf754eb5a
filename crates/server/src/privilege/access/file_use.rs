//! Files on the server's machine that statements read and write.

use sql::ast::{Into, Statement};

/// Whether `statement` reads a file on the server's machine or writes one.
pub(crate) fn file_use(statement: &Statement<'_>) -> FileUse {
    match statement {
        Statement::Query(query) if matches!(query.into, Some(Into::Outfile(_) | Into::Dumpfile(_))) => {
            FileUse::Writes
        }
        Statement::LoadData(load) if !load.local => FileUse::Reads,
        _ => FileUse::None,
    }
}

/// A statement's use of files on the server's machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileUse {
    None,
    Reads,
    Writes,
}
