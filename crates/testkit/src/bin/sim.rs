//! `sim [--seeds N] [--seed S]`: N simulations from seed S on (100 from 0). A seed that fails is named, and does so again.

#![allow(clippy::print_stdout, reason = "a command-line tool reports on standard output")]

use std::process::{Command, ExitCode};

use testkit::flags;
use testkit::sim::{Coverage, run};

const USAGE: &str = "usage: sim [--seeds N] [--seed S]";

/// Seeds a process: threads of a simulation that ended in a power failure stay for good.
const SEEDS_EACH: u64 = 25;

fn main() -> ExitCode {
    match work() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn work() -> Result<(), String> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (mut seeds, mut first) = (100, 0);
    flags::numbers(&args, &mut [("--seeds", &mut seeds), ("--seed", &mut first)]).ok_or(USAGE)?;
    if seeds > SEEDS_EACH {
        let program = std::env::current_exe().map_err(|e| e.to_string())?;
        for from in (first..first + seeds).step_by(SEEDS_EACH as usize) {
            let count = SEEDS_EACH.min(first + seeds - from).to_string();
            let args = ["--seeds", &count, "--seed", &from.to_string()];
            let status = Command::new(&program).args(args).status().map_err(|e| e.to_string())?;
            if !status.success() {
                return Err(format!("a seed from {from} on has failed"));
            }
        }
        return Ok(());
    }
    let mut total = Coverage::default();
    for seed in first..first + seeds {
        let one = run(seed).map_err(|error| format!("seed {seed}: {error}"))?;
        total.operations += one.operations;
        total.answered += one.answered;
        total.found_unanswered += one.found_unanswered;
        total.definitions += one.definitions;
        total.evictions += one.evictions;
        total.log_bytes += one.log_bytes;
        total.failures += one.failures;
        total.failures_in_recovery += one.failures_in_recovery;
    }
    println!("seeds {first}..{}: {total:?}", first + seeds);
    Ok(())
}
