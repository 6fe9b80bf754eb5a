//! Text rows: every value as a length-encoded string.
//!
//! A row is one packet: [`OutBuffer::begin_packet`], one `put_*` per column, [`OutBuffer::end_packet`].
//! Values that already are text go in with [`OutBuffer::put_lenenc_bytes`].

use crate::OutBuffer;

/// Bytes that [`store_i64`] and [`store_u64`] may store.
pub const INTEGER_TEXT_BYTES: usize = 21;

/// Stores a signed integer in decimal behind its length at the start of `bytes`; how many bytes that are.
#[inline]
pub fn store_i64(bytes: &mut [u8], value: i64) -> usize {
    store_short_text(bytes, itoa::Buffer::new().format(value).as_bytes())
}

/// As [`store_i64`], of an unsigned integer.
#[inline]
pub fn store_u64(bytes: &mut [u8], value: u64) -> usize {
    store_short_text(bytes, itoa::Buffer::new().format(value).as_bytes())
}

#[inline]
fn store_short_text(bytes: &mut [u8], text: &[u8]) -> usize {
    debug_assert!(text.len() < bytes.len(), "{} bytes for text of {}", bytes.len(), text.len());
    if let Some((length, rest)) = bytes.split_first_mut()
        && let Some(place) = rest.get_mut(..text.len())
    {
        *length = text.len() as u8;
        place.copy_from_slice(text);
    }
    1 + text.len()
}

impl OutBuffer {
    /// Appends NULL.
    #[inline]
    pub fn put_text_null(&mut self) {
        self.put_u8(0xfb);
    }

    /// Appends a signed integer in decimal.
    #[inline]
    pub fn put_text_i64(&mut self, value: i64) {
        let mut digits = itoa::Buffer::new();
        self.put_short_text(digits.format(value).as_bytes());
    }

    /// Appends an unsigned integer in decimal.
    #[inline]
    pub fn put_text_u64(&mut self, value: u64) {
        let mut digits = itoa::Buffer::new();
        self.put_short_text(digits.format(value).as_bytes());
    }

    /// Appends text of at most 250 bytes, whose length takes one byte.
    #[inline]
    pub fn put_short_text(&mut self, text: &[u8]) {
        debug_assert!(text.len() <= 250, "length needs more than one byte");
        self.put_u8(text.len() as u8);
        self.put_bytes(text);
    }

    /// Appends text that `write` produces, at most 250 bytes: no copy, the length is filled in afterwards.
    #[inline]
    pub fn put_text_with(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let bytes = self.bytes_mut();
        let at = bytes.len();
        bytes.push(0);
        write(bytes);
        let n = bytes.len() - at - 1;
        debug_assert!(n <= 250, "length needs more than one byte");
        if let Some(length) = bytes.get_mut(at) {
            *length = n as u8;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_length_encoded_text() {
        let mut out = OutBuffer::new();
        out.begin_packet();
        out.put_text_null();
        out.put_text_i64(-12);
        out.put_text_u64(u64::MAX);
        out.put_text_with(|bytes| bytes.extend_from_slice(b"xyz"));
        out.put_lenenc_bytes(b"");
        out.end_packet();
        assert_eq!(out.pending(), b"\x1f\0\0\0\xfb\x03-12\x1418446744073709551615\x03xyz\0".as_slice());
    }
}
