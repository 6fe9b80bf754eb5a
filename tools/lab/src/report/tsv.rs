//! The report for programs: one line per row and target.

use std::fmt::Write;

use crate::journal::Header;
use crate::stats::Estimate;

use super::row::{Row, TargetResult};

const COLUMNS: &str = "workload\tthreads\tsetting\ttarget\tqps\tratio\tlow\thigh\tp\tleast\tverdict\trounds\tp50_ms\tp95_ms\tp99_ms\t\
     user_us\tsystem_us\tvoluntary_switches\tinvoluntary_switches\tdisk_bytes\tlog_bytes\tlog_syncs\tpeak_rss_bytes\t\
     temp_bytes\tother_cores\tretried\tto_best\tto_best_low\tto_best_high\tfailure";

/// All rows as tab-separated values; what is not known is empty.
pub fn tsv(header: &Header, rows: &[Row]) -> String {
    let mut out = format!("{COLUMNS}\n");
    for row in rows {
        for (((name, _), result), to_best) in header.targets.iter().zip(&row.results).zip(&row.to_best) {
            let key = &row.key;
            // Writing to a string does not fail.
            let _ = write!(out, "{}\t{}\t{}\t{name}\t", key.workload, key.threads, key.setting);
            out.push_str(&fields(result, *to_best));
            out.push('\n');
        }
    }
    out
}

fn fields(result: &TargetResult, to_best: Option<Estimate>) -> String {
    let columns = COLUMNS.split('\t').count() - 4;
    match result {
        TargetResult::Measured(f, comparison) => {
            let number = |x: f64| if x.is_finite() { format!("{x:.4}") } else { String::new() };
            let mut fields = vec![number(f.qps)];
            match comparison {
                Some(c) => {
                    fields.extend([c.ratio, c.interval.0, c.interval.1, c.p, c.least].map(number));
                    fields.extend([c.verdict.in_words().to_owned(), c.rounds.to_string()]);
                }
                None => fields.extend(std::iter::repeat_n(String::new(), 7)),
            }
            fields.extend([f.p50_ms, f.p95_ms, f.p99_ms, f.user_us, f.system_us].map(number));
            fields.extend(
                [f.voluntary_switches, f.involuntary_switches, f.disk_bytes, f.log_bytes].map(number),
            );
            fields
                .extend([f.log_syncs, f.peak_rss_bytes, f.temp_bytes, f.other_cores, f.retried].map(number));
            let to_best = to_best.map_or([f64::NAN; 3], |e| [e.ratio, e.interval.0, e.interval.1]);
            fields.extend(to_best.map(number));
            fields.push(String::new());
            fields.join("\t")
        }
        TargetResult::Failed(why) => "\t".repeat(columns - 1) + &why.replace(['\t', '\n'], " "),
        TargetResult::Missing => "\t".repeat(columns - 1) + "not measured",
    }
}
