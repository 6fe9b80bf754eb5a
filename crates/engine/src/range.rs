//! Stretches of an index.

use std::ops::Bound;

/// Which way a scan goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// Ascending keys.
    #[default]
    Forward,
    /// Descending keys.
    Backward,
}

/// A stretch of an index, given by key bytes that may be the leading parts only: a bound stands for all keys
/// that start with it. `Included` bounds take them all in, `Excluded` ones leave them all out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyRange {
    /// First key; empty = from the start.
    pub(crate) from: Vec<u8>,
    /// First key beyond, if the range is bounded.
    to: Vec<u8>,
    /// Whether the range ends before the index does.
    bounded: bool,
    /// Nothing lies between the bounds.
    pub(crate) empty: bool,
}

impl KeyRange {
    /// The whole index.
    pub fn all() -> Self {
        KeyRange::default()
    }

    /// All keys that start with `prefix`.
    pub fn prefix(prefix: &[u8]) -> Self {
        KeyRange::new(Bound::Included(prefix), Bound::Included(prefix))
    }

    /// From `lower` to `upper`.
    pub fn new(lower: Bound<&[u8]>, upper: Bound<&[u8]>) -> Self {
        let mut range = KeyRange::default();
        range.set(lower, upper);
        range
    }

    /// Becomes the stretch from `lower` to `upper`, in the memory it has.
    pub fn set(&mut self, lower: Bound<&[u8]>, upper: Bound<&[u8]>) {
        self.empty = false;
        self.from.clear();
        match lower {
            Bound::Unbounded => {}
            Bound::Included(key) => self.from.extend_from_slice(key),
            Bound::Excluded(key) => {
                self.from.extend_from_slice(key);
                self.empty = !make_successor(&mut self.from);
            }
        }
        self.to.clear();
        self.bounded = match upper {
            Bound::Unbounded => false,
            Bound::Excluded(key) => {
                self.to.extend_from_slice(key);
                true
            }
            Bound::Included(key) => {
                self.to.extend_from_slice(key);
                make_successor(&mut self.to)
            }
        };
        self.empty |= self.bounded && self.to <= self.from;
    }

    /// Becomes what `area` has from `from` on, a key that is not below its first one.
    pub fn set_from(&mut self, area: &KeyRange, from: &[u8]) {
        self.clone_from(area);
        self.from.clear();
        self.from.extend_from_slice(from);
        self.empty |= self.bounded && self.to <= self.from;
    }

    /// First key beyond; `None` = to the end.
    #[inline]
    pub(crate) fn to(&self) -> Option<&[u8]> {
        self.bounded.then_some(&self.to)
    }
}

impl KeyRange {
    /// Whether no key lies in the range beyond those that start with `key`.
    pub(crate) fn ends_with(&self, key: &[u8]) -> bool {
        let (true, Some((last, before))) = (self.bounded, self.to.split_last()) else { return false };
        let Some(tail) = key.strip_prefix(before) else { return false };
        // As `make_successor` carries.
        tail.split_first().is_some_and(|(byte, rest)| {
            byte.checked_add(1) == Some(*last) && rest.iter().all(|&byte| byte == 0xff)
        })
    }
}

/// Turns `key` into the first key above all that start with it; false if there is none.
fn make_successor(key: &mut Vec<u8>) -> bool {
    while let Some(last) = key.pop() {
        if last < 0xff {
            key.push(last + 1);
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(range: &KeyRange, key: &[u8]) -> bool {
        !range.empty && &range.from[..] <= key && range.to().is_none_or(|to| key < to)
    }

    #[test]
    fn a_bound_stands_for_all_keys_that_start_with_it() {
        let range = KeyRange::new(Bound::Excluded(b"b"), Bound::Included(b"d"));
        for (key, inside) in [
            (&b"a"[..], false),
            (b"b", false),
            (b"bz", false),
            (b"c", true),
            (b"d", true),
            (b"dz", true),
            (b"e", false),
        ] {
            assert_eq!(holds(&range, key), inside, "{key:?}");
        }
    }

    #[test]
    fn a_range_ends_with_its_included_bound() {
        let range = KeyRange::new(Bound::Unbounded, Bound::Included(b"b"));
        assert!(range.ends_with(b"b"));
        assert!(!range.ends_with(b"a") && !range.ends_with(b"ba"));
        assert!(!KeyRange::new(Bound::Unbounded, Bound::Excluded(b"b")).ends_with(b"b"));
        assert!(!KeyRange::all().ends_with(b"b"));
        let carried = KeyRange::new(Bound::Unbounded, Bound::Included(&[1, 0xff]));
        assert!(carried.ends_with(&[1, 0xff]) && !carried.ends_with(&[1, 0xfe]) && !carried.ends_with(&[2]));
    }

    #[test]
    fn bounds_of_ff_bytes_have_no_successor() {
        assert!(holds(&KeyRange::new(Bound::Unbounded, Bound::Included(&[0xff])), &[0xff, 0xff]));
        assert!(KeyRange::new(Bound::Excluded(&[0xff]), Bound::Unbounded).empty);
        assert!(KeyRange::new(Bound::Included(b"c"), Bound::Included(b"b")).empty);
        assert!(!KeyRange::prefix(b"c").empty);
    }
}
