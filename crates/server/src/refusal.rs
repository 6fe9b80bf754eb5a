//! Why clients are not let in, and MySQL's errors for packets that cannot be accepted.

use crate::error_map::{self, ErrorKind, SqlError};
use crate::socket::ReadError;

/// Why a client was not let in.
#[derive(Debug)]
pub enum Refusal {
    /// It is gone.
    Lost,
    /// The client gets an error.
    Error(SqlError),
}

impl From<SqlError> for Refusal {
    fn from(error: SqlError) -> Self {
        Refusal::Error(error)
    }
}

impl From<ReadError> for Refusal {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Closed | ReadError::Incomplete => Refusal::Lost,
            ReadError::TimedOut => Refusal::Error(error_map::NET_READ_INTERRUPTED.bare()),
            ReadError::Malformed(error) => Refusal::Error(protocol_error(&error)),
        }
    }
}

/// The MySQL error for a packet that cannot be accepted.
#[cold]
pub(crate) fn protocol_error(error: &wire::Error) -> SqlError {
    match error {
        wire::Error::UnknownParameterType { .. } | wire::Error::ParametersNotBound => {
            error_map::WRONG_ARGUMENTS.with(&[&"mysqld_stmt_execute"])
        }
        error => packet_error(error).bare(),
    }
}

/// The MySQL error for a packet that ends its connection.
#[cold]
pub(crate) fn packet_error(error: &wire::Error) -> &'static ErrorKind {
    match error {
        wire::Error::PacketTooLarge { .. } => &error_map::NET_PACKET_TOO_LARGE,
        wire::Error::OutOfOrder { .. } => &error_map::NET_PACKETS_OUT_OF_ORDER,
        wire::Error::CorruptFrame => &error_map::NET_UNCOMPRESS_ERROR,
        wire::Error::ProtocolTooOld => &error_map::NOT_SUPPORTED_AUTH_MODE,
        _ => &error_map::HANDSHAKE_ERROR,
    }
}
