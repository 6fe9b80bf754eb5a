//! Telling ASCII text from other text.

/// Bytes that are read together.
const BLOCK: usize = 32;

/// The bits of a word that ASCII does not have.
const HIGH_BITS: u64 = 0x8080_8080_8080_8080;

/// Whether all bytes are ASCII, as [`slice::is_ascii`] says, which reads the last bytes of a long text one
/// by one.
#[inline]
pub fn is_ascii(bytes: &[u8]) -> bool {
    let Some(last) = bytes.last_chunk::<BLOCK>() else { return is_short_ascii(bytes) };
    // The last block overlaps the one before it.
    let blocks = bytes.as_chunks::<BLOCK>().0.iter();
    blocks.fold(bits_of(last), |bits, block| bits | bits_of(block)) & HIGH_BITS == 0
}

/// [`is_ascii`] of less than a block.
#[inline]
fn is_short_ascii(bytes: &[u8]) -> bool {
    if let (Some(first), Some(last)) = (bytes.first_chunk::<16>(), bytes.last_chunk::<16>()) {
        return (bits_of(first) | bits_of(last)) & HIGH_BITS == 0;
    }
    if let (Some(first), Some(last)) = (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
        return (bits_of(first) | bits_of(last)) & HIGH_BITS == 0;
    }
    bytes.iter().fold(0, |bits, byte| bits | byte) < 0x80
}

/// The bits that any word of a block has.
#[inline]
fn bits_of(block: &[u8]) -> u64 {
    block.as_chunks::<8>().0.iter().fold(0, |bits, word| bits | u64::from_le_bytes(*word))
}

#[cfg(test)]
mod tests {
    use super::is_ascii;

    #[test]
    fn one_byte_that_is_not_ascii_is_found_wherever_it_stands() {
        for len in 0..200 {
            let mut text = vec![0x7f; len];
            assert!(is_ascii(&text), "{len} bytes");
            for at in 0..len {
                text[at] = 0x80;
                assert_eq!(is_ascii(&text), text.is_ascii(), "byte {at} of {len}");
                text[at] = 0x7f;
            }
        }
    }
}
