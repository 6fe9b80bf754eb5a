//! A server that is killed under load: every transaction and every DDL statement that was answered is there,
//! nothing is half done, sums and indexes agree. The long form is `cargo xtask kill9`.

#![allow(clippy::unwrap_used, reason = "test code")]

use std::path::Path;

use testkit::kill9::{Plan, run};

#[test]
fn what_was_answered_survives_kills_under_load() {
    let folder = tempfile::tempdir().unwrap();
    let plan = Plan {
        binary: Path::new(env!("CARGO_BIN_EXE_ratchetd")),
        datadir: &folder.path().join("data"),
        options: &["--innodb-buffer-pool-size=8M", "--innodb-redo-log-capacity=8M"],
        rounds: 4,
        clients: 6,
        definers: 2,
        sysbench: 2,
        run_ms: 1500,
        seed: 1,
    };
    let summary = run(&plan, &mut |line| eprintln!("{line}")).unwrap();
    assert!(summary.definitions > 20, "{summary:?}");
    assert!(summary.acknowledged > 100 && summary.sysbench > 10 && summary.cut_short > 0, "{summary:?}");
}
