//! `record PORT FILE...`: rewrites SQL scripts with the answers of the MySQL server on that port.

#![allow(clippy::print_stdout, reason = "a command-line tool reports on standard output")]

use std::path::Path;
use std::process::ExitCode;

use testkit::runner::{Target, run_file};

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let Some((port, files)) = args.split_first().and_then(|(p, f)| Some((p.parse().ok()?, f))) else {
        eprintln!("usage: record PORT FILE...");
        return ExitCode::from(2);
    };
    let target = Target { port, user: "root".to_owned() };
    for file in files {
        match run_file(Path::new(file), &target, true) {
            Ok(_) => println!("recorded {file}"),
            Err(e) => {
                eprintln!("{e}");
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}
