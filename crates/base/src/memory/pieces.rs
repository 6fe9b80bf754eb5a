//! Copies of long values that end soon after their statement is interrupted.

use crate::sync::interrupt;

/// Bytes copied between two checks of the interrupt flag: a millisecond where memory is fresh.
const PIECE_BYTES: usize = 1 << 20;

/// Appends `bytes` to `out`, which should have room for them. False if the statement was interrupted: then
/// `out` has a part of them, and the caller has to fail. Cost beside the copy: a comparison for up to a MiB.
#[inline]
#[must_use]
pub fn append_in_pieces(bytes: &[u8], out: &mut Vec<u8>) -> bool {
    if bytes.len() <= PIECE_BYTES {
        out.extend_from_slice(bytes);
        return true;
    }
    append_long(bytes, out)
}

#[cold]
#[inline(never)]
fn append_long(bytes: &[u8], out: &mut Vec<u8>) -> bool {
    bytes.chunks(PIECE_BYTES).all(|piece| {
        out.extend_from_slice(piece);
        !interrupt::is_requested()
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    use super::*;

    #[test]
    fn a_long_value_is_copied_whole_or_the_interrupt_is_noticed() {
        let bytes: Vec<u8> = (0..3 * PIECE_BYTES + 5).map(|i| i as u8).collect();
        let mut out = vec![7];
        assert!(append_in_pieces(&bytes, &mut out));
        assert_eq!((out[0], &out[1..]), (7, &bytes[..]));
        interrupt::set_flag(Some(Arc::new(AtomicBool::new(true))));
        out.clear();
        assert!(append_in_pieces(&bytes[..PIECE_BYTES], &mut out));
        assert!(!append_in_pieces(&bytes, &mut out));
        interrupt::set_flag(None);
        assert_eq!(out.len(), 2 * PIECE_BYTES);
    }
}
