//! Errors in bytes that a client sent.

use std::fmt;

/// A packet that cannot be accepted. The connection that sent it is beyond repair, except where a variant
/// says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The packet ended before its field `what` did, or holds a value that the protocol forbids.
    Malformed {
        /// The field.
        what: &'static str,
    },
    /// The packet (or the sum of its parts) is longer than the limit. Maps to ER_NET_PACKET_TOO_LARGE.
    PacketTooLarge {
        /// The limit in force, in bytes.
        limit: usize,
    },
    /// The sequence number is not the next one. Maps to ER_NET_PACKETS_OUT_OF_ORDER.
    OutOfOrder {
        /// Number expected.
        expected: u8,
        /// Number received.
        got: u8,
    },
    /// A frame's body does not decompress to what its header declares. Maps to ER_NET_UNCOMPRESS_ERROR.
    CorruptFrame,
    /// The client asked for TLS although it was not offered.
    TlsNotOffered,
    /// The client speaks the protocol of before MySQL 4.1. Maps to ER_NOT_SUPPORTED_AUTH_MODE.
    ProtocolTooOld,
    /// A parameter type that no MySQL client sends. The connection may continue.
    UnknownParameterType {
        /// Type byte.
        code: u8,
    },
    /// COM_STMT_EXECUTE without parameter types although none were ever bound. The connection may continue.
    ParametersNotBound,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Malformed { what } => write!(f, "malformed packet: {what}"),
            Error::PacketTooLarge { limit } => write!(f, "packet larger than {limit} bytes"),
            Error::OutOfOrder { expected, got } => {
                write!(f, "packet sequence number {got} where {expected} was due")
            }
            Error::CorruptFrame => f.write_str("frame that does not decompress to its declared length"),
            Error::TlsNotOffered => f.write_str("client asked for TLS, which was not offered"),
            Error::ProtocolTooOld => f.write_str("client speaks a protocol older than 4.1"),
            Error::UnknownParameterType { code } => write!(f, "unknown parameter type {code}"),
            Error::ParametersNotBound => f.write_str("statement executed before its parameters were bound"),
        }
    }
}

impl std::error::Error for Error {}
