//! Sorting by keys whose first bytes are kept beside them, as a number.

/// From as many entries on, passes by the bytes of their heads cost less than comparisons.
const PASSES_FROM: usize = 96;

/// The first 8 bytes of a key, zero padded: of keys with different heads, the one with the lower head is
/// lower.
#[inline]
pub(crate) fn head_of(key: &[u8]) -> u64 {
    if let Some(head) = key.first_chunk() {
        return u64::from_be_bytes(*head);
    }
    let mut head = [0; 8];
    head[..key.len()].copy_from_slice(key);
    u64::from_be_bytes(head)
}

/// Brings `entries` into the order of their keys; `head` gives [`head_of`] of an entry's key. Cost: passes by
/// the bytes of the heads that differ, then comparisons of keys with the same head. Takes as much memory as
/// `entries`.
pub(super) fn sort_by_key<'k, T: Copy>(
    entries: &mut [T],
    head: impl Fn(&T) -> u64,
    key: impl Fn(&T) -> &'k [u8],
) {
    if entries.len() < PASSES_FROM {
        return entries.sort_unstable_by(|a, b| head(a).cmp(&head(b)).then_with(|| key(a).cmp(key(b))));
    }
    if !entries.is_sorted_by_key(&head) {
        radsort::sort_by_key(entries, &head);
    }
    for alike in entries.chunk_by_mut(|a, b| head(a) == head(b)).filter(|alike| alike.len() > 1) {
        alike.sort_unstable_by(|a, b| key(a).cmp(key(b)));
    }
}

#[cfg(test)]
mod tests {
    use base::prng::Prng;

    use super::*;

    #[test]
    fn few_and_many_are_in_the_order_of_their_keys() {
        let mut prng = Prng::new(7);
        for count in [0, 1, 2, PASSES_FROM - 1, PASSES_FROM, 1000] {
            for alike in [0, 3, 8] {
                let keys: Vec<Vec<u8>> = (0..count)
                    .map(|_| {
                        let len = prng.below(12) as usize;
                        let start = vec![b'a'; alike];
                        start.into_iter().chain((0..len).map(|_| prng.below(3) as u8)).collect()
                    })
                    .collect();
                let mut order: Vec<(u64, usize)> =
                    (0..).zip(&keys).map(|(i, key)| (head_of(key), i)).collect();
                sort_by_key(&mut order, |entry| entry.0, |entry| &keys[entry.1][..]);
                let mut sorted = keys.clone();
                sorted.sort();
                let found: Vec<&Vec<u8>> = order.iter().map(|entry| &keys[entry.1]).collect();
                assert_eq!(found, sorted.iter().collect::<Vec<_>>());
            }
        }
    }
}
