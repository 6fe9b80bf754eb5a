//! How the rows of a class vary, and what that says of each.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::{Random, Rounds, Test, median, median_of_sorted};

/// Fewer rounds say nothing of a row.
const ROUNDS_MIN: usize = 3;
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

/// Tests each row by itself, with what all of its class say of the noise.
pub(super) fn test_rows(rows: &[Rounds], seed: u64) -> Vec<Option<Test>> {
    let mut random = Random(seed);
    let mut out = vec![None; rows.len()];
    let tested = tested(rows);
    for class in Class::all(rows, &mut random) {
        for model in &class.of_rounds {
            let mut nulls: Vec<f64> = nulls(&model.draws(&class, tested, &mut random)).collect();
            nulls.sort_unstable_by(f64::total_cmp);
            for &at in class.rows.iter().filter(|&&at| rows[at].logs.len() == model.n) {
                let (middle, own) = middle_and_scale(&rows[at].logs);
                let scale = model.drawn(own.ln());
                let half = nulls[(nulls.len() as f64 * 0.95) as usize] * scale;
                let p = share_from(&nulls, (middle / scale).abs());
                out[at] = Some(Test { middle, half, p, rounds: model.n });
            }
        }
    }
    out
}

/// How many rows have enough rounds.
pub(super) fn tested(rows: &[Rounds]) -> usize {
    rows.iter().filter(|row| row.logs.len() >= ROUNDS_MIN).count()
}

/// Absolute values of median over scale of rows in which nothing differs.
pub(super) fn nulls(draws: &[Draw]) -> impl Iterator<Item = f64> {
    draws.iter().map(|draw| (draw.middle / draw.scale).abs())
}

/// Median of a row, and the root mean square of its smaller deviations: without a quarter and one, but of
/// three at least.
pub(super) fn middle_and_scale(row: &[f64]) -> (f64, f64) {
    middle_and_scale_within(&mut row.to_vec())
}

/// As [`middle_and_scale`]. The row is lost.
fn middle_and_scale_within(row: &mut [f64]) -> (f64, f64) {
    row.sort_unstable_by(f64::total_cmp);
    let middle = median_of_sorted(row);
    for x in &mut *row {
        *x = (*x - middle).abs();
    }
    row.sort_unstable_by(f64::total_cmp);
    let n = row.len();
    let kept = (n - n.min(n / 4 + 1)).max(3).min(n);
    let square = row[..kept].iter().map(|x| x * x).sum::<f64>() / kept as f64;
    (middle, square.sqrt().max(SCALE_MIN))
}

/// A row in which nothing differs, as it is drawn: its estimate and the scale that it is judged by, both in
/// the usual standard deviation of its class.
pub(super) struct Draw {
    pub(super) middle: f64,
    pub(super) scale: f64,
}

/// How rows of one number of rounds vary, on the logarithm of [`middle_and_scale`]'s scale.
pub(super) struct Model {
    n: usize,
    /// Rows that tell.
    pub(super) count: usize,
    /// Middle of all rows.
    centre: f64,
    /// Variance between rows: of their true scales.
    between: f64,
    /// What the logarithm of the scale of `n` normal numbers of standard deviation 1 is by mean and variance.
    own: (f64, f64),
}

/// All of a class.
pub(super) struct Class {
    /// Their positions.
    pub(super) rows: Vec<usize>,
    pub(super) of_rounds: Vec<Model>,
    /// Residuals in units of their row's true scale, as far as that is known; of all classes, which are taken
    /// to differ in how much they vary, not in how.
    residuals: Rc<[f64]>,
}

impl Class {
    pub(super) fn all(rows: &[Rounds], random: &mut Random) -> Vec<Class> {
        let mut members: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (at, row) in rows.iter().enumerate() {
            members.entry(row.class).or_default().push(at);
        }
        let (mut classes, mut residuals) = (Vec::new(), Vec::new());
        for members in members.into_values() {
            let logs: Vec<&[f64]> = members.iter().map(|&at| &rows[at].logs[..]).collect();
            let rounds: BTreeSet<usize> =
                logs.iter().map(|row| row.len()).filter(|&n| n >= ROUNDS_MIN).collect();
            let of_rounds: Vec<Model> = rounds.iter().map(|&n| Model::of(&logs, n, random)).collect();
            residuals.extend(residuals_of(&of_rounds, &logs));
            classes.push((members, of_rounds));
        }
        if residuals.len() < RESIDUALS_MIN {
            residuals.clear();
        }
        let residuals: Rc<[f64]> = residuals.into();
        let class = |(rows, of_rounds)| Class { rows, of_rounds, residuals: Rc::clone(&residuals) };
        classes.into_iter().map(class).collect()
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

fn residuals_of(models: &[Model], rows: &[&[f64]]) -> Vec<f64> {
    let mut residuals = Vec::new();
    for model in models {
        for row in rows.iter().filter(|row| row.len() == model.n) {
            let (middle, own) = middle_and_scale(row);
            let scale = model.drawn(own.ln()) / model.own.0.exp();
            // The median itself is no deviation.
            residuals.extend(row.iter().map(|x| (x - middle) / scale).filter(|r| *r != 0.0));
        }
    }
    // Deviations from a median of few are a little small: as a whole they are made as wide as normal ones.
    let width = median(&residuals.iter().map(|r| r.abs()).collect::<Vec<_>>()) / 0.674_49;
    for residual in &mut residuals {
        *residual /= width.max(f64::MIN_POSITIVE);
    }
    residuals
}

impl Model {
    fn of(rows: &[&[f64]], n: usize, random: &mut Random) -> Model {
        let own = own_scale(n, random);
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

    /// Of rows of the same kind with another number of rounds, of which `count` are measured.
    pub(super) fn with_rounds(&self, n: usize, count: usize, random: &mut Random) -> Model {
        let own = own_scale(n, random);
        Model { n, count, centre: self.centre - self.own.0 + own.0, between: self.between, own }
    }

    /// The usual standard deviation of a row's rounds.
    pub(super) fn deviation(&self) -> f64 {
        (self.centre - self.own.0).exp()
    }

    /// Share of a row's own word in its scale.
    fn weight(&self) -> f64 {
        self.between / (self.between + self.own.1)
    }

    /// A row's scale, drawn towards the others'.
    fn drawn(&self, log_own: f64) -> f64 {
        (self.centre + self.weight() * (log_own - self.centre)).exp()
    }

    /// Rows in which nothing differs: enough of them for a report in which this number of rows is tested.
    pub(super) fn draws(&self, class: &Class, tested: usize, random: &mut Random) -> Vec<Draw> {
        let mut row = vec![0.0; self.n];
        let others = (self.count.max(1) - 1) as f64;
        // A median of many is less sure than their mean.
        let unsure = if others > 0.0 { (1.57 * (self.between + self.own.1) / others).sqrt() } else { 0.0 };
        let draw = |_| {
            let truth = (self.between.sqrt() * random.normal()).exp();
            for x in &mut row {
                *x = truth * class.noise(random);
            }
            let (middle, own) = middle_and_scale_within(&mut row);
            let log_own = own.ln() - self.own.0;
            let centre = (others * unsure * random.normal() + log_own) / (others + 1.0);
            let scale = (centre + self.weight() * (log_own - centre) + self.own.0).exp();
            Draw { middle, scale }
        };
        (0..RESAMPLES_MIN.max(tested * RESAMPLES_A_ROW)).map(draw).collect()
    }
}

/// What the logarithm of the scale of `n` normal numbers of standard deviation 1 is by mean and variance.
fn own_scale(n: usize, random: &mut Random) -> (f64, f64) {
    let mut row = vec![0.0; n];
    let sample = |_| {
        for x in &mut row {
            *x = random.normal();
        }
        middle_and_scale_within(&mut row).1.ln()
    };
    mean_and_variance(&(0..4000).map(sample).collect::<Vec<_>>())
}

/// Share of sorted values that reach `value`; never 0.
pub(super) fn share_from(sorted: &[f64], value: f64) -> f64 {
    let below = sorted.partition_point(|&x| x < value);
    (sorted.len() - below + 1) as f64 / (sorted.len() + 1) as f64
}

fn mean_and_variance(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    (mean, values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0))
}
