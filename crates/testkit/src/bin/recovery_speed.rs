//! `recovery_speed BINARY [--megabytes N] [--starts N] [--rows N]`: how fast a server applies its log after a
//! kill.

#![allow(clippy::print_stdout, reason = "a command-line tool reports on standard output")]

use std::path::PathBuf;
use std::process::ExitCode;

use testkit::flags;
use testkit::recovery_speed::{Plan, run};

const USAGE: &str = "usage: recovery_speed BINARY [--megabytes N] [--starts N] [--rows N]";

fn main() -> ExitCode {
    flags::ending(work())
}

fn work() -> Result<(), String> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let binary = PathBuf::from(args.first().ok_or(USAGE)?);
    let (mut megabytes, mut starts, mut rows) = (1024, 3, 400_000);
    let mut flags = [("--megabytes", &mut megabytes), ("--starts", &mut starts), ("--rows", &mut rows)];
    flags::numbers(&args[1..], &mut flags).ok_or(USAGE)?;
    let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
    let plan = Plan { binary: &binary, folder: folder.path(), megabytes, starts, rows };
    for (number, told) in (1..).zip(run(&plan)?) {
        println!("start {number}:");
        for line in told {
            println!("  {line}");
        }
    }
    Ok(())
}
