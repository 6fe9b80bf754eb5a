//! The performance lab on servers of this build: what it finds, and what it refuses.

use std::path::Path;

use lab::compare;
use lab::config::{Config, Run, TargetConfig};
use lab::report::{TargetResult, markdown, rows};
use lab::stats::Verdict;
use testkit::server::{TestServer, built_with_this_test, is_released};

fn start(options: &[&str]) -> TestServer {
    TestServer::start(&built_with_this_test(), options).unwrap()
}

fn target(name: &str, server: &TestServer) -> TargetConfig {
    let url = format!("mysql://root@127.0.0.1:{}", server.port);
    TargetConfig { name: name.into(), url, start: None, stop: None, replays: None }
}

fn config(out: &Path, targets: Vec<TargetConfig>) -> Config {
    let mut config = Config { run: Run::default(), targets, settings: Vec::new() };
    let run = &mut config.run;
    out.clone_into(&mut run.out);
    (run.repetitions, run.confirmations, run.seconds, run.warmup_seconds) = (8, 8, 1, 0);
    (run.threads, run.tables, run.table_rows) = (vec![1], 1, 2000);
    run.workloads = vec!["update-nonindex".to_owned()];
    config
}

#[test]
fn builds_with_debug_assertions_are_refused() {
    if is_released() {
        return;
    }
    let (one, two) = (start(&[]), start(&[]));
    let out = tempfile::tempdir().unwrap();
    let error =
        compare::run(&config(out.path(), vec![target("one", &one), target("two", &two)])).unwrap_err();
    assert!(error.to_string().contains("debug assertions"), "{error}");
}

/// One measurement at a time.
static TURN: std::sync::Mutex<()> = std::sync::Mutex::new(());

/// Measurements of which one at least must not be too noisy.
const NOISY_TRIES: usize = 6;

fn verdict_of(result: &TargetResult) -> Option<Verdict> {
    match result {
        TargetResult::Measured(_, Some(comparison)) => Some(comparison.verdict),
        _ => None,
    }
}

#[test]
fn a_sync_at_every_commit_is_found_to_cost_and_a_server_that_is_down_is_a_row_that_says_so() {
    if !is_released() {
        return;
    }
    let _turn = TURN.lock();
    let (synced, unsynced) = (start(&[]), start(&["--innodb-flush-log-at-trx-commit=2"]));
    let out = tempfile::tempdir().unwrap();
    let mut down = target("down", &synced);
    down.url = "mysql://root@127.0.0.1:1".to_owned();
    let mut config = config(out.path(), vec![target("synced", &synced), target("unsynced", &unsynced), down]);
    // Of a run of one second it is not known how often threads have waited.
    (config.run.repetitions, config.run.confirmations, config.run.seconds) = (5, 5, 2);
    let mut tries = 0;
    // On a machine that others disturb, one measurement may rightly end with "too noisy". A wrong verdict it
    // never gives.
    let (journal, rows) = loop {
        tries += 1;
        config.run.out = out.path().join(tries.to_string());
        let journal = compare::run(&config).unwrap();
        let rows = rows(&journal.header, &journal.cells);
        if tries == NOISY_TRIES || verdict_of(&rows[0].results[1]) != Some(Verdict::Undecided) {
            break (journal, rows);
        }
    };
    let [base, other, down] = &rows[0].results[..] else { panic!("{rows:?}") };
    let TargetResult::Measured(base, None) = base else { panic!("{base:?}") };
    let TargetResult::Measured(other, Some(comparison)) = other else { panic!("{other:?}") };
    assert_eq!(comparison.verdict, Verdict::Faster, "{comparison:?} {base:?} {other:?}");
    assert!(
        base.qps > 0.0 && base.cpu_us() > 0.0 && base.voluntary_switches > 0.0 && base.p99_ms > 0.0,
        "{base:?}"
    );
    assert!((0.9..1.1).contains(&base.log_syncs) && other.log_syncs < 0.1, "{base:?} {other:?}");
    assert!(matches!(down, TargetResult::Failed(_)));
    let text = markdown(&journal.header, &rows);
    assert!(
        text.contains("| update-nonindex |") && text.contains("- down, update-nonindex, 1 threads: "),
        "{text}"
    );
    // Everything is in the journal: the same call measures nothing again.
    assert_eq!(compare::run(&config).unwrap().cells.len(), journal.cells.len());
}

#[test]
fn the_build_from_which_on_commits_cost_a_sync_is_found_among_five() {
    use lab::bisect::{BisectConfig, Builds, Found, run};
    if !is_released() {
        return;
    }
    let _turn = TURN.lock();
    let folder = tempfile::tempdir().unwrap();
    let binary = built_with_this_test();
    let (place, binary) = (folder.path().display(), binary.display());
    let start = format!(
        "case {{build}} in one|two|three) flush=2;; *) flush=1;; esac; \
         {binary} --no-defaults --port={{port}} --datadir={place}/{{build}} --socket={place}/{{build}}.sock \
         --innodb-flush-log-at-trx-commit=$flush 2>{place}/{{build}}.log & \
         until grep -q ready {place}/{{build}}.log; do sleep 0.05; done"
    );
    let stop = format!("pkill -f 'datadir={place}/{{build}} '");
    let list = ["one", "two", "three", "four", "five"].map(str::to_owned).to_vec();
    let mut run_config = config(&folder.path().join("out"), vec![]).run;
    run_config.pause_others = true;
    // Below the ports that the system gives to connections: one of those may be taken when a server starts.
    let config =
        BisectConfig { run: run_config, builds: Builds { list, git: None, start, stop, port: 24_517 } };
    let mut steps = Vec::new();
    let found = run(&config, &mut |step| steps.push(step.to_owned())).unwrap();
    assert_eq!(found, Found::First("four".to_owned()), "{steps:?}");
    assert!(
        steps[0].starts_with("five: bad") && steps.iter().any(|s| s.starts_with("three: good")),
        "{steps:?}"
    );
}
