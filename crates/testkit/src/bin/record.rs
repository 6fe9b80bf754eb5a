//! `record PORT FILE...`: rewrites SQL scripts with the answers of the MySQL server on that port.

#![allow(clippy::print_stdout, reason = "a command-line tool reports on standard output")]

use std::path::Path;
use std::process::ExitCode;

use testkit::isolation;
use testkit::runner::{self, Target};

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let Some((port, files)) = args.split_first().and_then(|(p, f)| Some((p.parse().ok()?, f))) else {
        eprintln!("usage: record PORT FILE...");
        return ExitCode::from(2);
    };
    let target = Target { port, user: "root".to_owned() };
    for file in files {
        let path = Path::new(file);
        let of_sessions = path.parent().is_some_and(|folder| folder.ends_with("isolation"));
        let run_file = if of_sessions { isolation::run_file } else { runner::run_file };
        match run_file(path, &target, true) {
            Ok(_) => println!("recorded {file}"),
            Err(e) => {
                eprintln!("{e}");
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}
