//! The report for people: tables in Markdown, readable as they are.

use std::fmt::Write;

use crate::journal::{Header, RowKey};
use crate::stats::{Estimate, median};

use super::number::thousands;
use super::row::{Row, TargetResult, groups, rows_of};
use super::summary::{Tally, tallies};

/// The whole report.
pub fn markdown(header: &Header, rows: &[Row]) -> String {
    let mut out = String::from("# Comparison\n\n");
    introduce(header, &mut out);
    if header.targets.len() > 1 {
        summary(header, rows, &mut out);
    }
    for group in groups(rows) {
        let (threads, setting) = group;
        let rows: Vec<&Row> = rows_of(rows, group).collect();
        let clients =
            if threads == 1 { "1 client thread".to_owned() } else { format!("{threads} client threads") };
        let setting = if setting.is_empty() { String::new() } else { format!(", {setting}") };
        // Writing to a string does not fail.
        let _ = write!(out, "\n## {clients}{setting}\n\n");
        rates(header, &rows, &mut out);
        if header.targets.len() > 2 {
            against_best(header, &rows, &mut out);
        }
        costs(header, &rows, &mut out);
    }
    failures(header, rows, &mut out);
    out
}

fn introduce(header: &Header, out: &mut String) {
    let base = &header.targets[0].0;
    let _ = writeln!(out, "| target | version |\n|---|---|");
    for (name, version) in &header.targets {
        let version = if version.is_empty() { "did not answer" } else { version };
        let _ = writeln!(out, "| {name} | {version} |");
    }
    for (name, words) in &header.settings {
        let _ = writeln!(out, "| setting *{name}* | {words} |");
    }
    let (tables, rows) = header.data;
    let _ = writeln!(
        out,
        "\n{}; {}; {tables} x {rows} rows; {} s a cell. Each figure is the median of its rounds; *x* is queries a second as a \
         multiple of {base}'s, with its 95 % interval. **Bold**: a difference is shown (all rows together name a wrong one in at \
         most 5 of 100 reports). *~*: no difference shown. *?*: undecided.",
        header.date,
        header.machine.in_words(),
        header.seconds,
    );
}

/// Relative queries a second of each group of workloads: median, least and most.
fn summary(header: &Header, rows: &[Row], out: &mut String) {
    let names: Vec<&str> = header.targets[1..].iter().map(|t| &t.0[..]).collect();
    let base = &header.targets[0].0;
    let _ = writeln!(
        out,
        "\n## Summary\n\nQueries a second as a multiple of {base}'s: the median of the rows (least to most), how many of them are \
         shown to be faster or slower, and the least difference that four of five such reports would show.\n\n| workloads | rows | {} |\n|---|---:|{}",
        names.join(" | "),
        "---:|".repeat(names.len()),
    );
    let targets: Vec<_> = (1..header.targets.len()).map(|target| tallies(rows, target)).collect();
    for (at, (group, tally)) in targets[0].iter().enumerate() {
        let cells: Vec<String> = targets.iter().map(|tallies| tallied(&tallies[at].1)).collect();
        let _ = writeln!(out, "| {group} | {} | {} |", tally.rows, cells.join(" | "));
    }
}

fn tallied(tally: &Tally) -> String {
    let middle = median(&tally.ratios);
    if !middle.is_finite() {
        return "-".to_owned();
    }
    let least = tally.ratios.iter().copied().fold(f64::INFINITY, f64::min);
    let most = tally.ratios.iter().copied().fold(0.0, f64::max);
    let Tally { faster, slower, .. } = tally;
    let shown = median(&tally.leasts);
    let shown = match 100.0 * shown {
        percent if percent <= 100.0 => format!("; {percent:.1} %"),
        percent if percent > 100.0 => "; over 100 %".to_owned(),
        _ => String::new(),
    };
    format!("x {middle:.2} ({least:.2} to {most:.2}); {faster} faster, {slower} slower{shown}")
}

/// Queries a second, and how they compare.
fn rates(header: &Header, rows: &[&Row], out: &mut String) {
    let names: Vec<&str> = header.targets.iter().map(|t| &t.0[..]).collect();
    let _ = writeln!(out, "| queries a second | {} |", names.join(" | "));
    let _ = writeln!(out, "|---|{}", "---:|".repeat(names.len()));
    for row in rows {
        let cells: Vec<String> = row.results.iter().map(rate).collect();
        let _ = writeln!(out, "| {} | {} |", row.key.workload, cells.join(" | "));
    }
}

fn rate(result: &TargetResult) -> String {
    use crate::stats::Verdict::{Faster, NoDifference, Slower, Undecided};
    match result {
        TargetResult::Failed(_) => "failed".to_owned(),
        TargetResult::Missing => "-".to_owned(),
        TargetResult::Measured(figures, None) => number(figures.qps),
        TargetResult::Measured(figures, Some(c)) => {
            let multiple = format!("x {:.2} ({:.2} to {:.2})", c.ratio, c.interval.0, c.interval.1);
            let multiple = match c.verdict {
                Faster | Slower => format!("**{multiple}**"),
                NoDifference => format!("~ {multiple}"),
                Undecided => format!("? {multiple}"),
            };
            format!("{} {multiple}", number(figures.qps))
        }
    }
}

/// How each target stands to the best of the others: of a row, the one with the highest median.
fn against_best(header: &Header, rows: &[&Row], out: &mut String) {
    let names: Vec<&str> = header.targets.iter().map(|t| &t.0[..]).collect();
    let _ = writeln!(out, "\n| times the best of the others, 95 % interval | {} |", names.join(" | "));
    let _ = writeln!(out, "|---|{}", "---:|".repeat(names.len()));
    for row in rows {
        let cell = |estimate: &Option<Estimate>| match estimate {
            Some(e) => format!("{:.2} ({:.2} to {:.2})", e.ratio, e.interval.0, e.interval.1),
            None => "-".to_owned(),
        };
        let cells: Vec<String> = row.to_best.iter().map(cell).collect();
        let _ = writeln!(out, "| {} | {} |", row.key.workload, cells.join(" | "));
    }
}

/// What an operation costs the server.
fn costs(header: &Header, rows: &[&Row], out: &mut String) {
    let names: Vec<&str> = header.targets.iter().map(|t| &t.0[..]).collect();
    let _ = writeln!(
        out,
        "\n| CPU us (user + system) · context switches (own + forced) · p99 ms | {} |",
        names.join(" | ")
    );
    let _ = writeln!(out, "|---|{}", "---:|".repeat(names.len()));
    for row in rows {
        let cells: Vec<String> = row.results.iter().map(cost).collect();
        let _ = writeln!(out, "| {} | {} |", row.key.workload, cells.join(" | "));
    }
}

fn cost(result: &TargetResult) -> String {
    let TargetResult::Measured(f, _) = result else { return "-".to_owned() };
    let cpu = if f.cpu_us().is_finite() {
        format!("{} ({:.1} + {:.1})", number(f.cpu_us()), f.user_us, f.system_us)
    } else {
        "not seen".to_owned()
    };
    let switches = if f.voluntary_switches.is_finite() {
        format!("{:.2} + {:.2}", f.voluntary_switches, f.involuntary_switches)
    } else {
        "not seen".to_owned()
    };
    let temporary = match f.temp_bytes {
        bytes if bytes.is_finite() => format!(" · {:.1} MiB of temporary files", bytes / f64::from(1 << 20)),
        _ => String::new(),
    };
    format!("{cpu} · {switches} · {:.2}{temporary}", f.p99_ms)
}

/// Reasons for missing numbers, each once.
fn failures(header: &Header, rows: &[Row], out: &mut String) {
    let mut lines = Vec::new();
    for row in rows {
        for ((name, _), result) in header.targets.iter().zip(&row.results) {
            if let TargetResult::Failed(why) = result {
                lines.push(format!("- {name}, {}: {why}", in_words(&row.key)));
            }
        }
    }
    if !lines.is_empty() {
        let _ = write!(out, "\n## Without a number\n\n{}\n", lines.join("\n"));
    }
}

fn in_words(key: &RowKey) -> String {
    let setting = if key.setting.is_empty() { String::new() } else { format!(", {}", key.setting) };
    format!("{}, {} threads{setting}", key.workload, key.threads)
}

/// A number with three digits or more, thousands parted.
fn number(value: f64) -> String {
    if !value.is_finite() {
        return "-".to_owned();
    }
    if value < 100.0 {
        return format!("{value:.1}");
    }
    thousands(value)
}
