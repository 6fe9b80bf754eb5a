//! The summary per target and group of workloads, and the heat map.

use std::fmt::Write;

use crate::journal::RowKey;
use crate::stats::{Verdict, median};
use crate::workload::{Kind, catalogue, founding};

use super::text::{breakable, escape};
use super::{Group, Report, Standing, in_words, sign};

/// Groups of workloads, in the order of the summary.
const GROUPS: [&str; 7] = [
    "all rows",
    "reads of freshly loaded tables",
    "writes",
    "reads after the writes",
    "tables loaded anew (insert, delete)",
    "joins, GROUP BY, index builds, changed columns",
    "other workloads",
];

/// Differences from which on a colour gets stronger.
const STEPS: [f64; 3] = [1.05, 1.2, 1.5];

/// What a group's rows came to.
#[derive(Default)]
struct Tally {
    ratios: Vec<f64>,
    rows: usize,
    faster: usize,
    slower: usize,
    no_difference: usize,
    unsure: usize,
    none: usize,
}

impl Tally {
    fn add(&mut self, standing: &Standing) {
        self.rows += 1;
        match standing {
            Standing::Compared(c) => {
                self.ratios.push(c.ratio);
                match c.verdict {
                    Verdict::Faster => self.faster += 1,
                    Verdict::Slower => self.slower += 1,
                    Verdict::NoDifference => self.no_difference += 1,
                    Verdict::TooNoisy => self.unsure += 1,
                }
            }
            Standing::Unjudged(ratio) => {
                self.ratios.push(*ratio);
                self.unsure += 1;
            }
            Standing::Base | Standing::NoBase | Standing::Failed(_) | Standing::Missing => self.none += 1,
        }
    }
}

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
        let groups: Vec<usize> = self.rows.iter().map(|row| group_of(&row.key)).collect();
        for (target, (name, _)) in self.header.targets.iter().enumerate().skip(1) {
            let mut tallies: [Tally; GROUPS.len()] = Default::default();
            for (row, &group) in self.rows.iter().zip(&groups) {
                let standing = Self::standing(row, target);
                tallies[0].add(&standing);
                tallies[group].add(&standing);
            }
            let _ = write!(
                out,
                "<h3>{}</h3>\n<div class=\"scroll\"><table>\n<thead><tr><th>workloads</th><th class=\"number\">median</th>\
                 <th class=\"number\">rows</th><th class=\"number\">▲ faster</th><th class=\"number\">▼ slower</th>\
                 <th class=\"number\">~ no difference shown</th><th class=\"number\">? too noisy</th>\
                 <th class=\"number\">no number</th></tr></thead>\n<tbody>\n",
                escape(name)
            );
            for (group, tally) in GROUPS.iter().zip(&tallies).filter(|(_, tally)| tally.rows > 0) {
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
                        out.push_str(&heat_cell(Self::standing(row, target)));
                    }
                }
            }
            out.push_str("</tr>\n");
        }
        out.push_str("</tbody></table></div>\n");
    }
}

fn group_of(key: &RowKey) -> usize {
    if founding().iter().any(|workload| workload.name == key.workload) {
        return 5;
    }
    match catalogue().iter().find(|workload| workload.name == key.workload).map(|workload| workload.kind) {
        Some(Kind::Read) if key.workload.contains(".pre") => 1,
        Some(Kind::Write) => 2,
        Some(Kind::Read) => 3,
        Some(Kind::Consume) => 4,
        None => 6,
    }
}

fn heat_cell(standing: Standing) -> String {
    match standing {
        Standing::Compared(c) => {
            let class = match c.verdict {
                Verdict::Faster => format!(" class=\"f{}\"", strength(c.ratio)),
                Verdict::Slower => format!(" class=\"s{}\"", strength(1.0 / c.ratio)),
                Verdict::NoDifference | Verdict::TooNoisy => String::new(),
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
    fn every_workload_of_the_catalogue_has_a_group() {
        let group =
            |name: &str| group_of(&RowKey { workload: name.to_owned(), threads: 1, setting: String::new() });
        assert!(catalogue().iter().all(|workload| (1..6).contains(&group(&workload.name))));
        let groups = ["point-query.pre", "update-index", "point-query", "insert", "join", "mine"].map(group);
        assert_eq!(groups, [1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn larger_differences_have_stronger_colours() {
        assert_eq!([1.01, 1.05, 1.3, 9.0].map(strength), [1, 2, 3, 4]);
    }
}
