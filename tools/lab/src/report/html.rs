//! The report as one page: a file that opens anywhere, without network or script.
//!
//! Markup is well-formed XML, too, so that tests can read it. Whatever a name holds is text
//! ([`text::escape`]).

use std::fmt::Write;

use crate::journal::{Figures, Header, RowKey};
use crate::ledger::History;

use super::row::{Group, Row, TargetResult, groups, rows_of};
use super::standing::{Standing, sign};
use super::summary::{Tally, tallies};

mod bars;
mod canvas;
mod costs;
mod flames;
mod heat;
mod history;
mod intro;
mod relative;
mod text;

pub use flames::{Profile, profiles};
pub use relative::relative;

use bars::{Bar, Scale};
use text::escape;

/// What a page shows beside the measurements.
#[derive(Debug, Default)]
pub struct Extras {
    /// The instruction ledger over time, if one was given.
    pub history: Option<History>,
    /// Stacks of profiled servers.
    pub profiles: Vec<Profile>,
}

/// The whole page.
pub fn html(header: &Header, rows: &[Row], extras: &Extras) -> String {
    let report = Report { header, rows };
    let names: Vec<String> = header.targets.iter().map(|t| escape(&t.0)).collect();
    let title = format!("{} compared", names.join(", "));
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <meta name=\"color-scheme\" content=\"light dark\"/>\n<title>{title}</title>\n<style>\n{}</style>\n</head>\n<body>\n\
         <h1>{title}</h1>\n",
        include_str!("html/style.css")
    );
    report.introduce(&mut out);
    report.summary(&mut out);
    report.heat_map(&mut out);
    report.rates(&mut out);
    report.cpu(&mut out);
    report.costs(&mut out);
    report.failures(&mut out);
    history::section(extras.history.as_ref(), &mut out);
    flames::section(&extras.profiles, &mut out);
    out.push_str("</body>\n</html>\n");
    out
}

struct Report<'a> {
    header: &'a Header,
    rows: &'a [Row],
}

impl<'a> Report<'a> {
    fn groups(&self) -> Vec<Group<'a>> {
        groups(self.rows)
    }

    fn rows_of(&self, group: Group<'a>) -> impl Iterator<Item = &'a Row> {
        rows_of(self.rows, group)
    }

    fn figures(row: &Row, target: usize) -> Option<&Figures> {
        match &row.results[target] {
            TargetResult::Measured(figures, _) => Some(figures),
            TargetResult::Failed(_) | TargetResult::Missing => None,
        }
    }

    fn bars(&self, group: Group<'a>, target: usize) -> Vec<Bar<'a>> {
        let bar = |row: &'a Row| Bar {
            name: &row.key.workload,
            standing: Standing::of(row, target),
            figures: Self::figures(row, target),
            base: Self::figures(row, 0),
        };
        self.rows_of(group).map(bar).collect()
    }

    /// One chart per group and target; none for a target that has no number there.
    fn charts(&self, first: usize, out: &mut String, draw: impl Fn(&[Bar], &str) -> String) {
        for group in self.groups() {
            // Writing to a string does not fail.
            let _ = writeln!(out, "<h3>{}</h3>\n<div class=\"charts\">", escape(&in_words(group)));
            for (target, (name, _)) in self.header.targets.iter().enumerate().skip(first) {
                let label = format!("{name}, {}", in_words(group));
                let bars = self.bars(group, target);
                let image = if bars.iter().any(|bar| bar.figures.is_some()) {
                    draw(&bars, &label)
                } else {
                    "<p class=\"muted\">No number in any row.</p>".to_owned()
                };
                let _ = writeln!(out, "<figure><figcaption>{}</figcaption>\n{image}</figure>", escape(name));
            }
            out.push_str("</div>\n");
        }
    }

    fn rates(&self, out: &mut String) {
        if self.header.targets.len() < 2 {
            return;
        }
        let base = escape(&self.header.targets[0].0);
        let _ = writeln!(
            out,
            "<h2 id=\"rates\">Queries a second, row by row</h2>\n<p>Each bar goes from 1, which is {base}, to the median of the \
             target's relative queries a second; the thin line is its 95 % interval, in figures at the right. The scale is \
             logarithmic: twice as fast is as far to the right as half as fast is to the left. A bar beyond the scale is cut, its \
             figure is not.</p>"
        );
        let targets = 1..self.header.targets.len();
        let reached = self.rows.iter().flat_map(|row| {
            targets.clone().flat_map(move |target| match Standing::of(row, target) {
                Standing::Compared(c) => vec![c.interval.0, c.interval.1],
                Standing::Unjudged(ratio) => vec![ratio],
                _ => Vec::new(),
            })
        });
        let scale = Scale::of(reached);
        self.charts(1, out, |bars, label| {
            bars::rates(bars, &scale, &format!("Relative queries a second of {label}"))
        });
    }

    fn cpu(&self, out: &mut String) {
        let base = escape(&self.header.targets[0].0);
        let _ = writeln!(
            out,
            "<h2 id=\"cpu\">CPU per query</h2>\n<p>The server's processor time for one query: <span class=\"swatch user\"></span> in \
             its own code (user mode), then <span class=\"swatch system\"></span> in the kernel on its behalf. Bars are multiples \
             of what {base} needs in the same row; the figures are microseconds: all = user + kernel. A bar beyond \
             four times the base is cut, its figures are not. \"Not seen\": the server runs \
             elsewhere.</p>"
        );
        // One scale for all charts: they are compared with each other.
        let (groups, targets) = (self.groups(), 0..self.header.targets.len());
        let all =
            groups.iter().flat_map(|group| targets.clone().flat_map(|target| self.bars(*group, target)));
        let most = bars::cpu_reach(all.map(|bar| bar.cpu()));
        self.charts(0, out, |bars, label| bars::cpu(bars, most, &format!("CPU per query of {label}")));
    }
}

fn in_words((threads, setting): Group) -> String {
    let clients = if threads == 1 { "1 client".to_owned() } else { format!("{threads} clients") };
    if setting.is_empty() { clients } else { format!("{clients}, {setting}") }
}

fn key_in_words(key: &RowKey) -> String {
    format!("{}, {}", key.workload, in_words((key.threads, &key.setting)))
}
