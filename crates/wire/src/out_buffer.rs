//! The buffer that a connection's answers are built in.

use std::io;

/// Bytes of one packet header: 3 of length, 1 of sequence number.
pub const HEADER_BYTES: usize = 4;
/// Number of the first packet of an answer to a command.
pub const FIRST_SEQUENCE: u8 = 1;
/// Longest body of one physical packet; a body of exactly this length is followed by another packet.
pub(crate) const BODY_BYTES_MAX: usize = 0xff_ffff;
/// Pending bytes from which on a result set should be sent before more rows are added.
pub(crate) const FLUSH_BYTES: usize = 32 * 1024;
/// Bytes that a new buffer has, and by whose multiples it grows.
const START_BYTES: usize = 4096;
/// Capacity kept between statements; a larger buffer is given back.
const KEPT_BYTES_MAX: usize = 1024 * 1024;

/// A position that the buffer can be cut back to with [`OutBuffer::rewind`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Mark {
    sent: u64,
    len: usize,
    sequence: u8,
}

/// All packets of an answer, back to back, in one growing allocation that lives as long as its connection.
///
/// Appending never fails; memory is bounded by flushing at [`FLUSH_BYTES`] between rows. Behind the packets
/// there is room that was written before: an append stores into it, and nothing is filled with zeros twice.
#[derive(Debug, Default)]
pub struct OutBuffer {
    /// The packets, then room.
    bytes: Vec<u8>,
    /// Where the room begins.
    len: usize,
    packet_at: usize,
    sequence: u8,
    sent: u64,
    answer: Mark,
    /// Text on its way into the buffer.
    text: Vec<u8>,
}

impl OutBuffer {
    /// An empty buffer.
    pub fn new() -> Self {
        OutBuffer { bytes: vec![0; START_BYTES], ..OutBuffer::default() }
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
        self.packet_at = self.len;
        self.store([0; HEADER_BYTES]);
    }

    /// Closes the packet opened last: fills in its header, and splits the body if it is too long for one
    /// packet.
    #[inline]
    pub fn end_packet(&mut self) {
        let body = self.len - self.packet_at - HEADER_BYTES;
        if body >= BODY_BYTES_MAX {
            self.split_packet();
            return;
        }
        self.put_header(self.packet_at, body);
    }

    /// Appends a whole packet; its first [`HEADER_BYTES`] are room for the header.
    #[inline]
    pub(crate) fn put_packet<const N: usize>(&mut self, mut packet: [u8; N]) {
        const { assert!(HEADER_BYTES <= N && N < BODY_BYTES_MAX, "a header fits, and one packet is enough") };
        let header = ((N - HEADER_BYTES) as u32 | u32::from(self.sequence) << 24).to_le_bytes();
        if let Some(place) = packet.first_chunk_mut() {
            *place = header;
        }
        self.store(packet);
        self.sequence = self.sequence.wrapping_add(1);
    }

    /// As [`OutBuffer::put_packet`] of a packet that continues with `rest`, together shorter than
    /// [`BODY_BYTES_MAX`].
    #[inline]
    pub fn put_packet_with<const N: usize>(&mut self, mut packet: [u8; N], rest: &[u8]) {
        const { assert!(HEADER_BYTES <= N && N < BODY_BYTES_MAX, "a header fits") };
        debug_assert!(N + rest.len() < BODY_BYTES_MAX, "one packet is enough");
        let body = N - HEADER_BYTES + rest.len();
        let header = (body as u32 | u32::from(self.sequence) << 24).to_le_bytes();
        if let Some(place) = packet.first_chunk_mut() {
            *place = header;
        }
        self.store(packet);
        self.put_bytes(rest);
        self.sequence = self.sequence.wrapping_add(1);
    }

    /// Appends `count` whole packets whose headers are numbered on from 1. Only as the first of an answer,
    /// whose number that is.
    #[inline]
    pub fn put_first_packets(&mut self, packets: &[u8], count: u8) {
        debug_assert_eq!(self.sequence, FIRST_SEQUENCE, "packets made for the start of an answer");
        self.put_bytes(packets);
        self.sequence = FIRST_SEQUENCE + count;
    }

    /// Drops the packet opened last.
    pub fn abandon_packet(&mut self) {
        self.len = self.len.min(self.packet_at);
    }

    #[inline]
    fn put_header(&mut self, at: usize, body: usize) {
        let header = (body as u32 | u32::from(self.sequence) << 24).to_le_bytes();
        if let Some(place) = self.bytes.get_mut(at..at + HEADER_BYTES) {
            place.copy_from_slice(&header);
        }
        self.sequence = self.sequence.wrapping_add(1);
    }

    /// Closes a packet of 16 MiB or more: moves the tail after each full part to make room for the next
    /// header.
    #[cold]
    #[expect(clippy::indexing_slicing, reason = "the packet was opened here")]
    fn split_packet(&mut self) {
        let whole = self.pending()[self.packet_at + HEADER_BYTES..].to_vec();
        self.abandon_packet();
        for part in whole.chunks(BODY_BYTES_MAX) {
            self.push_part(part);
        }
        if whole.len().is_multiple_of(BODY_BYTES_MAX) {
            self.push_part(&[]);
        }
    }

    fn push_part(&mut self, part: &[u8]) {
        let at = self.len;
        self.store([0; HEADER_BYTES]);
        self.put_bytes(part);
        self.put_header(at, part.len());
    }

    /// Complete packets not sent yet (and the open one, if any).
    #[inline]
    pub fn pending(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }

    /// Whether a producer of rows should have the buffer flushed before it continues.
    #[inline]
    pub fn wants_flush(&self) -> bool {
        self.len >= FLUSH_BYTES
    }

    /// Where the answer is; call between packets.
    #[inline]
    pub fn mark(&self) -> Mark {
        Mark { sent: self.sent, len: self.len, sequence: self.sequence }
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

    /// Removes every packet added since `mark`. False, and nothing removed, if some of it has been sent
    /// already.
    pub fn rewind(&mut self, mark: Mark) -> bool {
        if mark.sent != self.sent {
            return false;
        }
        self.len = self.len.min(mark.len);
        self.sequence = mark.sequence;
        true
    }

    /// Writes all pending packets to `target` with one `write_all` and empties the buffer. Call between
    /// packets.
    #[inline]
    pub fn flush_to<W: io::Write + ?Sized>(&mut self, target: &mut W) -> io::Result<()> {
        if self.len == 0 {
            return Ok(());
        }
        target.write_all(self.pending())?;
        self.sent += self.len as u64;
        self.len = 0;
        if self.bytes.len() > KEPT_BYTES_MAX {
            self.shrink();
        }
        Ok(())
    }

    #[cold]
    fn shrink(&mut self) {
        self.bytes = vec![0; FLUSH_BYTES];
        self.text = Vec::new();
    }

    /// At least `len` bytes after the packets, whose contents mean nothing. What is stored there counts once
    /// [`OutBuffer::advance`] says so.
    #[inline]
    pub(crate) fn room(&mut self, len: usize) -> &mut [u8] {
        if self.bytes.len() - self.len < len {
            self.grow(len);
        }
        self.bytes.get_mut(self.len..).unwrap_or_default()
    }

    /// The first `len` bytes of the room become part of the answer.
    #[inline]
    pub(crate) fn advance(&mut self, len: usize) {
        debug_assert!(len <= self.bytes.len() - self.len, "{len} bytes were not in the room");
        self.len += len;
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, len: usize) {
        let wanted = (self.len + len).max(2 * self.bytes.len()).next_multiple_of(START_BYTES);
        self.bytes.resize(wanted, 0);
    }

    /// Appends as many bytes as `N`.
    #[inline]
    pub(crate) fn store<const N: usize>(&mut self, bytes: [u8; N]) {
        if let Some(place) = self.room(N).first_chunk_mut() {
            *place = bytes;
        }
        self.advance(N);
    }

    /// Appends one byte.
    #[inline]
    pub fn put_u8(&mut self, value: u8) {
        self.store([value]);
    }

    /// Appends two bytes, little-endian.
    #[inline]
    pub fn put_u16(&mut self, value: u16) {
        self.store(value.to_le_bytes());
    }

    /// Appends four bytes, little-endian.
    #[inline]
    pub fn put_u32(&mut self, value: u32) {
        self.store(value.to_le_bytes());
    }

    /// Appends eight bytes, little-endian.
    #[inline]
    pub fn put_u64(&mut self, value: u64) {
        self.store(value.to_le_bytes());
    }

    /// Appends bytes as they are.
    #[inline]
    pub fn put_bytes(&mut self, bytes: &[u8]) {
        if let Some(place) = self.room(bytes.len()).get_mut(..bytes.len()) {
            place.copy_from_slice(bytes);
        }
        self.advance(bytes.len());
    }

    /// Appends `count` zeros; where they begin.
    pub(crate) fn put_zeros(&mut self, count: usize) -> usize {
        let at = self.len;
        if let Some(place) = self.room(count).get_mut(..count) {
            place.fill(0);
        }
        self.advance(count);
        at
    }

    /// Sets bits of a byte that was appended before.
    #[inline]
    pub(crate) fn set_bits(&mut self, at: usize, bits: u8) {
        if let Some(byte) = self.bytes.get_mut(at) {
            *byte |= bits;
        }
    }

    /// Appends texts, each after its length. Cost: a copy of each, where they are short.
    pub(crate) fn put_lenenc_texts<const N: usize>(&mut self, texts: [&str; N]) {
        const SHORT: usize = 0xfb;
        if texts.iter().any(|text| text.len() >= SHORT) {
            for text in texts {
                self.put_lenenc_bytes(text.as_bytes());
            }
            return;
        }
        let bytes = N + texts.iter().map(|text| text.len()).sum::<usize>();
        let mut place = self.room(bytes);
        for text in texts {
            let Some((len, behind)) = place.split_first_mut() else { return };
            let Some((to, rest)) = behind.split_at_mut_checked(text.len()) else { return };
            *len = text.len() as u8;
            to.copy_from_slice(text.as_bytes());
            place = rest;
        }
        self.advance(bytes);
    }

    /// Appends text that `write` produces, after its length. Cost: a copy.
    #[inline]
    pub fn put_text_with(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let mut text = std::mem::take(&mut self.text);
        text.clear();
        write(&mut text);
        self.put_lenenc_bytes(&text);
        self.text = text;
    }

    /// Appends bytes and a NUL.
    pub(crate) fn put_nul_bytes(&mut self, bytes: &[u8]) {
        self.put_bytes(bytes);
        self.put_u8(0);
    }

    /// Appends a length-encoded integer: 1, 3, 4 or 9 bytes.
    #[inline]
    #[expect(clippy::indexing_slicing, reason = "a length of at most 9")]
    pub(crate) fn put_lenenc_int(&mut self, value: u64) {
        if value < 0xfb {
            self.put_u8(value as u8);
        } else {
            let (bytes, len) = long_lenenc_int(value);
            self.put_bytes(&bytes[..len]);
        }
    }

    /// Appends bytes preceded by their length-encoded length.
    #[inline]
    pub fn put_lenenc_bytes(&mut self, bytes: &[u8]) {
        self.put_lenenc_int(bytes.len() as u64);
        self.put_bytes(bytes);
    }
}

/// Appends a length-encoded integer: 1, 3, 4 or 9 bytes.
#[inline]
#[expect(clippy::indexing_slicing, reason = "a length of at most 9")]
pub(crate) fn push_lenenc_int(out: &mut Vec<u8>, value: u64) {
    if value < 0xfb {
        out.push(value as u8);
    } else {
        let (bytes, len) = long_lenenc_int(value);
        out.extend_from_slice(&bytes[..len]);
    }
}

/// A length-encoded integer, and how many of the bytes it takes.
#[inline]
pub(crate) fn lenenc_int(value: u64) -> ([u8; 9], usize) {
    if value < 0xfb {
        return ([value as u8; 9], 1);
    }
    long_lenenc_int(value)
}

/// A length-encoded integer of more than one byte, and how many of the bytes it takes.
fn long_lenenc_int(value: u64) -> ([u8; 9], usize) {
    let (tag, len) = match value {
        0..=0xffff => (0xfc, 3),
        0x1_0000..=0xff_ffff => (0xfd, 4),
        _ => (0xfe, 9),
    };
    let mut bytes = [tag; 9];
    bytes[1..].copy_from_slice(&value.to_le_bytes());
    (bytes, len)
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
        for extra in [-1isize, 0, 1, BODY_BYTES_MAX as isize] {
            let body: Vec<u8> =
                (0..(BODY_BYTES_MAX as isize + extra) as usize).map(|i| (i % 251) as u8).collect();
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
