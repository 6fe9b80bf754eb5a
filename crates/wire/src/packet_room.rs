//! Many small packets in a row, stored into room made beforehand.

use crate::OutBuffer;
use crate::out_buffer::{BODY_BYTES_MAX, HEADER_BYTES};

/// Room after the packets of an [`OutBuffer`], being filled with packets.
#[derive(Debug)]
pub struct PacketRoom<'o> {
    /// What is left of it; its contents mean nothing.
    rest: &'o mut [u8],
    sequence: u8,
}

impl OutBuffer {
    /// Appends the packets that `store` stores, which take at most `room` bytes with their headers.
    #[inline(always)]
    pub fn packets(&mut self, room: usize, store: impl FnOnce(&mut PacketRoom<'_>)) {
        let sequence = self.sequence();
        let rest = self.room(room);
        let before = rest.len();
        let mut packets = PacketRoom { rest, sequence };
        store(&mut packets);
        let (stored, sequence) = (before - packets.rest.len(), packets.sequence);
        self.advance(stored);
        self.set_sequence(sequence);
    }
}

impl PacketRoom<'_> {
    /// Appends a packet. `write` stores its body, of less than [`BODY_BYTES_MAX`], at the start of the room
    /// that it is given, and gives back what is behind it. Cost: about 10 instructions.
    #[inline(always)]
    pub fn packet(&mut self, write: impl FnOnce(&mut [u8]) -> &mut [u8]) {
        let (header, room) = std::mem::take(&mut self.rest).split_at_mut(HEADER_BYTES);
        let before = room.len();
        let rest = write(room);
        let len = before - rest.len();
        debug_assert!(len < BODY_BYTES_MAX, "a packet of {len} bytes has to be split");
        header.copy_from_slice(&(len as u32 | u32::from(self.sequence) << 24).to_le_bytes());
        self.sequence = self.sequence.wrapping_add(1);
        self.rest = rest;
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
        for body in &bodies {
            plain.begin_packet();
            plain.put_bytes(body);
            plain.end_packet();
        }
        roomy.packets(40 * (HEADER_BYTES + 300), |packets| {
            for body in &bodies {
                packets.packet(|room| {
                    let (place, rest) = room.split_at_mut(body.len());
                    place.copy_from_slice(body);
                    rest
                });
            }
        });
        assert_eq!(roomy.pending(), plain.pending());
        assert_eq!(roomy.sequence(), plain.sequence());
    }
}
