//! Runs every script of `tests/isolation` against a server of its own and compares with the recorded answers.

#![allow(clippy::unwrap_used, reason = "test code")]

use std::path::Path;

use testkit::isolation;
use testkit::runner::Target;
use testkit::server::TestServer;

/// Runs one script; every statement whose answer differs from the recorded one is told.
fn run(name: &str) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/isolation").join(name);
    let server = TestServer::start(Path::new(env!("CARGO_BIN_EXE_ratchetd")), &[]).unwrap();
    let target = Target { port: server.port, user: "root".to_owned() };
    let differences = isolation::run_file(&script, &target, false).unwrap();
    assert!(differences.is_empty(), "{} differences:\n{}", differences.len(), differences.join("\n\n"));
}

macro_rules! scripts {
    ($($name:ident),+ $(,)?) => {
        $(
            #[test]
            fn $name() {
                run(concat!(stringify!($name), ".test"));
            }
        )+

        #[test]
        fn every_script_is_run() {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/isolation");
            let mut found: Vec<String> = std::fs::read_dir(folder)
                .unwrap()
                .filter_map(|entry| entry.unwrap().file_name().into_string().unwrap().strip_suffix(".test").map(str::to_owned))
                .collect();
            found.sort();
            assert_eq!(found, [$(stringify!($name)),+]);
        }
    };
}

scripts!(deadlocks, duplicates, gaps, levels, row_locks, skip_nowait);
