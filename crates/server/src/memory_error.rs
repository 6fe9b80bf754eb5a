//! MySQL's errors for memory that is not to be had.

use base::memory::{LimitExceeded, Purpose};

use crate::error_map::{self, SqlError};

/// The client's error for memory that it may not have.
#[cold]
pub(crate) fn of(exceeded: LimitExceeded) -> SqlError {
    match exceeded {
        LimitExceeded::Statement(Purpose::Sort) => error_map::OUT_OF_SORTMEMORY.bare(),
        LimitExceeded::Connection { limit_bytes, used_bytes } => {
            error_map::DA_CONN_LIMIT.with(&[&limit_bytes, &used_bytes])
        }
        LimitExceeded::AllConnections { limit_bytes, used_bytes } => {
            error_map::DA_GLOBAL_CONN_LIMIT.with(&[&limit_bytes, &used_bytes])
        }
        LimitExceeded::Statement(Purpose::Other) | LimitExceeded::Session | LimitExceeded::Server => {
            error_map::OUT_OF_RESOURCES.bare()
        }
    }
}
