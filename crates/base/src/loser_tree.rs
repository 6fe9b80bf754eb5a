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
//! The tree keeps the numbers of the sources, and of each source's current entry a head: what most
//! comparisons are decided by, without a look at the source. The caller compares entries whose heads are
//! equal, and moves the winner to its next entry before it calls [`LoserTree::replay`]. With `()` for a head,
//! it compares all.
//!
//! # Source
//! Knuth, The Art of Computer Programming 3, 5.4.1, "replacement selection".

/// The order of the current entries of a number of sources.
#[derive(Debug)]
pub struct LoserTree<H> {
    /// The winner, then the loser of each inner node.
    nodes: Vec<Player<H>>,
}

/// A source with the head of its current entry.
#[derive(Clone, Copy, Debug)]
struct Player<H> {
    head: H,
    source: u32,
}

impl<H: Copy + Ord> Player<H> {
    #[inline(always)]
    fn is_less(&self, other: &Self, is_less_alike: &mut impl FnMut(usize, usize) -> bool) -> bool {
        self.head < other.head
            || self.head == other.head && is_less_alike(self.source as usize, other.source as usize)
    }
}

impl<H: Copy + Ord> LoserTree<H> {
    /// Compares the first entries of the sources with these heads, at least one. `is_less_alike(a, b)`:
    /// whether the current entry of source `a` comes before that of `b`, where their heads are equal; a
    /// source at its end comes after all others.
    pub fn new(
        heads: impl IntoIterator<Item = H>,
        mut is_less_alike: impl FnMut(usize, usize) -> bool,
    ) -> Self {
        let leaves: Vec<_> = (0..).zip(heads).map(|(source, head)| Player { head, source }).collect();
        debug_assert!(!leaves.is_empty(), "a merge of nothing");
        // What the inner nodes have here is overwritten, from the last one on.
        let (sources, mut nodes) = (leaves.len(), leaves.clone());
        let mut winners = [&leaves[..], &leaves[..]].concat();
        for node in (1..sources).rev() {
            let (left, right) = (winners[2 * node], winners[2 * node + 1]);
            let right_wins = right.is_less(&left, &mut is_less_alike);
            (winners[node], nodes[node]) = if right_wins { (right, left) } else { (left, right) };
        }
        nodes[0] = winners[1];
        LoserTree { nodes }
    }

    /// The source with the least current entry.
    #[inline]
    pub fn winner(&self) -> usize {
        self.nodes[0].source as usize
    }

    /// The head of that entry.
    #[inline]
    pub fn head(&self) -> H {
        self.nodes[0].head
    }

    /// Finds the winner again after the last one has moved to its next entry, which has this head. Cost: a
    /// comparison for each level, no allocation.
    #[inline(always)]
    pub fn replay(&mut self, head: H, mut is_less_alike: impl FnMut(usize, usize) -> bool) {
        let mut winner = Player { head, source: self.nodes[0].source };
        let mut node = self.nodes.len() + winner.source as usize;
        while node > 1 {
            node /= 2;
            let loser = &mut self.nodes[node];
            if loser.is_less(&winner, &mut is_less_alike) {
                std::mem::swap(loser, &mut winner);
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
            // The next entry of each is its last one. Heads decide a part of the comparisons.
            for source in &mut sources {
                source.sort_unstable_by(|a, b| b.cmp(a));
            }
            let first = |source: &Vec<u64>| source.last().map_or((1, 0), |&entry| (0, entry));
            let head = |source: &Vec<u64>| source.last().map_or(u64::MAX, |&entry| entry / 8);
            let mut tree =
                LoserTree::new(sources.iter().map(head), |a, b| first(&sources[a]) < first(&sources[b]));
            let mut merged = Vec::new();
            loop {
                assert_eq!(tree.head(), head(&sources[tree.winner()]));
                let Some(entry) = sources[tree.winner()].pop() else { break };
                merged.push(entry);
                let head = head(&sources[tree.winner()]);
                tree.replay(head, |a, b| first(&sources[a]) < first(&sources[b]));
            }
            assert_eq!(merged, expected, "{count} sources");
        }
    }
}
