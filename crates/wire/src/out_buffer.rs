//! The buffer that a connection's answers are built in.

use std::io;

/// Bytes of one packet header: 3 of length, 1 of sequence number.
pub const HEADER_BYTES: usize = 4;
/// Number of the first packet of an answer to a command.
pub const FIRST_SEQUENCE: u8 = 1;
/// Longest body of one physical packet; a body of exactly this length is followed by another packet.
pub const MAX_BODY_BYTES: usize = 0xff_ffff;
/// Pending bytes from which on a result set should be sent before more rows are added.
pub const FLUSH_BYTES: usize = 32 * 1024;
/// Capacity kept between statements; a larger buffer is given back.
const KEEP_BYTES: usize = 1024 * 1024;

/// A position that the buffer can be cut back to with [`OutBuffer::rewind`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Mark {
    sent: u64,
    len: usize,
    sequence: u8,
}

/// All packets of an answer, back to back, in one growing allocation that lives as long as its connection.
///
/// Appending never fails; memory is bounded by flushing at [`FLUSH_BYTES`] between rows.
#[derive(Debug, Default)]
pub struct OutBuffer {
    bytes: Vec<u8>,
    packet_at: usize,
    sequence: u8,
    sent: u64,
    answer: Mark,
}

impl OutBuffer {
    /// An empty buffer with room for one flush.
    pub fn new() -> Self {
        OutBuffer { bytes: Vec::with_capacity(FLUSH_BYTES), ..OutBuffer::default() }
    }

    /// Number that the next packet will carry: the number after that of the packet being answered.
    #[inline]
    pub fn set_sequence(&mut self, next: u8) {
        self.sequence = next;
    }

    /// Number that the next packet will carry.
    #[inline]
    pub fn sequence(&self) -> u8 {
        self.sequence
    }

    /// Opens a packet: leaves room for its header.
    #[inline]
    pub fn begin_packet(&mut self) {
        self.packet_at = self.bytes.len();
        self.bytes.extend_from_slice(&[0; HEADER_BYTES]);
    }

    /// Closes the packet opened last: fills in its header, and splits the body if it is too long for one packet.
    #[inline]
    pub fn end_packet(&mut self) {
        let body = self.bytes.len() - self.packet_at - HEADER_BYTES;
        if body >= MAX_BODY_BYTES {
            self.split_packet();
            return;
        }
        self.put_header(self.packet_at, body);
    }

    /// Appends a whole packet; its first [`HEADER_BYTES`] are room for the header.
    #[inline]
    pub fn put_packet<const N: usize>(&mut self, mut packet: [u8; N]) {
        const { assert!(HEADER_BYTES <= N && N < MAX_BODY_BYTES, "a header fits, and one packet is enough") };
        let header = ((N - HEADER_BYTES) as u32 | u32::from(self.sequence) << 24).to_le_bytes();
        if let Some(place) = packet.first_chunk_mut() {
            *place = header;
        }
        self.bytes.extend_from_slice(&packet);
        self.sequence = self.sequence.wrapping_add(1);
    }

    /// Appends `count` whole packets whose headers are numbered on from 1. Only as the first of an answer, whose number
    /// that is.
    #[inline]
    pub fn put_first_packets(&mut self, packets: &[u8], count: u8) {
        debug_assert_eq!(self.sequence, FIRST_SEQUENCE, "packets made for the start of an answer");
        self.bytes.extend_from_slice(packets);
        self.sequence = FIRST_SEQUENCE + count;
    }

    /// Drops the packet opened last.
    pub fn abandon_packet(&mut self) {
        self.bytes.truncate(self.packet_at);
    }

    #[inline]
    fn put_header(&mut self, at: usize, body: usize) {
        let header = (body as u32 | u32::from(self.sequence) << 24).to_le_bytes();
        if let Some(place) = self.bytes.get_mut(at..at + HEADER_BYTES) {
            place.copy_from_slice(&header);
        }
        self.sequence = self.sequence.wrapping_add(1);
    }

    /// Closes a packet of 16 MiB or more: moves the tail behind each full part to make room for the next header.
    #[cold]
    fn split_packet(&mut self) {
        let whole = self.bytes.split_off(self.packet_at + HEADER_BYTES);
        self.bytes.truncate(self.packet_at);
        for part in whole.chunks(MAX_BODY_BYTES) {
            self.push_part(part);
        }
        if whole.len().is_multiple_of(MAX_BODY_BYTES) {
            self.push_part(&[]);
        }
    }

    fn push_part(&mut self, part: &[u8]) {
        let at = self.bytes.len();
        self.bytes.extend_from_slice(&[0; HEADER_BYTES]);
        self.bytes.extend_from_slice(part);
        self.put_header(at, part.len());
    }

    /// The bytes not sent yet; hot encoders append to them directly, inside an open packet.
    #[inline]
    pub fn bytes_mut(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// Complete packets not sent yet (and the open one, if any).
    #[inline]
    pub fn pending(&self) -> &[u8] {
        &self.bytes
    }

    /// Whether a producer of rows should have the buffer flushed before it goes on.
    #[inline]
    pub fn wants_flush(&self) -> bool {
        self.bytes.len() >= FLUSH_BYTES
    }

    /// Where the answer stands; call between packets.
    #[inline]
    pub fn mark(&self) -> Mark {
        Mark { sent: self.sent, len: self.bytes.len(), sequence: self.sequence }
    }

    /// Starts the answer to a command, whose first packet has number `next`; call between packets.
    #[inline]
    pub fn begin_answer(&mut self, next: u8) {
        self.sequence = next;
        self.answer = self.mark();
    }

    /// As [`OutBuffer::rewind`], to where the answer started.
    pub fn rewind_answer(&mut self) -> bool {
        self.rewind(self.answer)
    }

    /// Removes every packet added since `mark`. False, and nothing removed, if some of it has been sent already.
    pub fn rewind(&mut self, mark: Mark) -> bool {
        if mark.sent != self.sent {
            return false;
        }
        self.bytes.truncate(mark.len);
        self.sequence = mark.sequence;
        true
    }

    /// Writes all pending packets to `target` with one `write_all` and empties the buffer. Call between packets.
    #[inline]
    pub fn flush_to<W: io::Write + ?Sized>(&mut self, target: &mut W) -> io::Result<()> {
        if self.bytes.is_empty() {
            return Ok(());
        }
        target.write_all(&self.bytes)?;
        self.sent += self.bytes.len() as u64;
        self.bytes.clear();
        if self.bytes.capacity() > KEEP_BYTES {
            self.shrink();
        }
        Ok(())
    }

    #[cold]
    fn shrink(&mut self) {
        self.bytes.shrink_to(FLUSH_BYTES);
    }

    /// Bytes sent over the life of the connection.
    pub fn sent_bytes(&self) -> u64 {
        self.sent
    }

    /// Appends one byte.
    #[inline]
    pub fn put_u8(&mut self, value: u8) {
        self.bytes.push(value);
    }

    /// Appends two bytes, little-endian.
    #[inline]
    pub fn put_u16(&mut self, value: u16) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    /// Appends four bytes, little-endian.
    #[inline]
    pub fn put_u32(&mut self, value: u32) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    /// Appends eight bytes, little-endian.
    #[inline]
    pub fn put_u64(&mut self, value: u64) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    /// Appends bytes as they are.
    #[inline]
    pub fn put_bytes(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Appends bytes and a NUL.
    pub fn put_nul_bytes(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        self.bytes.push(0);
    }

    /// Appends a length-encoded integer.
    #[inline]
    pub fn put_lenenc_int(&mut self, value: u64) {
        push_lenenc_int(&mut self.bytes, value);
    }

    /// Appends bytes preceded by their length-encoded length.
    #[inline]
    pub fn put_lenenc_bytes(&mut self, bytes: &[u8]) {
        push_lenenc_int(&mut self.bytes, bytes.len() as u64);
        self.bytes.extend_from_slice(bytes);
    }
}

/// Appends a length-encoded integer: 1, 3, 4 or 9 bytes.
#[inline]
pub fn push_lenenc_int(out: &mut Vec<u8>, value: u64) {
    if value < 0xfb {
        out.push(value as u8);
    } else {
        push_long_lenenc_int(out, value);
    }
}

fn push_long_lenenc_int(out: &mut Vec<u8>, value: u64) {
    let raw = value.to_le_bytes();
    let [a, b, c, ..] = raw;
    match value {
        0..=0xffff => out.extend_from_slice(&[0xfc, a, b]),
        0x1_0000..=0xff_ffff => out.extend_from_slice(&[0xfd, a, b, c]),
        _ => {
            out.push(0xfe);
            out.extend_from_slice(&raw);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PacketReader, decode::Decoder};

    #[test]
    fn headers_carry_length_and_rising_sequence() {
        let mut out = OutBuffer::new();
        out.set_sequence(254);
        for body in [&b"abc"[..], b"", b"z"] {
            out.begin_packet();
            out.put_bytes(body);
            out.end_packet();
        }
        assert_eq!(out.pending(), b"\x03\0\0\xfeabc\0\0\0\xff\x01\0\0\0z");
    }

    #[test]
    fn bodies_around_the_split_length_are_read_back_whole() {
        for extra in [-1isize, 0, 1, MAX_BODY_BYTES as isize] {
            let body: Vec<u8> =
                (0..(MAX_BODY_BYTES as isize + extra) as usize).map(|i| (i % 251) as u8).collect();
            let mut out = OutBuffer::new();
            out.begin_packet();
            out.put_bytes(&body);
            out.end_packet();
            let mut reader = PacketReader::new(64 << 20);
            let mut rest = out.pending();
            while !reader.advance().unwrap() {
                let space = reader.space();
                let n = space.len().min(rest.len());
                assert!(n > 0, "ran dry");
                space[..n].copy_from_slice(&rest[..n]);
                reader.filled(n);
                rest = &rest[n..];
            }
            assert!(reader.packet() == body, "body changed");
            assert_eq!(reader.next_sequence(), out.sequence());
            assert!(rest.is_empty());
        }
    }

    #[test]
    fn an_unsent_half_answer_can_be_replaced() {
        let mut out = OutBuffer::new();
        let mark = out.mark();
        out.begin_packet();
        out.put_u8(1);
        out.end_packet();
        assert!(out.rewind(mark));
        assert!(out.pending().is_empty());
        assert_eq!(out.sequence(), 0);
        out.begin_packet();
        out.end_packet();
        out.flush_to(&mut Vec::new()).unwrap();
        assert!(!out.rewind(mark));
    }

    #[test]
    fn length_encoded_integers_round_trip() {
        for value in [0, 250, 251, 252, 65_535, 65_536, 0xff_ffff, 0x100_0000, u64::MAX] {
            let mut bytes = Vec::new();
            push_lenenc_int(&mut bytes, value);
            assert_eq!(Decoder::new(&bytes).lenenc_int("n"), Ok(value));
        }
    }
}
