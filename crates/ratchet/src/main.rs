//! `ratchet`: the tool beside the server. Thin: what it does is done in the crates below.

#![allow(clippy::print_stdout, reason = "what a tool has to say goes there")]

mod check;

use std::process::ExitCode;

const USAGE: &str = "\
usage: ratchet check DATADIR

  check DATADIR    looks at everything in a data directory that no server uses, and changes nothing.
                   Exit status: 0 sound, 1 something is wrong (told on standard output), 2 not looked at.
";

/// Exit status of a call that did not come to anything.
const FAILED: u8 = 2;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args[..] {
        ["check", datadir] if !datadir.starts_with('-') => check::run(datadir),
        ["--help" | "-h" | "help"] => {
            print!("{USAGE}");
            ExitCode::SUCCESS
        }
        ["--version" | "-V"] => {
            println!("ratchet {}", env!("CARGO_PKG_VERSION"));
            ExitCode::SUCCESS
        }
        _ => {
            eprint!("{USAGE}");
            ExitCode::from(FAILED)
        }
    }
}
