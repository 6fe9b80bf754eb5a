//! Seeded values, alike in the prepared tables and in statements.

use base::prng::Prng;

/// Text of `c`: ten groups of eleven digits, as sysbench writes it.
pub(crate) fn c_text(prng: &mut Prng) -> String {
    digit_groups(prng, 10)
}

/// Text of `pad`: five groups.
pub(crate) fn pad_text(prng: &mut Prng) -> String {
    digit_groups(prng, 5)
}

fn digit_groups(prng: &mut Prng, groups: usize) -> String {
    let mut text = String::with_capacity(groups * 12);
    for i in 0..groups {
        if i > 0 {
            text.push('-');
        }
        text.push_str(&format!("{:011}", prng.below(100_000_000_000)));
    }
    text
}

/// A name of two to four syllables, as long as the column's `max` allows.
pub(crate) fn name(prng: &mut Prng, max: usize) -> String {
    const SYLLABLES: [&str; 16] =
        ["ba", "ce", "di", "fo", "gu", "ha", "je", "ki", "lo", "mu", "na", "pe", "ri", "so", "tu", "va"];
    let mut text = String::new();
    for _ in 0..2 + prng.below(3) {
        text.push_str(SYLLABLES[prng.below(16) as usize]);
    }
    text.truncate(max);
    text
}

/// Storage bytes of a DATE, `days` days after 1950-01-01 in years of twelve months of 28 days.
pub(crate) fn date(days: u64) -> [u8; 3] {
    let (year, day) = (1950 + days / 336, days % 336);
    stored_date(year, 1 + day / 28, 1 + day % 28)
}

/// Storage bytes of 9999-01-01, the end of what lasts.
pub(crate) fn forever() -> [u8; 3] {
    stored_date(9999, 1, 1)
}

fn stored_date(year: u64, month: u64, day: u64) -> [u8; 3] {
    let [a, b, c, ..] = (year << 9 | month << 5 | day).to_le_bytes();
    [a, b, c]
}

/// Numbers `0..bound`, each once, spread evenly over the whole range at every moment.
#[derive(Clone, Debug)]
pub(crate) struct Spread {
    at: u64,
    bound: u64,
}

impl Spread {
    /// Coprime to every bound that is a power of ten or close to the golden section of one.
    const STEP: u64 = 618_033_989;

    /// `seed` says where the sequence begins.
    pub(crate) fn new(seed: u64, bound: u64) -> Self {
        Spread { at: seed % bound, bound }
    }

    /// The next number.
    pub(crate) fn next(&mut self) -> u64 {
        self.at = (self.at + Self::STEP) % self.bound;
        self.at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_meets_every_number_once() {
        let mut spread = Spread::new(7, 1000);
        let mut seen: Vec<_> = (0..1000).map(|_| spread.next()).collect();
        seen.sort_unstable();
        assert_eq!(seen, (0..1000).collect::<Vec<_>>());
    }

    #[test]
    fn texts_have_the_lengths_that_sysbench_gives_them() {
        let mut prng = Prng::new(1);
        assert_eq!((c_text(&mut prng).len(), pad_text(&mut prng).len()), (119, 59));
        assert_eq!(date(0), (1950u32 << 9 | 1 << 5 | 1).to_le_bytes()[..3]);
    }
}
