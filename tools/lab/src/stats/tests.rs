//! The arithmetic against known values, and whole reports with simulated noise.

use super::model::{middle_and_scale, share_from};
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

/// Of one class.
fn rounds(logs: Vec<f64>) -> Rounds {
    Rounds { class: 0, logs }
}

#[test]
fn a_row_by_itself_is_told_by_its_rounds() {
    let row = |around: f64| (0..11).map(|i| around + 0.001 * f64::from(i - 5)).collect::<Vec<_>>();
    let of = |first, fresh| compare(&[rounds(first)], &[rounds(fresh)], 10, 1)[0];
    let clear = of(row(0.1), Vec::new()).unwrap();
    assert_eq!((clear.verdict, clear.rounds), (Verdict::Faster, 11));
    assert!((clear.ratio - 0.1f64.exp()).abs() < 1e-12);
    assert!(clear.interval.0 > 1.09 && clear.interval.1 < 1.12, "{:?}", clear.interval);
    assert_eq!(of(vec![0.1, 0.1], Vec::new()), None);
    assert_eq!(of(vec![-0.3, 0.2, 0.4, -0.2, 0.1], Vec::new()).unwrap().verdict, Verdict::Undecided);
    let first = vec![0.018, 0.024, 0.019, 0.025, 0.02];
    assert_eq!(unsure(&[rounds(first.clone())], 1), [true]);
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

    /// Half of the rows vary by less than 0.6 %.
    fn usual_noise(&mut self) -> f64 {
        0.006 * (0.4 * self.random.normal()).exp()
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
        let noises: Vec<f64> = (0..rows).map(|_| self.usual_noise()).collect();
        let effect_of = |row: usize| if row == 0 { effect } else { 0.0 };
        let first: Vec<Rounds> =
            (0..rows).map(|row| rounds(self.row(5, noises[row], effect_of(row)))).collect();
        let unsure = unsure(&first, seed);
        let again =
            |row: usize| if unsure[row] { self.row(10, noises[row], effect_of(row)) } else { Vec::new() };
        let fresh: Vec<Rounds> = (0..rows).map(again).map(rounds).collect();
        compare(&first, &fresh, 10, seed).into_iter().flatten().collect()
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
        let first: Vec<Rounds> = (0..84).map(|_| rounds(machine.row(5, 0.006, 0.0))).collect();
        for test in test_rows(&first, seed).into_iter().flatten() {
            inside += u32::from(test.middle.abs() < test.half);
            total += 1;
        }
    }
    let share = f64::from(inside) / f64::from(total);
    assert!((0.93..0.975).contains(&share), "{share}");
}

#[test]
fn the_least_difference_is_shown_as_often_as_it_is_said_to_be() {
    let mut machine = Machine { random: Random(41), disturbed: 0.01 };
    for rows in [1, 30] {
        let least: Vec<f64> = (0..10)
            .map(|seed| {
                let noises: Vec<f64> = (0..rows).map(|_| machine.usual_noise()).collect();
                let first: Vec<Rounds> =
                    noises.iter().map(|&noise| rounds(machine.row(5, noise, 0.0))).collect();
                least_shown(&first, 10, seed)[0].unwrap().exp_m1()
            })
            .collect();
        let least = median(&least);
        let shown = count(rows, 0.01, least, 42, |report| report[0].verdict == Verdict::Faster);
        assert!((72..=95).contains(&shown), "{rows} rows: {least} shown in {shown} of 100 reports");
    }
}

#[test]
fn a_noisy_class_hides_nothing_of_a_quiet_one() {
    let mut machine = Machine { random: Random(51), disturbed: 0.0 };
    let (mut wrong, mut found) = (0, 0);
    for seed in 0..40 {
        let of = |row: usize| (row / 20, [0.001, 0.03][row / 20], if row == 0 { 0.02 } else { 0.0 });
        let first: Vec<Rounds> = (0..40)
            .map(|row| {
                let (class, noise, effect) = of(row);
                Rounds { class, logs: machine.row(5, noise, effect) }
            })
            .collect();
        let report = compare(&first, &vec![Rounds::default(); 40], 0, seed);
        let verdict = |row: usize| report[row].unwrap().verdict;
        found += u32::from(verdict(0) == Verdict::Faster);
        wrong += u32::from((1..40).any(|row| matches!(verdict(row), Verdict::Faster | Verdict::Slower)));
    }
    assert!(wrong <= 3 && found >= 36, "wrong in {wrong}, found in {found} of 40");
}
