//! The access-path suite under `tests/access`: answers, plans and rows examined of its queries;
//! `testkit::access` says what each must be. `RATCHET_ACCESS_RECORD=1` writes plans and counts again,
//! `RATCHET_ACCESS_FILES=a,b` runs some files alone, `RATCHET_ACCESS_CPU=N` prints each query's processor
//! time, the mean of N runs, in place of the check; with `RATCHET_ACCESS_MYSQL=PORT,PID` that of a MySQL
//! server beside it.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "test code")]

use std::path::{Path, PathBuf};

use testkit::access::check;
use testkit::access::cpu::{self, Side};
use testkit::runner::Target;
use testkit::server::TestServer;

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/access");
    let wanted = std::env::var("RATCHET_ACCESS_FILES").ok();
    let is_wanted = |path: &PathBuf| {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let is_script = path.extension().is_some_and(|extension| extension == "test");
        is_script && wanted.as_ref().is_none_or(|names| names.split(',').any(|wanted| wanted == name))
    };
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).filter(is_wanted).collect();
    files.sort();
    files
}

/// A MySQL server to compare with.
fn mysql() -> Option<Side> {
    let place = std::env::var("RATCHET_ACCESS_MYSQL").ok()?;
    let (port, pid) = place.split_once(',').unwrap();
    let target = Target { port: port.parse().unwrap(), user: "root".to_owned() };
    Some(Side { name: "mysql", target, pid: pid.parse().unwrap() })
}

#[test]
fn queries_examine_no_more_rows_than_their_best_key_and_mysql_do() {
    let server = TestServer::start(Path::new(env!("CARGO_BIN_EXE_ratchetd")), &[]).unwrap();
    let target = Target { port: server.port, user: "root".to_owned() };
    if let Ok(repeats) = std::env::var("RATCHET_ACCESS_CPU") {
        let own = Side { name: "ratchet", target, pid: server.pid() };
        let sides: Vec<Side> = std::iter::once(own).chain(mysql()).collect();
        let lines = cpu::report(&files(), &sides, repeats.parse().unwrap()).unwrap();
        println!("{}", lines.join("\n"));
        return;
    }
    let record = std::env::var_os("RATCHET_ACCESS_RECORD").is_some();
    let report = check::run_files(&files(), &target, record).unwrap();
    println!("{} queries", report.queries);
    assert!(
        report.failures.is_empty(),
        "{}\n{} failures",
        report.failures.join("\n\n"),
        report.failures.len()
    );
}
