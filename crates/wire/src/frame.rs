//! Headers of the compressed protocol: a frame holds a stretch of the packet stream, compressed or not.
//!
//! ```text
//! 3 bytes  length of the frame's body
//! 1 byte   sequence number of the frame
//! 3 bytes  length of the body once decompressed; 0: the body is not compressed
//! ```
//! Packets and frames need not end together. Clients count frames and ignore the numbers of the packets
//! inside.

/// Bytes of a frame's header.
pub const FRAME_HEADER_BYTES: usize = 7;
/// Shorter bodies are not compressed.
pub const COMPRESSED_BYTES_MIN: usize = 50;

/// A frame's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameHeader {
    /// Length of the body in bytes, at most 16 MiB - 1.
    pub body: u32,
    /// Sequence number.
    pub sequence: u8,
    /// Length of the decompressed body in bytes, at most 16 MiB - 1; 0: the body is not compressed.
    pub decompressed: u32,
}

impl FrameHeader {
    /// Decodes a header.
    pub fn decode(bytes: [u8; FRAME_HEADER_BYTES]) -> Self {
        let [b0, b1, b2, sequence, d0, d1, d2] = bytes;
        let body = u32::from_le_bytes([b0, b1, b2, 0]);
        FrameHeader { body, sequence, decompressed: u32::from_le_bytes([d0, d1, d2, 0]) }
    }

    /// Encodes the header.
    pub fn encode(self) -> [u8; FRAME_HEADER_BYTES] {
        let [b0, b1, b2, _] = self.body.to_le_bytes();
        let [d0, d1, d2, _] = self.decompressed.to_le_bytes();
        [b0, b1, b2, self.sequence, d0, d1, d2]
    }

    /// Bytes of the packet stream that the frame holds.
    pub fn content(self) -> u32 {
        if self.decompressed == 0 { self.body } else { self.decompressed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_have_their_documented_layout() {
        let header = FrameHeader { body: 0x03_02_01, sequence: 0xfe, decompressed: 0xff_ff_fe };
        let bytes = [1, 2, 3, 0xfe, 0xfe, 0xff, 0xff];
        assert_eq!(header.encode(), bytes);
        assert_eq!(FrameHeader::decode(bytes), header);
        assert_eq!(header.content(), 0xff_ff_fe);
        assert_eq!(FrameHeader { decompressed: 0, ..header }.content(), 0x03_02_01);
    }
}
