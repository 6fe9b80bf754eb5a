//! Many small packets in a row, stored into room made beforehand.

use crate::OutBuffer;
use crate::out_buffer::{HEADER_BYTES, MAX_BODY_BYTES};

/// Room that is made at a time: filling it with zeros costs a packet little, and a short answer not much.
const ROOM_BYTES: usize = 2048;

/// Room at the end of an [`OutBuffer`]. What is left of it goes when this is dropped.
#[derive(Debug)]
pub struct PacketRoom<'o> {
    out: &'o mut OutBuffer,
    /// End of the last packet.
    at: usize,
}

impl<'o> PacketRoom<'o> {
    /// Room behind what `out` holds.
    pub fn new(out: &'o mut OutBuffer) -> Self {
        let at = out.pending().len();
        PacketRoom { out, at }
    }

    /// Appends a packet. `write` stores its body at the start of `max_body` bytes, fewer than [`MAX_BODY_BYTES`], whose
    /// contents mean nothing, and says how many it stored.
    #[inline(always)]
    pub fn packet(&mut self, max_body: usize, write: impl FnOnce(&mut [u8]) -> usize) {
        debug_assert!(max_body < MAX_BODY_BYTES, "a packet of {max_body} bytes may have to be split");
        let end = self.at + HEADER_BYTES + max_body;
        if end > self.out.pending().len() {
            self.grow(end);
        }
        let sequence = self.out.sequence();
        if let Some(room) = self.out.bytes_mut().get_mut(self.at..end) {
            let (header, body) = room.split_at_mut(HEADER_BYTES);
            let len = write(body);
            header.copy_from_slice(&(len as u32 | u32::from(sequence) << 24).to_le_bytes());
            self.out.set_sequence(sequence.wrapping_add(1));
            self.at += HEADER_BYTES + len;
        }
    }

    #[cold]
    fn grow(&mut self, end: usize) {
        self.out.bytes_mut().resize(end.next_multiple_of(ROOM_BYTES), 0);
    }
}

impl Drop for PacketRoom<'_> {
    fn drop(&mut self) {
        self.out.bytes_mut().truncate(self.at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_those_of_the_buffer_itself() {
        let (mut plain, mut roomy) = (OutBuffer::new(), OutBuffer::new());
        for out in [&mut plain, &mut roomy] {
            out.set_sequence(250);
            out.begin_packet();
            out.put_bytes(b"before");
            out.end_packet();
        }
        let bodies: Vec<Vec<u8>> = (0..40).map(|n| vec![n as u8; n * 7]).collect();
        let mut room = PacketRoom::new(&mut roomy);
        for body in &bodies {
            plain.begin_packet();
            plain.put_bytes(body);
            plain.end_packet();
            room.packet(body.len() + 100, |bytes| {
                bytes[..body.len()].copy_from_slice(body);
                body.len()
            });
        }
        drop(room);
        assert_eq!(roomy.pending(), plain.pending());
        assert_eq!(roomy.sequence(), plain.sequence());
    }
}
