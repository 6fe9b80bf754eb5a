//! `record PORT FILE...`: rewrites SQL scripts with the answers of the MySQL server on that port.

#![allow(clippy::print_stdout, reason = "a command-line tool reports on standard output")]

use std::path::Path;
use std::process::ExitCode;

use testkit::runner::{self, Target};
use testkit::{access, isolation, locks, metadata};

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let Some((port, files)) = args.split_first().and_then(|(p, f)| Some((p.parse().ok()?, f))) else {
        eprintln!("usage: record PORT FILE...");
        return ExitCode::from(2);
    };
    let target = Target { port, user: "root".to_owned() };
    for file in files {
        let path = Path::new(file);
        let is_in = |name: &str| path.parent().is_some_and(|folder| folder.ends_with(name));
        let recorded = if is_in("access") {
            access::record::run_file(path, &target)
        } else if is_in("locks") {
            locks::record_file(path, &target)
        } else if is_in("metadata") {
            metadata::record_file(path, &target)
        } else if is_in("isolation") {
            isolation::run_file(path, &target, true).map(|_| ())
        } else {
            runner::run_file(path, &target, true).map(|_| ())
        };
        match recorded {
            Ok(()) => println!("recorded {file}"),
            Err(e) => {
                eprintln!("{e}");
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}
