//! From repeated measurements to verdicts, in two stages.
//!
//! **A row's rounds.** Of each round the log of target over base is taken, so that what the machine did to
//! both cancels out. A row's estimate is its median round: a cell or two that the machine disturbed do not
//! move it. How much a row varies is estimated from its deviations without the largest ones; with five rounds
//! a row knows little of that, all rows of its class (one target, workloads of one kind) together know much,
//! so that each row's scale is drawn towards that of its class (the shrinkage of empirical Bayes: G. K.
//! Smyth, "Linear models and empirical Bayes methods", 2004; here on the logarithms, by order statistics).
//! What median over scale would be if nothing differed is found by the bootstrap: rows are drawn from the
//! residuals of the class and treated as above.
//!
//! **Two stages.** Rows whose first rounds differ significantly are decided. Of the others, those that look
//! as if they differed are measured again, and only the fresh rounds decide: what was read to choose
//! them does not count. In each stage Holm's method corrects for the number of rows, so that of all reports
//! in which nothing differs at most one in twenty names any difference.

mod model;
mod power;

use model::test_rows;

use power::least_shown;

/// Probability with which the first rounds of a report may name a difference where there is none.
const LEVEL_FIRST: f64 = 0.007;
/// The same for the fresh rounds. Together less than one report in twenty, for what noise is not like its
/// model.
const LEVEL_FRESH: f64 = 0.018;
/// Probability for the first rounds, where no fresh ones follow.
const LEVEL_ONLY: f64 = LEVEL_FIRST + LEVEL_FRESH;
/// Rows whose difference would come about by chance less often than this are measured again.
const LOOKS_DIFFERENT: f64 = 0.1;
/// A row whose interval is wider than this to either side, and that is not shown to differ, is undecided.
pub const NOISY: f64 = 0.05;

/// What can be said of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// More queries a second than the base.
    Faster,
    /// Fewer.
    Slower,
    /// None shown, and a large one would have been.
    NoDifference,
    /// The interval is wide, and the difference not significant.
    Undecided,
}

impl Verdict {
    /// For a reader.
    pub fn in_words(self) -> &'static str {
        match self {
            Verdict::Faster => "faster",
            Verdict::Slower => "slower",
            Verdict::NoDifference => "no difference shown",
            Verdict::Undecided => "undecided",
        }
    }
}

/// What was measured of a row.
#[derive(Clone, Debug, Default)]
pub struct Rounds {
    /// Rows of one class are taken to vary about alike.
    pub class: usize,
    /// The log of target over base in each round.
    pub logs: Vec<f64>,
}

/// A row of one target against the base.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// Target over base: median of the rounds.
    pub ratio: f64,
    /// Ends of its 95 % interval.
    pub interval: (f64, f64),
    /// Probability of such a difference by chance, for this row alone.
    pub p: f64,
    /// The least difference (0.05: five in a hundred) that four of five such reports show for a row of this
    /// kind.
    pub least: f64,
    /// What that means.
    pub verdict: Verdict,
    /// Rounds in which both were measured.
    pub rounds: usize,
}

/// The median of some numbers; NaN of none.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    median_of_sorted(&sorted)
}

fn median_of_sorted(sorted: &[f64]) -> f64 {
    match sorted.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => sorted[n / 2],
        n => f64::midpoint(sorted[n / 2 - 1], sorted[n / 2]),
    }
}

/// Which rows are to be measured again before anything is said of them.
pub fn unsure(first: &[Rounds], seed: u64) -> Vec<bool> {
    unsure_of(&test_rows(first, seed))
}

fn unsure_of(tests: &[Option<Test>]) -> Vec<bool> {
    let clear = rejected(tests, LEVEL_FIRST);
    let looks_different = |t: &Option<Test>| t.is_some_and(|t| t.p < LOOKS_DIFFERENT);
    tests.iter().zip(clear).map(|(t, clear)| looks_different(t) && !clear).collect()
}

/// Compares rows by their first rounds, and by the fresh ones of those that were [`unsure`] (of others none),
/// of which there are at most `fresh_max`. None: fewer than three rounds.
pub fn compare(first: &[Rounds], fresh: &[Rounds], fresh_max: usize, seed: u64) -> Vec<Option<Comparison>> {
    let least = least_shown(first, fresh_max, seed);
    let first = test_rows(first, seed);
    let unsure = unsure_of(&first);
    let again: Vec<Rounds> = fresh
        .iter()
        .zip(&unsure)
        .map(|(row, &is)| if is { row.clone() } else { Rounds::default() })
        .collect();
    let again = test_rows(&again, !seed);
    let (clear, confirmed) = (rejected(&first, level_first(fresh_max)), rejected(&again, LEVEL_FRESH));
    let comparison = |at: usize| {
        let test = again[at].or(first[at])?;
        let verdict = match () {
            () if clear[at] || confirmed[at] => {
                if test.middle > 0.0 {
                    Verdict::Faster
                } else {
                    Verdict::Slower
                }
            }
            () if test.half > NOISY => Verdict::Undecided,
            () => Verdict::NoDifference,
        };
        let Estimate { ratio, interval } = test.estimate();
        Some(Comparison {
            ratio,
            interval,
            p: test.p,
            least: least[at].map_or(f64::NAN, f64::exp_m1),
            verdict,
            rounds: test.rounds,
        })
    };
    (0..first.len()).map(comparison).collect()
}

/// How two stand to each other, without a verdict.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// One over the other: median of the rounds.
    pub ratio: f64,
    /// Ends of its 95 % interval, of this row alone.
    pub interval: (f64, f64),
}

/// Estimates rows; none of fewer than three rounds.
pub fn estimates(rows: &[Rounds], seed: u64) -> Vec<Option<Estimate>> {
    test_rows(rows, seed).into_iter().map(|test| test.map(|test| test.estimate())).collect()
}

/// A target's figure in each of the rounds in which it was measured.
pub type Reached = Vec<(usize, f64)>;

/// The logs of target over base in the rounds in which both were measured.
pub fn log_ratios(base: &Reached, target: &Reached) -> Vec<f64> {
    let ratio = |&(round, figure): &(usize, f64)| {
        let (_, base) = base.iter().find(|base| base.0 == round)?;
        (*base > 0.0 && figure > 0.0).then(|| (figure / base).ln())
    };
    target.iter().filter_map(ratio).collect()
}

/// Of each target of a row: the logs of its figures over those of the other that has the highest median.
pub fn logs_to_best(row: &[Reached]) -> Vec<Vec<f64>> {
    let middle = |reached: &Reached| median(&reached.iter().map(|(_, figure)| *figure).collect::<Vec<_>>());
    let medians: Vec<f64> = row.iter().map(middle).collect();
    let of = |at: usize| {
        let others = (0..row.len()).filter(|&other| other != at && medians[other].is_finite());
        let best = others.max_by(|&a, &b| medians[a].total_cmp(&medians[b]));
        best.map_or_else(Vec::new, |best| log_ratios(&row[best], &row[at]))
    };
    (0..row.len()).map(of).collect()
}

/// One row before correction.
#[derive(Clone, Copy)]
struct Test {
    middle: f64,
    /// Half of the 95 % interval, on the logarithm.
    half: f64,
    p: f64,
    rounds: usize,
}

impl Test {
    fn estimate(&self) -> Estimate {
        let interval = ((self.middle - self.half).exp(), (self.middle + self.half).exp());
        Estimate { ratio: self.middle.exp(), interval }
    }
}

/// With which probability the first rounds may name a difference that is none, where at most so many follow.
fn level_first(fresh_max: usize) -> f64 {
    if fresh_max == 0 { LEVEL_ONLY } else { LEVEL_FIRST }
}

/// Which rows differ, at this level for all of them together.
fn rejected(tests: &[Option<Test>], level: f64) -> Vec<bool> {
    let mut out = vec![false; tests.len()];
    let ps = tests.iter().enumerate().filter_map(|(at, test)| Some((at, (*test)?.p)));
    for (at, p) in holm(ps.collect()) {
        out[at] = p < level;
    }
    out
}

/// Holm's correction: the smallest of m times m, the next times m - 1, never falling.
fn holm(mut ps: Vec<(usize, f64)>) -> Vec<(usize, f64)> {
    ps.sort_by(|a, b| a.1.total_cmp(&b.1));
    let count = ps.len();
    let mut least = 0.0f64;
    for (rank, (_, p)) in ps.iter_mut().enumerate() {
        least = least.max((*p * (count - rank) as f64).min(1.0));
        *p = least;
    }
    ps
}

/// A small random number generator (splitmix64): the same numbers for the same seed.
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `limit`, which is above 0.
    pub fn below(&mut self, limit: usize) -> usize {
        ((u128::from(self.bits()) * limit as u128) >> 64) as usize
    }

    /// A number from 0 to 1.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A normal number of mean 0 and standard deviation 1.
    pub fn normal(&mut self) -> f64 {
        let (u, v) = (self.unit().max(f64::MIN_POSITIVE), self.unit());
        (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
    }

    /// Puts things into random order.
    pub fn shuffle<T>(&mut self, things: &mut [T]) {
        for at in (1..things.len()).rev() {
            things.swap(at, self.below(at + 1));
        }
    }
}

#[cfg(test)]
mod tests;
