//! Frames in the bytes of a log file: docs/redo_log.md, sections 1 and 2.

use base::checksum::crc32;
use base::codec::{get_u32, get_u64};

/// Bytes before the first frame of a log file, and where among them the position of that frame is.
const FILE_HEADER_BYTES: usize = 4096;
const FIRST_LSN: usize = 40;
/// Bytes of a frame before its payload.
pub(crate) const FRAME_HEADER_BYTES: usize = 8;

/// A frame: where it begins in the file, and the bytes of its payload.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FramePlace {
    pub(crate) from: usize,
    pub(crate) len: usize,
}

impl FramePlace {
    /// The payload's bytes.
    pub(crate) fn payload(self) -> std::ops::Range<usize> {
        self.from + FRAME_HEADER_BYTES..self.from + FRAME_HEADER_BYTES + self.len
    }
}

/// The frames of a file that begins with one.
pub(crate) fn frames(log: &[u8]) -> Vec<FramePlace> {
    let (mut frames, mut from) = (Vec::new(), FILE_HEADER_BYTES);
    while let Some(header) = log.get(from..from + FRAME_HEADER_BYTES) {
        let len = get_u32(header, 0) as usize;
        if len == 0 || log.len() - from - FRAME_HEADER_BYTES < len {
            break;
        }
        frames.push(FramePlace { from, len });
        from += FRAME_HEADER_BYTES + len;
    }
    frames
}

/// Stamps the checksum of a frame again.
pub(crate) fn stamp(log: &mut [u8], frame: FramePlace) {
    let lsn = get_u64(log, FIRST_LSN) + (frame.from - FILE_HEADER_BYTES) as u64;
    let sum = frame_sum(lsn, &log[frame.payload()]);
    log[frame.from + 4..frame.from + 8].copy_from_slice(&sum.to_le_bytes());
}

/// The checksum of a payload in a frame at `lsn`.
pub(crate) fn frame_sum(lsn: u64, payload: &[u8]) -> u32 {
    let salt = (lsn ^ (payload.len() as u64) << 32).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    crc32(payload) ^ salt as u32
}
