//! A set of column positions.

/// Which columns of a table: a bit per position, up to [`crate::limits::COLUMNS_MAX`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ColumnSet([u64; 16]);

const _: () = assert!(crate::limits::COLUMNS_MAX <= 16 * 64);

impl ColumnSet {
    /// No column.
    pub const EMPTY: ColumnSet = ColumnSet([0; 16]);
    /// All columns.
    pub const ALL: ColumnSet = ColumnSet([u64::MAX; 16]);

    /// Adds the column at `position`.
    #[inline]
    pub fn insert(&mut self, position: usize) {
        self.0[position / 64] |= 1 << (position % 64);
    }

    /// Whether the column at `position` is in the set.
    #[inline]
    pub fn contains(&self, position: usize) -> bool {
        self.0[position / 64] >> (position % 64) & 1 != 0
    }

    /// Whether the sets share a column.
    #[inline]
    pub fn intersects(&self, other: &ColumnSet) -> bool {
        self.0.iter().zip(&other.0).any(|(a, b)| a & b != 0)
    }

    /// The positions in the set that are below `count`, in order. Cost: a few instructions each, and for 64
    /// of `count`.
    #[inline]
    pub fn below(&self, count: usize) -> impl Iterator<Item = usize> {
        let (mut word, mut rest) = (0, self.0[0]);
        std::iter::from_fn(move || {
            while rest == 0 {
                word += 1;
                if 64 * word >= count {
                    return None;
                }
                rest = self.0[word];
            }
            let position = 64 * word + rest.trailing_zeros() as usize;
            rest &= rest - 1;
            (position < count).then_some(position)
        })
    }

    /// Whether there is no column.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|&word| word == 0)
    }
}

impl FromIterator<usize> for ColumnSet {
    fn from_iter<I: IntoIterator<Item = usize>>(positions: I) -> Self {
        let mut set = ColumnSet::EMPTY;
        for position in positions {
            set.insert(position);
        }
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_of_all_words_are_kept_apart() {
        let set: ColumnSet = [0, 63, 64, 1016].into_iter().collect();
        assert!(set.contains(0) && set.contains(63) && set.contains(64) && set.contains(1016));
        assert!(!set.contains(1) && !set.contains(65));
        assert!(set.below(1017).eq([0, 63, 64, 1016]));
        assert!(set.below(64).eq([0, 63]) && set.below(0).eq([]) && set.below(1016).eq([0, 63, 64]));
        assert!(ColumnSet::ALL.below(100).eq(0..100) && ColumnSet::ALL.below(1024).eq(0..1024));
        assert!(set.intersects(&[64].into_iter().collect()) && !set.intersects(&[65].into_iter().collect()));
    }
}
