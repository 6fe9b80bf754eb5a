//! The arithmetic against known values, and whole reports with simulated noise.

use super::*;

#[test]
fn known_values() {
    assert_eq!(holm(vec![(0, 0.02), (1, 0.01), (2, 0.5)]), [(1, 0.03), (0, 0.04), (2, 0.5)]);
    assert_eq!(median(&[3.0, 1.0, f64::NAN, 2.0]), 2.0);
    assert_eq!(median(&[4.0, 1.0]), 2.5);
    assert!(median(&[]).is_nan());
    assert_eq!(share_from(&[1.0, 2.0, 3.0], 2.0), 0.75);
    let (middle, scale) = middle_and_scale(&[1.0, 2.0, 3.0, 4.0, 100.0]);
    assert_eq!((middle, scale), (3.0, (2.0f64 / 3.0).sqrt()));
}

#[test]
fn a_row_by_itself_is_told_by_its_rounds() {
    let row = |around: f64| (0..11).map(|i| around + 0.001 * f64::from(i - 5)).collect::<Vec<_>>();
    let of = |first: Vec<f64>, fresh: Vec<f64>| compare(&[first], &[fresh], 1)[0];
    let clear = of(row(0.1), Vec::new()).unwrap();
    assert_eq!((clear.verdict, clear.rounds), (Verdict::Faster, 11));
    assert!((clear.ratio - 0.1f64.exp()).abs() < 1e-12);
    assert!(clear.interval.0 > 1.09 && clear.interval.1 < 1.12, "{:?}", clear.interval);
    assert_eq!(of(vec![0.1, 0.1], Vec::new()), None);
    assert_eq!(of(vec![-0.3, 0.2, 0.4, -0.2, 0.1], Vec::new()).unwrap().verdict, Verdict::TooNoisy);
    let first = vec![0.018, 0.024, 0.019, 0.025, 0.02];
    assert_eq!(unsure(std::slice::from_ref(&first), 1), [true]);
    assert_eq!(of(first.clone(), row(0.02)).unwrap().verdict, Verdict::Faster);
    // What made the row look different is not counted again.
    assert_eq!(of(first, row(0.0)).unwrap().verdict, Verdict::NoDifference);
}

/// Noise like that of a shared machine: rows differ in how much they vary, every round has a drift that hits
/// both targets, and some cells lose a tenth to a third of their time to somebody else.
struct Machine {
    random: Random,
    disturbed: f64,
}

impl Machine {
    /// The log of a cell's queries a second.
    fn cell(&mut self, drift: f64, noise: f64) -> f64 {
        let loss = if self.random.unit() < self.disturbed { 0.1 + 0.2 * self.random.unit() } else { 0.0 };
        drift + noise * self.random.normal() - loss
    }

    fn row(&mut self, rounds: usize, noise: f64, effect: f64) -> Vec<f64> {
        let mut round = || {
            let drift = 0.02 * self.random.normal();
            self.cell(drift, noise) + effect.ln_1p() - self.cell(drift, noise)
        };
        (0..rounds).map(|_| round()).collect()
    }

    /// A report of `rows` rows, measured as the lab does; the first row's target is faster by `effect`.
    fn report(&mut self, rows: usize, effect: f64, seed: u64) -> Vec<Comparison> {
        // Half of the rows vary by less than 0.6 %.
        let noises: Vec<f64> = (0..rows).map(|_| 0.006 * (0.4 * self.random.normal()).exp()).collect();
        let effect_of = |row: usize| if row == 0 { effect } else { 0.0 };
        let first: Vec<Vec<f64>> = (0..rows).map(|row| self.row(5, noises[row], effect_of(row))).collect();
        let unsure = unsure(&first, seed);
        let fresh: Vec<Vec<f64>> = (0..rows)
            .map(|row| if unsure[row] { self.row(10, noises[row], effect_of(row)) } else { Vec::new() })
            .collect();
        compare(&first, &fresh, seed).into_iter().flatten().collect()
    }
}

/// How many of 100 reports `holds` for.
fn count(
    rows: usize,
    disturbed: f64,
    effect: f64,
    seed: u64,
    holds: impl Fn(&[Comparison]) -> bool,
) -> usize {
    let mut machine = Machine { random: Random(seed), disturbed };
    (0..100).filter(|&i| holds(&machine.report(rows, effect, i))).count()
}

#[test]
fn where_nothing_differs_few_reports_name_a_difference() {
    let named =
        |report: &[Comparison]| report.iter().any(|c| matches!(c.verdict, Verdict::Faster | Verdict::Slower));
    for (rows, disturbed, seed) in
        [(84, 0.01, 11), (84, 0.0, 12), (6, 0.01, 13), (1, 0.01, 14), (20, 0.02, 15)]
    {
        let wrong = count(rows, disturbed, 0.0, seed, named);
        assert!(wrong <= 5, "{rows} rows: {wrong} of 100 reports named a difference");
    }
}

#[test]
fn planted_differences_are_found() {
    let found = |report: &[Comparison]| report[0].verdict == Verdict::Faster;
    for (effect, least) in [(0.02, 50), (0.05, 90), (0.10, 99)] {
        let times = count(84, 0.01, effect, 21, found);
        assert!(times >= least, "{effect}: found in {times} of 100 reports");
    }
}

#[test]
fn the_interval_holds_the_truth_about_as_often_as_it_says() {
    let mut machine = Machine { random: Random(31), disturbed: 0.01 };
    let (mut inside, mut total) = (0u32, 0u32);
    for seed in 0..20 {
        let first: Vec<Vec<f64>> = (0..84).map(|_| machine.row(5, 0.006, 0.0)).collect();
        for test in test_rows(&first, seed).into_iter().flatten() {
            inside += u32::from(test.middle.abs() < test.half);
            total += 1;
        }
    }
    let share = f64::from(inside) / f64::from(total);
    assert!((0.93..0.975).contains(&share), "{share}");
}
