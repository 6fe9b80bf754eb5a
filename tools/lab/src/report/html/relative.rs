//! One picture of a whole comparison: how many times each rival's queries a second a server does, over all
//! workloads.

use crate::journal::Header;
use crate::report::row::{Row, TargetResult, groups, rows_of};
use crate::stats::median;

use super::canvas::{Canvas, FASTER, LINE, MUTED, PAPER, PLAIN, SLOWER, Side, TEXT, WIDTH, draw};

/// Height of one rival's line.
const LINE_HEIGHT: i32 = 26;
/// Where the scale begins and ends.
const SCALE: (i32, i32) = (140, WIDTH - 12);

/// The last target's queries a second as multiples of each other target's: a line per rival and group of
/// rows, from the least to the most workload, with a dot at the median. Logarithmic. Empty if there is
/// nothing to compare.
pub fn relative(header: &Header, rows: &[Row]) -> String {
    let lines = lines(header, rows);
    let Some(most) = lines.iter().map(|line| line.most).reduce(f64::max) else { return String::new() };
    let most = most.max(2.0).log2().ceil();
    let least = lines.iter().map(|line| line.least).fold(1.0, f64::min).log2().floor();
    let height = 44 + LINE_HEIGHT * lines.len() as i32;
    let ours = &header.targets[header.targets.len() - 1].0;
    let place = |factor: f64| {
        let share = (factor.log2() - least) / (most - least);
        SCALE.0 + (share * f64::from(SCALE.1 - SCALE.0)).round() as i32
    };
    draw(height, &format!("queries a second of {ours} as multiples of each other server's"), |canvas| {
        canvas.rectangle((0, 0), (WIDTH, height), PAPER);
        for power in least as i32..=most as i32 {
            let x = place(2f64.powi(power));
            let ink = if power == 0 { PLAIN } else { LINE };
            canvas.path(vec![(x, 24), (x, height - 8)], ink, 1);
            canvas.label(&format!("{}x", 2f64.powi(power)), (x, 14), Side::Middle, MUTED);
        }
        for (at, line) in lines.iter().enumerate() {
            line.paint(canvas, 38 + LINE_HEIGHT * at as i32, &place);
        }
    })
}

/// A rival in a group of rows.
struct Line {
    label: String,
    least: f64,
    median: f64,
    most: f64,
}

impl Line {
    fn paint(&self, canvas: &Canvas, middle: i32, place: &dyn Fn(f64) -> i32) {
        canvas.label(&self.label, (0, middle), Side::Left, TEXT);
        let ink = if self.least < 1.0 { SLOWER } else { FASTER };
        canvas.rectangle((place(self.least), middle - 4), (place(self.most), middle + 4), LINE);
        canvas.path(vec![(place(self.least), middle), (place(self.most), middle)], ink, 2);
        canvas.dot((place(self.median), middle), ink);
    }
}

fn lines(header: &Header, rows: &[Row]) -> Vec<Line> {
    let Some(ours) = header.targets.len().checked_sub(1).filter(|&last| last > 0) else { return Vec::new() };
    let mut lines = Vec::new();
    for rival in 0..ours {
        for group in groups(rows) {
            let mut quotients: Vec<f64> =
                rows_of(rows, group).filter_map(|row| quotient(row, ours, rival)).collect();
            quotients.sort_by(f64::total_cmp);
            let (Some(&least), Some(&most)) = (quotients.first(), quotients.last()) else { continue };
            let name = &header.targets[rival].0;
            let label = format!("{name} {}", clients(group.0));
            lines.push(Line { label, least, median: median(&quotients), most });
        }
    }
    lines
}

fn clients(threads: usize) -> String {
    if threads == 1 { "1 client".to_owned() } else { format!("{threads} clients") }
}

fn quotient(row: &Row, ours: usize, rival: usize) -> Option<f64> {
    match (&row.results[ours], &row.results[rival]) {
        (TargetResult::Measured(ours, _), TargetResult::Measured(rival, _)) if rival.qps > 0.0 => {
            Some(ours.qps / rival.qps)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::{Figures, RowKey};

    fn row(workload: &str, rates: [f64; 2]) -> Row {
        let key = RowKey { workload: workload.to_owned(), threads: 1, setting: String::new() };
        let measured = |qps| TargetResult::Measured(Box::new(Figures { qps, ..Figures::default() }), None);
        Row { key, results: rates.map(measured).into(), to_best: vec![None; 2] }
    }

    #[test]
    fn a_line_goes_from_the_least_to_the_most_quotient() {
        let header: Header = serde_json::from_str(
            r#"{"targets":[["rival","1"],["ours","2"]],"data":[1,1],"seconds":1,"repetitions":1,"settings":[],
                "machine":{"processor":"p","cores":2,"memory_mib":1,"kernel":"k"},"date":"2026-01-01"}"#,
        )
        .unwrap();
        let rows = [row("a", [100.0, 50.0]), row("b", [100.0, 300.0]), row("c", [100.0, 800.0])];
        let lines = lines(&header, &rows);
        assert_eq!(lines.len(), 1);
        assert_eq!((lines[0].least, lines[0].median, lines[0].most), (0.5, 3.0, 8.0));
        let picture = relative(&header, &rows);
        assert!(picture.contains("rival 1 client") && picture.contains("8x"), "{picture}");
        assert_eq!(relative(&header, &[]), "");
    }
}
