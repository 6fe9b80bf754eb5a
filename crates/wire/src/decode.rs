//! Bounds-checked reading of packets: the only code that reads bytes from outside.

use crate::Error;

/// Reads fields off the front of a packet.
#[derive(Clone, Copy, Debug)]
pub struct Decoder<'a> {
    rest: &'a [u8],
}

impl<'a> Decoder<'a> {
    /// Starts at the front of `packet`.
    #[inline]
    pub fn new(packet: &'a [u8]) -> Self {
        Decoder { rest: packet }
    }

    /// What has not been read yet.
    #[inline]
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Whether everything has been read.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// The next `n` bytes.
    #[inline]
    pub fn bytes(&mut self, n: usize, what: &'static str) -> Result<&'a [u8], Error> {
        match self.rest.split_at_checked(n) {
            Some((head, rest)) => {
                self.rest = rest;
                Ok(head)
            }
            None => Err(malformed(what)),
        }
    }

    /// The next `N` bytes as an array.
    #[inline]
    pub fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], Error> {
        match self.rest.split_first_chunk::<N>() {
            Some((head, rest)) => {
                self.rest = rest;
                Ok(*head)
            }
            None => Err(malformed(what)),
        }
    }

    /// One byte.
    #[inline]
    pub fn u8(&mut self, what: &'static str) -> Result<u8, Error> {
        self.array::<1>(what).map(|[b]| b)
    }

    /// Two bytes, little-endian.
    #[inline]
    pub fn u16(&mut self, what: &'static str) -> Result<u16, Error> {
        self.array(what).map(u16::from_le_bytes)
    }

    /// Four bytes, little-endian.
    #[inline]
    pub fn u32(&mut self, what: &'static str) -> Result<u32, Error> {
        self.array(what).map(u32::from_le_bytes)
    }

    /// Eight bytes, little-endian.
    #[inline]
    pub fn u64(&mut self, what: &'static str) -> Result<u64, Error> {
        self.array(what).map(u64::from_le_bytes)
    }

    /// A length-encoded integer. The NULL marker 0xFB and the reserved 0xFF are refused.
    #[inline]
    pub fn lenenc_int(&mut self, what: &'static str) -> Result<u64, Error> {
        match self.u8(what)? {
            first @ 0..=0xfa => Ok(u64::from(first)),
            0xfc => self.u16(what).map(u64::from),
            0xfd => {
                let [a, b, c] = self.array(what)?;
                Ok(u64::from(u32::from_le_bytes([a, b, c, 0])))
            }
            0xfe => self.u64(what),
            _ => Err(malformed(what)),
        }
    }

    /// A string preceded by its length-encoded length.
    #[inline]
    pub fn lenenc_bytes(&mut self, what: &'static str) -> Result<&'a [u8], Error> {
        let n = self.lenenc_int(what)?;
        let n = usize::try_from(n).map_err(|_| malformed(what))?;
        self.bytes(n, what)
    }

    /// A string that ends at a NUL byte, or at the end of the packet: several clients leave the last NUL out.
    pub(crate) fn nul_bytes(&mut self) -> &'a [u8] {
        let mut parts = self.rest.splitn(2, |&b| b == 0);
        let head = parts.next().unwrap_or_default();
        self.rest = parts.next().unwrap_or_default();
        head
    }
}

/// Builds the error for field `what`.
#[cold]
pub(crate) fn malformed(what: &'static str) -> Error {
    Error::Malformed { what }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn length_encoded_integers_of_every_width_are_read() {
        let bytes = [0xfa, 0xfc, 0xfb, 0, 0xfd, 1, 2, 3, 0xfe, 1, 0, 0, 0, 0, 0, 0, 0x80];
        let mut d = Decoder::new(&bytes);
        assert_eq!(d.lenenc_int("a"), Ok(0xfa));
        assert_eq!(d.lenenc_int("b"), Ok(0xfb));
        assert_eq!(d.lenenc_int("c"), Ok(0x0003_0201));
        assert_eq!(d.lenenc_int("d"), Ok(0x8000_0000_0000_0001));
        assert!(d.is_empty());
    }

    #[test]
    fn null_and_reserved_markers_are_not_lengths() {
        for first in [0xfb, 0xff] {
            assert_eq!(Decoder::new(&[first, 1, 2]).lenenc_int("n"), Err(malformed("n")));
        }
    }

    #[test]
    fn a_length_beyond_the_packet_is_refused() {
        let bytes = [0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, b'x'];
        assert_eq!(Decoder::new(&bytes).lenenc_bytes("s"), Err(malformed("s")));
        assert_eq!(Decoder::new(&[3, b'x']).lenenc_bytes("s"), Err(malformed("s")));
    }

    #[test]
    fn a_string_ends_at_its_nul_or_at_the_end() {
        let mut d = Decoder::new(b"ab\0cd");
        assert_eq!(d.nul_bytes(), b"ab");
        assert_eq!(d.nul_bytes(), b"cd");
        assert_eq!(d.nul_bytes(), b"");
    }
}
