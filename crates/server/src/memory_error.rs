//! MySQL's errors for memory that is not to be had.

use base::memory::{Exceeded, Purpose};

use crate::error_map::{self, SqlError};

/// The client's error for memory that it may not have.
#[cold]
pub(crate) fn of(exceeded: Exceeded) -> SqlError {
    match exceeded {
        Exceeded::Statement(Purpose::Sort) => error_map::OUT_OF_SORTMEMORY.bare(),
        Exceeded::Connection { limit, used } => error_map::DA_CONN_LIMIT.with(&[&limit, &used]),
        Exceeded::AllConnections { limit, used } => error_map::DA_GLOBAL_CONN_LIMIT.with(&[&limit, &used]),
        Exceeded::Statement(Purpose::Other) | Exceeded::Session | Exceeded::Server => {
            error_map::OUT_OF_RESOURCES.bare()
        }
    }
}
