//! How often the lab names a difference between a server and itself, and how often one that is planted.
//! `cargo xtask power` calls it.
//!
//! `power BINARY RUNS FOLDER`: RUNS reports, each on three new servers from one binary; the link to the last
//! one is slower by 5 %.

#[allow(dead_code, clippy::unwrap_used, reason = "of the tests of the lab")]
#[path = "../tests/mariadb/proxy.rs"]
mod proxy;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use lab::compare;
use lab::config::{Config, Run, TargetConfig};
use lab::report::{TargetResult, rows};
use lab::stats::{Comparison, Verdict, median};
use testkit::server::TestServer;

/// Reads by key and by range, and writes.
const WORKLOADS: [&str; 3] = ["point-query", "range-notcovered-pk", "update-nonindex"];
/// What the slower link takes of a client's queries.
const LOSS: f64 = 0.05;
/// Share of reports that may name a difference between servers that are the same.
const WRONG_MAX: f64 = 0.05;
/// Share of rows that must show the planted difference, where they say that they show one so large.
const POWER: f64 = 0.8;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let result = match &arguments[..] {
        [binary, runs, folder] => runs
            .parse()
            .map_err(|e| format!("{runs}: {e}"))
            .and_then(|runs| prove(Path::new(binary), runs, Path::new(folder))),
        _ => Err("usage: power BINARY RUNS FOLDER".to_owned()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("power: {message}");
            ExitCode::FAILURE
        }
    }
}

fn prove(binary: &Path, runs: usize, folder: &Path) -> Result<(), String> {
    let (mut equal, mut slower, mut wrong) = (Tally::default(), Tally::default(), 0);
    for run in 0..runs {
        let rows = report(binary, run, folder.join(run.to_string()))?;
        wrong += usize::from(rows.iter().any(|[equal, _]| is_named(equal)));
        for row in rows {
            equal.add(&row[0]);
            slower.add(&row[1]);
        }
        eprintln!("{} reports, {wrong} wrong\n  equal: {equal}\n  slower by {LOSS}: {slower}", run + 1);
    }
    if wrong as f64 > runs as f64 * WRONG_MAX {
        return Err(format!("{wrong} of {runs} reports name a difference between a server and itself"));
    }
    let stated = median(&slower.least);
    if stated <= LOSS && (slower.slower as f64) < slower.least.len() as f64 * POWER {
        return Err(format!("{stated:.3} would be shown, it is said; {LOSS} is not"));
    }
    Ok(())
}

fn is_named(comparison: &Comparison) -> bool {
    matches!(comparison.verdict, Verdict::Faster | Verdict::Slower)
}

/// Verdicts of rows.
#[derive(Default)]
struct Tally {
    faster: usize,
    slower: usize,
    undecided: usize,
    none: usize,
    ratios: Vec<f64>,
    /// The least differences that were stated.
    least: Vec<f64>,
}

impl Tally {
    fn add(&mut self, comparison: &Comparison) {
        match comparison.verdict {
            Verdict::Faster => self.faster += 1,
            Verdict::Slower => self.slower += 1,
            Verdict::Undecided => self.undecided += 1,
            Verdict::NoDifference => self.none += 1,
        }
        self.ratios.push(comparison.ratio);
        self.least.push(comparison.least);
    }
}

impl std::fmt::Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Tally { faster, slower, undecided, none, ratios, least } = self;
        let (ratio, least) = (median(ratios), 100.0 * median(least));
        write!(
            f,
            "{faster} faster, {slower} slower, {undecided} undecided, {none} without difference; median ratio {ratio:.3}; \
             {least:.1} % would be shown"
        )
    }
}

/// What a report says of each workload: of the second server, and of the third with its slower link. All are
/// reached through links.
fn report(binary: &Path, run: usize, out: PathBuf) -> Result<Vec<[Comparison; 2]>, String> {
    let start = || TestServer::start(binary, &["--innodb-flush-log-at-trx-commit=2"]);
    let servers = [start()?, start()?, start()?];
    let losses = [("base", 0.0), ("same", 0.0), ("slower", LOSS)];
    let target = |((name, loss), server): ((&str, f64), &TestServer)| {
        let port = proxy::before(server.port, move || proxy::slow_link(Duration::ZERO, loss));
        let url = format!("mysql://root@127.0.0.1:{port}");
        TargetConfig { name: name.to_owned(), url, start: None, stop: None, replays: None }
    };
    let settings = Run {
        seconds: 1,
        warmup_seconds: 0,
        threads: vec![1],
        tables: 1,
        table_rows: 20_000,
        workloads: WORKLOADS.map(str::to_owned).into(),
        out,
        seed: run as u64,
        realtime: true,
        // The links' process is this one.
        pause_others: false,
        ..Run::default()
    };
    let targets = losses.into_iter().zip(&servers).map(target).collect();
    let journal =
        compare::run(&Config { run: settings, targets, settings: Vec::new() }).map_err(|e| e.to_string())?;
    rows(&journal.header, &journal.cells)
        .iter()
        .map(|row| match &row.results[1..] {
            [TargetResult::Measured(_, Some(same)), TargetResult::Measured(_, Some(slower))] => {
                Ok([*same, *slower])
            }
            other => Err(format!("{other:?}")),
        })
        .collect()
}
