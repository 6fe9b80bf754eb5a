//! The one checksum for pages and log: CRC-32 (IEEE).

/// So few bytes are summed one by one: the way to the code that sums long stretches costs more.
const SHORT_BYTES: usize = 12;

/// What each byte adds.
const STEPS: [u32; 256] = steps();

/// CRC-32 of `bytes`.
#[inline]
pub fn crc32(bytes: &[u8]) -> u32 {
    if bytes.len() <= SHORT_BYTES {
        return !bytes.iter().fold(!0, |crc, &byte| STEPS[usize::from(crc as u8 ^ byte)] ^ crc >> 8);
    }
    crc32fast::hash(bytes)
}

const fn steps() -> [u32; 256] {
    let mut steps = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = crc >> 1 ^ (0xedb8_8320 & (crc & 1).wrapping_neg());
            bit += 1;
        }
        steps[byte] = crc;
        byte += 1;
    }
    steps
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
    fn few_bytes_are_summed_as_many_are() {
        let bytes: Vec<u8> = (0..40u8).map(|i| i.wrapping_mul(167)).collect();
        for from in 0..8 {
            for to in from..bytes.len() {
                assert_eq!(super::crc32(&bytes[from..to]), crc32fast::hash(&bytes[from..to]), "{from}..{to}");
            }
        }
    }

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
