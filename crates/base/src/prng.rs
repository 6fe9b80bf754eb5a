//! A small seeded generator (SplitMix64) for tests, sampling and benchmarks; never for secrets.

/// SplitMix64: one seed is one sequence, on every machine.
///
/// # Source
/// Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
#[derive(Clone, Debug)]
pub struct Prng(u64);

impl Prng {
    /// A generator whose whole sequence is fixed by `seed`.
    pub fn new(seed: u64) -> Self {
        Prng(seed)
    }

    /// The next 64 bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number in `0..bound`, `bound` above 0; bias below 2^-32 for bounds under 2^32.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// A number in `0.0..1.0`.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_sequence_is_fixed_by_the_seed() {
        let mut prng = super::Prng::new(1234567);
        assert_eq!(prng.next_u64(), 6457827717110365317);
        assert_eq!(prng.next_u64(), 3203168211198807973);
        assert!((0..1000).all(|_| prng.below(10) < 10));
    }
}
