//! A journal of made-up measurements, written as the lab writes them: every kind of row and verdict, and
//! hostile names.

use std::ops::Range;
use std::path::Path;

use lab::journal::{Cell, Figures, Header, Journal, Outcome, RowKey};
use lab::machine::Machine;
use lab::report;
use lab::stats::Random;
use lab::workload::{Data, Kind, Workload, catalogue};

/// Rounds of every row.
const ROUNDS: usize = 5;
/// More rounds of rows that look different.
const FRESH: usize = 10;
/// A name that tries to leave its place, and one that tries to be markup.
pub(crate) const HOSTILE_TARGET: &str = "</title><script>alert(1)</script> \"quoted\" & 'so' \u{202e}on\u{0}";
pub(crate) const HOSTILE_WORKLOAD: &str = "<img src=x onerror=alert(2)>]]>--&amp;a-name-of-a-workload-that-is-longer-than-any-chart-has-room-for-漢字";
/// Why a target has no number.
pub(crate) const REFUSED: &str = "ERROR 1064 (42000): syntax error near '<b>'";

/// Names of the sample's targets, the base first.
pub(crate) fn targets() -> [&'static str; 4] {
    ["mysql", "ratchet", HOSTILE_TARGET, "down"]
}

/// Writes a whole output folder, with profiles.
pub(crate) fn write(folder: &Path) -> lab::Result<()> {
    let mut journal = Journal::open(folder, header())?;
    let mut random = Random(7);
    let hostile = Workload { name: HOSTILE_WORKLOAD.to_owned(), ..catalogue().swap_remove(0) };
    let mut rows = Vec::new();
    for (at, workload) in catalogue().iter().chain([&hostile]).enumerate() {
        let settings: &[&str] = if workload.kind == Kind::Write { &["flush 1", "flush 2"] } else { &[""] };
        for setting in settings {
            for threads in [1, 4] {
                let key = RowKey { workload: workload.name.clone(), threads, setting: (*setting).to_owned() };
                let us = 10f64.powf(1.5 + 2.0 * random.unit());
                rows.push(SampleRow { key, data: workload.data, at, us });
            }
        }
    }
    rows.iter().try_for_each(|row| write_row(&mut journal, row, 0..ROUNDS, &mut random))?;
    let unsure = report::unsure(&journal.header, &journal.cells);
    for row in rows.iter().filter(|row| unsure.contains(&row.key)) {
        write_row(&mut journal, row, ROUNDS..ROUNDS + FRESH, &mut random)?;
    }
    let profiles = folder.join("profiles");
    std::fs::create_dir_all(&profiles)
        .map_err(|source| lab::Error::File { path: profiles.clone(), source })?;
    let stacks = "main;serve;<b>parse&\"x\" 40\nmain;serve;execute;read_page 200\nmain;serve;send 90\n";
    for (name, text) in [("ratchet point-query", stacks), ("broken", "no count here\n")] {
        let path = profiles.join(format!("{name}.folded"));
        std::fs::write(&path, text).map_err(|source| lab::Error::File { path, source })?;
    }
    Ok(())
}

fn header() -> Header {
    let versions = ["8.4.6 (made up)", "0.1.0 (made up)", "</dd><script>alert(3)</script>", ""];
    Header {
        targets: targets().map(str::to_owned).into_iter().zip(versions.map(str::to_owned)).collect(),
        data: (2, 200_000),
        seconds: 5,
        repetitions: ROUNDS,
        confirmations: FRESH,
        settings: vec![
            ("flush 1".to_owned(), "innodb_flush_log_at_trx_commit = 1".to_owned()),
            ("flush 2".to_owned(), "innodb_flush_log_at_trx_commit = 2".to_owned()),
        ],
        machine: Machine {
            processor: "A processor that does not exist".to_owned(),
            cores: 2,
            memory_mib: 8000,
            kernel: "6.0.0-made-up".to_owned(),
        },
        date: "2026-01-02".to_owned(),
    }
}

/// What a row's figures are made from.
struct SampleRow {
    key: RowKey,
    data: Data,
    /// Place of its workload.
    at: usize,
    /// The base's microseconds.
    us: f64,
}

/// Rounds of a row: from much slower to much faster than the base by its place, some rows noisy, some
/// refused, one not there at all.
fn write_row(
    journal: &mut Journal,
    row: &SampleRow,
    rounds: Range<usize>,
    random: &mut Random,
) -> lab::Result<()> {
    let speed = (-2.2 + 0.08 * row.at as f64).exp();
    for round in rounds {
        for (target, name) in targets().into_iter().enumerate() {
            let noise = 1.0 + if row.at % 9 == 4 { 0.3 } else { 0.01 } * random.normal().clamp(-2.0, 2.0);
            let us = noise
                * match target {
                    0 => row.us,
                    1 => row.us / speed,
                    _ => row.us * 1.004,
                };
            let outcome = match (target, row.at) {
                (3, _) => Outcome::Failed("connection refused".to_owned()),
                (1, 6) => Outcome::Failed(REFUSED.to_owned()),
                // The lab was interrupted there.
                (2, 40) if round >= 2 => continue,
                (2, 41) => continue,
                _ => Outcome::Measured(Box::new(figures(us, row, target))),
            };
            journal.add(Cell { row: row.key.clone(), round, target: name.to_owned(), outcome })?;
        }
    }
    Ok(())
}

fn figures(us: f64, row: &SampleRow, target: usize) -> Figures {
    // The third target's process cannot be seen.
    let seen = if target == 2 { f64::NAN } else { 1.0 };
    let writes = if row.key.setting.is_empty() { 0.0 } else { 1.0 };
    Figures {
        qps: 1e6 / us * row.key.threads as f64,
        p50_ms: us / 1100.0,
        p95_ms: us / 800.0,
        p99_ms: us / 500.0,
        user_us: us * 0.6 * seen,
        system_us: us * 0.3 * seen,
        voluntary_switches: 1.02 * seen,
        involuntary_switches: 0.01 * seen,
        disk_bytes: 812.5 * writes * seen,
        log_bytes: 350.5 * writes,
        log_syncs: if row.key.setting == "flush 1" { 1.0 } else { 0.0 },
        peak_rss_bytes: 3e8 * seen,
        temp_bytes: if row.data == Data::Groups { 4.2e7 * seen } else { f64::NAN },
        other_cores: 0.02,
        retried: 0.0,
    }
}
