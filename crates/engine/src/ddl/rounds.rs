//! When a build or a rebuild stops catching up with what others change meanwhile.
//!
//! Writers that change rows as fast as the replay would keep it at work for ever. After [`VAIN_ROUNDS_MAX`]
//! rounds that left most of what they began with, the rest is done under the exclusive lock. Writers then
//! wait about as long as a round took: what waits is bounded by `innodb_online_alter_log_max_size`, and
//! nothing is added.

/// Rounds that may leave more than three quarters of what waited when they began.
const VAIN_ROUNDS_MAX: u32 = 4;

/// The rounds of one catch-up, in each of which the changes are taken that waited when it began.
#[derive(Debug)]
pub(super) struct Rounds {
    /// Catch-up ends when at most this many bytes wait.
    rest_bytes: u64,
    /// Bytes that waited when the last round began; 0: there was none.
    began_with: u64,
    vain: u32,
}

impl Rounds {
    pub(super) fn new(rest_bytes: u64) -> Self {
        Rounds { rest_bytes, began_with: 0, vain: 0 }
    }

    /// Whether another round is to begin, with `waiting` bytes of changes.
    pub(super) fn is_worth_another(&mut self, waiting: u64) -> bool {
        let is_vain = self.began_with > 0 && waiting > self.began_with / 4 * 3;
        self.vain += u32::from(is_vain);
        self.began_with = waiting;
        waiting > self.rest_bytes && self.vain < VAIN_ROUNDS_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rounds(mut waiting: impl FnMut(u32) -> u64) -> u32 {
        let mut rounds = Rounds::new(100);
        (0..100).find(|&nth| !rounds.is_worth_another(waiting(nth))).unwrap()
    }

    #[test]
    fn rounds_end_at_the_rest_and_beside_fast_writers() {
        assert_eq!(rounds(|_| 100), 0);
        assert_eq!(rounds(|nth| 6400 >> nth), 6, "each round halves what waits");
        assert_eq!(rounds(|_| 1000), VAIN_ROUNDS_MAX);
        assert_eq!(rounds(|nth| 1000 << nth), VAIN_ROUNDS_MAX);
        // Gains in between do not reset the count.
        assert_eq!(rounds(|nth| if nth % 2 == 0 { 10_000 } else { 1000 }), 2 * VAIN_ROUNDS_MAX);
    }
}
