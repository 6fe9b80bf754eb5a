//! All figures, and the reasons for those that are missing.

use std::fmt::Write;

use crate::journal::{Figures, RowKey};

use super::super::{Row, TargetResult};
use super::text::{breakable, escape, number};
use super::{Report, Standing, in_words, key_in_words, sign};

/// Head of a column, and its figure.
type Column = (&'static str, fn(&Figures) -> f64);

const COLUMNS: [Column; 15] = [
    ("queries a second", |f| f.qps),
    ("p50 ms", |f| f.p50_ms),
    ("p95 ms", |f| f.p95_ms),
    ("p99 ms", |f| f.p99_ms),
    ("user µs", |f| f.user_us),
    ("kernel µs", |f| f.system_us),
    ("switches, own", |f| f.voluntary_switches),
    ("switches, forced", |f| f.involuntary_switches),
    ("disk bytes", |f| f.disk_bytes),
    ("log bytes", |f| f.log_bytes),
    ("log syncs", |f| f.log_syncs),
    ("peak memory MiB", |f| f.peak_rss_bytes / 1_048_576.0),
    ("temporary files MiB", |f| f.temp_bytes / 1_048_576.0),
    ("other work, cores", |f| f.other_cores),
    ("errors tried again", |f| f.retried),
];

impl Report<'_> {
    pub(super) fn costs(&self, out: &mut String) {
        out.push_str(
            "<h2 id=\"costs\">All figures</h2>\n<p>Medians of the rounds. Latencies (p50: half of all are faster; p95, p99: 95 and 99 of 100 are \
             faster) are those of sysbench's events: a query, or a whole transaction. CPU, context switches (a thread that gives up its \
             core by its own doing, or is made to), bytes and syncs are per query. <i>Temporary files</i> are \
             the most bytes at once, of the statements that are known to need some. <i>Other work</i> is cores kept busy by neither server \
             nor client: more than a few hundredths disturb. An empty field: not known.</p>\n",
        );
        for group in self.groups() {
            let words = escape(&in_words(group));
            let _ = write!(
                out,
                "<details open=\"open\"><summary>{words}</summary>\n<div class=\"scroll\"><table class=\"pinned\">\n<thead><tr>\
                 <th>workload, server</th><th class=\"number\">relative, interval</th>"
            );
            for (head, _) in COLUMNS {
                let _ = write!(out, "<th class=\"number\">{head}</th>");
            }
            out.push_str("</tr></thead>\n<tbody>\n");
            for row in self.rows_of(group) {
                self.cost_lines(row, out);
            }
            out.push_str("</tbody></table></div></details>\n");
        }
    }

    fn cost_lines(&self, row: &Row, out: &mut String) {
        let workload = breakable(&row.key.workload);
        let _ = writeln!(
            out,
            "<tr><th class=\"mono\" colspan=\"{}\"><span>{workload}</span></th></tr>",
            COLUMNS.len() + 2
        );
        for (target, (name, _)) in self.header.targets.iter().enumerate() {
            let _ = write!(out, "<tr><th class=\"name\">{}</th>", escape(name));
            if let Some(figures) = Self::figures(row, target) {
                let _ = write!(out, "<td class=\"number\">{}</td>", relative(Standing::of(row, target)));
                for (_, of) in COLUMNS {
                    let _ = write!(out, "<td class=\"number\">{}</td>", number(of(figures)));
                }
            } else {
                let why = why_no_number(&row.results[target]);
                let _ = write!(out, "<td class=\"long\" colspan=\"{}\">{why}</td>", COLUMNS.len() + 1);
            }
            out.push_str("</tr>\n");
        }
    }

    pub(super) fn failures(&self, out: &mut String) {
        out.push_str("<h2 id=\"failures\">Rows without a number</h2>\n");
        let reasons = self.reasons();
        if reasons.is_empty() {
            out.push_str("<p>None: every server has a number in every row.</p>\n");
            return;
        }
        out.push_str(
            "<p>A server that is down, refuses, or answers otherwise than the base has no number, and this is what it \
             said.</p>\n<div class=\"scroll\"><table>\n<thead><tr><th>server</th><th>why</th><th>rows</th></tr></thead>\n<tbody>\n",
        );
        for (target, why, keys) in reasons {
            let rows = if keys.len() == self.rows.len() {
                format!("all {}", keys.len())
            } else {
                keys.into_iter().map(|key| breakable(&key_in_words(key))).collect::<Vec<_>>().join("<br/>")
            };
            let name = escape(&self.header.targets[target].0);
            let _ = writeln!(
                out,
                "<tr><th class=\"name\">{name}</th><td class=\"long\">{why}</td><td class=\"long\">{rows}</td></tr>"
            );
        }
        out.push_str("</tbody></table></div>\n");
    }

    /// Why targets have no number, each reason once per target, with its rows.
    fn reasons(&self) -> Vec<(usize, String, Vec<&RowKey>)> {
        let mut reasons: Vec<(usize, String, Vec<&RowKey>)> = Vec::new();
        for target in 0..self.header.targets.len() {
            for row in self.rows {
                let result = &row.results[target];
                if matches!(result, TargetResult::Measured(..)) {
                    continue;
                }
                let why = why_no_number(result);
                match reasons.iter_mut().find(|(of, same, _)| *of == target && *same == why) {
                    Some((_, _, keys)) => keys.push(&row.key),
                    None => reasons.push((target, why, vec![&row.key])),
                }
            }
        }
        reasons
    }
}

/// Text of a page.
fn why_no_number(result: &TargetResult) -> String {
    match result {
        TargetResult::Failed(why) => escape(why),
        TargetResult::Missing => "not measured yet".to_owned(),
        TargetResult::Measured(..) => String::new(),
    }
}

fn relative(standing: Standing) -> String {
    match standing {
        Standing::Compared(c) => {
            let (low, high) = c.interval;
            format!("{} {:.3} ({low:.3} to {high:.3})", sign(c.verdict), c.ratio)
        }
        Standing::Unjudged(ratio) => format!("? {ratio:.3}"),
        Standing::Base => "base".to_owned(),
        Standing::NoBase | Standing::Failed(_) | Standing::Missing => String::new(),
    }
}
