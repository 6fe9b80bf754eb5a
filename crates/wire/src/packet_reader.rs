//! Cutting a stream of received bytes into packets.

use crate::Error;
use crate::decode::malformed;
use crate::out_buffer::{BODY_BYTES_MAX, HEADER_BYTES};

/// Size of the receive buffer: header and body of nearly every statement arrive with one receive.
const BUFFER_BYTES: usize = 16 * 1024;
/// Size of the receive buffer from a packet longer than [`BUFFER_BYTES`] to the next one that is not.
const STREAM_BYTES: usize = 256 * 1024;
/// Capacity kept for long packets between statements.
const KEPT_BYTES_MAX: usize = 1024 * 1024;

/// Where the current packet's body is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Body {
    /// None is complete.
    None,
    /// In the receive buffer.
    Here { start: usize, end: usize },
    /// In the assembly buffer, except for this number of bytes of the part that arrives, and for another part
    /// if one follows.
    Part { missing: usize, another: bool },
    /// In the assembly buffer.
    Assembled,
}

/// Packets out of a receive buffer that the caller fills.
///
/// ```text
/// loop {
///     while !reader.advance()? { let n = recv(reader.space())?; reader.filled(n); }
///     handle(reader.packet());
/// }
/// ```
/// Packets that arrived together are handed out without another receive. A packet longer than the buffer, or
/// split into parts of 16 MiB, is assembled in a second buffer that grows with the bytes that really arrive:
/// a forged length costs nothing.
#[derive(Debug)]
pub struct PacketReader {
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    assembled: Vec<u8>,
    body: Body,
    /// The last packet was a long one: the next one may be.
    after_long: bool,
    sequence: u8,
    /// Packets may carry any number.
    ignores_numbers: bool,
    /// Packets of more bytes in all their parts are refused.
    bytes_max: usize,
}

impl PacketReader {
    /// A reader that refuses packets of more than `bytes_max` bytes in all their parts.
    pub fn new(bytes_max: usize) -> Self {
        PacketReader {
            buffer: vec![0; BUFFER_BYTES],
            start: 0,
            end: 0,
            assembled: Vec::new(),
            body: Body::None,
            after_long: false,
            sequence: 0,
            ignores_numbers: false,
            bytes_max,
        }
    }

    /// Changes the limit on packets to come.
    pub fn set_bytes_max(&mut self, bytes_max: usize) {
        self.bytes_max = bytes_max;
    }

    /// Accepts packets of any number from now on: frames that carry them are counted in their place.
    #[cold]
    pub fn ignore_numbers(&mut self) {
        self.ignores_numbers = true;
    }

    /// A command begins: its first packet carries number 0.
    #[inline]
    pub fn begin_command(&mut self) {
        self.sequence = 0;
    }

    /// The number after that of the packet read last: the first number of its answer.
    #[inline]
    pub fn next_sequence(&self) -> u8 {
        self.sequence
    }

    /// The next packet carries this number (an exchange of several packets, as in authentication).
    #[inline]
    pub fn set_sequence(&mut self, next: u8) {
        self.sequence = next;
    }

    /// Where to receive to; never empty. Call when [`advance`](Self::advance) said that bytes are missing.
    #[inline]
    pub fn space(&mut self) -> &mut [u8] {
        if self.start != self.end || self.is_assembling() || self.buffer.len() != BUFFER_BYTES {
            return self.make_space();
        }
        self.start = 0;
        self.end = 0;
        &mut self.buffer
    }

    /// [`PacketReader::space`] inside a packet, or after a long one.
    fn make_space(&mut self) -> &mut [u8] {
        if self.start == self.end {
            self.start = 0;
            self.end = 0;
            if !self.is_assembling() && !self.after_long && self.buffer.len() > BUFFER_BYTES {
                self.buffer.truncate(BUFFER_BYTES);
                self.buffer.shrink_to_fit();
            }
        }
        if self.is_assembling() && self.buffer.len() < STREAM_BYTES {
            self.buffer.resize(STREAM_BYTES, 0);
        }
        if self.end == self.buffer.len() {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        self.buffer.get_mut(self.end..).unwrap_or_default()
    }

    /// `n` bytes were received into [`space`](Self::space).
    #[inline]
    pub fn filled(&mut self, n: usize) {
        self.end = (self.end + n).min(self.buffer.len());
    }

    /// Whether the packet read last was a short one, and nothing was received after it: the next packet
    /// begins with the next receive.
    #[inline]
    pub fn is_drained(&self) -> bool {
        self.start == self.end && matches!(self.body, Body::None | Body::Here { .. })
    }

    /// Moves to the packet that was received, if it is whole and all that was: so nearly every command comes.
    /// False: nothing was done; call [`advance`](Self::advance). For after the first receive since
    /// [`is_drained`](Self::is_drained).
    #[inline]
    pub fn advance_to_only(&mut self) -> bool {
        let received = self.buffer.get(..self.end).unwrap_or_default();
        let Some((header, body)) = received.split_first_chunk::<HEADER_BYTES>() else {
            return false;
        };
        let whole = body.len() as u32 | u32::from(self.sequence) << 24;
        if u32::from_le_bytes(*header) != whole || body.len() > self.bytes_max || self.end > BUFFER_BYTES {
            return false;
        }
        self.sequence = self.sequence.wrapping_add(1);
        self.after_long = false;
        self.body = Body::Here { start: HEADER_BYTES, end: self.end };
        self.start = self.end;
        true
    }

    /// Takes what was received after the current packet, which is gone then, too: it is no packet.
    #[cold]
    pub fn take_unread(&mut self) -> Vec<u8> {
        let early = self.buffer.get(self.start..self.end).unwrap_or_default().to_vec();
        (self.start, self.end, self.body) = (0, 0, Body::None);
        early
    }

    /// Moves to the next packet. False: bytes are missing, receive more and call again.
    ///
    /// # Errors
    /// [`Error::OutOfOrder`] and [`Error::PacketTooLarge`]; the connection must be closed.
    #[inline]
    pub fn advance(&mut self) -> Result<bool, Error> {
        match self.body {
            Body::None | Body::Here { .. } => {}
            Body::Part { .. } => return self.assemble(),
            Body::Assembled => self.forget_assembled(),
        }
        self.body = Body::None;
        if self.start == self.end {
            return Ok(false);
        }
        let Some((length, got)) = self.peek_header() else {
            return Ok(false);
        };
        self.expect_sequence(got)?;
        self.admit_length(length)?;
        let start = self.start + HEADER_BYTES;
        let end = start + length;
        if end - self.start > BUFFER_BYTES {
            return self.begin_assembly(length);
        }
        if end > self.end {
            return Ok(false);
        }
        self.sequence = got.wrapping_add(1);
        self.start = end;
        self.after_long = false;
        self.body = Body::Here { start, end };
        Ok(true)
    }

    /// The packet that [`advance`](Self::advance) moved to, without its header.
    #[inline]
    pub fn packet(&self) -> &[u8] {
        match self.body {
            Body::Here { start, end } => self.buffer.get(start..end).unwrap_or_default(),
            Body::Assembled => &self.assembled,
            Body::None | Body::Part { .. } => &[],
        }
    }

    /// Moves the packet into `into`, whose bytes are replaced, so that it outlives further reads. A long
    /// packet is not copied.
    pub fn take_packet(&mut self, into: &mut Vec<u8>) {
        into.clear();
        if self.body == Body::Assembled {
            std::mem::swap(into, &mut self.assembled);
        } else {
            into.extend_from_slice(self.packet());
        }
        self.body = Body::None;
    }

    /// Whether bytes beyond the current packet have been received already.
    #[inline]
    pub fn has_more(&self) -> bool {
        self.start != self.end
    }

    #[inline]
    fn is_assembling(&self) -> bool {
        matches!(self.body, Body::Part { .. })
    }

    #[cold]
    fn forget_assembled(&mut self) {
        self.assembled.clear();
        self.assembled.shrink_to(KEPT_BYTES_MAX);
    }

    #[inline]
    fn peek_header(&self) -> Option<(usize, u8)> {
        let received = self.buffer.get(self.start..self.end)?;
        let header = u32::from_le_bytes(*received.first_chunk::<HEADER_BYTES>()?);
        Some(((header & 0xff_ffff) as usize, (header >> 24) as u8))
    }

    #[inline]
    fn expect_sequence(&self, got: u8) -> Result<(), Error> {
        if got == self.sequence || self.ignores_numbers {
            return Ok(());
        }
        Err(Error::OutOfOrder { expected: self.sequence, got })
    }

    #[inline]
    fn admit_length(&self, part: usize) -> Result<(), Error> {
        if self.assembled.len() + part <= self.bytes_max {
            return Ok(());
        }
        Err(Error::PacketTooLarge { limit: self.bytes_max })
    }

    fn begin_assembly(&mut self, length: usize) -> Result<bool, Error> {
        self.start += HEADER_BYTES;
        self.sequence = self.sequence.wrapping_add(1);
        self.after_long = true;
        self.body = Body::Part { missing: length, another: length == BODY_BYTES_MAX };
        self.assemble()
    }

    /// Moves what was received of a long packet to the assembly buffer, over as many parts as have arrived.
    fn assemble(&mut self) -> Result<bool, Error> {
        while let Body::Part { missing, another } = self.body {
            let received = self.buffer.get(self.start..self.end).ok_or(malformed("packet"))?;
            if missing > 0 {
                let here = received.get(..missing).unwrap_or(received);
                self.assembled.extend_from_slice(here);
                self.start += here.len();
                self.body = Body::Part { missing: missing - here.len(), another };
                if here.len() < missing {
                    return Ok(false);
                }
            } else if another {
                let Some((length, got)) = self.peek_header() else {
                    return Ok(false);
                };
                self.expect_sequence(got)?;
                self.admit_length(length)?;
                self.start += HEADER_BYTES;
                self.sequence = got.wrapping_add(1);
                self.body = Body::Part { missing: length, another: length == BODY_BYTES_MAX };
            } else {
                self.body = Body::Assembled;
            }
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests;
