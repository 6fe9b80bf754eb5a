//! The bytes of an index's entries in sorted blocks and runs.

/// Bytes of a short key, at most.
pub(super) const SHORT_KEY_BYTES_MAX: usize = 16;

/// How the entries of an index are laid out in sorted blocks and runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// As [`super::Entry`]s.
    Headed,
    /// As keys alone, which are sorted and compared as numbers.
    Short(ShortKeys),
}

/// Keys of at most [`SHORT_KEY_BYTES_MAX`] bytes, all of one length, without payloads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ShortKeys {
    /// Bytes of a key.
    pub(super) len: usize,
    /// Bytes of its declared parts, at least one.
    pub(super) declared: usize,
    /// No two keys have the same declared parts.
    pub(super) is_unique: bool,
    /// The bits of a number that a key has.
    mask: u128,
}

impl Layout {
    /// That of entries without payloads whose keys have `len` bytes each, `declared` of them in the declared
    /// parts; [`Layout::Headed`] if the keys are long.
    pub(crate) fn of_keys(len: usize, declared: usize, is_unique: bool) -> Self {
        if len <= SHORT_KEY_BYTES_MAX && declared > 0 {
            Layout::Short(ShortKeys::new(len, declared, is_unique))
        } else {
            Layout::Headed
        }
    }
}

/// The first bytes of `key` as a number, zero padded: of keys with different numbers, the one with the lower
/// number is lower. Numbers of short keys of one length are different.
#[inline]
pub(super) fn number_of(key: &[u8]) -> u128 {
    if let Some(start) = key.first_chunk() {
        return u128::from_be_bytes(*start);
    }
    let mut start = [0; SHORT_KEY_BYTES_MAX];
    start[..key.len()].copy_from_slice(key);
    u128::from_be_bytes(start)
}

impl ShortKeys {
    fn new(len: usize, declared: usize, is_unique: bool) -> Self {
        ShortKeys { len, declared, is_unique, mask: u128::MAX << (u128::BITS - 8 * len as u32) }
    }

    /// [`number_of`] the key that `bytes` begin with.
    #[inline(always)]
    pub(super) fn first_number(self, bytes: &[u8]) -> u128 {
        match bytes.first_chunk() {
            Some(start) => u128::from_be_bytes(*start) & self.mask,
            None => number_of(&bytes[..self.len]),
        }
    }

    /// The declared parts of a key, if no other key may have the same.
    #[inline(always)]
    pub(crate) fn declared_of(self, number: u128) -> Option<u128> {
        self.is_unique.then(|| number >> (u128::BITS - 8 * self.declared as u32))
    }

    /// Bytes of a key's declared parts.
    pub(crate) fn declared(self) -> usize {
        self.declared
    }

    /// Bytes of a key.
    pub(crate) fn len(self) -> usize {
        self.len
    }

    /// Brings keys into order. Cost: passes by the bytes of the declared parts that differ, where what
    /// follows them is in order already, as it is in rows read in the order of the clustered key. Takes as
    /// much memory as `keys`.
    pub(super) fn sort(self, keys: &mut [u128]) {
        if self.declared <= size_of::<u64>() && !keys.is_sorted() {
            let behind = u128::BITS - 8 * self.declared as u32;
            radsort::sort_by_key(keys, |key| (key >> behind) as u64);
        }
        if !keys.is_sorted() {
            radsort::sort(keys);
        }
    }
}

#[cfg(test)]
mod tests {
    use base::prng::Prng;

    use super::*;

    #[test]
    fn short_keys_are_sorted_whatever_order_they_come_in() {
        let mut prng = Prng::new(3);
        for (len, declared) in [(1, 1), (8, 4), (9, 5), (16, 8), (16, 12), (16, 16)] {
            for is_in_order in [true, false] {
                let keys = ShortKeys::new(len, declared, false);
                let key = |row: u64| {
                    let mut key: Vec<u8> = (0..declared).map(|_| prng.below(5) as u8).collect();
                    let rest = if is_in_order { row } else { prng.next_u64() };
                    key.extend_from_slice(&rest.to_be_bytes()[..len - declared]);
                    number_of(&key)
                };
                let mut numbers: Vec<u128> = (0..500).map(key).collect();
                let mut sorted = numbers.clone();
                sorted.sort_unstable();
                keys.sort(&mut numbers);
                assert_eq!(numbers, sorted, "{len}, {declared}");
            }
        }
    }
}
