//! From repeated measurements to verdicts, in two stages.
//!
//! **A row's rounds.** Of each round the log of target over base is taken, so that what the machine did to
//! both cancels out. A row's estimate is its median round: a cell or two that the machine disturbed do not
//! move it. How much a row varies is estimated from its deviations without the largest ones; with five rounds
//! a row knows little of that, all rows of the report together know much, so that each row's scale is drawn
//! towards that of all (the shrinkage of empirical Bayes: G. K. Smyth, "Linear models and empirical Bayes
//! methods", 2004; here on the logarithms, by order statistics). What median over scale would be if nothing
//! differed is found by the bootstrap: rows are drawn from the residuals of all rows and treated as above.
//!
//! **Two stages.** Rows whose first rounds differ significantly are decided. Of the others, those that look
//! as if they differed are measured again, and only the fresh rounds decide: what was read to choose
//! them does not count. In each stage Holm's method corrects for the number of rows, so that of all reports
//! in which nothing differs at most one in twenty names any difference.

use std::collections::BTreeSet;

/// Probability with which the first rounds of a report may name a difference where there is none.
const LEVEL_FIRST: f64 = 0.007;
/// The same for the fresh rounds. Together less than one report in twenty, for what noise is not like its
/// model.
const LEVEL_FRESH: f64 = 0.018;
/// Rows whose difference would come about by chance less often than this are measured again.
const LOOKS_DIFFERENT: f64 = 0.1;
/// A row whose interval is wider than this to either side, and holds 1, says nothing.
pub const NOISY: f64 = 0.05;
/// Rows drawn by the bootstrap, at least.
const RESAMPLES_MIN: usize = 20_000;
/// Rows drawn for each row that is tested: the smallest probability must pass the correction for all of them.
const RESAMPLES_A_ROW: usize = 400;
/// From this number of residuals on, they show the noise's shape; before, it is taken as normal, except for
/// some rounds.
const RESIDUALS_MIN: usize = 100;
/// Share of rounds taken as disturbed while too few residuals tell.
const DISTURBED_ASSUMED: f64 = 0.04;
/// How much rows are taken to differ in how much they vary (standard deviation of the logarithm).
const SPREAD_ASSUMED: f64 = 0.7;
/// That prior counts as much as this number of rows.
const SPREAD_WEIGHT: f64 = 10.0;
/// A row that seems not to vary at all varies by this at least.
const SCALE_MIN: f64 = 1e-4;

/// What can be said of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// More queries a second than the base.
    Faster,
    /// Fewer.
    Slower,
    /// None shown, and a large one would have been.
    NoDifference,
    /// The interval is too wide to say anything.
    TooNoisy,
}

impl Verdict {
    /// For a reader.
    pub fn in_words(self) -> &'static str {
        match self {
            Verdict::Faster => "faster",
            Verdict::Slower => "slower",
            Verdict::NoDifference => "no difference shown",
            Verdict::TooNoisy => "too noisy",
        }
    }
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

/// One row before correction.
#[derive(Clone, Copy)]
struct Test {
    middle: f64,
    /// Half of the 95 % interval, on the logarithm.
    half: f64,
    p: f64,
    rounds: usize,
}

/// Which rows are to be measured again before anything is said of them. Rows are the logs of target over
/// base, one per round.
pub fn unsure(first: &[Vec<f64>], seed: u64) -> Vec<bool> {
    let tests = test_rows(first, seed);
    let clear = rejected(&tests, LEVEL_FIRST);
    let looks_different = |t: &Option<Test>| t.is_some_and(|t| t.p < LOOKS_DIFFERENT);
    tests.iter().zip(clear).map(|(t, clear)| looks_different(t) && !clear).collect()
}

/// Compares rows by their first rounds, and by the fresh ones of those that were [`unsure`] (of others none).
/// None: fewer than three rounds.
pub fn compare(first: &[Vec<f64>], fresh: &[Vec<f64>], seed: u64) -> Vec<Option<Comparison>> {
    let unsure = unsure(first, seed);
    let first = test_rows(first, seed);
    let again: Vec<Vec<f64>> =
        fresh.iter().zip(&unsure).map(|(row, &is)| if is { row.clone() } else { Vec::new() }).collect();
    let again = test_rows(&again, !seed);
    let (clear, confirmed) = (rejected(&first, LEVEL_FIRST), rejected(&again, LEVEL_FRESH));
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
            () if test.half > NOISY => Verdict::TooNoisy,
            () => Verdict::NoDifference,
        };
        let interval = ((test.middle - test.half).exp(), (test.middle + test.half).exp());
        Some(Comparison { ratio: test.middle.exp(), interval, p: test.p, verdict, rounds: test.rounds })
    };
    (0..first.len()).map(comparison).collect()
}

/// Tests each row by itself, with what all say of the noise.
fn test_rows(rows: &[Vec<f64>], seed: u64) -> Vec<Option<Test>> {
    let mut random = Random(seed);
    let mut out = vec![None; rows.len()];
    let rounds: BTreeSet<usize> = rows.iter().map(Vec::len).filter(|&n| n >= 3).collect();
    let models = Models::of(rows, &rounds, &mut random);
    for (&n, model) in rounds.iter().zip(&models.of_rounds) {
        let nulls = model.nulls(&models, &mut random);
        for (at, row) in rows.iter().enumerate().filter(|(_, row)| row.len() == n) {
            let (middle, own) = middle_and_scale(row);
            let scale = model.drawn(own.ln());
            let half = nulls[(nulls.len() as f64 * 0.95) as usize] * scale;
            out[at] = Some(Test { middle, half, p: share_from(&nulls, (middle / scale).abs()), rounds: n });
        }
    }
    out
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

/// Median of a row, and the root mean square of its smaller deviations: without a quarter and one, but of
/// three at least.
fn middle_and_scale(row: &[f64]) -> (f64, f64) {
    let mut sorted = row.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = median_of_sorted(&sorted);
    for x in &mut sorted {
        *x = (*x - middle).abs();
    }
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    let kept = (n - n.min(n / 4 + 1)).max(3).min(n);
    let square = sorted[..kept].iter().map(|x| x * x).sum::<f64>() / kept as f64;
    (middle, square.sqrt().max(SCALE_MIN))
}

/// How rows of one number of rounds vary, on the logarithm of [`middle_and_scale`]'s scale.
struct Model {
    n: usize,
    /// Rows that tell.
    count: usize,
    /// Middle of all rows.
    centre: f64,
    /// Variance between rows: of their true scales.
    between: f64,
    /// What the logarithm of the scale of `n` normal numbers of standard deviation 1 is by mean and variance.
    own: (f64, f64),
}

/// All of a report.
struct Models {
    of_rounds: Vec<Model>,
    /// Residuals in units of their row's true scale, as far as that is known.
    residuals: Vec<f64>,
}

impl Models {
    fn of(rows: &[Vec<f64>], rounds: &BTreeSet<usize>, random: &mut Random) -> Models {
        let of_rounds: Vec<Model> = rounds.iter().map(|&n| Model::of(rows, n, random)).collect();
        let mut residuals = Vec::new();
        for model in &of_rounds {
            for row in rows.iter().filter(|row| row.len() == model.n) {
                let (middle, own) = middle_and_scale(row);
                let scale = model.drawn(own.ln()) / model.own.0.exp();
                // The median itself is no deviation.
                residuals.extend(row.iter().map(|x| (x - middle) / scale).filter(|r| *r != 0.0));
            }
        }
        if residuals.len() >= RESIDUALS_MIN {
            // Deviations from a median of few are a little small: as a whole they are made as wide as normal
            // ones.
            let width = median(&residuals.iter().map(|r| r.abs()).collect::<Vec<_>>()) / 0.674_49;
            for residual in &mut residuals {
                *residual /= width.max(f64::MIN_POSITIVE);
            }
        } else {
            residuals.clear();
        }
        Models { of_rounds, residuals }
    }

    fn noise(&self, random: &mut Random) -> f64 {
        if self.residuals.is_empty() {
            let disturbed = random.unit() < DISTURBED_ASSUMED;
            return random.normal() * if disturbed { 25.0 } else { 1.0 };
        }
        // Either sign: a disturbed cell may be the base's or the target's.
        let residual = self.residuals[random.below(self.residuals.len())];
        if random.bits() & 1 == 0 { residual } else { -residual }
    }
}

impl Model {
    fn of(rows: &[Vec<f64>], n: usize, random: &mut Random) -> Model {
        let mut sample: Vec<f64> = Vec::with_capacity(4000);
        for _ in 0..4000 {
            let row: Vec<f64> = (0..n).map(|_| random.normal()).collect();
            sample.push(middle_and_scale(&row).1.ln());
        }
        let own = mean_and_variance(&sample);
        let logs: Vec<f64> =
            rows.iter().filter(|row| row.len() == n).map(|row| middle_and_scale(row).1.ln()).collect();
        let centre = median(&logs);
        let far: Vec<f64> = logs.iter().map(|x| (x - centre).abs()).collect();
        let spread = if far.is_empty() { 0.0 } else { median(&far) / 0.674_49 };
        let (told, tellers) = ((spread * spread - own.1).max(0.0), logs.len() as f64);
        let between =
            (tellers * told + SPREAD_WEIGHT * SPREAD_ASSUMED * SPREAD_ASSUMED) / (tellers + SPREAD_WEIGHT);
        Model { n, count: logs.len(), centre, between, own }
    }

    /// Share of a row's own word in its scale.
    fn weight(&self) -> f64 {
        self.between / (self.between + self.own.1)
    }

    /// A row's scale, drawn towards the others'.
    fn drawn(&self, log_own: f64) -> f64 {
        (self.centre + self.weight() * (log_own - self.centre)).exp()
    }

    /// Absolute values of median over scale of rows in which nothing differs, in rising order.
    fn nulls(&self, models: &Models, random: &mut Random) -> Vec<f64> {
        let mut row = vec![0.0; self.n];
        let others = (self.count.max(1) - 1) as f64;
        // A median of many is less sure than their mean.
        let unsure = if others > 0.0 { (1.57 * (self.between + self.own.1) / others).sqrt() } else { 0.0 };
        let resamples = RESAMPLES_MIN.max(self.count * RESAMPLES_A_ROW);
        let mut nulls: Vec<f64> = (0..resamples)
            .map(|_| {
                let truth = self.between.sqrt() * random.normal();
                for x in &mut row {
                    *x = truth.exp() * models.noise(random);
                }
                let (middle, own) = middle_and_scale(&row);
                let log_own = own.ln() - self.own.0;
                let centre = (others * unsure * random.normal() + log_own) / (others + 1.0);
                let scale = (centre + self.weight() * (log_own - centre) + self.own.0).exp();
                (middle / scale).abs()
            })
            .collect();
        nulls.sort_by(f64::total_cmp);
        nulls
    }
}

/// Share of sorted values that reach `value`; never 0.
fn share_from(sorted: &[f64], value: f64) -> f64 {
    let below = sorted.partition_point(|&x| x < value);
    (sorted.len() - below + 1) as f64 / (sorted.len() + 1) as f64
}

fn mean_and_variance(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    (mean, values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0))
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
