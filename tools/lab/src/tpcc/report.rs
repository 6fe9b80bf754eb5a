//! The report: medians of rounds, ratios to the best of the other servers.

use std::fmt::Write;

use crate::stats::median;
use crate::tpcc::compare::{Plan, Results, Run, Setting};
use crate::tpcc::measure::{Figures, OfKind};
use crate::tpcc::mix::Kind;

/// Returns the report as Markdown.
pub fn markdown(plan: &Plan, results: &Results) -> String {
    let mut text = head(plan, results);
    let mut settings: Vec<Setting> = Vec::new();
    for run in &results.runs {
        if !settings.contains(&run.setting) {
            settings.push(run.setting);
        }
    }
    for setting in settings {
        of_setting(&mut text, results, setting);
    }
    let faults: Vec<String> =
        results.faults.iter().cloned().chain(results.runs.iter().flat_map(faults)).collect();
    if !faults.is_empty() {
        let _ = writeln!(text, "\n## Faults\n");
        text.extend(faults.iter().map(|fault| format!("- {fault}\n")));
    }
    text
}

fn head(plan: &Plan, results: &Results) -> String {
    let servers: Vec<String> =
        results.servers.iter().map(|(name, version)| format!("{name} ({version})")).collect();
    let is_local = plan.targets.iter().filter(|target| target.url.contains("?socket=")).count();
    let transport = match is_local {
        0 => "TCP",
        n if n == plan.targets.len() => "Unix sockets",
        _ => "TCP or Unix sockets",
    };
    let homes = if plan.is_bound { "bound to warehouses" } else { "at any warehouse" };
    format!(
        "# TPC-C\n\n{} warehouses; {} rounds of {} s after {} s; terminals {homes}, without keying and think times, in \
         {} thread(s) of the client; {transport}.\n{}. {}. {}.\n",
        plan.scale.warehouses,
        plan.rounds,
        plan.seconds,
        plan.warmup_seconds,
        plan.client_threads,
        servers.join(", "),
        results.machine.in_words(),
        results.date
    )
}

fn faults(run: &Run) -> Vec<String> {
    run.faults.iter().map(|fault| format!("{}, round {}: {fault}", run.target, run.round + 1)).collect()
}

fn of_setting(text: &mut String, results: &Results, setting: Setting) {
    let Setting { flush, terminals, dialect } = setting;
    let _ = writeln!(text, "\n## flush {flush}, {terminals} terminals, {}\n", dialect.name());
    let _ = writeln!(
        text,
        "| server | tpmC, median | lowest to highest | to the best other | server cores | retried, % |\n|---|---:|---:|---:|---:|---:|"
    );
    let of_server = |name: &str| -> Vec<&Run> {
        let is_meant = |run: &&Run| run.target == name && run.setting == setting;
        results.runs.iter().filter(is_meant).collect()
    };
    let servers: Vec<(&str, Vec<&Run>)> =
        results.servers.iter().map(|(name, _)| (&name[..], of_server(name))).collect();
    let medians: Vec<f64> = servers.iter().map(|(_, runs)| tpm_c(runs)).collect();
    for (at, (name, runs)) in servers.iter().enumerate() {
        let others = medians.iter().enumerate().filter(|(other, _)| *other != at);
        let best = others.map(|(_, median)| *median).fold(f64::NAN, f64::max);
        let values: Vec<f64> = figures(runs).map(|figures| figures.tpm_c).collect();
        let _ = writeln!(
            text,
            "| {name} | {} | {} to {} | {} | {} | {} |",
            number(medians[at], 0),
            number(values.iter().copied().fold(f64::NAN, f64::min), 0),
            number(values.iter().copied().fold(f64::NAN, f64::max), 0),
            number(medians[at] / best, 2),
            number(median(&runs.iter().map(|run| run.cores).collect::<Vec<_>>()), 2),
            number(median(&figures(runs).map(retried_percent).collect::<Vec<_>>()), 2),
        );
    }
    let names: Vec<&str> = servers.iter().map(|(name, _)| *name).collect();
    let _ = writeln!(text, "\n| p50 / p95 / p99, ms | {} |", names.join(" | "));
    let _ = writeln!(text, "|---|{}", "---:|".repeat(names.len()));
    for kind in Kind::ALL {
        let cells: Vec<String> = servers.iter().map(|(_, runs)| times(runs, kind)).collect();
        let _ = writeln!(text, "| {} | {} |", kind.name(), cells.join(" | "));
    }
}

fn figures<'a>(runs: &'a [&Run]) -> impl Iterator<Item = &'a Figures> {
    runs.iter().filter_map(|run| run.figures.as_ref())
}

fn tpm_c(runs: &[&Run]) -> f64 {
    median(&figures(runs).map(|figures| figures.tpm_c).collect::<Vec<_>>())
}

/// Tries that ended with a deadlock or lock wait timeout, of a hundred transactions.
fn retried_percent(figures: &Figures) -> f64 {
    let retried: u64 = figures.kinds.iter().map(|kind| kind.deadlocks + kind.timeouts).sum();
    let count: u64 = figures.kinds.iter().map(|kind| kind.count).sum();
    retried as f64 * 100.0 / count.max(1) as f64
}

/// Medians of the rounds' quantiles.
fn times(runs: &[&Run], kind: Kind) -> String {
    let of = |quantile: fn(&OfKind) -> f64| {
        let values: Vec<f64> = figures(runs).map(|figures| quantile(&figures.kinds[kind as usize])).collect();
        number(median(&values), 2)
    };
    format!("{} / {} / {}", of(|k| k.p50_ms), of(|k| k.p95_ms), of(|k| k.p99_ms))
}

fn number(value: f64, places: usize) -> String {
    if value.is_nan() { "-".to_owned() } else { format!("{value:.places$}") }
}
