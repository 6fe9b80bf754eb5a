//! Random values, clauses 2.1.6 and 4.3.2.

use crate::stats::Random;
use crate::tpcc::scale::Scale;

/// `A` of the non-uniform number, clause 2.1.6.
const A_LAST_NAME: usize = 255;
const A_CUSTOMER: usize = 1023;
const A_ITEM: usize = 8191;

/// `C` of the non-uniform numbers.
#[derive(Clone, Copy, Debug)]
struct Constants {
    last_name: usize,
    customer: usize,
    item: usize,
}

const OF_LOAD: Constants = Constants { last_name: 123, customer: 259, item: 5087 };
const OF_RUN: Constants = Constants { last_name: 223, customer: 986, item: 3847 };

// Clause 2.1.6.1: how far those of load and run must be apart.
const _: () = {
    let apart = OF_RUN.last_name.abs_diff(OF_LOAD.last_name);
    assert!(apart >= 65 && apart <= 119 && apart != 96 && apart != 112);
};

const SYLLABLES: [&str; 10] =
    ["BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING"];

const CHARACTERS: &[u8; 64] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789ab";

/// The generator of a terminal, or of a part of the load.
#[derive(Clone, Debug)]
pub struct Generator {
    random: Random,
    constants: Constants,
}

impl Generator {
    /// For the load.
    pub fn of_load(seed: u64) -> Generator {
        Generator { random: Random(seed), constants: OF_LOAD }
    }

    /// For a terminal.
    pub fn of_run(seed: u64) -> Generator {
        Generator { random: Random(seed), constants: OF_RUN }
    }

    /// Returns a number from `low` to `high`, both included.
    pub fn uniform(&mut self, low: usize, high: usize) -> usize {
        low + self.random.below(high - low + 1)
    }

    /// Returns true with this probability.
    pub fn percent(&mut self, percent: usize) -> bool {
        self.random.below(100) < percent
    }

    /// Returns a customer of a district.
    pub fn customer(&mut self, scale: &Scale) -> usize {
        self.non_uniform(A_CUSTOMER, self.constants.customer, 1, scale.customers)
    }

    /// Returns an item.
    pub fn item(&mut self, scale: &Scale) -> usize {
        self.non_uniform(A_ITEM, self.constants.item, 1, scale.items)
    }

    /// Returns the last name of some customer.
    pub fn last_name(&mut self, scale: &Scale) -> String {
        last_name(self.non_uniform(A_LAST_NAME, self.constants.last_name, 0, scale.last_names() - 1))
    }

    /// NURand of clause 2.1.6.
    fn non_uniform(&mut self, a: usize, c: usize, low: usize, high: usize) -> usize {
        ((self.uniform(0, a) | self.uniform(low, high)) + c) % (high - low + 1) + low
    }

    /// Returns letters and digits, from `low` to `high` of them.
    pub fn text(&mut self, low: usize, high: usize) -> String {
        let length = self.uniform(low, high);
        let mut text = String::with_capacity(length);
        while text.len() < length {
            let mut bits = self.random.bits();
            for _ in 0..(length - text.len()).min(10) {
                text.push(char::from(CHARACTERS[(bits % 64) as usize]));
                bits /= 64;
            }
        }
        text
    }

    /// Returns `count` digits.
    pub fn digits(&mut self, count: usize) -> String {
        (0..count).map(|_| char::from(b'0' + self.random.below(10) as u8)).collect()
    }

    /// Returns a zip code, clause 4.3.2.7.
    pub fn zip(&mut self) -> String {
        format!("{}11111", self.digits(4))
    }

    /// Returns the data of an item or a stock row, of which 10 % contain ORIGINAL: clause 4.3.3.1.
    pub fn data(&mut self) -> String {
        let mut data = self.text(26, 50);
        if self.percent(10) {
            let at = self.uniform(0, data.len() - 8);
            data.replace_range(at..at + 8, "ORIGINAL");
        }
        data
    }

    /// Puts things into random order.
    pub fn shuffle<T>(&mut self, things: &mut [T]) {
        self.random.shuffle(things);
    }
}

/// Returns the last name of a number below 1000, clause 4.3.2.3.
pub fn last_name(number: usize) -> String {
    [number / 100 % 10, number / 10 % 10, number % 10].map(|digit| SYLLABLES[digit]).concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_names_are_made_of_the_syllables_of_their_digits() {
        assert_eq!(last_name(0), "BARBARBAR");
        assert_eq!(last_name(371), "PRICALLYOUGHT");
        assert_eq!(last_name(999), "EINGEINGEING");
    }

    #[test]
    fn non_uniform_numbers_fill_their_range_unevenly() {
        let scale = Scale::full(1);
        let mut generator = Generator::of_run(1);
        let mut counts = vec![0u32; scale.customers + 1];
        let draws = 300_000;
        for _ in 0..draws {
            counts[generator.customer(&scale)] += 1;
        }
        assert_eq!(counts[0], 0);
        assert!(counts[1..].iter().filter(|&&count| count > 0).count() > 2900);
        counts.sort_unstable_by(|a, b| b.cmp(a));
        let top_tenth: u32 = counts[..300].iter().sum();
        assert!((draws / 4..draws * 3 / 4).contains(&top_tenth), "{top_tenth}");
        for _ in 0..10_000 {
            assert!((1..=scale.items).contains(&generator.item(&scale)));
        }
    }

    #[test]
    fn every_last_name_of_a_run_is_one_that_is_loaded() {
        for scale in [Scale::tiny(1), Scale::full(1)] {
            let loaded: Vec<String> = (0..scale.last_names()).map(last_name).collect();
            let mut generator = Generator::of_run(2);
            for _ in 0..5000 {
                assert!(loaded.contains(&generator.last_name(&scale)));
            }
        }
    }

    #[test]
    fn a_tenth_of_the_data_is_original() {
        let mut generator = Generator::of_load(3);
        let data: Vec<String> = (0..10_000).map(|_| generator.data()).collect();
        assert!(data.iter().all(|text| (26..=50).contains(&text.len())));
        let original = data.iter().filter(|text| text.contains("ORIGINAL")).count();
        assert!((800..1200).contains(&original), "{original}");
    }
}
