//! MySQL's errors for memory that is not to be had.

use base::memory::{LimitExceeded, Purpose};

use crate::error_map::{self, SqlError};

/// The client's error for memory that it may not have.
#[cold]
pub(crate) fn of(exceeded: LimitExceeded) -> SqlError {
    match exceeded {
        LimitExceeded::Statement(Purpose::Sort) => error_map::OUT_OF_SORTMEMORY.bare(),
        LimitExceeded::Connection { limit, used } => error_map::DA_CONN_LIMIT.with(&[&limit, &used]),
        LimitExceeded::AllConnections { limit, used } => {
            error_map::DA_GLOBAL_CONN_LIMIT.with(&[&limit, &used])
        }
        LimitExceeded::Statement(Purpose::Other) | LimitExceeded::Session | LimitExceeded::Server => {
            error_map::OUT_OF_RESOURCES.bare()
        }
    }
}
