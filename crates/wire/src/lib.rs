//! MySQL's client/server protocol as pure bytes: framing, messages, value encodings and authentication
//! exchanges.
//!
//! No sockets and no SQL live here. A connection feeds received bytes to a [`PacketReader`] and writes
//! everything it answers into one [`OutBuffer`], which the caller sends whole: one receive and one send per
//! statement.
//!
//! Invariants:
//! 1. Bytes from outside are decoded by [`decode::Decoder`] alone. It never panics: every malformed packet
//!    ends in [`Error`], and after a packet was decoded nothing re-checks it.
//! 2. A packet is opened by [`OutBuffer::begin_packet`] and closed by [`OutBuffer::end_packet`], never
//!    nested. Its header is written when it closes; a body of 16 MiB or more is split there.
//! 3. Passwords and their hashes never appear in errors or debug output.
//!
//! # Source
//! The MySQL internals manual's protocol chapters, and the observed traffic of 25 clients.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::indexing_slicing))]
#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod auth;
pub mod capability;
pub mod change_user;
pub mod column;
pub mod command;
pub mod decode;
mod error;
pub mod execute;
pub mod frame;
pub mod greeting;
pub mod handshake;
pub mod out_buffer;
pub mod packet_reader;
mod packet_room;
pub mod prepare;
pub mod reply;
pub mod row_binary;
pub mod row_text;
pub mod temporal;

pub use capability::Capabilities;
pub use column::{ColumnDefinition, ColumnType, ResultCharset};
pub use command::Command;
pub use error::Error;
pub use out_buffer::OutBuffer;
pub use packet_reader::PacketReader;
pub use packet_room::PacketRoom;
pub use reply::{OkPacket, ServerStatus};
pub use temporal::{BinaryDateTime, BinaryTime};
