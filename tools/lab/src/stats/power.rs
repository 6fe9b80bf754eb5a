//! Which differences a report can show.

use super::model::{Class, Draw, nulls, tested};
use super::{LEVEL_FRESH, LOOKS_DIFFERENT, Random, Rounds, level_first};

/// Share of reports in which the least difference that is stated is shown.
const POWER: f64 = 0.8;

/// For each row, the least difference (the logarithm of target over base) that a report of such rows shows in
/// four of five cases, where those that look different have up to `fresh` rounds more. It is that of a usual
/// row of the row's class. None: no row of the class has enough rounds.
pub(super) fn least_shown(first: &[Rounds], fresh: usize, seed: u64) -> Vec<Option<f64>> {
    let mut random = Random(seed);
    let mut out = vec![None; first.len()];
    let tested = tested(first);
    for class in Class::all(first, &mut random) {
        let least = of_class(&class, tested, fresh, &mut random);
        for &at in &class.rows {
            out[at] = least;
        }
    }
    out
}

fn of_class(class: &Class, tested: usize, fresh: usize, random: &mut Random) -> Option<f64> {
    let model = class.of_rounds.iter().max_by_key(|model| model.count)?;
    let draws = model.draws(class, tested, random);
    let by_first = needed(&draws, level_first(fresh) / tested as f64, POWER);
    if fresh == 0 {
        return Some(by_first * model.deviation());
    }
    // It has to look different, and then to be confirmed.
    let each = POWER.sqrt();
    let measured_again = (tested as f64 * LOOKS_DIFFERENT).ceil();
    let again = model.with_rounds(fresh, measured_again as usize, random).draws(class, tested, random);
    let confirmed = needed(&again, LEVEL_FRESH / measured_again, each);
    let looks_different = needed(&draws, LOOKS_DIFFERENT, each);
    Some(by_first.min(confirmed.max(looks_different)) * model.deviation())
}

/// The difference that is named with probability `power`, where a row without one is named with probability
/// `level`.
fn needed(draws: &[Draw], level: f64, power: f64) -> f64 {
    let critical = at_share(nulls(draws), 1.0 - level);
    at_share(draws.iter().map(|draw| critical * draw.scale - draw.middle), power)
}

/// The least of the values that this share of them is below.
fn at_share(values: impl Iterator<Item = f64>, share: f64) -> f64 {
    let mut values: Vec<f64> = values.collect();
    let at = ((values.len() as f64 * share) as usize).min(values.len() - 1);
    *values.select_nth_unstable_by(at, f64::total_cmp).1
}
