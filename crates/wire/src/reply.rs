//! OK, EOF, ERR and LOCAL INFILE packets.

use std::ops::{BitOr, BitOrAssign};

use crate::out_buffer::{lenenc_int, push_lenenc_int};
use crate::{Capabilities, OutBuffer};

/// Status flags, as in OK and EOF packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServerStatus(pub u16);

impl ServerStatus {
    /// A transaction is open.
    pub const IN_TRANS: Self = Self(0x0001);
    /// Autocommit is on.
    pub const AUTOCOMMIT: Self = Self(0x0002);
    /// Another result follows.
    pub const MORE_RESULTS: Self = Self(0x0008);
    /// NO_BACKSLASH_ESCAPES is in force.
    pub const NO_BACKSLASH_ESCAPES: Self = Self(0x0200);
    /// The open transaction is read-only.
    pub const IN_TRANS_READONLY: Self = Self(0x2000);
    /// The OK packet carries session state changes.
    pub(crate) const SESSION_STATE_CHANGED: Self = Self(0x4000);

    /// Whether every flag of `flags` is set.
    #[inline]
    pub fn has(self, flags: Self) -> bool {
        self.0 & flags.0 == flags.0
    }

    /// The set with `flags` added or removed.
    #[must_use]
    #[inline]
    pub fn with(self, flags: Self, on: bool) -> Self {
        if on { Self(self.0 | flags.0) } else { Self(self.0 & !flags.0) }
    }
}

impl BitOr for ServerStatus {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for ServerStatus {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

/// A change of session state that a client asked for (CLIENT_SESSION_TRACK).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateChange<'a> {
    /// A system variable has a new value.
    Variable {
        /// Name.
        name: &'a str,
        /// Value as text.
        value: &'a str,
    },
    /// The default database changed.
    Schema(&'a str),
}

/// The contents of an OK packet.
#[derive(Clone, Copy, Debug, Default)]
pub struct OkPacket<'a> {
    /// Rows changed (or found, under CLIENT_FOUND_ROWS).
    pub affected_rows: u64,
    /// AUTO_INCREMENT value generated, or 0.
    pub last_insert_id: u64,
    /// Status flags.
    pub status: ServerStatus,
    /// Number of warnings.
    pub warnings: u16,
    /// Human-readable summary such as `Rows matched: 1  Changed: 1  Warnings: 0`; empty: none.
    pub info: &'a [u8],
    /// State changes; sent only to clients with CLIENT_SESSION_TRACK.
    pub changes: &'a [StateChange<'a>],
}

/// Writes an OK packet that ends a statement without rows.
#[inline]
pub fn write_ok(out: &mut OutBuffer, capabilities: Capabilities, ok: &OkPacket<'_>) {
    write_ok_as(out, 0x00, capabilities, ok);
}

#[inline]
fn write_ok_as(out: &mut OutBuffer, header: u8, capabilities: Capabilities, ok: &OkPacket<'_>) {
    let small = ok.affected_rows < 0xfb && ok.last_insert_id < 0xfb;
    if small && ok.info.is_empty() && ok.changes.is_empty() {
        let (rows, id) = (ok.affected_rows as u8, ok.last_insert_id as u8);
        let ([s, t], [w, x]) = (ok.status.0.to_le_bytes(), ok.warnings.to_le_bytes());
        return out.put_packet([0, 0, 0, 0, header, rows, id, s, t, w, x]);
    }
    write_other_ok(out, header, capabilities, ok);
}

/// An OK packet that is not the shortest one.
#[inline(never)]
fn write_other_ok(out: &mut OutBuffer, header: u8, capabilities: Capabilities, ok: &OkPacket<'_>) {
    if ok.affected_rows < 0xfb && ok.changes.is_empty() {
        if ok.info.is_empty() {
            return write_ok_with_id(out, header, ok);
        }
        if ok.last_insert_id < 0xfb && ok.info.len() < 0xfb {
            return write_ok_with_info(out, header, ok);
        }
    }
    write_long_ok(out, header, capabilities, ok);
}

/// An OK packet without a message, with few rows and any id.
#[inline]
#[expect(clippy::indexing_slicing, reason = "an id of at most 9 bytes and four more")]
fn write_ok_with_id(out: &mut OutBuffer, header: u8, ok: &OkPacket<'_>) {
    let (id, len) = lenenc_int(ok.last_insert_id);
    let ([s, t], [w, x]) = (ok.status.0.to_le_bytes(), ok.warnings.to_le_bytes());
    let mut rest = [0; 13];
    rest[..9].copy_from_slice(&id);
    rest[len..len + 4].copy_from_slice(&[s, t, w, x]);
    out.put_packet_with([0, 0, 0, 0, header, ok.affected_rows as u8], &rest[..len + 4]);
}

/// An OK packet with a message and numbers that take a byte each.
#[inline]
fn write_ok_with_info(out: &mut OutBuffer, header: u8, ok: &OkPacket<'_>) {
    let (rows, id, info) = (ok.affected_rows as u8, ok.last_insert_id as u8, ok.info.len() as u8);
    let ([s, t], [w, x]) = (ok.status.0.to_le_bytes(), ok.warnings.to_le_bytes());
    out.put_packet_with([0, 0, 0, 0, header, rows, id, s, t, w, x, info], ok.info);
}

#[inline(never)]
fn write_long_ok(out: &mut OutBuffer, header: u8, capabilities: Capabilities, ok: &OkPacket<'_>) {
    out.begin_packet();
    put_ok_body(out, header, capabilities, ok);
    out.end_packet();
}

fn put_ok_body(out: &mut OutBuffer, header: u8, capabilities: Capabilities, ok: &OkPacket<'_>) {
    let changed = capabilities.has(Capabilities::SESSION_TRACK) && !ok.changes.is_empty();
    out.put_u8(header);
    out.put_lenenc_int(ok.affected_rows);
    out.put_lenenc_int(ok.last_insert_id);
    out.put_u16(ok.status.with(ServerStatus::SESSION_STATE_CHANGED, changed).0);
    out.put_u16(ok.warnings);
    if changed || !ok.info.is_empty() {
        out.put_lenenc_bytes(ok.info);
    }
    if changed {
        out.put_lenenc_bytes(&encode_changes(ok.changes));
    }
}

fn encode_changes(changes: &[StateChange<'_>]) -> Vec<u8> {
    let mut block = Vec::new();
    for change in changes {
        let (kind, fields) = match *change {
            StateChange::Variable { name, value } => (0u8, vec![name, value]),
            StateChange::Schema(name) => (1, vec![name]),
        };
        let mut data = Vec::new();
        for field in fields {
            push_lenenc_int(&mut data, field.len() as u64);
            data.extend_from_slice(field.as_bytes());
        }
        block.push(kind);
        push_lenenc_int(&mut block, data.len() as u64);
        block.extend_from_slice(&data);
    }
    block
}

/// Writes the number of columns that opens a result set.
pub fn write_column_count(out: &mut OutBuffer, columns: usize) {
    out.begin_packet();
    out.put_lenenc_int(columns as u64);
    out.end_packet();
}

/// Writes what is between column definitions and rows: an EOF packet, or nothing under
/// CLIENT_DEPRECATE_EOF.
#[inline]
pub fn write_columns_end(
    out: &mut OutBuffer,
    capabilities: Capabilities,
    status: ServerStatus,
    warnings: u16,
) {
    if !capabilities.has(Capabilities::DEPRECATE_EOF) {
        write_eof(out, status, warnings);
    }
}

/// Writes what ends the rows: an EOF packet, or an OK packet with header 0xFE under CLIENT_DEPRECATE_EOF.
#[inline]
pub fn write_rows_end(out: &mut OutBuffer, capabilities: Capabilities, status: ServerStatus, warnings: u16) {
    if !capabilities.has(Capabilities::DEPRECATE_EOF) {
        return write_eof(out, status, warnings);
    }
    write_ok_as(out, 0xfe, capabilities, &OkPacket { status, warnings, ..OkPacket::default() });
}

/// Writes an EOF packet in its old form.
#[inline]
pub(crate) fn write_eof(out: &mut OutBuffer, status: ServerStatus, warnings: u16) {
    let ([w, x], [s, t]) = (warnings.to_le_bytes(), status.0.to_le_bytes());
    out.put_packet([0, 0, 0, 0, 0xfe, w, x, s, t]);
}

/// Writes an ERR packet. `message` is cut to the 511 bytes that clients have room for, at a character
/// boundary.
#[cold]
pub fn write_error(out: &mut OutBuffer, code: u16, sqlstate: [u8; 5], message: &str) {
    out.begin_packet();
    out.put_u8(0xff);
    out.put_u16(code);
    out.put_u8(b'#');
    out.put_bytes(&sqlstate);
    out.put_bytes(cut_message(message).as_bytes());
    out.end_packet();
}

/// Writes an ERR packet as clients expect it before the handshake is over: without an SQLSTATE.
#[cold]
pub fn write_early_error(out: &mut OutBuffer, code: u16, message: &str) {
    out.begin_packet();
    out.put_u8(0xff);
    out.put_u16(code);
    out.put_bytes(cut_message(message).as_bytes());
    out.end_packet();
}

fn cut_message(message: &str) -> &str {
    message.get(..message.floor_char_boundary(511)).unwrap_or(message)
}

/// Writes the request for the content of file `name` (LOAD DATA LOCAL INFILE).
pub fn write_local_infile_request(out: &mut OutBuffer, name: &[u8]) {
    out.begin_packet();
    out.put_u8(0xfb);
    out.put_bytes(name);
    out.end_packet();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(write: impl FnOnce(&mut OutBuffer)) -> Vec<u8> {
        let mut out = OutBuffer::new();
        write(&mut out);
        out.pending().get(4..).unwrap_or_default().to_vec()
    }

    #[test]
    fn ok_leaves_out_an_empty_message() {
        let ok = OkPacket { affected_rows: 300, last_insert_id: 7, warnings: 2, ..OkPacket::default() };
        let bytes = body(|out| write_ok(out, Capabilities::OFFERED, &ok));
        assert_eq!(bytes, b"\0\xfc\x2c\x01\x07\0\0\x02\0");
    }

    #[test]
    fn a_short_ok_packet_is_what_the_long_way_writes() {
        for (affected_rows, last_insert_id) in [(0, 0), (250, 3), (251, 0), (1, 251), (70_000, u64::MAX)] {
            let status = ServerStatus::AUTOCOMMIT | ServerStatus::IN_TRANS;
            for info in [&b""[..], b"Rows matched: 1", &[b'x'; 250], &[b'x'; 251]] {
                let changes = &[];
                let ok = OkPacket { affected_rows, last_insert_id, status, warnings: 515, info, changes };
                let (mut short, mut long) = (OutBuffer::new(), OutBuffer::new());
                write_ok(&mut short, Capabilities::OFFERED, &ok);
                write_long_ok(&mut long, 0, Capabilities::OFFERED, &ok);
                assert_eq!((short.pending(), short.sequence()), (long.pending(), long.sequence()));
            }
        }
    }

    #[test]
    fn state_changes_follow_the_message() {
        let changes = [StateChange::Schema("db"), StateChange::Variable { name: "a", value: "b" }];
        let ok = OkPacket { changes: &changes, ..OkPacket::default() };
        let bytes = body(|out| write_ok(out, Capabilities::OFFERED, &ok));
        assert_eq!(bytes, b"\0\0\0\0\x40\0\0\0\x0b\x01\x03\x02db\0\x04\x01a\x01b");
        let silent = body(|out| write_ok(out, Capabilities::default(), &ok));
        assert_eq!(silent, b"\0\0\0\0\0\0\0");
    }

    #[test]
    fn rows_end_in_the_form_the_client_asked_for() {
        let status = ServerStatus::AUTOCOMMIT;
        let old = body(|out| write_rows_end(out, Capabilities::default(), status, 1));
        assert_eq!(old, b"\xfe\x01\0\x02\0");
        let new = body(|out| write_rows_end(out, Capabilities::DEPRECATE_EOF, status, 1));
        assert_eq!(new, b"\xfe\0\0\x02\0\x01\0");
        assert!(body(|out| write_columns_end(out, Capabilities::DEPRECATE_EOF, status, 0)).is_empty());
    }

    #[test]
    fn long_messages_are_cut_between_characters() {
        let message = "\u{e9}".repeat(300);
        let bytes = body(|out| write_error(out, 1064, *b"42000", &message));
        assert_eq!(bytes.get(..9), Some(&b"\xff\x28\x04#42000"[..]));
        assert_eq!(bytes.len(), 9 + 510);
        assert!(std::str::from_utf8(bytes.get(9..).unwrap_or_default()).is_ok());
    }
}
