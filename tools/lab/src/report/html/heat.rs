//! The summary per target and group of workloads, and the heat map.

use std::fmt::Write;

use crate::stats::{Verdict, median};

use super::text::{breakable, escape};
use super::{Group, Report, Standing, Tally, in_words, sign, tallies};

/// Differences from which on a colour gets stronger.
const STEPS: [f64; 3] = [1.05, 1.2, 1.5];

impl Report<'_> {
    pub(super) fn summary(&self, out: &mut String) {
        out.push_str(
            "<h2 id=\"summary\">Summary</h2>\n<p>The median of relative queries a second over the rows of a group, and how many rows \
             came to which verdict.</p>\n",
        );
        if self.header.targets.len() < 2 {
            out.push_str("<p>Only one server was measured: there is nothing to compare.</p>\n");
            return;
        }
        for (target, (name, _)) in self.header.targets.iter().enumerate().skip(1) {
            let _ = write!(
                out,
                "<h3>{}</h3>\n<div class=\"scroll\"><table>\n<thead><tr><th>workloads</th><th class=\"number\">median</th>\
                 <th class=\"number\">rows</th><th class=\"number\">▲ faster</th><th class=\"number\">▼ slower</th>\
                 <th class=\"number\">~ no difference shown</th><th class=\"number\">? undecided</th>\
                 <th class=\"number\">no number</th></tr></thead>\n<tbody>\n",
                escape(name)
            );
            for (group, tally) in tallies(self.rows, target) {
                let middle = median(&tally.ratios);
                let middle = if middle.is_finite() { format!("{middle:.2}") } else { "none".to_owned() };
                let _ = write!(out, "<tr><th>{group}</th><td class=\"number\">{middle}</td>");
                let Tally { rows, faster, slower, no_difference, unsure, none, .. } = tally;
                for count in [rows, faster, slower, no_difference, unsure, none] {
                    let _ = write!(out, "<td class=\"number\">{count}</td>");
                }
                out.push_str("</tr>\n");
            }
            out.push_str("</tbody></table></div>\n");
        }
    }

    pub(super) fn heat_map(&self, out: &mut String) {
        if self.header.targets.len() < 2 {
            return;
        }
        out.push_str(
            "<h2 id=\"heat\">Heat map</h2>\n<p>Relative queries a second of every row. A cell has a colour where a difference is \
             shown.</p>\n",
        );
        // Reads have no setting, writes one or more: maps of their own instead of one with empty quarters.
        let mut maps: Vec<(Vec<&str>, Vec<Group>)> = Vec::new();
        for group in self.groups() {
            let workloads: Vec<&str> = self.rows_of(group).map(|row| &row.key.workload[..]).collect();
            match maps.iter_mut().find(|(same, _)| *same == workloads) {
                Some((_, groups)) => groups.push(group),
                None => maps.push((workloads, vec![group])),
            }
        }
        for (workloads, groups) in maps {
            self.one_map(&workloads, &groups, out);
        }
    }

    fn one_map(&self, workloads: &[&str], groups: &[Group], out: &mut String) {
        let targets = &self.header.targets[1..];
        out.push_str(
            "<div class=\"scroll\"><table class=\"heat\">\n<thead><tr><th rowspan=\"2\">workload</th>",
        );
        for group in groups {
            let words = escape(&in_words(*group));
            let _ = write!(out, "<th colspan=\"{}\">{words}</th>", targets.len());
        }
        out.push_str("</tr>\n<tr>");
        for (name, _) in groups.iter().flat_map(|_| targets) {
            let _ = write!(out, "<th class=\"name\">{}</th>", escape(name));
        }
        out.push_str("</tr></thead>\n<tbody>\n");
        for workload in workloads {
            let _ = write!(out, "<tr><th class=\"name mono\">{}</th>", breakable(workload));
            for group in groups {
                for row in self.rows_of(*group).filter(|row| row.key.workload == *workload) {
                    for target in 1..=targets.len() {
                        out.push_str(&heat_cell(Standing::of(row, target)));
                    }
                }
            }
            out.push_str("</tr>\n");
        }
        out.push_str("</tbody></table></div>\n");
    }
}

fn heat_cell(standing: Standing) -> String {
    match standing {
        Standing::Compared(c) => {
            let class = match c.verdict {
                Verdict::Faster => format!(" class=\"f{}\"", strength(c.ratio)),
                Verdict::Slower => format!(" class=\"s{}\"", strength(1.0 / c.ratio)),
                Verdict::NoDifference | Verdict::Undecided => String::new(),
            };
            format!("<td{class}>{} {:.2}</td>", sign(c.verdict), c.ratio)
        }
        Standing::Unjudged(ratio) => format!("<td>? {ratio:.2}</td>"),
        Standing::Base => "<td>1</td>".to_owned(),
        Standing::NoBase => "<td class=\"none\">no base</td>".to_owned(),
        Standing::Failed(why) => format!("<td class=\"none\" title=\"{}\">no number</td>", escape(why)),
        Standing::Missing => "<td class=\"none\">not yet</td>".to_owned(),
    }
}

/// How strong the colour of a quotient above 1 is, from 1.
fn strength(quotient: f64) -> usize {
    1 + STEPS.iter().filter(|step| quotient >= **step).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn larger_differences_have_stronger_colours() {
        assert_eq!([1.01, 1.05, 1.3, 9.0].map(strength), [1, 2, 3, 4]);
    }
}
