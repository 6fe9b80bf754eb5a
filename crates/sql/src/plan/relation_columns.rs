//! A set of columns of a relation.

use smallvec::SmallVec;

/// Words of a [`RelationColumns`] that need no allocation: enough for 128 columns.
const INLINE_WORDS: usize = 2;

/// Positions of columns of one relation: of a table, or of the rows of a query. (Sets of a table's columns
/// that storage needs are of one size: the engine's `ColumnSet`.)
#[derive(Debug, Default, PartialEq, Eq)]
pub struct RelationColumns(SmallVec<[u64; INLINE_WORDS]>);

impl Clone for RelationColumns {
    fn clone(&self) -> Self {
        // The words are copied at once, not one by one.
        RelationColumns(SmallVec::from_slice(&self.0))
    }
}

impl RelationColumns {
    /// Adds a column.
    pub fn insert(&mut self, col: u16) {
        let word = usize::from(col) / 64;
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (col % 64);
    }

    /// Adds the first `count` columns.
    pub fn insert_first(&mut self, count: usize) {
        let words = count.div_ceil(64);
        if self.0.len() < words {
            self.0.resize(words, 0);
        }
        let (whole, rest) = (count / 64, count % 64);
        self.0[..whole].fill(u64::MAX);
        if rest > 0 {
            self.0[whole] |= (1 << rest) - 1;
        }
    }

    /// Whether the column is in the set.
    pub fn contains(&self, col: u16) -> bool {
        self.0.get(usize::from(col) / 64).is_some_and(|word| word >> (col % 64) & 1 == 1)
    }

    /// Whether every column is in `other` too.
    pub fn is_subset(&self, other: &RelationColumns) -> bool {
        self.0.iter().enumerate().all(|(at, word)| word & !other.0.get(at).unwrap_or(&0) == 0)
    }
}
