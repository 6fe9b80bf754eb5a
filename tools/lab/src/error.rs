//! What can go wrong in the lab.

use std::path::PathBuf;

/// The lab's errors. Those of a single cell are kept in the journal as text; these end a run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file or directory of the lab's own cannot be used.
    #[error("{path}: {source}")]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The configuration says something that cannot be done.
    #[error("{0}")]
    Config(String),
    /// A program that the lab runs is missing or failed.
    #[error("{program}: {what}")]
    Program {
        /// Its name.
        program: String,
        /// What it said, or that it is not there.
        what: String,
    },
    /// A server refused something, or is not there.
    #[error("{target}: {what}")]
    Server {
        /// The target's name.
        target: String,
        /// The server's words, or the connection's error.
        what: String,
    },
    /// Ctrl-C: what is measured is kept.
    #[error("interrupted; what is measured is kept, and the same call goes on from there")]
    Interrupted,
}

/// Result with the lab's error.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// For `map_err` on file operations.
    pub(crate) fn file(path: &std::path::Path) -> impl FnOnce(std::io::Error) -> Error + use<> {
        let path = path.to_owned();
        move |source| Error::File { path, source }
    }
}
