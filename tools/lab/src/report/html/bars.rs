//! Bars: a row's relative queries a second with their interval, and what an operation costs in CPU.

use crate::journal::Figures;
use crate::stats::Verdict;

use super::canvas::{
    self, Canvas, FASTER, LINE, MUTED, PLAIN, SLOWER, SYSTEM, Side, TEXT, USER, WIDTH, width_of,
};
use super::text::number;
use super::{Standing, sign};

/// Height of a row: a line of text and a bar.
const ROW: i32 = 34;
/// Height of the axis below.
const AXIS: i32 = 20;
/// Room to either side of the scale: half of its longest number.
const MARGIN: i32 = 18;
/// No scale reaches further than this to either side; longer bars are cut, their figures are not.
const RATIO_MAX: f64 = 8.0;
/// No scale of CPU reaches further than this many times the base.
const CPU_MAX: f64 = 4.0;

/// A row of a chart.
pub(super) struct Bar<'a> {
    pub(super) name: &'a str,
    pub(super) standing: Standing<'a>,
    pub(super) figures: Option<&'a Figures>,
    /// The base's figures in this row.
    pub(super) base: Option<&'a Figures>,
}

/// A logarithmic scale around 1, wide enough for all of these.
pub(super) struct Scale {
    low: f64,
    high: f64,
}

impl Scale {
    pub(super) fn of(standings: impl Iterator<Item = f64>) -> Scale {
        let (mut low, mut high) = (1.0 / 1.25f64, 1.25f64);
        for ratio in standings.filter(|r| r.is_finite() && *r > 0.0) {
            (low, high) = (low.min(ratio), high.max(ratio));
        }
        Scale { low: low.max(1.0 / RATIO_MAX), high: high.min(RATIO_MAX) }
    }

    fn at(&self, ratio: f64) -> i32 {
        let share = (ratio.clamp(self.low, self.high) / self.low).ln() / (self.high / self.low).ln();
        MARGIN + (share * f64::from(WIDTH - 2 * MARGIN)).round() as i32
    }
}

/// Relative queries a second.
pub(super) fn rates(bars: &[Bar], scale: &Scale, label: &str) -> String {
    canvas::draw(bars.len() as i32 * ROW + AXIS, label, |canvas| {
        const TICKS: [f64; 13] = [1.0, 0.5, 2.0, 0.25, 4.0, 0.125, 8.0, 0.8, 1.25, 1.5, 0.65, 0.9, 1.1];
        axis(
            canvas,
            bars.len(),
            &TICKS.map(|t| (t, format!("{t}"))),
            |t| scale.at(t),
            (scale.low, scale.high),
        );
        for (at, bar) in bars.iter().enumerate() {
            let top = at as i32 * ROW;
            canvas.heading(bar.name, &bar.standing.in_figures(), top + 9);
            match &bar.standing {
                Standing::Compared(c) => {
                    let ink = match c.verdict {
                        Verdict::Faster => FASTER,
                        Verdict::Slower => SLOWER,
                        Verdict::NoDifference | Verdict::Undecided => PLAIN,
                    };
                    rate(canvas, scale, c.ratio, top, ink);
                    whisker(canvas, scale.at(c.interval.0), scale.at(c.interval.1), top + 23);
                }
                Standing::Unjudged(ratio) => rate(canvas, scale, *ratio, top, PLAIN),
                Standing::Base | Standing::NoBase | Standing::Failed(_) | Standing::Missing => {}
            }
        }
    })
}

fn rate(canvas: &Canvas, scale: &Scale, ratio: f64, top: i32, ink: canvas::Ink) {
    let (one, end) = (scale.at(1.0), scale.at(ratio));
    canvas.rectangle((one.min(end), top + 18), (one.max(end), top + 28), ink);
}

fn whisker(canvas: &Canvas, from: i32, to: i32, middle: i32) {
    canvas.path(vec![(from, middle), (to, middle)], TEXT, 1);
    for x in [from, to] {
        canvas.path(vec![(x, middle - 4), (x, middle + 4)], TEXT, 1);
    }
}

/// Lines and numbers of an axis: those ticks, in order of weight, that have room.
fn axis(
    canvas: &Canvas,
    rows: usize,
    ticks: &[(f64, String)],
    place: impl Fn(f64) -> i32,
    (low, high): (f64, f64),
) {
    let bottom = rows as i32 * ROW;
    let mut taken: Vec<(i32, i32)> = Vec::new();
    for (value, text) in ticks.iter().filter(|(v, _)| (low..=high).contains(v)) {
        let (x, half) = (place(*value), width_of(text) / 2 + 4);
        if taken.iter().any(|&(from, to)| x - half < to && x + half > from) {
            continue;
        }
        taken.push((x - half, x + half));
        let ink = if *value == 1.0 { MUTED } else { LINE };
        // Lines pass behind the bars only, not through the names.
        for row in 0..rows as i32 {
            canvas.path(vec![(x, row * ROW + 17), (x, row * ROW + 29)], ink, 1);
        }
        canvas.label(text, (x, bottom + 10), Side::Middle, MUTED);
    }
}

impl Bar<'_> {
    /// All CPU of an operation as a multiple of the base's; NaN if either is not known.
    pub(super) fn cpu(&self) -> f64 {
        self.figures.map_or(f64::NAN, |figures| self.multiple(figures.cpu_us()))
    }

    fn multiple(&self, us: f64) -> f64 {
        self.base.map_or(f64::NAN, |base| us / base.cpu_us())
    }
}

/// How far a scale from 0 has to reach for all of these multiples.
pub(super) fn cpu_reach(multiples: impl Iterator<Item = f64>) -> f64 {
    multiples.filter(|m| m.is_finite()).fold(1.25, f64::max).min(CPU_MAX)
}

/// CPU of an operation in user mode and kernel, as multiples of the base's, on a scale that reaches to
/// `most`.
pub(super) fn cpu(bars: &[Bar], most: f64, label: &str) -> String {
    let place = |multiple: f64| {
        MARGIN + (multiple.clamp(0.0, most) / most * f64::from(WIDTH - 2 * MARGIN)).round() as i32
    };
    canvas::draw(bars.len() as i32 * ROW + AXIS, label, |canvas| {
        const TICKS: [f64; 7] = [1.0, 0.0, 2.0, 3.0, 4.0, 0.5, 1.5];
        axis(canvas, bars.len(), &TICKS.map(|t| (t, format!("{t}"))), place, (0.0, most));
        for (at, bar) in bars.iter().enumerate() {
            let top = at as i32 * ROW;
            canvas.heading(bar.name, &cpu_in_figures(bar), top + 9);
            let Some(figures) = bar.figures else { continue };
            let (user, all) = (bar.multiple(figures.user_us), bar.cpu());
            if all.is_finite() {
                canvas.rectangle((place(0.0), top + 18), (place(user), top + 28), USER);
                canvas.rectangle((place(user), top + 18), (place(all), top + 28), SYSTEM);
            }
        }
    })
}

fn cpu_in_figures(bar: &Bar) -> String {
    match bar.figures {
        Some(f) if f.cpu_us().is_finite() => {
            format!("{} = {} + {}", number(f.cpu_us()), number(f.user_us), number(f.system_us))
        }
        Some(_) => "not seen".to_owned(),
        None => bar.standing.in_figures(),
    }
}

impl Standing<'_> {
    /// As it is at the right of a bar.
    fn in_figures(&self) -> String {
        match self {
            Standing::Compared(c) => {
                format!("{} {:.2} ({:.2}-{:.2})", sign(c.verdict), c.ratio, c.interval.0, c.interval.1)
            }
            Standing::Unjudged(ratio) => format!("? {ratio:.2}"),
            Standing::Base => "base".to_owned(),
            Standing::NoBase => "no base".to_owned(),
            Standing::Failed(_) => "no number".to_owned(),
            Standing::Missing => "not measured".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_holds_what_it_is_for_and_no_more_than_eightfold() {
        let scale = Scale::of([0.5, 3.0, f64::NAN].into_iter());
        assert_eq!((scale.at(0.5), scale.at(3.0)), (MARGIN, WIDTH - MARGIN));
        assert!(scale.at(1.0) > scale.at(0.9));
        let scale = Scale::of([1e-9, 1e9].into_iter());
        assert_eq!((scale.low, scale.high), (1.0 / 8.0, 8.0));
        assert_eq!(scale.at(1.0), WIDTH / 2);
    }
}
