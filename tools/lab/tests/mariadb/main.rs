//! The lab on servers that this project did not make: what it finds, and what it makes of those that fail.
//! How the lab itself is compiled does not matter to them: one profile runs these.

#![cfg(debug_assertions)]
#![allow(clippy::unwrap_used, reason = "test code")]

mod failures;
mod proxy;
mod server;

use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use lab::compare;
use lab::config::{Config, Run, TargetConfig};
use lab::journal::Journal;
use lab::report::{Row, TargetResult, markdown, rows};
use lab::stats::{Comparison, Verdict};

use server::Mariadb;

/// One measurement at a time.
static TURN: Mutex<()> = Mutex::new(());

fn config(out: &Path, targets: Vec<TargetConfig>) -> Config {
    let mut config = Config { run: Run::default(), targets, settings: Vec::new() };
    let run = &mut config.run;
    out.clone_into(&mut run.out);
    (run.repetitions, run.confirmations, run.seconds, run.warmup_seconds) = (8, 8, 1, 0);
    (run.threads, run.tables, run.table_rows) = (vec![1], 1, 2000);
    config
}

/// Measures, and reads the report that it shows.
fn measured(config: &Config) -> (Vec<Row>, String) {
    let journal: Journal = compare::run(config).unwrap();
    let rows = rows(&journal.header, &journal.cells);
    let text = markdown(&journal.header, &rows);
    eprint!("{text}");
    (rows, text)
}

fn comparison(result: &TargetResult) -> Comparison {
    match result {
        TargetResult::Measured(_, Some(comparison)) => *comparison,
        other => panic!("{other:?}"),
    }
}

#[test]
fn settings_are_found_to_matter_in_the_direction_they_must() {
    let _turn = TURN.lock();
    let folder = tempfile::tempdir().unwrap();
    let roomy = ["--innodb-buffer-pool-size=256M", "--innodb-flush-log-at-trx-commit=2"];
    let cramped = [
        "--innodb-buffer-pool-size=6M",
        "--innodb-flush-log-at-trx-commit=1",
        "--log-bin=binlog",
        "--sync-binlog=1",
    ];
    let roomy = Mariadb::start(&folder.path().join("roomy"), &roomy);
    let cramped = Mariadb::start(&folder.path().join("cramped"), &cramped);
    let targets = vec![roomy.target("roomy"), cramped.target("cramped")];
    let mut config = config(&folder.path().join("out"), targets);
    config.run.table_rows = 100_000;
    config.run.workloads = vec!["random-points_range=100".to_owned(), "update-nonindex".to_owned()];
    let (rows, text) = measured(&config);
    assert!(rows.len() == 2 && text.contains("MariaDB"), "{text}");
    for row in &rows {
        let comparison = comparison(&row.results[1]);
        assert!(comparison.verdict == Verdict::Slower && comparison.ratio < 0.9, "{text}");
    }
}

/// What the lab says of two targets that are slower than the base by these shares: all are one server, seen
/// through slow links.
fn compare_delayed(server: &Mariadb, losses: [f64; 2]) -> [Comparison; 2] {
    let out = tempfile::tempdir().unwrap();
    let through = |name: &str, loss: f64| {
        let port = proxy::before(server.port, move || proxy::slow_link(Duration::from_millis(4), loss));
        TargetConfig { url: format!("mysql://root@127.0.0.1:{port}"), ..server.target(name) }
    };
    let targets = vec![through("base", 0.0), through("first", losses[0]), through("second", losses[1])];
    let mut config = config(out.path(), targets);
    // All are served by the process of this test.
    config.run.pause_others = false;
    // Where that is permitted, it keeps other jobs of the machine out.
    config.run.realtime = lab::process::make_realtime(server.pid()).is_ok();
    config.run.workloads = vec!["point-query".to_owned()];
    let (rows, _) = measured(&config);
    [1, 2].map(|at| comparison(&rows[0].results[at]))
}

/// A machine full of other work may leave the lab unsure, which it says: then it is asked again. A wrong word
/// it may have once: one report in twenty names a difference that is none.
#[test]
fn a_delay_of_a_tenth_is_found_and_none_is_not() {
    let _turn = TURN.lock();
    let folder = tempfile::tempdir().unwrap();
    let server = Mariadb::start(&folder.path().join("server"), &[]);
    let mut wrong = 0;
    for _ in 0..4 {
        let [delayed, same] = compare_delayed(&server, [0.1, 0.0]);
        let named = matches!(same.verdict, Verdict::Slower | Verdict::Faster);
        wrong += usize::from(named || matches!(delayed.verdict, Verdict::Faster | Verdict::NoDifference));
        assert!(wrong < 2, "{delayed:?} {same:?}");
        if delayed.verdict == Verdict::Slower && !named {
            assert!(delayed.interval.1 < 1.0 && (0.85..0.95).contains(&delayed.ratio), "{delayed:?}");
            return;
        }
    }
    panic!("too noisy in four reports");
}
