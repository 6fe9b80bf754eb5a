//! The report: medians of rounds, ratios to the best of the other servers.

use std::fmt::Write;

use crate::stats::{self, Estimate, Reached, Rounds, median};
use crate::tpcc::compare::{Plan, Results, Run, Setting};
use crate::tpcc::measure::{Figures, OfKind};
use crate::tpcc::mix::Kind;

/// The seed of the arithmetic: the same runs always give the same report.
const SEED: u64 = 1;

/// Returns the report as Markdown.
pub fn markdown(plan: &Plan, results: &Results) -> String {
    let mut text = head(plan, results);
    let mut settings: Vec<Setting> = Vec::new();
    for run in &results.runs {
        if !settings.contains(&run.setting) {
            settings.push(run.setting);
        }
    }
    let to_best = to_best(results, &settings);
    for (setting, to_best) in settings.into_iter().zip(&to_best) {
        of_setting(&mut text, results, setting, to_best);
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

/// Per setting and server: how it stands to the one of the others that has the highest median.
fn to_best(results: &Results, settings: &[Setting]) -> Vec<Vec<Option<Estimate>>> {
    let reached = |name: &str, setting: Setting| -> Reached {
        let meant = runs_of(results, name, setting).into_iter();
        meant.filter_map(|run| Some((run.round, run.figures.as_ref()?.tpm_c))).collect()
    };
    let of_setting = |setting: &Setting| {
        let row: Vec<Reached> = results.servers.iter().map(|(name, _)| reached(name, *setting)).collect();
        stats::logs_to_best(&row).into_iter().enumerate().map(|(class, logs)| Rounds { class, logs })
    };
    let rows: Vec<Rounds> = settings.iter().flat_map(of_setting).collect();
    let estimates = stats::estimates(&rows, SEED);
    estimates.chunks(results.servers.len().max(1)).map(<[_]>::to_vec).collect()
}

fn runs_of<'a>(results: &'a Results, name: &str, setting: Setting) -> Vec<&'a Run> {
    results.runs.iter().filter(|run| run.target == name && run.setting == setting).collect()
}

fn of_setting(text: &mut String, results: &Results, setting: Setting, to_best: &[Option<Estimate>]) {
    let Setting { flush, terminals, dialect } = setting;
    let _ = writeln!(text, "\n## flush {flush}, {terminals} terminals, {}\n", dialect.name());
    let _ = writeln!(
        text,
        "| server | tpmC, median | lowest to highest | to the best other, 95 % interval | server cores | retried, % |\n|---|---:|---:|---:|---:|---:|"
    );
    let servers: Vec<(&str, Vec<&Run>)> =
        results.servers.iter().map(|(name, _)| (&name[..], runs_of(results, name, setting))).collect();
    let medians: Vec<f64> = servers.iter().map(|(_, runs)| tpm_c(runs)).collect();
    for (at, (name, runs)) in servers.iter().enumerate() {
        let others = medians.iter().enumerate().filter(|(other, _)| *other != at);
        let best = others.map(|(_, median)| *median).fold(f64::NAN, f64::max);
        let standing = match to_best.get(at) {
            Some(Some(e)) => format!("{:.2} ({:.2} to {:.2})", e.ratio, e.interval.0, e.interval.1),
            _ => number(medians[at] / best, 2),
        };
        let values: Vec<f64> = figures(runs).map(|figures| figures.tpm_c).collect();
        let _ = writeln!(
            text,
            "| {name} | {} | {} to {} | {} | {} | {} |",
            number(medians[at], 0),
            number(values.iter().copied().fold(f64::NAN, f64::min), 0),
            number(values.iter().copied().fold(f64::NAN, f64::max), 0),
            standing,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Machine;
    use crate::tpcc::dialect::Dialect;

    fn run(target: &str, round: usize, terminals: usize, tpm_c: f64) -> Run {
        let setting = Setting { flush: 1, terminals, dialect: Dialect::Batched };
        let figures = Some(Figures { tpm_c, kinds: Vec::new() });
        Run { target: target.to_owned(), round, setting, figures, cores: 1.0, faults: Vec::new() }
    }

    fn results(rounds: usize) -> (Results, Vec<Setting>) {
        let mut runs = Vec::new();
        for round in 0..rounds {
            let machine = 1.0 + 0.2 * round as f64;
            for (name, tpm_c) in [("a", 200.0), ("b", 100.0), ("c", 50.0)] {
                let noise = 1.0 + 0.01 * ((round * 7 + name.len()) % 3) as f64;
                runs.push(run(name, round, 16, tpm_c * machine * if name == "a" { noise } else { 1.0 }));
            }
        }
        let settings = vec![runs[0].setting];
        let servers = ["a", "b", "c"].map(|name| (name.to_owned(), "1".to_owned())).to_vec();
        let (machine, date) = (Machine::this(), String::new());
        (Results { servers, machine, date, faults: Vec::new(), runs }, settings)
    }

    #[test]
    fn each_server_is_compared_round_by_round_to_the_best_other() {
        let (results, settings) = results(5);
        let [a, b, c] = to_best(&results, &settings)[0][..] else { panic!("three servers") };
        let (a, b, c) = (a.unwrap(), b.unwrap(), c.unwrap());
        assert!((1.99..2.05).contains(&a.ratio) && a.interval.0 < a.ratio && a.ratio < a.interval.1, "{a:?}");
        assert!(b.ratio < 0.51 && (0.24..0.26).contains(&c.ratio), "{b:?} {c:?}");
        // What the machine did to both cancels out.
        assert!(a.interval.0 > 1.5 && a.interval.1 < 2.6, "{a:?}");
    }

    #[test]
    fn two_rounds_have_no_interval() {
        let (results, settings) = results(2);
        assert_eq!(to_best(&results, &settings), [[None; 3]]);
    }
}
