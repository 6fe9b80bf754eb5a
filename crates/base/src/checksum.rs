//! The one checksum for pages and log: CRC-32 (IEEE).

/// CRC-32 of `bytes`.
#[inline]
pub fn crc32(bytes: &[u8]) -> u32 {
    crc32fast::hash(bytes)
}

/// CRC-32 of several pieces as if they were one.
pub fn crc32_parts(parts: &[&[u8]]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    for part in parts {
        hasher.update(part);
    }
    hasher.finalize()
}

/// CRC-32 of bytes that come one piece after the other.
#[derive(Clone, Debug, Default)]
pub struct Crc32(crc32fast::Hasher);

impl Crc32 {
    /// Adds the next piece.
    pub fn update(&mut self, piece: &[u8]) {
        self.0.update(piece);
    }

    /// The checksum of all pieces.
    pub fn finish(self) -> u32 {
        self.0.finalize()
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn parts_equal_the_whole() {
        assert_eq!(super::crc32(b"123456789"), 0xcbf4_3926);
        assert_eq!(super::crc32_parts(&[b"1234", b"", b"56789"]), 0xcbf4_3926);
        let mut crc = super::Crc32::default();
        crc.update(b"123");
        crc.update(b"456789");
        assert_eq!(crc.finish(), 0xcbf4_3926);
    }
}
