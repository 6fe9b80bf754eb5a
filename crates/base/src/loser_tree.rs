//! A loser tree: which of many sorted sources comes next, in log2(sources) comparisons.
//!
//! ```text
//!            [0]  winner of all
//!             |
//!            [1]            each inner node keeps the loser of its match;
//!          /     \          the winner plays on above
//!       [2]       [3]
//!      /   \     /   \
//!     s0   s1   s2   s3     leaf of source s: sources + s
//! ```
//! The tree keeps numbers of sources only. The caller compares the sources' current entries, and moves the
//! winner to its next entry before it calls [`LoserTree::replay`].
//!
//! # Source
//! Knuth, The Art of Computer Programming 3, 5.4.1, "replacement selection".

/// The order of the current entries of a number of sources.
#[derive(Debug)]
pub struct LoserTree {
    /// The winner, then the loser of each inner node.
    nodes: Vec<u32>,
}

impl LoserTree {
    /// Compares the first entries of `sources` sources, at least one. `is_less(a, b)`: whether the current
    /// entry of source `a` comes before that of `b`; a source at its end comes after all others.
    pub fn new(sources: usize, mut is_less: impl FnMut(usize, usize) -> bool) -> Self {
        debug_assert!(sources > 0, "a merge of nothing");
        let mut winners = vec![0; 2 * sources];
        let mut nodes = vec![0; sources];
        for source in 0..sources {
            winners[sources + source] = source as u32;
        }
        for node in (1..sources).rev() {
            let (left, right) = (winners[2 * node], winners[2 * node + 1]);
            let right_wins = is_less(right as usize, left as usize);
            (winners[node], nodes[node]) = if right_wins { (right, left) } else { (left, right) };
        }
        nodes[0] = winners[1];
        LoserTree { nodes }
    }

    /// The source with the least current entry.
    #[inline]
    pub fn winner(&self) -> usize {
        self.nodes[0] as usize
    }

    /// Finds the winner again after the last one has moved to its next entry. Cost: a comparison for each
    /// level, no allocation.
    #[inline]
    pub fn replay(&mut self, mut is_less: impl FnMut(usize, usize) -> bool) {
        let mut winner = self.nodes[0];
        let mut node = self.nodes.len() + winner as usize;
        while node > 1 {
            node /= 2;
            let loser = self.nodes[node];
            if is_less(loser as usize, winner as usize) {
                self.nodes[node] = winner;
                winner = loser;
            }
        }
        self.nodes[0] = winner;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prng::Prng;

    #[test]
    fn sources_of_any_number_and_length_are_merged() {
        let mut prng = Prng::new(11);
        for count in (1..20).chain([64, 65]) {
            let mut sources: Vec<Vec<u64>> = (0..count)
                .map(|_| (0..prng.below(30)).map(|_| prng.below(50)).collect::<Vec<u64>>())
                .collect();
            let mut expected = sources.concat();
            expected.sort_unstable();
            // The next entry of each is its last one.
            for source in &mut sources {
                source.sort_unstable_by(|a, b| b.cmp(a));
            }
            let first = |source: &Vec<u64>| source.last().map_or((1, 0), |&entry| (0, entry));
            let mut tree = LoserTree::new(count, |a, b| first(&sources[a]) < first(&sources[b]));
            let mut merged = Vec::new();
            while let Some(entry) = sources[tree.winner()].pop() {
                merged.push(entry);
                tree.replay(|a, b| first(&sources[a]) < first(&sources[b]));
            }
            assert_eq!(merged, expected, "{count} sources");
        }
    }
}
