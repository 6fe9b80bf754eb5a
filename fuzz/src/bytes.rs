//! Decisions read from an input.

/// An input that a target reads from the front. At its end all numbers are 0.
#[derive(Clone, Copy, Debug)]
pub struct Bytes<'a> {
    rest: &'a [u8],
}

impl<'a> Bytes<'a> {
    /// Starts at the front of `input`.
    pub fn new(input: &'a [u8]) -> Self {
        Bytes { rest: input }
    }

    /// Whether everything is read.
    pub fn is_empty(self) -> bool {
        self.rest.is_empty()
    }

    /// What is left.
    pub fn rest(self) -> &'a [u8] {
        self.rest
    }

    /// The next `N` bytes, filled up with zeros.
    pub fn array<const N: usize>(&mut self) -> [u8; N] {
        let mut array = [0; N];
        let taken = self.take(N);
        array[..taken.len()].copy_from_slice(taken);
        array
    }

    /// The next byte.
    pub fn u8(&mut self) -> u8 {
        u8::from_le_bytes(self.array())
    }

    /// The next two bytes.
    pub fn u16(&mut self) -> u16 {
        u16::from_le_bytes(self.array())
    }

    /// The next four bytes.
    pub fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.array())
    }

    /// The next eight bytes.
    pub fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.array())
    }

    /// The next `n` bytes, or as many as there are.
    pub fn take(&mut self, n: usize) -> &'a [u8] {
        let (taken, rest) = self.rest.split_at(n.min(self.rest.len()));
        self.rest = rest;
        taken
    }

    /// The bytes up to the next byte `end`, which is dropped, or all that is left.
    pub fn until(&mut self, end: u8) -> &'a [u8] {
        let mut parts = self.rest.splitn(2, |&byte| byte == end);
        let taken = parts.next().unwrap_or_default();
        self.rest = parts.next().unwrap_or_default();
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_that_ends_reads_as_zeros() {
        let mut bytes = Bytes::new(&[1, 2, 3, b';', 9]);
        assert_eq!((bytes.u16(), bytes.until(b';'), bytes.u32(), bytes.u8()), (0x201, &[3][..], 9, 0));
        assert!(bytes.is_empty());
    }
}
