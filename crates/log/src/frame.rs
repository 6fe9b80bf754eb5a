//! Frames: what is around a payload, and its checksum.
//!
//! | OFFSET | SIZE | FIELD                                                     |
//! |--------|------|-----------------------------------------------------------|
//! | 0      | 4    | length of the payload in bytes, at least 1                |
//! | 4      | 4    | CRC-32 of the payload, XOR salt of position and length |
//! | 8      | len  | payload                                                   |

use base::Lsn;
use base::checksum::{crc32, crc32_parts};
use base::codec::{get_u32, put_u32};

/// Bytes before a frame's payload.
pub const FRAME_HEADER_BYTES: u64 = 8;

/// Most bytes of a payload.
pub const PAYLOAD_BYTES_MAX: u64 = 1 << 30;

pub(crate) type FrameHeader = [u8; FRAME_HEADER_BYTES as usize];

/// What a frame's position and length add to its checksum: 32 bits, unlike for the positions at which a
/// recycled file has held frames. Added last, so that the checksum of the payload is computed before the
/// position is known.
#[inline]
fn salt(lsn: Lsn, len: u32) -> u32 {
    ((lsn.0 ^ u64::from(len) << 32).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u32
}

/// A frame's header except for its position: the part of the work that needs no coordination.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FrameSum {
    len: u32,
    crc: u32,
}

impl FrameSum {
    /// Of the payload that `front` and `back` make up.
    #[inline]
    pub(crate) fn of(front: &[u8], back: &[u8]) -> Self {
        let crc = if front.is_empty() { crc32(back) } else { crc32_parts(&[front, back]) };
        FrameSum { len: (front.len() + back.len()) as u32, crc }
    }

    /// Bytes of the whole frame.
    #[inline]
    pub(crate) fn frame_bytes(self) -> u64 {
        FRAME_HEADER_BYTES + u64::from(self.len)
    }

    /// The header of the frame that begins at `lsn`.
    #[inline]
    pub(crate) fn header(self, lsn: Lsn) -> FrameHeader {
        let mut header = [0; FRAME_HEADER_BYTES as usize];
        put_u32(&mut header, 0, self.len);
        put_u32(&mut header, 4, self.crc ^ salt(lsn, self.len));
        header
    }
}

/// The payload length that a frame header states; `None` if no frame can have it.
pub(crate) fn stated_len(header: &FrameHeader) -> Option<u64> {
    let len = u64::from(get_u32(header, 0));
    (1..=PAYLOAD_BYTES_MAX).contains(&len).then_some(len)
}

/// Whether `payload` is what the header at `lsn` vouches for.
pub(crate) fn is_whole(header: &FrameHeader, lsn: Lsn, payload: &[u8]) -> bool {
    FrameSum::of(&[], payload).header(lsn) == *header
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_checks_at_its_own_position_only() {
        let header = FrameSum::of(b"pay", b"load").header(Lsn(8192));
        assert_eq!(stated_len(&header), Some(7));
        assert!(is_whole(&header, Lsn(8192), b"payload"));
        assert!(!is_whole(&header, Lsn(8192), b"paylaod"));
        for other in [8191, 8193, 8192 + (1 << 20), 8192 + (1 << 32), 0] {
            assert!(!is_whole(&header, Lsn(other), b"payload"), "{other}");
        }
    }

    #[test]
    fn the_pieces_of_a_payload_do_not_show() {
        let whole = FrameSum::of(b"", b"payload").header(Lsn(1));
        assert_eq!(FrameSum::of(b"payl", b"oad").header(Lsn(1)), whole);
        assert_eq!(FrameSum::of(b"payload", b"").header(Lsn(1)), whole);
    }

    #[test]
    fn zeros_are_no_frame() {
        assert_eq!(stated_len(&[0; 8]), None);
    }
}
