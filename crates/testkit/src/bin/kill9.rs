//! `kill9 BINARY [--rounds N] [--clients N] [--definers N] [--sysbench N] [--seed N] [--run-ms N]`: kills a
//! server under load and reads what is left.

#![allow(clippy::print_stdout, reason = "a command-line tool reports on standard output")]

use std::path::PathBuf;
use std::process::ExitCode;

use testkit::flags;
use testkit::kill9::{Plan, run};

const USAGE: &str =
    "usage: kill9 BINARY [--rounds N] [--clients N] [--definers N] [--sysbench N] [--seed N] [--run-ms N]";

fn main() -> ExitCode {
    flags::ending(work())
}

fn work() -> Result<(), String> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let binary = PathBuf::from(args.first().ok_or(USAGE)?);
    let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
    let datadir = folder.path().join("data");
    let options = ["--innodb-buffer-pool-size=8M", "--innodb-redo-log-capacity=8M"];
    let (mut rounds, mut clients, mut definers, mut sysbench, mut seed, mut run_ms) = (30, 8, 4, 8, 1, 4000);
    let mut flags = [
        ("--rounds", &mut rounds),
        ("--clients", &mut clients),
        ("--definers", &mut definers),
        ("--sysbench", &mut sysbench),
        ("--seed", &mut seed),
        ("--run-ms", &mut run_ms),
    ];
    flags::numbers(&args[1..], &mut flags).ok_or(USAGE)?;
    let plan = Plan {
        binary: &binary,
        datadir: &datadir,
        options: &options,
        rounds: rounds as u32,
        clients: clients as u32,
        definers: definers as u32,
        sysbench: sysbench as u32,
        run_ms,
        seed,
    };
    let summary = run(&plan, &mut |line| println!("{line}")).map_err(|error| {
        let kept = folder.keep();
        format!("{error}\nthe data directory is kept: {}", kept.join("data").display())
    })?;
    println!(
        "{} transactions answered, {} statements of definers, and {} transactions of sysbench's, all of them found; {} found \
         that were not answered; {} recoveries cut short",
        summary.acknowledged,
        summary.definitions,
        summary.sysbench,
        summary.found_unanswered,
        summary.cut_short
    );
    Ok(())
}
